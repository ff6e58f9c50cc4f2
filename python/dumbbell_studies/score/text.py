"""A league in words: names of controls, what limits each, and what was run."""

from __future__ import annotations

from dumbbell.base.quantities import pluralize
from dumbbell.congestion_control import CongestionControlChoice, short_names
from dumbbell.gate import write_value
from dumbbell_studies.score.board import Board
from dumbbell_studies.score.control import CellScore, ControlScore, MetricScore
from dumbbell_studies.score.league import League

__all__ = [
    "board_line", "categories_text", "cell_line", "control_names", "limit_lines", "mean_text",
    "score_text",
]  # fmt: skip

#: Categories that are named as what limits a control.
LIMITS = 3
#: Above this a category limits nothing.
GOOD = 0.995


def score_text(score: float) -> str:
    """Write a score with two digits."""
    return f"{score:.2f}"


def control_names(league: League) -> dict[str, str]:
    """Return what each control is called: a file by its name, with what sets it apart."""
    choices = {each.cc: CongestionControlChoice.parse(each.cc) for each in league.controls}
    short = short_names(choice.name for choice in choices.values())
    return {cc: short[each.name] + cc.removeprefix(each.name) for cc, each in choices.items()}


def limit_lines(control: ControlScore) -> list[str]:
    """Return what costs a control most: its worst categories, with the worst cell of each."""
    if control.disqualified:
        return [f"disqualified: {control.disqualified}"]
    worst = sorted(control.board.categories, key=lambda each: control.categories[each.name])
    cells = [control.worst_of(each) for each in worst]
    if all(all(cell.problems) for cell in cells):
        return [f"no category has a good run ({cell_line(cells[0])})"]
    lines = [
        f"{each.name} {score_text(control.categories[each.name])} ({cell_line(cell)})"
        for each, cell in list(zip(worst, cells, strict=True))[:LIMITS]
        if control.categories[each.name] < GOOD
    ]
    return lines or ["nothing: every bound is met"]


def cell_line(cell: CellScore) -> str:
    """Return a cell with what limits it: ``fair[flows=1,buffer=1bdp]: goodput … is 0.13``."""
    if cell.problem:
        return f"{cell.label}: {cell.problem}"
    limited = cell.limited_by
    if limited is None:
        return cell.label
    measure = limited.bound.measure
    title = f"ratio of {measure.metric.title}" if measure.is_ratio else measure.metric.title
    said = "has no value" if limited.mean is None else f"is {mean_text(limited)}"
    return f"{cell.label}: {title} {said}"


def categories_text(board: Board) -> str:
    """Write how many categories a board has."""
    count = len(board.categories)
    return "1 category" if count == 1 else f"{count} categories"


def mean_text(metric: MetricScore) -> str:
    """Write the mean of a metric's values, in the unit of tables, and how many are missing."""
    if metric.mean is None:
        return "–"
    text = write_value(metric.mean, metric.bound.measure.metric)
    missing = sum(value is None for value in metric.values)
    return f"{text} ({missing} of {len(metric.values)} without a value)" if missing else text


def board_line(league: League) -> str:
    """Return what was run, in a sentence."""
    board = league.board
    cells = pluralize(board.cell_count, "cell")
    drawn = f", drawn with seed {board.drawn[1]}" if board.drawn else ""
    seeds = pluralize(len(league.seeds), "seed")
    return (
        f"board `{board.name}`: {cells} in {categories_text(board)}{drawn}, {seeds} from "
        f"{league.seeds[0]}; {league.engine}"
    )
