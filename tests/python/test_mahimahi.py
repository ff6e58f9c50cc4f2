"""mahimahi's commands answered with ours, and logs in its format."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

import dumbbell
from dumbbell.cli.mahimahi import ours
from dumbbell.emulation.mahimahi_log import write_mahimahi_log
from dumbbell.emulation.scenario import emulated_scenario
from tests.python.conftest import Outcome


@pytest.mark.parametrize(
    ("theirs", "expected"),
    [
        ("mm-delay 20 ping server", "--rate none --rtt 40ms -- ping server"),
        ("mm-delay 20", "--rate none --rtt 40ms --interactive"),
        ("mm-delay 20 mm-delay 30 ping server", "--rate none --rtt 100ms -- ping server"),
        ("mm-loss uplink 0.1 a b", "--rate none --up-loss 10% --rtt 3ms -- a b"),
        (
            "mm-onoff uplink 2 0.1 a",
            "--rate none --up-impair outage:on=2s,off=0.1s,exponential=on --rtt 3ms -- a",
        ),
        ("mm-loss downlink 0.005 a", "--rate none --loss 0.5% --rtt 3ms -- a"),
        (
            "mm-link --once up.tr down.tr --uplink-log=u.log -- curl -o x http://server/",
            "--uplink-log u.log --buffer 1GB --up-trace up.tr:once=on --trace down.tr:once=on "
            "--rtt 3ms -- curl -o x http://server/",
        ),
        (
            "mm-link a b --uplink-queue=codel --downlink-queue droptail "
            "--downlink-queue-args packets=100 --meter-all",
            "--up-queue codel --buffer 100pkt --live --up-buffer 1GB --up-trace a --trace b "
            "--rtt 3ms --interactive",
        ),
        (
            "mm-link --uplink-queue=codel --uplink-queue-args=packets=100,target=5,interval=50 "
            "--downlink-queue=pie --downlink-queue-args=qdelay_ref=20,packets=50 a b c",
            "--up-queue codel:target=5ms,interval=50ms --up-buffer 100pkt --queue pie:target=20ms "
            "--buffer 50pkt --up-trace a --trace b --rtt 3ms -- c",
        ),
        (
            "mm-link --cbr 5M 10M c",
            "--buffer 1GB --up-rate 5M --rate 10M --rtt 3ms -- c",
        ),
        (
            "mm-delay 20 mm-loss uplink 0.1 mm-link a b ping server",
            "--rtt 40ms --up-loss 10% --buffer 1GB --up-trace a --trace b -- ping server",
        ),
    ],
)
def test_a_command_of_mahimahi_s_has_one_of_ours(theirs: str, expected: str) -> None:
    assert ours(theirs.split()) == f"dumbbell emulate {expected}"


@pytest.mark.parametrize(
    "theirs", ["mm-link", "mm-link a", "mm-delay", "mm-loss", "mm-delay x", "mm-onoff"]
)
def test_half_a_command_is_answered_too(theirs: str) -> None:
    assert ours(theirs.split()).startswith("dumbbell emulate ")


@pytest.mark.parametrize(
    "arguments",
    ["", "--uplink-queue=droptail --uplink-queue-args=packets=20", "--uplink-queue=pie"],
)
def test_an_answer_is_a_path_that_can_be_emulated(tmp_path: Path, arguments: str) -> None:
    for trace in ("up", "down"):
        (tmp_path / trace).write_text("1\n2\n5\n")
    theirs = ["mm-link", str(tmp_path / "up"), str(tmp_path / "down"), *arguments.split()]
    words = shlex.split(ours(theirs))[2:-1]  # without `dumbbell emulate` and `--interactive`
    fields = {
        name.removeprefix("--").replace("-", "_"): value
        for name, value in zip(words[::2], words[1::2], strict=True)
    }
    links = emulated_scenario(fields, client=["true"]).to_dict()["link"]
    infinite = [link for link in links if link["buffer"] == "1GB"]
    assert len(infinite) == (1 if "packets" in arguments else 2)


def test_they_are_answered_wherever_they_are_written(
    cli: Callable[..., Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # mahimahi is not installed
    says = "ours is `dumbbell emulate --rate none --rtt 40ms -- ping server`"
    for words in (["mm-delay"], ["emulate", "mm-delay"], ["emulate", "--", "mm-delay"]):
        outcome = cli(*words, "20", "ping", "server")
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err == f"error: `mm-delay` is mahimahi's; {says}\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            "mm-link --downlink-queue=drophead --downlink-queue-args=bytes=9000,max_burst=1 "
            "--uplink-queue-args=target=5 --new=1 a b c",
            "--trace b --rtt 3ms -- c` without `--downlink-queue=drophead max_burst=1 --new=1 "
            "target=5`",
        ),
        (
            "tc qdisc add dev x root cake bandwidth 20mbit nat ack-filter metro ptm memlimit 4mb",
            "cake:rate=20mbit,ack_filter=normal,rtt=metro,framing=ptm,limit=4194304B -- COMMAND` "
            "without `nat`",
        ),
        ("mm-onoff downlink 1 2 ping", "ours is `dumbbell emulate --rate none --impair outage:on"),
        (
            "mm-link down.trace",
            "it takes two traces, the uplink's and the downlink's; ours is `dumbbell emulate "
            "--buffer 1GB --up-trace down.trace --trace DOWNLINK",
        ),
        (
            "mm-onoff 2 0.1 ping server",
            "it begins with `uplink` or `downlink`; ours is `dumbbell emulate --rate none "
            "--impair outage:on=2s,off=0.1s,exponential=on --rtt 3ms -- ping server`",
        ),
        ("mm-delay 30ms ping", "ours is `dumbbell emulate --rate none --rtt 60ms -- ping`"),
        ("mm-webreplay site", "`mm-webreplay` is mahimahi's; dumbbell neither records nor replays"),
        ("mm-delay-graph x", "`dumbbell plot DIR` draws what `dumbbell emulate --out DIR` saved"),
        (
            "tc qdisc add dev eth0 root netem delay 50ms 10ms loss 1% limit 100",
            "`dumbbell emulate --rate none --rtt 40ms --loss 1% --impair "
            "jitter:delay=10ms,uniform=10ms,reorder=on -- COMMAND` without `limit 100`",
        ),
        (
            "tc qdisc add dev x root netem delay 50ms 10ms distribution normal",
            "--rtt 10ms --impair jitter:delay=40ms,normal=10ms,reorder=on -- COMMAND`, and",
        ),
        (
            "tc qdisc add dev x root netem delay 20ms 10ms 25% distribution normal",
            "--rtt 3ms --impair jitter:delay=17ms,normal=10ms,reorder=on -- COMMAND` without `25%`",
        ),
        (
            "tc qdisc add dev x root netem delay 10ms reorder 25% 50%",
            "--rtt 3ms --impair reorder:probability=25%,early=10ms -- COMMAND` without `50%`",
        ),
        (
            "tc qdisc add dev x root netem duplicate 1% corrupt 0.1%",
            "--rtt 3ms --impair duplicate:probability=1%+corrupt:probability=0.1% -- COMMAND`, and",
        ),
        ("tc qdisc add dev x root netem rate 1mbps", "emulate --rate 8mbit --rtt 3ms -- COMMAND`"),
        ("netem delay 50ms", "`netem` is tc's; ours is `dumbbell emulate --rate none --rtt 50ms"),
        (
            "tc qdisc add dev x root handle 1: htb default 10",
            "emulate --rate RATE --rtt 3ms -- COMMAND` without `default 10`",
        ),
        ("tc class add dev x parent 1: htb rate 10mbit", "emulate --rate 10mbit --rtt 3ms -- COM"),
        (
            "tc qdisc add dev x root cake bandwidth 20mbit rtt 100ms besteffort wash",
            "--rate none --rtt 3ms --queue cake:rate=20mbit,rtt=100ms,tins=besteffort -- COMMAND` "
            "without `wash`",
        ),
        (
            "tc qdisc change dev x root netem delay 100ms",
            "ours is `dumbbell emulate set rtt=100ms`",
        ),
        ("tc qdisc change dev x root netem duplicate 1%", "`dumbbell emulate set NAME=VALUE` chan"),
        ("tc qdisc del dev x root", "a path ends with the command that"),
        ("tc -s qdisc", "`dumbbell emulate --live … -- COMMAND` shows a path while it runs"),
        ("tc qdisc show", "`dumbbell emulate --live … -- COMMAND` shows a path while it runs"),
        ("tc filter add dev x", "a path has no filters"),
        (
            "tc qdisc add dev x root tbf rate 1mbit burst 32kbit limit 10kb",
            "emulate --rate none --rtt 3ms --queue tbf:rate=1mbit,burst=4096B,limit=10240B -- COM",
        ),
        (
            "tc qdisc add dev x root tbf rate 1mbps burst 32kbit latency 400ms",
            "--queue tbf:rate=8mbit,burst=4096B,latency=400ms -- COMMAND`, and",
        ),
        (
            "tc qdisc add dev x root netem loss random 1%",
            "emulate --rate none --rtt 3ms --loss 1% -- COMMAND`,",
        ),
        (
            "tc qdisc add dev x root netem loss gemodel 1% 20%",
            "--rate none --rtt 3ms --impair gilbert_elliott:p=1%,r=20% -- COMMAND`, and",
        ),
        ("tc qdisc add dev x root fq_codel", "`dumbbell emulate --rtt 3ms --queue fq_codel -- COM"),
        ("tc", "`tc` is iproute2's; ours is `dumbbell emulate --rate none --rtt 3ms -- COMMAND`"),
        (
            "netperf -H server",
            "`netperf`, which is a program and not installed; where it is, `dumbbell emulate -- "
            "netperf -H server` runs it over a path",
        ),
        ("emulate --pcap x -- true", "no such option: --pcap; use `--capture`"),
        ("emulate --trace . -- true", "trace: .: is a directory; use a file of mahimahi's"),
        (
            "own -c 3 server",
            "run the program over a path use `dumbbell emulate -- own -c 3 server`",
        ),
    ],
)
def test_other_tools_typed_as_commands_are_answered(
    words: str,
    says: str,
    cli: Callable[..., Outcome],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "own").write_text("#!/bin/sh\n")
    (tmp_path / "own").chmod(0o755)
    outcome = cli(*words.split())
    assert (outcome.code, outcome.out) == (2, "")
    assert says in outcome.err


def test_the_order_of_mm_link_is_understood(cli: Callable[..., Outcome], tmp_path: Path) -> None:
    up, down = tmp_path / "up", tmp_path / "down"
    for trace in (up, down):
        trace.write_text("1\n2\n5\n")
    outcome = cli("emulate", str(up), str(down), "--", "ping", "server")
    assert outcome.code == 2
    assert "ours is `dumbbell emulate --buffer 1GB --up-trace " in outcome.err
    # Programs are no traces, whatever they are called.
    up.chmod(0o755)
    up.write_text("#!/bin/sh\nexit 0\n")
    assert "mm-link" not in cli("emulate", "--rate", "0", "--", str(up), str(down)).err


class Log:
    """What `mm-throughput-graph` reads of a log, by its rules."""

    def __init__(self, text: str) -> None:
        base: int | None = None
        self.bytes = {"+": 0, "-": 0, "#": 0}
        self.delays_ms: list[int] = []
        self.times_ms: list[int] = []
        for line in text.splitlines():
            if found := re.match(r"# base timestamp: (\d+)", line):
                assert base is None, "base timestamp multiply defined"
                base = int(found[1])
                continue
            if line.startswith("#"):
                continue
            assert base is not None, "logfile is missing base timestamp"
            time, event, size, *rest = line.split()
            self.times_ms.append(int(time) - base)
            self.bytes[event] += int(size)
            if event == "-":
                delay = int(rest[0])
                assert delay >= 0
                assert int(time) - base - delay >= 0
                self.delays_ms.append(delay)
        self.drops = len(re.findall(r"^# \d+ d 1 \d+$", text, re.MULTILINE))


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> tuple[dumbbell.Run, Path]:
    """A simulated run with a capture: its links are what an emulated path's are."""
    capture = tmp_path_factory.mktemp("captured") / "c.pcapng"
    scenario = dumbbell.Scenario(
        ["cubic"], rate="10mbit", rtt="40ms", buffer="1bdp", time="4s", rate_steps="2s:5mbit"
    )
    return dumbbell.run(scenario, capture=capture), capture


