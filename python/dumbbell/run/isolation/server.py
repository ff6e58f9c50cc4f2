"""The process that forks one process per foreign run.

It is started as a script, not as a module, so that it loads only the engine and Arrow: that is
quick, and a process without threads can be forked. For a congestion control in Python it loads the
rest of dumbbell.

It reads requests, one JSON document each, from a socket that is its standard input. With each comes
the socket on which to answer. It ends when its parent closes the socket or dies.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
#: A request: a scenario of thousands of groups fits.
REQUEST_BYTES = 64 * 1024 * 1024


def load(name: str, path: Path) -> Any:
    """Import a file of dumbbell without its package."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def serve(requests: socket.socket) -> None:
    """Fork a process for each request until the parent has no more."""
    core = load("dumbbell._core", next(HERE.parents[1].glob("_core*.so")))
    worker = load("dumbbell_worker", HERE / "worker.py")
    # Ctrl-C reaches the whole process group; the parent handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        message, descriptors, _, _ = socket.recv_fds(requests, 16, 1)
        reap_children()
        if not message or not descriptors:
            return
        with socket.socket(fileno=descriptors[0]) as answers:
            request = read_request(answers, int(message))
            if request is None:
                continue
            prepare(core, request)
            if os.fork() == 0:
                requests.close()
                worker.work(core, request, answers)


def reap_children() -> None:
    """Reap the processes of runs that have ended; their answers are on their sockets."""
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        pass


def read_request(answers: socket.socket, length: int) -> dict[str, Any] | None:
    """Read a request of `length` bytes from its own socket; None if its sender has gone."""
    data = bytearray()
    while len(data) < length:
        part = answers.recv(min(length - len(data), 1 << 20))
        if not part:
            return None
        data += part
    request: dict[str, Any] = json.loads(data)
    return request


def prepare(core: Any, request: dict[str, Any]) -> None:
    """Compile the files once, so that the next runs need not."""
    os.environ.update(request["environment"])
    os.chdir(request["directory"])
    sys.path[:] = request["module_path"]
    for name in request["files"]:
        if name.rpartition("#")[0].endswith(".py") or name.endswith(".py"):
            importlib.import_module("dumbbell.congestion_control.python")
            continue
        with contextlib.suppress(core.EngineError):  # the run reports it
            core.precompile(name)


if __name__ == "__main__":
    serve(socket.socket(fileno=0))
