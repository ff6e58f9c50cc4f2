"""The measured tables of docs/queues.md: still what is measured, and still what was published."""

import runpy
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def measurements() -> dict[str, Any]:
    """Return `docs/queue_measurements.py`, which writes the tables."""
    return runpy.run_path(str(DOCS / "queue_measurements.py"))


@pytest.fixture(scope="module")
def page() -> str:
    return (DOCS / "queues.md").read_text(encoding="utf-8")


def test_codel_drops_at_the_times_of_linuxs_control_law(measurements, page):
    at_ms = measurements["overload_ms"]()
    # A packet has 0.3 ms on the wire, and the queue is looked at every 0.2 ms.
    for number, gap_ms in measurements["LINUX_GAPS_MS"].items():
        assert at_ms[number] - at_ms[number - 1] == pytest.approx(gap_ms, abs=0.6)
    for number, sum_ms in measurements["LINUX_SUMS_MS"].items():
        assert at_ms[number - 1] == pytest.approx(sum_ms, abs=1.1)
    assert measurements["overload_table"]() in page


@pytest.mark.parametrize(("flows", "adaptive"), [(10, "off"), (50, "on"), (100, "on")])
def test_red_s_average_is_the_page_s(measurements, page, flows, adaptive):
    row = measurements["red_row"](flows, adaptive)
    assert measurements["rows"](row, [])[: -len("| --- " * 7 + "|\n")] in page
    if adaptive == "on":
        # Floyd, Gummadi and Shenker 2001: between 0.4 and 0.6 of the range.
        assert row[4] == "yes"
