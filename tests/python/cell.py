"""A padded cell for one command: what hostile code does in it harms nothing, and is found.

Started as the first process of namespaces of its own (`test_hostile.py` calls `unshare`): it sees
no process but its own, has no network but a loopback, and its `/tmp`, `/dev/shm`, home and
`/etc/shadow` are its own. It runs the command that the JSON document on standard input describes,
as root or as an ordinary user, and prints what it found, as JSON.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

#: The content of every file that nobody may read, and of an environment variable.
SECRET = "canary-4f1d0c9e7b"
HOME = Path("/tmp/home")
#: Where the project and its environment are seen, also by a user who may not enter their parents.
PLACE = Path("/mnt")
PORT = 4747
ABSTRACT = "\0hostile-test"
ORDINARY = 65534
#: Processes have this long to end after the command, s.
END_S = 60.0
#: Of the command's output, this much is given back, bytes.
OUTPUT_BYTES = 2_000_000
#: What the user's output has already, which nobody may change.
OWN_LINE = b"the user's own line\n"
IN_ACCESS, IN_MODIFY, IN_OPEN = 0x1, 0x2, 0x20
CLONE_NEWNS = 0x20000


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


def build(job: dict[str, Any]) -> None:
    """Mount what the command sees."""
    mount("-t", "tmpfs", "-o", "mode=755,size=64m", "tmpfs", str(PLACE))
    for name in ("project", "venv"):
        (PLACE / name).mkdir()
        mount("--rbind", job[name], str(PLACE / name))
    let_in(Path(job["base"]))
    mount("-t", "proc", "proc", "/proc")
    # The largest file that a hostile one finds is sparse.
    mount("-t", "tmpfs", "-o", "mode=1777,size=1g", "tmpfs", "/tmp")
    mount("-t", "tmpfs", "-o", "mode=1777,size=256m", "tmpfs", "/dev/shm")
    mount("-t", "tmpfs", "-o", "mode=1777,size=64m", "tmpfs", "/var/tmp")
    shadow = PLACE / "shadow"
    shadow.write_text(f"root:{SECRET}:::::::\n")
    shadow.chmod(0o600)
    mount("--bind", str(shadow), "/etc/shadow")
    with socket.socket() as some:  # SIOCSIFFLAGS: up
        fcntl.ioctl(some, 0x8914, struct.pack("16sH14x", b"lo", 0x1 | 0x40))


def let_in(path: Path) -> None:
    """Make Python's installation reachable for a user who may not enter, say, root's home."""
    closed = [parent for parent in reversed(path.parents) if not parent.stat().st_mode & 0o001]
    if closed:
        (PLACE / "base").mkdir()
        mount("--rbind", str(path), str(PLACE / "base"))
        mount("-t", "tmpfs", "-o", "mode=755,size=1m", "tmpfs", str(closed[0]))
        path.mkdir(parents=True)
        mount("--rbind", str(PLACE / "base"), str(path))


def plant(job: dict[str, Any], owner: int) -> None:
    """Make the user's home: secrets, the hostile files, and what they look for next to them."""
    hostile = HOME / "hostile"
    shutil.copytree(PLACE / "project/tests/hostile", hostile)
    (HOME / ".ssh").mkdir(mode=0o700)
    (HOME / ".ssh/id_ed25519").write_text(f"{SECRET}\n")
    (HOME / ".ssh/id_ed25519").chmod(0o600)
    (HOME / "notes.txt").write_text(f"{SECRET}\n")
    (HOME / "cache").mkdir()
    for name in ("link_to_key.h", "link_to_key.py"):
        (hostile / name).symlink_to("../.ssh/id_ed25519")
    os.mkfifo(hostile / "fifo.h")
    with (hostile / "large.h").open("w") as large:
        large.truncate(1 << 30)
    deep = hostile / "py_deep_source.py"
    deep.write_text(deep.read_text().replace("DEEP", "-" * 1_000_000 + "1"))
    for name, text in job["planted"].items():
        (hostile / name).write_bytes(bytes.fromhex(text))
    if os.geteuid() == 0:
        for directory, directories, files in os.walk(HOME):
            for name in (".", *directories, *files):
                os.chown(Path(directory, name), owner, owner, follow_symlinks=False)


