"""Writes the tables of accuracy.md: pairs of CCAs, simulated and on Linux.

Linux's runs are data (``measure_pairs.py``), the simulator's are done again, which takes about ten
minutes for each set of data: ``python tools/accuracy.py kernel uml``. ``linux`` is Linux's own
algorithms in virtual time and, from the tree of ``DUMBBELL_LINUX_TREE``, in the simulator.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dumbbell import use_linux_tree
from dumbbell.compare import Comparison
from dumbbell.compare.comparison import SIGNIFICANCE
from dumbbell.compare.engines import (
    compare_engines,
    engine_difference,
    relative_difference,
    summarize,
)
from dumbbell.compare.measurements import Measurement, load
from dumbbell.compare.xval import in_simulator
from dumbbell.metrics import AllMetrics
from dumbbell.run.verdict import INVALID
from dumbbell.runs import measure_all
from dumbbell.statistics import holm

__all__ = ["cells_table", "pairs_table", "shortfall_table", "summary_table", "with_tables"]

NOTES = Path(__file__).parents[1] / "docs" / "notes"
PAGE = NOTES / "accuracy.md"
DATA = NOTES / "data"
#: The data of an engine.
FILES = {
    "kernel": "pairs-*.json", "uml": "virtual-pairs-*.json", "linux": "virtual-linux-pairs-*.json"
}  # fmt: skip
#: Drop rates are compared where the engine drops more than this, in parts of 1.
LEAST_DROPS = 1e-3
#: Shares further apart, in parts of 1, are listed with their intervals.
FAR = 0.03

#: What was measured on the kernel, and its comparison with simulated runs.
Cases = list[tuple[Measurement, list[Comparison]]]


def measurements(engine: str) -> list[Measurement]:
    """Return what was measured on an engine."""
    return [case for path in sorted(DATA.glob(FILES[engine])) for case in load(path)]


def valid_seeds(case: Measurement) -> list[int]:
    """Return the seeds of a case's runs that are not INVALID."""
    return [rep["seed"] for rep in case.reps if rep["verdict"] != INVALID]


def compare(case: Measurement) -> list[Comparison]:
    """Simulate a case with the seeds that were measured, and compare run by run.

    A seed gives both engines the same starts and base RTTs, from which most of what runs differ by
    comes.
    """
    first = in_simulator(case.scenario).replace(sample="0s")
    seeds = valid_seeds(case)
    each = [(seed, first.replace(seed=seed)) for seed in dict.fromkeys(seeds)]
    runs = measure_all(each, lambda _: AllMetrics())
    ccs = [str(group.cc) for group in case.scenario.groups]
    rows = [runs[seed][1] for seed in seeds]
    return compare_engines(case.name, ccs, rows, case.values, paired=True)


def by_chance(compared: list[Comparison]) -> float:
    """Return how far a case's mean shares would be apart in engines that do the same, in points.

    The mean of a normal variable's absolute value, with the standard deviation found.
    """
    share = of_metric(compared, "share")
    differences = 100 * (np.array(share.b) - np.array(share.a))
    n = differences.size
    unbiased = math.sqrt(2 / (n - 1)) * math.gamma(n / 2) / math.gamma((n - 1) / 2)
    return float(np.std(differences, ddof=1) / unbiased / math.sqrt(n) * math.sqrt(2 / math.pi))


def pair_of(case: Measurement) -> tuple[str, str]:
    """Return the congestion control algorithms of a case."""
    first, second = (str(group.cc) for group in case.scenario.groups)
    return first, second


def place_of(case: Measurement) -> str:
    """Return the path of a case."""
    return f"{case.scenario.rtt}, {case.scenario.buffer}"


def with_tables(text: str, cases: Cases, engine: str = "kernel") -> str:
    """Replace what is between the markers of each table of an engine."""
    tables = {
        "summary": summary_table(cases),
        "far": shortfall_table(cases, all_of_them=engine != "linux"),
    }
    if engine == "linux":
        tables["algorithms"] = algorithms_table(cases)
    else:
        tables |= {"pairs": pairs_table(cases), "cells": cells_table(cases)}
    for name, table in tables.items():
        marker = name if engine == "kernel" else f"{engine} {name}"
        begin, end = f"<!-- {marker} -->\n", f"<!-- /{marker} -->\n"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{table}\n{end}{rest.split(end)[1]}"
    return text


