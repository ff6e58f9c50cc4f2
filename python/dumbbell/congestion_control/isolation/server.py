"""The process that forks one process per request, and the process that keeps it.

It is started as a script, not as a module, so that it loads only the engine: that is quick, and a
small process without threads is forked quickly. For a congestion control algorithm in Python it
loads the rest of dumbbell. It compiles files, confined, and runs none of their code.

The process that is started first is the keeper: it forks the server, ends it with all that it
started when the command line ends, however that ends, and removes its scratch directory. The
server may be waiting for a compiler then.

The server reads requests from a socket that is its standard input: the length of a JSON document
and descriptors: a socket for the document and for what the server reports, which the forked process
does not get; the socket of the process's answers; the pipe for what it prints; perhaps a file in
memory for its output.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import importlib
import importlib.util
import json
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
#: The running system's own number; with it `crates/cc/src/build/scratch.rs` recognises directories
#: whose process was killed, if the keeper was killed too.
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
SCRATCH = "dumbbell-scratch-"
#: Settings without which libraries start threads; only a process with one can be forked safely.
ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}
#: How much of a compiler's message is reported, in characters; less is shown.
PROBLEM_CHARS = 1 << 16
#: How often a scratch directory is removed in which a compiler that was just killed still wrote.
TRIES = 5
TRY_S = 0.2


def main() -> None:
    """Fork the server, and keep it, for the process whose number is the argument."""
    parent = int(sys.argv[1])
    # By now it may have been killed, and its number may be another's.
    try:
        parent_fd = os.pidfd_open(parent)
    except ProcessLookupError:
        return
    if os.getppid() != parent:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What is sent to the command line's group, when its terminal closes for example, must not end
    # what tidies up after it.
    os.setpgid(0, 0)
    keeper = os.getpid()
    scratch, lock = make_scratch()
    server = os.fork()
    if server == 0:
        os.setpgid(0, 0)
        os.close(parent_fd)
        if lock is not None:
            os.close(lock)
        with socket.socket(fileno=0) as requests:
            serve(requests, keeper, scratch)
        os._exit(0)
    os.close(0)  # else the server's parent would hold the other end of its socket
    keep(server, parent_fd, scratch)


def make_scratch() -> tuple[str | None, int | None]:
    """Make the directory in which compilers work; return it and the lock on it."""
    try:
        boot_id = BOOT_ID.read_text(encoding="ascii").strip()
        path = tempfile.mkdtemp(prefix=f"{SCRATCH}{boot_id}-")
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError:
        return None, None  # compiling reports it
    return path, lock


def keep(server: int, parent_fd: int, scratch: str | None) -> None:
    """Wait until the server or the command line has ended; end and remove what is left."""
    server_fd = os.pidfd_open(server)
    waiting = select.poll()
    waiting.register(server_fd, select.POLLIN)
    waiting.register(parent_fd, select.POLLIN)
    waiting.poll()
    # The server's own group; what it forked is confined to die with it.
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError):
            kill(server, signal.SIGKILL)
    os.waitpid(server, 0)
    for _ in range(TRIES):
        if scratch is not None and Path(scratch).exists():
            shutil.rmtree(scratch, ignore_errors=True)
    remove_orphans()


def remove_orphans() -> None:
    """Remove the scratch directories of killed processes, the command line's own for example."""
    place = Path(tempfile.gettempdir())
    if not any(place.glob(f"{SCRATCH}*")):
        return
    core = load("dumbbell._core", next(HERE.parents[1].glob("_core*.so")))
    for _ in range(TRIES):
        # Making one removes them, except those that a dying compiler still holds, and others' own.
        with contextlib.suppress(OSError), core.ScratchDirectory():
            pass
        if not any(place.glob(f"{SCRATCH}*")):
            return
        time.sleep(TRY_S)


