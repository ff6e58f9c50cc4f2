"""Which point is the best, and what is said of it: the tables here are made up."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from dumbbell.capture_analysis.best_point import best_views
from dumbbell.capture_analysis.vantage import notes_of


def view(connection: int, point: str, vantage: str, payload: int, **words: Any) -> dict[str, Any]:
    return {
        "connection": connection, "point": point, "is_initiator": True, "vantage": vantage,
        "payload_bytes": payload, "pkts": 10, "rtt_handshake_us": 9.0, **words,
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


def test_a_refused_connection_is_shown_at_the_host_that_tried():
    """Its SYN and the reset are all there is: at the host that refuses it took 56 µs."""
    refused = view(0, "sender-0", "unknown", 0, rtt_handshake_us=56.0)
    tried = view(0, "receiver-0", "unknown", 0, rtt_handshake_us=60_224.0)
    passed = view(0, "bottleneck-in", "unknown", 0, rtt_handshake_us=None)
    assert [r["point"] for r in best(refused, tried, passed)] == ["receiver-0"]


def test_the_direction_with_more_payload_is_the_data_s():
    rows = best(
        view(0, "eth0", "receiver", 100), view(0, "eth0", "sender", 5000, is_initiator=False)
    )
    assert [(r["is_initiator"], r["is_data"]) for r in rows] == [(False, True), (True, False)]


def test_without_payload_it_is_the_initiator_s():
    rows = best(view(0, "eth0", "unknown", 0, is_initiator=False), view(0, "eth0", "unknown", 0))
    assert [(r["is_initiator"], r["is_data"]) for r in rows] == [(True, True), (False, False)]


def test_nothing_to_say_of_a_capture_at_the_sender():
    assert notes_of([{"connection": 0, "notes": ""}]) == []


def test_says_what_is_unreliable_and_of_which_connections():
    rows = [
        {"connection": 0, "notes": "offload"},
        {"connection": 1, "notes": "began_before_capture at_receiver"},
        {"connection": 3, "notes": "at_receiver something_new"},
    ]
    notes = notes_of(rows)
    assert [(note.about, note.connections) for note in notes] == [
        ("at_receiver", (1, 3)),
        ("began_before_capture", (1,)),
        ("offload", (0,)),
        ("something_new", (3,)),
    ]
    assert all(note.message for note in notes)
    assert notes[0].to_dict()["connections"] == [1, 3]
