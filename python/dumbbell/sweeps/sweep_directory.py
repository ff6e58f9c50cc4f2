"""A sweep on disk: `sweep.json`, `rows.parquet`, and a directory per run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dumbbell.base.arrow_file import arrow_file
from dumbbell.base.errors import ResultError, check_directory
from dumbbell.base.quantities.json_text import json_text
from dumbbell.base.result_file import read_json
from dumbbell.base.scratch import PREFIX
from dumbbell.base.writing import Batch, adding, check_writable, errors_of_writing
from dumbbell.congestion_control import CongestionControlChoice, RecordedCongestionControl
from dumbbell.congestion_control.recorded import SourceReference, reference_of, sources_of
from dumbbell.congestion_control.source_store import StoredSources, write_sources
from dumbbell.metrics import AllMetrics, user_metrics
from dumbbell.records.check import Unexpected
from dumbbell.run import directory as run_directory
from dumbbell.run.directory import read_table
from dumbbell.runs import record_directory
from dumbbell.runs.key import RunKey, run_key
from dumbbell.runs.measuring import Measures, in_words_of
from dumbbell.runs.record import Record
from dumbbell.sweeps.design import Cell, Design
from dumbbell.sweeps.kept_runs import KeptRun, KeptRuns
from dumbbell.sweeps.other_sweep import differing, set_words
from dumbbell.sweeps.plan import Plan
from dumbbell.sweeps.recorded_design import recorded_design, words_of
from dumbbell.sweeps.result import SweepResult
from dumbbell.sweeps.rows import check_rows, make_rows

__all__ = ["FORMAT", "ROWS", "SweepDirectory", "load", "open_sweep", "place_of", "save"]

#: Version of `sweep.json` and `rows.parquet`.
FORMAT = 1
DOCUMENT = "sweep.json"
ROWS = "rows.parquet"
RUNS = "runs"
#: How often finished runs are synced and put in place.
SETTLE_S = 1.0


@dataclass(frozen=True)
class SweepDirectory:
    """Where a sweep is written as it runs.

    Attributes
    ----------
    path
        The directory.
    design, plan, engine, provenance
        What is written to `sweep.json`.
    texts
        Whether the source text of the congestion control algorithms is written too.
    """

    path: Path
    design: Design
    plan: Plan
    engine: str
    provenance: Mapping[str, Any]
    texts: bool = True

    def open(self) -> None:
        """Create it, or resume what is there.

        Raises
        ------
        ResultError
            It holds another sweep or anything else, or cannot be written.
        """
        check_writable(self.path)
        foreign = is_foreign(self.path)  # first, for another process may begin the same sweep
        if (self.path / DOCUMENT).exists():
            there = read_document(self.path)
            ours = self._to_document(0, {})
            changed = [key for key in ("scenario", "axes", "zipped", "engine")
                       if set_words(there.get(key)) != set_words(ours[key])]  # fmt: skip
            if changed:
                raise ResultError(
                    f"{self.path}: holds another sweep ({differing(there, ours, changed)}); "
                    f"resume it with `--resume {self.path}`, or use another `--out`"
                )
        elif foreign:
            raise ResultError(f"{self.path}: is not empty and holds no sweep; use another `--out`")
        # The plan or build may be another one; if it is interrupted, rows are made from the runs.
        (self.path / ROWS).unlink(missing_ok=True)
        self.write(0)
        sources = [each for each in map(sources_of, self.live_ccs) if each is not None]
        write_sources(
            self.path, sources if self.texts else [each.without_texts() for each in sources]
        )

    @property
    def live_ccs(self) -> list[CongestionControlChoice]:
        """The congestion control algorithms that this process may run; not those of a result."""
        return [cc for cc in self.design.ccs if not isinstance(cc, RecordedCongestionControl)]

    def as_started(self) -> SweepDirectory:
        """Return it without texts if the sweep there was started without them."""
        if not (self.path / DOCUMENT).is_file():
            return self
        return replace(
            self, texts=self.texts and read_document(self.path).get("texts") is not False
        )

    def is_complete(self) -> bool:
        """Whether the directory has every run of the plan, of this build, and whole sources.

        Runs may be added to narrow an interval; these are not counted.
        """
        stored = StoredSources(self.path)
        ran = [cc.source for cc in self.design.ccs if isinstance(cc, RecordedCongestionControl)]
        try:
            for source in filter(None, ran):
                stored.get(source.digest)
        except ResultError:
            return False
        for cell in self.design.cells:
            for rep in range(self.plan.reps):
                key = run_key(self.design.scenario_of(cell, rep), self.engine)
                try:
                    if record_directory.read(self.place(cell.index, rep), key) is None:
                        return False
                except ResultError:
                    return False
        return True

    def place(self, cell: int, rep: int) -> Path:
        """Return the directory of a run."""
        return place_of(self.path, self.design.cells[cell], rep)

    def batch(self) -> Batch:
        """Return what puts runs in place, several at once, as they finish.

        Raises
        ------
        ResultError
            The directory cannot be written.
        """
        with errors_of_writing(self.path):
            return Batch(self.path / RUNS, every_s=SETTLE_S)

    def write_run(
        self, batch: Batch, key: tuple[int, int], record: Record, capture: Path | None = None
    ) -> None:
        """Write a run, completely or not at all.

        Raises
        ------
        ResultError
            It cannot be written.
        """
        place = self.place(*key)
        scenario = self.design.scenario_of(self.design.cells[key[0]], key[1])
        text = record.run(scenario).to_json() + "\n"
        with errors_of_writing(place), batch.new(place.name) as new:
            record_directory.fill(new, record, document=text.encode(), capture=capture)

    def write(
        self,
        finished: int,
        rows: pa.Table | None = None,
        failed: Mapping[tuple[int, int], str] | None = None,
    ) -> None:
        """Write `sweep.json`, and the rows when they are known; each whole or not at all."""
        text = json_text(self._to_document(finished, failed or {}))
        with adding(self.path) as place_for:
            if rows is not None:
                with arrow_file(place_for(ROWS), "wb") as stream:
                    pq.write_table(rows, stream, compression="zstd")
            place_for(DOCUMENT).write_text(text + "\n", encoding="utf-8")

    @cached_property
    def references(self) -> dict[str, dict[str, Any]]:
        """The source of each congestion control algorithm, by its name in the scenarios."""
        found = {}
        for cc in self.design.ccs:
            if isinstance(cc, RecordedCongestionControl):
                reference = cc.source
            else:
                sources = sources_of(cc)
                reference = None if sources is None else reference_of(cc, sources)
            if reference is not None:
                found[cc.name] = reference.to_dict()
        return found

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
                    **words_of(axis),
                }
                for axis in design.axes
            ],
            "zipped": [list(names) for names in design.dims if len(names) > 1],
            "plan": self.plan.to_dict(),
            "provenance": dict(self.provenance),
            "sources": self.references,
            "texts": self.texts,
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
    return any(not entry.name.startswith(PREFIX) for entry in path.iterdir())


def save(result: SweepResult, path: Path) -> Path:
    """Write a sweep with all its runs."""
    ran = {
        group.cc.name: SourceReference.from_dict(loaded.get("source"))
        for run in result.runs.values()
        for group, loaded in zip(
            run.scenario.groups, run.summary["congestion_controls"], strict=True
        )
    }
    # As they were when they ran: their files may have changed since.
    design = result.design.with_ccs(
        lambda cc: RecordedCongestionControl(
            cc.name, cc.params, None, ran.get(cc.name), preset=cc.preset
        )
    )
    directory = SweepDirectory(path, design, result.plan, result.engine, result.provenance)
    directory.open()
    with directory.batch() as batch:
        for key in result.runs:
            run, place = result.runs[key], directory.place(*key)
            record = result.runs.record(key) if isinstance(result.runs, KeptRuns) else None
            write_sources(path, run.kept_sources())
            if record is not None:
                directory.write_run(batch, key, record, run.capture)
                continue
            with errors_of_writing(place), batch.new(place.name) as new:
                run_directory.fill(new, run.to_json(), run.tables, run.capture)
    directory.write(len(result.runs), result.rows, result.failed)
    return path


def read_document(path: Path) -> dict[str, Any]:
    """Read the directory's `sweep.json`."""
    document_path = path / DOCUMENT
    try:
        document = read_json(document_path)
    except (FileNotFoundError, NotADirectoryError):
        check_directory(path)
        raise ResultError(f"{path}: holds no sweep: {DOCUMENT} not found") from None
    version = document.get("schema_version") if isinstance(document, dict) else None
    if version != FORMAT:
        raise ResultError(
            f"{document_path}: written in format {version}, this version reads {FORMAT}"
        )
    found: dict[str, Any] = document
    return found


