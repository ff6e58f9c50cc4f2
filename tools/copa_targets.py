"""Prints Copa's targets next to what an algorithm reaches, misses first.

``python tools/copa_targets.py copa@calm 1..3`` measures seeds 1 to 3 in the simulator; more words
choose an engine (``uml``), a part of the targets (``own``, ``cubic``, ``bbr``, or any part of a
label), and ``--markdown``. Paths are the papers': many flows at 100 Mbit/s (kakenhi2024) and
1 Gbit/s (saito2022), pairs at 50 Mbit/s (ogino2021), all of 40 ms.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from markdown_tables import markdown_table  # next to this file

from dumbbell import Group, Run, Scenario, run_all
from dumbbell.figures import to_floats
from dumbbell.statistics import Interval, mean_interval

__all__ = [
    "CELLS", "Cell", "Measured", "Target", "main", "measure", "run_cells", "scenario_of", "targets",
]  # fmt: skip

RTT = "40ms"
BUFFERS_BDP = (0.5, 1, 2, 4, 8, 16, 32, 64)
#: Many flows run as long as the papers' (kakenhi2024, saito2022), start-up included.
OWN_TIME_S = 120
#: A run next to others lasts this long, and counts from `FROM_S` on.
PAIR_TIME_S, FROM_S = 160, 60
#: Flows start within this time.
JITTER = "1s"


class Cell(NamedTuple):
    """Flows of one algorithm on a path, alone or next to as many of another.

    Attributes
    ----------
    kind
        ``own``, or what the others are.
    flows
        Of the algorithm.
    rate
        Of the link.
    buffer_bdp
        Of the link.
    """

    kind: str
    flows: int
    rate: str
    buffer_bdp: float

    @property
    def label(self) -> str:
        """The cell's name."""
        others = "" if self.kind == "own" else f" with {self.flows} {self.kind}"
        return f"{self.flows} flows{others}, {self.rate}, {self.buffer_bdp:g} BDP"

    def scenario(self, cc: str, seed: int) -> Scenario:
        """Return what is run."""
        ccs = [cc] if self.kind == "own" else [cc, self.kind]
        groups = [Group(each, self.flows, jitter=JITTER) for each in ccs]
        time_s = OWN_TIME_S if self.kind == "own" else PAIR_TIME_S
        return Scenario(
            groups, rate=self.rate, rtt=RTT, buffer=f"{self.buffer_bdp}bdp", time=f"{time_s}s",
            sample="100ms", seed=seed,
        )  # fmt: skip


CELLS = (
    *(
        Cell("own", flows, rate, bdp)
        for rate in ("100mbit", "1gbit")
        for flows in (8, 32, 64, 128, 256)
        for bdp in (4, 8, 16)
    ),
    *(
        Cell(kind, flows, "50mbit", bdp)
        for kind in ("cubic", "bbr")
        for flows in (1, 4)
        for bdp in BUFFERS_BDP
    ),
)


class Measured(NamedTuple):
    """One run of a cell.

    Attributes
    ----------
    competing_pct
        Of all flows' time, in competitive mode.
    queue_ms
        Mean queueing delay; next to others after `FROM_S`.
    used_pct
        Of the link.
    share
        Of the algorithm, over its fair share; next to others after `FROM_S`.
    """

    competing_pct: float
    queue_ms: float
    used_pct: float
    share: float


@dataclass(frozen=True)
class Target:
    """What is asked of a cell.

    Attributes
    ----------
    cell
        Where.
    name
        What is measured.
    least, most
        Bounds of its mean.
    values
        One per seed.
    """

    cell: Cell
    name: str
    least: float
    most: float
    values: tuple[float, ...]

    @property
    def interval(self) -> Interval:
        """The mean over the seeds, with its interval."""
        return mean_interval(self.values)

    @property
    def is_met(self) -> bool:
        """Whether the mean is within the bounds."""
        return self.least <= self.interval.mean <= self.most

    @property
    def miss(self) -> float:
        """Factor by which it is missed; 1 where it is met."""
        mean = self.interval.mean
        return max(mean / self.most, self.least / max(mean, 1e-6), 1.0)


def late_goodput(run: Run) -> list[float]:
    """Return what the groups got after `FROM_S`, bit/s."""
    flows = run.flows
    late = flows.filter(pc.greater(flows["time_us"], FROM_S * 1_000_000))
    group_of = np.asarray([flow["group"] for flow in run.summary["flows"]])[late["flow"].to_numpy()]
    goodput = to_floats(late["goodput_bps"])
    return [float(np.nansum(goodput[group_of == g])) for g in range(len(run.scenario.groups))]


def late_queue_ms(run: Run) -> float:
    """Return the mean queueing delay after `FROM_S`, ms."""
    queue = run.queue
    late = queue.filter(pc.greater(queue["time_us"], FROM_S * 1_000_000))
    rate_bps = float(run.bottleneck["link_rate_bps"])
    return float(np.mean(to_floats(late["backlog_bytes"]))) * 8e3 / rate_bps


