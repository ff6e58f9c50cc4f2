"""The measured tables of docs/notes/queues.md: still what is measured, still as published."""

import runpy
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def measurements() -> dict[str, Any]:
    """Return `tools/queue_measurements.py`, which writes the tables."""
    return runpy.run_path(str(DOCS.with_name("tools") / "queue_measurements.py"))


@pytest.fixture(scope="module")
def page() -> str:
    return (DOCS / "notes" / "queues.md").read_text(encoding="utf-8")


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
    assert f"| {' | '.join(row)} |" in page
    if adaptive == "on":
        # Floyd, Gummadi and Shenker 2001: between 0.4 and 0.6 of the range.
        assert row[4] == "yes"


@pytest.mark.parametrize(("flows", "rtt_ms"), [(50, 40), (20, 200), (50, 400)])
def test_red_oscillates_where_its_loop_is_unstable(measurements, page, flows, rtt_ms):
    row = measurements["stability_row"](flows, rtt_ms)
    assert f"| {' | '.join(row)} |" in page
    gain, moves = float(row[3]), float(row[7].removesuffix("%")) / 100
    assert moves > 1 if gain > 1 else moves < 0.2
    if gain > 1:
        expected_s, measured_s = (float(row[at].removesuffix(" s")) for at in (8, 9))
        assert measured_s == pytest.approx(expected_s, rel=0.2)


def test_the_model_of_red_is_the_paper_s():
    """Hollot et al. 2001: 60 flows, 0.2 s, 3750 packets/s: 175 packets, R = 0.246 s.

    L = 1.86e-4 and K = 0.005 are chosen so that the loop is just stable by Proposition 1.
    """
    loop = runpy.run_path(str(DOCS.with_name("tools") / "red_stability.py"))["Loop"]
    model = loop(60, 0.2, 3750, 130, 700, 1.86e-4 * (700 - 130), 0.005 / 3750)
    assert model.queue() == pytest.approx(175, abs=1)
    assert model.delay_s(model.queue()) == pytest.approx(0.246, abs=0.001)
    assert model.filter_per_s == pytest.approx(0.005, rel=1e-3)
    assert 0.9 < model.bound() < 1
    gain, _ = model.crossover()
    assert gain < 1
