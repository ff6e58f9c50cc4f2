"""Building a kernel: edits, configuration, compilation, and its place in the cache."""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dumbbell.base.cache_place import CACHE_VARIABLE
from dumbbell.base.errors import KernelError
from dumbbell.base.quantities.json_text import json_text
from dumbbell.base.writing import Batch, errors_of_writing
from dumbbell.kernels import edits
from dumbbell.kernels.built import (
    CONFIG,
    EXECUTABLE,
    NAME,
    RECORD,
    BuiltKernel,
    kernels,
    kernels_place,
)
from dumbbell.kernels.compiling import ABOUT_FILES, check_tools, compiler, make
from dumbbell.kernels.configuration import (
    congestion_controls_of,
    missing_options,
    read_fragment,
    wanted_text,
)
from dumbbell.kernels.recipe import FRAGMENT, driver_abi, recipe_digest
from dumbbell.kernels.sources import Source, source_of

__all__ = ["HZ", "BuildProgress", "build"]

#: Ticks a second that one can choose; the first is the default.
HZ = (1000, 250)
#: What `make` cannot have in a path.
BAD_PATH = re.compile(r"[\s:%#$]")
#: A line of make's about a file.
COMPILED = re.compile(r"  CC (?!\[M\])")


@dataclass(frozen=True)
class BuildProgress:
    """How far a build is.

    Attributes
    ----------
    stage
        What it does: ``reading``, ``preparing``, ``configuring`` or ``compiling``.
    compiled, about
        Files, and of about how many.
    """

    stage: str
    compiled: int = 0
    about: int = ABOUT_FILES


def build(
    source: str | Path,
    *,
    name: str | None = None,
    hz: int = HZ[0],
    jobs: int | None = None,
    on_progress: Callable[[BuildProgress], None] = lambda _: None,
) -> BuiltKernel:
    """Build a kernel, unless it is there: of the same tree by the same version of dumbbell.

    Parameters
    ----------
    source
        ``6.12`` for Debian's package of that release, or a directory with a Linux tree, which is
        only read.
    name
        Of the kernel; by default the release's, or the directory's.
    hz
        Ticks a second: 1000 or 250.
    jobs
        Files compiled at a time; by default one on each core.
    on_progress
        Is called meanwhile; never where the kernel is there.

    Returns
    -------
    BuiltKernel
        The kernel.

    Raises
    ------
    KernelError
        It cannot be built.
    ResultError
        The cache cannot be written.
    """
    if hz not in HZ:
        raise KernelError(f"invalid `hz` {hz}: use {' or '.join(map(str, HZ))}")
    origin = source_of(str(source))
    called = checked_name(name, origin, hz)
    digest = hashlib.sha256(f"{origin.identity()} {recipe_digest(hz)}".encode()).hexdigest()
    every = kernels()
    there = next((each for each in every if each.name == called), None)
    if there is not None and there.digest == digest and there.is_ready:
        return there
    check_owner(there, origin)
    check_tools()
    place = kernels_place()
    check_place(place)
    with errors_of_writing(place), Batch(place) as batch:
        check_space(batch.scratch, origin)
        work = batch.scratch / "making"
        work.mkdir()
        same = next((each for each in every if each.digest == digest and each.is_ready), None)
        with batch.new(called) as new:
            if same is None:
                new.mkdir()
                record = built_in(work, new, origin, hz, jobs or cores(), on_progress)
                record = BuiltKernel(
                    **{**record.to_record(), "name": called, "digest": digest}, directory=new
                )
            else:
                shutil.copytree(same.directory, new)
                record = BuiltKernel(**{**same.to_record(), "name": called}, directory=new)
            # Before it is synced with what is in its file system.
            shutil.rmtree(work)
            (new / RECORD).write_text(json_text(record.to_record()) + "\n", encoding="utf-8")
    return BuiltKernel(**record.to_record(), directory=place / called)


