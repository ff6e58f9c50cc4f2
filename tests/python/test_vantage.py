"""Which point is the best, and what is said of it: the tables here are made up."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dumbbell.analysis.best_point import best_views
from dumbbell.analysis.vantage import notes_of


def view(connection: int, point: str, vantage: str, payload: int, **words: Any) -> dict[str, Any]:
    return {
        "connection": connection, "point": point, "is_initiator": True, "vantage": vantage,
        "payload_bytes": payload, "pkts": 10, **words,
    }  # fmt: skip


def best(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    chosen: list[dict[str, Any]] = best_views(pa.Table.from_pylist(list(rows))).to_pylist()
    return chosen


def test_the_sender_s_point_goes_first():
    rows = best(
        view(0, "receiver-0", "receiver", 900),
        view(0, "bottleneck-in", "middle", 1000),
        view(0, "sender-0", "sender", 1000),
        view(0, "sender-0", "receiver", 0, is_initiator=False),
        view(1, "bottleneck-out", "middle", 500),
        view(1, "receiver-0", "receiver", 500),
    )
    assert [(r["connection"], r["point"], r["is_data"]) for r in rows] == [
        (0, "sender-0", True),
        (0, "sender-0", False),
        (1, "bottleneck-out", True),
    ]


def test_the_point_that_saw_more_goes_first_among_equals():
    rows = best(view(0, "a", "middle", 5, pkts=9), view(0, "b", "middle", 5, pkts=10))
    assert [r["point"] for r in rows] == ["b"]


def test_the_direction_with_more_payload_is_the_data_s():
    rows = best(
        view(0, "eth0", "receiver", 100), view(0, "eth0", "sender", 5000, is_initiator=False)
    )
    assert [(r["is_initiator"], r["is_data"]) for r in rows] == [(False, True), (True, False)]


def test_without_payload_it_is_the_initiator_s():
    rows = best(view(0, "eth0", "unknown", 0, is_initiator=False), view(0, "eth0", "unknown", 0))
    assert [(r["is_initiator"], r["is_data"]) for r in rows] == [(True, True), (False, False)]


def noted(**words: Any) -> dict[str, Any]:
    return {
        "connection": 0, "is_data": True, "vantage": "sender", "pkts": 10, "data_pkts": 9,
        "payload_bytes": 9000, "rtt_count": 5, "began_before_capture": False, "offload": False,
        "missing_bytes": 0, "duplicate_pkts": 0, **words,
    }  # fmt: skip


ACKS = noted(is_data=False, payload_bytes=0)


def test_nothing_to_say_of_a_capture_at_the_sender():
    assert notes_of([noted(), ACKS]) == []


@pytest.mark.parametrize(
    ("words", "about"),
    [
        ({"vantage": "receiver"}, "receiver"),
        ({"vantage": "middle"}, "middle"),
        ({"vantage": "unknown"}, "unknown"),
        ({"began_before_capture": True}, "began before capture"),
        ({"offload": True}, "offload"),
        ({"missing_bytes": 1}, "missing"),
        ({"duplicate_pkts": 1}, "captured twice"),
    ],
)
def test_says_what_is_unreliable(words, about):
    (note,) = notes_of([noted(**words), ACKS])
    assert (note.about, note.connections) == (about, (0,))
    assert note.message


def test_one_direction_has_no_rtt():
    (note,) = notes_of([noted(rtt_count=0)])
    assert note.about == "one direction"


def test_connections_share_a_note():
    rows = [noted(connection=n, offload=n % 2 == 0) for n in range(5)]
    assert [note.connections for note in notes_of([*rows, ACKS]) if note.about == "offload"] == [
        (0, 2, 4)
    ]