def competing_pct(run: Run) -> float:
    """Return the share of the first group's time in competitive mode, %; NaN without modes."""
    if "mode" not in {series.name for series in run.series(0)}:
        return float("nan")
    modes: pa.ChunkedArray = run.state(0)["mode"]
    return 100.0 * float(pc.mean(pc.equal(modes.cast(pa.string()), "competitive")).as_py())


def measure(cell: Cell, run: Run) -> Measured:
    """Measure a run."""
    link = run.bottleneck
    alone = cell.kind == "own"
    share = float("nan")
    if not alone:
        mine, others = late_goodput(run)
        share = 2 * mine / (mine + others)
    return Measured(
        competing_pct=competing_pct(run),
        queue_ms=link["queue_delay_mean_us"] / 1e3 if alone else late_queue_ms(run),
        used_pct=100.0 * link["utilization"],
        share=share,
    )


def run_cells(
    cells: Mapping[tuple[str, Cell], Callable[[int], Scenario]], seeds: Sequence[int], engine: str
) -> dict[tuple[str, Cell], list[Measured]]:
    """Run cells with each seed."""
    found: dict[tuple[tuple[str, Cell], int], Measured] = {}

    def keep(key: tuple[tuple[str, Cell], int], run: Run) -> Run:
        found[key] = measure(key[0][1], run)
        return Run(run.scenario, run.summary, {})

    wanted = [((key, seed), make(seed)) for key, make in cells.items() for seed in seeds]
    run_all(wanted, on_finished=keep, engine=engine, cache=False)
    return {key: [found[key, seed] for seed in seeds] for key in cells}


def alone(cell: Cell) -> Cell:
    """Return the cell with as many of the others alone as there are flows in it."""
    return Cell("own", 2 * cell.flows, cell.rate, cell.buffer_bdp)


def targets(
    cc: str, seeds: Sequence[int], part: str = "", engine: str = "simulator"
) -> Iterator[Target]:
    """Measure an algorithm, and yield each target."""
    cells = [cell for cell in CELLS if part in f"{cell.kind} {cell.label}"]
    wanted = {(cc, cell): scenario_of(cell, cc) for cell in cells}
    wanted |= {
        ("bbr", cell): scenario_of(Cell("bbr", *cell[1:]), "bbr")
        for cell in cells
        if cell.kind == "bbr"
    }
    measured = run_cells(wanted, seeds, engine)
    for cell in cells:
        runs = measured[cc, cell]
        if cell.kind == "own":
            yield Target(cell, "competing, %", -1, 10, tuple(run.competing_pct for run in runs))
            yield Target(cell, "queue, ms", 0, 20, tuple(run.queue_ms for run in runs))
            yield Target(cell, "link used, %", 97, 101, tuple(run.used_pct for run in runs))
        elif cell.kind == "cubic":
            yield Target(cell, "share", 0.67, 1.5, tuple(run.share for run in runs))
        else:
            bbr = measured["bbr", cell]
            ratios = [run.queue_ms / by.queue_ms for run, by in zip(runs, bbr, strict=True)]
            yield Target(cell, "queue / BBR's alone", 0, 2, tuple(ratios))
            yield Target(cell, "(share)", 0, 9, tuple(run.share for run in runs))


def scenario_of(cell: Cell, cc: str) -> Callable[[int], Scenario]:
    """Return what makes a cell's scenario from a seed."""
    return lambda seed: cell.scenario(cc, seed)


def row(target: Target) -> list[str]:
    """Return a target's cells of the table."""
    value = target.interval
    bounds = f"{target.least:g} to {target.most:g}" if target.least > 0 else f"≤ {target.most:g}"
    outcome = "" if target.name.startswith("(") else "met" if target.is_met else "**missed**"
    digits = 2 if target.most < 10 else 1
    number = f"{value.mean:.{digits}f} [{value.low:.{digits}f}, {value.high:.{digits}f}]"
    return [target.cell.label, target.name, bounds, number, outcome]


def main(cc: str, seeds: str, *words: str) -> None:
    """Print the table, misses first."""
    first, _, last = seeds.partition("..")
    engine = next((word for word in words if word.startswith(("uml", "kernel"))), "simulator")
    part = next((word for word in words if word not in {engine, "--markdown"}), "")
    found = list(targets(cc, range(int(first), int(last or first) + 1), part, engine))
    found.sort(key=lambda each: -each.miss)
    asked = [each for each in found if not each.name.startswith("(")]
    head = ("cell", "measure", "asked", f"`{cc}`", "")
    if "--markdown" in words:
        sys.stdout.write(markdown_table(head, map(row, found)))
    else:
        for line in (head, *map(row, found)):
            sys.stdout.write(f"{line[0]:44}{line[1]:22}{line[2]:14}{line[3]:28}{line[4]}\n")
    met = sum(each.is_met for each in asked)
    sys.stdout.write(f"\n{met} of {len(asked)} targets met, {engine}, seeds {seeds}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