class Watch:
    """Notices who opens the canaries, and who calls the services of this machine."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.library = ctypes.CDLL(None, use_errno=True)
        self.descriptor = self.library.inotify_init1(os.O_NONBLOCK)
        for path in ("/etc/shadow", f"{HOME}/.ssh/id_ed25519", f"{HOME}/notes.txt"):
            mask = IN_OPEN | IN_ACCESS | IN_MODIFY
            if self.library.inotify_add_watch(self.descriptor, path.encode(), mask) < 0:
                raise OSError(ctypes.get_errno(), path)
        tcp = socket.create_server(("127.0.0.1", PORT))
        abstract = socket.socket(socket.AF_UNIX)
        abstract.bind(ABSTRACT)
        abstract.listen()
        for service in (tcp, abstract):
            threading.Thread(target=self.accept, args=(service,), daemon=True).start()

    def accept(self, service: socket.socket) -> None:
        while True:
            service.accept()
            self.calls.append(service.family.name)

    def opened(self) -> int:
        """Return how often a canary was opened, read or written."""
        try:
            return len(os.read(self.descriptor, 1 << 16)) // 16
        except BlockingIOError:
            return 0


def listing() -> dict[str, tuple[int, int, int]]:
    """Return every file that a user can write to: its kind, size and time of change."""
    found = {}
    for top in (Path("/tmp"), Path("/dev/shm"), Path("/var/tmp")):
        for directory, directories, files in os.walk(top):
            for path in (Path(directory, name) for name in (*directories, *files)):
                status = path.lstat()
                is_file = not path.is_dir() or path.is_symlink()
                found[str(path)] = (
                    status.st_mode,
                    status.st_size if is_file else 0,
                    status.st_mtime_ns if is_file else 0,
                )
    return found


def leaks(outputs: list[Path]) -> list[str]:
    """Return where the secret is that should not be anywhere."""
    own = {HOME / ".ssh/id_ed25519", HOME / "notes.txt"}
    places = [Path(path) for path in listing()]
    return [
        str(path)
        for path in (*places, *outputs)
        if path.is_file()
        and not path.is_symlink()
        and path not in own
        and path.stat().st_size < 1 << 28
        and SECRET.encode() in path.read_bytes()
    ]


def processes() -> list[str]:
    """Return the processes there are, without this one."""
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        if directory.name == str(os.getpid()):
            continue
        try:
            found.append(f"{directory.name} {(directory / 'cmdline').read_text()!r}")
        except OSError:
            continue
    return found


def ordinary_user() -> None:
    os.setgroups([])
    os.setresgid(ORDINARY, ORDINARY, ORDINARY)
    os.setresuid(ORDINARY, ORDINARY, ORDINARY)


def perform(job: dict[str, Any]) -> dict[str, Any]:
    """Run the command and look at what it left."""
    build(job)
    is_ordinary = job["user"] == "ordinary" and job["is_root"]
    plant(job, ORDINARY if is_ordinary else 0)
    watch = Watch()
    before = listing()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(HOME),
        "LANG": "C.UTF-8",
        "DUMBBELL_CACHE": str(HOME / "cache"),
        "VIRTUAL_ENV": str(PLACE / "venv"),
        "PYTHONPATH": str(PLACE / "project/python"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "API_TOKEN": SECRET,
        **job["environment"],
    }
    outputs = [PLACE / "stdout", PLACE / "stderr"]
    started = time.monotonic()
    with outputs[0].open("wb") as out, outputs[1].open("wb") as err:
        for file in (out, err):
            file.write(OWN_LINE)
            file.flush()
        command = subprocess.Popen(
            [str(PLACE / "venv/bin/python"), *job["command"]],
            cwd=HOME / "hostile", env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
            preexec_fn=ordinary_user if is_ordinary else None, start_new_session=True,
        )  # fmt: skip
        try:
            code: int | None = command.wait(job["limit_s"])
        except subprocess.TimeoutExpired:
            code = None
        # The descriptors' modes are shared with the command's.
        changeable = os.O_NONBLOCK | os.O_APPEND
        modes = {fcntl.fcntl(file, fcntl.F_GETFL) & changeable for file in (out, err)}
    seconds = time.monotonic() - started
    while (left := processes()) and time.monotonic() < started + seconds + END_S:
        reap(command)
        time.sleep(0.05)
    opened = watch.opened()
    for process in left:
        os.kill(int(process.split()[0]), signal.SIGKILL)
    after = listing()
    out_text, err_text = (
        path.read_bytes().removeprefix(OWN_LINE)[:OUTPUT_BYTES].decode(errors="surrogateescape")
        for path in outputs
    )
    document = HOME / "out/sweep.json"
    return {
        "code": code,
        "seconds": seconds,
        "out": out_text,
        "err": err_text,
        "output_spoilt": modes != {0}
        or not all(path.read_bytes().startswith(OWN_LINE) for path in outputs),
        "output_bytes": sum(path.stat().st_size for path in outputs),
        "left_processes": left,
        "opened_secrets": opened,
        "calls": watch.calls,
        "leaks": leaks(outputs),
        "files": sorted(set(after) - set(before)),
        "changed": sorted(path for path in before if after.get(path) != before[path]),
        "ipc": [
            line
            for kind in ("shm", "msg", "sem")
            for line in Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]
        ],
        "sweep": json.loads(document.read_text()) if document.is_file() else None,
        "host_name": socket.gethostname(),
    }


def reap(command: subprocess.Popen[bytes]) -> None:
    """Reap what the command left to this process, which is the first one."""
    command.poll()
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        pass


if __name__ == "__main__":
    sys.stdout.write(json.dumps(perform(json.load(sys.stdin))))
