"""Starts the server, and hands it requests."""

from __future__ import annotations

import atexit
import contextlib
import errno
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dumbbell.base.errors import EngineError, os_reason
from dumbbell.congestion_control.isolation.environment import short_environment
from dumbbell.congestion_control.isolation.sandbox import is_confined

__all__ = ["SERVER", "Channels", "check_descriptors", "environment_of"]


@dataclass
class Channels:
    """The parent's ends of what connects it with a process of foreign code.

    Attributes
    ----------
    status
        The server's word: the process's pidfd, why there is none, how it ended. The process does
        not have it.
    answers
        The process's answers, which are not trusted. Descriptors that come with them are dropped.
    printed
        What it writes to stdout and stderr.
    """

    status: socket.socket
    answers: socket.socket
    printed: int

    def close(self) -> None:
        """Close all descriptors."""
        self.status.close()
        self.answers.close()
        with contextlib.suppress(OSError):
            os.close(self.printed)


def environment_of() -> dict[str, Any]:
    """Return what a request says of this process: directory, module path, environment."""
    return {
        "directory": str(Path.cwd()),
        "module_path": sys.path,
        "environment": short_environment(),
        "is_confined": is_confined(),
    }


class Server:
    """The process that forks the processes of foreign code; started when it is first needed."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.requests: socket.socket | None = None
        #: The server's keeper.
        self.process: subprocess.Popen[bytes] | None = None
        self.owner = 0

    def start(self, request: Mapping[str, Any], output: int | None = None) -> Channels:
        """Start a process; return the channels to it.

        Parameters
        ----------
        request
            What it is to do, for `server` and `worker`.
        output
            A file in memory for the result of a run.
        """
        text = json.dumps(request).encode()
        try:
            return self.start_once(text, output)
        except OSError as error:
            check_descriptors(error)
            # Perhaps killed from outside, or dying: then what it was sent is lost.
            self.forget()
        try:
            return self.start_once(text, output)
        except OSError as error:
            check_descriptors(error)
            raise EngineError(
                f"the process that runs foreign algorithms has died: {os_reason(error)}"
            ) from None

    def start_once(self, text: bytes, output: int | None) -> Channels:
        """Start a process; an error if the server has died."""
        with contextlib.ExitStack() as on_error, contextlib.ExitStack() as theirs:
            status, servers = socket.socketpair()
            on_error.callback(status.close)
            theirs.callback(servers.close)
            answers, workers = socket.socketpair()
            on_error.callback(answers.close)
            theirs.callback(workers.close)
            printed, prints = os.pipe()
            on_error.callback(os.close, printed)
            theirs.callback(os.close, prints)
            more = [] if output is None else [output]
            self.send(text, [servers.fileno(), workers.fileno(), prints, *more])
            theirs.close()
            status.sendall(text)
            on_error.pop_all()
        channels = Channels(status, answers, printed)
        os.set_blocking(printed, False)
        os.set_blocking(answers.fileno(), False)
        return channels

    def send(self, text: bytes, descriptors: list[int]) -> None:
        """Hand the server the descriptors of a request; start it first if there is none."""
        with self.lock:
            # After a fork the server is still the parent's.
            if self.requests is None or self.owner != os.getpid():
                self.requests = self.launch()
            socket.send_fds(self.requests, [str(len(text)).encode()], descriptors)

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
        with theirs:
            self.process = subprocess.Popen(  # noqa: S603 -- our own arguments
                [sys.executable, "-P", str(script), str(os.getpid())],
                stdin=theirs.fileno(),
                stdout=sys.__stderr__,
                env=short_environment(),
            )
        self.owner = os.getpid()
        atexit.register(self.leave)
        return ours

    def leave(self) -> None:
        """Let go of the server as Python leaves: its keeper sees that, and ends it."""
        self.forget()
        if self.process is not None:
            self.process.returncode = 0  # or Python would warn that it still runs


def check_descriptors(error: OSError) -> None:
    """Say so if no process can be started because too many files are open."""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        raise EngineError(
            f"a process for foreign algorithms cannot be started: {os_reason(error)}; allow more "
            "(`ulimit -n`)"
        ) from None


#: Of this process.
SERVER = Server()
