"""The interop runner's network simulator: its contract, and its scenarios packet by packet.

In Docker's place are three network namespaces and two pairs of virtual interfaces, with the
addresses of the runner's networks.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from dumbbell.base.errors import ScenarioError
from dumbbell.interop import SCENARIOS, read_plan

LINK = "--delay=15ms --bandwidth=10Mbps --queue=25"
#: On a busy machine the client catches up in bursts, which 25 packets would not hold.
ROOMY = LINK.replace("--queue=25", "--queue=1500")
ENDPOINT = Path(__file__).with_name("interop_endpoint.py")
DUMBBELL = [sys.executable, "-m", "dumbbell"]
SERVER = {4: "193.167.100.100", 6: "fd00:cafe:cafe:100::100"}
CLIENT = {4: "193.167.0.100", 6: "fd00:cafe:cafe::100"}
TSHARK, UNSHARE = (shutil.which(program) or program for program in ("tshark", "unshare"))
#: Of an Ethernet packet with a datagram of 1472 bytes, IPv4.
FULL_BYTES = 1514
#: Small packets, one at a time.
PINGS = 100
FULL_DATAGRAM = 1472

on_the_kernel = pytest.mark.kernel


@dataclass
class Host:
    """A network namespace, which a sleeping process keeps."""

    keeper: subprocess.Popen[bytes]

    def words(self, *words: str) -> list[str]:
        return ["nsenter", f"--net=/proc/{self.keeper.pid}/ns/net", *words]

    def run(self, command: str) -> str:
        done = subprocess.run(self.words(*command.split()), capture_output=True, text=True)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout

    def python(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.words(sys.executable, *words), stdout=subprocess.PIPE, text=True
        )


@dataclass
class Network:
    """Client, simulator and server."""

    client: Host
    sim: Host
    server: Host
    logs: Path
    simulator: subprocess.Popen[str] | None = None
    started_at: float = 0.0
    lines: list[str] = field(default_factory=list)

    def simulate(self, scenario: str, *options: str, **environment: str) -> None:
        """Start the simulator, and wait as an endpoint does."""
        self.simulator = subprocess.Popen(
            self.sim.words(*DUMBBELL, "emulate", "interop", "--logs", str(self.logs), *options),
            env={**os.environ, "SCENARIO": scenario, **environment},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        probe = (
            "import socket, time\n"
            "for _ in range(1200):\n"
            "    try: socket.create_connection(('193.167.0.2', 57832), 1); break\n"
            "    except OSError: time.sleep(0.05)\n"
            "else: raise SystemExit('not ready')\n"
        )
        ready = self.client.python("-c", probe)
        ready.communicate()
        assert ready.returncode == 0, self.simulator.communicate(timeout=5)

    def stop(self) -> str:
        """End the simulator as Docker does; return what it says of the path."""
        assert self.simulator is not None
        self.simulator.send_signal(signal.SIGTERM)
        out, err = self.simulator.communicate(timeout=60)
        assert self.simulator.returncode == 0, err
        self.lines = out.splitlines()
        (started,) = (line for line in self.lines if line.startswith("started at "))
        self.started_at = float(started.split()[2].rstrip(","))
        return err

    def exchange(
        self, count: int, every_s: float, *, size: int = 100, version: int = 4
    ) -> tuple[list[Any], dict[str, Any]]:
        """Send numbered datagrams; return what arrived at the server, and of the echo."""
        server = self.server.python(str(ENDPOINT), "server", SERVER[version], "443")
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        numbers = (str(count), str(every_s), str(size))
        client = self.client.python(str(ENDPOINT), "client", SERVER[version], "443", *numbers)
        out, _ = client.communicate(timeout=60)
        server.terminate()
        arrived, _ = server.communicate(timeout=60)
        return json.loads(arrived), json.loads(out)

    def captured(self, side: str, fields: str, only: str = "udp") -> list[list[str]]:
        """Read a capture with tshark."""
        words = [word for name in fields.split() for word in ("-e", name)]
        path = self.logs / f"trace_node_{side}.pcap"
        done = subprocess.run(
            [TSHARK, "-r", str(path), "-Y", only, "-T", "fields", *words],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return [line.split("\t") for line in done.stdout.splitlines()]


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Network]:
    """The runner's networks; the simulator's kernel forwards, as a container's does."""
    if os.geteuid() or not all(map(shutil.which, ("ip", "nsenter", "unshare", "tshark"))):
        pytest.skip("needs root, iproute2, util-linux and tshark")
    with hosts() as (client, sim, server):
        for number, (host, near, far) in enumerate(((client, 0, 100), (server, 100, 0))):
            sim.run(
                f"ip link add name eth{number} type veth peer name eth0 netns {host.keeper.pid}"
            )
            far6, near6 = (f"fd00:cafe:cafe:{net or 0}:" for net in (far, near))
            for each, name, last in ((host, "eth0", 100), (sim, f"eth{number}", 2)):
                each.run(f"ip address add 193.167.{near}.{last}/24 dev {name}")
                each.run(f"ip address add {near6}:{last}/64 dev {name} nodad")
            sim.run(f"ip link set eth{number} up")
            host.run("ip link set eth0 up")
            host.run(f"ip route add 193.167.{far}.0/24 via 193.167.{near}.2")
            host.run(f"ip route add {far6}:/64 via {near6}:2")
        sim.run("sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1")
        network = Network(client, sim, server, tmp_path / "logs")
        yield network
        if network.simulator is not None and network.simulator.poll() is None:
            network.simulator.kill()
            network.simulator.communicate()


