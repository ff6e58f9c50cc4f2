"""Measures the pairs of accuracy.md on Linux, until each case has as many valid runs as asked.

``python tools/measure_pairs.py 5 kernel`` continues where it was stopped; the arguments are the
number of runs, the engine (``kernel``, ``uml`` or ``uml:NAME``), and, optional, a part of the names
of the cases, ``rtt=20ms``. The kernel engine needs a quiet machine and root: two runs of 100 Mbit/s
at a time keep its relay within 100 µs on two cores. An INVALID run stays in the data, and another
takes its place.
"""

from __future__ import annotations

import datetime as dt
import json
import platform
import sys
import threading
from pathlib import Path
from typing import Any

from dumbbell import Run, Scenario, run_all
from dumbbell.compare.measurements import digest, load, write
from dumbbell.run.engine import KERNEL
from dumbbell.run.guest import UML, guest_kernel

PLACE = Path(__file__).parents[1] / "docs" / "notes" / "data"
DATA = {KERNEL: PLACE / "pairs-2026-11.json", UML: PLACE / "virtual-pairs-2026-11.json"}
#: Runs at a time.
WORKERS = 2


def read(engine: str) -> dict[str, Any]:
    """Return what was measured on an engine; in virtual time the same cases as on the kernel."""
    path = DATA[engine.partition(":")[0]]
    if path.exists():
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return document
    document = json.loads(DATA[KERNEL].read_text(encoding="utf-8"))
    kernel = guest_kernel(engine)
    return {
        **document,
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "kernel_release": kernel.release,
        "cases": [{**case, "reps": []} for case in document["cases"]],
    }


def missing(document: dict[str, Any], wanted: int, part: str) -> list[tuple[int, Scenario]]:
    """Return the index of each case that lacks runs, with the next scenario for each of these.

    The first run that a case lacks comes before the second of any other.
    """
    todo = []
    scenarios = [case.scenario for case in load(DATA[KERNEL])]
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
    release = platform.release() if engine == KERNEL else guest_kernel(engine).release
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
    run_all(scenarios, engine=engine, jobs=WORKERS, on_finished=finished)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:4])
