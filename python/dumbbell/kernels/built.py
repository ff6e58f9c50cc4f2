"""The kernels that were built: in dumbbell's cache, or installed as packages of their own."""

from __future__ import annotations

import importlib.util
import re
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from dumbbell.base.cache_place import cache_place
from dumbbell.base.documents import DocumentError, read_json
from dumbbell.base.errors import KernelError, nearest, os_reason
from dumbbell.base.scratch import scratch_in
from dumbbell.kernels.recipe import driver_abi, recipe_digest
from dumbbell.kernels.sources import version_key

__all__ = ["INSTALLED", "NAME", "BuiltKernel", "find", "kernels", "kernels_place", "remove"]

#: The files of a kernel's directory.
EXECUTABLE, CONFIG, RECORD = "linux", "config", "kernel.json"
MAX_RECORD_BYTES = 1 << 16
#: The namespace package to which `make kernel-wheel`'s packages add a directory each.
INSTALLED = "dumbbell_kernels"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,39}")
#: How to have one.
BUILD_ONE = "build one with `dumbbell kernel build 6.12`"


@dataclass(frozen=True)
class BuiltKernel:
    """A kernel that runs as a program, in virtual time.

    Attributes
    ----------
    directory
        Where it is kept.
    name
        By which `--kernel` finds it.
    release
        Of Linux, as `uname -r` prints it.
    hz
        Ticks a second.
    abi
        Of the interface with dumbbell's library.
    digest
        Of all that it was made from.
    recipe
        Digest of the part that is dumbbell's: driver, edits and configuration.
    source, origin
        The word that names its tree in `dumbbell kernel build`, and the package's version or path.
    built_at
        UTC, ISO 8601.
    compiler
        With its version.
    missing
        Options that its tree lacks, without which only some things do not work.
    congestion_controls
        The algorithms that it has.
    """

    directory: Path
    name: str
    release: str = ""
    hz: int = 0
    abi: int = 0
    digest: str = ""
    recipe: str = ""
    source: str = ""
    origin: str = ""
    built_at: str = ""
    compiler: str = ""
    missing: tuple[str, ...] = ()
    congestion_controls: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """The program to run."""
        return self.directory / EXECUTABLE

    @property
    def size_bytes(self) -> int:
        """Size of the program; 0 if it is gone."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    @property
    def has_accurate_ecn(self) -> bool:
        """Whether its driver knows Accurate ECN: it then names this field of sockets."""
        try:
            return b"\0received_ce\0" in self.path.read_bytes()
        except OSError:
            return False

    @property
    def state(self) -> str:
        """``ready``; or ``built for another version of dumbbell``, ``damaged``.

        A kernel that was built with an earlier driver of the same interface works: ``ready, but
        dumbbell's driver has changed``.
        """
        if not self.release or not self.size_bytes:
            return "damaged"
        if self.abi != driver_abi():
            return "built for another version of dumbbell"
        if self.recipe != recipe_digest(self.hz):
            return "ready, but dumbbell's driver has changed"
        return "ready"

    @property
    def is_ready(self) -> bool:
        """Whether this version of dumbbell can run it."""
        return self.state.startswith("ready")

    @property
    def build_command(self) -> str:
        """The command that builds it again."""
        words = ["dumbbell", "kernel", "build", self.source or "6.12", "--name", self.name]
        return shlex.join([*words, *(["--hz", str(self.hz)] if self.hz not in (0, 1000) else [])])

    def to_dict(self) -> dict[str, Any]:
        """Return it as `kernel list --json` prints it."""
        return {
            **self.to_record(),
            "path": str(self.path),
            "size_bytes": self.size_bytes,
            "state": self.state,
        }

    def to_record(self) -> dict[str, Any]:
        """Return what is kept of it in `kernel.json`."""
        record = asdict(self)
        del record["directory"]
        return record


def kernels_place() -> Path:
    """Return the directory in which kernels are kept."""
    return cache_place() / "kernels"


def installed_places() -> list[Path]:
    """Return the directories in which packages have installed kernels."""
    spec = importlib.util.find_spec(INSTALLED)
    return [Path(each) for each in (spec and spec.submodule_search_locations) or ()]


def read_kernel(directory: Path) -> BuiltKernel:
    """Read a kernel's record; one that cannot be read is of a kernel that is damaged."""
    try:
        said = read_json(directory / RECORD, MAX_RECORD_BYTES)
    except (OSError, DocumentError):
        return BuiltKernel(directory, directory.name)
    return BuiltKernel(directory, directory.name, **checked(said))


