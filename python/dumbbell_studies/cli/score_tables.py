"""A league on the terminal: categories by congestion control, what limits each, and every cell."""

from __future__ import annotations

from collections.abc import Sequence

from dumbbell.base.quantities import pluralize
from dumbbell.gate import ANY_SUBJECT
from dumbbell.terminal import out, print_line, print_table
from dumbbell_studies.score import Board, ControlScore, League
from dumbbell_studies.score.text import (
    board_line,
    categories_text,
    control_names,
    limit_lines,
    mean_text,
    score_text,
)

__all__ = ["print_board", "print_league"]

#: Columns of a table, which takes as many as fit.
LEAST_COLUMN = 6


def print_league(league: League, *, details: bool) -> None:
    """Print a league; with details every cell too."""
    names = control_names(league)
    for controls in in_parts(league.ranking, names):
        heads = ["category", *(names[each.cc] for each in controls)]
        rows = [
            (each.name, *(score_text(control.categories[each.name]) for control in controls))
            for each in league.board.categories
        ]
        overall = ("overall", *(overall_text(control) for control in controls))
        print_table(heads, [overall, *rows])
    if details:
        for control in league.ranking:
            print_cells(control, names[control.cc])
    for control in league.ranking:
        print_line(f"{names[control.cc]}: {'; '.join(limit_lines(control))}")
    print_line(board_line(league))


def in_parts(controls: Sequence[ControlScore], names: dict[str, str]) -> list[list[ControlScore]]:
    """Return the controls in parts, each of which fits the terminal."""
    left = out().width - 14
    parts: list[list[ControlScore]] = [[]]
    for control in controls:
        width = 3 + max(LEAST_COLUMN, *map(len, (names[control.cc], overall_text(control))))
        if parts[-1] and width > left:
            parts.append([])
            left = out().width - 14
        left -= width
        parts[-1].append(control)
    return parts


def overall_text(control: ControlScore) -> str:
    """Return a control's score with its interval."""
    if control.disqualified:
        return "out"
    interval = control.interval
    half = f" ±{interval.half_width:.2f}" if interval.bounded and interval.n > 2 else ""
    return f"{score_text(control.overall)}{half}"


def print_cells(control: ControlScore, name: str) -> None:
    """Print a line for every cell of a control: its score, what limits it, and its values."""
    print_line(f"{name}:")
    cells = [cell for of_category in control.cells.values() for cell in of_category]
    width = max(len(f"{cell.case.category} {cell.label}") for cell in cells)
    for cell in cells:
        limited = cell.limited_by
        values = ", ".join(
            f"{'*' if metric is limited else ''}{metric.bound.measure} {mean_text(metric)}"
            for metric in cell.metrics
        )
        label = f"{cell.case.category} {cell.label}"
        print_line(f"  {label:{width}}  {score_text(cell.score)}  {cell.problem or values}")


def print_board(board: Board) -> None:
    """Print a board's cases and bounds."""
    for category in board.categories:
        cells = sum(len(case.cells(ANY_SUBJECT)) for case in category.cases)
        print_line(f"{category.name}: {category.title} ({pluralize(cells, 'cell')})")
        for case in category.cases:
            labels = [label for label, _ in case.cells(ANY_SUBJECT)]
            shown = "" if labels == ["all"] else f" [{'; '.join(labels)}]"
            print_line(f"  {case.name}{shown}")
            for name, value in case.unlabelled.items():
                print_line(f"    {name} = {value}")
        bounds = {str(bound): bound for case in category.cases for bound in case.bounds}
        for bound in bounds.values():
            print_line(f"    {bound}")
    print_line(f"{pluralize(board.cell_count, 'cell')} in {categories_text(board)}")