@contextmanager
def hosts() -> Iterator[list[Host]]:
    """Three namespaces, gone with their processes."""
    keepers = [
        subprocess.Popen(
            [UNSHARE, "--net", sys.executable, "-c", "print(flush=True); input()"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        for _ in range(3)
    ]  # fmt: skip
    try:
        for keeper in keepers:
            assert keeper.stdout is not None
            keeper.stdout.readline()
        made = [Host(keeper) for keeper in keepers]
        for host in made:
            host.run("ip link set lo up")
            # A new interface would have no address of IPv6 for a second or two.
            host.run("sysctl -qw net.ipv6.conf.default.accept_dad=0")
        yield made
    finally:
        for keeper in keepers:
            keeper.kill()
            keeper.communicate()


def gaps(numbers: set[int], count: int) -> list[int]:
    """Numbers that are missing."""
    return [number for number in range(count) if number not in numbers]


def taken_by_drop_tail(times: list[float]) -> int:
    """How many full packets a link of 10 Mbit/s takes with room for 26 and the one it sends."""
    each_s = FULL_BYTES * 8 / 10e6
    ends: list[float] = []
    for at in times:
        if sum(end > at for end in ends) < 27:
            ends.append(max(ends[-1] if ends else 0, at) + each_s)
    return len(ends)


def share_of_runs(p: float, longest: int) -> float:
    """Share of packets lost with probability `p`, no more than `longest` in a row.

    A packet that passes is followed by k losses with probability pᵏ, up to the longest run.
    """
    lost = sum(p**k for k in range(1, longest + 1))
    return lost / (1 + lost)


@on_the_kernel
def test_simple_p2p_delays_limits_and_captures(network: Network) -> None:
    network.simulate(f"simple-p2p {LINK}")
    for version in (4, 6):
        arrived, sent = network.exchange(PINGS, 0.02, version=version)
        assert [number for number, *_ in arrived] == list(range(PINGS)), "once each"
        assert {source for _, source, *_ in arrived} == {f"{CLIENT[version]}:4433"}
        rtts = sorted(back - there for _, there, back, _ in sent["echoed"])
        # 15 ms each way, 142 or 162 bytes at 10 Mbit/s each way, and what the hosts take,
        # which is least in one of many.
        assert 0.0302 < rtts[0] < 0.0308, rtts
        assert rtts[len(rtts) // 2] < 0.0325, rtts
    # At once 60 full packets: one on the link, 25 in the queue, one in its device's.
    arrived, _ = network.exchange(60, 0, size=FULL_DATAGRAM)
    # 24.2 Mbit/s, more than the link takes.
    of_many, _ = network.exchange(600, 0.0005, size=FULL_DATAGRAM)
    err = network.stop()
    assert "client → server" in err
    assert "verdict" in err
    left = network.captured("left", "frame.time_epoch frame.len ip.dst", "udp && ip")
    right = network.captured("right", "frame.time_epoch frame.len ip.dst", "udp && ip")
    full = [float(at) for at, size, to in right if (size, to) == (str(FULL_BYTES), SERVER[4])]
    assert len(full) == len(arrived) + len(of_many)
    came = [float(at) for at, size, to in left if (size, to) == (str(FULL_BYTES), SERVER[4])]
    assert len(came) == 660
    # The relay reads packets a little later than they are captured.
    assert abs(len(arrived) - taken_by_drop_tail(came[:60])) <= 2
    # The median: a sender on a busy machine leaves the link idle now and then.
    each_s = statistics.median(later - at for at, later in pairwise(full[len(arrived) :]))
    assert math.isclose(each_s, FULL_BYTES * 8 / 10e6, rel_tol=0.02)
    # What passed is in both, what was dropped in the client's only.
    passed = PINGS + len(arrived) + len(of_many)
    assert sum(to == SERVER[4] for *_, to in left) == PINGS + 660
    assert sum(to == SERVER[4] for *_, to in right) == passed
    assert sum(to == CLIENT[4] for *_, to in left) == passed
    assert network.captured("right", "arp.opcode", "arp"), "all that passes the interface"
    assert "blackhole" not in network.sim.run("ip rule") + network.sim.run("ip -6 rule")


@on_the_kernel
@pytest.mark.parametrize("name", ["drop-rate", "corrupt-rate"])
def test_rates_are_binomial_and_bursts_bounded(network: Network, name: str) -> None:
    rates = "--rate_to_server=30 --rate_to_client=10 --burst_to_server=3"
    network.simulate(f"{name} {ROOMY} {rates}")
    count = 2000
    arrived, sent = network.exchange(count, 0.002)
    network.stop()
    if name == "drop-rate":
        there = gaps({number for number, *_ in arrived}, count)
        echoes = len(arrived)
        back = echoes - len(sent["echoed"])
        assert all(wrong == 0 for *_, wrong, _ in arrived)
    else:
        assert len(arrived) == len(sent["echoed"]) == count, "all are delivered"
        assert {wrong for *_, wrong, _ in arrived} == {0, 1}, "a byte at most"
        there = [number for number, _, _, wrong, _ in arrived if wrong]
        echoes = count - len(there)
        # What was wrong already may be so once more, or right again.
        before = set(there)
        back = sum(wrong > 0 for number, *_, wrong in sent["echoed"] if number not in before)
    for lost, of, expected in (
        (len(there), count, share_of_runs(0.3, 3)),
        (back, echoes, 0.1),
    ):
        # The bound of runs makes them more regular than independent ones.
        assert abs(lost - of * expected) < 5 * math.sqrt(of * expected * (1 - expected)), (lost, of)
    longest = run = 0
    for number in range(count):
        run = run + 1 if number in set(there) else 0
        longest = max(longest, run)
    assert longest == 3


@on_the_kernel
def test_droplist_drops_those_and_no_others(network: Network) -> None:
    network.simulate(f"droplist {ROOMY} --drops_to_server=2,3,4,5,6,7 --drops_to_client=1,30")
    arrived, sent = network.exchange(100, 0.003)
    err = network.stop()
    assert gaps({number for number, *_ in arrived}, 100) == [1, 2, 3, 4, 5, 6]
    # The first echo and the thirtieth, of those that arrived.
    echoed = [number for number, *_ in arrived]
    expected = [number for index, number in enumerate(echoed, 1) if index not in (1, 30)]
    assert [number for number, *_ in sent["echoed"]] == expected
    assert "lost 6 behind the link" in err
    assert "lost 2 behind the link" in err


@on_the_kernel
def test_blackhole_is_there_at_its_times(network: Network) -> None:
    network.simulate(f"blackhole {ROOMY} --on=2s --off=500ms --repeat=2 --direction=toserver")
    arrived, sent = network.exchange(2600, 0.002)
    network.stop()
    assert len(sent["echoed"]) == len(arrived), "the way to the client is open"
    events = [
        (float(at.rstrip("s")), what)
        for at, what in (line.split(" ", 1) for line in network.lines[2:])
    ]
    assert events == [
        (2.0, "blackhole begins"), (2.5, "blackhole ends"),
        (4.5, "blackhole begins"), (5.0, "blackhole ends"),
    ]  # fmt: skip
    times = {number: at - network.started_at for number, _, at, *_ in arrived}
    missing = gaps(set(times), 2600)
    edges = []
    for number in missing:
        if number - 1 in times:
            edges.append(times[number - 1])
        if number + 1 in times:
            edges.append(times[number + 1])
    assert len(edges) == 4, edges
    for edge, (at, _) in zip(edges, events, strict=True):
        assert abs(edge - at) < 0.010, edges


@on_the_kernel
@pytest.mark.parametrize("version", [4, 6])
def test_rebind_changes_ports_and_addresses_at_its_times(network: Network, version: int) -> None:
    network.simulate(
        f"rebind {ROOMY} --first-rebind=1500ms --rebind-freq=1s --rebind-addr", "--seed", "4"
    )
    arrived, sent = network.exchange(1500, 0.002, version=version)
    network.stop()
    assert gaps({number for number, *_ in arrived}, 1500) == [], "nothing to the server is lost"
    sources = {source: at - network.started_at for _, source, at, *_ in reversed(arrived)}
    ordered = sorted(sources, key=lambda source: sources[source])
    hosts = [source.rpartition(":")[0] for source in ordered]
    ports = [source.rpartition(":")[2] for source in ordered]
    assert ordered[0] == f"{CLIENT[version]}:4433"
    rebound = [line for line in network.lines if " rebound " in line]
    assert [line.split()[0] for line in rebound] == [
        f"{1.5 + each:.3f}s" for each in range(len(rebound))
    ]
    assert len(ordered) == len(rebound) + 1 >= 3
    assert len(set(hosts)) == len(set(ports)) == len(ordered)
    prefix = hosts[0].rpartition("." if version == 4 else ":")[0]
    assert all(host.startswith(prefix) for host in hosts)
    for each, source in enumerate(ordered[1:]):
        assert abs(sources[source] - (1.5 + each)) < 0.010
    # What was on its way back to the old one is lost: 15 ms of it each time, at 500 a second.
    lost = len(arrived) - len(sent["echoed"])
    assert 5 * len(rebound) <= lost <= 10 * len(rebound)
    # The client sees nothing of it.
    own = network.captured("left", "ip.src ipv6.src udp.srcport", "udp.dstport == 443")
    assert {(v4 or v6, port) for v4, v6, port in own} == {(CLIENT[version], "4433")}
    seen = network.captured("right", "ip.src ipv6.src udp.srcport", "udp.dstport == 443")
    assert len({port for *_, port in seen}) == len(ordered)
    bad = network.captured("right", "udp.srcport", "udp.checksum.status == 0 && udp.dstport == 443")
    assert bad == []


@on_the_kernel
def test_cross_traffic_takes_its_share_of_the_way_to_the_client(network: Network) -> None:
    network.simulate(f"tcp-cross-traffic {LINK}")
    _, sent = network.exchange(280, 0.02)
    network.stop()
    (line,) = (line for line in network.lines if "cross traffic" in line)
    assert 8 < float(line.split()[3]) < 10
    late = sorted(back - there for _, there, back, _ in sent["echoed"])
    # With a full queue of 26 packets it is 31.5 ms more.
    assert 0.045 < late[len(late) * 19 // 20] < 0.070


@on_the_kernel
def test_it_waits_for_a_quic_server(network: Network) -> None:
    negotiating = (
        "import socket, time\n"
        "time.sleep(1)\n"
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('193.167.100.100', 443))\n"
        "data, peer = s.recvfrom(2000)\n"
        "assert len(data) >= 1200 and data[0] & 0x80 and data[1:5] != bytes(4)\n"
        "ids = data[14:23] + data[5:14]\n"
        "print(time.monotonic())\n"
        "s.sendto(b'\\x80' + bytes(4) + ids + b'\\0\\0\\0\\1', peer)\n"
    )
    server = network.server.python("-c", negotiating)
    network.simulate(f"simple-p2p {LINK}", WAITFORSERVER="193.167.100.100:443")
    ready_s = time.monotonic()
    answered, _ = server.communicate()
    assert server.returncode == 0
    assert ready_s > float(answered)
    network.stop()


@on_the_kernel
def test_what_it_lacks_is_a_line(network: Network) -> None:
    def refusal(*words: str, host: Host = network.sim, **environment: str) -> str:
        done = subprocess.run(
            host.words(*DUMBBELL, "emulate", "interop", "--logs", str(network.logs), *words),
            capture_output=True, text=True, timeout=30,
            env={**os.environ, "SCENARIO": f"simple-p2p {LINK}", **environment},
        )  # fmt: skip
        assert done.returncode == 2
        (line,) = done.stderr.splitlines()
        return line

    assert "there is no interface `eth7` here" in refusal("--server-interface", "eth7")
    assert "both interfaces are `eth0`" in refusal("--server-interface", "eth0")
    assert "needs --delay" in refusal(SCENARIO="simple-p2p")
    listening = (
        "import socket, time; s = socket.socket(); s.bind(('', 57832)); s.listen()\n"
        "print(flush=True); time.sleep(60)"
    )
    other = network.sim.python("-c", listening)
    assert other.stdout is not None
    other.stdout.readline()
    assert "TCP port 57832" in refusal()
    other.kill()
    other.communicate()
    nobody = ["setpriv", "--reuid=65534", "--clear-groups", *DUMBBELL]
    if (
        shutil.which("setpriv")
        and subprocess.run([*nobody, "--version"], capture_output=True).returncode == 0
    ):
        done = subprocess.run(
            network.sim.words(
                *nobody, "emulate", "interop", f"simple-p2p {LINK}", "--logs", "/"
            ),
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 2
        assert "run as root, or in a container with `--cap-add NET_ADMIN" in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "SCENARIO: it is empty; use e.g. `simple-p2p --delay=15ms"),
        ("simple-p2p 'x", "SCENARIO: no closing quotation"),
        ("simple-p2", "unknown scenario `simple-p2`"),
        ("simple-p2p --delay=15ms", "`simple-p2p` needs --bandwidth, e.g. `--bandwidth=10Mbps`"),
        (f"simple-p2p {LINK} --on=2s", "`simple-p2p` has no option `--on=2s`"),
        (f"simple-p2p {LINK} delay", "`simple-p2p` has no option `delay`"),
        ("simple-p2p --delay=x --bandwidth=1Mbps --queue=1", "--delay `x`"),
        (f"drop-rate {LINK} --rate_to_client=101 --rate_to_server=1", "0 to 100"),
        (f"droplist {LINK} --drops_to_client=0", "packets' numbers from 1 on"),
        (f"blackhole {LINK} --on=1s --off=1s --direction=up", "`both` or `toclient` or `toserver`"),
        (f"blackhole {LINK} --on=1ms --off=2ms", "ends before a packet can arrive"),
        (f"rebind {LINK}", "`rebind` needs --first-rebind"),
        (f"rebind {LINK} --first-rebind=1s --rebind-addr=perhaps", "`true` or `false`"),
    ],
)
def test_a_scenario_that_cannot_be_read_is_a_line(text: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=r".*") as refused:
        read_plan(text).scenario(1)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_scenarios_are_those_of_the_runner_with_their_units() -> None:
    assert set(SCENARIOS) == {
        "simple-p2p", "drop-rate", "corrupt-rate", "droplist", "blackhole", "rebind",
        "tcp-cross-traffic",
    }  # fmt: skip
    plan = read_plan("simple-p2p --delay=0.015 --bandwidth=1.25MB/s --queue=25")
    assert (int(plan.delay), int(plan.rate)) == (15_000_000, 10_000_000)
    scenario = plan.scenario(3)
    document = json.loads(scenario.to_json())
    assert [link["delay_ns"] for link in document["links"]] == [15_000_000] * 2
    assert document["seed"] == 3
    for written, bps in (
        ("10Mbps", 10**7),
        ("10Mb/s", 10**7),
        ("800kbps", 800_000),
        ("1Gbps", 10**9),
    ):
        plan = read_plan(f"simple-p2p --delay=15ms --bandwidth={written} --queue=1")
        assert int(plan.rate) == bps, written
