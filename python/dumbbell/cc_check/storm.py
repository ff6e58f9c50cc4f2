"""The storm: random but legal calls into a congestion control, under sanitizers."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dumbbell import _core
from dumbbell.cc_check.finding import Finding, LeftOut
from dumbbell.congestion_control import file_of

__all__ = ["FLOWS", "STEPS", "Storm", "storm"]

#: Sockets of one storm, and events of each.
FLOWS, STEPS = 150, 1500
#: The strongest set that the compiler has is taken.
SANITIZERS = ("address,undefined", "undefined", "")
#: A storm takes a second or two; a hanging call is told after three.
LIMIT_S = 300
#: Builds of one source that must all do the same: with what is never written holding one thing or
#: another, and optimised as for a run.
FILLINGS = ("zero", "pattern")

RUNTIME_ERROR = re.compile(r"^(?P<file>.+?):(?P<line>\d+):\d+: runtime error: (?P<what>.+)$")
ADDRESS_ERROR = re.compile(r"ERROR: AddressSanitizer: (?P<what>[\w-]+)")
FRAME = re.compile(r"^\s*#\d+ \S+ in (?P<function>\S+) (?P<file>[^ :]+):(?P<line>\d+)")

#: What the storm's words mean; {value} is its number.
PROBLEMS = {
    "cwnd_zero": "sets cwnd to 0 in `{op}`: Linux would send nothing until a timeout; keep it at "
    "1 or more",
    "cwnd_huge": "sets cwnd to {value:,} packets in `{op}`: has a subtraction gone below zero?",
    "undo_zero": "returns a cwnd of 0 from `{op}`, of which Linux warns",
    "undo_huge": "returns a cwnd of {value:,} packets from `{op}`",
    "ssthresh_zero": "returns an ssthresh of 0 from `{op}`, which becomes cwnd when recovery "
    "ends; return 2 or more",
    "beyond_state": "writes at byte {value} beyond its 104 bytes of state in `{op}`; say CA_PRIV() "
    "of the state's struct, so that a compiler refuses it",
    "foreign_field": "writes a field of the socket in `{op}` that the kernel lets no BPF "
    "congestion control write (byte {value} of struct tcp_sock)",
}


@dataclass
class Storm:
    """What the storms have shown.

    Attributes
    ----------
    sanitizers
        What the build looked for; empty where the compiler has none.
    seeds
        How many storms of `FLOWS` sockets with `STEPS` events each.
    calls
        How often each op was called, in the first.
    findings, left_out
        What came of it.
    """

    sanitizers: str = ""
    seeds: int = 0
    calls: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def add(self, kind: str, message: str) -> None:
        """Note a finding, once."""
        finding = Finding("storm", "error", kind, message)
        if finding not in self.findings:
            self.findings.append(finding)


@dataclass(frozen=True)
class Outcome:
    """What a run of the storm's program left."""

    returncode: int
    out: str
    err: str

    @property
    def trace(self) -> str | None:
        """Digest of all that was written; None if the program did not get to its end."""
        found = re.search(r"^trace (\w+)$", self.out, re.MULTILINE)
        return found[1] if found else None


def storm(name: str, seeds: int) -> Storm:
    """Send a congestion control through storms.

    Parameters
    ----------
    name
        Its file, as a scenario names it.
    seeds
        How many storms.
    """
    result = Storm(seeds=seeds)
    with _core.ScratchDirectory() as directory:
        builder = Builder(name, directory)
        program = None
        for sanitizers in SANITIZERS:
            program = builder.build(f"sanitized-{len(sanitizers)}", sanitize(sanitizers))
            if program is not None:
                result.sanitizers = sanitizers
                break
        if program is None:
            why = f"the storm cannot be built with it: {first_line(builder.message)}"
            result.left_out.append(LeftOut("storm", why))
            return result
        if not result.sanitizers:
            why = f"`{builder.compiler[0]}` has no sanitizers; gcc or clang with theirs finds more"
            result.left_out.append(LeftOut("storm", why))
        builds = {"": program, **fillings(builder)}
        for seed in range(1, seeds + 1):
            one_storm(result, builds, seed, builder)
            if result.findings:
                break
    return result


def fillings(builder: Builder) -> dict[str, Path]:
    """Build with what is never written filled with one thing and another; none if it cannot."""
    # Unoptimised: an optimiser may fold what is never written away, and the filling with it.
    builds = {
        filling: builder.build(filling, ["-O0", f"-ftrivial-auto-var-init={filling}"])
        for filling in FILLINGS
    }
    return {filling: build for filling, build in builds.items() if build is not None}


