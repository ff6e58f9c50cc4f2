"""One run of foreign code, in a process of its own.

Answers are lines on a socket: JSON documents, except for the line that the engine's signal handlers
write (`crates/cc/src/host/crash.rs`). The last one says how the run ended:

```text
{"pid": 4711}
{"progress": 0.25}
{"done": {"summary": [offset, bytes], "tables": [[name, offset, bytes], …]}}   and a descriptor
{"refused": "…"}, {"fault": "…"} or {"cancelled": true}
{"stuck": [group, op, flow, is_under_way, now_ns]}
crash 8 0x7f… 0 1 1 204000000 cong_avoid
```

The descriptor is a file in memory: the summary as JSON, and each table as an Arrow stream.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import sys
import threading
import time
import traceback
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pyarrow as pa

#: How often progress is reported and the watchdog checks, s.
TICK_S = 0.05
#: How long a run that was cancelled may take to close its capture, s.
CANCEL_S = 2.0
#: Alignment of an Arrow stream's buffers, so that they can be used without copying.
ALIGNMENT_BYTES = 64


def work(core: Any, request: dict[str, Any], answers: socket.socket) -> NoReturn:
    """Run the request's scenario, answer, and end the process."""
    try:
        raise_oom_score()
        send(answers, {"pid": os.getpid()})
        core.report_crashes(answers.fileno())
        control = core.Control()
        watchdog = Watchdog(core, control, answers, request["function_limit_s"])
        threading.Thread(target=watchdog.watch, daemon=True).start()
        answer(core, request, control, answers)
    except BaseException:  # noqa: BLE001 -- there is no caller to catch it
        send(answers, {"failed": traceback.format_exc()})
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def raise_oom_score() -> None:
    """If memory runs out, make the kernel end this process and not the sweep's."""
    with contextlib.suppress(OSError):  # then it chooses by size, most likely this one too
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def answer(core: Any, request: dict[str, Any], control: Any, answers: socket.socket) -> None:
    """Run, and send the result."""
    capture = request["capture"]
    if capture is not None:
        capture = SimpleNamespace(**{**capture, "path": Path(capture["path"])})
    try:
        output = core.run(request["scenario"], control, "simulator", capture)
    except core.CongestionControlFault as error:
        send(answers, {"fault": str(error)})
    except core.EngineError as error:
        send(answers, {"refused": str(error)})
    except core.Cancelled:
        send(answers, {"cancelled": True})
    else:
        send_output(output, answers)


def send_output(output: Any, answers: socket.socket) -> None:
    """Write the output to a file in memory and send its descriptor."""
    descriptor = os.memfd_create("dumbbell-run")
    with open(descriptor, "wb", closefd=False) as file:
        summary = output.summary().encode()
        file.write(summary)
        tables = []
        for name in output.table_names():
            # Not `pa.table`, which would import pandas to check for a data frame.
            batch = pa.record_batch(output.table(name))
            start = -(-file.tell() // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
            file.seek(start)
            with pa.ipc.new_stream(file, batch.schema) as stream:
                stream.write_batch(batch)
            tables.append([name, start, file.tell() - start])
    document = {"done": {"summary": [0, len(summary)], "tables": tables}}
    socket.send_fds(answers, [line(document)], [descriptor])


def send(answers: socket.socket, document: dict[str, Any]) -> None:
    """Send a line; end the process if the other side is gone."""
    try:
        answers.sendall(line(document))
    except OSError:
        os._exit(0)


def line(document: dict[str, Any]) -> bytes:
    """Return a document as a line."""
    return json.dumps(document).encode() + b"\n"


class Watchdog:
    """Reports progress, takes orders of the parent, and ends a run whose time does not advance.

    Parameters
    ----------
    core
        The engine's module.
    control
        The run's handle.
    answers
        The socket to the parent.
    limit_s
        CPU time that may pass at one instant of simulated time, s.
    """

    def __init__(self, core: Any, control: Any, answers: socket.socket, limit_s: float) -> None:
        self.core = core
        self.control = control
        self.answers = answers
        self.limit_s = limit_s
        self.reported = 0.0
        self.at: tuple[float, int] | None = None
        self.since_s = 0.0

    def watch(self) -> None:
        """Watch until the process ends."""
        while True:
            if select.select([self.answers], [], [], TICK_S)[0]:
                self.obey()
            progress = self.control.progress()
            if progress != self.reported:
                self.reported = progress
                send(self.answers, {"progress": progress})
            self.check_time(progress)

    def obey(self) -> None:
        """Cancel the run if the parent says so; end it if the parent is gone."""
        try:
            order = self.answers.recv(64)
        except ConnectionResetError:  # it is gone without having read the last message
            order = b""
        if not order:
            os._exit(0)
        self.control.cancel()
        threading.Timer(CANCEL_S, self.give_up).start()

    def give_up(self) -> None:
        """End a run that does not react to its cancellation."""
        send(self.answers, {"cancelled": True})
        os._exit(0)

    def check_time(self, progress: float) -> None:
        """End the run if simulated time has not advanced for too much CPU time."""
        call = self.core.running_call()
        if call is None or progress >= 1.0:
            return
        cpu_s = time.process_time()
        at = (progress, call[4])
        if at != self.at:
            self.at, self.since_s = at, cpu_s
        elif cpu_s - self.since_s > self.limit_s:
            send(self.answers, {"stuck": list(call)})
            os._exit(0)
