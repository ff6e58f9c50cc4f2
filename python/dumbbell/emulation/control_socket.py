"""The socket of a running `dumbbell emulate`: other commands change its path and enter its hosts.

Requests and answers are lines of JSON. A request to run a command carries the three files of its
streams (SCM_RIGHTS).
"""

from __future__ import annotations

import errno
import json
import os
import socket
import stat
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir
from threading import Thread
from typing import Any

from dumbbell.base.documents import DocumentError, parse_json
from dumbbell.base.errors import DumbbellError, EngineError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.emulation.path import EmulatedPath
from dumbbell.emulation.process import Process

__all__ = ["connect", "request", "serve_control"]

#: Longest request: a command with its environment.
MAX_REQUEST_BYTES = 1 << 20
STREAMS = 3
#: The answer to what no command of this version asks.
UNREADABLE = "the request cannot be read; use the same version of dumbbell"
#: How long to wait where there is no descriptor for a connection, s.
RETRY_S = 0.1
SUFFIX = ".sock"
#: In the environment of what runs on a path: the process that emulates it.
INNERMOST = "DUMBBELL_EMULATION"


def runtime_directory() -> Path:
    """Return the directory of this user's sockets, which only the user can enter.

    Raises
    ------
    EngineError
        Somebody else has made it.
    """
    given = os.environ.get("XDG_RUNTIME_DIR")
    place = Path(given or gettempdir(), f"dumbbell-{user_number()}")
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = place.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise EngineError(f"{place}: is not a directory of yours alone; remove it")
    return place


def user_number() -> int:
    """Return the user's number outside of the user namespace where this process may be root."""
    own = os.getuid()
    with suppress(OSError):
        for line in Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines():
            inside, outside, count = map(int, line.split())
            if inside <= own < inside + count:
                return outside + own - inside
    return own


@contextmanager
def serve_control(path: EmulatedPath) -> Iterator[None]:
    """Answer other commands while the path is there."""
    place = runtime_directory() / f"{os.getpid()}{SUFFIX}"
    place.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC) as listener:
        # Under its name it is seen by others, who remove one that has no listener.
        unseen = place.with_suffix(".new")
        unseen.unlink(missing_ok=True)
        listener.bind(str(unseen))
        unseen.chmod(0o600)
        listener.listen()
        unseen.rename(place)
        Thread(target=accept, args=(listener, path), daemon=True).start()
        outer = os.environ.get(INNERMOST)
        os.environ[INNERMOST] = str(os.getpid())
        try:
            yield
        finally:
            os.environ.pop(INNERMOST)
            if outer is not None:
                os.environ[INNERMOST] = outer
            place.unlink(missing_ok=True)
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)


def accept(listener: socket.socket, path: EmulatedPath) -> None:
    """Answer each connection in a thread."""
    while True:
        try:
            connection, _ = listener.accept()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):  # others may close theirs
                time.sleep(RETRY_S)
                continue
            return
        Thread(target=answer, args=(connection, path), daemon=True).start()


def answer(connection: socket.socket, path: EmulatedPath) -> None:
    """Do what a connection asks for."""
    with connection, suppress(OSError):
        text, files, _, _ = socket.recv_fds(connection, MAX_REQUEST_BYTES, STREAMS)
        try:
            while text and not text.endswith(b"\n") and len(text) < MAX_REQUEST_BYTES:
                part = connection.recv(MAX_REQUEST_BYTES)
                text += part or b"\n"
            asked: dict[str, Any] = {**parse_json(text)}
            if "set" in asked:
                command = " ".join(path.scenario.groups[0].client or ())
                if not asked["is_named"] and not is_of_this_terminal(connection):
                    raise EngineError(
                        f"the path of `{excerpt(command)}` was started in another terminal; use "
                        f"`--pid {os.getpid()}` to change it"
                    )
                path.set(**asked["set"])
                said: Mapping[str, Any] = {"pid": os.getpid(), "command": excerpt(command)}
            elif "stats" in asked:
                said = {"stats": path.stats()}
            else:
                host = {"client": path.client, "server": path.server}[asked["host"]]
                process = host.popen(
                    asked["words"], stdin=files[0], stdout=files[1], stderr=files[2],
                    env=asked["environment"], cwd=asked["directory"], new_session=True,
                )  # fmt: skip
                said = {"code": run_for(connection, process)}
        except DocumentError:
            said = {"error": UNREADABLE}
        except DumbbellError as error:
            said = {"error": str(error)}
        except (ValueError, LookupError, TypeError):
            said = {"error": UNREADABLE}
        finally:
            for each in files:
                os.close(each)
        connection.sendall(json.dumps(said).encode() + b"\n")


