"""Reads the output of the storm's program and its sanitizers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["StormOutput", "read_calls", "read_problems"]

RUNTIME_ERROR = re.compile(r"^(?P<file>.+?):(?P<line>\d+):\d+: runtime error: (?P<what>.+)$")
ADDRESS_ERROR = re.compile(r"ERROR: AddressSanitizer: (?P<what>[\w-]+)")
FRAME = re.compile(r"^\s*#\d+ \S+ in (?P<function>\S+) (?P<file>[^ :]+):(?P<line>\d+)")

#: Messages for the storm's problems; {value} is its number, {field} the field at that byte.
PROBLEMS = {
    "cwnd_zero": "sets cwnd to 0 in `{op}`: Linux would send nothing until a timeout; keep it at "
    "1 or more",
    "cwnd_huge": "sets cwnd to {value:,} packets in `{op}`: has a subtraction gone below zero?",
    "undo_zero": "returns a cwnd of 0 from `{op}`; Linux logs a warning for that",
    "undo_huge": "returns a cwnd of {value:,} packets from `{op}`",
    "ssthresh_zero": "returns an ssthresh of 0 from `{op}`, which becomes cwnd when recovery "
    "ends; return 2 or more",
    "beyond_state": "writes at byte {value} beyond its 104 bytes of state in `{op}`; use CA_PRIV() "
    "on the state's struct, so that a compiler refuses it",
    "foreign_field": "writes `{field}` in `{op}`, which the kernel does not let a BPF congestion "
    "control write",
}


@dataclass(frozen=True)
class StormOutput:
    """The result of a run of the storm's program; `stopped` is the bound at which it was ended."""

    returncode: int
    out: str
    err: str
    stopped: str | None = None

    @property
    def trace(self) -> str | None:
        """Digest of everything that was written; None if the program did not finish."""
        found = re.search(r"^trace (\w+)$", self.out, re.MULTILINE)
        return found[1] if found else None


def read_calls(out: str) -> dict[str, int]:
    """Return how often each op was called."""
    return {op: int(count) for op, count in re.findall(r"^calls (\w+) (\d+)$", out, re.MULTILINE)}


def read_problems(
    outcome: StormOutput, source: Path, protected: Mapping[int, str]
) -> Iterator[tuple[str, str]]:
    """Yield the kind and message of each problem that the program and its sanitizers reported.

    Parameters
    ----------
    outcome
        The program's result.
    source
        The congestion control algorithm.
    protected
        Names of the socket's fields that BPF may not write, by their first byte.
    """
    yield from read_sanitizers(outcome.err, source)
    for line in outcome.out.splitlines():
        word, *fields = line.split()
        if word == "problem":
            kind, op, flow, step, value = fields
            where = f" (storm's flow {flow}, event {step})"
            begins = max((at for at in protected if at <= int(value)), default=min(protected))
            yield (
                kind,
                PROBLEMS[kind].format(op=op, value=int(value), field=protected[begins]) + where,
            )
        elif word == "crash" and "AddressSanitizer" not in outcome.err:
            what = f" (signal {fields[0]})" if fields[0] != "0" else ""
            yield "crash", f"crashes in `{fields[1]}`{what}"
        elif word == "stuck":
            yield "stuck", f"does not return from `{fields[1]}` within 3 s; bound its loops"


def read_sanitizers(err: str, source: Path) -> Iterator[tuple[str, str]]:
    """Read the sanitizers' reports."""
    lines = err.splitlines()
    divided = False
    for number, line in enumerate(lines):
        found = RUNTIME_ERROR.match(line)
        if found:
            what = found["what"]
            kind = "division_by_zero" if "division by zero" in what else "undefined"
            hint = "; BPF gives 0, a module crashes: guard it" if kind == "division_by_zero" else ""
            divided = divided or kind == "division_by_zero"
            yield kind, f"{Path(found['file']).name}:{found['line']}: {what}{hint}"
        found = ADDRESS_ERROR.search(line)
        # FPE is the processor's signal for a division by zero that was reported already.
        if found and not (divided and found["what"] == "FPE"):
            yield "address", f"{found['what']}{place(lines[number:], source)}"


def place(lines: Iterable[str], source: Path) -> str:
    """Return where an address error happened: the first frame in the user's file."""
    for line in lines:
        frame = FRAME.match(line)
        if frame and Path(frame["file"]).name == source.name:
            return f" in `{frame['function']}` at {source.name}:{frame['line']}"
    return ""
