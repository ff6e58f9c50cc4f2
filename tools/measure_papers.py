"""Measures the papers' runs on the kernel, plain and with elements of their apparatus.

``python tools/measure_papers.py`` measures what is missing in ``tests/data``, and continues where
it was stopped; arguments name papers, ``coexistence``; without any it is all. What is to be
measured again is deleted from the files first. On a quiet machine, as root: as many runs at a time
as a batch says keep the relay within 150 µs on two cores. An INVALID run is not kept but repeated.
"""

from __future__ import annotations

import datetime as dt
import json
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dumbbell import Run, run_all
from dumbbell_studies.papers import PAPERS
from dumbbell_studies.papers.apparatus import apply
from dumbbell_studies.papers.apparatus_element import Setup, Treatment
from dumbbell_studies.papers.kakenhi2024.runs import Alone, Interval, Mixed
from dumbbell_studies.papers.measured_text import decode, encode
from dumbbell_studies.papers.presets import PRESETS, kernel_part
from dumbbell_studies.papers.questions import AGAINST_CUBIC, BOTH, MANY_BBR, copas, pair
from dumbbell_studies.papers.saito2022.runs import Point as Copas

DATA = Path(__file__).parents[1] / "tests" / "data"
#: The first run of each point without elements, and everything else.
PLAIN, ELEMENTS = DATA / "papers-kernel-2026-11.jsonl", DATA / "elements-kernel-2026-11.jsonl"
#: How often a run is tried that is INVALID.
TRIES = 3


@dataclass(frozen=True)
class Batch:
    """Runs of a paper at some points, with something of its apparatus.

    Attributes
    ----------
    paper
        Its name.
    points
        What runs.
    at_once
        Runs at a time.
    setup
        What is added to the plain set-up.
    seeds
        One run of each point with each.
    """

    paper: str
    points: tuple[Any, ...]
    at_once: int
    setup: Setup = ()
    seeds: tuple[int, ...] = (1,)


@dataclass(frozen=True)
class Wanted:
    """A run that is wanted."""

    paper: str
    setup: Setup
    point: Any
    seed: int

    @property
    def file(self) -> Path:
        """Where it is kept."""
        return PLAIN if not self.setup and self.seed == 1 else ELEMENTS


def preset(name: str) -> Setup:
    """Return what the kernel engine can have of a preset."""
    paper = PAPERS[PRESETS[name].papers[0]]
    return kernel_part(PRESETS[name].setup, paper.scenario(paper.points[0], 1))


GRID = (*pair("cubic", 1), *pair("cubic", 4), *pair("bbr", 1), *pair("bbr", 4))
SHALLOW = pair("cubic", 1, 0.5, 1.0)
ONE_BBR = pair("bbr", 1, 2.0, 16.0)
IN_TURN = (Treatment("starts", "50ms apart"),)
BOTH_SEEDS = (1, 2)
SPREADS = ("100ms", "400ms")
#: What findings.md reports of the kernel.
BATCHES = (
    Batch("ogino2021", GRID, 1),
    Batch(
        "saito2022",
        tuple(Copas(flows, within) for within in SPREADS for flows in (16, 32, 64, 128)),
        1,
    ),
    Batch("kakenhi2024", tuple(Alone("bbr", 128, 32.0, within) for within in SPREADS), 1),
    Batch(
        "kakenhi2024",
        tuple(
            Alone(cc, flows, buffer)
            for flows in (16, 32, 64, 128)
            for buffer in (1.0, 10.0)
            for cc in ("bbr", "l3dr")
        ),
        2,
    ),
    Batch(
        "kakenhi2024",
        tuple(Interval("40ms", flows, buffer) for flows in (1, 4, 16) for buffer in (1.0, 4.0)),
        6,
    ),
    Batch(
        "kakenhi2024",
        tuple(
            Mixed(cc, mix, buffer)
            for buffer in (1.0, 4.0, 16.0)
            for mix in ((1, 1), (4, 4))
            for cc in ("bbr_fca", "bbr", "bbr3")
        ),
        6,
    ),
    Batch("coexistence", BOTH, 9),
    Batch("ogino2021", SHALLOW, 4, seeds=(2,)),
    Batch("ogino2021", ONE_BBR, 4, seeds=(2,)),
    Batch("saito2022", copas(64), 1, seeds=(2,)),
    Batch("ogino2021", GRID, 4, preset("mininet-2021")),
    Batch("ogino2021", SHALLOW, 4, (Treatment("copa_agent", "on"),), BOTH_SEEDS),
    Batch("ogino2021", SHALLOW, 4, (Treatment("tclink_htb", "delay apart"),), BOTH_SEEDS),
    Batch("ogino2021", SHALLOW, 4, (Treatment("tclink_tbf", "delay apart"),), BOTH_SEEDS),
    Batch(
        "ogino2021", SHALLOW, 4, (Treatment("tclink_htb", "limit counts delayed packets"),),
        BOTH_SEEDS,
    ),
    Batch("ogino2021", ONE_BBR, 4, (Treatment("bbr_over_pacing", "Linux 4.15"),), BOTH_SEEDS),
    Batch("ogino2021", ONE_BBR, 4, (Treatment("bbr_4_15", "whole"),), BOTH_SEEDS),
    Batch("saito2022", copas(16, 32, 64, 128), 1, IN_TURN),
    Batch("saito2022", copas(64), 1, IN_TURN, seeds=(2,)),
    Batch("kakenhi2024", MANY_BBR, 2, (Treatment("bbr_4_15", "whole"),)),
    Batch("kakenhi2024", MANY_BBR, 2, (Treatment("bbr_over_pacing", "Linux 4.15"),)),
    Batch("kakenhi2024", MANY_BBR, 2, (Treatment("noise", "20us"),)),
    Batch("kakenhi2024", MANY_BBR, 2, IN_TURN),
    Batch("coexistence", BOTH, 9, preset("freebsd-dummynet-2017")),
    Batch("coexistence", AGAINST_CUBIC, 9, (Treatment("bbr_4_12", "unpaced"),)),
)  # fmt: skip


