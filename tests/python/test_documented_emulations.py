"""The summaries of `emulate` in the guide have the form that the command prints today."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from dumbbell.cli.print_emulation import broken, link_lines
from dumbbell.run.directions import Got, Way
from tests.python.documented import ROOT

#: The head of what a link did, in a page.
HEAD = re.compile(r"\s*(?:server → client|client → server)  ")
NUMBER = re.compile(r"\d[\d,.]*")
PAGES = [
    page for page in sorted((ROOT / "docs").glob("*.md"))
    if any(map(HEAD.match, page.read_text(encoding="utf-8").splitlines()))
]  # fmt: skip


def shapes(line: str) -> set[str]:
    """Return the parts of a line without numbers, and without the group that it may begin with."""
    text = NUMBER.sub("N", line.strip())
    if re.search(r"  N Mbit/s", text):
        text = text.partition("  ")[2].strip().replace("N + N + …", "N + N")
    return set(text.split("; "))


def printed() -> set[str]:
    """Return the shapes of all that can be printed of a link and its groups."""
    link: Any = {
        "link_rate_bps": 12_000_000, "utilization": 0.5, "offered_pkts": 10, "dropped_pkts": 1,
        "queue_delay_mean_us": 1000.0, "queue_delay_p95_us": 2000.0, "marked_pkts": 3,
        "lost_behind_pkts": 4,
    }  # fmt: skip
    one = Got(0, 1, 1, 1e6, 0.25, (1e6,), None, None)
    two = Got(1, 2, 1, 3e6, 0.75, (1e6, 2e6), 1000.0, 2000.0)
    found: set[str] = set()
    for name in ("bottleneck", "up"):
        for groups in ((one,), (two,), (one, two)):
            way = Way((name,), groups, 0.9)
            named: Any = {**link, "name": name}
            for line in link_lines(named, way, ["a", "b"]):
                found |= shapes(line)
    return found


def test_a_rate_that_was_changed_is_in_the_summary() -> None:
    link: Any = {
        "name": "up", "link_rate_bps": 20_000_000, "utilization": 0.5, "offered_pkts": 0,
        "dropped_pkts": 0, "queue_delay_mean_us": 0.0, "queue_delay_p95_us": 0.0,
    }  # fmt: skip
    head = next(iter(link_lines(link, None, [], [(3.25, 5_000_000)])))
    assert head.startswith("client → server  20mbit, 5mbit from 3.25 s, 50.0 % used; dropped 0")
    head = next(iter(link_lines(link, None, [], [(1, 10**6), (2, 2 * 10**6), (3, 3 * 10**6)])))
    assert head.startswith("client → server  20mbit, 2 changes, 3mbit from 3 s, 50.0 % used")


def test_a_line_that_is_wider_than_a_terminal_is_two() -> None:
    line = f"    {'a' * 30}  4.55 Mbit/s, 25.2 % (2.27 + 2.28); RTT mean 57.4 ms, p95 62.0 ms"
    first, second = broken(line, 80)
    assert first == f"    {'a' * 30}  4.55 Mbit/s, 25.2 % (2.27 + 2.28);"
    assert second == "        RTT mean 57.4 ms, p95 62.0 ms"
    assert broken(line, 120) == [line]


def test_there_are_pages_with_summaries() -> None:
    assert {page.stem for page in PAGES} >= {"emulate", "tutorial-quic-on-a-bad-path"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_summary_of_a_page_has_the_form_that_is_printed(page: Path) -> None:
    known, depth = printed(), 0
    for line in page.read_text(encoding="utf-8").splitlines():
        indent = len(line) - len(line.lstrip())
        if HEAD.match(line):
            depth = indent + 4
            assert shapes(line) <= known, line
        elif depth and indent == depth:
            assert shapes(line) <= known, line
        else:
            depth = 0
