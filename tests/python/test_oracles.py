"""tcptrace and tshark agree with us, but for what docs/notes/analysis.md lists.

`CASES` and `RUN_CASES` give captures of the kernel engine `pytest.mark.kernel`.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

import dumbbell
from tests.python.oracles import tcptrace, tshark
from tests.python.oracles.captures import CASES, RUN_CASES, Captured, build
from tests.python.oracles.comparison import Rule, compare, our_rows
from tests.python.oracles.flow_figures import Direction
from tests.python.oracles.programs import needs, run
from tests.python.oracles.rules import TCPTRACE, TSHARK

pytestmark = pytest.mark.slow

# tshark separates the points of a capture, for tcptrace too.
needs_tcptrace = needs("tcptrace", "tshark")
needs_tshark = needs("tshark", "capinfos")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def captured(tmp_path_factory):
    """Make each capture once; tests of one follow one another, so that they share a worker."""

    @functools.cache
    def of(name: str) -> Captured:
        return build(name, tmp_path_factory.mktemp(name))

    return of


@needs_tcptrace
@pytest.mark.parametrize("name", CASES, scope="module")
def test_tcptrace_agrees(captured, name):
    for point, path in captured(name).points.items():
        assert compare(our_rows(path), tcptrace.measure(path), TCPTRACE) == [], point


@needs_tshark
@pytest.mark.parametrize("name", CASES, scope="module")
def test_tshark_agrees(captured, name):
    for point, path in captured(name).points.items():
        assert compare(our_rows(path), tshark.measure(path), TSHARK) == [], point


@needs_tshark
@pytest.mark.parametrize("name", CASES, scope="module")
def test_nothing_is_malformed_and_every_packet_is_read(captured, name):
    path = captured(name).path
    if captured(name).run is not None:
        assert tshark.expert_lines(path) == []
    counted = re.search(r"Number of packets:\s*(\d+)", run("capinfos", "-M", "-c", path))
    assert counted is not None
    assert dumbbell.analyze(path).reading["packets"] == int(counted[1])


@needs_tshark
@pytest.mark.parametrize("name", RUN_CASES, scope="module")
def test_a_point_alone_is_what_it_is_among_the_others(captured, name):
    """Of the whole capture in ns, and of the point's own in µs."""
    capture = captured(name)
    whole = dumbbell.analyze(capture.path).connections.to_pylist()
    for point, path in capture.points.items():
        alone = our_rows(path)
        rows = [row for row in whole if row["point"] == point]
        assert len(rows) == len(alone)
        for row in rows:
            same = next(
                other
                for direction, other in alone.items()
                if direction.source == row["source"]
                and direction.source_port == row["source_port"]
                and direction.destination_port == row["destination_port"]
            )
            counts = [key for key in row if key.endswith(("_pkts", "_count")) or key == "pkts"]
            assert {key: row[key] for key in counts} == {key: same[key] for key in counts}


@needs_tcptrace
def test_the_captures_show_what_they_are_for(captured):
    """Otherwise the oracles would have nothing to compare."""

    def total(name: str, point: str, column: str) -> int:
        rows = our_rows(captured(name).points[point]).values()
        return sum(int(row[column]) for row in rows)

    assert total("no-loss", "sender-0", "retransmitted_pkts") == 0
    assert 0 < total("light-loss", "sender-0", "retransmitted_pkts") < 50
    assert total("heavy-loss", "sender-0", "retransmitted_pkts") > 500
    assert total("timeouts", "sender-0", "rto_retransmitted_pkts") > 100
    assert len(our_rows(captured("128-flows").points["sender-0"])) == 256
    assert total("reordered", "reordered", "out_of_order_pkts") > 500
    # Each side of the ten closes; a FIN that is lost is sent again.
    closes = our_rows(captured("sized").points["sender-0"]).values()
    assert [int(row["fin_count"]) > 0 for row in closes] == [True] * 20


DIRECTION = Direction("192.0.2.1", 40_000, "198.51.100.7", 443)


def test_a_figure_that_an_oracle_does_not_have_is_not_zero(monkeypatch):
    rule = Rule("rst_count", lambda row: row["rst_count"], exact_to=1.0)
    ours = {DIRECTION: {"rst_count": 0}}
    assert compare(ours, {DIRECTION: {"rst_count": None}}, [rule]) == []  # it says NA
    with pytest.raises(KeyError, match="rst_count"):
        compare(ours, {DIRECTION: {}}, [rule])
    (differs,) = compare({DIRECTION: {"rst_count": 1}}, {DIRECTION: {"rst_count": None}}, [rule])
    assert differs.endswith("ours 1, theirs None")
    # tcptrace without its column, as another version might be.
    table = "host_a,port_a,host_b,port_b\n192.0.2.1,40000,198.51.100.7,443\n"
    monkeypatch.setattr(tcptrace, "run", lambda *_: table)
    with pytest.raises(KeyError, match="total_packets_a2b"):
        tcptrace.measure(Path("any.pcap"))


def test_only_na_is_absent():
    assert tcptrace.number(" NA") is None
    assert tcptrace.number(" 1.5 ") == 1.5
    for unknown in ("", "n/a"):
        with pytest.raises(ValueError, match="could not convert"):
            tcptrace.number(unknown)


def test_every_known_difference_is_documented():
    document = (ROOT / "docs" / "notes" / "analysis.md").read_text(encoding="utf-8")
    known = {rule.known for rule in (*TCPTRACE, *TSHARK)} - {""}
    assert known
    assert [name for name in known if f"| {name} |" not in document] == []
