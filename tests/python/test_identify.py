"""`dumbbell identify` as a user meets it: which algorithm sent, or what to capture instead."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell import CaptureError, Group, Scenario

#: A path of no training run: their rates and RTTs are drawn, with other seeds.
PATH: dict[str, Any] = {
    "rate": "33mbit",
    "rtt": "52ms",
    "buffer": "0.8bdp",
    "time": "30s",
    "seed": 77,
}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five algorithms, each alone on a link of its own."""
    names = ["cubic", "reno", "bbr", "vegas", "ledbat"]
    links = [dumbbell.Link(name, rate="24mbit", buffer="150kB") for name in names]
    groups = [Group(name, route=[name]) for name in names]
    path = tmp_path_factory.mktemp("mixed") / "mixed.pcapng"
    scenario = Scenario(groups, links=links, rtt="50ms", time="30s", seed=5)
    dumbbell.run(scenario, capture=dumbbell.Capture(path, points=["sender"], snap="96B"))
    return path


@pytest.fixture(scope="module")
def cubic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cubic") / "cubic.pcapng"
    dumbbell.run(["cubic"], capture=path, **PATH)
    return path


def only(found: dumbbell.Identification) -> dumbbell.Identified:
    (each,) = found.connections
    return each


def test_names_cubic_with_its_reason(cubic):
    each = only(dumbbell.identify(cubic))
    assert (each.verdict, each.vantage) == ("cubic", "sender")
    assert each.probability is not None
    assert each.probability > 0.8
    # RFC 9438 §4.6: 0.7 of the window.
    assert each.measured["keeps_q50"] == pytest.approx(0.7, abs=0.03)
    assert "after each loss 0.7" in each.reason
    assert each.hindrance is None
    assert sum(chance for _, chance in each.candidates) == pytest.approx(1, abs=0.15)


def test_tells_five_flows_of_one_capture_apart(mixed):
    found = dumbbell.identify(mixed)
    # Addresses are 10.0.GROUP.1.
    names = {int(each.source.split(".")[2]): each.verdict for each in found.connections}
    assert names == {0: "cubic", 1: "reno", 2: "bbr", 3: "vegas", 4: "ledbat"}


def test_bbr_is_known_by_its_pauses(mixed):
    (bbr,) = [each for each in dumbbell.identify(mixed).connections if each.verdict == "bbr"]
    # PROBE_RTT: 200 ms and a round trip with 4 packets, about every 10 s.
    assert bbr.measured["dip_least_pkts"] <= 5
    assert 8 < bbr.measured["dip_interval_s"] < 12
    assert "with 4 packets in flight" in bbr.reason


def test_the_receivers_side_gives_the_same_name_with_a_doubt(cubic):
    each = only(dumbbell.identify(cubic, points=["receiver-0"]))
    assert (each.verdict, each.vantage) == ("cubic", "receiver")
    (doubt,) = each.doubts
    assert "captured at the receiver" in doubt
    assert "on the host that sends the data (10.0.0.1): `tcpdump -i any -s 96" in doubt


def test_an_algorithm_that_nobody_knows_is_unknown(tmp_path):
    capture = tmp_path / "odd.pcapng"
    # Keeps 0.35 of the window, and grows ten times as fast as CUBIC.
    odd = "cubic:beta=358,bic_scale=410"
    dumbbell.run([odd], capture=capture, **PATH)
    each = only(dumbbell.identify(capture))
    assert each.verdict == "unknown"
    assert "after each loss 0.3" in each.reason
    assert each.candidates


def test_one_direction_says_to_capture_both(cli, cubic):
    outcome = cli("identify", str(cubic), "--point", "bottleneck-in")
    assert outcome.code == 1
    words = " ".join(outcome.out.split())
    assert "no answer" in words
    assert "without ACKs nothing shows what is in flight" in words
    assert "`tcpdump -i any -s 96 -w capture.pcap 'tcp and port 5001'`" in words


