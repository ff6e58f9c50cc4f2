"""Measures the pairs of accuracy.md on the kernel, until each case has as many valid runs as asked.

``python tools/measure_pairs.py 5`` continues where it was stopped; the first argument is the number
of runs, the second, ``rtt=20ms``, is optional: a part of the names of the cases.
On a quiet machine, as root: two runs of 100 Mbit/s at a time keep the relay within 100 µs on two
cores. An INVALID run stays in the data, and another takes its place.
"""

from __future__ import annotations

import json
import platform
import sys
import threading
from pathlib import Path
from typing import Any

from dumbbell import Run, Scenario, run_all
from dumbbell.compare.measurements import digest, load, write

DATA = Path(__file__).parents[1] / "docs" / "notes" / "data" / "pairs-2026-11.json"
#: Runs at a time.
WORKERS = 2


def missing(document: dict[str, Any], wanted: int, part: str) -> list[tuple[int, Scenario]]:
    """Return the index of each case that lacks runs, with the next scenario for each of these.

    The first run that a case lacks comes before the second of any other.
    """
    todo = []
    scenarios = [case.scenario for case in load(DATA)]
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


def main(wanted: int, part: str = "") -> None:
    """Run what is missing, and again what was INVALID."""
    document = json.loads(DATA.read_text(encoding="utf-8"))
    if document["kernel_release"] != platform.release():
        sys.exit(f"the data are of Linux {document['kernel_release']}")
    while todo := missing(document, wanted, part):
        measure(document, todo)


def measure(document: dict[str, Any], todo: list[tuple[int, Scenario]]) -> None:
    """Run scenarios, and write each run when it is there."""
    lock = threading.Lock()

    def finished(key: int, run: Run) -> Run:
        """Write a run."""
        with lock:
            case = document["cases"][todo[key][0]]
            case["reps"].append(digest(run))
            head = {key: value for key, value in document.items() if key != "cases"}
            write(head, document["cases"], DATA)
            late_us = case["reps"][-1]["lateness_p99_us"]
            line = f"{case['name']} {run.scenario.seed} {run.verdict.status} {late_us}"
            print(line, flush=True)
        return Run(run.scenario, run.summary, {})

    print(f"{len(todo)} runs", flush=True)
    scenarios = ((key, scenario) for key, (_, scenario) in enumerate(todo))
    run_all(scenarios, engine="kernel", jobs=WORKERS, on_finished=finished)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:3])
