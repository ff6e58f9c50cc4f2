"""Sources on disk, next to the results that they made: a directory for each CCA."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from dumbbell.base.errors import ResultError
from dumbbell.base.result_file import read_bytes, read_json
from dumbbell.base.writing import replacing
from dumbbell.congestion_control.sources import MAX_KEPT_BYTES, Sources, is_plain_path

__all__ = [
    "DIRECTORY",
    "LISTING",
    "StoredSources",
    "listing_of",
    "set_name",
    "write_set",
    "write_sources",
]

#: Where they are in a result's directory.
DIRECTORY = "sources"
#: What lists the files of a congestion control algorithm, those whose text is not kept too.
LISTING = "sources.json"
MAX_LISTING_BYTES = 1 << 20
#: Directories above a result's that are searched: a sweep and a reproduction keep one for all runs.
LEVELS = 4
#: What a directory's name does not have of a file's.
UNUSUAL = re.compile(r"[^A-Za-z0-9._-]+")


def set_name(sources: Sources) -> str:
    """Return the name of the directory with some sources: ``mine.bpf.c-0123456789abcdef``."""
    name = UNUSUAL.sub("_", PurePosixPath(sources.main).name)[:64]
    return f"{name}-{sources.digest[:16]}"


def listing_of(sources: Sources) -> bytes:
    """Return what lists the files of some sources."""
    listing = {"main": sources.main, "files": dict(sources.digests)}
    return (json.dumps(listing, indent=1) + "\n").encode()


def write_sources(result: Path, sources: Iterable[Sources]) -> None:
    """Write sources into a result's directory, unless they are there and whole.

    Raises
    ------
    ResultError
        They cannot be written.
    """
    for each in sources:
        place = result / DIRECTORY / set_name(each)
        there = whole_set(place)
        if there is None or not there.texts.keys() >= each.texts.keys():
            with replacing(place) as new:
                write_set(new, each)


def write_set(new: Path, sources: Sources) -> None:
    """Make the directory of some sources."""
    new.mkdir(parents=True)
    for path, text in sources.texts.items():
        (new / path).parent.mkdir(parents=True, exist_ok=True)
        (new / path).write_bytes(text)
    (new / LISTING).write_bytes(listing_of(sources))


def whole_set(place: Path) -> Sources | None:
    """Read a directory of sources; None if it is missing or damaged."""
    try:
        return read_set(place)
    except (OSError, ResultError):
        return None


class StoredSources(Mapping[str, Sources]):
    """The sources of a result by their digests, each read and checked on access.

    Parameters
    ----------
    result
        The result's directory.
    """

    def __init__(self, result: Path) -> None:
        self.result = result

    def roots(self) -> Iterator[Path]:
        """Yield the directories that may hold sources, the nearest first."""
        here = self.result.absolute()
        for directory in (here, *here.parents[: LEVELS - 1]):
            if (directory / DIRECTORY).is_dir():
                yield directory / DIRECTORY

    def place(self, digest: str) -> Path | None:
        """Return the directory of the sources with a digest."""
        for root in self.roots():
            for found in root.glob(f"*-{digest[:16]}"):
                if (found / LISTING).is_file():
                    return found
        return None

    def __getitem__(self, digest: str) -> Sources:
        place = self.place(digest) if re.fullmatch("[0-9a-f]{64}", digest) else None
        if place is None:
            raise KeyError(digest)
        sources = read_set(place)
        if sources.digest != digest:
            raise ResultError(f"{place}: is damaged: its digest is another one")
        return sources

    def __iter__(self) -> Iterator[str]:
        for root in self.roots():
            for listing in sorted(root.glob(f"*/{LISTING}")):
                yield read_set(listing.parent).digest

    def __len__(self) -> int:
        return sum(1 for _ in self)


def read_set(place: Path) -> Sources:
    """Read a directory of sources; compare every file with its digest.

    Raises
    ------
    ResultError
        It is damaged.
    """
    path = place / LISTING
    listing = read_json(path, MAX_LISTING_BYTES)
    main, digests = (
        (listing.get("main"), listing.get("files")) if isinstance(listing, dict) else (None, None)
    )
    if not isinstance(main, str) or not isinstance(digests, dict) or main not in digests:
        raise ResultError(f"{path}: is damaged: `main` is not one of `files`")
    texts = {}
    for name, digest in digests.items():
        if not is_plain_path(name) or not isinstance(digest, str):
            raise ResultError(f"{path}: is damaged: `{name}` is not a file of the directory")
        try:
            text = read_bytes(place / name, MAX_KEPT_BYTES)
        except OSError:
            continue  # it was not kept
        if hashlib.sha256(text).hexdigest() != digest:
            raise ResultError(f"{place / name}: is damaged, or was changed")
        texts[name] = text
    return Sources(main, digests, texts)