def built_in(
    work: Path,
    new: Path,
    source: Source,
    hz: int,
    jobs: int,
    on_progress: Callable[[BuildProgress], None],
) -> BuiltKernel:
    """Build a kernel in a directory, and put what is kept of it into another."""
    tree, out = work / "tree", work / "out"
    out.mkdir()
    on_progress(BuildProgress("preparing"))
    source.provide(tree)
    if "UML_TIME_TRAVEL_SUPPORT" not in edits.text_of(tree / "arch/um/Kconfig"):
        raise KernelError(
            f"{source.origin}: this Linux has no virtual time (UML_TIME_TRAVEL_SUPPORT); use 5.3 "
            "or later"
        )
    edits.apply(tree, hz)
    on_progress(BuildProgress("configuring"))
    fragment = FRAGMENT.read_text(encoding="utf-8")
    config = out / ".config"
    make(tree, out, ["tinyconfig"], source.shown)
    config.write_text(config.read_text(encoding="utf-8") + wanted_text(tree, fragment), "utf-8")
    make(tree, out, ["olddefconfig"], source.shown)
    text = config.read_text(encoding="utf-8")
    release = release_of(text)
    missing = missing_options(read_fragment(fragment), hz, text, release)
    count = 0

    def on_line(line: str) -> None:
        nonlocal count
        if COMPILED.match(line):
            count += 1
            on_progress(BuildProgress("compiling", count, max(ABOUT_FILES, count)))

    make(tree, out, [f"-j{jobs}", "vmlinux"], source.shown, on_line)
    shutil.copy(out / "vmlinux", new / EXECUTABLE)
    shutil.copy(config, new / CONFIG)
    return BuiltKernel(
        directory=new,
        name="",
        release=(out / "include/config/kernel.release").read_text(encoding="utf-8").strip(),
        hz=hz,
        abi=driver_abi(),
        recipe=recipe_digest(hz),
        source=source.word,
        origin=source.origin,
        built_at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        compiler=compiler(),
        missing=tuple(missing),
        congestion_controls=tuple(congestion_controls_of(tree, text)),
    )


def release_of(config: str) -> str:
    """Return the release that a configuration's first lines name."""
    found = re.search(r"^# Linux/\S+ (\S+) Kernel Configuration$", config, re.MULTILINE)
    return found[1] if found else "of this tree"


def checked_name(name: str | None, source: Source, hz: int) -> str:
    """Return a kernel's name.

    Raises
    ------
    KernelError
        It cannot be one.
    """
    called = name if name is not None else source.name + (f"-{hz}hz" if hz != HZ[0] else "")
    if NAME.fullmatch(called):
        return called
    how = "use `--name` with" if name is None else "use"
    raise KernelError(
        f"invalid name of a kernel `{called}`: {how} 1 to 40 letters, digits and `.`, `_`, `+`, "
        "`-`, the first a letter or digit"
    )


def check_owner(there: BuiltKernel | None, source: Source) -> None:
    """Refuse to replace a kernel of another tree.

    Raises
    ------
    KernelError
        It is one.
    """
    if there is not None and there.source not in ("", source.word):
        raise KernelError(
            f"kernel `{there.name}` was built from `{there.origin}`; use another name with "
            f"`--name`, or remove it with `dumbbell kernel remove {there.name}`"
        )


def check_place(place: Path) -> None:
    """Refuse a cache in which `make` cannot work.

    Raises
    ------
    KernelError
        Its path has such characters.
    """
    if BAD_PATH.search(str(place)):
        raise KernelError(
            f"{place}: Linux cannot be built in a directory whose path has spaces, `:`, `%`, `#` "
            f"or `$`; set ${CACHE_VARIABLE} to another"
        )


def check_space(place: Path, source: Source) -> None:
    """Refuse a disk that is too full.

    Raises
    ------
    KernelError
        It is.
    """
    free = shutil.disk_usage(place).free
    if free < source.space_bytes:
        raise KernelError(
            f"{place.parent}: a build takes about {source.space_bytes / 1e9:.1f} GB, and "
            f"{free / 1e9:.1f} GB is free; set ${CACHE_VARIABLE} to a directory with more"
        )


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))
