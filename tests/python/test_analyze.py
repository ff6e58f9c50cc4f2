"""`dumbbell analyze` and `dumbbell.analyze` as a user meets them, on a connection made by hand."""

from __future__ import annotations

import gzip
import json
import signal
import struct
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dumbbell
from dumbbell import CaptureError
from tests.python.judges.pcap import Record, tcp_frame, write_pcap

CLIENT, SERVER = ("192.0.2.1", 40_000), ("198.51.100.7", 443)
MSS = 1000
CLIENT_ISN, SERVER_ISN = 2**32 - 1500, 5_000  # the client's numbers wrap
SYN_OPTIONS = struct.pack("!BBH", 2, 4, MSS) + b"\x04\x02" + b"\x03\x03\x07"


def sack(start: int, end: int) -> bytes:
    return b"\x01\x01" + struct.pack("!BBII", 5, 10, start % 2**32, end % 2**32)


def handmade() -> list[Record]:
    """A connection at its sender: 40 ms RTT, four segments, the second is lost and sent again."""
    ids = {CLIENT: 0, SERVER: 0}
    records = []

    def add(time_ms: float, source: Any, seq: int, ack: int, **words: Any) -> None:
        ids[source] += 1
        destination = SERVER if source is CLIENT else CLIENT
        frame = tcp_frame(
            source=source, destination=destination, seq=seq % 2**32, ack=ack % 2**32,
            ip_id=ids[source], **words,
        )  # fmt: skip
        records.append(Record(1_700_000_000_000_000 + round(time_ms * 1000), frame, len(frame)))

    first, reply = CLIENT_ISN + 1, SERVER_ISN + 1
    add(0, CLIENT, CLIENT_ISN, 0, flags="S", options=SYN_OPTIONS)
    add(40, SERVER, SERVER_ISN, first, flags="SA", options=SYN_OPTIONS)
    add(40.1, CLIENT, first, reply)
    for number in range(4):
        add(50 + number, CLIENT, first + MSS * number, reply, payload_bytes=MSS)
    add(90, SERVER, reply, first + MSS)
    add(92, SERVER, reply, first + MSS, options=sack(first + 2 * MSS, first + 3 * MSS))
    add(93, SERVER, reply, first + MSS, options=sack(first + 2 * MSS, first + 4 * MSS))
    add(94, CLIENT, first + MSS, reply, payload_bytes=MSS)
    add(134, SERVER, reply, first + 4 * MSS)
    add(140, CLIENT, first + 4 * MSS, reply, flags="FA")
    add(180, SERVER, reply, first + 4 * MSS + 1, flags="FA")
    add(180.1, CLIENT, first + 4 * MSS + 1, reply + 1)
    return records


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    return write_pcap(tmp_path / "handmade.pcap", handmade())


#: What a person counts in it.
BY_HAND = {
    "connection": 0, "vantage": "sender", "source": "192.0.2.1", "source_port": 40_000,
    "destination": "198.51.100.7", "destination_port": 443, "is_initiator": True, "is_data": True,
    "began_before_capture": False, "syn_count": 1, "fin_count": 1, "rst_count": 0,
    "pkts": 9, "data_pkts": 5, "pure_ack_pkts": 2, "payload_bytes": 5000, "unique_bytes": 4000,
    "duration_us": 180_100, "retransmitted_pkts": 1, "retransmitted_bytes": 1000,
    "fast_retransmitted_pkts": 1, "rto_retransmitted_pkts": 0, "out_of_order_pkts": 0,
    "duplicate_pkts": 0, "mss_bytes": MSS, "largest_segment_bytes": MSS, "window_scale": 7,
    "sack_permitted": True, "has_timestamps": False, "offload": False, "missing_bytes": 0,
    "rtt_handshake_us": 40_000, "inflight_max_bytes": 4000, "inflight_sack_max_bytes": 4000,
}  # fmt: skip


def test_counts_what_a_person_counts(capture):
    (row,) = dumbbell.analyze(capture).data.to_pylist()
    assert {key: row[key] for key in BY_HAND} == BY_HAND
    assert (row["first_ns"], row["last_ns"]) == (1_700_000_000 * 10**9, 1_700_000_000_180_100_000)
    assert row["goodput_bps"] == pytest.approx(4000 * 8 / 0.1801)
    assert row["throughput_bps"] == pytest.approx(5000 * 8 / 0.1801)
    assert row["rtt_min_us"] == 40_000