def test_two_seconds_are_too_short(tmp_path):
    capture = tmp_path / "short.pcapng"
    dumbbell.run(["cubic"], capture=capture, **{**PATH, "time": "2s"})
    each = only(dumbbell.identify(capture))
    assert each.hindrance is not None
    assert each.hindrance.name == "too_short"
    assert "at least 8 s" in each.hindrance.message
    assert "tcpdump" in each.hindrance.advice


def test_a_program_that_sends_little_is_no_algorithm(tmp_path):
    capture = tmp_path / "limited.pcapng"
    group = Group("cubic", traffic="onoff:on=100ms,off=400ms")
    dumbbell.run([group], capture=capture, **PATH)
    each = only(dumbbell.identify(capture))
    assert each.hindrance is not None
    assert each.hindrance.name == "application_limited"
    assert "bulk transfer" in each.hindrance.advice


def test_a_receive_window_is_no_algorithm(tmp_path):
    capture = tmp_path / "window.pcapng"
    dumbbell.run([Group("cubic", rwnd="60kB")], capture=capture, **PATH)
    each = only(dumbbell.identify(capture))
    assert each.hindrance is not None
    assert each.hindrance.name == "window_limited"
    assert "tcp_rmem" in each.hindrance.advice


def test_a_start_that_was_missed_is_a_doubt(cubic, tmp_path):
    late = tmp_path / "late.pcapng"
    late.write_bytes(without_first(cubic.read_bytes(), 40_000))
    each = only(dumbbell.identify(late, points=["sender-0"]))
    assert each.verdict == "cubic"
    assert any("the start was not captured" in doubt for doubt in each.doubts)


def test_a_quic_stack_is_told_by_times_and_sizes(tmp_path):
    capture = tmp_path / "quic.pcapng"
    dumbbell.run(["quic/quinn:cubic"], capture=capture, **PATH)
    each = only(dumbbell.identify(capture))
    assert (each.protocol, each.verdict) == ("udp", "cubic")
    assert any("taken for QUIC" in doubt for doubt in each.doubts)


def test_the_document_and_pictures_are_saved(cli, cubic, tmp_path):
    outcome = cli("identify", str(cubic), "--out", str(tmp_path / "out"), "--json")
    assert outcome.code == 0
    document = json.loads(outcome.out)
    (connection,) = document["connections"]
    assert connection["algorithm"] == "cubic"
    assert connection["candidates"][0] == {
        "algorithm": "cubic", "probability": connection["probability"],
    }  # fmt: skip
    assert json.loads((tmp_path / "out" / "identify.json").read_text()) == document
    names = {file.name for file in (tmp_path / "out").iterdir()}
    assert {"inflight-0.svg", "rtt-0.svg"} <= names


def test_what_is_no_capture_is_named(cli, tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("no capture")
    with pytest.raises(CaptureError, match=r"notes\.txt"):
        dumbbell.identify(text)
    assert cli("identify", "-").code == 2


def test_damaged_captures_end_in_an_answer_or_one_line(cubic, tmp_path):
    whole = cubic.read_bytes()[:400_000]
    chance = random.Random(43)  # noqa: S311 -- not for secrets
    for _ in range(12):
        damaged = bytearray(whole[: chance.randrange(2000, len(whole))])
        for _ in range(chance.randrange(200)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        path = tmp_path / "damaged.pcapng"
        path.write_bytes(damaged)
        assert names_or_error(path).count("\n") == 0


def names_or_error(path: Path) -> str:
    """What is said of a capture: the verdicts, or why it cannot be read."""
    try:
        return ", ".join(each.verdict for each in dumbbell.identify(path).connections)
    except CaptureError as error:
        return str(error)


def without_first(data: bytes, count: int) -> bytes:
    """Leave the first packets out of a pcapng file."""
    kept = []
    packets = 0
    for kind, block in blocks(data):
        packets += kind == 6
        if kind != 6 or packets > count:
            kept.append(block)
    return b"".join(kept)


def blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Go through the blocks of a pcapng file; an enhanced packet block is 6."""
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        yield kind, data[at : at + length]
        at += length
