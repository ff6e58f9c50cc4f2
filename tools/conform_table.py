"""Writes the table of notes/conform.md: stacks and algorithms against their references.

``python tools/conform_table.py`` takes ten minutes.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from markdown_tables import markdown_table, replace_some  # next to this file

from dumbbell.statistics import Interval
from dumbbell_studies.conform import TRANSPORT, Conformance, conform

PAGE = Path(__file__).parents[1] / "docs" / "notes" / "conform.md"
#: Each with its reference.
PAIRS = [
    ("quic/quinn:cubic", "cubic"),
    ("quic/quinn@0.11.14:cubic", "cubic"),
    ("quic/noq:cubic", "cubic"),
    ("quic/noq:dumbbell/cubic", "cubic"),
    ("quic/quinn:reno", "reno"),
    ("quic/noq:reno", "reno"),
    ("quic/noq:dumbbell/reno", "reno"),
    ("quic/quinn:bbr", "bbr"),
    ("quic/noq:bbr", "bbr"),
    ("quic/noq:bbr3", "bbr3"),
    ("quic/noq@1.1.0:bbr3", "bbr3"),
    ("quic/noq:dumbbell/bbr3", "bbr3"),
    ("quic/noq:copa", "copa"),
    ("quic/quinn@0.11.14:cubic", "quic/quinn:cubic"),
    ("quic/noq@1.1.0:bbr3", "quic/noq@1.2.0:bbr3"),
    ("quic/noq@1.2.0:bbr3", "quic/noq:bbr3"),
    ("cubic:beta=870", "cubic"),
    ("reno", "cubic"),
]


def shown(interval: Interval) -> str:
    """Write a conformance with its interval."""
    return f"{interval.mean:.2f} [{interval.low:.2f}, {interval.high:.2f}]"


def sentences(result: Conformance, *, of_transport: bool) -> str:
    """Return the differences of one side in words."""
    words = [
        each.sentence for each in result.differing if (each.check.of == TRANSPORT) is of_transport
    ]
    return "; ".join(words) or "–"


def row(result: Conformance) -> list[str]:
    """Return the row of a pair."""
    test, reference = (each / 1e6 for each in result.goodputs_bps)
    moved = sum(each.translated for each in result.cells) / len(result.cells)
    return [
        f"`{result.test}`", f"`{result.reference}`", f"{test:.1f} / {reference:.1f}",
        shown(result.conformance) + (", low" if result.is_low else ""), shown(result.floor),
        f"{moved:.2f}", sentences(result, of_transport=False), sentences(result, of_transport=True),
    ]  # fmt: skip


def main() -> None:
    """Replace the table."""
    head = (
        "test", "reference", "goodput", "conformance", "with itself", "moved",
        "of the algorithm", "of the transport",
    )  # fmt: skip
    body = []
    for test, reference in PAIRS:
        result = conform(test, reference)
        if result.invalid_runs:
            raise SystemExit(f"error: {test} against {reference} has INVALID runs")
        body.append(row(result))
        print(*body[-1], sep=" | ", flush=True)
    text = PAGE.read_text(encoding="utf-8")
    made = {"conform": markdown_table(head, body)}
    PAGE.write_text(replace_some(text, made), encoding="utf-8")


if __name__ == "__main__":
    main()
