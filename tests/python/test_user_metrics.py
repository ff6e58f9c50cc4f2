"""Metrics that a user registers: in runs, sweeps, gates and plots, as dumbbell's own."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

import dumbbell
from dumbbell import ResultError, Scenario, Sweep, SweepResult
from dumbbell.gate import build_suite, evaluate, run_suite
from dumbbell.metrics import METRICS, Observation, Warmup, measure, register

SCENARIO = Scenario(["copa", "cubic"], time="2s")


def rtt_spread(obs: Observation) -> list[float | None]:
    """Largest minus smallest mean RTT of a group's flows."""
    means = [[obs.flows[n]["rtt_mean_us"] for n in numbers] for numbers in obs.members]
    return [max(each) - min(each) for each in means]


def test_it_is_measured_of_runs() -> None:
    register(unit="us", title="spread of RTTs", better="lower", per="group")(rtt_spread)
    register(name="mean_cwnd", unit="pkts")(
        lambda obs: obs.run.flows["cwnd_pkts"].to_numpy().mean()
    )
    run = dumbbell.run(SCENARIO)
    rows = measure(run)
    assert [row["rtt_spread"] for row in rows] == METRICS["rtt_spread"].of(run) == [0, 0]
    assert rows[0]["mean_cwnd"] == rows[1]["mean_cwnd"] > 1
    assert METRICS["rtt_spread"].shown_unit == "ms"
    assert METRICS["mean_cwnd"].title == "mean_cwnd"
    assert measure(run, Warmup.parse("1s"))[0]["rtt_spread"] == 0


def test_it_is_a_column_of_sweeps_with_the_same_cache(tmp_path: Path) -> None:
    sweep = Sweep(SCENARIO, {"buffer": "1..2bdp"})
    sweep.run(cache=tmp_path / "cache", out=tmp_path / "out")
    # The runs of the sweep are not executed again; they are measured by what was kept of them.
    register(per="group", name="always_one")(lambda obs: [1.0 for _ in obs.groups])
    again = sweep.run(cache=tmp_path / "cache", out=tmp_path / "out")
    assert again.rows["always_one"].to_pylist() == [1.0] * 4
    assert SweepResult.load(tmp_path / "out").rows["always_one"].to_pylist() == [1.0] * 4
    # Another function of that name: its values, not those of the first.
    register(per="group", name="always_one")(lambda obs: [2.0 for _ in obs.groups])
    assert SweepResult.load(tmp_path / "out").rows["always_one"].to_pylist() == [2.0] * 4


def test_worker_processes_have_it() -> None:
    register(unit="us", per="group")(rtt_spread)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        result = Sweep(SCENARIO, {}).run(cache=False, executor=pool)
    assert result.rows["rtt_spread"].to_pylist() == [0, 0]


def test_it_stops_a_sweep_is_compared_and_drawn(cli, tmp_path: Path) -> None:
    register(unit="us", title="spread of RTTs", better="lower", per="group")(rtt_spread)
    sweep = Sweep(SCENARIO, {"buffer": "1..2bdp"}, reps=2, until_ci="1ms", metric="rtt_spread")
    sweep.run(cache=False, out=tmp_path / "out")
    drawn = cli(
        "plot", str(tmp_path / "out"), "--metric", "rtt_spread", "--out", str(tmp_path / "p")
    )
    assert drawn.code == 0, drawn.err
    assert [path.stem for path in (tmp_path / "p").glob("*.svg")] == ["rtt_spread"]
    result = dumbbell.compare(tmp_path / "out", tmp_path / "out", metrics=["rtt_spread"])
    assert {entry.metric.title for entry in result.comparisons} == {"spread of RTTs"}


def test_a_suite_asks_for_it() -> None:
    register(unit="us", better="lower", per="group")(rtt_spread)
    case = {
        "name": "alone", "time": "2s", "reps": 3, "group": [{"cc": "{cc}", "flows": 2}],
        "judge": {"rtt_spread": "5%"}, "require": ["rtt_spread <= 0ms"],
    }  # fmt: skip
    suite = build_suite("mine", {"case": [case]})
    after = run_suite(suite, "cubic", cache=False)
    gate = evaluate(after, after)
    assert [c.change for c in gate.comparisons] == ["identical"]
    (outcome,) = gate.criteria
    assert outcome.met == "missed before as well"
    assert outcome.mean is not None
    assert outcome.mean > 0


@pytest.mark.parametrize(
    ("per", "value", "said"),
    [
        ("group", 1.0, "metric `x` returned `1.0`; expected a list of 2 numbers, one per group"),
        ("group", [1.0], "expected a list of 2 numbers"),
        (
            "run",
            [1.0, 2.0],
            "which is not a number; a metric of each group is registered with `per",
        ),
        ("run", "fast", "metric `x` returned `fast`, which is not a number"),
    ],
)
def test_wrong_values_are_named(per, value, said, short_run) -> None:
    register(per=per, name="x")(lambda _: value)
    with pytest.raises(ResultError) as caught:
        measure(short_run)
    assert said in str(caught.value)


def test_what_is_not_finite_is_no_value(short_run) -> None:
    register(name="x")(lambda _: float("nan"))
    assert measure(short_run)[0]["x"] is None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("jain", "`jain` is one of dumbbell's own metrics; choose another name"),
        ("my metric", "`my metric` cannot name a metric; use letters, digits and `_`"),
        ("verdict", "`verdict` cannot name a metric"),
    ],
)
def test_names_that_are_refused(name, said) -> None:
    with pytest.raises(ResultError) as caught:
        register(name=name)(lambda _: 1.0)
    assert said in str(caught.value)
