"""`dumbbell conform`: whether an implementation behaves as its reference does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dumbbell.base.quantities import json_text
from dumbbell.base.writing import check_writable, write_file
from dumbbell.figures import save_all
from dumbbell.run import SIMULATOR
from dumbbell.runs import Cache
from dumbbell.terminal import (
    OUTPUT,
    Engine,
    Jobs,
    Json,
    LinuxTreeOption,
    SimulatorCacheFlag,
    UnsafeNoSandbox,
    complete_what,
    note_cache,
    note_missing_figures,
    print_json,
    print_line,
    print_table,
    progress_bar,
)
from dumbbell_studies.conform import GRIDS, Conformance, conform, envelope_figures, number, shown

__all__ = ["conform_command"]

#: What the help ends with.
EXAMPLES = (
    "dumbbell conform quic/quinn:cubic --to cubic",
    "dumbbell conform quic/noq@1.1.0:bbr3 --to quic/noq:bbr3",
    "dumbbell conform ./mine.bpf.c --to cubic --grid quicbench --out found",
)
#: Panel of `--help`.
CONFORM = "Conformance"
#: Most repetitions.
MAX_REPS = 1_000
JSON_FILE = "conform.json"


def conform_command(
    cc: Annotated[
        str,
        typer.Argument(
            metavar="CC",
            help="The implementation under test: `quic/quinn:cubic`, `./mine.bpf.c`, or a scenario "
            "file with a program (`--engine uml`).",
            show_default=False,
            autocompletion=complete_what,
        ),
    ],
    to: Annotated[
        str,
        typer.Option(
            metavar="CC",
            help="The reference: what it is to behave like.",
            rich_help_panel=CONFORM,
            show_default=False,
            autocompletion=complete_what,
        ),
    ],
    grid: Annotated[
        str,
        typer.Option(
            metavar="|".join(GRIDS),
            help="The paths: two of QUICbench's, all of them, or those of the suite `rfc9743`.",
            rich_help_panel=CONFORM,
        ),
    ] = "quick",
    reps: Annotated[
        int,
        typer.Option(
            min=3,
            max=MAX_REPS,
            metavar="N",
            help="Repetitions, each with its own seed.",
            rich_help_panel=CONFORM,
        ),
    ] = 5,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="The first of them.", rich_help_panel=CONFORM)
    ] = 1,
    engine: Engine = SIMULATOR,
    unsafe: UnsafeNoSandbox = False,  # noqa: ARG001 -- its callback acts on it
    linux_tree: LinuxTreeOption = None,  # noqa: ARG001 -- its callback acts on it
    jobs: Jobs = None,
    cache: SimulatorCacheFlag = True,
    json: Json = False,
    out_dir: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help=f"Write {JSON_FILE} and a figure of each path's envelopes to this directory.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
) -> int:
    """Test whether an implementation behaves as its reference does.

    On each path a flow of each meets the reference. The conformance is the share of (RTT, goodput)
    points in the other's hull; that of the reference with itself is the noise floor. Alone on a
    path with random loss, both show their response to loss, their growth, probing and ACKs. Exits
    with 1 if the conformance is below the noise floor, a response of the algorithm differs, or a
    run is INVALID.
    """
    if out_dir is not None:
        check_writable(out_dir)
    kept = Cache() if cache else None
    with progress_bar("simulating", is_even=True) as bar:
        result = conform(
            cc, to, grid=grid, reps=reps, seed=seed, engine=engine, jobs=jobs,
            cache=kept or False, on_progress=bar.at_run,
        )  # fmt: skip
    note_cache(kept)
    if out_dir is not None:
        write_file(out_dir / JSON_FILE, json_text(result.to_dict()) + "\n")
        save_all(envelope_figures(result), out_dir)
        note_missing_figures()
    if json:
        print_json(result.to_dict())
    else:
        show(result)
    return 0 if result.conforms else 1


def show(result: Conformance) -> None:
    """Print the answer, the paths and the responses, for a person."""
    print_line(result.sentence)
    for response in result.differing:
        print_line(f"{response.check.of}: {response.sentence}")
    print_table(
        ("path", "conformance", "noise floor", "moved to\nthe mean", "RTT\n± ms",
         "goodput\n± Mbit/s"),
        [
            (
                cell.label, shown(cell.conformance), shown(cell.noise_floor),
                f"{cell.translated:.2f}", f"{cell.delay_ms:+.1f}", f"{cell.throughput_mbps:+.2f}",
            )
            for cell in result.cells
        ],
        apart=True,
    )  # fmt: skip
    print_table(
        ("response", "of the", "test", "reference", "differs"),
        [
            (
                each.check.title, each.check.of, number(each.test), number(each.reference),
                "yes" if each.differs else "",
            )
            for each in result.responses
        ],
        left=(0, 1, 4), apart=True,
    )  # fmt: skip
    alone, reference = (f"{each / 1e6:.1f}" for each in result.goodputs_bps)
    print_line(f"alone with a loss in 10,000 packets: {alone} Mbit/s; reference {reference}")
