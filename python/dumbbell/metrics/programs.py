"""Programs of the user: what they printed, how long they ran and what they computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dumbbell.metrics.metric import register
from dumbbell.metrics.observation import Observation
from dumbbell.run.programs import client_of

__all__ = ["cpu_time_us", "exit_code", "measured", "run_delay_us", "run_time_us"]


@register(title="measured", per="group")
def measured(obs: Observation) -> list[float | None]:
    """Number that a group's client printed, where the pattern of its `measure` matched last.

    Its unit is the program's. Like all metrics of programs it is of the whole run: a warm-up does
    not change it, and a phase has none.

    References
    ----------
    docs/programs.md.
    """
    return of_clients(obs, "measured")


@register(unit="us", title="run time", per="group")
def run_time_us(obs: Observation) -> list[float | None]:
    """Time from the start of a group's client to its end.

    None if it was asked to end.

    References
    ----------
    docs/programs.md.
    """
    starts, ends = of_clients(obs, "start_us"), of_clients(obs, "end_us")
    were_ended = of_clients(obs, "was_ended")
    return [
        None if start is None or end is None or was_ended else end - start
        for start, end, was_ended in zip(starts, ends, were_ended, strict=True)
    ]


@register(title="exit code", per="group")
def exit_code(obs: Observation) -> list[float | None]:
    """Exit code of a group's client; minus the signal, if one ended it.

    None if it was asked to end.

    References
    ----------
    wait(2).
    """
    codes, signals = of_clients(obs, "exit_code"), of_clients(obs, "signal")
    were_ended = of_clients(obs, "was_ended")
    return [
        None if was_ended else code if code is not None else signal and -signal
        for code, signal, was_ended in zip(codes, signals, were_ended, strict=True)
    ]


@register(unit="us", title="CPU time of the client", better="lower", per="group")
def cpu_time_us(obs: Observation) -> list[float | None]:
    """CPU time of a group's client and all that it started, in user mode and in the kernel.

    References
    ----------
    getrusage(2), summed by the kernel over its PID namespace.
    """
    return of_clients(obs, "cpu_us")


@register(unit="us", title="run-queue delay of the client", better="lower", per="group")
def run_delay_us(obs: Observation) -> list[float | None]:
    """Time that the threads of a group's client were ready to run and had no CPU.

    Summed over threads, read ten times a second: what a thread waits after the last reading is
    missing. Much of it says that the machine, not the network, was slow.

    References
    ----------
    Linux, Documentation/scheduler/sched-stats.rst: /proc/PID/schedstat.
    """
    return of_clients(obs, "run_delay_us")


def of_clients(obs: Observation, key: str) -> list[float | None]:
    """Return a number of each group's client; None in a phase and without a client."""
    if obs.is_phase:
        return [None] * len(obs.groups)
    clients: Iterable[Mapping[str, Any] | None] = (
        client_of(obs.run.summary, group["group"]) for group in obs.groups
    )
    return [None if client is None else client.get(key) for client in clients]
