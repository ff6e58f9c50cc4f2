"""A sweep on disk: `sweep.json`, `rows.parquet`, and a directory per run."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dumbbell.errors import ResultError, os_reason
from dumbbell.run import Run
from dumbbell.run_directory import check_parent
from dumbbell.scenario import Scenario
from dumbbell.sweeps.design import Design, make_design
from dumbbell.sweeps.plan import Plan
from dumbbell.sweeps.result import SweepResult
from dumbbell.sweeps.rows import make_rows, measure_run

__all__ = ["FORMAT", "SavedRuns", "load", "place_of", "save", "write_document", "write_rows"]

#: Version of `sweep.json` and `rows.parquet`.
FORMAT = 1
DOCUMENT = "sweep.json"
ROWS = "rows.parquet"
RUNS = "runs"


def place_of(directory: Path, design: Design, cell: int, rep: int) -> Path:
    """Return the directory of a run."""
    return directory / RUNS / f"{design.cells[cell].label},rep={rep}"


class SavedRuns(Mapping[tuple[int, int], Run]):
    """The runs under a sweep's directory; each is loaded when it is asked for."""

    def __init__(self, places: Mapping[tuple[int, int], Path]) -> None:
        self.places = dict(sorted(places.items()))

    def __getitem__(self, key: tuple[int, int]) -> Run:
        return Run.load(self.places[key])

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


def to_document(
    design: Design, plan: Plan, engine: str, provenance: Mapping[str, Any], finished: int
) -> dict[str, Any]:
    """Return what `sweep.json` says; docs/data-format.md describes it."""
    return {
        "schema_version": FORMAT,
        "engine": engine,
        "scenario": design.scenario.to_dict(),
        "axes": [
            {
                "name": axis.name,
                "unit": axis.unit,
                "values": list(axis.labels),
                "numbers": None if axis.numbers is None else list(axis.numbers),
            }
            for axis in design.axes
        ],
        "zipped": [list(names) for names in design.dims if len(names) > 1],
        "plan": plan.to_dict(),
        "provenance": dict(provenance),
        "progress": {"cells": len(design.cells), "finished_runs": finished},
    }


def write_document(
    directory: Path,
    design: Design,
    plan: Plan,
    engine: str,
    provenance: Mapping[str, Any],
    finished: int,
) -> None:
    """Write `sweep.json`, whole or not at all."""
    document = to_document(design, plan, engine, provenance, finished)
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    replace_file(directory / DOCUMENT, (text + "\n").encode())


def write_rows(directory: Path, rows: pa.Table) -> None:
    """Write `rows.parquet`, whole or not at all."""
    stream = pa.BufferOutputStream()
    pq.write_table(rows, stream, compression="zstd")
    replace_file(directory / ROWS, stream.getvalue().to_pybytes())


def replace_file(path: Path, content: bytes) -> None:
    """Write a file beside its place, then rename it."""
    handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=".dumbbell-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(scratch).replace(path)
    except OSError as error:
        Path(scratch).unlink(missing_ok=True)
        raise ResultError(f"{path}: cannot be written: {os_reason(error)}") from None


def save(result: SweepResult, directory: Path) -> Path:
    """Write a sweep with all its runs."""
    check_parent(directory)
    for (cell, rep), run in result.runs.items():
        run.save(place_of(directory, result.design, cell, rep))
    write_rows(directory, result.rows)
    write_document(
        directory, result.design, result.plan, result.engine, result.provenance, len(result.runs)
    )
    return directory


def read_document(directory: Path) -> dict[str, Any]:
    """Read `sweep.json`."""
    path = directory / DOCUMENT
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ResultError(f"{directory}: holds no sweep; there is no {DOCUMENT}") from None
    except (OSError, ValueError) as error:
        raise ResultError(f"{path}: cannot be read: {error}") from None
    version = document.get("schema_version") if isinstance(document, dict) else None
    if version != FORMAT:
        raise ResultError(f"{path}: written in format {version}, this version reads {FORMAT}")
    found: dict[str, Any] = document
    return found


def design_of(document: Mapping[str, Any]) -> Design:
    """Return the design that a document describes."""
    return make_design(
        Scenario.from_dict(document["scenario"]),
        {axis["name"]: tuple(axis["values"]) for axis in document["axes"]},
        document["zipped"],
    )


def saved_runs(directory: Path, design: Design) -> SavedRuns:
    """Find the runs that finished."""
    cells = {cell.label: cell.index for cell in design.cells}
    places = {}
    for path in (directory / RUNS).glob("*/run.json"):
        label, _, rep = path.parent.name.rpartition(",rep=")
        if label in cells and rep.isdecimal():
            places[cells[label], int(rep)] = path.parent
    return SavedRuns(places)


def load(directory: Path) -> SweepResult:
    """Read a sweep; rows that an interrupted one did not come to write are measured again."""
    document = read_document(directory)
    try:
        design, plan = design_of(document), Plan(**document["plan"])
        engine, provenance = document["engine"], document["provenance"]
    except (KeyError, TypeError) as error:
        raise ResultError(f"{directory / DOCUMENT}: is damaged: {error}") from None
    runs = saved_runs(directory, design)
    return SweepResult(
        design, plan, engine, runs, rows_of(directory, design, plan, runs), provenance
    )


def rows_of(directory: Path, design: Design, plan: Plan, runs: SavedRuns) -> pa.Table:
    """Read the rows, or measure the runs."""
    path = directory / ROWS
    if path.is_file():
        try:
            table = pq.read_table(path)
        except (OSError, pa.ArrowInvalid) as error:
            raise ResultError(f"{path}: cannot be read: {error}") from None
        if set(zip(table["cell"].to_pylist(), table["rep"].to_pylist(), strict=True)) == set(runs):
            return table
    measured = (
        (cell, rep, run.scenario.seed, measure_run(run, plan.warmup))
        for (cell, rep), run in runs.items()
    )
    return make_rows(design.axes, design.cells, measured)