def one_storm(result: Storm, builds: dict[str, Path], seed: int, builder: Builder) -> None:
    """Make one storm with all builds, one of them twice, and compare."""
    outcomes = {}
    for filling, program in builds.items():
        outcomes[filling] = run_program(program, seed, builder.storage_bytes)
    # The last one twice: AddressSanitizer may put things at the same addresses each time.
    last = list(builds)[-1]
    again = run_program(builds[last], seed, builder.storage_bytes)
    first = outcomes[""]
    if seed == 1:
        result.calls = read_calls(first.out)
    for kind, message in read_problems(first, builder.source):
        result.add(kind, message)
    if result.findings:
        return
    if first.trace is None:
        result.add("crash", f"ended the storm without a word (status {first.returncode})")
    elif again.trace != outcomes[last].trace:
        result.add(
            "non_deterministic",
            "does not do the same in the same storm: does it depend on an address, or on what was "
            "never written?",
        )
    elif any(outcome.trace != first.trace for outcome in outcomes.values()):
        result.add(
            "uninitialised",
            "does otherwise when its local variables begin otherwise: one is read before it is "
            "written",
        )


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
        self.source = file_of(name).resolve()
        self.directory = directory
        self.compiler: list[str] = sources["compiler"].split()
        self.flags: list[str] = sources["flags"]
        self.linked: list[str] = sources["linked"]
        self.ops_table: str = sources["ops_table"]
        self.storage_bytes: int = sources["storage_bytes"]
        #: It registers its ops table by calling the kernel.
        self.is_module = not self.ops_table
        #: What the compiler said last.
        self.message = ""

    def build(self, name: str, extra: Sequence[str]) -> Path | None:
        """Build the program; None if it does not build."""
        program, driver = self.directory / name, self.directory / f"{name}.o"
        storm = ["-Dconst=", f"-DOPS_TABLE={self.ops_table}", "-c", "storm.c", "-o", str(driver)]
        if not self.compile([*extra, "-w", *storm]):
            return None
        # Where it calls a congestion control of the kernel's, that is linked in too.
        others = [str(path) for path in sorted((self.directory / "include/kfuncs").glob("*.c"))]
        for linked in (self.linked, self.linked + others):
            parts = [str(self.source), *linked, str(driver), "-o", str(program)]
            if self.compile([*extra, "-w", *self.headers(), *parts]):
                return program
        return None

    def headers(self) -> list[str]:
        """Return the headers that go ahead of the source, as in a build for a run."""
        headers = ["-include", "include/vmlinux.h"]
        helpers = "bpf_tcp_helpers.h"
        if helpers in self.source.read_text(encoding="utf-8", errors="replace"):
            headers += ["-include", f"include/{helpers}"]
        return headers

    def warnings(self) -> str:
        """Return what the compiler says of the source with warnings on."""
        flags = ["-Wall", "-Wextra", "-Wno-unused-parameter", "-fsyntax-only"]
        self.compile([*flags, *self.headers(), str(self.source)])
        return self.message

    def compile(self, arguments: Sequence[str]) -> bool:
        """Run the compiler in the directory."""
        includes = ["-I", "include", "-I", ".", "-I", str(self.source.parent)]
        done = subprocess.run(  # noqa: S603 -- the compiler that builds it for a run
            [*self.compiler, *self.flags, *includes, *arguments],
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


def sanitize(sanitizers: str) -> list[str]:
    """Return the flags that turn sanitizers on; signed arithmetic wraps, as in the kernel."""
    debug = ["-O1", "-g", "-fno-omit-frame-pointer"]
    if not sanitizers:
        return debug
    return [*debug, f"-fsanitize={sanitizers}", "-fno-sanitize=signed-integer-overflow"]


def run_program(program: Path, seed: int, storage_bytes: int) -> Outcome:
    """Run the storm's program."""
    numbers = [str(number) for number in (seed, FLOWS, STEPS, storage_bytes)]
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0"}
    try:
        done = subprocess.run(  # noqa: S603 -- just built
            [str(program), *numbers],
            capture_output=True,
            text=True,
            errors="replace",
            env=environment,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return Outcome(-1, text(late.stdout), text(late.stderr))
    return Outcome(done.returncode, done.stdout, done.stderr)


def text(output: Any) -> str:
    """Return what a program that was stopped has written."""
    return output.decode(errors="replace") if isinstance(output, bytes) else output or ""


def read_calls(out: str) -> dict[str, int]:
    """Return how often each op was called."""
    return {op: int(count) for op, count in re.findall(r"^calls (\w+) (\d+)$", out, re.MULTILINE)}


def read_problems(outcome: Outcome, source: Path) -> Iterator[tuple[str, str]]:
    """Read what the program and its sanitizers said; kind and message of each problem."""
    yield from read_sanitizers(outcome.err, source)
    for line in outcome.out.splitlines():
        word, *fields = line.split()
        if word == "problem":
            kind, op, flow, step, value = fields
            where = f" (storm's flow {flow}, event {step})"
            yield kind, PROBLEMS[kind].format(op=op, value=int(value)) + where
        elif word == "crash" and "AddressSanitizer" not in outcome.err:
            what = f" (signal {fields[0]})" if fields[0] != "0" else ""
            yield "crash", f"crashes in `{fields[1]}`{what}"
        elif word == "stuck":
            yield "stuck", f"does not return from `{fields[1]}` within 3 s; bound its loops"


def read_sanitizers(err: str, source: Path) -> Iterator[tuple[str, str]]:
    """Read the sanitizers' reports."""
    lines = err.splitlines()
    for number, line in enumerate(lines):
        found = RUNTIME_ERROR.match(line)
        if found:
            what = found["what"]
            kind = "division_by_zero" if "division by zero" in what else "undefined"
            hint = "; BPF gives 0, a module crashes: guard it" if kind == "division_by_zero" else ""
            yield kind, f"{Path(found['file']).name}:{found['line']}: {what}{hint}"
        found = ADDRESS_ERROR.search(line)
        if found:
            yield "address", f"{found['what']}{place(lines[number:], source)}"


def place(lines: Iterable[str], source: Path) -> str:
    """Return where in the user's file an address error happened: of the frames the first in it."""
    for line in lines:
        frame = FRAME.match(line)
        if frame and Path(frame["file"]).name == source.name:
            return f" in `{frame['function']}` at {source.name}:{frame['line']}"
    return ""


def first_line(message: str) -> str:
    """Return the line of a compiler's message that says the most."""
    lines = message.splitlines()
    return next((line for line in lines if "error" in line), lines[0] if lines else "no message")