def open_sweep(path: Path) -> SweepDirectory:
    """Read the sweep of a directory; no congestion control algorithm is looked up.

    Raises
    ------
    ResultError
        None, or one of another version.
    """
    document = read_document(path)
    try:
        design = recorded_design(document)
        plan, engine = Plan(**document["plan"]), str(document["engine"])
        provenance = document["provenance"]
        _ = provenance["engine_version"], provenance["engine_build"], plan.reps + plan.max_reps
        return SweepDirectory(path, design, plan, engine, provenance)
    except KeyError as error:
        raise ResultError(
            f"{path / DOCUMENT}: is damaged: `{error.args[0]}` is missing; copy it again"
        ) from None
    except (TypeError, ValueError, AttributeError, LookupError) as error:
        raise ResultError(f"{path / DOCUMENT}: is damaged: {error}; copy it again") from None


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
            table = check_rows(read_table(path), directory.design)
        except Unexpected as unexpected:
            raise ResultError(
                f"{path}: is damaged: {unexpected}; remove it to measure again"
            ) from None
        if set(zip(table["cell"].to_pylist(), table["rep"].to_pylist(), strict=True)) == set(runs):
            return table
    seed = directory.design.scenario.seed
    measured = ((key, seed + key[1], measures_of(runs, key, directory.plan.warmup)) for key in runs)
    return make_rows(directory.design, measured)


def measures_of(runs: KeptRuns, key: tuple[int, int], warmup: str | None) -> Measures:
    """Return the metrics of a run; measure them if they were not kept."""
    record = runs.record(key)
    known = {} if record is None else record.measured
    measuring = AllMetrics(warmup)
    if measuring.how not in known:
        [measured] = measuring.of([runs[key]])
        return measured
    return in_words_of(
        runs.design.scenario_of(runs.design.cells[key[0]], key[1]), known[measuring.how]
    )
