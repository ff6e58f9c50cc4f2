"""The steps of a check, one after the other, and the verdict."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from dumbbell import _core
from dumbbell.base.errors import CongestionControlError, EngineError
from dumbbell.cc_check.diagnostic import Diagnostic, LeftOut
from dumbbell.cc_check.storm import FLOWS, STEPS, Storm, storm
from dumbbell.cc_check.storm_builder import Builder
from dumbbell.congestion_control import CongestionControlChoice, Description, describe
from dumbbell.run import Run, run
from dumbbell.run.engine import CAP_SYS_ADMIN, has_capabilities
from dumbbell.scenario import Scenario

__all__ = ["Check", "check"]

#: The running kernel's BTF.
KERNELS_BTF = Path("/sys/kernel/btf/vmlinux")
#: The errors of gcc and clang for a field that the headers make const, because the kernel does not
#: let BPF write it.
READ_ONLY = re.compile(
    r"(?:read-only member ['‘](?P<gcc>\w+)|"
    r"cannot assign to non-static data member '(?P<clang>\w+)' with const-qualified)"
)
#: Share of the sanity run's link below which a flow counts as starved.
STARVED_SHARE = 0.01
#: Part of the engine's message if it cannot load BPF at all.
NO_BPF = "built without BPF"


@dataclass
class Check:
    """The result of a check.

    Attributes
    ----------
    file
        The congestion control algorithm, as it was named.
    description
        What it declares; None if it does not compile.
    findings
        Errors and warnings, in the order of the steps.
    left_out
        Steps that were left out, and why.
    storm
        The storms; None if there were none.
    verifier
        Whether the kernel's verifier accepted it; None if it was not tried.
    sanity
        The run of two flows; None if there was none.
    took_s
        How long each step took, by the step's name.
    """

    file: str
    description: Description | None = None
    findings: list[Diagnostic] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    storm: Storm | None = None
    verifier: bool | None = None
    sanity: Run | None = None
    took_s: dict[str, float] = field(default_factory=dict)

    @property
    def verdict(self) -> Literal["OK", "WARN", "FAILED"]:
        """FAILED with an error among the findings, WARN with a warning."""
        levels = {finding.level for finding in self.findings}
        return "FAILED" if "error" in levels else "WARN" if levels else "OK"

    def add(
        self, step: str, kind: str, message: str, level: Literal["error", "warning"] = "error"
    ) -> None:
        """Note a finding."""
        self.findings.append(Diagnostic(step, level, kind, message))

    def to_dict(self) -> dict[str, Any]:
        """Return it as `--json` prints it; docs/cc-check.md has the words."""
        described = self.description
        return {
            "file": self.file,
            "verdict": self.verdict,
            "name": described and described.name,
            "title": described and described.title,
            "ops": list(described.ops) if described else [],
            "notes": list(described.notes) if described else [],
            "params": [vars(parameter) for parameter in described.parameters] if described else [],
            "series": [vars(series) for series in described.series] if described else [],
            "findings": [vars(finding) for finding in self.findings],
            "left_out": [vars(left_out) for left_out in self.left_out],
            "storm": self.storm
            and {
                "sanitizers": self.storm.sanitizers,
                "seeds": self.storm.seeds,
                "flows": FLOWS,
                "events_per_flow": STEPS,
                "settings": self.storm.settings,
                "calls": self.storm.calls,
            },
            "verifier": self.verifier,
            "sanity": self.sanity and [goodput(group) for group in self.sanity.groups],
            "took_s": {step: round(took_s, 3) for step, took_s in self.took_s.items()},
        }


def goodput(group: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is reported about a group of the sanity run."""
    return {key: group[key] for key in ("cc", "goodput_bps", "share")}


def check(
    file: str, *, storms: int = 3, on_step: Callable[[str], None] = lambda _step: None
) -> Check:
    """Check a user's congestion control algorithm.

    Parameters
    ----------
    file
        Its source, as a scenario names it; the name of a built-in one is accepted too.
    storms
        How many storms.
    on_step
        Called with each step's name as it begins.

    Raises
    ------
    ScenarioError
        There is no such file.
    """
    choice = CongestionControlChoice(file)
    result = Check(file)
    steps = Steps(result, on_step)
    try:
        # `describe` refuses the kernel's own, with the reason.
        with nullcontext() if choice.is_kernels_own else steps.step("native build"):
            result.description = describe(file)
    except EngineError as error:
        refused(result, str(error))
        return result
    if choice.is_python:
        result.left_out.append(LeftOut("storm", "it is Python, which has no stray pointers"))
        result.left_out.append(LeftOut("bpf", "it is Python, which the kernel does not run"))
    else:
        check_source(result, file, storms, steps, is_file=choice.is_file)
    # The simulator runs what the verifier refuses; how it shares a link is worth knowing.
    if not any(f.level == "error" and f.step != "verifier" for f in result.findings):
        with steps.step("two flows against cubic"):
            check_run(result, file)
    return result