def test_the_acks_are_a_direction_of_their_own(capture):
    data, acks = dumbbell.analyze(capture).best.to_pylist()
    assert (data["is_data"], acks["is_data"]) == (True, False)
    assert (acks["source"], acks["pkts"], acks["data_pkts"]) == ("198.51.100.7", 6, 0)
    assert acks["sack_blocks"] == 2
    assert data["dup_acks"] == 2  # of its data
    assert acks["unique_bytes"] == 0


def test_prints_a_line_per_connection(cli, capture):
    outcome = cli("analyze", str(capture))
    assert (outcome.code, outcome.err) == (0, "")
    assert f"{capture}: 15 packets, 15 of TCP; 1 connection\n" in outcome.out
    (line,) = [line for line in outcome.out.splitlines() if "192.0.2.1:40000" in line]
    assert "198.51.100.7:443" in outcome.out
    assert "1 (20.00 %)" in line
    assert "40.0" in line


def test_json_has_both_directions_and_how_the_reading_went(cli, capture):
    document = json.loads(cli("analyze", str(capture), "--json").out)
    assert document["schema_version"] == 1
    assert document["file"] == str(capture)
    assert document["reading"]["packets"] == document["reading"]["tcp_pkts"] == 15
    assert document["reading"]["damage"] is None
    assert [row["is_data"] for row in document["connections"]] == [True, False]
    assert document["notes"] == []
    several = json.loads(cli("analyze", str(capture), str(capture), "--json").out)
    assert [entry["file"] for entry in several] == [str(capture)] * 2


def test_out_has_tables_and_figures_that_open(cli, capture, tmp_path):
    out = tmp_path / "out"
    outcome = cli("analyze", str(capture), "--out", str(out))
    assert (outcome.code, outcome.err) == (0, "")
    assert f"saved in {out}" in outcome.out
    for name, rows in (("connections", 2), ("segments", 12)):
        assert pq.read_table(out / f"{name}.parquet").num_rows >= rows
    assert json.loads((out / "analysis.json").read_text())["points"]
    for name in ("throughput", "rtt", "inflight", "time-sequence-0", "time-sequence-0-detail"):
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert ET.parse(out / f"{name}.svg").getroot().tag.endswith("svg")  # noqa: S314


def test_segments_are_kept_when_asked_for(capture):
    analysis = dumbbell.analyze(capture, segments=[0])
    kinds = analysis.segments_of(0)["kind"].cast(pa.string()).to_pylist()
    assert kinds.count("data") == 4
    assert kinds.count("retransmission") == 1
    with pytest.raises(dumbbell.ResultError, match="no packets were kept; name connections"):
        _ = dumbbell.analyze(capture).segments


@pytest.mark.parametrize("suffix", ["gz", "zst", "stdin"])
def test_reads_compressed_captures_and_standard_input(capture, tmp_path, suffix):
    data = capture.read_bytes()
    plain = dumbbell.analyze(capture).best
    if suffix == "stdin":
        command = [sys.executable, "-m", "dumbbell", "analyze", "-", "--json"]
        result = subprocess.run(command, input=data, capture_output=True, check=True)
        assert json.loads(result.stdout)["connections"] == plain.to_pylist()
        return
    path = tmp_path / f"handmade.pcap.{suffix}"
    packed = gzip.compress(data) if suffix == "gz" else pa.Codec("zstd").compress(data).to_pybytes()
    path.write_bytes(packed)
    assert dumbbell.analyze(path).best.equals(plain)


def bad_files(tmp_path: Path) -> dict[str, tuple[Path, str]]:
    text, empty = tmp_path / "notes.txt", tmp_path / "empty.pcap"
    text.write_text("this is no capture, but long enough to be looked at as if it were one")
    empty.touch()
    (tmp_path / "directory").mkdir()
    return {
        "missing": (tmp_path / "none.pcap", "cannot be read: no such file or directory"),
        "text": (text, "pcap"),
        "empty": (empty, "is empty; name a capture file"),
        "directory": (tmp_path / "directory", "is a directory without a capture.pcapng"),
    }


@pytest.mark.parametrize("kind", ["missing", "text", "empty", "directory"])
def test_what_is_no_capture_is_refused_in_a_line(cli, tmp_path, kind):
    path, says = bad_files(tmp_path)[kind]
    outcome = cli("analyze", str(path))
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"error: {path}")
    assert says in outcome.err
    assert outcome.err.count("\n") == 1
    with pytest.raises(CaptureError):
        dumbbell.analyze(path)


def test_an_unreadable_device_is_refused_in_a_line(cli):
    outcome = cli("analyze", "/proc/self/mem")
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1


