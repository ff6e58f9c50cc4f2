"""The simulator against what was measured on the kernel: tests/data, by `dumbbell validate --save`.

No root is needed: the kernel's numbers are data. A case's number is the mean over its runs.
"""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from dumbbell.compare import Comparison
from dumbbell.compare.engines import (
    TRAFFIC_METRIC_NAMES,
    compare_engines,
    engine_difference,
    relative_difference,
    summarize,
)
from dumbbell.compare.measurements import Measurement, load
from dumbbell.metrics import AllMetrics
from dumbbell.runs import measure_all

pytestmark = pytest.mark.slow

FILES = sorted((Path(__file__).parents[1] / "data").glob("kernel-*.json"))
CASES = [
    pytest.param(path, index, id=f"{path.stem}:{case.name}")
    for path in FILES
    for index, case in enumerate(load(path))
]
CASES_OF_QUEUES = [case for case in CASES if "queues" in str(case.id)]

#: Medians of the RTT that are further off, by case and group, and why. One that is not any more
#: has to go.
TWO_STATES = (
    "it settles near 110 ms or at 132 to 211 ms; one of three runs on the kernel and 20 of 40 "
    "seeds of the simulator did the latter (docs/notes/fidelity.md)"
)
KNOWN_RTT = {
    ("copa and bbr, n = 1, 8 BDP", 1): TWO_STATES,
}

#: Runs of the simulator per case, at least.
SEEDS = 5
#: More of them where the seed decides more than the engine: runs lie up to twofold apart.
SEEDS_OF_CASE = {
    "copa and bbr, n = 1, 8 BDP": 40, "copa and bbr, n = 4, 8 BDP": 40,
    # A few runs have most of the drops: where BBR overshoots at its start or after PROBE_RTT.
    "codel-drops": 40, "dualpi2-drops": 40, "fq_pie-drops": 40, "fq_pie-marks": 40,
    "pie-drops": 40, "trace": 40, "wifi": 40,
}  # fmt: skip
#: In points of throughput share, and in parts of the median RTT.
MEAN_SHARE, WORST_SHARE, RTT_P50 = 0.05, 0.12, 0.10
#: Of the times of transfers, in parts of the kernel's: by what their metrics' names have.
TIMES = {"_p50_": 0.10, "_p95_": 0.20}
#: Metrics that are further off, by case; docs/notes/fidelity.md says why.
KNOWN_TIMES: dict[str, tuple[str, ...]] = {}
#: Rates of drops and marks: by how much they may be off in parts of the kernel's, and in packets of
#: packets where they are rare.
RATES, FEW = 0.20, 0.0005
#: Rates that are further off, by case; docs/notes/fidelity.md says why.
KNOWN_RATES: dict[str, tuple[str, ...]] = {"trace": ("drop_rate",), "wifi": ("drop_rate",)}
#: Of queues and paths no share is further off, in points.
WORST_SHARE_OF_QUEUES = 0.05


@functools.cache
def measured(path: Path) -> list[Measurement]:
    return load(path)


@functools.cache
def compared(path: Path, index: int) -> list[Comparison]:
    """Compare a case with as many simulated runs as were measured, or more.

    Tests of a case follow one another, so that they share a worker.
    """
    case = measured(path)[index]
    first = case.scenario.replace(sample="0s")
    seeds = range(first.seed, first.seed + SEEDS_OF_CASE.get(case.name, max(SEEDS, len(case.reps))))
    each = [(seed, first.replace(seed=seed)) for seed in seeds]
    runs = measure_all(each, lambda _: AllMetrics())
    ccs = [str(group.cc) for group in first.groups]
    return compare_engines(case.name, ccs, [rows for _, rows in runs.values()], case.values)


def test_there_are_measurements():
    assert FILES, "tests/data/kernel-*.json is missing; `dumbbell validate … --save` writes it"


@pytest.mark.parametrize(("path", "index"), CASES, scope="module")
def test_no_share_or_median_rtt_is_far_off(path, index):
    far = []
    for entry in compared(path, index):
        if entry.metric.name == "share":
            difference = engine_difference(entry)
            assert difference is not None, "no valid run was measured"
            worst = WORST_SHARE_OF_QUEUES if "queues" in path.stem else WORST_SHARE
            if abs(difference) > worst:
                far.append(f"share of {entry.cc_a}: {100 * difference:+.1f} points")
        if entry.metric.name == "rtt_p50_us":
            relative = relative_difference(entry)
            assert relative is not None, "no RTT was measured"
            is_far = abs(relative) > RTT_P50
            if is_far != ((measured(path)[index].name, entry.group) in KNOWN_RTT):
                far.append(f"RTT p50 of group {entry.group}, {entry.cc_a}: {relative:+.1%}")
    assert far == []


@pytest.mark.parametrize(("path", "index"), CASES, scope="module")
def test_no_time_of_transfers_is_far_off(path, index):
    """Medians within 10 %, 95th percentiles within 20 %."""
    far = {}
    for entry in compared(path, index):
        name = entry.metric.name
        tolerance = next((part for kind, part in TIMES.items() if kind in name), None)
        if name not in TRAFFIC_METRIC_NAMES or tolerance is None:
            continue
        relative = relative_difference(entry)
        assert relative is not None, f"{name} was not measured in both"
        if abs(relative) > tolerance:
            far[name] = f"group {entry.group}, {entry.cc_a}: {relative:+.1%}"
    known = KNOWN_TIMES.get(measured(path)[index].name, ())
    assert sorted(far) == sorted(known), far


@pytest.mark.parametrize(("path", "index"), CASES_OF_QUEUES, scope="module")
def test_no_rate_of_drops_or_marks_is_far_off(path, index):
    """Within 20 %, or within 5 packets in 10,000 where there are few."""
    far = {}
    for entry in compared(path, index):
        if entry.metric.name not in ("drop_rate", "mark_rate"):
            continue
        difference, relative = engine_difference(entry), relative_difference(entry)
        assert difference is not None, f"{entry.metric.name} was not measured in both"
        if abs(difference) > FEW and (relative is None or abs(relative) > RATES):
            far[entry.metric.name] = f"{difference:+.5f} of {entry.a}"
    known = KNOWN_RATES.get(measured(path)[index].name, ())
    assert sorted(far) == sorted(known), far


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_shares_are_near_on_average(path):
    cases = (compared(path, index) for index in range(len(measured(path))))
    share = summarize(entry for case in cases for entry in case).share
    assert share is not None
    assert share.mean <= MEAN_SHARE, f"worst: {share}"
