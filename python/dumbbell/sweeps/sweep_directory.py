"""A sweep on disk: `sweep.json`, `rows.parquet`, and a directory per run."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dumbbell.documents import DocumentError, read_json
from dumbbell.errors import ResultError, check_directory, os_reason
from dumbbell.quantities.json_text import json_text
from dumbbell.run.directory import check_parent
from dumbbell.runs import record_directory
from dumbbell.runs.key import RunKey
from dumbbell.runs.measures import Measures, in_words_of, measure_run, measured_as, user_metrics
from dumbbell.runs.record import Record
from dumbbell.scenario import Scenario
from dumbbell.sweeps.design import Cell, Design, make_design
from dumbbell.sweeps.kept_runs import KeptRun, KeptRuns
from dumbbell.sweeps.plan import Plan
from dumbbell.sweeps.result import SweepResult
from dumbbell.sweeps.rows import make_rows

__all__ = ["FORMAT", "ROWS", "SweepDirectory", "load", "open_sweep", "place_of", "save"]

#: Version of `sweep.json` and `rows.parquet`.
FORMAT = 1
DOCUMENT = "sweep.json"
ROWS = "rows.parquet"
RUNS = "runs"


@dataclass(frozen=True)
class SweepDirectory:
    """Where a sweep is written as it runs.

    Attributes
    ----------
    path
        The directory.
    design, plan, engine, provenance
        What is written to `sweep.json`.
    """

    path: Path
    design: Design
    plan: Plan
    engine: str
    provenance: Mapping[str, Any]

    def open(self) -> None:
        """Create it, or resume what is there.

        Raises
        ------
        ResultError
            It holds another sweep or anything else, or cannot be written.
        """
        check_parent(self.path)
        if (self.path / DOCUMENT).exists():
            there = read_document(self.path)
            ours = self._to_document(0, {})
            changed = [key for key in ("scenario", "axes", "zipped", "engine")
                       if there.get(key) != ours[key]]  # fmt: skip
            if changed:
                raise ResultError(
                    f"{self.path}: holds another sweep ({' and '.join(changed)} differ); "
                    f"resume it with `--resume {self.path}`, or use another `--out`"
                )
        elif is_foreign(self.path):
            raise ResultError(f"{self.path}: is not empty and holds no sweep; use another `--out`")
        # The plan or build may be another one; if it is interrupted, rows are made from the runs.
        (self.path / ROWS).unlink(missing_ok=True)
        self.write(0)
        (self.path / RUNS).mkdir(exist_ok=True)

    def place(self, cell: int, rep: int) -> Path:
        """Return the directory of a run."""
        return place_of(self.path, self.design.cells[cell], rep)

    def write_run(self, key: tuple[int, int], record: Record, capture: Path | None = None) -> Path:
        """Write a run, completely or not at all.

        Raises
        ------
        ResultError
            It cannot be written.
        """
        place = self.place(*key)
        scenario = self.design.scenario_of(self.design.cells[key[0]], key[1])
        text = record.run(scenario).to_json() + "\n"
        try:
            record_directory.write(
                place, record, self.path / RUNS, document=text.encode(), capture=capture
            )
        except OSError as error:
            raise ResultError(f"{place}: cannot be written: {os_reason(error)}") from None
        return place

    def write(
        self,
        finished: int,
        rows: pa.Table | None = None,
        failed: Mapping[tuple[int, int], str] | None = None,
    ) -> None:
        """Write `sweep.json`, and the rows when they are known; each whole or not at all."""
        if rows is not None:
            stream = pa.BufferOutputStream()
            pq.write_table(rows, stream, compression="zstd")
            replace_file(self.path / ROWS, stream.getvalue().to_pybytes())
        text = json_text(self._to_document(finished, failed or {}))
        replace_file(self.path / DOCUMENT, (text + "\n").encode())

    def _to_document(self, finished: int, failed: Mapping[tuple[int, int], str]) -> dict[str, Any]:
        """Return what `sweep.json` says; docs/format-sweep.md describes it."""
        design = self.design
        return {
            "schema_version": FORMAT,
            "engine": self.engine,
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
            "plan": self.plan.to_dict(),
            "provenance": dict(self.provenance),
            "progress": {"cells": len(design.cells), "finished_runs": finished},
            "failed": [
                {
                    "cell": cell,
                    "rep": rep,
                    "seed": design.scenario_of(design.cells[cell], rep).seed,
                    "error": error,
                }
                for (cell, rep), error in sorted(failed.items())
            ],
        }


def place_of(path: Path, cell: Cell, rep: int) -> Path:
    """Return the directory of a run of the sweep that a directory holds."""
    return path / RUNS / f"{cell.label},rep={rep}"


def is_foreign(path: Path) -> bool:
    """Whether a directory has anything but the remains of an interrupted write."""
    return any(not entry.name.startswith(".dumbbell-") for entry in path.iterdir())


def replace_file(path: Path, content: bytes) -> None:
    """Write a temporary file in the same directory, then rename it."""
    scratch = None
    try:
        handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=".dumbbell-")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(scratch).chmod(0o666 & ~umask())
        Path(scratch).replace(path)
    except OSError as error:
        if scratch is not None:
            Path(scratch).unlink(missing_ok=True)
        raise ResultError(f"{path}: cannot be written: {os_reason(error)}") from None


def umask() -> int:
    """Return the process's umask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def save(result: SweepResult, path: Path) -> Path:
    """Write a sweep with all its runs."""
    directory = SweepDirectory(path, result.design, result.plan, result.engine, result.provenance)
    directory.open()
    for key in result.runs:
        record = result.runs.record(key) if isinstance(result.runs, KeptRuns) else None
        if record is None:
            result.runs[key].save(directory.place(*key))
        else:
            directory.write_run(key, record, result.runs[key].capture)
    directory.write(len(result.runs), result.rows, result.failed)
    return path


