"""`dumbbell analyze --match` and `dumbbell.match_captures`, on captures made by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import dumbbell
from tests.python.fixtures import CLIENT, CLIENT_ISN, MSS, SERVER, SERVER_ISN, capture_records
from tests.python.oracles.pcap import Record, tcp_frame, write_pcap


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    return write_pcap(tmp_path / "by_hand.pcap", capture_records())


def test_the_same_capture_twice_matches_whole(cli, capture):
    match = dumbbell.match_captures(capture, capture)
    rows = match.connections.to_pylist()
    assert [row["matched_pkts"] for row in rows] == [9, 6]
    assert all(row["delay_max_us"] == 0 for row in rows)
    outcome = cli("analyze", str(capture), str(capture), "--match")
    assert outcome.code == 0
    assert "clocks are not aligned" in outcome.out


def test_matching_tells_drops_from_delays(cli, tmp_path):
    records = capture_records()
    before = write_pcap(tmp_path / "before.pcap", records)
    # The second data packet is lost, all others take 5 ms; the third and fourth change places.
    later = [record._replace(time_us=record.time_us + 5000) for record in records]
    lost = later.pop(4)
    later[4], later[5] = (
        later[5]._replace(time_us=later[4].time_us), later[4]._replace(time_us=later[5].time_us),
    )  # fmt: skip
    after = write_pcap(tmp_path / "after.pcap", later)
    document = json.loads(cli("analyze", str(before), str(after), "--match", "--json").out)
    data, acks = document["connections"]
    assert (data["matched_pkts"], data["dropped_pkts"], data["reordered_pkts"]) == (8, 1, 1)
    assert (acks["matched_pkts"], acks["dropped_pkts"]) == (6, 0)
    assert acks["delay_min_us"] == acks["delay_max_us"] == 5000
    out = tmp_path / "out"
    assert cli("analyze", str(before), str(after), "--match", "--out", str(out)).code == 0
    packets = pq.read_table(out / "packets.parquet").to_pylist()
    dropped = [row for row in packets if row["delay_us"] is None]
    assert [row["time_us"] for row in dropped] == [lost.time_us - 5000 - records[0].time_us]
    assert (out / "delay.png").is_file()
    assert json.loads((out / "match.json").read_text())["before"]["file"] == str(before)


def test_a_match_tells_what_is_undecided_and_what_a_card_cut(cli, tmp_path):
    records = capture_records()
    before = write_pcap(tmp_path / "before.pcap", records)
    # The second capture ends before the client's last packet.
    whole = write_pcap(tmp_path / "short.pcap", records[:-1])
    outcome = cli("analyze", str(before), str(whole), "--match")
    (line,) = [line for line in outcome.out.splitlines() if "0 192.0.2.1:40000" in line]
    assert line.split()[2:6] == ["8", "0", "1", "0"]  # matched, dropped, undecided, only after
    assert "offload" not in outcome.out
    # The first data packets as one: before the card cut it.
    joined = tcp_frame(
        source=CLIENT, destination=SERVER, seq=CLIENT_ISN + 1, ack=SERVER_ISN + 1, ip_id=3,
        payload_bytes=2 * MSS,
    )  # fmt: skip
    joined_records = [*records[:3], Record(records[3].time_us, joined, len(joined)), *records[5:]]
    offload = write_pcap(tmp_path / "offload.pcap", joined_records)
    outcome = cli("analyze", str(offload), str(before), "--match")
    assert "note: connection 0: the largest packets before and after differ" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("{0}", "{0}", "{0}", "--match"), "--match takes two captures"),
        (("-", "-", "--match"), "only one of them can be standard input"),
        (("{0}", "--match"), "has no point `bottleneck-in`"),
        (("{0}:nowhere", "{0}", "--match"), "has no point `nowhere`"),
        (
            ("{0}", "{0}", "--match", "--interval", "1s"),
            "--interval cannot be combined with --match",
        ),
        (
            ("{0}", "{0}", "--match", "--segments", "0"),
            "--segments cannot be combined with --match",
        ),
        (("{0}", "{0}", "--match", "--all-points"), "--all-points cannot be combined with --match"),
    ],
)
def test_what_cannot_be_matched_is_refused_in_one_line(cli, capture, arguments, says):
    outcome = cli("analyze", *(word.format(capture) for word in arguments))
    assert (outcome.code, outcome.out) == (2, "")
    assert says in outcome.err
    assert outcome.err.count("\n") == 1
