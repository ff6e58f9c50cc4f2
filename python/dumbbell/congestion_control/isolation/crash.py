"""Messages for what ended a process of foreign code."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell.base.quantities.printable import printable
from dumbbell.congestion_control.isolation.protocol import BrokenAnswer

__all__ = ["Call", "crash_message", "end_message", "read_call", "stuck_message"]

#: What a congestion control algorithm did, by the signal that it raised.
DEEDS = {
    signal.SIGFPE: "divided by zero",
    signal.SIGSEGV: "used the bad address {detail}",
    signal.SIGBUS: "used the bad address {detail}",
    signal.SIGILL: "reached code that the compiler takes for impossible, as a division by zero,",
    signal.SIGTRAP: "reached code that the compiler takes for impossible, as a division by zero,",
    signal.SIGABRT: "aborted",
    signal.SIGSYS: "made the forbidden system call {detail}",
}
#: What finds out more of the signals that do not say what went wrong.
SAYS_MORE = "; `dumbbell cc check` names the line"
SILENT = (signal.SIGILL, signal.SIGTRAP)
#: What ended a process by a signal of the kernel's, without a word of its own.
KILLED = {
    signal.SIGKILL: "was killed (SIGKILL), perhaps for lack of memory; see `dmesg`",
    signal.SIGXCPU: "used more CPU time than a process of foreign code may (SIGXCPU)",
    signal.SIGXFSZ: "wrote a larger file than a process of foreign code may (SIGXFSZ)",
    signal.SIGSYS: "made a forbidden system call (SIGSYS)",
}
#: Exit status after a signal handler's report (`crates/cc/src/host/crash.rs`).
CRASHED = 70
#: Longest name of a callback or detail that is believed.
WORD_LENGTH = 64


@dataclass(frozen=True)
class Call:
    """The latest call into a congestion control algorithm when its run ended.

    Attributes
    ----------
    cc
        The congestion control algorithm, as the scenario names it.
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


def read_call(fields: Any, ccs: Sequence[str]) -> Call:
    """Read a call as a process sends it: group, op, flow, whether it is under way, time in ns."""
    kinds: tuple[Any, ...] = (int, str, int, (bool, int), int)
    if (
        not isinstance(fields, list)
        or len(fields) != len(kinds)
        or not all(map(isinstance, fields, kinds))
    ):
        raise BrokenAnswer("a call of another form")
    group, op, flow, is_under_way, now_ns = fields
    if not 0 <= group < len(ccs) or not (0 <= flow < 2**32 and 0 <= now_ns < 2**64):
        raise BrokenAnswer("a call that cannot be")
    return Call(ccs[group], printable(op[:WORD_LENGTH]), flow, bool(is_under_way), now_ns)


def crash_message(fields: Any, ccs: Sequence[str], names: str) -> tuple[str, Call | None]:
    """Return the message for what a signal handler wrote.

    Parameters
    ----------
    fields
        Signal, detail (an address, or a system call), and the call, if there was one.
    ccs
        The groups' congestion control algorithms.
    names
        All that are foreign, as text.
    """
    if not isinstance(fields, list) or len(fields) not in (2, 7):
        raise BrokenAnswer("a crash of another form")
    number, detail, *rest = fields
    try:
        raised = signal.Signals(number)
    except (ValueError, TypeError):
        raise BrokenAnswer("a crash by an unknown signal") from None
    if not isinstance(detail, str):
        raise BrokenAnswer("a crash of another form")
    detail = printable(detail[:WORD_LENGTH])
    deed = DEEDS.get(raised, "crashed").format(detail=detail)
    if not rest:
        return f"{names} {deed} while it was loaded; {raised.name}", None
    call = read_call(rest, ccs)
    if call.is_under_way:
        hint = SAYS_MORE if raised in SILENT else ""
        return f"congestion control `{call.cc}` {deed} in {call}; {raised.name}{hint}", call
    return (
        f"the simulator crashed ({raised.name}) after congestion control `{call.cc}` returned from "
        f"{call}; it may have written outside its memory: try `dumbbell cc check`",
        call,
    )


def stuck_message(call: Call, limit_s: float) -> str:
    """Return the message for simulated time that did not advance within CPU time."""
    if call.is_under_way:
        return (
            f"congestion control `{call.cc}` has not returned from {call} within {limit_s:g} s of "
            "CPU time; bound its loops"
        )
    return (
        f"simulated time stands still after congestion control `{call.cc}` returned from {call}: "
        f"{limit_s:g} s of CPU time went by; look at the cwnd and the pacing rate it sets"
    )


def end_message(names: str, code: int, status: int, call: Call | None) -> str:
    """Return the message for a process that ended without a result.

    Parameters
    ----------
    names
        The foreign congestion control algorithms, as text.
    code, status
        As waitid(2) reports them.
    call
        The latest call that is known.
    """
    where = f"; the last call that it reported was {call}" if call is not None else ""
    if code == os.CLD_EXITED and status == CRASHED:
        return f"{names} closed the socket on which its run answers, and crashed{where}"
    if code == os.CLD_EXITED:
        return f"{names} ended its process with exit status {status}, by `exit` or `exec`{where}"
    try:
        killed = KILLED.get(signal.Signals(status))
        name = signal.Signals(status).name
    except ValueError:
        killed, name = None, f"signal {status}"
    if killed is None:
        killed = f"was ended by {name}, which it sent to itself or another program sent"
    return f"{names} {killed}{where}"
