"""Read an archive into a directory, and check every member against the manifest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from dumbbell.archive.manifest import MANIFEST, MAX_MANIFEST_BYTES, Manifest
from dumbbell.archive.tar import read_tar
from dumbbell.base.errors import ResultError, os_reason

__all__ = ["MAX_BYTES", "extract"]

#: The most that an archive may decompress to, unless the user allows more.
MAX_BYTES = 20 * 10**9


def extract(path: Path, directory: Path, max_bytes: int = MAX_BYTES) -> Manifest:
    """Extract an archive; only what its manifest lists, and all of that.

    Parameters
    ----------
    path
        The archive.
    directory
        An empty directory.
    max_bytes
        The most to write.

    Returns
    -------
    Manifest
        What the archive says of itself.

    Raises
    ------
    ResultError
        It is damaged, changed, too large, or not an archive of ours.
    """
    try:
        return extract_members(path, directory, max_bytes)
    except ResultError as error:
        raise ResultError(f"{path}: {error}") from None


def extract_members(path: Path, directory: Path, max_bytes: int) -> Manifest:
    """Extract an archive; errors do not name it."""
    manifest = None
    left: set[str] = set()
    for name, size, content in read_tar(path, max_bytes):
        if manifest is None:
            if name != MANIFEST or size > MAX_MANIFEST_BYTES:
                raise ResultError(f"is not a dumbbell archive: {MANIFEST} is missing")
            manifest = Manifest.from_json(b"".join(content))
            left = set(manifest.members)
            continue
        if name not in left:
            raise ResultError(f"`{name}` is not in the manifest, or appears twice")
        left.remove(name)
        said = manifest.members[name]
        if size != said["bytes"] or write(directory / name, content) != said["sha256"]:
            raise ResultError(f"`{name}` is damaged: it differs from its SHA-256")
    if manifest is None or left:
        missing = f"`{min(left)}`" if left else MANIFEST
        raise ResultError(f"{missing} is missing")
    return manifest


def write(path: Path, content: Iterator[bytes]) -> str:
    """Write a new file; return its SHA-256."""
    digest = hashlib.sha256()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            for piece in content:
                file.write(piece)
                digest.update(piece)
    except OSError as error:
        raise ResultError(f"{path}: cannot be written: {os_reason(error)}") from None
    return digest.hexdigest()
