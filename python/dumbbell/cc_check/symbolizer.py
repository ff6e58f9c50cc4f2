"""Finds functions and lines for a sanitizer's addresses.

clang's sanitizers start a program for that, which the storm's program, confined, cannot do; gcc's
need none. So it is done afterwards, by the same program, confined as a compiler is, because what it
reads was made from foreign code.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from dumbbell import _core
from dumbbell.cc_check.storm_builder import Builder

__all__ = ["symbolize"]

#: A frame without a function: its number and address, the file and the place in it.
FRAME = re.compile(
    r"^(?P<frame>\s*#\d+ 0x[0-9a-f]+)\s+\((?P<file>/.+)\+(?P<offset>0x[0-9a-f]+)\).*$"
)
#: Frames of one storm's reports that are looked up.
MAX_FRAMES = 100
#: Programs that know, with the arguments for two lines per address: function, and file:line.
TOOLS = {
    "llvm-symbolizer": ["--output-style=GNU", "--no-inlines"],
    "addr2line": [],
}


def symbolize(err: str, program: Path, builder: Builder) -> str:
    """Return a sanitizer's output with functions and lines where they can be found.

    Parameters
    ----------
    err
        The output.
    program
        The storm's program, which printed it.
    builder
        Its builder.
    """
    lines = err.splitlines()
    unknown = [match for line in lines if (match := FRAME.match(line))]
    unknown = [frame for frame in unknown if frame["file"] == str(program)][:MAX_FRAMES]
    tool = find_tool(builder) if unknown else None
    if tool is None:
        return err
    offsets = list(dict.fromkeys(frame["offset"] for frame in unknown))
    arguments = [*TOOLS[tool.name], "-f", "-e", str(program), *offsets]
    done = _core.run_compiler([str(tool)], arguments, str(builder.directory), str(builder.source))
    found = done.stdout.decode(errors="replace").splitlines()
    if done.returncode != 0 or len(found) != 2 * len(offsets):
        return err
    places = dict(zip(offsets, zip(found[::2], found[1::2], strict=True), strict=True))
    return "\n".join(with_place(line, places) for line in lines)


def with_place(line: str, places: dict[str, tuple[str, str]]) -> str:
    """Return a line with its function and place, if it is a frame that has them."""
    frame = FRAME.match(line)
    if frame is None or frame["offset"] not in places:
        return line
    function, place = places[frame["offset"]]
    return f"{frame['frame']} in {function} {place}"


def find_tool(builder: Builder) -> Path | None:
    """Find a program: next to the compiler, else where the shell would."""
    compiler = shutil.which(builder.compiler[0])
    beside = [str(Path(compiler).resolve().parent)] if compiler else []
    path = os.pathsep.join([*beside, os.environ.get("PATH", os.defpath)])
    found = (shutil.which(name, path=path) for name in TOOLS)
    return next((Path(tool) for tool in found if tool is not None), None)
