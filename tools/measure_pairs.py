"""Measures the pairs of accuracy.md on Linux, until each case has as many valid runs as asked.

``python tools/measure_pairs.py 5 kernel`` continues where it was stopped; the arguments are the
number of runs, the engine (``kernel``, ``uml`` or ``uml:NAME``; ``linux`` for Linux's own
algorithms in virtual time), and, optional, a part of the names of the cases, ``rtt=20ms``. The
kernel engine needs a quiet machine and root: two runs of 100 Mbit/s at a time keep its relay within
100 µs on two cores. An INVALID run stays in the data, and another takes its place.
"""

from __future__ import annotations

import datetime as dt
import itertools
import json
import platform
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dumbbell import Run, Scenario, run_all
from dumbbell.compare.measurements import digest, write
from dumbbell.run.engine import KERNEL
from dumbbell.run.guest import UML, guest_kernel

PLACE = Path(__file__).parents[1] / "docs" / "notes" / "data"
#: Linux's own algorithms, in virtual time.
LINUX = "linux"
DATA = {
    KERNEL: PLACE / "pairs-2026-11.json",
    UML: PLACE / "virtual-pairs-2026-11.json",
    LINUX: PLACE / "virtual-linux-pairs-2026-12.json",
}
#: Runs at a time.
WORKERS = 2


def read(engine: str) -> dict[str, Any]:
    """Return what was measured on an engine; in virtual time the same cases as on the kernel."""
    path = DATA[engine.partition(":")[0]]
    if path.exists():
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return document
    document = json.loads(DATA[KERNEL].read_text(encoding="utf-8"))
    kernel = guest_kernel(engine_of(engine))
    cases = document["cases"]
    if engine == LINUX:
        # Without marks Linux's DCTCP is its Reno, and says so.
        names = [name for name in kernel.congestion_controls if name != "dctcp"]
        first = cases[0]["name"].partition(",")[0]
        paths = [case for case in cases if case["name"].startswith(f"{first},")]
        cases = pairs_of(names, paths)
    return {
        **document,
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "kernel_release": kernel.release,
        "cases": [{**case, "reps": []} for case in cases],
    }


def engine_of(name: str) -> str:
    """Return the engine on which the cases of a name are measured."""
    return UML if name == LINUX else name


def pairs_of(names: Sequence[str], paths: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the cases of each pair of a kernel's algorithms, on the paths of some cases."""
    cases = []
    for pair, case in itertools.product(itertools.combinations(sorted(names), 2), paths):
        path = case["name"].partition(",")[2]
        groups = [
            {**group, "cc": f"linux/{name}"}
            for group, name in zip(case["scenario"]["group"], pair, strict=True)
        ]
        scenario = {**case["scenario"], "group": groups}
        cases.append({"name": f"{'+'.join(pair)},{path}", "scenario": scenario})
    return cases


def missing(document: dict[str, Any], wanted: int, part: str) -> list[tuple[int, Scenario]]:
    """Return the index of each case that lacks runs, with the next scenario for each of these.

    The first run that a case lacks comes before the second of any other.
    """
    todo = []
    scenarios = [Scenario.from_dict(case["scenario"]) for case in document["cases"]]
    for index, case in enumerate(document["cases"]):
        if part not in case["name"]:
            continue
        valid = sum(rep["verdict"] != "INVALID" for rep in case["reps"])
        last = max((rep["seed"] for rep in case["reps"]), default=0)
        todo += [
            (valid + more, index, scenarios[index].replace(seed=last + 1 + more))
            for more in range(wanted - valid)
        ]
    return [(index, scenario) for _, index, scenario in sorted(todo, key=lambda each: each[:2])]


def main(wanted: int, engine: str, part: str = "") -> None:
    """Run what is missing, and again what was INVALID."""
    document = read(engine)
    release = platform.release() if engine == KERNEL else guest_kernel(engine_of(engine)).release
    if document["kernel_release"] != release:
        sys.exit(f"the data are of Linux {document['kernel_release']}")
    while todo := missing(document, wanted, part):
        measure(document, todo, engine)


def measure(document: dict[str, Any], todo: list[tuple[int, Scenario]], engine: str) -> None:
    """Run scenarios, and write each run when it is there."""
    lock = threading.Lock()
    place = DATA[engine.partition(":")[0]]

    def finished(key: int, run: Run) -> Run:
        """Write a run."""
        with lock:
            case = document["cases"][todo[key][0]]
            case["reps"].append(digest(run))
            head = {key: value for key, value in document.items() if key != "cases"}
            write(head, document["cases"], place)
            late_us = case["reps"][-1]["lateness_p99_us"]
            line = f"{case['name']} {run.scenario.seed} {run.verdict.status} {late_us}"
            print(line, flush=True)
        return Run(run.scenario, run.summary, {})

    print(f"{len(todo)} runs", flush=True)
    scenarios = ((key, scenario) for key, (_, scenario) in enumerate(todo))
    run_all(scenarios, engine=engine_of(engine), jobs=WORKERS, on_finished=finished)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:4])
