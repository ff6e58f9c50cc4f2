"""The engines, and what each requires of a scenario and of the machine."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from dumbbell import _core
from dumbbell.base.errors import EngineError, PrivilegeError, ScenarioError, nearest
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.congestion_control import CongestionControlChoice, congestion_controls
from dumbbell.run.guest import UML, check_for_guest, guest_kernel, is_uml
from dumbbell.scenario import Scenario
from dumbbell.scenario.program import Command, RecordedCommand

__all__ = [
    "ENGINES", "KERNEL", "SIMULATOR", "UML", "check_engine", "check_for_kernel", "default_workers",
    "engine_build",
]  # fmt: skip

SIMULATOR, KERNEL = "simulator", "kernel"
#: The third may be followed by the name of a kernel, as in ``uml:6.12``.
ENGINES = (SIMULATOR, KERNEL, UML)

#: Bits of a capability set (capabilities(7)) that namespaces and their devices need.
CAP_NET_ADMIN, CAP_SYS_ADMIN = 12, 21


def check_engine(engine: str, *scenarios: Scenario) -> None:
    """Refuse scenarios that an engine cannot run, before anything runs.

    Parameters
    ----------
    engine
        ``simulator``, ``kernel``, or ``uml`` with or without the name of a kernel.
    scenarios
        The scenarios to run.

    Raises
    ------
    ScenarioError
        There is no such engine, or it does not have a congestion control algorithm of a scenario.
    EngineError
        The kernel engine was chosen, and a scenario has what only the simulator has.
    PrivilegeError
        The kernel engine was chosen, and this process may not make network namespaces.
    EngineError
        This process may not load a congestion control algorithm into the kernel; no kernel is built
        for the UML engine, or it does not run a scenario.
    """
    if engine.partition(":")[0] not in ENGINES or (":" in engine and not is_uml(engine)):
        raise ScenarioError(f"unknown engine `{engine}`{nearest(engine, ENGINES)}")
    ccs = [group.cc for scenario in scenarios for group in scenario.groups]
    for client in (group.client for each in scenarios for group in each.groups if group.client):
        check_program(client, engine)
    if engine == SIMULATOR:
        check_simulated(ccs)
        return
    for cc in ccs:
        check_no_quic(cc)
    if is_uml(engine):
        check_for_guest(guest_kernel(engine), scenarios)
        return
    check_on_kernel(ccs, scenarios)


def check_on_kernel(ccs: Sequence[CongestionControlChoice], scenarios: Sequence[Scenario]) -> None:
    """Refuse what this machine's kernel does not run, or not for this user."""
    for cc in ccs:
        if cc.is_python:
            raise ScenarioError(
                f"`{cc}` is written in Python, which the kernel does not run; leave out "
                "`--engine kernel`, or write it in C: `dumbbell cc new` writes a template",
                key="cc",
            )
    for scenario in scenarios:
        check_for_kernel(scenario)
    if may_make_namespaces():
        return
    for cc in ccs:
        if not cc.is_kernels_own:
            raise EngineError(
                f"`{cc}` on the kernel engine needs root's privileges, because loading a "
                "congestion control into the kernel does; use `sudo`, or the kernel's own, "
                "like `linux/cubic`"
            )
    raise PrivilegeError(
        "the kernel engine needs root or a user namespace of its own; run this program with "
        "`sudo`, or with `unshare --user --map-root-user` before it"
    )


def check_for_kernel(scenario: Scenario) -> None:
    """Refuse what only the simulator has.

    Raises
    ------
    EngineError
        The scenario has it.
    """
    try:
        _core.check_for_kernel(scenario.to_json())
    except _core.EngineError as error:
        raise EngineError(str(error)) from None


def check_simulated(ccs: Sequence[CongestionControlChoice]) -> None:
    """Refuse congestion control algorithms that only a kernel has."""
    for cc in ccs:
        if cc.is_kernels_own:
            plain = cc.kernel_name
            hint = f", or `{plain}`" if plain in congestion_controls() else ""
            raise ScenarioError(
                f"`{cc}` is a kernel's own; use `--engine uml` or `kernel`{hint}", key="cc"
            )


def check_no_quic(cc: CongestionControlChoice) -> None:
    """Refuse a QUIC stack outside the simulator: no kernel has one."""
    if cc.is_quic:
        raise ScenarioError(
            f"`{cc}` runs in the simulator only, because kernels have no QUIC; leave out "
            "`--engine`, or run a QUIC program: `dumbbell emulate -- COMMAND`",
            key="cc",
        )


def check_program(client: Command, engine: str) -> None:
    """Refuse a program that an engine does not run."""
    if isinstance(client, RecordedCommand):
        raise ScenarioError(
            f"`{excerpt(client)}` is a program of a result, and results run no programs; write "
            "the scenario to a file (`Scenario.to_toml`), read what it runs, and run that",
            key="client",
        )
    if engine == SIMULATOR:
        raise ScenarioError(
            f"`{excerpt(client)}` is a real program, which the simulator does not run; use "
            "`--engine kernel` or `--engine uml`",
            key="client",
        )


@functools.cache
def engine_build() -> str:
    """Return a digest of the engine: of the compiled module, including its CCAs.

    It is of the bytes that run, not of their sources, so a change of compiler or library changes it
    too.
    """
    return hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()[:32]


def may_make_namespaces() -> bool:
    """Whether this process may make network namespaces.

    As root does, also that of a user namespace; not as root in most containers.
    """
    return has_capabilities(CAP_NET_ADMIN, CAP_SYS_ADMIN)


def has_capabilities(*bits: int) -> bool:
    """Whether this process has capabilities."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return os.geteuid() == 0
    line = next((line for line in status.splitlines() if line.startswith("CapEff:")), "CapEff: 0")
    effective = int(line.split()[1], 16)
    return all(effective >> bit & 1 for bit in bits)


def default_workers(engine: str) -> int:
    """Return the default number of concurrent runs.

    Runs in virtual time do not affect each other. Runs on the kernel share the machine's cores in
    real time, so two at once make each other late.
    """
    return 1 if engine == KERNEL else available_cores()


def available_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
