"""`dumbbell analyze` and `dumbbell.analyze` as a user meets them, on a connection made by hand."""

from __future__ import annotations

import fcntl
import gzip
import json
import signal
import subprocess
import sys
import termios
import time
import xml.etree.ElementTree as ET
from array import array
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dumbbell
from dumbbell import CaptureError, Group, Scenario
from dumbbell.capture_analysis.figures import draw_overview
from dumbbell.cli.capture_warnings import match_trouble, trouble
from dumbbell.plots.capture_source import CaptureSource
from tests.python.fixtures import MSS, capture_records, download, write_pcapng
from tests.python.oracles.pcap import Record, write_pcap


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    return write_pcap(tmp_path / "by_hand.pcap", capture_records())


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
    # With 54 bytes of headers on each of nine packets, and 12 of options on the SYN.
    assert row["throughput_bps"] == pytest.approx(5498 * 8 / 0.1801)
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
    assert "bad_checksum_pkts" not in document["reading"]  # checksums are not looked at
    assert [row["is_data"] for row in document["connections"]] == [True, False]
    assert document["notes"] == []
    several = json.loads(cli("analyze", str(capture), str(capture), "--json").out)
    assert [entry["file"] for entry in several] == [str(capture)] * 2


def test_json_of_all_points_has_the_datas_direction_first(cli, tmp_path):
    path = write_pcap(tmp_path / "download.pcap", download())
    for arguments in ((), ("--all-points",)):
        document = json.loads(cli("analyze", str(path), *arguments, "--json").out)
        rows = document["connections"]
        assert [(row["is_data"], row["is_initiator"]) for row in rows] == [
            (True, False), (False, True),
        ]  # fmt: skip
    run = tmp_path / "run.pcapng"
    dumbbell.run(dumbbell.Scenario(["cubic"], rate="10mbit", time="1s"), capture=run)
    whole = json.loads(cli("analyze", str(run), "--all-points", "--json").out)
    views = [(row["point"], row["is_data"]) for row in whole["connections"]]
    # The bottleneck sees one direction only.
    assert views == [
        ("sender-0", True), ("sender-0", False), ("receiver-0", True), ("receiver-0", False),
        ("bottleneck-in", True), ("bottleneck-out", True),
    ]  # fmt: skip


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


def test_a_short_connection_is_not_above_the_link_s_rate_nor_above_all(tmp_path):
    path = tmp_path / "r.pcapng"
    pages = Group("cubic", traffic="poisson:load=5%,size=uniform(10kB;12kB)", name="pages")
    scenario = Scenario(["cubic", pages], rate="20mbit", rtt="60ms", time="4s", seed=2)
    dumbbell.run(scenario, capture=dumbbell.Capture(path, points=["sender"]))
    analysis = dumbbell.analyze(path)
    short = [n for n in analysis.largest if 0 < analysis.row_of(n)["payload_bytes"] < 2e4]
    assert short
    figure, *_ = draw_overview(analysis)
    assert "together" in figure.curves[-1].label
    (together,) = (dict(zip(c.x, c.y, strict=True)) for c in figure.curves[-1:])
    for curve in figure.curves[:-1]:
        assert curve.y.max() < 1.2 * 20
        for x, y in zip(curve.x, curve.y, strict=True):
            assert y <= together.get(x, 0.0) + 1e-9
    source = CaptureSource(analysis, "r")
    for values in source.values("goodput"):
        assert values.values.max() < 1.2 * 20
        assert values.time_s is not None
        assert (np.diff(values.time_s) >= 0.06).all()


def test_segments_are_kept_on_request(capture):
    analysis = dumbbell.analyze(capture, segments=[0])
    kinds = analysis.segments_of(0)["kind"].cast(pa.string()).to_pylist()
    assert kinds.count("data") == 4
    assert kinds.count("retransmission") == 1
    with pytest.raises(dumbbell.ResultError, match="no segments were kept; choose connections"):
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
    path = tmp_path / f"by_hand.pcap.{suffix}"
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
        "empty": (empty, "is empty; use a capture file"),
        "directory": (tmp_path / "directory", "is a directory without capture.pcapng"),
    }