def rows(header: list[str], body: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *body]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def of_metric(compared: list[Comparison], name: str, group: int | None = 0) -> Comparison:
    """Return a case's comparison of one metric."""
    return next(c for c in compared if c.metric.name == name and c.group == group)


def share_difference(compared: list[Comparison]) -> float:
    """Return by how much the first congestion control's share differs, in points."""
    difference = engine_difference(of_metric(compared, "share"))
    return 100 * difference if difference is not None else float("nan")


def contains_zero(compared: list[Comparison]) -> bool:
    """Whether the interval of the difference in the first one's share contains 0."""
    interval = of_metric(compared, "share").difference.interval
    return not interval.bounded or interval.low <= 0 <= interval.high


def is_narrow(case: tuple[Measurement, list[Comparison]]) -> bool:
    """Whether the interval of the first one's share is within a point of its mean."""
    interval = of_metric(case[1], "share").difference.interval
    return interval.bounded and interval.half_width <= 1 / 100


def significant(cases: Cases) -> int:
    """Return in how many cases the first one's shares differ, all considered (Holm)."""
    p_values = [of_metric(compared, "share").difference.p for _, compared in cases]
    return sum(p < SIGNIFICANCE for p in holm([p for p in p_values if p is not None]))


def drop_differences(cases: Cases) -> list[float]:
    """Return by how much drop rates differ, of the engine's own, where it drops anything."""
    drops = [of_metric(compared, "drop_rate", None) for _, compared in cases]
    known = [each for each in drops if each.a and float(np.mean(each.a)) > LEAST_DROPS]
    return [abs(d) for each in known if (d := relative_difference(each)) is not None]


def summary_table(cases: Cases) -> str:
    """Return all cases in a few numbers."""
    summary = summarize(c for _, compared in cases for c in compared)
    kernel_runs = sum(len(case.reps) for case, _ in cases)
    valid = sum(len(case.values) for case, _ in cases)
    body = [
        ["pairs of algorithms", str(len({pair_of(case) for case, _ in cases}))],
        ["scenarios", str(len(cases))],
        ["runs on the kernel (of these not INVALID)", f"{kernel_runs} ({valid})"],
    ]
    if summary.share is not None and summary.rtt_p50 is not None:
        share, rtt = summary.share, summary.rtt_p50
        signed = [share_difference(compared) for _, compared in cases]
        body += [
            ["shares differ by, mean", f"{100 * share.mean:.1f} points"],
            ["… at most", f"{100 * share.worst:.1f} points ({share.case})"],
            [
                "… of engines that do the same, mean",
                f"{np.mean([by_chance(compared) for _, compared in cases]):.1f} points",
            ],
            ["first group, simulated minus Linux, mean", f"{np.mean(signed):+.2f} points"],
            ["intervals no wider than ± 1 point", str(sum(map(is_narrow, cases)))],
            [
                "scenarios whose 95 % interval of the difference in shares does not contain 0",
                str(sum(not contains_zero(compared) for _, compared in cases)),
            ],
            ["… with Holm's correction for all of them", str(significant(cases))],
            ["median RTTs differ by, mean", f"{100 * rtt.mean:.1f} %"],
            ["… at most", f"{100 * rtt.worst:.1f} % ({rtt.cc}, {rtt.case})"],
            [
                "drop rates above 0.1 % differ by, median",
                f"{100 * np.median(drop_differences(cases)):.1f} %",
            ],
        ]
    return rows(["", ""], body)


def pairs_table(cases: Cases) -> str:
    """Return a row per pair: how far its shares and median RTTs are apart."""
    body = []
    for pair in dict.fromkeys(pair_of(case) for case, _ in cases):
        mine = [compared for case, compared in cases if pair_of(case) == pair]
        shares = [abs(share_difference(compared)) for compared in mine]
        rtts = [
            abs(100 * relative)
            for compared in mine
            for group in (0, 1)
            if (relative := relative_difference(of_metric(compared, "rtt_p50_us", group)))
            is not None
        ]
        body.append(
            [
                " and ".join(pair), str(len(mine)), f"{np.mean(shares):.1f}", f"{max(shares):.1f}",
                f"{np.mean(rtts):.1f}", f"{max(rtts):.1f}",
            ]
        )  # fmt: skip
    header = ["pair", "cells", "share, points: mean", "largest", "median RTT, %: mean", "largest"]
    return rows(header, body)


