"""A real transfer, captured by tcpdump: Linux's TCP over a router between network namespaces.

The router's queue is short, so that packets are lost; the capture is at the sender, before the
loss, and has the large packets that a card would cut (segmentation offload).
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

__all__ = ["TRANSFER_BYTES", "missing", "transfer"]

IP = shutil.which("ip") or "ip"
SENDER, ROUTER, RECEIVER = (f"dumbbell-{os.getpid()}-{who}" for who in ("s", "r", "d"))
SENDER_ADDRESS, RECEIVER_ADDRESS, PORT = "192.0.2.1", "192.0.2.5", 5201
TRANSFER_BYTES = 5_000_000
SET_UP = f"""
link add vs netns {SENDER} type veth peer name vrs netns {ROUTER}
link add vd netns {RECEIVER} type veth peer name vrd netns {ROUTER}
-n {SENDER} addr add {SENDER_ADDRESS}/30 dev vs
-n {ROUTER} addr add 192.0.2.2/30 dev vrs
-n {RECEIVER} addr add {RECEIVER_ADDRESS}/30 dev vd
-n {ROUTER} addr add 192.0.2.6/30 dev vrd
-n {SENDER} link set vs up
-n {ROUTER} link set vrs up
-n {ROUTER} link set vrd up
-n {RECEIVER} link set vd up
-n {SENDER} route add default via 192.0.2.2
-n {RECEIVER} route add default via 192.0.2.6
netns exec {ROUTER} sh -c "echo 1 > /proc/sys/net/ipv4/ip_forward"
netns exec {ROUTER} tc qdisc add dev vrd root tbf rate 20mbit burst 5k latency 30ms
"""
RECEIVE = f"""
import socket
server = socket.create_server(("{RECEIVER_ADDRESS}", {PORT}))
print("ready", flush=True)
connection, _ = server.accept()
while connection.recv(1 << 20):
    pass
"""
SEND = f"""
import socket
with socket.create_connection(("{RECEIVER_ADDRESS}", {PORT})) as connection:
    connection.sendall(bytes({TRANSFER_BYTES}))
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)
"""


def missing() -> str:
    """Return what this machine lacks for it; empty when nothing."""
    tools = [tool for tool in ("ip", "tc", "tcpdump") if shutil.which(tool) is None]
    if tools:
        return f"{', '.join(tools)}: not installed"
    if os.geteuid() != 0:
        return "network namespaces need root"
    try:
        with namespaces():
            return ""
    except subprocess.CalledProcessError as error:
        return f"`{' '.join(error.cmd)}`: {error.stderr.decode(errors='replace').strip()}"


def transfer(path: Path) -> Path:
    """Capture a transfer at its sender, headers only."""
    with namespaces(), ExitStack() as processes:
        tcpdump = in_namespace(
            SENDER, "tcpdump", "-i", "vs", "-s", "100", "--immediate-mode", "-w", str(path), "tcp",
            stderr=subprocess.PIPE,
        )  # fmt: skip
        processes.callback(stop, tcpdump)
        assert tcpdump.stderr is not None
        assert b"listening" in tcpdump.stderr.readline(), "tcpdump does not listen"
        receiver = in_namespace(RECEIVER, sys.executable, "-c", RECEIVE, stdout=subprocess.PIPE)
        processes.callback(stop, receiver)
        assert receiver.stdout is not None
        assert receiver.stdout.readline() == b"ready\n"
        sender = in_namespace(SENDER, sys.executable, "-c", SEND)
        processes.callback(stop, sender)
        assert sender.wait(timeout=60) == 0
        time.sleep(0.3)  # the last ACKs
    return path


@contextmanager
def namespaces() -> Iterator[None]:
    """Make sender, router and receiver, and remove them."""
    with ExitStack() as made:
        for name in (SENDER, ROUTER, RECEIVER):
            ip("netns", "add", name)
            made.callback(ip, "netns", "del", name)
        for line in SET_UP.strip().splitlines():
            ip(*shlex.split(line))
        yield


def ip(*words: str) -> None:
    subprocess.run([IP, *words], check=True, capture_output=True)


def in_namespace(name: str, *command: str, **streams: int) -> subprocess.Popen[bytes]:
    words = [IP, "netns", "exec", name, *command]
    return subprocess.Popen(words, **streams)  # type: ignore[call-overload,no-any-return]


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process as Ctrl-C does, so that tcpdump writes what it has."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    process.wait(timeout=10)
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