def measured() -> set[Wanted]:
    """Return what the files have."""
    return {
        Wanted(
            run["paper"],
            tuple(Treatment(*each) for each in run.get("setup", ())),
            decode(run["point"]),
            run["seed"],
        )
        for file in (PLAIN, ELEMENTS)
        if file.exists()
        for run in map(json.loads, file.read_text(encoding="utf-8").splitlines())
    }


def missing(batch: Batch) -> list[Wanted]:
    """Return the runs of a batch that the files do not have."""
    there = measured()
    runs = [Wanted(batch.paper, batch.setup, p, s) for s in batch.seeds for p in batch.points]
    return [run for run in runs if run not in there]


def line(wanted: Wanted, run: Run) -> dict[str, Any]:
    """Return what is kept of a run."""
    facts: Mapping[str, Any] = run.emulation or {}
    added = [[each.element, each.level] for each in wanted.setup]
    return {
        "paper": wanted.paper,
        **({"setup": added} if wanted.file is ELEMENTS else {}),
        "point": encode(wanted.point),
        "seed": wanted.seed,
        "verdict": run.verdict.status,
        "reasons": sorted({reason.check for reason in run.verdict.reasons}),
        "lateness_p99_us": facts["lateness_p99_us"],
        "kernel_release": facts["kernel_release"],
        "cpus": facts["cpus"],
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "measured": encode(PAPERS[wanted.paper].measure(wanted.point, run)),
    }


def keeper(todo: list[Wanted]) -> Callable[[int, Run], Run]:
    """Return what writes each run when it is there."""
    lock = threading.Lock()

    def finished(key: int, run: Run) -> Run:
        """Write a run, unless it is INVALID."""
        wanted, status = todo[key], run.verdict.status
        if status != "INVALID":
            text = json.dumps(line(wanted, run), separators=(",", ":"))
            with lock, wanted.file.open("a", encoding="utf-8") as out:
                out.write(text + "\n")
        print(wanted.paper, *wanted.setup, wanted.point, wanted.seed, status, flush=True)
        return Run(run.scenario, run.summary, {})

    return finished


def measure(batches: Iterable[Batch]) -> list[Wanted]:
    """Run what is missing of some batches, and return what is still missing then."""
    left = []
    for batch in batches:
        for _ in range(TRIES):
            todo = missing(batch)
            scenarios = [
                (key, apply(wanted.setup, PAPERS[wanted.paper].scenario(wanted.point, wanted.seed)))
                for key, wanted in enumerate(todo)
            ]
            run_all(scenarios, engine="kernel", jobs=batch.at_once, on_finished=keeper(todo))
        left += missing(batch)
    return left


def main(papers: list[str]) -> None:
    """Measure what is missing, of some papers or of all."""
    if unknown := set(papers) - set(PAPERS):
        sys.exit(f"unknown paper `{unknown.pop()}`: use {', '.join(PAPERS)}")
    left = measure(batch for batch in BATCHES if batch.paper in (papers or PAPERS))
    if left:
        sys.exit(f"{len(left)} runs were INVALID {TRIES} times; the first: {left[0]}")


if __name__ == "__main__":
    main(sys.argv[1:])
