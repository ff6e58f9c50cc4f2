"""What a confined congestion control in Python may read and import.

That is the standard library, the installed packages, its own file and the user's modules that this
imports by name, wherever they are: next to it or on the module path. Their names are read from the
text before anything runs, because a confined process cannot list the user's directories.
"""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from dumbbell.congestion_control.isolation.source_files import source_files

__all__ = ["UserModules"]

#: Where shared libraries are that packages need, and what the dynamic linker reads.
LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache")
#: Names of directories of installed packages, on any system.
INSTALLED = frozenset({"site-packages", "dist-packages"})


class UserModules:
    """The modules of congestion control algorithms, found before their process is confined.

    A directory of theirs is put on the module path only afterwards: any import of ours could find a
    file there that has the name of a module of the standard library.

    Parameters
    ----------
    names
        Their files, as a scenario names them.

    Attributes
    ----------
    readable
        What the process may read.
    """

    def __init__(self, names: Sequence[str]) -> None:
        mains = [Path(name if name.endswith(".py") else name.rpartition("#")[0]) for name in names]
        mains = [main.resolve() for main in mains]
        files = list(dict.fromkeys(file for main in mains for file in source_files(main)))
        self.readable = [str(path) for path in [*readable_directories(), *files]]
        # As for a script, its directory comes first.
        self.places = list(dict.fromkeys(str(main.parent) for main in reversed(mains)))
        self.modules = ListedModules(files, [*self.places, *sys.path])

    def install(self) -> None:
        """Make them importable in this process."""
        sys.path[:0] = self.places
        sys.meta_path.insert(0, self.modules)
        sys.dont_write_bytecode = True


def readable_directories() -> list[Path]:
    """Return the directories of the standard library and of installed packages."""
    package = Path(__file__).parents[2]
    paths = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    paths += [path for path in sys.path if INSTALLED & set(Path(path).parts)]
    # An editable installation is elsewhere.
    directories = [package, *map(Path, [*paths, *LIBRARIES])]
    return [path for path in dict.fromkeys(directories) if path.exists()]


class ListedModules(MetaPathFinder):
    """Finds modules among files, without listing a directory.

    Parameters
    ----------
    files
        The files.
    search
        The module path.
    """

    def __init__(self, files: Sequence[Path], search: Sequence[str]) -> None:
        self.modules: dict[str, Path] = {}
        roots = [Path(path or ".").resolve() for path in search]
        for file in files:
            for root in roots:
                if file.is_relative_to(root):
                    parts = file.relative_to(root).with_suffix("").parts
                    name = parts[:-1] if parts[-1] == "__init__" else parts
                    self.modules.setdefault(".".join(name), file)

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002 -- of the interface
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """Return the specification of a module that is listed."""
        file = self.modules.get(fullname)
        if file is None:
            return None
        inside = [str(file.parent)] if file.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(
            fullname, file, submodule_search_locations=inside
        )
