"""One run or description of foreign code, in a process of its own.

It confines itself before it reads or runs anything of the user's, and answers in frames
(`protocol`). The last says how it went:

```text
{"confined": ["landlock", …]}                      which pieces the sandbox lacks; null: none wanted
{"at": [0.25, [group, op, flow, is_under_way, now_ns]]}     how far the run is, and the latest call
{"done": [offset, length]}                         the index of the output file (see `write_output`)
{"described": {…}}
{"refused": "…"}, {"invalid": "…"}, {"fault": "…"} or {"cancelled": true}
{"stuck": [group, op, flow, is_under_way, now_ns]}
{"crash": [signal, "0x7f…", group, flow, …]}       from a signal handler
```
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib
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

#: How often the watchdog looks, s.
TICK_S = 0.05
#: How often a run that advances by little says so, s.
REPORT_S = 1.0
#: Share of a run after which it reports at once.
REPORT_SHARE = 0.002
#: How long a run that was cancelled may take to close its capture, s.
CANCEL_S = 2.0
#: Alignment of columns, so that they can be used without copying.
ALIGNMENT_BYTES = 64
#: How much of the output is written at once.
BUFFER_BYTES = 1 << 20
#: Descriptors of a process of foreign code, after the three standard ones.
ANSWERS, OUTPUT = 3, 4


def work(core: Any, request: dict[str, Any], theirs: list[int], server: int) -> NoReturn:
    """Do what is requested, answer, and end the process."""
    try:
        answers = keep_only(theirs)
    except BaseException as error:  # noqa: BLE001 -- this machine's, before any of the code ran
        reason = f"a process for foreign algorithms failed: {error}"
        Answers(socket.socket(fileno=theirs[0])).send({"refused": reason})
        os._exit(0)
    try:
        raise_oom_score()
        core.die_with_parent(server)
        core.use_finished_builds()
        python = [name for name in request["files"] if is_python(name)]
        missing = confine(core, request, python)
        Answers(answers).send({"confined": missing})
        core.report_crashes(ANSWERS)
        if "describe" in request:
            describe(core, request["describe"], Answers(answers))
        else:
            run(core, request, Answers(answers))
    except BaseException as error:  # noqa: BLE001 -- there is no caller to catch it
        traceback.print_exc()
        Answers(answers).send({"fault": f"the process that runs it failed: {error!r}"})
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(0)


def keep_only(theirs: list[int]) -> socket.socket:
    """Close all descriptors but this process's own; return the socket of its answers."""
    os.setsid()
    # Above all that they are moved to.
    answers, printed, *output = [fcntl.fcntl(fd, fcntl.F_DUPFD, OUTPUT + 1) for fd in theirs]
    nothing = os.open(os.devnull, os.O_RDONLY)
    wanted = [(nothing, 0), (printed, 1), (printed, 2), (answers, ANSWERS)]
    wanted += [(output[0], OUTPUT)] if output else []
    for descriptor, number in wanted:
        os.dup2(descriptor, number, inheritable=number <= 2)
    os.closerange(len(wanted), 1 << 20)
    # By lines, because the parent ends this process when it has answered.
    sys.stdout, sys.stderr = (
        os.fdopen(number, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
        for number in (1, 2)
    )
    return socket.socket(fileno=ANSWERS)


def raise_oom_score() -> None:
    """If memory runs out, make the kernel end this process and not the sweep's."""
    with contextlib.suppress(OSError):  # then it chooses by size, most likely this one too
        score = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        os.write(score, b"1000")
        os.close(score)


def is_python(name: str) -> bool:
    """Whether a file is of a congestion control algorithm in Python."""
    return name.endswith(".py") or name.rpartition("#")[0].endswith(".py")


def confine(core: Any, request: dict[str, Any], python: list[str]) -> list[str] | None:
    """Confine this process; return the pieces that the kernel lacks, None if none were wanted."""
    modules = None
    if python:
        python_files = importlib.import_module("dumbbell.congestion_control.isolation.python_files")
        modules = python_files.UserModules(python)
    missing: list[str] | None = None
    if request["is_confined"]:
        capture = request.get("capture")
        writable = [] if capture is None else [capture["path"]]
        readable = [] if modules is None else modules.readable
        missing = core.confine(readable, writable, trap=not python)
        has_landlock = not any(piece.startswith("Landlock (") for piece in missing)
        if has_landlock and not is_bound():
            raise RuntimeError("the process could not be confined")
    if modules is not None:
        modules.install()
    return missing


def is_bound() -> bool:
    """Whether the kernel confines this process: it may not read what every process may."""
    try:
        os.close(os.open("/proc/version", os.O_RDONLY))
    except PermissionError:
        return True
    return False


def describe(core: Any, name: str, answers: Answers) -> None:
    """Describe a congestion control algorithm."""
    if is_python(name):
        python = importlib.import_module("dumbbell.congestion_control.python")
        answers.send(python.describe_here(name))
        return
    try:
        described = json.loads(core.describe(name))
    except core.EngineError as error:
        answers.send({"refused": str(error)})
    else:
        answers.send({"described": described})


def run(core: Any, request: dict[str, Any], answers: Answers) -> None:
    """Run the scenario, and send the result."""
    control = core.Control()
    watchdog = Watchdog(core, control, answers, request["function_limit_s"])
    threading.Thread(target=watchdog.watch, daemon=True).start()
    capture = request["capture"]
    if capture is not None:
        capture = SimpleNamespace(**{**capture, "path": Path(capture["path"])})
    try:
        output = core.run(request["scenario"], control, "simulator", capture)
    except core.CongestionControlFault as error:
        answers.send({"fault": str(error)})
    except core.EngineError as error:
        answers.send({"refused": str(error)})
    except core.Cancelled:
        answers.send({"cancelled": True})
    else:
        answers.send({"done": write_output(output)})


def write_output(output: Any) -> list[int]:
    """Write the output to the file in memory; return where its index is: offset and length.

    The index is JSON: the summary's place, and of each table the name and columns. A column has a
    name, a type, whether it may have nulls, its number of rows, the places of its validity bits (or
    null) and of its values, and the labels that its values index (or null).
    """
    end = 0
    with open(OUTPUT, "wb", BUFFER_BYTES, closefd=False) as file:

        def write(data: bytes) -> list[int]:
            nonlocal end
            start = -(-end // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
            file.write(bytes(start - end))
            file.write(data)
            end = start + len(data)
            return [start, len(data)]

        tables = []
        for table in output.table_names():
            columns = []
            for name, kind, has_gaps, rows, valid, values, labels in output.columns(table):
                places = None if valid is None else write(valid), write(values)
                columns.append([name, kind, has_gaps, rows, *places, labels])
            tables.append([table, columns])
        index = {"summary": write(output.summary().encode()), "tables": tables}
        return write(json.dumps(index).encode())


class Answers:
    """The socket to the parent.

    Parameters
    ----------
    answers
        The socket.
    """

    def __init__(self, answers: socket.socket) -> None:
        self.answers = answers
        self.frame = sys.modules["dumbbell_protocol"].frame

    def send(self, document: dict[str, Any]) -> None:
        """Send a frame; end the process if the other side is gone."""
        try:
            self.answers.sendall(self.frame(document))
        except OSError:
            os._exit(0)


class Watchdog:
    """Reports progress, takes orders of the parent, and ends a run whose time does not advance.

    It measures CPU time and can name the function. The parent has another, which a process cannot
    stop, for time on the wall (`foreign_process`).

    Parameters
    ----------
    core
        The engine's module.
    control
        The run's handle.
    answers
        To the parent.
    limit_s
        CPU time that may pass at one instant of simulated time, s.
    """

    def __init__(self, core: Any, control: Any, answers: Answers, limit_s: float) -> None:
        self.core = core
        self.control = control
        self.answers = answers
        self.limit_s = limit_s
        self.reported: tuple[float, Any] | None = None
        self.reported_s = 0.0
        self.at: tuple[float, int] | None = None
        self.since_s = 0.0
        self.cancelled_s: float | None = None

    def watch(self) -> None:
        """Watch until the process ends."""
        while True:
            if select.select([self.answers.answers], [], [], TICK_S)[0]:
                self.obey()
            self.give_up()
            progress, call = self.control.progress(), self.core.running_call()
            if call is not None:
                self.report(progress, call)
                self.check_time(progress, call)

    def report(self, progress: float, call: Any) -> None:
        """Report how far the run is and the latest call, if that is news."""
        now_s = time.monotonic()
        if (
            self.reported is None
            or progress - self.reported[0] >= REPORT_SHARE
            or (now_s - self.reported_s >= REPORT_S and (progress, call) != self.reported)
        ):
            self.reported, self.reported_s = (progress, call), now_s
            self.answers.send({"at": [progress, list(call)]})

    def obey(self) -> None:
        """Cancel the run if the parent says so; end it if the parent is gone."""
        try:
            order = self.answers.answers.recv(64)
        except ConnectionResetError:  # it is gone without having read the last message
            order = b""
        if not order:
            os._exit(0)
        self.control.cancel()
        if self.cancelled_s is None:
            self.cancelled_s = time.monotonic()

    def give_up(self) -> None:
        """End a run that does not react to its cancellation."""
        if self.cancelled_s is not None and time.monotonic() - self.cancelled_s > CANCEL_S:
            self.answers.send({"cancelled": True})
            os._exit(0)

    def check_time(self, progress: float, call: Any) -> None:
        """End the run if simulated time has not advanced for too much CPU time."""
        is_under_way = call[3]
        if progress >= 1.0 and not is_under_way:
            return  # the tables are being written
        cpu_s = time.process_time()
        at = (progress, call[4])
        if at != self.at:
            self.at, self.since_s = at, cpu_s
        elif cpu_s - self.since_s > self.limit_s:
            self.answers.send({"stuck": list(call)})
            os._exit(0)
