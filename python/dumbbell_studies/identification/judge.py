"""What the shipped models say of flows that they never saw.

`python -m dumbbell_studies.identification.judge --engine uml` judges on Linux itself.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell import LinuxTree
from dumbbell.base.writing import write_file
from dumbbell.identify import Identified, identify_flow, identify_quic_flow
from dumbbell_studies.identification.algorithms import (
    DEVELOPED_ON,
    HELD_BACK,
    NEVER_SHOWN,
    QUIC,
    SAME_AS_ANOTHER,
    copied,
    right_name,
    sources_of,
)
from dumbbell_studies.identification.path import DrawnPath, Kind, draw_path, scenario_of
from dumbbell_studies.identification.samples import datagram_flows, labelled_flows

#: Numbers of the first path of each judgement, far from the plan's.
FIRST = {"simulator": 8_600_000, "uml": 7_700_000, "kernel": 7_800_000, "quic": 8_800_000}
#: Algorithms of Linux 6.12, and what the kernel engine has: its own and ours as BPF.
LINUX = (
    "bbr", "bic", "cdg", "cubic", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp", "nv",
    "reno", "scalable", "vegas", "veno", "westwood", "yeah",
)  # fmt: skip
ON_KERNEL = (
    "linux/cubic", "linux/reno", "linux/bbr", "cubic", "reno", "bbr", "bbr3", "copa", "vegas",
    "ledbat",
)  # fmt: skip
#: Paths of each algorithm, of one in the simulator, and of one that was never shown.
PATHS, PATHS_IN_SIMULATOR, PATHS_OF_OTHERS = 3, 4, 6


@dataclass(frozen=True)
class Answer:
    """What was said of a flow.

    Attributes
    ----------
    label, cc
        What it is.
    place
        ``sender``, ``middle`` or ``receiver``.
    path
        Over which it went.
    said
        The answer.
    """

    label: str
    cc: str
    place: str
    path: DrawnPath
    said: Identified

    def to_dict(self) -> dict[str, Any]:
        """Return what the notes' data keep."""
        return {
            "algorithm": self.label, "cc": self.cc.rpartition("/")[2], "place": self.place,
            "answer": self.said.verdict, "path": self.path.seed,
            "candidates": [[name, round(chance, 3)] for name, chance in self.said.candidates[:3]],
        }  # fmt: skip


def judged_runs(engine: str, tree: Path | None) -> Iterator[tuple[str, str, int]]:
    """Go through what runs: class, algorithm, number of the path."""
    for place, (label, choices, turns) in enumerate(judged_classes(engine, tree)):
        for turn in range(turns):
            yield label, choices[turn % len(choices)], 100 * turn + place


def judged_classes(engine: str, tree: Path | None) -> list[tuple[str, Sequence[str], int]]:
    """Return each class with what runs for it, and over how many paths."""
    if engine == "uml":
        return [(right_name(name), [f"linux/{name}"], PATHS) for name in LINUX]
    if engine == "kernel":
        return [(cc.rpartition("/")[2], [cc], PATHS) for cc in ON_KERNEL]
    if engine == "quic":
        return [(label, QUIC[label], 4 * PATHS) for label in ("reno", "cubic", "bbr")]
    sources = {} if tree is None else sources_of(LinuxTree(tree))
    return [
        *((right_name(name), choices, PATHS_IN_SIMULATOR) for name, choices in sources.items()
          if name not in SAME_AS_ANOTHER),
        *((cc, [cc], PATHS_OF_OTHERS) for cc in NEVER_SHOWN),
        *((cc, [cc], PATHS) for cc in (*HELD_BACK, *DEVELOPED_ON)),
    ]  # fmt: skip


def answers_of(engine: str, kind: Kind, tree: Path | None, scratch: Path) -> Iterator[Answer]:
    """Run each and go through the answers."""
    shift = {"telling": 0, "plain": 25_000, "any": 50_000}[kind]
    real = engine if engine in ("uml", "kernel") else "simulator"
    for label, cc, number in judged_runs(engine, tree):
        path = draw_path(FIRST[engine] + shift + number, kind)
        varies = engine == "simulator"
        is_ours = cc in (*DEVELOPED_ON, *NEVER_SHOWN)
        runs = str(copied(cc, scratch.parent)) if is_ours else cc
        dumbbell.run(scenario_of(path, runs, hosts_vary=varies), engine=real, capture=scratch)
        if engine == "quic":
            for flow in datagram_flows(scratch):
                said = identify_quic_flow(flow)
                yield Answer(label, cc, said.point.split("-")[0], path, said)
            continue
        for labelled in labelled_flows(scratch):
            if labelled.group == 0:
                said = identify_flow(labelled.flow)
                place = said.point.split("-")[0].replace("bottleneck", "middle")
                yield Answer(label, cc, place, path, said)


def counted(answers: list[Answer]) -> str:
    """Write how many answers of each place were right, and which were not."""
    seen, unseen = (*HELD_BACK, *DEVELOPED_ON), NEVER_SHOWN
    kinds = {"known": (), "never shown": unseen, "never shown, looked at before": seen}
    lines = []
    for place in ("sender", "middle", "receiver"):
        for what, labels in kinds.items():
            here = [
                each for each in answers
                if each.place == place
                and (each.label in labels or (not labels and each.label not in (*seen, *unseen)))
            ]  # fmt: skip
            if not here:
                continue
            said = Counter((each.label, each.said.verdict) for each in here)
            right = sum(count for (label, verdict), count in said.items() if label == verdict)
            silent = sum(
                count for (_, verdict), count in said.items() if verdict in ("unknown", "no answer")
            )
            lines.append(
                f"{place}, {what}: {len(here)} flows, {right} right, {silent} not named, "
                f"{len(here) - right - silent} wrong: "
                + ", ".join(f"{a} {b} {n}" for (a, b), n in sorted(said.items()) if a != b)
            )
    return "\n".join(lines)


def main() -> int:
    """Judge, print counts and write the answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=sorted(FIRST), default="simulator")
    parser.add_argument("--kind", choices=("telling", "plain", "any"), default="telling")
    parser.add_argument("--linux-tree", type=Path, help="for the simulator: Linux's sources")
    parser.add_argument("--out", type=Path, help="file for the answers, as JSON")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        capture = Path(scratch) / "capture.pcapng"
        answers = list(answers_of(asked.engine, asked.kind, asked.linux_tree, capture))
    sys.stdout.write(counted(answers) + "\n")
    if asked.out is not None:
        by_algorithm: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for each in answers:
            by_algorithm[each.label].append(each.to_dict())
        write_file(asked.out, json.dumps(by_algorithm, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
