"""One run of foreign code, in a process that has nothing else to do and nothing to lose.

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

#: How often progress is told and the watchdog looks, s.
TICK_S = 0.05
#: How long a run that was cancelled may take to close its capture, s.
CANCEL_S = 2.0
#: Where buffers of an Arrow stream must begin to be used as they lie.
ALIGNMENT_BYTES = 64


def work(core: Any, request: dict[str, Any], answers: socket.socket) -> NoReturn:
    """Run the request's scenario, answer, and end the process."""
    try:
        prefer_to_die()
        tell(answers, {"pid": os.getpid()})
        core.report_crashes(answers.fileno())
        control = core.Control()
        watchdog = Watchdog(core, control, answers, request["function_limit_s"])
        threading.Thread(target=watchdog.watch, daemon=True).start()
        answer(core, request, control, answers)
    except BaseException:  # noqa: BLE001 -- there is nobody above to catch it
        tell(answers, {"failed": traceback.format_exc()})
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def prefer_to_die() -> None:
    """Where memory runs out, the kernel is to end this process and not the sweep's."""
    with contextlib.suppress(OSError):  # then it chooses by size, which is this one most likely
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def answer(core: Any, request: dict[str, Any], control: Any, answers: socket.socket) -> None:
    """Run, and send what comes of it."""
    capture = request["capture"]
    if capture is not None:
        capture = SimpleNamespace(**{**capture, "path": Path(capture["path"])})
    try:
        output = core.run(request["scenario"], control, "simulator", capture)
    except core.CongestionControlFault as error:
        tell(answers, {"fault": str(error)})
    except core.EngineError as error:
        tell(answers, {"refused": str(error)})
    except core.Cancelled:
        tell(answers, {"cancelled": True})
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
            # Not `pa.table`, which would import pandas to see whether this is a frame of it.
            batch = pa.record_batch(output.table(name))
            start = -(-file.tell() // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
            file.seek(start)
            with pa.ipc.new_stream(file, batch.schema) as stream:
                stream.write_batch(batch)
            tables.append([name, start, file.tell() - start])
    document = {"done": {"summary": [0, len(summary)], "tables": tables}}
    socket.send_fds(answers, [line(document)], [descriptor])


def tell(answers: socket.socket, document: dict[str, Any]) -> None:
    """Send a line; where nobody listens any more there is nothing to do."""
    try:
        answers.sendall(line(document))
    except OSError:
        os._exit(0)


def line(document: dict[str, Any]) -> bytes:
    """Return a document as a line."""
    return json.dumps(document).encode() + b"\n"


class Watchdog:
    """Tells progress, obeys the parent, and ends a run in which time stands still.

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
        self.told = 0.0
        self.at: tuple[float, int] | None = None
        self.since_s = 0.0

    def watch(self) -> None:
        """Go on until the process ends."""
        while True:
            if select.select([self.answers], [], [], TICK_S)[0]:
                self.obey()
            progress = self.control.progress()
            if progress != self.told:
                self.told = progress
                tell(self.answers, {"progress": progress})
            self.check_time(progress)

    def obey(self) -> None:
        """Cancel the run as the parent says; end it when the parent has gone."""
        try:
            order = self.answers.recv(64)
        except ConnectionResetError:  # it has gone without reading what was told last
            order = b""
        if not order:
            os._exit(0)
        self.control.cancel()
        threading.Timer(CANCEL_S, self.give_up).start()

    def give_up(self) -> None:
        """End a run that does not see that it is cancelled."""
        tell(self.answers, {"cancelled": True})
        os._exit(0)

    def check_time(self, progress: float) -> None:
        """End the run if simulated time has stood still for too much CPU time."""
        call = self.core.running_call()
        if call is None or progress >= 1.0:
            return
        cpu_s = time.process_time()
        at = (progress, call[4])
        if at != self.at:
            self.at, self.since_s = at, cpu_s
        elif cpu_s - self.since_s > self.limit_s:
            tell(self.answers, {"stuck": list(call)})
            os._exit(0)
