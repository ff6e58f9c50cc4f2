"""Write an archive of a directory's runs."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from dumbbell._core import ENGINE_VERSION
from dumbbell.archive.manifest import MANIFEST, RESULTS, Manifest
from dumbbell.archive.sources import SourceCollection
from dumbbell.archive.tar import write_tar
from dumbbell.base.errors import ResultError, check_directory
from dumbbell.base.writing import replacing
from dumbbell.run import Run
from dumbbell.run.capture import CAPTURE
from dumbbell.run.directory import DOCUMENT
from dumbbell.run.engine import engine_build

__all__ = ["Archived", "archive"]

#: What says what a directory holds besides runs, and what kind of directory that is.
KINDS = {DOCUMENT: "run", "sweep.json": "sweep", "findings.json": "reproduction"}
SUFFIX = ".tar.zst"


@dataclass(frozen=True)
class Archived:
    """An archive that was written.

    Attributes
    ----------
    path, sha256
        The file and its digest.
    manifest
        What is in it.
    left_out
        Captures that the directory holds and the archive does not.
    """

    path: Path
    sha256: str
    manifest: Manifest
    left_out: tuple[Path, ...]


def archive(
    directory: str | Path,
    path: str | Path,
    on_progress: Callable[[float], None] | None = None,
    *,
    texts: bool = True,
) -> Archived:
    """Write the runs of a directory to an archive.

    The same directory, congestion control algorithms and versions give the same bytes.

    Parameters
    ----------
    directory
        Of a run, a sweep, a reproduction, or any directory with runs below it.
    path
        The archive: ``paper.tar.zst``.
    on_progress
        Called with the share of the runs that have been read.
    texts
        Include the source text of congestion control algorithms that are not built in. Without it
        their runs cannot be verified.

    Returns
    -------
    Archived
        What was written.

    Raises
    ------
    ResultError
        The directory holds no run or a damaged one; or one of an earlier version, whose congestion
        control algorithms are not here or have changed since.
    """
    directory, path = Path(directory), Path(path)
    if not path.name.endswith(SUFFIX):
        raise ResultError(f"{path}: an archive's name must end in `{SUFFIX}`")
    check_directory(directory)
    places = sorted(file.parent for file in files_below(directory) if file.name == DOCUMENT)
    if not places:
        raise ResultError(
            f"{directory}: holds no runs; use a directory that a command wrote with --out"
        )
    sources = SourceCollection(texts=texts)
    runs = []
    for index, place in enumerate(places):
        run = Run.load(place)
        sources.add(run)
        for name in run.tables:
            _ = run.tables[name]  # a damaged table is refused here, not by a reader of the archive
        runs.append(describe_run(member_of(place, directory), run))
        if on_progress is not None:
            on_progress(index / len(places))
    sources.check_unchanged()
    files = {member_of(file, directory): file for file in files_below(directory)}
    contents = Contents(files, sources.members)
    manifest = Manifest(
        kind=kind_of(directory),
        versions={
            "dumbbell": ENGINE_VERSION,
            "engine_build": engine_build(),
            "python": platform.python_version(),
            "pyarrow": pa.__version__,
        },
        runs=runs,
        congestion_controls=dict(sorted(sources.entries.items())),
    )
    manifest = replace(manifest, members=contents.digests())
    write_whole(path, manifest, contents)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Archived(path, digest, manifest, tuple(sorted(directory.rglob(CAPTURE))))


def files_below(directory: Path) -> Iterator[Path]:
    """Yield the documents and tables below a directory, without unfinished ones."""
    for file in directory.rglob("*"):
        hidden = any(part.startswith(".") for part in file.relative_to(directory).parts)
        is_wanted = file.name in KINDS or file.suffix == ".parquet"
        if is_wanted and not hidden and file.is_file() and not file.is_symlink():
            yield file


def member_of(path: Path, directory: Path) -> str:
    """Return a path's name in the archive."""
    return Path(RESULTS, path.relative_to(directory)).as_posix()


def kind_of(directory: Path) -> str:
    """Return what a directory holds."""
    for document, kind in KINDS.items():
        if (directory / document).is_file():
            return kind
    return "reproduction" if any(directory.glob("*/findings.json")) else "runs"


def describe_run(path: str, run: Run) -> dict[str, Any]:
    """Return what the manifest says of a run."""
    return {
        "path": path,
        "engine": run.engine,
        "engine_version": run.summary["engine_version"],
        "engine_build": run.summary.get("engine_build"),
        "kernel": run.emulation["kernel_release"] if run.emulation is not None else None,
        "seed": run.scenario.seed,
        "congestion_controls": [
            {"name": group.cc.name, "build": loaded["build"], "parameters": loaded["params"]}
            for group, loaded in zip(run.scenario.groups, run.groups, strict=True)
        ],
    }


@dataclass(frozen=True)
class Contents:
    """What an archive holds besides its manifest.

    Attributes
    ----------
    files
        Where to read each member that is a file.
    texts
        Content of each member that is in memory.
    """

    files: dict[str, Path]
    texts: dict[str, bytes]

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        for name in sorted({*self.files, *self.texts}):
            yield name, self.texts[name] if name in self.texts else self.files[name].read_bytes()

    def digests(self) -> dict[str, dict[str, Any]]:
        """Return size and digest of every member."""
        return {
            name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for name, content in self
        }


def write_whole(path: Path, manifest: Manifest, contents: Contents) -> None:
    """Write the archive, whole or not at all."""

    def members() -> Iterator[tuple[str, bytes]]:
        yield MANIFEST, manifest.to_json()
        for name, content in contents:
            if hashlib.sha256(content).hexdigest() != manifest.members[name]["sha256"]:
                raise ResultError(f"{name}: changed while it was archived; archive it again")
            yield name, content

    with replacing(path) as new:
        write_tar(new, members())
