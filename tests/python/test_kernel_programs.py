"""Real programs on the kernel engine: what they get, what is said of them, and that nothing stays.

How much they get at least, and how long they take at most, is in test_exact_times.py, where no
machine can make them late.

Where a program is not installed, its test is counted as skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell import Group, Link, Run, Scenario, _core
from dumbbell.metrics import METRICS
from dumbbell.run.programs import client_of
from tests.python.real_programs import iperf3, needs

pytestmark = pytest.mark.kernel

LINK_BPS = 20_000_000
#: In no other command line on this machine.
MARK = f"31{os.getpid()}"


def run(*groups: Group | str, **words: Any) -> Run:
    asked = {"rate": "20mbit", "rtt": "20ms", "buffer": "2bdp", "time": "20s", **words}
    return dumbbell.run(Scenario(groups, **asked), engine="kernel")


def processes_of(mark: str) -> list[int]:
    """Numbers of the processes whose command has a word."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdecimal():
            try:
                words = (path / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if mark.encode() in words:
                found.append(int(path.name))
    return found


@needs("iperf3")
def test_iperf3_gets_the_link_and_its_number_is_measured(nothing_left):
    result = run(iperf3("--reverse", measure=r"([\d.]+) Mbits/sec +receiver"))
    (group,) = result.groups
    client: Any = client_of(result.summary, 0)
    assert client is not None
    assert (client["exit_code"], client["was_ended"]) == (0, False)
    # The run ends with the client, and its rates are over that time.
    assert 3e9 < result.summary["duration_ns"] < 20e9
    payload_bps = LINK_BPS * 1448 / 1514
    assert 0 < group["goodput_bps"] < payload_bps
    assert 0 < client["measured"] < 1.1 * payload_bps / 1e6
    assert client["cpu_us"] > 0
    assert group["rtt_mean_us"] > 20_000
    assert not [each for each in result.verdict.reasons if each.status == "INVALID"]
    # iperf3's control connection, and the one that carries the data.
    rows = result.connections.to_pylist()
    assert [(row["group"], row["protocol"]) for row in rows] == [(0, "tcp")] * 2
    # `server` has an IPv6 address too, which goes first (RFC 6724).
    assert {row["server"] for row in rows} <= {"10.0.0.1:5201", "[fd64:756d:6262::a00:1]:5201"}
    down = [row["down_bytes"] for row in rows]
    assert 0 < sum(down) * 8 < LINK_BPS * result.summary["duration_ns"] / 1e9
    assert max(down) > 0.99 * sum(down)
    assert all(0 <= row["first_us"] < row["last_us"] for row in rows)


@needs("ping")
@pytest.mark.parametrize("version", ["-4", "-6"])
def test_ping_sees_the_base_rtt(version, nothing_left):
    if version == "-6" and not Path("/proc/sys/net/ipv6/conf").exists():
        pytest.skip("the kernel has no IPv6")
    result = run(
        Group(
            client=f"ping {version} -c 40 -i 0.02 server",
            measure=r"rtt min/avg/max/mdev = ([\d.]+)/",
            jitter="0s",
        )
    )
    client: Any = client_of(result.summary, 0)
    assert client is not None
    assert client["exit_code"] == 0
    assert 20 <= client["measured"] < 25, "the smallest of 40: no machine is late for all"
    assert "40 received" in client["output"]


@needs("iperf3")
def test_what_an_upload_loses_is_in_its_counts(nothing_left):
    """iperf3 sends upwards by default: all of that is counted, not only its ACKs."""
    sender = iperf3("", cc="linux/cubic", route=["down"], back=["up"])
    links = [Link("down", rate="20mbit"), Link("up", rate="20mbit", loss="2%")]
    scenario = Scenario([sender], links=links, rtt="20ms", time="20s")
    result = dumbbell.run(scenario, engine="kernel")
    (group,), up = result.groups, result.link("up")
    assert up["dropped_pkts"] > 10, "2 % are lost"
    assert group["dropped_pkts"] == pytest.approx(up["dropped_pkts"], abs=3)
    assert group["retransmitted_pkts"] >= 0.9 * up["dropped_pkts"]
    assert group["sent_pkts"] > 0.9 * group["goodput_bps"] * 3 / 8 / 1448
    assert group["goodput_bps"] < group["throughput_bps"] < 1.1 * LINK_BPS
    resent = group["retransmitted_pkts"] / group["sent_pkts"]
    values = METRICS["retransmission_rate"].of(result)
    assert isinstance(values, list)
    assert values == [pytest.approx(resent)]


def test_a_silent_program_has_no_rtt(nothing_left):
    """The last RTT is not repeated while nothing is sent."""
    code = (
        "import socket, time; s = socket.create_connection(('server', 9000)); s.sendall(b'x');"
        "time.sleep(2)"
    )
    serve = "import socket; c, _ = socket.create_server(('', 9000)).accept(); c.recv(9)"
    client, server = ([sys.executable, "-c", each] for each in (code, serve))
    silent = Group(client=client, server=server, ready="tcp:9000", jitter="0s")
    result = run(silent, sample="100ms")
    rtts = [rtt for rtt in result.flows["rtt_us"].to_pylist() if rtt is not None]
    assert len(rtts) <= 3 < result.flows.num_rows - 10


@needs("iperf3")
def test_iperf3_sends_datagrams(nothing_left):
    result = run(iperf3("--reverse --udp --bitrate 5M", measure=r"([\d.]+) Mbits/sec.*receiver"))
    client: Any = client_of(result.summary, 0)
    assert client is not None
    assert 0 < client["measured"] < 5.25
    assert 0 < result.summary["flows"][0]["received_bytes"] < 3 * 6e6 / 8


@needs("iperf3")
def test_a_program_competes_with_flows_of_ours(nothing_left):
    result = run(iperf3("--reverse", cc="linux/cubic"), Group("linux/cubic", 2))
    assert [flow["cc"] for flow in result.summary["flows"]] == ["linux/cubic"] * 3
    assert sum(group["share"] for group in result.groups) <= 1.0001
    assert all(0 < group["goodput_bps"] < LINK_BPS for group in result.groups)
    ends = {flow["end_us"] for flow in result.summary["flows"][1:]}
    assert ends == {result.summary["duration_ns"] // 1000}
    assert result.flows.num_rows > 3 * 200
    assert result.flows["cwnd_pkts"].null_count > 200


@needs("curl", "python3")
def test_curl_loads_a_file_by_the_servers_name(tmp_path, nothing_left):
    (tmp_path / "file").write_bytes(b"x" * 2_000_000)
    result = run(
        Group(
            client="curl -s -o /dev/null -w '%{http_code} speed: %{speed_download}' http://server/file",
            server=["python3", "-m", "http.server", "--directory", str(tmp_path), "80"],
            ready="tcp:80",
            measure=r"200 speed: (\S+)",
            jitter="0s",
        )
    )
    client: Any = client_of(result.summary, 0)
    assert client is not None
    assert client["exit_code"] == 0
    assert 0 < 8 * client["measured"] / LINK_BPS < 1
    assert result.summary["flows"][0]["received_bytes"] >= 2_000_000
    server = result.summary["programs"][0]
    assert server["side"] == "server"
    assert server["start_us"] < 0
    assert server["was_ended"]


@needs("python3")
@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6"])
@pytest.mark.parametrize(
    "cc", ["linux/reno", pytest.param("cubic", marks=pytest.mark.kernel(bpf=True))]
)
def test_programs_have_the_groups_congestion_control(cc, family, nothing_left):
    """At both ends, although they do not ask for one; of ours under the name of its instance."""
    shown = "print(s.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).strip(b'\\0'))"
    server = f"s = socket.create_server(('', 80), family=socket.{family}).accept()[0]"
    client = f"s = socket.socket(socket.{family}); s.connect(('server', 80))"
    result = run(
        Group(
            cc=cc,
            client=["python3", "-c", f"import socket; {client}; {shown}; s.recv(1)"],
            server=["python3", "-c", f"import socket; {server}; {shown}; s.send(b'x')"],
            ready="tcp:80",
        )
    )
    names = {program["output"] for program in result.summary["programs"]}
    assert len(names) == 1
    (name,) = names
    assert name == "b'reno'\n" if cc == "linux/reno" else name.startswith("b'cubic")
    assert not [each for each in result.verdict.reasons if each.check == "congestion_control"]


def test_exit_codes_and_output_are_in_the_result(cli, tmp_path, nothing_left):
    path = tmp_path / "failing.toml"
    group = Group(client=["sh", "-c", "echo starting; echo no route to host >&2; exit 3"])
    path.write_text(Scenario([group], time="5s").to_toml())
    outcome = cli("run", str(path), "--engine", "kernel", "--json")
    document = json.loads(outcome.out)
    (program,) = document["programs"]
    assert program["exit_code"] == 3
    assert program["output"] == "starting\nno route to host\n"
    messages = [reason["message"] for reason in document["verdict"]["reasons"]]
    expected = "the client sh ended with exit code 3; it printed last `no route to host`"
    assert expected in messages
    assert outcome.code == 0


@pytest.mark.parametrize(
    ("group", "says"),
    [
        (
            Group(client="no-such-command"),
            "client of group 0: cannot start `no-such-command`: command not found; install it, or "
            "give its path",
        ),
        (
            Group(client="true", server="false", ready="tcp:80"),
            "the server of group 0, `false`, ended with code 1 before `tcp:80` was open",
        ),
    ],
    ids=["command", "server"],
)
def test_what_cannot_start_is_one_line(cli, tmp_path, group, says, nothing_left):
    path = tmp_path / "bad.toml"
    path.write_text(Scenario([group], time="5s").to_toml())
    outcome = cli("run", str(path), "--engine", "kernel")
    assert outcome.code == 2
    assert outcome.err == f"error: {says}\n"


@pytest.mark.parametrize(
    "client",
    [
        f"setsid sleep {MARK} & exit 0",
        f"trap '' TERM INT HUP; sleep {MARK}; sleep {MARK}",
        f"exec <&- >&- 2>&-; sleep {MARK}",
        f"yes & sleep {MARK}",
    ],
    ids=["leaves a daemon", "ignores signals", "closes everything", "floods"],
)
def test_nothing_survives_a_run(client, nothing_left):
    result = run(Group(client=["sh", "-c", client], jitter="0s"), time="1s")
    assert processes_of(MARK) == []
    assert len(result.summary["programs"]) == 1


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["kill -9", "Ctrl-C"])
def test_nothing_survives_the_end_of_dumbbell(how, tmp_path, nothing_left):
    path = tmp_path / "long.toml"
    client = ["sh", "-c", f"trap '' TERM INT; setsid sleep {MARK} & sleep {MARK}; sleep {MARK}"]
    server = ["sh", "-c", f"sleep {MARK} & wait"]
    path.write_text(Scenario([Group(client=client, server=server)], time="60s").to_toml())
    for delay_s in (0, 0.02, 0.1, 0.2, 0.4):
        command = [sys.executable, "-m", "dumbbell", "run", str(path), "--engine", "kernel"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while len(processes_of(MARK)) < 2:
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        time.sleep(delay_s)
        process.send_signal(how)
        process.communicate()
        deadline = time.monotonic() + 60
        while processes_of(MARK) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert processes_of(MARK) == []


def test_what_was_changed_is_in_the_result(nothing_left):
    """A flow of ours at 20 Mbit/s and then at 5 Mbit/s: what the link could carry follows."""
    scenario = Scenario(["linux/cubic"], rate="20mbit", rtt="20ms", buffer="2bdp", time="60s")
    emulation = _core.Emulation(scenario.to_json())
    time.sleep(1)
    rate = {"kind": "rate", "link": "bottleneck", "link_rate_bps": 5_000_000}
    emulation.change(json.dumps(rate))
    base_rtt = {"kind": "base_rtt", "group": None, "base_rtt_ns": 30_000_000}
    emulation.change(json.dumps(base_rtt))
    with pytest.raises(_core.EngineError, match="there is no link `up`; the links are `bottle"):
        emulation.change(json.dumps({**rate, "link": "up"}))
    time.sleep(1)
    summary = json.loads(emulation.stop().summary())
    made = summary["emulation"]["changes"]
    assert [{key: each[key] for key in each if key != "at_us"} for each in made] == [rate, base_rtt]
    at_s, duration_s = made[0]["at_us"] / 1e6, summary["duration_ns"] / 1e9
    assert 0.9 < at_s < duration_s
    (link,) = summary["links"]
    expected_bits = 20e6 * at_s + 5e6 * (duration_s - at_s)
    assert link["capacity_bytes"] * 8 == pytest.approx(expected_bits, rel=1e-3)
    assert link["utilization"] <= 1.001


def test_an_emulation_runs_what_it_is_told_to(nothing_left):
    scenario = Scenario(
        [Group(client="true"), "linux/cubic"], rate="20mbit", rtt="20ms", time="60s"
    )
    emulation = _core.Emulation(scenario.to_json())
    addresses = json.loads(emulation.addresses(0))
    assert addresses["client"][0] == "10.0.0.2"
    read, write = os.pipe()
    with Path("/dev/null").open("rb") as nothing:
        stdio = (nothing.fileno(), write, write)
        code = "import socket; s = socket.create_server(('', 7000)); s.accept()[0].sendall(b'hi')"
        server = emulation.spawn(0, "server", [sys.executable, "-c", code], stdio=stdio)
        emulation.wait_ready(0, ["tcp:7000"], 20)
        code = "import socket; print(socket.create_connection(('server', 7000)).recv(2))"
        client = emulation.spawn(0, "client", [sys.executable, "-c", code], stdio=stdio)
    os.close(write)
    assert Path(f"/proc/{client.pid}").exists()
    assert client.wait(20) == 0
    assert server.wait(20) == 0
    with os.fdopen(read) as pipe:
        assert pipe.read() == "b'hi'\n"
    sleeper = emulation.spawn(0, "client", ["sleep", MARK], new_session=True)
    assert sleeper.poll() is None
    assert sleeper.wait(0.05) is None
    sleeper.signal(signal.SIGUSR1)
    assert sleeper.wait(20) == -signal.SIGUSR1
    with pytest.raises(
        _core.EngineError, match="cannot start `nothing-like-it`: command not found"
    ):
        emulation.spawn(0, "client", ["nothing-like-it"])
    with pytest.raises(_core.EngineError, match="group 1 is of our own flows"):
        emulation.spawn(1, "client", ["true"])
    emulation.spawn(0, "server", ["sleep", MARK])
    with pytest.raises(_core.EngineError, match=r"did not open `udp:9` within 0\.1 s"):
        emulation.wait_ready(0, ["udp:9"], 0.1)
    summary = json.loads(emulation.stop().summary())
    assert processes_of(MARK) == []
    assert 0 < summary["duration_ns"] < 60e9
    assert [each["exit_code"] for each in summary["programs"][:2]] == [0, 0]
    assert summary["programs"][-1]["was_ended"]
    with pytest.raises(_core.EngineError, match="has been stopped"):
        emulation.stop()


def test_a_sweep_of_programs_resumes_when_it_is_trusted(cli, tmp_path, nothing_left):
    path, place, archive = tmp_path / "sweep.toml", tmp_path / "sweep", tmp_path / "sweep.tar.zst"
    client = ["sh", "-c", f"date +%N >> {tmp_path}/ran; echo measured 5"]
    group = Group(client=client, measure=r"measured (\d)", jitter="0s")
    path.write_text(Scenario([group], time="2s").to_toml())
    words = ("sweep", str(path), "--engine", "kernel", "--buffer", "1,2bdp", "--out", str(place))
    started = cli(*words)
    assert started.code == 0, started.err
    ran = tmp_path / "ran"
    assert len(ran.read_text().splitlines()) == 2
    # All runs are there: nothing runs again.
    complete = cli("sweep", "--resume", str(place), "--json")
    assert complete.code == 0, complete.err
    checked = (
        cli("archive", str(place), "--out", str(archive)),
        cli("archive", "verify", str(archive)),
    )
    assert [each.code for each in checked] == [0, 0], [each.err for each in checked]
    assert len(ran.read_text().splitlines()) == 2
    shutil.rmtree(next(place.glob("runs/*2bdp*")))
    refused = cli("sweep", "--resume", str(place))
    assert refused.code == 2
    assert refused.err.startswith(f"error: the sweep in `{place}` runs `sh -c ")
    assert refused.err.endswith("read its commands in `sweep.json`, then use `--trust`\n")
    assert len(ran.read_text().splitlines()) == 2
    resumed = cli("sweep", "--resume", str(place), "--trust")
    assert resumed.code == 0, resumed.err
    assert len(ran.read_text().splitlines()) == 3
