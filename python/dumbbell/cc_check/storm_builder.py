"""Builds the storm's program with a congestion control algorithm."""

from __future__ import annotations

import json
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
        The congestion control algorithm.
    directory
        Where headers and program are written.
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
        #: The file of its source.
        self.source = Path(self.units[0]["source"])
        #: Whether it is a kernel module, which cannot be compiled to BPF.
        self.is_module: bool = sources["is_module"]
        self.storage_bytes: int = sources["storage_bytes"]
        #: Its declared parameters, with name, min, max and default.
        self.params: list[dict[str, Any]] = sources["params"]
        #: Fields of the socket that BPF may not write, by their first byte.
        self.fields: dict[int, str] = {at: field for field, at in sources["protected"]}
        #: The compiler's last message.
        self.message = ""

    def build(self, name: str, extra: Sequence[str]) -> Path | None:
        """Build the program; None if it does not build."""
        driver = self.driver()
        if driver is None:
            return None
        # A module's warnings show which variant it is for.
        warnings = [] if self.is_module else ["-w"]
        for variant in self.variants:
            program = self.link(name, driver, [*extra, *warnings, *variant])
            if program is not None:
                return program
        return None

    def driver(self) -> Path | None:
        """Compile the driver, once for all builds; None if that fails.

        What is looked for is in the algorithm: the driver is optimised, and no sanitizer's code is
        in it. AddressSanitizer watches the heap, where sockets are, of the whole program.
        """
        driver = self.directory / "storm.o"
        storm = ["-O1", "-g", "-w", "-Dconst=", "-c", "storm.c", "-o", str(driver)]
        if driver.exists() or self.compile([*self.driver_flags, *storm]):
            return driver
        return None

    def link(self, name: str, driver: Path, extra: Sequence[str]) -> Path | None:
        """Compile the CCA and link it with the driver; None if that fails."""
        program = self.directory / name
        objects = [str(driver)]
        for number, unit in enumerate(self.units):
            objects.append(str(self.directory / f"{name}-{number}.o"))
            if not self.compile([
                *extra, *unit["flags"], "-c", unit["source"], "-o", objects[-1],
            ]):  # fmt: skip
                return None
        # If it calls one of the kernel's congestion control algorithms, that is linked in too.
        others = [str(path) for path in sorted((self.directory / "include/kfuncs").glob("*.c"))]
        for linked in (self.linked, self.linked + others):
            if self.compile([*extra, *self.linked_flags, *linked, *objects, "-o", str(program)]):
                return program
        return None

    def warnings(self) -> str:
        """Return the compiler's warnings about the source."""
        flags = ["-Wall", "-Wextra", "-Wno-unused-parameter", "-fsyntax-only"]
        self.compile([*flags, *self.units[0]["flags"], str(self.source)])
        return self.message

    def compile(self, arguments: Sequence[str]) -> bool:
        """Run the compiler in the directory."""
        done = _core.run_compiler(
            self.compiler, [*self.flags, *arguments], str(self.directory), str(self.source)
        )
        self.message = done.stderr.decode(errors="replace").strip()
        if done.stopped is not None:
            self.message = f"the compiler {done.stopped}"
        return done.returncode == 0 and done.stopped is None