@dataclass(frozen=True)
class Steps:
    """Announces the steps of a check and takes their times."""

    result: Check
    on_step: Callable[[str], None]

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Run a step."""
        self.on_step(name)
        began_s = time.monotonic()
        try:
            yield
        finally:
            self.result.took_s[name] = time.monotonic() - began_s


def check_source(result: Check, file: str, storms: int, steps: Steps, *, is_file: bool) -> None:
    """Run the steps for sources in C."""
    compiled = False
    if is_file and check_warnings(result, file):
        result.left_out.append(LeftOut("bpf", "it is a kernel module's source"))
    else:
        with steps.step("BPF build"):
            compiled = check_bpf(result, file)
    if is_file:
        with steps.step("1 storm" if storms == 1 else f"{storms} storms"):
            result.storm = storm(file, storms)
        result.findings += result.storm.findings
        result.left_out += result.storm.left_out
    else:
        result.left_out.append(LeftOut("storm", "built in; name its file, as in `cc/cubic.bpf.c`"))
    if compiled:
        with steps.step("the kernel's verifier"):
            check_verifier(result, file)


def refused(result: Check, message: str) -> None:
    """Record the engine's error for a file that it refuses; each forbidden write is a finding."""
    for found in READ_ONLY.finditer(message):
        name = found["gcc"] or found["clang"]
        result.add(
            "native",
            "read_only_field",
            f"writes `{name}`, which the kernel does not let a BPF congestion control write",
        )
    result.add("native", "compile", message)


def check_warnings(result: Check, file: str) -> bool:
    """Compile with warnings on, which are not errors; return whether it is a kernel module."""
    with _core.ScratchDirectory() as directory:
        builder = Builder(file, directory)
        if builder.is_module:
            return True
        for line in builder.warnings().splitlines():
            if ": warning: " in line:
                said = line.replace(f"{builder.source.parent}/", "")
                result.add("native", "warning", said, "warning")
    return False


def check_bpf(result: Check, file: str) -> bool:
    """Compile for the kernel; return whether that succeeded."""
    try:
        _core.compile_for_kernel(file)
    except _core.EngineError as error:
        message = str(error)
        if "install clang" in message:
            result.left_out.append(LeftOut("bpf", message))
        else:
            result.add("bpf", "compile", message)
        return False
    return True


def check_verifier(result: Check, file: str) -> None:
    """Load it through the running kernel's verifier, if this process may."""
    if not KERNELS_BTF.exists():
        why = "the running kernel has no BTF (CONFIG_DEBUG_INFO_BTF)"
    elif not has_capabilities(CAP_SYS_ADMIN):
        why = "loading into the kernel needs root; use `sudo`"
    else:
        try:
            _core.verify(file)
        except _core.EngineError as error:
            if NO_BPF not in str(error):
                result.verifier = False
                result.add("verifier", "verifier", str(error))
                return
            why = str(error)
        else:
            result.verifier = True
            return
    result.left_out.append(LeftOut("verifier", why))


def check_run(result: Check, file: str) -> None:
    """Run it against CUBIC: both must deliver data."""
    scenario = Scenario([file, "cubic"], buffer="2bdp", time="20s")
    try:
        result.sanity = run(scenario)
    except CongestionControlError as error:
        result.add("run", "run", str(error))
        return
    verdict = result.sanity.verdict
    for reason in verdict.reasons:
        if reason.check == "sandbox":
            result.add("run", "sandbox", reason.message, "warning")
        elif verdict.status == "INVALID":
            result.add("run", "run", str(reason))
    for group in result.sanity.groups:
        if group["share"] < STARVED_SHARE:
            result.add(
                "run",
                "starved",
                f"of two flows, `{group['cc']}` gets {group['share']:.2%} of what both get",
                "warning",
            )