def is_of_this_terminal(connection: socket.socket) -> bool:
    """Whether the other end is in this process's session, or has its terminal."""
    size = struct.calcsize("3i")
    pid, _, _ = struct.unpack(
        "3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    )
    own, other = (session_and_terminal(each) for each in (os.getpid(), pid))
    return own[0] == other[0] or (own[1] != 0 and own[1] == other[1])


def session_and_terminal(pid: int) -> tuple[int, int]:
    """Return a process's session and terminal, 0 without one, as proc_pid_stat(5) has them."""
    try:
        stat_ = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:  # of another PID namespace, or ended
        return -1, 0
    fields = stat_.rpartition(")")[2].split()
    return int(fields[3]), int(fields[4])


def run_for(connection: socket.socket, process: Process) -> int:
    """Wait for a program; the client that asked for it ends it by hanging up."""

    def watch() -> None:
        with suppress(OSError):
            if not connection.recv(1):
                process.kill()

    Thread(target=watch, daemon=True).start()
    return process.wait()


def connect(pid: int | None = None) -> socket.socket:
    """Connect to a running emulation.

    Parameters
    ----------
    pid
        Its process; by default the one on whose path this process is, or the only one.

    Raises
    ------
    EngineError
        There is none, or there are several.
    """
    found = {}
    for place in sorted(runtime_directory().glob(f"*{SUFFIX}")):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        try:
            connection.connect(str(place))
        except OSError:  # its process was killed
            connection.close()
            place.unlink(missing_ok=True)
            continue
        found[int(place.stem)] = connection
    wanted = str(pid) if pid is not None else os.environ.get(INNERMOST, "")
    chosen = found.pop(int(wanted), None) if wanted.isdecimal() else None
    if pid is None and chosen is None and len(found) == 1:
        _, chosen = found.popitem()
    for other in found.values():
        other.close()
    if chosen is not None:
        return chosen
    if pid is not None:
        raise EngineError(
            f"process {pid} emulates no path; start `dumbbell emulate`, or wait until its command "
            "runs"
        )
    if found:
        numbers = ", ".join(map(str, found))
        raise EngineError(f"several paths are emulated; name one with `--pid`: {numbers}")
    raise EngineError(
        "no path is emulated; start `dumbbell emulate` in another terminal, or wait until its "
        "command runs"
    )


def request(
    connection: socket.socket, document: Mapping[str, Any], files: Sequence[int] = ()
) -> Mapping[str, Any]:
    """Ask, and return the answer.

    Raises
    ------
    EngineError
        It was refused, or the emulation ended.
    """
    text = json.dumps(document).encode() + b"\n"
    received = b""
    with suppress(OSError):  # it ended with what was asked unread
        sent = socket.send_fds(connection, [text], list(files))
        if sent < len(text):  # or it is an error where the answer has come and the other end gone
            connection.sendall(text[sent:])
        while not received.endswith(b"\n") and (part := connection.recv(1 << 16)):
            received += part
    if not received.endswith(b"\n"):
        raise EngineError("the emulated path ended")
    said: Mapping[str, Any] = json.loads(received)
    if "error" in said:
        raise EngineError(said["error"])
    return said
