"""The pytest plugin, used as a congestion control's repository would use it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

#: As pytest finds it wherever dumbbell is installed.
PLUGIN = ("-p", "dumbbell.testing.plugin")

SUITE = """\
reps = 3
rate = "10mbit"
time = "4s"
sample = "0s"

[[case]]
name = "alone"
judge = { utilization = "5%", queue_delay_mean_us = "5% + 1ms" }

[[case.group]]
cc = "{cc}"
"""

STRICT = """
[[case]]
name = "strict"
require = ["queue_delay_mean_us <= 1ms"]

[[case.group]]
cc = "{cc}"
"""

GATED = """\
import os

def test_no_regression(dumbbell_gate):
    dumbbell_gate("mine.toml", cc=os.environ.get("CC_UNDER_TEST", "cubic"), baseline="base")
"""


def test_assertions_pass_and_fail_with_the_numbers(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        from dumbbell import Group, Scenario
        from dumbbell.testing import assert_criteria, assert_fair

        ALIKE = Scenario([Group("reno", 2)], rate="10mbit", time="10s", sample="0s")

        def test_alike(dumbbell_run):
            assert_fair(dumbbell_run(ALIKE), jain=0.8)

        def test_same_scenario_runs_once(dumbbell_run):
            assert dumbbell_run(ALIKE) is dumbbell_run(ALIKE.replace())

        def test_unlike(dumbbell_run):
            run = dumbbell_run(["bbr", "reno"], rate="10mbit", time="10s", buffer="0.5bdp")
            assert_fair(run, jain=0.999)

        def test_bounds(dumbbell_run):
            run = dumbbell_run(ALIKE, buffer="4bdp")
            assert_criteria(run, "utilization >= 90%", "queue_delay_mean_us <= 1us")

        def test_others(dumbbell_run):
            run = dumbbell_run(["bbr", "reno"], rate="10mbit", time="10s", buffer="0.5bdp")
            assert_criteria(run, "others.share >= 99%", "share >= 1%", tested=0)
        """
    )
    result = pytester.runpytest_inprocess(*PLUGIN)
    result.assert_outcomes(passed=2, failed=3)
    result.stdout.fnmatch_lines(
        [
            "*AssertionError: jain >= 0.999: jain is 0.*",
            "*10mbit, 40ms, buffer 0.5bdp, 10s, seed 1, simulator:*",
            "*group 0 (bbr): * Mbit/s",
            "*AssertionError: queue_delay_mean_us <= 0.001 ms: queue_delay_mean_us is * ms",
            "*AssertionError: others.share >= 99 %: share is * % in group 1 (reno)",
        ]
    )


def test_a_grid_is_a_test_per_cell(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        from dumbbell import Scenario
        from dumbbell.testing import assert_criteria, grid

        @grid(Scenario(["cubic", "reno"], rate="5mbit", time="3s"), buffer="1..2bdp",
              cubic__flows=[1, 2])
        def test_used(dumbbell_run, scenario):
            assert_criteria(dumbbell_run(scenario), "utilization >= 50%")
        """
    )
    result = pytester.runpytest_inprocess(*PLUGIN, "-v")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["*test_used?buffer=1bdp,cubic.flows=2? PASSED*"])


def test_a_gate_is_recorded_and_then_compared_with(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makefile(".toml", mine=SUITE)
    pytester.makepyfile(GATED)
    result = pytester.runpytest_inprocess(*PLUGIN)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*base: holds no baseline; record it with `--dumbbell-record`"])

    pytester.runpytest_inprocess(*PLUGIN, "--dumbbell-record").assert_outcomes(skipped=1)
    pytester.runpytest_inprocess(*PLUGIN).assert_outcomes(passed=1)

    monkeypatch.setenv("CC_UNDER_TEST", "cubic:beta=950")
    result = pytester.runpytest_inprocess(*PLUGIN)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*gate failed*", "*alone: mean queueing delay is worse: * → *"])

    monkeypatch.delenv("CC_UNDER_TEST")
    pytester.makefile(".toml", mine=SUITE.replace("4s", "5s"))
    result = pytester.runpytest_inprocess(*PLUGIN)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the suite has changed since it was recorded*"])


def test_a_suite_without_a_baseline_is_judged_by_its_criteria(pytester: pytest.Pytester) -> None:
    pytester.makefile(".toml", mine=SUITE + STRICT)
    pytester.makepyfile(
        """
        from dumbbell.testing import assert_suite

        def test_alone():
            assert assert_suite("mine.toml", "cubic", cases=["alone"]).passed

        def test_strict():
            assert_suite("mine.toml", "cubic")
        """
    )
    result = pytester.runpytest_inprocess(*PLUGIN)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*strict: queue_delay_mean_us <= 1 ms is missed: the mean is * ms"]
    )


def test_the_plugin_is_announced_to_pytest() -> None:
    """pyproject.toml names it, so that an installed dumbbell needs no `-p`."""
    project = tomllib.loads(
        (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    )["project"]
    assert project["entry-points"]["pytest11"] == {PLUGIN[1]: PLUGIN[1]}
