"""How long it will take: said when runs have shown it, and not before."""

from __future__ import annotations

import pytest

from dumbbell.runs import Progress
from dumbbell.terminal.console import progress_bar


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that stands where the test sets it, s."""
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def test_runs_that_only_set_up_show_no_pace(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    with progress_bar("running on the kernel", is_even=True) as bar:
        # Of ten runs of 30 s two go on at a time, and take 2 s to begin.
        for at_s in (0.0, 1.0, 2.0, 2.1, 10.0):
            clock[0] = at_s
            bar.at_run(Progress(0, 10, 2 * max(0.0, at_s - 2), 300))
        assert capsys.readouterr().err == ""
        clock[0] = 32.0
        bar.at_run(Progress(1, 10, 60, 300))
        assert capsys.readouterr().err == "note: about 2 min left at this pace; Ctrl-C ends it\n"


def test_runs_that_were_found_show_no_pace(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    with progress_bar("simulating", is_even=True) as bar:
        bar.at_run(Progress(0, 10, 0, 100))
        clock[0] = 1.0
        bar.at_run(Progress(5, 10, 50, 100, cached=5))
        clock[0] = 20.0
        bar.at_run(Progress(5, 10, 55, 100, cached=5))
        assert capsys.readouterr().err == ""
        clock[0] = 41.0
        bar.at_run(Progress(6, 10, 60, 100, cached=5))
        # One in 40 s, and four to go.
        assert capsys.readouterr().err == "note: about 3 min left at this pace; Ctrl-C ends it\n"