def read_document(path: Path) -> dict[str, Any]:
    """Read `sweep.json`."""
    document_path = path / DOCUMENT
    try:
        document = read_json(document_path)
    except (FileNotFoundError, NotADirectoryError):
        check_directory(path)
        raise ResultError(f"{path}: holds no sweep: {DOCUMENT} not found") from None
    except OSError as error:
        raise ResultError(f"{document_path}: cannot be read: {os_reason(error)}") from None
    except DocumentError as error:
        raise ResultError(f"{document_path}: is damaged: {error}") from None
    version = document.get("schema_version") if isinstance(document, dict) else None
    if version != FORMAT:
        raise ResultError(
            f"{document_path}: written in format {version}, this version reads {FORMAT}"
        )
    found: dict[str, Any] = document
    return found


def open_sweep(path: Path) -> SweepDirectory:
    """Read the sweep of a directory.

    Raises
    ------
    ResultError
        None, or one of another version.
    """
    document = read_document(path)
    try:
        design = make_design(
            Scenario.from_dict(document["scenario"]),
            {axis["name"]: tuple(axis["values"]) for axis in document["axes"]},
            document["zipped"],
        )
        plan, engine = Plan(**document["plan"]), document["engine"]
        return SweepDirectory(path, design, plan, engine, document["provenance"])
    except (KeyError, TypeError) as error:
        raise ResultError(f"{path / DOCUMENT}: is damaged: {error}") from None


def load(path: Path) -> SweepResult:
    """Read a sweep; an interrupted one's rows are measured again."""
    directory = open_sweep(path)
    runs = KeptRuns(directory.design, kept_in(directory))
    return SweepResult(
        directory.design,
        directory.plan,
        directory.engine,
        runs,
        rows_of(directory, runs),
        directory.provenance,
        failed=failed_in(path),
    )


def failed_in(path: Path) -> dict[tuple[int, int], str]:
    """Read which runs failed when the sweep was last run; earlier versions wrote none."""
    try:
        said = read_document(path).get("failed", [])
        return {(int(run["cell"]), int(run["rep"])): str(run["error"]) for run in said}
    except (KeyError, TypeError, ValueError) as error:
        raise ResultError(f"{path / DOCUMENT}: is damaged: {error}") from None


def kept_in(directory: SweepDirectory) -> dict[tuple[int, int], KeptRun]:
    """Find the runs that finished, except those of another build of the engine."""
    cells = {cell.label: cell.index for cell in directory.design.cells}
    found = {}
    for path in (directory.path / RUNS).glob("*/run.json"):
        label, _, rep = path.parent.name.rpartition(",rep=")
        if label not in cells or not rep.isdecimal():
            continue
        if directory.plan.until_ci is None and int(rep) >= directory.plan.reps:
            continue
        kept = KeptRun(key_in(path.parent), path.parent)
        if kept.key is None or kept.key.engine_build == directory.provenance["engine_build"]:
            found[cells[label], int(rep)] = kept
    return found


def key_in(place: Path) -> RunKey | None:
    """Return the content address in a run's directory; None if there is none."""
    try:
        said = record_directory.read_provenance(place)
    except (OSError, ResultError):
        return None
    engine, version, build = (
        str(said.get(part)) for part in ("engine", "engine_version", "engine_build")
    )
    return RunKey(said["key"], engine, version, build)


def rows_of(directory: SweepDirectory, runs: KeptRuns) -> pa.Table:
    """Read the rows, or take the metrics of each run."""
    path = directory.path / ROWS
    if path.is_file() and not user_metrics():  # whose code may have changed since
        try:
            table = pq.read_table(path)
        except (OSError, pa.ArrowInvalid) as error:
            raise ResultError(f"{path}: cannot be read: {error}") from None
        if set(zip(table["cell"].to_pylist(), table["rep"].to_pylist(), strict=True)) == set(runs):
            return table
    seed = directory.design.scenario.seed
    measured = ((key, seed + key[1], measures_of(runs, key, directory.plan.warmup)) for key in runs)
    return make_rows(directory.design.axes, directory.design.cells, measured)


def measures_of(runs: KeptRuns, key: tuple[int, int], warmup: str | None) -> Measures:
    """Return the metrics of a run; measure them if they were not kept."""
    record = runs.record(key)
    known = {} if record is None else record.measured
    how = measured_as(warmup)
    if how not in known:
        return measure_run(runs[key], warmup)
    return in_words_of(runs.design.scenario_of(runs.design.cells[key[0]], key[1]), known[how])
