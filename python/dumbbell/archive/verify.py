"""Run an archive's simulated runs again and compare them with what it holds."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dumbbell import _core
from dumbbell._core import ENGINE_VERSION
from dumbbell.archive.differences import (
    document_differences,
    table_difference,
    text_difference,
)
from dumbbell.archive.extract import MAX_BYTES, extract
from dumbbell.archive.manifest import RESULTS, Manifest
from dumbbell.archive.sources import BUILT_IN, FILE, builds_here, path_below_cc
from dumbbell.base.errors import CongestionControlError, ResultError
from dumbbell.base.writing import write_file
from dumbbell.congestion_control import CongestionControlChoice, RecordedCongestionControl
from dumbbell.congestion_control.name_kinds import is_file
from dumbbell.congestion_control.quic import split_params
from dumbbell.run import Run
from dumbbell.run import directory as run_directory
from dumbbell.run.engine import SIMULATOR, engine_build
from dumbbell.run.verdict import worst
from dumbbell.runs import Progress, run_all
from dumbbell.scenario import Scenario
from dumbbell.sweeps import SweepResult

__all__ = ["Difference", "Verification", "verify"]

#: Fields of `run.json` that say what ran and how, and not what came out; and those of a group.
PROVENANCE = ("engine_version", "engine_build", "sandbox")
OF_SOURCE = ("build", "declared", "source")
#: Fields of a document that are named when many differ.
MAX_FIELDS = 3


@dataclass(frozen=True)
class Difference:
    """Something that came out otherwise.

    Attributes
    ----------
    run
        Path of the run in the archive.
    part
        ``run.json``, or the name of a table.
    what
        Where it differs first, in words.
    """

    run: str
    part: str
    what: str


@dataclass(frozen=True)
class Verification:
    """An archive, checked.

    Attributes
    ----------
    manifest
        What it says of itself.
    compared
        The runs that were run again.
    differences
        What came out otherwise.
    notes
        Sources, builds and versions that differ here.
    measured
        The runs on the kernel, which are measurements and were not run again.
    without_sources
        The simulated runs whose congestion control algorithms' source the archive does not hold.
    """

    manifest: Manifest
    compared: tuple[str, ...]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]
    measured: tuple[str, ...]
    without_sources: tuple[str, ...] = ()

    @property
    def is_identical(self) -> bool:
        """Whether everything that was run again came out the same, byte by byte."""
        return not self.differences

    def to_dict(self) -> dict[str, Any]:
        """Return the result as `verify --json` prints it; docs/archive.md describes it."""
        return {
            "identical": self.is_identical if self.compared else None,
            "kind": self.manifest.kind,
            "versions": dict(self.manifest.versions),
            "compared": list(self.compared),
            "differences": [vars(difference) for difference in self.differences],
            "notes": list(self.notes),
            "measured": list(self.measured),
            "without_sources": list(self.without_sources),
        }


def verify(
    path: str | Path,
    *,
    trust: bool = False,
    jobs: int | None = None,
    max_bytes: int = MAX_BYTES,
    on_progress: Callable[[Progress], None] | None = None,
) -> Verification:
    """Check an archive's digests, run its simulated runs again, and compare them byte by byte.

    Parameters
    ----------
    path
        The archive.
    trust
        Run congestion control algorithms that the archive carries the source of.
    jobs
        Runs at a time.
    max_bytes
        The most that the archive may decompress to.
    on_progress
        Called several times a second.

    Returns
    -------
    Verification
        What was compared, and what differs.

    Raises
    ------
    ResultError
        The archive is damaged, or carries code and is not trusted.
    """
    with tempfile.TemporaryDirectory(prefix="dumbbell-verify-") as scratch:
        before, after = Path(scratch, "archive"), Path(scratch, "again")
        manifest = extract(Path(path), before, max_bytes)
        if not trust:
            refuse_code(Path(path), manifest)
        rerun = Rerun(before, after, manifest)
        differences = rerun.runs(jobs, on_progress)
        notes = tuple(rerun.notes())
        if not differences and manifest.kind == "sweep":
            differences = rerun.rows()
        measured = [run["path"] for run in manifest.runs if run["engine"] != SIMULATOR]
        without = [
            run["path"]
            for run in manifest.runs
            if run["engine"] == SIMULATOR and run["path"] not in rerun.simulated
        ]
        return Verification(
            manifest,
            tuple(rerun.simulated),
            tuple(differences),
            notes,
            tuple(measured),
            tuple(without),
        )


def refuse_code(path: Path, manifest: Manifest) -> None:
    """Refuse to run what an archive carries."""
    carried = [
        f"`{name}` ({cc['main']})"
        for name, cc in manifest.congestion_controls.items()
        if cc["kind"] == FILE and cc["main"] is not None
    ]
    if carried:
        raise ResultError(
            f"{path}: verifying it compiles and runs code that it carries: "
            f"{', '.join(carried)}; read that code first (`tar -xf`), then use `--trust`"
        )


class Rerun:
    """An extracted archive, and its runs again.

    Parameters
    ----------
    before
        The directory it was extracted to.
    after
        The directory for the runs.
    manifest
        What it says of itself.
    """

    def __init__(self, before: Path, after: Path, manifest: Manifest) -> None:
        self.before = before
        self.after = after
        self.manifest = manifest
        self.documents = {run["path"]: read_document(before / run["path"]) for run in manifest.runs}
        self.simulated = [path for path in self.documents if self.runs_here(path)]

    def runs_here(self, path: str) -> bool:
        """Whether a run can be run again: it was simulated, and the archive has what it needs."""
        names = [split_params(group["cc"])[0] for group in self.words(path)["group"]]
        return self.documents[path]["engine"] == SIMULATOR and not any(
            is_file(name)
            and self.manifest.congestion_controls.get(name, {}).get("main", "") is None
            for name in names
        )

    def cc_here(self, text: str) -> CongestionControlChoice:
        """Return a CCA of the archive as it runs here: from its sources there."""
        recorded = RecordedCongestionControl.read(text)
        name = recorded.name
        if recorded.is_python_class:
            raise ResultError(f"`{name}` is a class of a program, which an archive cannot hold")
        if not recorded.is_file:
            return CongestionControlChoice(name, recorded.params, preset=recorded.preset)
        cc = self.manifest.congestion_controls.get(name, {})
        if cc.get("kind") != FILE or not cc.get("main"):
            raise ResultError(f"the archive does not hold the source of `{name}`")
        return CongestionControlChoice(name, recorded.params, self.before / cc["main"])

    def words(self, path: str) -> dict[str, Any]:
        """Return a run's scenario in its words."""
        words: dict[str, Any] = self.documents[path]["scenario"]
        return words

    def scenario(self, path: str) -> Scenario:
        """Return a run's scenario, with the sources of the archive."""
        words = self.words(path)
        return Scenario.from_result(words, [self.cc_here(group["cc"]) for group in words["group"]])

    def runs(
        self, jobs: int | None, on_progress: Callable[[Progress], None] | None
    ) -> list[Difference]:
        """Run what was simulated again; return what differs, in the manifest's order."""
        found: dict[str, list[Difference]] = {}

        def compare(path: str, run: Run) -> Run:
            run.save(self.after / path)
            found[path] = list(self.compare(path, run))
            return Run(run.scenario, run.summary, {})

        scenarios = [(path, self.scenario(path)) for path in self.simulated]
        try:
            run_all(scenarios, jobs=jobs, cache=False, on_finished=compare, on_progress=on_progress)
        except CongestionControlError as error:
            return [Difference("", "run", f"a run failed here: {error}")]
        return [each for path in self.simulated for each in found[path]]

    def compare(self, path: str, run: Run) -> Iterator[Difference]:
        """Compare a run's document and tables with the archive's."""
        there = self.documents[path]
        here = json.loads(run.to_json()) | {"scenario": there["scenario"]}
        fields = list(document_differences(results_of(there), results_of(here)))
        if fields:
            more = len(fields) - MAX_FIELDS
            what = "; ".join(fields[:MAX_FIELDS]) + (f"; and {more} more" if more > 0 else "")
            yield Difference(path, run_directory.DOCUMENT, what)
        before, after = ({file.name: file for file in (root / path).glob("*.parquet")}
                         for root in (self.before, self.after))  # fmt: skip
        if not before:  # a run that was saved without its time series
            return
        for name in sorted({*before, *after}):
            if name not in after or name not in before:
                yield Difference(
                    path, name, f"only {'here' if name in after else 'in the archive'}"
                )
            elif before[name].read_bytes() != after[name].read_bytes():
                # Another pyarrow may write the same values in other bytes.
                table = Path(name).stem
                difference = table_difference(
                    *(run_directory.ParquetTables(root / path)[table]
                      for root in (self.before, self.after))
                )  # fmt: skip
                if difference is not None:
                    yield Difference(path, name, difference)

    def rows(self) -> list[Difference]:
        """Measure a sweep's metrics again; return how its rows differ."""
        name = "rows.parquet"
        has_code = any(cc["kind"] == FILE for cc in self.manifest.congestion_controls.values())
        rows = self.before / RESULTS / name
        if has_code or not rows.is_file() or len(self.simulated) < len(self.documents):
            return []
        document = (self.before / RESULTS / "sweep.json").read_bytes()
        write_file(self.after / RESULTS / "sweep.json", document)
        again = SweepResult.load(self.after / RESULTS).rows
        there = run_directory.ParquetTables(self.before / RESULTS)["rows"]
        difference = table_difference(there, again)
        return [] if difference is None else [Difference(RESULTS, name, difference)]

    def notes(self) -> Iterator[str]:
        """Yield which versions, sources and builds differ here."""
        versions = self.manifest.versions
        if versions.get("dumbbell") != ENGINE_VERSION:
            yield f"dumbbell {versions.get('dumbbell')} made the archive; this is {ENGINE_VERSION}"
        builds = {run["engine_build"] for run in self.manifest.runs}
        if builds != {engine_build()}:
            there = ", ".join(sorted(str(build) for build in builds))
            yield f"engine build: {there} in the archive, {engine_build()} here"
        here = _core.builtin_sources()
        for cc in self.manifest.congestion_controls.values():
            if cc["kind"] == BUILT_IN:
                yield from self.changed_sources(cc["sources"], here)
        used = {
            name: self.cc_here(name)
            for name, cc in self.manifest.congestion_controls.items()
            if SIMULATOR in cc["builds"] and not (cc["kind"] == FILE and cc["main"] is None)
        }
        for name, build in builds_here(used).items():
            there = ", ".join(self.manifest.congestion_controls[name]["builds"][SIMULATOR])
            if there != build:
                yield f"build of `{name}`: {there} in the archive, {build} here"

    def changed_sources(self, members: list[str], here: Mapping[str, str]) -> Iterator[str]:
        """Yield which sources of built-ins differ from this installation's."""
        for member in members:
            path = path_below_cc(member)
            difference = text_difference(
                (self.before / member).read_text(encoding="utf-8", errors="replace"),
                here.get(path, ""),
            )
            if difference is not None:
                yield f"source cc/{path}, {difference}"


def read_document(place: Path) -> dict[str, Any]:
    """Read a run's document; refuse one without what is needed to run it again."""
    document, _ = run_directory.read(place)
    try:
        _ = document["engine"], [group["cc"] + "" for group in document["scenario"]["group"]]
        results_of(document)
    except (AttributeError, KeyError, TypeError) as error:
        raise ResultError(f"{place / run_directory.DOCUMENT}: is damaged: {error}") from None
    return document


def results_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run's document without what depends on builds and the machine's sandbox."""
    kept = {key: value for key, value in document.items() if key not in PROVENANCE}
    reasons = [each for each in document["verdict"]["reasons"] if each["check"] != "sandbox"]
    kept["verdict"] = {"status": worst(each["status"] for each in reasons), "reasons": reasons}
    kept["groups"] = [
        {key: value for key, value in group.items() if key not in OF_SOURCE}
        for group in document["groups"]
    ]
    return kept
