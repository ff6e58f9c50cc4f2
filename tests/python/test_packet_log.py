"""`dumbbell analyze --packet-log` and `dumbbell.packet_log`: each packet at each link."""

from __future__ import annotations

import json

import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import dumbbell
from dumbbell.capture_analysis.packet_log import EVENTS


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """A run with its capture: ECN with FQ-CoDel, and more packets than its queue has room for."""
    place = tmp_path_factory.mktemp("run") / "run"
    scenario = dumbbell.Scenario(
        [dumbbell.Group("cubic", ecn=True), dumbbell.Group("reno")],
        rate="10mbit", rtt="20ms", queue="fq_codel:limit=30pkt,target=1ms", time="3s",
    )  # fmt: skip
    capture = dumbbell.Capture(place.parent / "capture.pcapng", points=["link"])
    run = dumbbell.run(scenario, capture=capture)
    run.save(place)
    return place


def test_marks_and_drops_are_those_of_the_run(directory):
    log = dumbbell.packet_log(directory)
    link = dumbbell.Run.load(directory).summary["bottleneck"]
    (seen,) = log.to_dict()["links"]
    assert seen["link"] == "bottleneck"
    assert seen["marked_pkts"] == link["marked_pkts"] > 0
    assert seen["drop_count"] == link["dropped_pkts"] > 0
    # 30, the one on the wire, and the one that comes before another is dropped for it.
    assert seen["backlog_max_pkts"] <= 32
    reasons = {row["reason"] for row in log.events.to_pylist() if row["event"] == "drop"}
    assert "active queue management" in reasons
    times = log.events["time_us"].to_numpy()
    assert (times[1:] >= times[:-1]).all()


def test_each_format_has_the_same_rows(directory, cli, tmp_path):
    log = dumbbell.packet_log(directory)
    names = log.events.column_names
    read = {
        ".arrow": pyarrow.feather.read_table,
        ".parquet": pq.read_table,
        ".csv": pyarrow.csv.read_csv,
    }
    for suffix, reader in read.items():
        file = tmp_path / f"log{suffix}"
        outcome = cli("analyze", str(directory), "--packet-log", str(file))
        assert outcome.code == 0, outcome.err
        assert "bottleneck" in outcome.out
        assert f"{log.events.num_rows:,} events in {file}" in outcome.out.replace("\n", "")
        table = reader(file)
        assert table.column_names == names
        assert table.num_rows == log.events.num_rows
        assert table["source_port"][0].as_py() in (10000, 10001)


def test_json_counts_by_link(directory, cli, tmp_path):
    outcome = cli("analyze", str(directory), "--packet-log", str(tmp_path / "log.arrow"), "--json")
    document = json.loads(outcome.out)
    assert set(document) == {"schema_version", "engine_version", "reading", "links"}
    (link,) = document["links"]
    assert {f"{event}_count" for event in EVENTS} <= set(link)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("log.txt",), "unknown format; use a name that ends in .arrow, .parquet, .csv"),
        (("log.arrow", "--match"), "--match cannot be combined with --packet-log"),
        (("log.arrow", "--out", "x"), "--out cannot be combined with --packet-log"),
    ],
)
def test_what_cannot_be_is_refused(directory, cli, tmp_path, words, said):
    file, *rest = words
    outcome = cli("analyze", str(directory), "--packet-log", str(tmp_path / file), *rest)
    assert outcome.code == 2
    assert said in outcome.err


def test_a_capture_of_hosts_alone_has_no_log(cli, tmp_path):
    path = tmp_path / "hosts.pcapng"
    capture = dumbbell.Capture(path, points=["sender"])
    dumbbell.run(dumbbell.Scenario(["reno"], time="1s"), capture=capture)
    outcome = cli("analyze", str(path), "--packet-log", str(tmp_path / "log.arrow"))
    assert outcome.code == 2
    assert "has no capture points at links" in outcome.err
