"""One process of foreign code, seen from the parent.

Nothing that the process says is believed without a check. That it has ended, and how, is the
kernel's and the server's word.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell._core import Control, sandbox_pieces
from dumbbell.base.errors import Cancelled, CongestionControlError, EngineError, ScenarioError
from dumbbell.base.quantities.printable import MESSAGE_BYTES, printable
from dumbbell.congestion_control.isolation.crash import (
    Call,
    crash_message,
    end_message,
    read_call,
    stuck_message,
)
from dumbbell.congestion_control.isolation.protocol import BrokenAnswer, FrameReader
from dumbbell.congestion_control.isolation.server_link import (
    SERVER,
    Channels,
    check_descriptors,
)
from dumbbell.congestion_control.isolation.stall_clock import StallClock

__all__ = ["FUNCTION_LIMIT_S", "ForeignProcess", "follow"]

#: CPU time that one call into a congestion control algorithm may take, s. The kernel's verifier
#: allows a million instructions, about a thousandth of this time.
FUNCTION_LIMIT_S = 5.0
#: How long a process may load the code: constructors, `module_init`, a Python file's top level, s.
LOADING_LIMIT_S = 10.0
#: How long a run may not advance, s. Time that the machine does not give it does not count.
STALL_LIMIT_S = 30.0
#: How long the end of a run may take, in which its tables are written, s.
FINISHING_LIMIT_S = 120.0
#: How often to check whether a run is to be cancelled, and whether it advances, s.
POLL_S = 0.05
#: A cancelled run has this long to close its capture, s; then it is killed.
KILL_S = 4.0
#: How long the kernel may take to end a killed process, and the server to report it, s.
END_S = 60.0
#: A process that closed its socket has this long to end, s.
CLOSED_S = 1.0


class ServerDiedError(EngineError):
    """The server died before it forked the process."""


def follow(
    request: Mapping[str, Any],
    ccs: Sequence[str],
    control: Control | None = None,
    output: int | None = None,
) -> tuple[ForeignProcess, str, Any]:
    """Start a process, and wait for its result.

    Parameters
    ----------
    request
        What it is to do.
    ccs
        The groups' congestion control algorithms.
    control
        Receives the progress, and may cancel.
    output
        A file in memory for the result of a run.

    Returns
    -------
    tuple
        The process, which has ended, and the word and value of its answer.

    Raises
    ------
    CongestionControlError
        The code crashed, hung, ended the process or answered what it may not.
    EngineError, ScenarioError
        The engine refuses what was asked.
    Cancelled
        It was stopped through `control`.
    """
    process = ForeignProcess(SERVER.start(request, output), ccs, request["files"], control)
    try:
        return process, *process.follow()
    except ServerDiedError:
        # Perhaps killed from outside. If it happens again, the error is raised.
        SERVER.forget()
    process = ForeignProcess(SERVER.start(request, output), ccs, request["files"], control)
    return process, *process.follow()


@dataclass
class End:
    """How a process ended, as waitid(2) reports it."""

    code: int
    status: int


class ForeignProcess:
    """A process of foreign code, followed until it has answered and ended.

    Parameters
    ----------
    channels
        To it and to the server; closed by `close`.
    ccs
        The groups' congestion control algorithms.
    foreign
        Those of them that are foreign.
    control
        Receives the progress, and may cancel.
    """

    def __init__(
        self,
        channels: Channels,
        ccs: Sequence[str],
        foreign: Sequence[str],
        control: Control | None = None,
    ) -> None:
        self.channels = channels
        self.ccs = ccs
        self.names = name_all(foreign)
        self.control = control
        self.answers = FrameReader()
        self.status = FrameReader()
        self.printed = b""
        self.pidfd: int | None = None
        self.end: End | None = None
        self.clock: StallClock | None = None
        self.call: Call | None = None
        self.is_started = False
        self.is_confined = False
        #: What the sandbox lacks, and what that costs.
        self.missing: list[dict[str, str]] = []
        self.reached: tuple[float, int] = (0.0, 0)
        self.result: tuple[str, Any] | None = None
        self.kill_at_s = 0.0
        self.poll = select.poll()
        for channel in (channels.status, channels.answers, channels.printed):
            self.poll.register(channel, select.POLLIN)

    def follow(self) -> tuple[str, Any]:
        """Wait for the result; return its word and value when the process has ended."""
        try:
            while self.result is None:
                self.step()
            return self.result
        except BrokenAnswer as broken:
            raise CongestionControlError(
                f"the process that ran {self.names} sent {broken}; it has been ended"
            ) from None
        finally:
            self.close()

    def close(self) -> None:
        """End the process, wait until it has ended, and show what it printed."""
        if self.pidfd is not None:
            self.kill()
            ended = select.poll()
            ended.register(self.pidfd, select.POLLIN)
            ended.poll(END_S * 1000)
            os.close(self.pidfd)
            self.pidfd = None
        self.read_printed()
        self.channels.close()
        self.show_printed()

    def kill(self) -> None:
        """Kill the process, and no other."""
        if self.pidfd is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def step(self) -> None:
        """Wait a moment for the process to say something, and handle what has happened."""
        self.cancel_if_asked()  # also if progress arrives before each poll times out
        ready = {descriptor for descriptor, _ in self.poll.poll(POLL_S * 1000)}
        if self.channels.status.fileno() in ready:
            self.read_status()
        if self.channels.printed in ready:
            self.read_printed()
        if self.channels.answers.fileno() in ready and not self.read_answers():
            self.closed()
        elif self.pidfd in ready and self.result is None and not self.drain():
            raise self.ended()
        if self.result is None:
            self.check_advance()

    def read_status(self) -> None:
        """Read what the server reports."""
        data, descriptors = b"", list[int]()
        with contextlib.suppress(ConnectionResetError):
            data, descriptors, _, _ = socket.recv_fds(self.channels.status, 1 << 16, 1)
        if not data:
            self.poll.unregister(self.channels.status)
            if self.pidfd is None:
                raise ServerDiedError("the process that runs foreign algorithms has died")
            return
        self.hear(data, descriptors)

    def hear(self, data: bytes, descriptors: list[int]) -> None:
        """Handle what the server has reported."""
        for word, value in self.status.feed(data):
            if word == "pid":
                if not descriptors:  # it found no place here
                    check_descriptors(OSError(errno.EMFILE, ""))
                self.pidfd = descriptors[0]
                self.clock = StallClock(value)
                self.poll.register(self.pidfd, select.POLLIN)
            elif word == "refused":
                raise EngineError(printable(value, lines=True))
            elif word == "ended":
                self.end = End(*value)

    def read_printed(self) -> None:
        """Take what the process wrote to stdout and stderr, so that it need not wait."""
        try:
            while data := os.read(self.channels.printed, 1 << 16):
                # One byte more than is shown, to know that it is cut.
                self.printed += data[: MESSAGE_BYTES + 1 - len(self.printed)]
                if len(data) < 1 << 16:
                    return
        except BlockingIOError:
            return
        with contextlib.suppress(KeyError):
            self.poll.unregister(self.channels.printed)

    def show_printed(self) -> None:
        """Write to stderr what the process printed, named and escaped."""
        if not self.printed.strip():
            return
        text = printable(self.printed, lines=True)
        for line in text.splitlines():
            sys.stderr.write(f"{self.names} printed: {line}\n")
        self.printed = b""

    def read_answers(self) -> bool:
        """Handle what the process has sent; return False if it has closed its socket."""
        try:
            data = self.channels.answers.recv(1 << 16)
        except BlockingIOError:
            return True
        except ConnectionResetError:
            return False
        for word, value in self.answers.feed(data):
            if self.result is None:
                self.take(word, value)
        return bool(data)

    def drain(self) -> bool:
        """Read what an ended process has sent last; return whether that is a result."""
        while self.result is None and self.unread_bytes() and self.read_answers():
            pass
        return self.result is not None

    def unread_bytes(self) -> bool:
        """Whether the process's socket has bytes to read."""
        try:
            return bool(self.channels.answers.recv(1, socket.MSG_PEEK))
        except OSError:
            return False

    def take(self, word: str, value: Any) -> None:
        """Handle an answer."""
        handle: Callable[[Any], None] | None = {
            "confined": self.take_confined,
            "at": self.take_progress,
            "fault": self.take_fault,
            "refused": self.take_refused,
            "invalid": self.take_invalid,
            "cancelled": self.take_cancelled,
            "stuck": self.take_stuck,
            "crash": self.take_crash,
        }.get(word)
        if handle is not None:
            handle(value)
        elif word in ("done", "described"):
            self.result = (word, value)
        else:
            raise BrokenAnswer("an answer with an unknown word")

    def take_confined(self, value: Any) -> None:
        """Note which pieces the sandbox lacks; said before any foreign code runs."""
        pieces = [] if value is None else value
        known = sandbox_pieces()
        if not isinstance(pieces, list) or not all(piece in known for piece in map(str, pieces)):
            raise BrokenAnswer("an unknown piece of the sandbox")
        if self.is_started:
            raise BrokenAnswer("an answer twice")
        self.is_started = True
        self.is_confined = value is not None
        self.missing = [{"piece": piece, "cost": known[piece]} for piece in pieces]
        self.advanced()

    def take_progress(self, value: Any) -> None:
        """Note how far the run has come, and the latest call."""
        if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], float):
            raise BrokenAnswer("progress of another form")
        share, call = value[0], read_call(value[1], self.ccs)
        if not 0.0 <= share <= 1.0:
            raise BrokenAnswer("progress that cannot be")
        self.call = call
        reached = (share, call.now_ns)
        if share >= self.reached[0] and reached > self.reached:
            self.reached = reached
            self.advanced()
            if self.control is not None:
                self.control.set_progress(share)

    def take_fault(self, value: Any) -> None:
        """The engine found what no congestion control algorithm may do."""
        raise CongestionControlError(printable(text_of(value)))

    def take_refused(self, value: Any) -> None:
        """The engine refuses the request."""
        raise EngineError(printable(text_of(value), lines=True))

    def take_invalid(self, value: Any) -> None:
        """The file has no congestion control algorithm that can run."""
        raise ScenarioError(printable(text_of(value)), key="cc")

    def take_cancelled(self, _value: Any) -> None:
        """The run was cancelled, if it was asked to."""
        if not self.kill_at_s:
            raise BrokenAnswer("that it was cancelled, without a request")
        raise Cancelled("the run was cancelled")

    def take_stuck(self, value: Any) -> None:
        """The watchdog in the process ended it."""
        call = read_call(value, self.ccs)
        raise CongestionControlError(stuck_message(call, FUNCTION_LIMIT_S), call)

    def take_crash(self, value: Any) -> None:
        """A signal handler in the process ended it."""
        raise CongestionControlError(*crash_message(value, self.ccs, self.names))

    def advanced(self) -> None:
        """Start the watchdog's clock again."""
        if self.clock is not None:
            self.clock.advanced()

    def cancel_if_asked(self) -> None:
        """Forward a cancellation; a process that does not end is killed."""
        if self.control is None or not self.control.is_cancelled():
            return
        now_s = time.monotonic()
        if self.pidfd is None:
            raise Cancelled("the run was cancelled")  # it is still being compiled
        if not self.kill_at_s:
            self.kill_at_s = now_s + KILL_S
            with contextlib.suppress(OSError):  # it has ended; its last answer is still to be read
                self.channels.answers.send(b"cancel")
        elif now_s > self.kill_at_s:
            raise Cancelled("the run was cancelled")

    def check_advance(self) -> None:
        """End a process that has stalled for too long."""
        if self.clock is None:
            return
        stalled_s = self.clock.look()
        if self.reached[0] >= 1.0:
            limit_s = FINISHING_LIMIT_S
        else:
            limit_s = STALL_LIMIT_S if self.call else LOADING_LIMIT_S
        if stalled_s <= limit_s:
            return
        how, of_cpu = "; it is stopped (SIGSTOP)" if self.clock.is_stopped else "", ""
        if not how and self.clock.cpu_s < stalled_s / 2:
            how = "; it sleeps, or waits for something that does not come"
        elif not how:
            of_cpu = " of CPU time"  # on a busy machine that takes longer
        if self.call is None:
            raise CongestionControlError(
                f"{self.names} was not loaded within {limit_s:g} s{of_cpu}{how}: look at its "
                "constructors, its module_init, or the top level of its Python file"
            )
        what = "has not returned from" if self.call.is_under_way else "hangs after"
        raise CongestionControlError(
            f"simulated time has not advanced for {limit_s:g} s{of_cpu}: congestion control "
            f"`{self.call.cc}` {what} {self.call}{how}",
            self.call,
        )

    def closed(self) -> None:
        """The process has closed its socket: it has ended, or pretends to have."""
        self.poll.unregister(self.channels.answers)
        ended = select.poll()
        if self.pidfd is not None:
            ended.register(self.pidfd, select.POLLIN)
            if not ended.poll(CLOSED_S * 1000):
                raise CongestionControlError(
                    f"{self.names} closed the socket on which its run answers"
                )
        raise self.ended()

    def ended(self) -> Exception:
        """Return the error for a process that has ended, or never began, without a result."""
        if self.kill_at_s:
            return Cancelled("the run was cancelled")
        until_s = time.monotonic() + END_S
        reported = select.poll()
        reported.register(self.channels.status, select.POLLIN)
        while self.end is None and time.monotonic() < until_s:
            if reported.poll(POLL_S * 1000):
                data, descriptors = b"", list[int]()
                with contextlib.suppress(ConnectionResetError):
                    data, descriptors, _, _ = socket.recv_fds(self.channels.status, 1 << 16, 1)
                if not data:
                    break
                # The reason why there is no process may take many reads.
                self.hear(data, descriptors)
        if self.end is None:
            return CongestionControlError(
                f"the process that ran {self.names} was killed together with its server"
            )
        return CongestionControlError(
            end_message(self.names, self.end.code, self.end.status, self.call), self.call
        )


def name_all(foreign: Sequence[str]) -> str:
    """Return foreign congestion control algorithms as text."""
    names = [f"`{printable(cc)}`" for cc in dict.fromkeys(foreign)]
    if len(names) == 1:
        return f"congestion control {names[0]}"
    return f"one of the algorithms {', '.join(names)}"


def text_of(value: Any) -> str:
    """Return a text, or refuse what is none."""
    if not isinstance(value, str):
        raise BrokenAnswer("a message of another form")
    return value
