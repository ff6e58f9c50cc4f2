"""Applications in a guest: the kernel engine's code, on the guest's sockets and clock."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

import pytest

import dumbbell
from dumbbell import Control, Group, Run, Scenario
from dumbbell.base.errors import Cancelled, EngineError
from dumbbell.scenario.traffic import applications
from tests.python.guests import built

SCENARIOS = Path(__file__).parents[2] / "scenarios"
PATH: dict[str, Any] = {"rate": "20mbit", "rtt": "20ms", "buffer": "1bdp", "sample": "100ms"}
#: One of each application, and what it drew, which does not depend on the path; `""`: transfers.
ONE_OF_EACH = {
    "poisson:load=30%,size=lognormal(p5=4kB;p95=100kB)": "offered_bytes",
    "deterministic:gap=100ms,size=uniform(10kB;50kB)": "offered_bytes",
    "onoff:on=exponential(200ms),off=exponential(200ms)": "",
    "rpc:request=100B,response=10kB,think=exponential(50ms)": "",
    "page:reading=500ms": "",
    "cbr:rate=2mbit": "",
    "datagram:preset=voip": "sent_datagrams",
    "video:preset=pensieve,rule=bba,chunks=off": "",
    "responsiveness": "",
}
#: How far what writes without end is ahead of its TCP when it pauses: 32 kB, and a write of 64 kB.
AHEAD_BYTES = 96 << 10
#: Datagrams that do not fit a packet.
TOO_LARGE = "datagram:rate=1mbit,size=9000B"


def simulated_and_in_guest(groups: list[Group | str], **words: Any) -> tuple[Run, Run]:
    scenario = Scenario.of(groups, **{**PATH, "time": "6s", **words})
    return dumbbell.run(scenario), dumbbell.run(scenario, engine="uml")


def times_ms(run: Run) -> list[float]:
    """Return how long each transfer of the first group took, in the order of their ends."""
    rows = run.tables["transfers"].to_pylist()
    ended = [row for row in rows if row["group"] == 0 and row["end_us"] is not None]
    return [(row["end_us"] - row["start_us"]) / 1000 for row in ended]


def test_each_application_is_tested():
    tested = {traffic.partition(":")[0] for traffic in ONE_OF_EACH}
    assert tested == {each for each in applications() if each != "bulk"}


@built
@pytest.mark.parametrize("traffic", ONE_OF_EACH)
def test_an_application_draws_and_gets_what_it_does_when_simulated(traffic):
    """Alone on the path, so that TCP's differences do not add up."""
    simulated, run = simulated_and_in_guest([Group("cubic", traffic=traffic)])
    assert run.verdict.status == "OK"
    drawn = ONE_OF_EACH[traffic]
    (one,), (other,) = simulated.summary["flows"], run.summary["flows"]
    pauses = simulated.tables["transfers"].num_rows if traffic.startswith("onoff") else 0
    about = 0.02 * one["received_bytes"]
    more_bytes = other["received_bytes"] - one["received_bytes"]
    assert -about <= more_bytes <= about + pauses * AHEAD_BYTES
    mine, theirs = (flow.get("application", {}) for flow in (other, one))
    assert mine.keys() == theirs.keys()
    if drawn:
        assert mine[drawn] == theirs[drawn] > 0
    assert run.tables.keys() == simulated.tables.keys()
    if simulated.tables["transfers"].num_rows:
        in_guest, of_simulator = times_ms(run), times_ms(simulated)
        assert len(in_guest) == pytest.approx(len(of_simulator), rel=0.02)
        more_ms = median(in_guest) - median(of_simulator)
        about, ahead_ms = 0.02 * median(of_simulator), 8 * AHEAD_BYTES / 20e6 * 1000
        assert -about <= more_ms <= about + (ahead_ms if pauses else 0)


@built
def test_one_seed_gives_the_same_bytes(tmp_path):
    scenario = Scenario.from_toml(SCENARIOS / "which-queue.toml").replace(time="4s")
    captures = [tmp_path / name for name in ("first.pcapng", "second.pcapng")]
    first, second = (dumbbell.run(scenario, engine="uml", capture=each) for each in captures)
    assert captures[0].read_bytes() == captures[1].read_bytes()
    assert first.summary == second.summary
    for name in first.tables:
        assert first.tables[name].equals(second.tables[name]), name


@built
def test_samples_are_in_order_and_an_algorithm_s_state_is_that_of_its_users():
    groups: list[Group | str] = [Group("bbr", traffic="cbr:rate=2mbit", flows=2), "copa"]
    run = dumbbell.run(groups, engine="uml", **PATH, time="3s")
    rows = run.tables["flows"].to_pandas()
    assert list(rows.flow) == 30 * [0, 1, 2]
    assert rows.time_us.is_monotonic_increasing
    state = run.tables["state-0-bbr"].to_pandas()
    assert len(state) == 60
    assert 15_000 < state.min_rtt_us[2:].median() < 25_000


@built
def test_programs_that_end_a_run_end_its_applications(tmp_path, monkeypatch):
    """What applications did until then is what is reported."""
    monkeypatch.chdir(tmp_path)
    groups: list[Group | str] = [
        Group("linux/cubic", client="sleep 2", server=""),
        Group("linux/cubic", traffic="rpc:request=100B,response=10kB,think=100ms"),
    ]
    run = dumbbell.run(groups, engine="uml", **PATH, time="30s")
    assert run.summary["duration_ns"] == pytest.approx(2e9, rel=0.01)
    ends_us = run.tables["transfers"].to_pandas().end_us
    assert 1_700_000 < ends_us.max() < 2_100_000


@built
def test_there_may_be_more_connections_than_linux_lets_a_process_have_files():
    """1,400 sockets, where 1,024 files are Linux's default."""
    traffic = "rpc:request=100B,response=1kB,think=1s"
    users = Group("linux/cubic", traffic=traffic, flows=700)
    run = dumbbell.run([users], engine="uml", **{**PATH, "sample": "1s"}, time="2s")
    assert {flow["connections"] for flow in run.summary["flows"]} == {1}


@built
def test_what_an_application_cannot_do_is_one_line():
    with pytest.raises(EngineError) as error:
        dumbbell.run([Group("cubic", traffic=TOO_LARGE)], engine="uml", **PATH, time="1s")
    assert "datagrams of 9000 B of group 0 do not fit a packet" in str(error.value)
    assert "\n" not in str(error.value)


@built
@pytest.mark.parametrize("ends_by", ["cancel", "error"])
def test_a_run_without_a_result_leaves_nothing(ends_by, tmp_path, monkeypatch):
    """Neither its directory, nor processes, which work there."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    control = Control()
    if ends_by == "cancel":
        scenario = Scenario.from_toml(SCENARIOS / "which-queue.toml")
        threading.Timer(1.5, control.cancel).start()
    else:
        scenario = Scenario.of([Group("cubic", traffic=TOO_LARGE)], **PATH, time="1s")
    with pytest.raises((Cancelled, EngineError)):
        dumbbell.run(scenario, engine="uml", control=control)
    until = time.monotonic() + 10
    while working_in(tmp_path) and time.monotonic() < until:
        time.sleep(0.05)
    assert working_in(tmp_path) == []
    assert [each for each in tmp_path.iterdir() if each.name.startswith("dumbbell-guest")] == []


def working_in(directory: Path) -> list[Path]:
    """Return processes by where they work, which the kernel calls deleted if it is."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            place = (process / "cwd").readlink()
        except OSError:
            continue
        if place.is_relative_to(directory):
            found.append(place)
    return found
