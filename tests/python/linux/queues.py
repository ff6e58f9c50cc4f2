"""Sends packets through the running kernel's queue disciplines and writes what became of them.

``python -m tests.python.linux.queues FILE`` (root, with iproute2) makes two network namespaces,
sends UDP packets of known sizes from one to the other through each discipline of `CASES`, and
writes when each packet was sent and when it arrived. `crates/net/tests/kernel_queues.rs` sends the
same packets at the same times through ours.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import random
import shutil
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

#: IP, UDP and Ethernet headers, as Linux's disciplines count packets.
HEADER_BYTES = 14 + 20 + 8
SENDER, RECEIVER = "dumbbell-queue-a", "dumbbell-queue-b"
PORT = 9
#: Where root finds it.
IP = shutil.which("ip") or "/usr/sbin/ip"
SO_TIMESTAMPNS = 35

#: A discipline as `tc` has it, and the arguments of each `tc qdisc add`.
CASES = {
    "tbf": ["root tbf rate 8mbit burst 20000 limit 60000"],
    "tbf, peak rate": ["root tbf rate 4mbit burst 30000 limit 60000 peakrate 16mbit mtu 1600"],
    "tbf, long packets": ["root tbf rate 8mbit burst 1000 limit 30000"],
    "bfifo": [
        "root handle 1: tbf rate 8mbit burst 6000 limit 6000",
        "parent 1:1 handle 2: bfifo limit 20000",
    ],
    "pfifo": [
        "root handle 1: tbf rate 8mbit burst 6000 limit 6000",
        "parent 1:1 handle 2: pfifo limit 20",
    ],
    "htb": ["root handle 1: htb default 1", "parent 1:1 handle 2: pfifo limit 20"],
}
#: HTB's only class, which `tc` adds between its disciplines.
HTB_CLASS = "parent 1: classid 1:1 htb rate 8mbit ceil 8mbit burst 1514 cburst 1514 quantum 1514"


def run(command: str) -> None:
    """Run a command, which must succeed."""
    subprocess.run(command.split(), check=True)


def inside(namespace: str) -> None:
    """Move this process into a namespace."""
    with Path(f"/run/netns/{namespace}").open() as file:
        # CLONE_NEWNET; `os.setns` is of Python 3.12.
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), 0x40000000):
            raise OSError(ctypes.get_errno(), "setns")


def make_network() -> None:
    """Make the namespaces and the device between them, on which nothing else sends."""
    for namespace in (SENDER, RECEIVER):
        subprocess.run([IP, "netns", "del", namespace], check=False, capture_output=True)
        run(f"ip netns add {namespace}")
        run(f"ip netns exec {namespace} sysctl -qw net.ipv6.conf.default.disable_ipv6=1")
    run(f"ip -n {SENDER} link add veth0 type veth peer name veth0 netns {RECEIVER}")
    for namespace, mac in ((SENDER, "02:00:00:00:00:01"), (RECEIVER, "02:00:00:00:00:02")):
        number = mac[-1]
        run(f"ip -n {namespace} link set veth0 address {mac} arp off up")
        run(f"ip -n {namespace} address add 10.9.0.{number}/24 dev veth0")
        other = 3 - int(number)
        address = f"10.9.0.{other} lladdr 02:00:00:00:00:0{other}"
        run(f"ip -n {namespace} neigh replace {address} dev veth0")


def arrivals(seed: int) -> Iterator[tuple[float, int]]:
    """Yield times and sizes on the wire: bursts, a constant rate above the link's, idleness."""
    draw = random.Random(seed)  # noqa: S311 -- the same packets each time
    at_s = 0.0
    for _ in range(6):
        for _ in range(40):
            yield at_s, draw.choice([100, 700, 1514, 1514])
            at_s += draw.choice([0.0, 0.0, 0.0005, 0.001])
        for _ in range(60):
            yield at_s, 1514
            at_s += 0.0012
        at_s += draw.choice([0.01, 0.05, 0.2])


def receive(count: int, writer: int) -> None:
    """Write when each packet arrived, by the kernel's clock."""
    inside(RECEIVER)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end, os.fdopen(writer, "w") as out:
        end.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        end.bind(("10.9.0.2", PORT))
        end.settimeout(1.5)
        out.write("ready\n")
        out.flush()
        try:
            for _ in range(count):
                data, extra, *_ = end.recvmsg(2048, 64)
                seconds, nanoseconds = struct.unpack("qq", extra[0][2][:16])
                out.write(f"{struct.unpack('I', data[:4])[0]} {seconds * 10**9 + nanoseconds}\n")
        except TimeoutError:
            pass


def measure(commands: list[str], seed: int) -> list[list[int | None]]:
    """Return when each packet was sent, its size on the wire and when it arrived, ns."""
    plan = list(arrivals(seed))
    times, to_times = os.pipe()
    subprocess.run(
        [IP, "netns", "exec", SENDER, "tc", "qdisc", "del", "dev", "veth0", "root"],
        check=False, capture_output=True,
    )  # fmt: skip
    for number, command in enumerate(commands):
        run(f"ip netns exec {SENDER} tc qdisc add dev veth0 {command}")
        if "htb" in command and number == 0:
            run(f"ip netns exec {SENDER} tc class add dev veth0 {HTB_CLASS}")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        receive(len(plan), writer)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as lines:
        lines.readline()
        sender = os.fork()
        if sender == 0:
            send(plan, to_times)
            os._exit(0)
        os.close(to_times)
        found: dict[int, int] = {}
        for line in lines:
            packet, at_ns = map(int, line.split())
            found[packet] = at_ns
    with os.fdopen(times) as sent_times:
        sent = json.load(sent_times)
    os.waitpid(child, 0)
    os.waitpid(sender, 0)
    start = sent[0]
    return [
        [at - start, wire_bytes, found[number] - start if number in found else None]
        for number, (at, (_, wire_bytes)) in enumerate(zip(sent, plan, strict=True))
    ]


def send(plan: list[tuple[float, int]], writer: int) -> None:
    """Send each packet at its time, and write when that was."""
    inside(SENDER)
    payloads = [
        struct.pack("I", number) + bytes(wire_bytes - HEADER_BYTES - 4)
        for number, (_, wire_bytes) in enumerate(plan)
    ]
    sent = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.connect(("10.9.0.2", PORT))
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
        start = time.clock_gettime_ns(time.CLOCK_REALTIME) + 20_000_000
        for payload, (at_s, _) in zip(payloads, plan, strict=True):
            due = start + round(at_s * 1e9)
            while (now := time.clock_gettime_ns(time.CLOCK_REALTIME)) < due:
                pass
            sent.append(now)
            with contextlib.suppress(OSError):  # the discipline dropped it
                end.send(payload)
    with os.fdopen(writer, "w") as out:
        json.dump(sent, out)


def main() -> None:
    """Measure every case."""
    make_network()
    try:
        measured = {
            name: {"tc": commands, "packets": measure(commands, seed)}
            for seed, (name, commands) in enumerate(CASES.items())
        }
    finally:
        for namespace in (SENDER, RECEIVER):
            run(f"ip netns del {namespace}")
    document = {"kernel": os.uname().release, "cases": measured}
    Path(sys.argv[1]).write_text(json.dumps(document, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
