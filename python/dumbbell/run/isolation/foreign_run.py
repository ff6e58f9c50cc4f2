"""A run in a process of its own, seen from here."""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from dumbbell._core import Control
from dumbbell.errors import Cancelled, CongestionControlError, EngineError, ScenarioError
from dumbbell.run.capture import Capture
from dumbbell.run.isolation.crash import crash_message, stuck_message
from dumbbell.scenario import Scenario

__all__ = ["FUNCTION_LIMIT_S", "execute_isolated", "is_foreign"]

#: CPU time that one call into a congestion control may take, s. The kernel's verifier allows a
#: million instructions, about a thousandth of this time.
FUNCTION_LIMIT_S = 5.0
#: How often to check whether a run is to be cancelled, s.
POLL_S = 0.05
#: A cancelled run has this long to close its capture, s; then it is killed.
KILL_S = 4.0


def is_foreign(scenario: Scenario) -> bool:
    """Whether a scenario runs code from files, which is not dumbbell's own.

    Raises
    ------
    ScenarioError
        It also has a class of this program, which another process does not have.
    """
    ccs = [group.cc for group in scenario.groups]
    foreign = [cc for cc in ccs if cc.is_file]
    own = [cc for cc in ccs if cc.is_python_class]
    if foreign and own:
        raise ScenarioError(
            f"`{foreign[0]}` runs in a process of its own, which does not have this program's "
            f"`{own[0]}`; put the class in a file and name that",
            key="cc",
        )
    return bool(foreign)


def execute_isolated(
    scenario: Scenario, control: Control, capture: Capture | None = None
) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    """Simulate a scenario in a process of its own.

    Parameters
    ----------
    scenario
        What to run.
    control
        As for `run.execute`.
    capture
        As for `run.execute`.

    Returns
    -------
    tuple
        The run's summary and its tables.

    Raises
    ------
    CongestionControlError
        A congestion control crashed, or did not return.
    EngineError
        The engine refuses the scenario.
    Cancelled
        It was stopped through `control`.
    """
    with SERVER.start(request_of(scenario, capture)) as answers:
        return ForeignRun(scenario, control, answers).follow()


def request_of(scenario: Scenario, capture: Capture | None) -> bytes:
    """Return the request to the process, as JSON."""
    captured = None
    if capture is not None:
        words = ("snap_bytes", "senders", "receivers", "bottleneck")
        captured = {word: getattr(capture, word) for word in words} | {"path": str(capture.path)}
    request = {
        "scenario": scenario.to_json(),
        "files": sorted({group.cc.name for group in scenario.groups if group.cc.is_file}),
        "capture": captured,
        "directory": str(Path.cwd()),
        "module_path": sys.path,
        "environment": dict(os.environ),
        "function_limit_s": FUNCTION_LIMIT_S,
    }
    return json.dumps(request).encode()


