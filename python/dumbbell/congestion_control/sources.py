"""The sources of a CCA: what it was built from, for keys, results and archives."""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from weakref import WeakValueDictionary

from dumbbell import _core
from dumbbell.congestion_control.description import BUILT_IN
from dumbbell.congestion_control.isolation.source_files import INCLUDE, find_sources

__all__ = ["Sources", "builtin_sources", "is_plain_path", "sources_of_file"]

#: Files of a congestion control algorithm whose text is kept, besides the one that was named. A
#: source can name any file of the machine in an `#include`; a key or a password is not to travel
#: with it.
TEXTS = (".c", ".h", ".inc", ".py")
#: The most that is kept of one congestion control algorithm.
MAX_KEPT_BYTES = 1 << 20


@dataclass(frozen=True)
class Sources:
    """The source files of a congestion control algorithm.

    Attributes
    ----------
    main
        Path of the file that was named, below the directory that has all of them.
    digests
        SHA-256 of each file, by its path there.
    texts
        Content of each file, if it is kept.
    """

    main: str
    digests: Mapping[str, str]
    texts: Mapping[str, bytes] = field(compare=False, repr=False)

    @classmethod
    def of(
        cls, main: str, files: Mapping[str, bytes], others: Collection[str] = frozenset()
    ) -> Sources:
        """Return the sources that consist of some files; keep the text of those that may be.

        Parameters
        ----------
        main, files
            As the attributes.
        others
            Files that are not the congestion control algorithm's own, whose texts are not kept.
        """
        digests = {path: hashlib.sha256(files[path]).hexdigest() for path in sorted(files)}
        own = {path for path in files if is_text(path)} - set(others) | {main}
        texts = {path: files[path] for path in files if path in own}
        is_large = sum(map(len, texts.values())) > MAX_KEPT_BYTES
        return cls(main, digests, {} if is_large else texts)

    @functools.cached_property
    def digest(self) -> str:
        """SHA-256 of the names and the contents of all files."""
        named = json.dumps([self.main, sorted(self.digests.items())], separators=(",", ":"))
        return hashlib.sha256(named.encode("utf-8", "surrogateescape")).hexdigest()

    @property
    def is_whole(self) -> bool:
        """Whether the text of every file is kept."""
        return self.texts.keys() == self.digests.keys()

    def without_texts(self) -> Sources:
        """Return the digests alone."""
        return Sources(self.main, self.digests, {})


#: Those of a sweep's runs are one object, by digest, however often they are read.
IN_USE: WeakValueDictionary[str, Sources] = WeakValueDictionary()


def is_text(path: str) -> bool:
    """Whether a file's name is that of a source."""
    return PurePosixPath(path).suffix in TEXTS


def is_plain_path(name: str) -> bool:
    """Whether a path is relative, without ``..``, and written in the shortest way."""
    parts = PurePosixPath(name).parts
    is_plain = bool(parts) and name == "/".join(parts) and not {"..", "/", "."} & set(parts)
    return is_plain and "\0" not in name and "\\" not in name


@functools.cache
def builtin_sources(name: str) -> Sources | None:
    """Return the sources of a built-in CCA, without the headers of all of them.

    Those belong to the engine, whose build every result names.
    """
    known = _core.builtin_sources()
    main = name + BUILT_IN
    if main not in known:
        return None
    files: dict[str, bytes] = {}
    waiting = [main]
    while waiting:
        path = waiting.pop()
        files[path] = known[path].encode()
        included = (os.fsdecode(each) for each in INCLUDE.findall(files[path]))
        waiting += [each for each in included if each in known and each not in files]
    return Sources.of(main, files)


def sources_of_file(path: Path) -> Sources:
    """Return the sources of a user's file: itself and what it includes by ``"name"`` or imports.

    Raises
    ------
    ResultError
        The file cannot be read, or it consists of more than a congestion control algorithm does.
    """
    found = find_sources(path)
    if path.suffix == ".py":
        names = {file: name for file, (name, _) in found.items()}
    else:
        root = Path(os.path.commonpath([file.parent for file in found]))
        names = {file: file.relative_to(root).as_posix() for file in found}
    files = {names[file]: text for file, (_, text) in found.items()}
    main = path.resolve()
    # A file can import any module of the user's that is on the module path.
    others = {name for file, name in names.items() if not file.is_relative_to(main.parent)}
    sources = Sources.of(names[main], files, others)
    return IN_USE.setdefault(sources.digest, sources)
