"""Builds the storm's program with a congestion control."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dumbbell import _core

__all__ = ["Builder"]


class Builder:
    """Compiles the storm's program in a directory.

    Parameters
    ----------
    name
        The congestion control.
    directory
        Filled with the headers and the program.
    """

    def __init__(self, name: str, directory: Path) -> None:
        sources = json.loads(_core.write_storm(name, str(directory)))
        self.directory = directory
        self.compiler: list[str] = sources["compiler"]
        self.flags: list[str] = sources["flags"]
        self.driver_flags: list[str] = sources["driver_flags"]
        self.units: list[dict[str, Any]] = sources["units"]
        self.linked: list[str] = sources["linked"]
        self.linked_flags: list[str] = sources["linked_flags"]
        self.variants: list[list[str]] = sources["variants"]
        #: Its text.
        self.source = Path(self.units[0]["source"])
        #: It is for the kernel only, which does not run it as BPF.
        self.is_module: bool = sources["is_module"]
        self.storage_bytes: int = sources["storage_bytes"]
        #: What it declares: name, min, max and default of each among others.
        self.params: list[dict[str, Any]] = sources["params"]
        #: Fields of the socket that BPF may not write, by the byte at which they begin.
        self.fields: dict[int, str] = {at: field for field, at in sources["protected"]}
        #: What the compiler said last.
        self.message = ""

    def build(self, name: str, extra: Sequence[str]) -> Path | None:
        """Build the program; None if it does not build."""
        driver = self.directory / f"{name}-storm.o"
        storm = ["-Dconst=", "-c", "storm.c", "-o", str(driver)]
        if not self.compile([*extra, "-w", *self.driver_flags, *storm]):
            return None
        # Which variant a module is for, its warnings tell.
        warnings = [] if self.is_module else ["-w"]
        for variant in self.variants:
            program = self.link(name, driver, [*extra, *warnings, *variant])
            if program is not None:
                return program
        return None

    def link(self, name: str, driver: Path, extra: Sequence[str]) -> Path | None:
        """Compile the congestion control and link it with the driver; None if that fails."""
        program = self.directory / name
        objects = [str(driver)]
        for number, unit in enumerate(self.units):
            objects.append(str(self.directory / f"{name}-{number}.o"))
            if not self.compile([
                *extra, *unit["flags"], "-c", unit["source"], "-o", objects[-1],
            ]):  # fmt: skip
                return None
        # Where it calls a congestion control of the kernel's, that is linked in too.
        others = [str(path) for path in sorted((self.directory / "include/kfuncs").glob("*.c"))]
        for linked in (self.linked, self.linked + others):
            if self.compile([*extra, *self.linked_flags, *linked, *objects, "-o", str(program)]):
                return program
        return None

    def warnings(self) -> str:
        """Return what the compiler says of the source with warnings on."""
        flags = ["-Wall", "-Wextra", "-Wno-unused-parameter", "-fsyntax-only"]
        self.compile([*flags, *self.units[0]["flags"], str(self.source)])
        return self.message

    def compile(self, arguments: Sequence[str]) -> bool:
        """Run the compiler in the directory."""
        done = subprocess.run(  # noqa: S603 -- the compiler that builds it for a run
            [*self.compiler, *self.flags, *arguments],
            cwd=self.directory,
            # Where a compiler's own temporary files go with it.
            env={**os.environ, "TMPDIR": str(self.directory)},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        self.message = done.stderr.strip()
        return done.returncode == 0