class Server:
    """The process that forks the runs' processes; started when it is first needed."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.requests: socket.socket | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self.owner = 0

    def start(self, request: bytes) -> socket.socket:
        """Start a run; return the socket of its answers."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self.send(len(request), theirs)
            except OSError:
                # Perhaps killed from outside. If it happens again, the error is raised.
                self.forget()
                self.send(len(request), theirs)
        try:
            ours.sendall(request)
        except OSError as error:
            ours.close()
            raise EngineError(
                f"the process that runs foreign congestion controls has died: {error}"
            ) from None
        return ours

    def send(self, length: int, answers: socket.socket) -> None:
        """Hand the server the socket of a request."""
        with self.lock:
            # After a fork the server is still the parent's.
            if self.requests is None or self.owner != os.getpid():
                self.requests = self.launch()
            socket.send_fds(self.requests, [str(length).encode()], [answers.fileno()])

    def forget(self) -> None:
        """Close the socket of a server that has died."""
        with self.lock:
            if self.requests is not None:
                self.requests.close()
            self.requests = None

    def launch(self) -> socket.socket:
        """Start the process; return the socket that takes requests."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        script = Path(__file__).with_name("server.py")
        # Only a process with one thread can be forked safely; numpy's BLAS and Arrow's jemalloc
        # would start others.
        environment = {
            **os.environ,
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "JE_ARROW_MALLOC_CONF": "background_thread:false",
        }
        with theirs:
            self.process = subprocess.Popen(  # noqa: S603 -- our own arguments
                [sys.executable, "-P", str(script)],
                stdin=theirs.fileno(),
                stdout=sys.__stderr__,  # output of a congestion control in Python is not a result
                env=environment,
            )
        self.owner = os.getpid()
        return ours


#: Of this process.
SERVER = Server()


class ForeignRun:
    """One run, followed by its answers.

    Parameters
    ----------
    scenario
        What runs.
    control
        Receives the progress, and may cancel.
    answers
        The socket to its process.
    """

    def __init__(self, scenario: Scenario, control: Control, answers: socket.socket) -> None:
        self.ccs = [group.cc.name for group in scenario.groups]
        self.control = control
        self.answers = answers
        self.unread = b""
        self.descriptors: list[int] = []
        self.pid = 0
        self.kill_at_s = 0.0

    def follow(self) -> tuple[dict[str, Any], dict[str, pa.Table]]:
        """Wait for the result; raise the error if the run failed."""
        try:
            while True:
                for line in self.read_lines():
                    result = self.take(line)
                    if result is not None:
                        return self.read_output(result)
        finally:
            for descriptor in self.descriptors:
                os.close(descriptor)

    def read_lines(self) -> list[bytes]:
        """Wait for answers; return the complete lines."""
        self.cancel_if_asked()  # also if progress arrives before each poll times out
        while not select.select([self.answers], [], [], POLL_S)[0]:
            self.cancel_if_asked()
        data, descriptors, _, _ = socket.recv_fds(self.answers, 1 << 16, 1)
        self.descriptors += descriptors
        if not data:
            if self.kill_at_s:
                raise Cancelled("the run was cancelled")
            raise CongestionControlError(
                f"the process that ran {self.names()} was killed, perhaps for lack of memory; "
                "see `dmesg`"
            )
        *lines, self.unread = (self.unread + data).split(b"\n")
        return lines

    def names(self) -> str:
        """Return the congestion controls as text."""
        return ", ".join(f"`{cc}`" for cc in dict.fromkeys(self.ccs))

    def cancel_if_asked(self) -> None:
        """Forward a cancellation; a process that does not end is killed."""
        if not self.control.is_cancelled():
            return
        now_s = time.monotonic()
        if not self.kill_at_s:
            self.kill_at_s = now_s + KILL_S
            with contextlib.suppress(OSError):  # it has ended; its last answer is still to be read
                self.answers.sendall(b"cancel")
        elif now_s > self.kill_at_s and self.pid:
            os.kill(self.pid, signal.SIGKILL)

    def take(self, line: bytes) -> dict[str, Any] | None:
        """Handle an answer; return the result if it is one."""
        if line.startswith(b"crash "):
            message, call = crash_message(line.decode().split()[1:], self.ccs)
            raise CongestionControlError(message, call)
        answer = json.loads(line)
        if "pid" in answer:
            self.pid = answer["pid"]
        elif "progress" in answer:
            self.control.set_progress(answer["progress"])
        elif "fault" in answer:
            raise CongestionControlError(answer["fault"])
        elif "refused" in answer:
            raise EngineError(answer["refused"])
        elif "cancelled" in answer:
            raise Cancelled("the run was cancelled")
        elif "stuck" in answer:
            message, call = stuck_message(answer["stuck"], self.ccs, FUNCTION_LIMIT_S)
            raise CongestionControlError(message, call)
        elif "failed" in answer:
            raise RuntimeError(answer["failed"])
        done: dict[str, Any] | None = answer.get("done")
        return done

    def read_output(self, done: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, pa.Table]]:
        """Read the summary and the tables from the process's memory file; tables are not copied."""
        buffer = pa.py_buffer(mmap.mmap(self.descriptors[0], 0, prot=mmap.PROT_READ))
        start, length = done["summary"]
        summary = json.loads(buffer.slice(start, length).to_pybytes())
        tables = {}
        for name, start, length in done["tables"]:
            with pa.ipc.open_stream(buffer.slice(start, length)) as stream:
                table = stream.read_all()
            # Foreign code may have overwritten it, so its offsets are checked.
            table.validate(full=True)
            tables[name] = table
        self.control.set_progress(1.0)
        return summary, tables