@pytest.mark.parametrize("kind", ["missing", "text", "empty", "directory"])
def test_a_file_that_is_not_a_capture_is_refused_in_one_line(cli, tmp_path, kind):
    path, says = bad_files(tmp_path)[kind]
    outcome = cli("analyze", str(path))
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"error: {path}")
    assert says in outcome.err
    assert outcome.err.count("\n") == 1
    with pytest.raises(CaptureError):
        dumbbell.analyze(path)


def test_an_unreadable_device_is_refused_in_one_line(cli):
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


MISSING = "missing: 1,234 packets at eth0, which the capturing machine dropped"


def test_packets_missed_by_the_capturing_machine_are_reported(cli, capture, tmp_path):
    path = write_pcapng(tmp_path / "missed.pcapng", capture_records(), missed_pkts=1234)
    assert MISSING in cli("analyze", str(path)).out
    matched = cli("analyze", str(capture), str(path), "--match").out
    assert f"after: {MISSING}" in matched
    assert "before: " not in matched
    assert cli("analyze", str(path), str(path), "--match").out.count(MISSING) == 1
    whole = write_pcapng(tmp_path / "whole.pcapng", capture_records(), missed_pkts=0)
    assert "missing: " not in cli("analyze", str(whole)).out


def test_connections_left_out_for_lack_of_memory_are_reported(capture):
    reading = dict(dumbbell.analyze(capture).reading)
    assert trouble(reading) == []
    reading["given_up"] = {"views": 2, "pkts": 3000, "payload_bytes": 4000}
    reading["dropped_segment_rows"] = 5000
    assert trouble(reading) == [
        "left out: 2 connections at a point, for lack of room, with 3,000 packets and 4,000 bytes "
        "of payload",
        "left out: 5,000 rows of segments, for lack of room; name fewer connections",
    ]
    both = dict(dumbbell.match_captures(capture, capture).reading)
    assert match_trouble(both, is_one_file=True) == []
    both |= {"hurried_pkts": 6000, "dropped_rows": 7000}
    assert [line[:27] for line in match_trouble(both, is_one_file=False)] == [
        "not waited for: 6,000 packe", "left out: 7,000 rows of pac",
    ]  # fmt: skip


def test_a_capture_of_quic_is_answered(cli, tmp_path):
    datagram = bytes.fromhex("4500001c000000004011000001010101020202021f901f9100080000")
    frame = bytes(12) + b"\x08\x00" + datagram
    path = write_pcap(tmp_path / "quic.pcap", [Record(0, frame, len(frame))])
    outcome = cli("analyze", str(path))
    assert outcome.code == 1
    assert "no TCP connection, and of UDP, like QUIC, only a run's capture says more" in outcome.out
    assert "--packet-log FILE.csv" in outcome.out


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
        (("--segments", "zero"), "invalid --segments `zero`: use numbers of connections, e.g. `0`"),
        (("--segments", "7"), "there is no connection 7; it has 1, counted from 0"),
        (("--interval", "100"), "interval `100` has no unit"),
        (("--interval", "0ms"), "interval `0ms` is zero"),
        (("--point", "eth7"), "has no point `eth7`"),
    ],
)
def test_bad_options_are_refused_in_one_line(cli, capture, arguments, says):
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
    out = cli("analyze", "--help-all").out
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


def test_every_key_of_a_reading_is_documented(capture):
    document = ANALYSIS_DOCUMENT.with_name("format-analysis.md").read_text(encoding="utf-8")
    reading = dumbbell.analyze(capture).reading
    keys = {*reading, *reading["given_up"], *reading["interfaces"][0]}
    keys |= {*dumbbell.match_captures(capture, capture).reading}
    assert {key for key in keys if f"`{key}`" not in document} == set()


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
        assert process.stdin is not None
        process.stdin.write("\n")  # as a capture begins
        process.stdin.flush()
        unread = array("i", [1])
        while unread[0] and process.poll() is None:
            time.sleep(0.01)
            fcntl.ioctl(process.stdin, termios.FIONREAD, unread)
        process.send_signal(signal.SIGINT)
        # Its standard input stays open meanwhile.
        assert process.wait() != 0
        assert process.stderr is not None
        assert process.stderr.read().endswith("KeyboardInterrupt\n")
