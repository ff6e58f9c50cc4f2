"""What the page that follows a run shows, from looks at a path, and of runs on the kernel."""

from __future__ import annotations

from typing import Any

import pytest

import dumbbell
from dumbbell import _core
from dumbbell.cli.live import look_at
from dumbbell.explore.history import WINDOW_S, History
from dumbbell.explore.live_page import LivePage


def look(time_s: float, received: list[int], backlog_bytes: int = 0) -> dict[str, Any]:
    """Return what a path with two flows says of itself."""
    return {
        "time_s": time_s,
        "links": [
            {
                "name": "bottleneck", "rate_bps": 10_000_000, "forwarded_bytes": sum(received),
                "dropped_pkts": 3, "marked_pkts": 0, "backlog_bytes": backlog_bytes,
                "backlog_pkts": 0,
            }
        ],
        "flows": [
            {"flow": number, "arrived_bytes": count, "rtt_us": 40_000 * (number + 1)}
            for number, count in enumerate(received)
        ],
    }  # fmt: skip


@pytest.fixture
def history() -> History:
    return History(dumbbell.Scenario(["copa", "cubic"], rate="10mbit"))


def test_rates_are_those_of_the_last_half_second(history):
    for step in range(21):
        history.add(look(step / 10, [100_000 * step, 0]))
    assert history.rate["copa"].value[-1] == pytest.approx(8)
    assert history.rate["cubic"].value[-1] == 0
    for step in range(21, 40):
        history.add(look(step / 10, [2_000_000, 0]))
    assert history.rate["copa"].value[-1] == 0, "the flow has stopped"


def test_a_queue_is_the_time_that_it_takes_to_send(history):
    history.add(look(0.1, [0, 0], backlog_bytes=50_000))
    assert history.queue["bottleneck"].value[-1] == pytest.approx(40)
    assert history.rtt["cubic"].value[-1] == pytest.approx(80)
    assert "bottleneck: 3 dropped" in history.caption


def test_what_is_old_is_forgotten(history):
    for step in range(10 * int(WINDOW_S) + 50):
        history.add(look(step / 10, [step, step]))
    times = history.rate["copa"].time_s
    assert times[-1] - times[0] <= WINDOW_S
    assert len(times) == len(history.rate["copa"].value)


def test_a_page_stops_looking_at_a_path_that_is_no_more(capsys):
    class Stopped:
        def snapshot(self) -> str:
            raise _core.EngineError("the emulation has been stopped; start another")

    path: Any = Stopped()
    with LivePage(dumbbell.Scenario(["cubic"]), lambda: look_at(path)) as page:
        page.looking.join()
        assert not page.is_over.is_set(), "the page is still there"
    assert capsys.readouterr().err == "", "no traceback of a thread"
    with pytest.raises(dumbbell.EngineError, match="has been stopped"):
        look_at(path)


@pytest.mark.kernel
def test_a_run_that_is_followed_has_its_result(cli, nothing_left):
    outcome = cli("run", "linux/cubic", "--engine", "kernel", "--time", "2s", "--live")
    assert outcome.code in (0, 1), outcome.err
    assert "note: it is shown at http://127.0.0.1:" in outcome.err
    assert "verdict" in outcome.out


@pytest.mark.kernel
def test_a_command_that_is_followed_keeps_its_exit_code(cli, nothing_left):
    outcome = cli("emulate", "--live", "--", "sh", "-c", "exit 7")
    assert outcome.code == 7
    assert "it is shown at http://127.0.0.1:" in outcome.err
