"""`dumbbell score`: how far congestion control algorithms are from the ideal one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dumbbell.base.errors import ScenarioError
from dumbbell.base.writing import check_writable
from dumbbell.congestion_control import congestion_controls, tree_in_use
from dumbbell.run import KERNEL, SIMULATOR, check_engine
from dumbbell.runs import Cache, as_cache
from dumbbell.terminal import (
    OUTPUT,
    RUN,
    CacheFlag,
    Jobs,
    Json,
    Lang,
    LinuxTreeOption,
    Show,
    UnsafeNoSandbox,
    complete_engines,
    complete_what,
    doing,
    note_cache,
    print_json,
    print_line,
    progress_bar,
    show_page,
)
from dumbbell_studies.cli.score_tables import print_board, print_league
from dumbbell_studies.report.score_page import write_league
from dumbbell_studies.score import Board, League, find_board, score_board

__all__ = ["default_controls", "score_command"]

#: What the help ends with.
EXAMPLES = (
    "dumbbell score",
    "dumbbell score ./mine.bpf.c cubic bbr3 --only own,cubic",
    "dumbbell score ./mine.bpf.c --draw 5 --draw-seed 2026 --out results/held-out",
)

#: Panel of `--help` for what is run.
BOARD = "Board"
#: Seeds of every cell, by default.
SEEDS = 3
#: Most seeds of a cell.
MAX_SEEDS = 1_000


def score_command(
    ccs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CC…]",
            help="Algorithms to score: `copa`, `copa:mode_window_rtts=5`, `./mine.bpf.c`; "
            "all built-in ones when none is named, and with --linux-tree all of the tree's.",
            autocompletion=complete_what,
        ),
    ] = None,
    board: Annotated[
        str,
        typer.Option(help="The board: a name, or a TOML file.", rich_help_panel=BOARD),
    ] = "ideal",
    only: Annotated[
        str,
        typer.Option(
            metavar="CATEGORY,…",
            help="Only these categories, or sets of them: `own,cubic`, `core`.",
            rich_help_panel=BOARD,
            show_default="all",
        ),
    ] = "",
    case: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help="Only cases with this in their names.",
            rich_help_panel=BOARD,
            show_default="all",
        ),
    ] = "",
    seeds: Annotated[
        int,
        typer.Option(
            min=1, max=MAX_SEEDS, metavar="N", rich_help_panel=BOARD, help="Seeds of every cell."
        ),
    ] = SEEDS,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", rich_help_panel=BOARD, help="The first of them.")
    ] = 1,
    draw: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MAX_SEEDS,
            metavar="N",
            help="Instead of the board's own cells, this many drawn at random of each category.",
            rich_help_panel=BOARD,
            show_default=False,
        ),
    ] = None,
    draw_seed: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Which cells `--draw` draws.", rich_help_panel=BOARD),
    ] = 1,
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            metavar="simulator|kernel",
            help="The simulator, or this machine's Linux TCP: a few cells, in real time.",
            rich_help_panel=RUN,
            autocompletion=complete_engines,
        ),
    ] = SIMULATOR,
    linux_tree: LinuxTreeOption = None,  # noqa: ARG001 -- its callback acts on it
    jobs: Jobs = None,
    cache: CacheFlag = None,
    unsafe: UnsafeNoSandbox = False,  # noqa: ARG001 -- its callback acts on it
    details: Annotated[
        bool,
        typer.Option(
            "--details",
            help="Print every cell with its metrics too.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    list_board: Annotated[
        bool,
        typer.Option(
            "--list",
            help="List the board's cases and bounds, and run nothing.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    out_dir: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Write score.json and a page with everything, report.html, to this directory.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    lang: Lang = "",
    show: Show = False,
    json: Json = False,
) -> int:
    """Score algorithms: how far each is from the ideal one, and where.

    A cell's score is that of its worst metric, a category is half the mean and half the worst of
    its cells, and the whole is the geometric mean of the categories. A run that fails or is INVALID
    scores 0.
    """
    chosen = chosen_board(board, only, case, draw, draw_seed, engine)
    if list_board:
        print_board(chosen)
        return 0
    if show and out_dir is None:
        raise ScenarioError("--show opens the page that --out writes; add `--out DIR`")
    if out_dir is not None:
        check_writable(out_dir)
    check_engine(engine)
    kept = as_cache(cache, engine)
    named = ccs or default_controls(engine)
    league = run_with_progress(chosen, named, range(seed, seed + seeds), engine, jobs, kept)
    note_cache(kept)
    page = None if out_dir is None else write_league(league, out_dir, lang)
    if json:
        print_json(league.to_dict())
    else:
        print_league(league, details=details or len(league.controls) == 1)
        if page is not None:
            print_line(f"report: {page}")
    if show and page is not None:
        show_page(page)
    return 0


def chosen_board(
    name: str, only: str, case: str, draw: int | None, draw_seed: int, engine: str
) -> Board:
    """Return the board, as far as it is to be run."""
    board = find_board(name)
    if only:
        board = board.only([word.strip() for word in only.split(",") if word.strip()])
    if case:
        board = board.of_cases(case)
    if draw is not None:
        if engine == KERNEL:
            raise ScenarioError("--draw is for the simulator; omit it or `--engine kernel`")
        board = board.with_drawn_cells(draw, draw_seed)
    return board.on_the_kernel() if engine == KERNEL else board


def default_controls(engine: str) -> list[str]:
    """Return all CCAs: the built-in ones, and those of a Linux tree in use."""
    tree = tree_in_use()
    own = list(congestion_controls())
    if tree is None or engine == KERNEL:
        return own
    return [*own, *(tree.source(name) for name in tree.names())]


def run_with_progress(
    board: Board,
    ccs: list[str],
    seeds: range,
    engine: str,
    jobs: int | None,
    cache: Cache | None,
) -> League:
    """Run the board with a progress bar."""
    with progress_bar(doing(engine)) as bar:
        return score_board(
            board, ccs, seeds=seeds, engine=engine, jobs=jobs, cache=cache or False,
            on_progress=bar.at_run,
        )  # fmt: skip