def test_a_cut_capture_is_analysed_up_to_the_cut(cli, capture, tmp_path):
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(capture.read_bytes()[:-30])
    outcome = cli("analyze", str(cut))
    assert outcome.code == 0
    assert "damaged: " in outcome.out
    assert "what came before is analysed" in outcome.out
    assert dumbbell.analyze(cut).reading["tcp_pkts"] == 14


def test_without_tcp_it_says_so(cli, tmp_path):
    path = write_pcap(tmp_path / "nothing.pcap", [])
    outcome = cli("analyze", str(path))
    assert outcome.code == 0
    assert "no TCP connection" in outcome.out
    out = tmp_path / "out"
    assert cli("analyze", str(path), "--out", str(out)).code == 0
    assert (out / "connections.parquet").is_file()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--segments", "zero"), "segments is `zero`; say numbers of connections, like `0`"),
        (("--segments", "7"), "there is no connection 7; it has 1, counted from 0"),
        (("--interval", "100"), "interval `100` has no unit"),
        (("--interval", "0ms"), "interval `0ms` is zero"),
        (("--point", "eth7"), "has no point `eth7`"),
    ],
)
def test_bad_options_are_refused_in_a_line(cli, capture, arguments, says):
    outcome = cli("analyze", str(capture), *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert says in outcome.err
    assert outcome.err.count("\n") == 1


def test_out_that_cannot_be_written_is_refused_before_the_work(cli, capture, tmp_path):
    outcome = cli("analyze", str(capture), "--out", str(capture / "below"))
    assert (outcome.code, outcome.out) == (2, "")
    assert "cannot be written" in outcome.err


def test_the_series_have_what_the_connection_has(capture):
    analysis = dumbbell.analyze(capture, interval="10ms")
    series = analysis.series_of(0).to_pandas()
    assert set(series["bin_us"]) == {10_000}
    assert series["payload_bytes"].sum() == 5000
    assert series["unique_bytes"].sum() == 4000
    assert series["retransmitted_pkts"].sum() == 1
    assert series["inflight_bytes"].max() == 4000
    # After SACKs of the third and fourth, one of them is missing: the second.
    assert series["inflight_sack_bytes"].min() < series["inflight_bytes"].max()


def test_help_says_what_it_reads(cli):
    out = cli("analyze", "--help").out
    for word in ("pcap", "pcapng", "gzip", "zstd", "--match", "--segments", "--interval"):
        assert word in out


ANALYSIS_DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "analysis.md"


def test_every_column_is_documented(capture):
    document = ANALYSIS_DOCUMENT.read_text(encoding="utf-8")
    analysis = dumbbell.analyze(capture, segments=[0])
    match = dumbbell.match_captures(capture, capture)
    tables = [*analysis.tables.values(), analysis.best, *match.tables.values()]
    columns = {name for table in tables for name in table.column_names}
    assert {name for name in columns if f"`{name}`" not in document} == set()


def test_the_same_capture_twice_matches_whole(cli, capture):
    match = dumbbell.match_captures(capture, capture)
    rows = match.connections.to_pylist()
    assert [row["matched_pkts"] for row in rows] == [9, 6]
    assert all(row["delay_max_us"] == 0 for row in rows)
    outcome = cli("analyze", str(capture), str(capture), "--match")
    assert outcome.code == 0
    assert "clocks are not aligned" in outcome.out


def test_matching_tells_drops_from_delays(cli, tmp_path):
    records = handmade()
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


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("{0}", "{0}", "{0}", "--match"), "--match takes two captures"),
        (("-", "-", "--match"), "standard input can only be one of two"),
        (("{0}", "--match"), "has no point `bottleneck-in`"),
        (("{0}:nowhere", "{0}", "--match"), "has no point `nowhere`"),
    ],
)
def test_what_cannot_be_matched_is_refused_in_a_line(cli, capture, arguments, says):
    outcome = cli("analyze", *(word.format(capture) for word in arguments))
    assert (outcome.code, outcome.out) == (2, "")
    assert says in outcome.err
    assert outcome.err.count("\n") == 1


def test_ctrl_c_ends_the_wait_for_a_pipe():
    script = "import dumbbell; print('ready', flush=True); dumbbell.analyze('-')"
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)  # into the read
        process.send_signal(signal.SIGINT)
        # Its standard input stays open meanwhile.
        assert process.wait(timeout=20) != 0
        assert process.stderr is not None
        assert process.stderr.read().endswith("KeyboardInterrupt\n")
