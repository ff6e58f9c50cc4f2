"""Messages for what ended a run of foreign code."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Call", "crash_message", "stuck_message"]

#: What a congestion control did, by the signal that it raised.
DEEDS = {
    signal.SIGFPE: "divided by zero",
    signal.SIGSEGV: "used the bad address {address}",
    signal.SIGBUS: "used the bad address {address}",
    signal.SIGILL: "ran into an instruction that does not exist",
    signal.SIGTRAP: "ran into a trap that the compiler put where nothing should come",
    signal.SIGABRT: "aborted",
    signal.SIGSYS: "made a forbidden system call",
}


@dataclass(frozen=True)
class Call:
    """The latest call into a congestion control when its run ended.

    Attributes
    ----------
    cc
        The congestion control, as the scenario names it.
    op
        The callback, by its name in `tcp_congestion_ops`.
    flow
        Number of the flow.
    is_under_way
        It had not returned.
    now_ns
        Simulated time.
    """

    cc: str
    op: str
    flow: int
    is_under_way: bool
    now_ns: int

    def __str__(self) -> str:
        return f"`{self.op}` (flow {self.flow}, at {self.now_ns / 1e9:g} s)"


def crash_message(fields: Sequence[str], ccs: Sequence[str]) -> tuple[str, Call | None]:
    """Return the message for the line that a signal handler wrote.

    Parameters
    ----------
    fields
        Fields of the line, without the word ``crash``.
    ccs
        The groups' congestion controls.
    """
    number, address = int(fields[0]), fields[1]
    name = signal.Signals(number).name
    if len(fields) < 7:
        return f"the run crashed ({name}) before it called a congestion control", None
    group, flow, is_under_way, now_ns = (int(field) for field in fields[2:6])
    call = Call(ccs[group], fields[6], flow, bool(is_under_way), now_ns)
    deed = DEEDS.get(signal.Signals(number), "crashed").format(address=address)
    if call.is_under_way:
        return f"congestion control `{call.cc}` {deed} in {call}; {name}", call
    return (
        f"the simulator crashed ({name}) after congestion control `{call.cc}` returned from "
        f"{call}; it may have written outside its memory: try `dumbbell cc check`",
        call,
    )


def stuck_message(
    fields: Sequence[int | str | bool], ccs: Sequence[str], limit_s: float
) -> tuple[str, Call]:
    """Return the message for simulated time that did not advance.

    Parameters
    ----------
    fields
        The latest call: group, op, flow, whether it is under way, simulated time.
    ccs
        The groups' congestion controls.
    limit_s
        For how long, in CPU time.
    """
    group, op, flow, is_under_way, now_ns = fields
    call = Call(ccs[int(group)], str(op), int(flow), bool(is_under_way), int(now_ns))
    if call.is_under_way:
        return (
            f"congestion control `{call.cc}` has not returned from {call} within {limit_s:g} s of "
            "CPU time; bound its loops"
        ), call
    return (
        f"simulated time stands still after congestion control `{call.cc}` returned from {call}: "
        f"{limit_s:g} s of CPU time went by; look at the cwnd and the pacing rate it sets"
    ), call
