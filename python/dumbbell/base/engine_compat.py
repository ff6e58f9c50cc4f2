"""Whether the compiled engine is as new as the Python around it; in a checkout it may be older.

Importing this looks, before another import fails at something that is not there.
"""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

__all__ = ["changed_since_build", "refuse_old_engine"]

#: A checkout; an installation has no sources of the engine there.
ROOT = Path(__file__).parents[3]
#: What the engine is built from.
SOURCES = ("crates/*/src/**/*.rs", "crates/*/Cargo.toml", "cc/**/*.[ch]")
#: What the engine has, by its stub.
NAMES = re.compile(r"^__all__ = \[(.*?)\]", re.MULTILINE | re.DOTALL)


def refuse_old_engine(stub: Path) -> None:
    """Say what to do about an engine that was not built, or not since the last change.

    Parameters
    ----------
    stub
        What it should have.

    Raises
    ------
    ImportError
        It lacks what the stub names. The command line says so in a line and leaves with 2.
    """
    missing = lacking(stub)
    if not missing:
        return
    message = f"the engine is older than the Python around it (no {missing}); run `make build`"
    if Path(sys.argv[0]).name in ("dumbbell", "-m"):
        sys.stderr.write(f"error: {message}\n")
        raise SystemExit(2)
    raise ImportError(message)


def changed_since_build(root: Path = ROOT) -> str:
    """Return a source of the engine that changed after it was built; empty where there is none.

    Parameters
    ----------
    root
        The checkout.
    """
    core = importlib.import_module("dumbbell._core")
    built = Path(str(core.__file__)).stat().st_mtime
    changed = (path for each in SOURCES for path in root.glob(each) if is_newer(path, built))
    return next((str(path.relative_to(root)) for path in changed), "")


def is_newer(path: Path, time: float) -> bool:
    """Whether a file changed after a time; one that disappears did not."""
    try:
        return path.stat().st_mtime > time
    except FileNotFoundError:
        return False


def lacking(stub: Path) -> str:
    """Return what the engine lacks, in words."""
    try:
        core = importlib.import_module("dumbbell._core")
    except ModuleNotFoundError:
        return "`dumbbell._core`"
    found = NAMES.search(stub.read_text(encoding="utf-8")) if stub.exists() else None
    names = re.findall(r'"(\w+)"', found[1]) if found else []
    return ", ".join(f"`{name}`" for name in names if not hasattr(core, name))


refuse_old_engine(Path(__file__).parents[1] / "_core.pyi")