def load(name: str, path: Path) -> Any:
    """Import a file of dumbbell without its package."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@dataclass
class Forked:
    """A process that was forked, and the socket of its request."""

    pid: int
    pidfd: int
    status: socket.socket


def serve(requests: socket.socket, keeper: int, scratch: str | None) -> None:
    """Fork a process for each request until the parent has no more."""
    os.environ.update(ONE_THREAD)
    core = load("dumbbell._core", next(HERE.parents[1].glob("_core*.so")))
    load("dumbbell_protocol", HERE / "protocol.py")
    worker = load("dumbbell_worker", HERE / "worker.py")
    core.die_with_parent(keeper)
    Server(core, worker, requests, scratch).serve()


class Server:
    """The server's loop.

    Parameters
    ----------
    core
        The engine's module.
    worker
        What runs in the forked processes.
    requests
        The socket from the parent.
    scratch
        Where compilers work.
    """

    def __init__(
        self, core: Any, worker: Any, requests: socket.socket, scratch: str | None
    ) -> None:
        self.core = core
        self.worker = worker
        self.frame = sys.modules["dumbbell_protocol"].frame
        self.requests = requests
        self.scratch = scratch
        self.poll = select.poll()
        self.poll.register(requests, select.POLLIN)
        #: By the descriptors of pidfd and socket.
        self.forked: dict[int, Forked] = {}

    def serve(self) -> None:
        """Take requests, and report how the processes end, until the parent has no more."""
        while True:
            for descriptor, _ in self.poll.poll():
                if descriptor == self.requests.fileno():
                    if not self.take():
                        return
                elif descriptor in self.forked:
                    self.attend(descriptor)

    def take(self) -> bool:
        """Take a request; return False if there will be no more."""
        message, descriptors, _, _ = socket.recv_fds(self.requests, 16, 4)
        if not message or not descriptors:
            return False
        status = socket.socket(fileno=descriptors[0])
        theirs = descriptors[1:]
        if len(theirs) < 2:  # the others found no place here
            self.refuse(status, no_process(OSError(errno.EMFILE, "")))
            return True
        try:
            request = read_request(status, int(message))
            if request is None:
                status.close()  # the parent is gone
            else:
                self.start(request, status, theirs)
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        return True

    def start(self, request: dict[str, Any], status: socket.socket, theirs: list[int]) -> None:
        """Compile what is to be compiled, and fork the process."""
        problem = self.prepare(request)
        if problem is None:
            try:
                self.fork(request, status, theirs)
            except OSError as error:
                problem = no_process(error)
        if problem is not None:
            self.refuse(status, problem)

    def refuse(self, status: socket.socket, problem: str) -> None:
        """Report why there is no process."""
        with contextlib.suppress(OSError):  # the parent is gone
            status.sendall(self.frame({"refused": problem}))
        status.close()

    def fork(self, request: dict[str, Any], status: socket.socket, theirs: list[int]) -> None:
        """Fork the process, and let it begin when the parent can kill it."""
        server = os.getpid()
        gate, opens = os.pipe()
        try:
            pid = os.fork()
        except OSError:
            os.close(gate)
            os.close(opens)
            raise
        if pid == 0:
            os.close(opens)
            if not os.read(gate, 1):
                os._exit(0)
            self.worker.work(self.core, request, theirs, server)
        os.close(gate)
        try:
            forked = Forked(pid, os.pidfd_open(pid), status)
        except OSError:
            os.close(opens)  # it never begins
            os.waitpid(pid, 0)
            raise
        for descriptor in (forked.pidfd, status.fileno()):
            self.forked[descriptor] = forked
            self.poll.register(descriptor, select.POLLIN)
        # If the parent is gone, its socket is readable and the process never begins.
        with contextlib.suppress(OSError):
            socket.send_fds(status, [self.frame({"pid": pid})], [forked.pidfd])
            os.write(opens, b"1")
        os.close(opens)

    def attend(self, descriptor: int) -> None:
        """Report the end of a process; end one whose parent has gone."""
        forked = self.forked[descriptor]
        if descriptor != forked.pidfd:
            # The parent sends nothing more, so it has closed the socket.
            self.poll.unregister(descriptor)
            del self.forked[descriptor]
            signal.pidfd_send_signal(forked.pidfd, signal.SIGKILL)
            return
        ended = os.waitid(os.P_PID, forked.pid, os.WEXITED | os.WNOWAIT)
        # What it left in its process group, while its number cannot be another's yet.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(forked.pid, signal.SIGKILL)
        os.waitpid(forked.pid, 0)
        self.poll.unregister(descriptor)
        del self.forked[descriptor]
        os.close(descriptor)
        if forked.status.fileno() in self.forked:
            self.poll.unregister(forked.status)
            del self.forked[forked.status.fileno()]
        try:
            if ended is not None:
                report = {"ended": [ended.si_code, ended.si_status]}
                forked.status.sendall(self.frame(report))
        except OSError:
            pass  # the parent has all it wants
        forked.status.close()

    def prepare(self, request: dict[str, Any]) -> str | None:
        """Compile the files, so that the process and the next need not; return what is wrong."""
        environment = request["environment"] | ONE_THREAD
        for name in set(os.environ) - set(environment):
            del os.environ[name]  # above all the one that turns confinement off
        os.environ.update(environment)
        if self.scratch is not None:
            os.environ["TMPDIR"] = self.scratch
        try:
            os.chdir(request["directory"])
            sys.path[:] = request["module_path"]
            for name in request["files"]:
                if name.rpartition("#")[0].endswith(".py") or name.endswith(".py"):
                    importlib.import_module("dumbbell.congestion_control.isolation.python_files")
                    importlib.import_module("dumbbell.congestion_control.python")
                else:
                    self.core.precompile(name)
        except (self.core.EngineError, OSError, ImportError) as error:
            return str(error)[:PROBLEM_CHARS]
        return None


def no_process(error: OSError) -> str:
    """Return why no process can be forked."""
    many = "; allow more (`ulimit -n`)" if error.errno in (errno.EMFILE, errno.ENFILE) else ""
    reason = os.strerror(error.errno or 0).lower()
    return f"a process for foreign algorithms cannot be started: {reason}{many}"


def read_request(status: socket.socket, length: int) -> dict[str, Any] | None:
    """Read a request of `length` bytes from its own socket; None if its sender has gone."""
    data = bytearray()
    while len(data) < length:
        part = status.recv(min(length - len(data), 1 << 20))
        if not part:
            return None
        data += part
    request: dict[str, Any] = json.loads(data)
    return request


if __name__ == "__main__":
    main()
