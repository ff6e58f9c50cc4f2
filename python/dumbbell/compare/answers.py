"""What a scenario asks, answered in words: how each group did, and what is best for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dumbbell.base.quantities.significant import significant
from dumbbell.compare.best import Best, Other, best_cells
from dumbbell.compare.choices import condition_axes
from dumbbell.metrics import Metric, judged_by
from dumbbell.metrics.observation import Observation
from dumbbell.run import Run
from dumbbell.sweeps import Cell, SweepResult
from dumbbell.sweeps.design import label_of

__all__ = ["Answer", "answers_key", "chance_of", "run_answers", "sweep_answers"]


@dataclass(frozen=True)
class Answer:
    """What is said of a group.

    Attributes
    ----------
    name
        What the group is called.
    metric
        Name of what it is judged by.
    text
        The answer.
    """

    name: str
    metric: str
    text: str


def answers_key(answers: Sequence[Answer]) -> dict[str, Any]:
    """Return what a document has of answers; nothing without any."""
    return {"answers": [asdict(each) for each in answers]} if answers else {}


def run_answers(result: Run) -> list[Answer]:
    """Say how each group did by its metric; nothing for a scenario that asks nothing."""
    judged = judged_by(result.scenario)
    if not judged:
        return []
    observed = Observation(result)
    found = []
    for index, metric in judged.items():
        values = metric.observe(observed)
        value = values[index] if isinstance(values, list) else values
        shown = "no value" if value is None else written(metric, metric.scale * value)
        name = result.scenario.group_labels[index]
        found.append(Answer(name, metric.name, f"{metric.title} {shown}"))
    return found


def sweep_answers(result: SweepResult) -> list[Answer]:
    """Say which cell is best for each group that names a metric, and how surely."""
    return [
        Answer(best.name, best.metric.name, (sentence if is_tested(best) else guess)(best, result))
        for best in best_cells(result)
    ]


def chance_of(result: SweepResult) -> str:
    """Say what the answers lack for a test of chance; empty if nothing."""
    found = best_cells(result)
    reps = max(result.reps.values(), default=0)
    if not found or (reps > 1 and all(map(is_tested, found))):
        return ""
    few = "one run of each cell" if reps == 1 else "a single pair of runs with values"
    return f"{few} cannot rule out chance: add `--reps {max(5, 2 * reps)}`"


def is_tested(best: Best) -> bool:
    """Whether chance was ruled out, or not, in each comparison with the best cell."""
    return all(other.p_adjusted is not None for other in best.others)


def guess(best: Best, result: SweepResult) -> str:
    """Say which cell is best where there are no repetitions."""
    metric = best.metric
    tied = [other.cell for other in best.others if other.is_tie]
    worse = [other for other in best.others if not other.is_tie]
    if not worse:
        return (
            f"{at(best, result)}{metric.title} {written(metric, best.mean)}: a tie in practice"
            f"{unknown(best, result)}"
        )
    second = worse[0]
    between = ", a tie in practice" if tied else ""
    places = listed([place(cell, result) for cell in (best.cell, *tied)])
    return (
        f"{at(best, result)}best with {places}{between}: {metric.title} "
        f"{written(metric, best.mean)}, "
        f"{written(metric, second.mean)} with {place(second.cell, result)}{unknown(best, result)}"
    )


def sentence(best: Best, result: SweepResult) -> str:
    """Say which cells are best, by how much, and whether by more than chance."""
    metric, where = best.metric, at(best, result)
    unclear = [other for other in best.others if other.is_unclear]
    alike = [other for other in best.others if not other.is_sure and not other.is_unclear]
    worse = [other for other in best.others if other.is_sure]
    more = f"{vague(unclear, best, result)}{unknown(best, result)}"
    if not worse and not unclear and alike:
        values = sorted([best.mean, *(other.mean for other in best.others)])
        if all(other.is_tie for other in alike):
            return f"{where}{metric.title} {written(metric, best.mean)}: a tie in practice{more}"
        ends = f"{significant(values[0])} to {written(metric, values[-1])}"
        return f"{where}{metric.title} {ends}: no difference beyond chance{more}"
    places = listed([place(each, result) for each in (best.cell, *(o.cell for o in alike))])
    between = ", between which chance may decide" if alike else ""
    if alike and all(other.is_tie for other in alike):
        between = ", a tie in practice"
    lead = (
        f", {ahead(best, worse[0])} with {place(worse[0].cell, result)}, which is more than chance"
        if worse
        else ""
    )
    value = f"{metric.title} {written(metric, best.mean)}"
    return f"{where}best with {places}{between}: {value}{lead}{more}"


def vague(others: Sequence[Other], best: Best, result: SweepResult) -> str:
    """Say which cells are worse by the means, perhaps by chance; nothing without any.

    What varies may be the best cell as well as these.
    """
    if not others:
        return ""
    named = [f"{place(o.cell, result)} ({written(best.metric, o.mean)})" for o in others]
    return f"; {listed(named)} may be worse by chance: the runs vary too much"


def at(best: Best, result: SweepResult) -> str:
    """Say under which conditions a cell is best: ``at 10mbit: ``; nothing without any."""
    axes = {axis.name: axis for axis in result.axes if len(set(axis.labels)) > 1}
    names = [name for name in condition_axes(result.design) if name in axes]
    words = [axes[name].shown[label_of(best.cell.values[name])] for name in names]
    return f"at {', '.join(words)}: " if words else ""


def ahead(best: Best, other: Other) -> str:
    """Say by how much the best cell is better than another one."""
    interval = other.difference.interval
    low, high = sorted(abs(end) for end in (interval.low, interval.high))
    more = "more" if best.metric.better == "higher" else "less"
    return (
        f"{written(best.metric, abs(interval.mean))} (95 % interval {significant(low)} to "
        f"{significant(high)}) {more} than"
    )


def unknown(best: Best, result: SweepResult) -> str:
    """Say which cells have no value, in all runs or in some."""
    cells = result.cells
    none = [place(cells[each], result) for each, (gone, of) in best.missing.items() if gone == of]
    some = [
        f"; {place(cells[each], result)}: no value in {gone} of {of} runs"
        for each, (gone, of) in best.missing.items()
        if gone < of
    ]
    return "".join([f"; no value with {listed(none)}" if none else "", *some])


def place(cell: Cell, result: SweepResult) -> str:
    """Return what is chosen in a cell: ``fq_codel``; what joined axes share is said once."""
    conditions = condition_axes(result.design)
    varied = [
        axis for axis in result.axes if len(set(axis.labels)) > 1 and axis.name not in conditions
    ]
    labels = {
        axis.name: [axis.shown[label_of(each.values[axis.name])] for each in result.cells]
        for axis in varied
    }
    # Axes that have the same label in every cell.
    once = {tuple(of_cells): name for name, of_cells in reversed(labels.items())}
    index = result.cells.index(cell)
    return ", ".join(labels[name][index] for name in labels if name in once.values())


def listed(words: Sequence[str]) -> str:
    """Write a list: ``pie, cake and codel``; ``pie, 1bdp; and codel, 2bdp``."""
    comma, last = ("; ", "; and ") if any(", " in word for word in words) else (", ", " and ")
    return last.join(filter(None, (comma.join(words[:-1]), words[-1])))


def written(metric: Metric, value: float) -> str:
    """Write a value with its unit."""
    return f"{significant(value)} {metric.shown_unit}".strip()
