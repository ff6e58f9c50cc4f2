"""`dumbbell run --watch`: what one flow does, second by second."""

from __future__ import annotations

import pytest


def test_state_and_flow_series_are_rows_over_time(cli):
    outcome = cli(
        "run", "copa", "cubic", "--watch", "0:mode,cwnd", "--every", "500ms", "--time", "3s",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    table = outcome.out.partition("50mbit, 40ms")[0].splitlines()
    rows = [line.split() for line in table if line.strip()[:1].isdigit()]
    assert [row[0] for row in rows] == ["0.5", "1", "1.5", "2", "2.5", "3"]
    assert {row[1] for row in rows} <= {"default", "competitive"}
    assert all(int(row[2]) > 0 for row in rows)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--watch", "mode"], "names no flow"),
        (["--watch", "3:mode"], "there is no flow 3 to watch; flows are 0 to 1"),
        (["--watch", "0:modes"], "flow 0 has no series `modes`; did you mean `mode`?"),
        (["--watch", "1:mode"], "flow 1 has no series `mode`"),
        (["--watch", "0", "--every", "1us"], "makes more than 1,000 rows"),
        (["--watch", "0", "--sample", "0s"], "needs time series"),
        (["--watch", "0", "--json"], "prints a table"),
    ],
)
def test_what_cannot_be_watched_is_refused(cli, words, why):
    outcome = cli("run", "copa", "reno", "--time", "1s", *words)
    assert outcome.code == 2
    assert why in outcome.err


def test_the_goodput_of_a_row_is_that_of_its_whole_interval(cli):
    """A single sample may hold nothing, or a burst: a flow of 5 Mbit/s wrote 0 and 48."""
    out = cli(
        "run", "cubic", "--watch", "0:goodput", "--every", "1s", "--time", "4s",
        "--rate", "10mbit", "--traffic", "cbr:rate=5mbit",
    )  # fmt: skip
    assert out.code == 0, out.err
    rows = [line.split() for line in out.out.splitlines()]
    rates = [float(row[1]) for row in rows if len(row) == 2 and row[0] in ("2", "3", "4")]
    assert len(rates) == 3
    assert all(abs(rate - 5e6) < 0.3e6 for rate in rates), rates