def test_a_log_has_what_mm_throughput_graph_reads(
    captured: tuple[dumbbell.Run, Path], tmp_path: Path
) -> None:
    run, capture = captured
    packets = dumbbell.packet_log(capture)
    file = tmp_path / "down.log"
    write_mahimahi_log(file, run, packets, "bottleneck", int(packets.reading["first_ns"]))
    log = Log(file.read_text(encoding="utf-8"))
    link = run.links[0]
    # Of 14 bytes of Ethernet's header mahimahi's device has none, and 4 of its own.
    assert log.bytes["-"] == link["forwarded_bytes"] - 10 * link["forwarded_pkts"]
    assert len(log.delays_ms) == link["forwarded_pkts"]
    assert log.drops == link["dropped_pkts"] > 0
    # 2 s of 10 Mbit/s and 2 s of 5.
    assert log.bytes["#"] == pytest.approx((20e6 + 10e6) / 8, rel=0.001)
    assert log.times_ms == sorted(log.times_ms)
    mean_ms = sum(log.delays_ms) / len(log.delays_ms)
    # Its time on the link counts, 1.2 to 2.4 ms, and times are whole ms.
    assert mean_ms == pytest.approx(link["queue_delay_mean_us"] / 1000 + 1.6, abs=1)


def test_opportunities_of_a_trace_are_the_trace_s(tmp_path: Path) -> None:
    capture = tmp_path / "c.pcapng"
    (tmp_path / "t").write_text("1\n1\n4\n")
    scenario = dumbbell.Scenario(["cubic"], trace=str(tmp_path / "t"), time="1s")
    run = dumbbell.run(scenario, capture=capture)
    packets = dumbbell.packet_log(capture)
    file = tmp_path / "down.log"
    write_mahimahi_log(file, run, packets, "bottleneck", int(packets.reading["first_ns"]))
    offered = re.findall(r"^(\d+) # 1504$", file.read_text(encoding="utf-8"), re.MULTILINE)
    assert [int(time) for time in offered[:7]] == [1, 1, 4, 5, 5, 8, 9]
    assert len(offered) == 750