def checked(said: Any) -> dict[str, Any]:
    """Return the values of a record that are of the right type; nothing if one is not."""
    if not isinstance(said, Mapping):
        return {}
    values: dict[str, Any] = {}
    for each in fields(BuiltKernel)[2:]:
        value, kind = said.get(each.name, each.default), type(each.default)
        if kind is tuple and isinstance(value, list | tuple):
            value = tuple(map(str, value))
        if type(value) is not kind:
            return {}
        values[each.name] = value
    return values


def kernels() -> list[BuiltKernel]:
    """Return all kernels, the newest release first.

    Raises
    ------
    KernelError
        The directory cannot be read.
    """
    found: dict[str, BuiltKernel] = {}
    for place in (kernels_place(), *installed_places()):
        try:
            inside = sorted(place.iterdir())
        except FileNotFoundError:
            continue
        except OSError as error:
            raise KernelError(f"{place}: cannot be read: {os_reason(error)}") from None
        for path in inside:
            if path.is_dir() and not path.name.startswith((".", "__")):
                # One that the user built comes before an installed one of its name.
                found.setdefault(path.name, read_kernel(path))
    return sorted(
        found.values(), key=lambda each: (version_key(each.release), each.built_at), reverse=True
    )


def find(name: str | None = None) -> BuiltKernel:
    """Find a kernel.

    Parameters
    ----------
    name
        Its name; None for the newest release.

    Raises
    ------
    KernelError
        There is none, or it is of another version of dumbbell.

    Examples
    --------
    >>> from dumbbell.kernels import find
    >>> find("6.12").release                                       # doctest: +SKIP
    '6.12.117'
    """
    every = kernels()
    named = next((each for each in every if each.name == name), None)
    if named is not None:
        return usable(named)
    if not every:
        what = "no kernel is built" if name is None else f"no kernel `{name}`: none is built"
        raise KernelError(f"{what}; {BUILD_ONE}")
    if name is None:
        return next((each for each in every if each.is_ready), None) or usable(every[0])
    raise KernelError(f"no kernel `{name}`{nearest(name, [each.name for each in every])}")


def usable(kernel: BuiltKernel) -> BuiltKernel:
    """Return a kernel that can run.

    Raises
    ------
    KernelError
        It cannot.
    """
    if kernel.is_ready:
        return kernel
    is_damaged = kernel.state == "damaged"
    what = "is damaged" if is_damaged else f"was {kernel.state}"
    raise KernelError(f"kernel `{kernel.name}` {what}; build it again: `{kernel.build_command}`")


def remove(name: str) -> BuiltKernel:
    """Remove a kernel.

    Parameters
    ----------
    name
        Its name.

    Returns
    -------
    BuiltKernel
        What it was.

    Raises
    ------
    KernelError
        There is none of that name, or it cannot be removed.
    """
    every = kernels()
    for each in every:
        if each.name == name:
            if each.directory.parent != kernels_place():
                raise KernelError(
                    f"kernel `{name}` is part of a package; `pip uninstall dumbbell-kernel-{name}` "
                    "removes it"
                )
            try:
                # Moved first, so that no half of a kernel is found.
                with scratch_in(each.directory.parent) as scratch:
                    each.directory.rename(scratch / "doomed")
            except OSError as error:
                raise KernelError(
                    f"{each.directory}: cannot be removed: {os_reason(error)}"
                ) from None
            return each
    hint = nearest(name, [each.name for each in every]) if every else ": none is built"
    raise KernelError(f"no kernel `{name}`{hint}")
