"""Times, rates and shares of what runs over a path, on Linux in virtual time.

A busy machine cannot make them late there. The kernel engine's tests have the rest of the same
statements: that programs and flows run on it, what is never shorter, and what is counted.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import time
from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell import Group, Link, Run, Scenario
from dumbbell.run.programs import client_of
from tests.python.emulated import EMULATE, PATH, PYTHON
from tests.python.guests import built
from tests.python.real_programs import iperf3, needs, number

pytestmark = built

VIRTUAL = (*EMULATE, "--virtual")
PROGRAMS = Path(__file__).parents[1] / "programs"
RATE_BPS = 20_000_000
RTT_MS = 20
#: The path of the real programs.
SHARED = ("--rate", "20mbit", "--rtt", "20ms", "--buffer", "2bdp")


def emulated(*words: str, options: Sequence[str] = PATH) -> subprocess.CompletedProcess[str]:
    """Run `dumbbell emulate --virtual` to its end, which is a good one."""
    done = subprocess.run(
        [*VIRTUAL, *options, *words], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done


def virtual(*groups: Group | str, **words: Any) -> Run:
    """Run a scenario in a guest."""
    asked = {"rate": "20mbit", "rtt": "20ms", **words}
    return dumbbell.run(Scenario(groups, **asked), engine="uml")


# ---- Round trips ----


@needs("ping")
@pytest.mark.parametrize(
    ("rate", "version", "expected_ms"),
    # 98 bytes, or 118 over IPv6, twice at 10 Mbit/s.
    [("10mbit", 4, 40.1568), ("10mbit", 6, 40.1888), ("none", 4, 40), ("none", 6, 40)],
)
def test_every_ping_takes_the_rtt_and_its_own_time(rate, version, expected_ms):
    options = ("--rate", rate, "--rtt", "40ms")
    done = emulated("--", "ping", f"-{version}", "-c", "20", "-i", "0.2", "server", options=options)
    least, mean, most = re.findall(r"= ([\d.]+)/([\d.]+)/([\d.]+)/", done.stdout)[0]
    assert [float(least), float(mean), float(most)] == pytest.approx([expected_ms] * 3, abs=1e-3)
    assert "20 received" in done.stdout
    assert re.search("^verdict OK", done.stderr, re.MULTILINE), done.stderr


@needs("ping")
def test_each_round_trip_has_the_rtt_of_its_time():
    client = "ping -c 6 -i 1 server"
    run = virtual(
        Group(client=client, jitter="0s"), time="8s", rtt="40ms", rtt_steps="2500ms:100ms"
    )
    client_: Any = client_of(run.summary, 0)
    rtts_ms = [float(rtt) for rtt in re.findall(r"time=([\d.]+) ms", client_["output"])]
    assert rtts_ms == pytest.approx(3 * [40.08] + 3 * [100.08], abs=0.1)


@needs("ping")
@pytest.mark.parametrize("queue", ["fq_codel", "cake", "bfifo"])
def test_the_queue_decides_what_ping_sees_beside_bulk_flows(queue):
    options = ("--rate", "20mbit", "--rtt", "40ms", "--buffer", "8bdp", "--with", "cubic:2")
    command = "sleep 3; exec ping -c 100 -i 0.1 server"
    done = emulated("--queue", queue, "--", "sh", "-c", command, options=options)
    rtts_ms = sorted(float(rtt) for rtt in re.findall(r"time=([\d.]+) ms", done.stdout))
    assert len(rtts_ms) > 80, done.stdout
    waited_ms = rtts_ms[int(0.95 * len(rtts_ms))] - 40
    if queue == "bfifo":
        # A full queue is 8 BDP: 320 ms.
        assert 150 < waited_ms < 350
    else:
        assert 0 < waited_ms < 10


# ---- Downloads ----


def serving(directory: Path) -> tuple[str, ...]:
    """Return the options of a server of files."""
    command = [PYTHON, "-m", "http.server", "--directory", str(directory), "80"]
    return "--serve", shlex.join(command), "--ready", "tcp:80"


@needs("curl")
@pytest.mark.parametrize(
    ("rate", "size_bytes", "least_s", "most_s"),
    # 5 MB and headers take 4.2 s; 200 kB at a tenth of the rate 1.7 s.
    [("10mbit", 5_000_000, 4.1, 6), ("1mbit", 200_000, 1.6, 2.6)],
)
def test_a_download_has_the_rate_of_the_path(tmp_path, rate, size_bytes, least_s, most_s):
    (tmp_path / "file").write_bytes(bytes(size_bytes))
    words = ["curl", "-sSo", "/dev/null", "-w", "took %{time_total}", "http://server/file"]
    options = ("--rate", rate, "--rtt", "20ms", "--buffer", "25kB")
    done = emulated(*serving(tmp_path), "--", *words, options=options)
    assert least_s < number(r"took ([\d.]+)", done.stdout) < most_s


@needs("curl", "nginx")
@pytest.mark.parametrize("version", [4, 6])
def test_curl_and_nginx(tmp_path, version):
    (tmp_path / "2M").write_bytes(bytes(2_000_000))
    (tmp_path / "nginx.conf").write_text(
        "error_log stderr;\npid /run/nginx.pid;\ndaemon off;\nuser root;\nevents {}\n"
        f"http {{ access_log off; server {{ listen 80; listen [::]:80; root {tmp_path}; }} }}\n"
    )
    words = ["curl", f"-{version}", "-sSo", "/dev/null", "-w", "in %{time_total} s"]
    serve = ("--serve", f"nginx -c {tmp_path}/nginx.conf", "--ready", "tcp:80")
    done = emulated(*serve, "--", *words, "http://server/2M", options=SHARED)
    # 0.85 s on the link, and slow start.
    assert 0.85 < number(r"in ([\d.]+) s", done.stdout) < 1.6


# ---- iperf3 ----


@needs("iperf3")
@pytest.mark.parametrize("way", [(), ("-R",)], ids=["up", "down"])
@pytest.mark.parametrize("version", [4, 6])
def test_iperf3_fills_the_link(way, version):
    client = ["iperf3", f"-{version}", "--json", "--client", "server", "--time", "1", *way]
    serve = ("--serve", "iperf3 --server --one-off", "--ready", "tcp:5201")
    done = emulated(*serve, "--", *client, options=SHARED)
    end = json.loads(done.stdout)["end"]
    # Over IPv6 1428 of 1514 bytes are TCP's payload.
    assert 0.6 < 8 * end["sum_received"]["bytes"] / (0.94 * RATE_BPS) < 1.1


@needs("iperf3")
def test_what_iperf3_measures_is_the_link_s_rate():
    run = virtual(
        iperf3("--reverse", measure=r"([\d.]+) Mbits/sec +receiver"), buffer="2bdp", time="20s"
    )
    client: Any = client_of(run.summary, 0)
    payload_bps = RATE_BPS * 1448 / 1514
    assert 3e9 < run.summary["duration_ns"] < 4e9
    assert 0.8 * payload_bps < run.groups[0]["goodput_bps"] < payload_bps
    assert client["measured"] == pytest.approx(payload_bps / 1e6, rel=0.1)
    down_bytes = sum(row["down_bytes"] for row in run.connections.to_pylist())
    assert down_bytes * 8 == pytest.approx(3 * RATE_BPS, rel=0.25)
    assert run.verdict.status == "OK"


@needs("iperf3")
def test_iperf3_s_datagrams_are_not_lost():
    words = "--reverse --udp --bitrate 5M"
    run = virtual(iperf3(words, measure=r"([\d.]+) Mbits/sec.*receiver"), buffer="2bdp", time="20s")
    client: Any = client_of(run.summary, 0)
    assert client["measured"] == pytest.approx(5, rel=0.02)
    assert re.search(r" 0/\d+ \(0%\) +receiver", client["output"]), client["output"]


@needs("iperf3")
def test_a_program_takes_its_share_and_leaves_theirs_to_its_competitors():
    run = virtual(
        iperf3("--reverse", cc="linux/cubic"), Group("linux/cubic", 2), buffer="2bdp", time="20s"
    )
    assert sum(group["share"] for group in run.groups) == pytest.approx(1, abs=1e-3)
    assert all(group["goodput_bps"] > 0.05 * RATE_BPS for group in run.groups)
    words = [
        "--buffer", "2bdp", "--with", "cubic:3", "--serve", "iperf3 -s -1", "--ready", "tcp:5201",
        "--json", "--", "iperf3", "-J", "-t", "5", "-R", "-C", "cubic", "-c", "server",
    ]  # fmt: skip
    groups = json.loads(emulated(*words).stdout)["groups"]
    assert groups[1]["share"] > 0.5
    assert sum(group["goodput_bps"] for group in groups) > 8e6


# ---- QUIC, calls ----


@pytest.fixture
def certificate(tmp_path) -> tuple[str, str]:
    """A certificate of the host `server`, signed by itself, and its key."""
    words = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=server "
        "-days 36500 -addext subjectAltName=DNS:server -out cert.pem -keyout key.pem"
    )
    subprocess.run(words.split(), check=True, capture_output=True, cwd=tmp_path)
    return str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")


@needs("openssl")
def test_aioquic_connects_and_loads_in_time(certificate, monkeypatch):
    pytest.importorskip("aioquic")
    # The certificate is of today.
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(time.time()) + 60))
    server = shlex.join([PYTHON, str(PROGRAMS / "http3_server.py"), *certificate])
    client = [PYTHON, str(PROGRAMS / "http3_client.py"), certificate[0], "server", "/bytes/1000000"]
    done = emulated("--serve", server, "--ready", "udp:443", "--", *client, options=SHARED)
    assert "1000000 bytes in" in done.stdout
    assert RTT_MS < number(r"connected in ([\d.]+) ms", done.stdout) < 1000
    least_s = 8e6 / RATE_BPS
    assert least_s < number(r"bytes in ([\d.]+) s", done.stdout) < 3 * least_s + 1


@needs("flent", "irtt", "ping")
@pytest.mark.parametrize(("test", "figure"), [("ping", "Ping (ms) UDP"), ("voip", "VoIP::rtt")])
def test_flent(tmp_path, test, figure):
    words = [
        "flent", test, "--host", "server", "--length", "2", "--step-size", "0.1",
        "--data-dir", str(tmp_path), "--format", "summary",
    ]  # fmt: skip
    serve = ("--serve", "irtt server", "--ready", "udp:2112")
    done = emulated(*serve, "--", *words, options=SHARED)
    # Mean and median.
    median_ms = number(rf"{re.escape(figure)}\s*:\s+[\d.]+\s+([\d.]+)", done.stdout)
    assert RTT_MS < median_ms < RTT_MS + 2, done.stdout


def test_a_call_of_aiortc(tmp_path):
    pytest.importorskip("aiortc")
    call = [PYTHON, str(PROGRAMS / "webrtc_call.py")]
    serve = ("--serve", shlex.join([*call, "server"]), "--ready", "tcp:8000")
    done = emulated(*serve, "--", *call, "client", "server", options=SHARED)
    # A frame of sound lasts 20 ms, and a call 3 s.
    assert number(r"(\d+) frames", done.stdout) > 100
    assert number(r"(\d+) messages", done.stdout) > 20
    assert RTT_MS < number(r"smallest RTT ([\d.]+) ms", done.stdout) < RTT_MS + 10


# ---- Flows ----


@pytest.mark.parametrize("queue", ["codel:ecn=on", "fq_codel:perfect_hash=on"])
def test_codel_keeps_the_queue_short(queue):
    groups = [Group("linux/cubic", ecn=True), Group("linux/reno")]
    asked = Scenario(groups, queue=queue, rate="20mbit", rtt="20ms", time="4s")
    ran = dumbbell.run(asked, engine="uml")
    simulated = dumbbell.run(asked.replace(groups=[Group("cubic", ecn=True), "reno"]))
    for run in (ran, simulated):
        # Slow start passes the target by far; drop-tail of 1 BDP would wait 20 ms.
        assert run.summary["bottleneck"]["queue_delay_p50_us"] < 10_000
    assert ran.verdict.status == "OK"


def test_cake_is_fair_to_hosts():
    groups = [
        Group("linux/cubic", dscp="af41"),
        Group("linux/cubic", 4),
        Group("linux/reno", dscp="ef"),
    ]
    run = virtual(*groups, queue="cake:rate=90%", time="5s")
    one, four = (run.groups[index]["goodput_bps"] for index in (0, 1))
    # By flows it would be 0.2; a single flow behind CoDel leaves some of its half unused.
    assert 0.3 < one / (one + four) < 0.6


@pytest.mark.parametrize(
    "path",
    [{"trace": "cellular:rate=10mbit,length=10s"}, {"impair": "wifi:stations=1", "rate": "20mbit"}],
    ids=["trace", "wifi"],
)
def test_media_carry_packets_as_in_the_simulator(path):
    """Goodput within 15 %, mean RTT within 25 %."""
    sim, ran = (
        dumbbell.run(Scenario(["cubic"], rtt="40ms", time="8s", **path), engine=engine)
        for engine in ("simulator", "uml")
    )
    for name, tolerance in (("goodput_bps", 0.15), ("rtt_mean_us", 0.25)):
        values = [run.summary["flows"][0][name] for run in (ran, sim)]
        assert values[0] == pytest.approx(values[1], rel=tolerance), name
    assert ran.verdict.status == "OK"


def test_bursts_are_lost_as_often_as_was_asked_for():
    run = virtual("linux/cubic", rtt="40ms", buffer="64pkt", time="4s",
                  impair="gilbert_elliott:loss=2%,burst=3,place=behind")  # fmt: skip
    link, flow = run.links[0], run.summary["flows"][0]
    assert run.verdict.status == "OK"
    share = link["lost_behind_pkts"] / link["forwarded_pkts"]
    bursts = link["forwarded_pkts"] * 0.02 / 3
    # Lengths and gaps are geometric: a relative standard error of about sqrt(2 / bursts).
    assert share == pytest.approx(0.02, rel=4 * sqrt(2 / bursts))
    assert flow["retransmitted_pkts"] >= 0.8 * link["lost_behind_pkts"]


def test_copies_cost_no_goodput():
    run = virtual("linux/cubic", rtt="40ms", buffer="64pkt", time="4s",
                  impair="duplicate:probability=5%")  # fmt: skip
    link, flow = run.links[0], run.summary["flows"][0]
    assert run.verdict.status == "OK"
    assert flow["goodput_bps"] > 0.85 * RATE_BPS * 1448 / 1514
    # Each copy that arrived is reported (RFC 2883); Linux counts the reports.
    assert 0.9 * link["duplicated_pkts"] <= flow["spurious_retransmits"]


def test_linux_tolerates_reordering_that_keeps_within_a_quarter_of_the_rtt():
    path = {"rtt": "40ms", "buffer": "64pkt", "time": "4s"}
    plain = virtual("linux/cubic", impair="jitter:uniform=2ms,delay=2ms", **path)
    free = virtual("linux/cubic", impair="jitter:uniform=2ms,delay=2ms,reorder=on", **path)
    assert [run.verdict.status for run in (plain, free)] == ["OK", "OK"]
    in_order, reordered = (run.summary["flows"][0] for run in (plain, free))
    # In order nothing but the queue's drops is retransmitted.
    assert in_order["retransmitted_pkts"] <= in_order["dropped_pkts"] + 20
    assert reordered["goodput_bps"] > 0.85 * in_order["goodput_bps"]


def test_nearly_all_of_a_receive_window_is_used():
    run = virtual(Group("linux/cubic", rwnd="64kB", jitter="0s"), rate="50mbit", time="2500ms")
    flow = run.summary["flows"][0]
    # 64 kB every 20 ms are half of the link.
    full_bps = 64_000 // 1448 * 1448 * 8 / 0.020
    assert 0.9 < flow["received_bytes"] * 8 / 2.46 / full_bps < 1.02
    assert flow["rwnd_limited_us"] > 400_000


def test_a_window_without_limit_never_binds():
    run = virtual(Group("linux/cubic", rwnd="16MiB", jitter="0s"), rate="50mbit", time="3s")
    assert run.summary["flows"][0]["rwnd_limited_us"] < 100_000


def test_samples_add_up_to_what_arrived():
    groups = [Group("linux/cubic", jitter="0s"), Group("linux/bbr", jitter="0s")]
    run = virtual(*groups, time="2s", sample="10ms")
    received_bytes = sum(flow["received_bytes"] for flow in run.summary["flows"])
    sampled_bytes = sum(run.flows["goodput_bps"].to_pylist()) * 0.010 / 8
    assert sampled_bytes == pytest.approx(received_bytes, rel=0.02)


def test_links_in_a_row_are_used():
    """A flow over two links and one over each; their ACKs come back over a third."""
    links = [
        Link("a", rate="20mbit", buffer="60kB"),
        Link("b", rate="10mbit", buffer="60kB"),
        Link("up", rate="2mbit", buffer="60kB"),
    ]
    groups = [
        Group("linux/cubic", route=route, back=["up"]) for route in (["a", "b"], ["a"], ["b"])
    ]
    run = dumbbell.run(Scenario(groups, links=links, rtt="20ms", time="3s"), engine="uml")
    assert all(run.link(name)["utilization"] >= 0.5 for name in ("a", "b"))
    assert run.verdict.status != "INVALID"
