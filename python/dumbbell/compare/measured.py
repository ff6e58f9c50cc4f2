"""One side of a comparison: runs, their conditions and their metrics."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from dumbbell.base.errors import ResultError, check_directory
from dumbbell.metrics import Warmup, measure
from dumbbell.run import Run
from dumbbell.run.programs import is_time_measured
from dumbbell.scenario import Scenario
from dumbbell.scenario.routes import links_back_of, links_of
from dumbbell.sweeps import SweepResult

__all__ = ["MeasuredRun", "MeasuredRuns", "Runs", "measured"]

#: What can be compared: a run, several, a sweep, or a directory that holds any of these.
Runs: TypeAlias = Run | Sequence[Run] | SweepResult | str | Path
#: Keys of a scenario that are not conditions: they name a repetition, or what is compared.
NO_CONDITION = ("name", "seed", "sample")
#: The same of a group: what sends, and what is read from it.
SENDING = ("name", "metric", "cc", "client", "server", "ready", "measure")


@dataclass(frozen=True)
class MeasuredRun:
    """A run's metrics and its conditions.

    Attributes
    ----------
    scenario
        What ran; its seed is that of the run.
    rows
        As `measure` has them, one per group.
    is_time_measured
        Whether it lasted as long as its command: its time is no condition then.
    """

    scenario: Scenario
    rows: Sequence[Mapping[str, Any]]
    is_time_measured: bool = False

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return self.scenario.seed

    @property
    def ccs(self) -> tuple[str, ...]:
        """The groups' CCAs, as the scenario names them, after their programs."""
        return tuple(
            str(group.cc) if group.client is None else f"{group.client} ({group.cc})"
            for group in self.scenario.groups
        )

    @cached_property
    def network(self) -> dict[str, str]:
        """The links and the run's time: by field of a scenario file, of links by axis name."""
        return self._network([link.name for link in self.scenario.links])

    def network_of(self, index: int) -> dict[str, str]:
        """`network` without the links that a group does not cross."""
        group = self.scenario.groups[index]
        crossed = links_of(group, self.scenario) + links_back_of(group, self.scenario)
        return self._network([link.name for link in crossed])

    def _network(self, names: Collection[str]) -> dict[str, str]:
        words = self.scenario.to_dict()
        if self.is_time_measured:
            del words["time"]
        links = [link for link in words.pop("link", ()) if link["name"] in names]
        links.sort(key=lambda link: str(link["name"]))
        of_links = {
            f"link.{link['name']}.{key}": value
            for link in links
            for key, value in link.items()
            if key != "name"
        }
        return {
            key: str(value)
            for key, value in {**words, **of_links}.items()
            if key not in (*NO_CONDITION, "group") and value != ""
        }

    @cached_property
    def conditions(self) -> dict[str, str]:
        """`network`, and every field of every group except what sends."""
        words = self.scenario.to_dict()
        groups = {
            f"group {index} {key}": str(value)
            for index, group in enumerate(words["group"])
            for key, value in group.items()
            if key not in SENDING
        }
        return {**self.network, **groups}


@dataclass(frozen=True)
class MeasuredRuns:
    """One side of a comparison.

    Attributes
    ----------
    name
        Its name in messages: its path, or ``A``.
    runs
        The runs.
    warmup
        What was left out of each; empty if nothing was.
    """

    name: str
    runs: tuple[MeasuredRun, ...]
    warmup: str


def measured(runs: Runs, name: str = "", warmup: str | Warmup | None = None) -> MeasuredRuns:
    """Measure runs, or read the rows of a sweep that were measured already.

    Parameters
    ----------
    runs
        A run, several, a sweep, or a directory: of a run, of a sweep, or with runs anywhere below.
    name
        For messages; the directory by default.
    warmup
        What to leave out of every run; of a sweep, its own warm-up by default.

    Raises
    ------
    ResultError
        There is no run, or it cannot be read, or is shorter than the warm-up.
    """
    cut = None if warmup is None else Warmup.parse(warmup)
    if isinstance(runs, str | Path):
        name = name or str(runs)
        runs = read(Path(runs))
    if isinstance(runs, SweepResult) and cut is None:
        kept = runs.plan.warmup
        return MeasuredRuns(name, tuple(rows_of_sweep(runs)), "" if kept is None else str(kept))
    found: Iterable[Run] = [runs] if isinstance(runs, Run) else runs_of(runs)
    each = tuple(
        MeasuredRun(run.scenario, measure(run, cut), is_time_measured(run.scenario, run.summary))
        for run in found
    )
    if not each:
        raise ResultError(f"{name or 'the comparison'}: holds no run")
    return MeasuredRuns(name, each, "" if cut is None else str(cut))


def read(directory: Path) -> Run | list[Run] | SweepResult:
    """Read what a directory holds: a sweep, a run, or runs anywhere below it."""
    if (directory / "sweep.json").is_file():
        return SweepResult.load(directory)
    if (directory / "run.json").is_file():
        return Run.load(directory)
    check_directory(directory)
    found = sorted(path.parent for path in directory.rglob("run.json"))
    if not found:
        raise ResultError(
            f"{directory}: holds no run and no sweep; name a directory that `--out` wrote"
        )
    return [Run.load(path) for path in found]


def runs_of(runs: Sequence[Run] | SweepResult) -> Iterable[Run]:
    """Return the runs of a sweep, loading one at a time, or those of a list."""
    if isinstance(runs, SweepResult):
        return (runs.runs[key] for key in runs.runs)
    return runs


def rows_of_sweep(sweep: SweepResult) -> Iterable[MeasuredRun]:
    """Return the runs of a sweep by the rows that it has of them."""
    by_run: dict[tuple[int, int, int], list[dict[str, Any]]] = {}
    for row in sweep.rows.to_pylist():
        by_run.setdefault((row["cell"], row["rep"], row["seed"]), []).append(row)
    if not by_run:
        raise ResultError(f"{sweep.name}: the sweep has no finished run")
    cells = {cell.index: sweep.design.scenario_of(cell) for cell in sweep.cells}
    for (cell, _, seed), rows in by_run.items():
        yield MeasuredRun(cells[cell].replace(seed=seed), rows)
