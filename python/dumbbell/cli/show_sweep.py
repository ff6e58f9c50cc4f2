"""A sweep drawn into its directory, and printed: its table, its answers, its failures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dumbbell.base.quantities.plain_value import to_plain
from dumbbell.base.quantities.pluralize import pluralize
from dumbbell.base.writing import write_file
from dumbbell.cli.answers import print_best
from dumbbell.cli.sweep_table import print_sweep
from dumbbell.compare.answers import answers_key, sweep_answers
from dumbbell.figures.frame import can_draw
from dumbbell.plots.paper_figure import save_for_print
from dumbbell.plots.result_figures import ResultFigures
from dumbbell.run.verdict import INVALID, WARN
from dumbbell.runs.record_directory import file_digest
from dumbbell.scenario.trace import Trace
from dumbbell.sweeps import SweepResult
from dumbbell.sweeps.design import label_of
from dumbbell.sweeps.sweep_directory import ROWS
from dumbbell.terminal.console import error, note, note_missing_figures, print_json, print_line

__all__ = ["show_sweep"]

#: Names the rows and the version from which the figures next to it were drawn; then the figures.
DRAWN = ".drawn"
#: Failed runs that are printed; there may be thousands with one cause.
MAX_FAILED_LINES = 5
#: An axis with fewer points has no figure, nor do more panels.
MIN_POINTS, MAX_PANELS = 3, 24


def show_sweep(
    result: SweepResult, out_dir: Path | None, metrics: Sequence[str], *, json: bool
) -> None:
    """Draw a sweep into the directory of its runs, and print it."""
    try:
        if out_dir is not None:
            draw_figures(result, out_dir)
    finally:
        if json:
            print_json(to_documents(result))
        else:
            print_sweep(result, metrics)
            print_best(result)
    for line in result.notes:
        note(line)
    if out_dir is not None and not json:
        print_line(f"saved in {out_dir}")
    print_flagged_runs(result)
    print_failed_runs(result)


def draw_figures(result: SweepResult, out_dir: Path) -> None:
    """Draw a sweep, unless its figures exist and are of the same rows."""
    directory = out_dir / "figures"
    drawn = directory / DRAWN
    try:
        rows = file_digest((out_dir / ROWS).read_bytes())
    except FileNotFoundError:
        return  # the sweep was begun again meanwhile, which draws its own
    of_these = f"{rows} {result.provenance['engine_version']}"
    lines = drawn.read_text(encoding="utf-8").splitlines() if drawn.is_file() else []
    names = lines[1:]
    if lines[:1] == [of_these] and names and all((directory / n).is_file() for n in names):
        return
    files = draw(result, directory)
    if files:
        write_file(drawn, "\n".join([of_these, *(path.name for path in files), ""]))


def draw(result: SweepResult, directory: Path) -> list[Path]:
    """Draw what `dumbbell plot` draws by default, with models."""
    figures = ResultFigures(result)
    facets = figures.layout.facets
    if max(len(facet.cells) for facet in facets) < MIN_POINTS:
        return []
    if not can_draw():
        note_missing_figures()
        return []
    if len(facets) > MAX_PANELS:
        place = directory.parent
        note(f"no figures: they would have {len(facets)} panels; `dumbbell report {place}`")
        return []
    return [
        path
        for metric in figures.usual
        for path in save_for_print(
            figures.draw(metric), directory, metric.name,
            formats=("svg", "png"), size="2col", style="report",
        )
    ]  # fmt: skip


def print_flagged_runs(result: SweepResult) -> None:
    """Print how many runs are WARN and INVALID, with the reasons of the first of each."""
    keys = result.rows.select(["cell", "rep", "verdict"]).to_pylist()
    for verdict in (WARN, INVALID):
        found = sorted({(row["cell"], row["rep"]) for row in keys if row["verdict"] == verdict})
        if not found:
            continue
        cell, rep = found[0]
        reasons = result.runs[cell, rep].verdict.reasons
        why = "; ".join(reason.message for reason in reasons if reason.status == verdict)
        runs = pluralize(len(found), "run")
        which = result.run_name(cell, rep)
        note(f"{runs} {verdict}{f'; the first, {which}' if which else ''}: {why}")


def print_failed_runs(result: SweepResult) -> None:
    """Print the errors of the runs that failed, to stderr."""
    for (cell, rep), why in list(result.failed.items())[:MAX_FAILED_LINES]:
        error(": ".join(filter(None, (result.run_name(cell, rep), why))))
    more = len(result.failed) - MAX_FAILED_LINES
    if more > 0:
        error(f"{pluralize(more, 'more run')} failed")


def to_documents(result: SweepResult) -> list[dict[str, Any]]:
    """Return each run as `run --json` has it, with its cell, repetition and the answers."""
    cells = result.cells
    answers = answers_key(sweep_answers(result))
    return [
        {
            "point": {
                name: label_of(value) if isinstance(value, Trace) else to_plain(value)
                for name, value in cells[cell].values.items()
            },
            "rep": rep,
            **run.to_dict(),
            **answers,
        }
        for (cell, rep), run in result.runs.items()
    ]