def algorithms_table(cases: Cases) -> str:
    """Return a row per algorithm: what its share, RTT and drops differ by, over all its cells."""
    body = []
    for name in sorted({name for case, _ in cases for name in pair_of(case)}):
        mine = [(pair_of(case).index(name), compared) for case, compared in cases
                if name in pair_of(case)]  # fmt: skip
        shares = [(1 - 2 * group) * share_difference(compared) for group, compared in mine]
        rtts = [
            100 * relative
            for group, compared in mine
            if (relative := relative_difference(of_metric(compared, "rtt_p50_us", group)))
            is not None
        ]
        body.append(
            [
                name, str(len(mine)), f"{np.mean(np.abs(shares)):.1f}",
                f"{np.mean(shares):+.2f} ± {1.96 * np.std(shares) / len(shares) ** 0.5:.2f}",
                f"{np.mean(np.abs(rtts)):.1f}", f"{np.mean(rtts):+.2f}",
            ]
        )  # fmt: skip
    header = ["algorithm", "cells", "share, points: mean", "simulated minus Linux",
              "median RTT, %: mean", "simulated minus Linux"]  # fmt: skip
    return rows(header, body)


def percent(values: tuple[float, ...]) -> str:
    """Write a mean in hundredths."""
    return f"{100 * np.mean(values):.1f}" if values else "–"


def cells_table(cases: Cases) -> str:
    """Return a row per pair: the first one's share in each cell, simulated and on the kernel."""
    places = list(dict.fromkeys(place_of(case) for case, _ in cases))
    found: dict[tuple[str, str], dict[str, str]] = {}
    for case, compared in cases:
        share = of_metric(compared, "share")
        cell = f"{percent(share.b)} ({percent(share.a)})"
        found.setdefault(pair_of(case), {})[place_of(case)] = cell
    body = [
        [" and ".join(pair), *(by_place.get(place, "–") for place in places)]
        for pair, by_place in found.items()
    ]
    return rows(["pair", *places], body)


def shortfall_table(cases: Cases, *, all_of_them: bool) -> str:
    """Return the scenarios whose shares are far apart, the farthest first.

    All of them, or only those whose interval excludes 0.
    """
    far: list[tuple[float, list[str]]] = []
    for case, compared in cases:
        difference, share = share_difference(compared), of_metric(compared, "share")
        is_chance = contains_zero(compared) and not all_of_them
        if abs(difference) <= 100 * FAR or is_chance:
            continue
        interval = share.difference.interval.scaled(100)
        drops = of_metric(compared, "drop_rate", None)
        far.append(
            (
                -abs(difference),
                [
                    " and ".join(pair_of(case)), place_of(case), f"{difference:+.1f}",
                    f"{interval.low:+.1f} to {interval.high:+.1f}" if interval.bounded else "–",
                    f"{percent_2(drops.b)} ({percent_2(drops.a)})",
                ],
            )
        )  # fmt: skip
    header = ["pair", "cell", "share, simulated minus kernel, points", "95 % interval",
              "dropped, %, simulated (kernel)"]  # fmt: skip
    return rows(header, [row for _, row in sorted(far)])


def percent_2(values: tuple[Any, ...]) -> str:
    """Write a mean in hundredths, with two decimals."""
    return f"{100 * np.mean(values):.2f}" if values else "–"


def main(engines: Sequence[str]) -> None:
    """Write the page's tables of some engines."""
    use_linux_tree(os.environ.get("DUMBBELL_LINUX_TREE"))
    for engine in engines:
        text = PAGE.read_text(encoding="utf-8")
        cases = [(case, compare(case)) for case in measurements(engine)]
        PAGE.write_text(with_tables(text, cases, engine), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:] or ["kernel", "uml"])
