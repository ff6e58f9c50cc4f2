"""The storm: random but legal calls into a congestion control algorithm, under sanitizers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dumbbell import _core
from dumbbell.cc_check.diagnostic import Diagnostic, LeftOut
from dumbbell.cc_check.storm_builder import Builder
from dumbbell.cc_check.storm_output import StormOutput, read_calls, read_problems
from dumbbell.cc_check.symbolizer import symbolize

__all__ = ["FLOWS", "STEPS", "Storm", "storm"]

#: Sockets of one storm, and events of each.
FLOWS, STEPS = 150, 1500
#: Sockets of a storm with one parameter at an end of its range.
FLOWS_AT_END = 10
#: The first set that the compiler supports is used.
SANITIZERS = ("address,undefined", "undefined", "")
#: A storm takes a second or two; a hanging call is reported after three.
LIMIT_S = 300
#: Memory that it may use, bytes; AddressSanitizer needs a multiple of what the program does.
MEMORY_BYTES = 2 << 30
#: AddressSanitizer reports the crashes that it can explain (2), and not the driver.
SANITIZER_OPTIONS = ":".join(
    ["detect_leaks=0", "abort_on_error=0"]
    + [f"handle_{signal}=2" for signal in ("segv", "sigbus", "sigfpe", "sigill")]
)
#: Builds of one source that must behave alike: they fill uninitialised variables differently.
FILLINGS = ("zero", "pattern")


@dataclass
class Storm:
    """The results of the storms.

    Attributes
    ----------
    sanitizers
        The sanitizers in the build; empty if the compiler has none.
    seeds
        Number of storms of `FLOWS` sockets with `STEPS` events each.
    settings
        Number of smaller storms with one parameter at an end of its range.
    calls
        How often each op was called in the first storm.
    findings, left_out
        Errors found, and steps that were left out.
    """

    sanitizers: str = ""
    seeds: int = 0
    settings: int = 0
    calls: dict[str, int] = field(default_factory=dict)
    findings: list[Diagnostic] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def add(self, kind: str, message: str) -> None:
        """Add a finding, once."""
        finding = Diagnostic("storm", "error", kind, message)
        if finding not in self.findings:
            self.findings.append(finding)


def storm(name: str, seeds: int) -> Storm:
    """Send a congestion control algorithm through storms.

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
        builds = {"": program}
        for seed in range(1, seeds + 1):
            one_storm(result, builds, seed, builder)
            if result.findings:
                return result
        for setting in ends(builder):
            result.settings += 1
            outcome = run_program(program, 1, builder, FLOWS_AT_END, [setting])
            add_problems(result, outcome, builder, f" with `{setting}`")
    return result


def ends(builder: Builder) -> Iterator[str]:
    """Yield each parameter at both ends of its range; not for modules, whose ranges are types'."""
    for param in () if builder.is_module else builder.params:
        for value in sorted({param["min"], param["max"]} - {param["default"]}):
            yield f"{param['name']}={value}"


def add_problems(result: Storm, outcome: StormOutput, builder: Builder, where: str = "") -> None:
    """Add the problems that a storm's program reported, or that it ended without reporting any."""
    problems = list(read_problems(outcome, builder.source, builder.fields))
    if not problems and outcome.trace is None:
        status = f"ended the storm without a message (status {outcome.returncode})"
        if outcome.stopped is not None:
            status = f"ended the storm: it {outcome.stopped}"
        problems.append(("crash", status))
    for kind, message in problems:
        result.add(kind, message + where)


def fillings(builder: Builder) -> dict[str, Path]:
    """Build with uninitialised variables filled in each way; empty if the compiler cannot."""
    # Unoptimised: an optimiser may remove variables that are never written, and the filling.
    builds = {
        filling: builder.build(filling, ["-O0", f"-ftrivial-auto-var-init={filling}"])
        for filling in FILLINGS
    }
    return {filling: build for filling, build in builds.items() if build is not None}


def one_storm(result: Storm, builds: dict[str, Path], seed: int, builder: Builder) -> None:
    """Run one storm with all builds, one of them twice, and compare; the first adds builds."""
    first = run_program(builds[""], seed, builder, FLOWS)
    if seed == 1:
        result.calls = read_calls(first.out)
    add_problems(result, first, builder)
    if result.findings:
        return  # the others may take long to find the same
    if seed == 1:
        builds |= fillings(builder)
    outcomes = {"": first}
    outcomes |= {name: run_program(builds[name], seed, builder, FLOWS) for name in builds if name}
    # The last one twice: with AddressSanitizer, addresses may be the same each time.
    last = list(builds)[-1]
    again = run_program(builds[last], seed, builder, FLOWS)
    if again.trace != outcomes[last].trace:
        result.add(
            "non_deterministic",
            "behaves differently when the same storm is repeated: does it depend on an address, or "
            "on uninitialised memory?",
        )
    elif any(outcome.trace != first.trace for outcome in outcomes.values()):
        result.add(
            "uninitialised",
            "behaves differently when its local variables have other initial values: one is read "
            "before it is written",
        )


def sanitize(sanitizers: str) -> list[str]:
    """Return the flags that turn sanitizers on; signed arithmetic wraps, as in the kernel."""
    debug = ["-O1", "-g", "-fno-omit-frame-pointer"]
    if not sanitizers:
        return debug
    return [*debug, f"-fsanitize={sanitizers}", "-fno-sanitize=signed-integer-overflow"]


def run_program(
    program: Path, seed: int, builder: Builder, flows: int, settings: Sequence[str] = ()
) -> StormOutput:
    """Run the storm's program, with the parameters in `settings`."""
    numbers = [str(number) for number in (seed, flows, STEPS, builder.storage_bytes)]
    done = _core.run_confined(
        str(program),
        [*numbers, *settings],
        source=str(builder.source),
        environment={"ASAN_OPTIONS": SANITIZER_OPTIONS},
        time_limit_s=LIMIT_S,
        memory_bytes=MEMORY_BYTES,
    )
    out, err = (output.decode(errors="replace") for output in (done.stdout, done.stderr))
    return StormOutput(done.returncode, out, symbolize(err, program, builder), done.stopped)


def first_line(message: str) -> str:
    """Return the most informative line of a compiler's message."""
    lines = message.splitlines()
    return next((line for line in lines if "error" in line), lines[0] if lines else "no message")
