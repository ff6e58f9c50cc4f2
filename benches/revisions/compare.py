"""Measure this working tree's simulator and another revision's alternately, and print the ratios.

`make bench AGAINST=REV` calls this, which builds both. Each case runs in turn in one and in the
other, so that both see the same machine. The measure is a process's CPU time of a long run, less
that of a run of one second. The ratio is of the minima. The median of the rounds' ratios lies in
the interval with a confidence of 95 % or more (order statistics, of any distribution).
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dumbbell import Group, Scenario

ROOT = Path(__file__).resolve().parents[2]
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Case:
    """A scenario that both simulate."""

    name: str
    groups: tuple[tuple[str, int], ...]
    rate: str
    time_s: int
    buffer: str | None = None
    queue: str | None = None
    loss: str = "0%"
    sample: str = "0s"

    def scenario(self, time_s: int) -> Scenario:
        """Return it, as long as `time_s`."""
        return Scenario(
            [Group(cc, flows) for cc, flows in self.groups],
            rate=self.rate,
            buffer=self.buffer,
            queue=self.queue,
            loss=self.loss,
            sample=self.sample,
            time=f"{time_s}s",
        )


TWO = (("cubic", 1), ("bbr", 1))
EIGHT = (("cubic", 8),)
CASES = (
    Case("2 flows, 0.5 BDP", TWO, "50mbit", 120, "0.5bdp"),
    Case("2 flows, 8 BDP", TWO, "50mbit", 120, "8bdp"),
    Case("2 flows, 64 BDP", TWO, "50mbit", 120, "64bdp"),
    Case("2 flows, 8 BDP, series", TWO, "50mbit", 120, "8bdp", sample="10ms"),
    Case("128 CUBIC, 1 Gbit/s", (("cubic", 128),), "1gbit", 5, "64bdp"),
    Case("128 BBR, 1 BDP", (("bbr", 128),), "100mbit", 60, "1bdp"),
    Case("128 BBR, 10 BDP", (("bbr", 128),), "100mbit", 60, "10bdp"),
    Case("8 CUBIC, drop-tail", EIGHT, "100mbit", 60, "1bdp"),
    Case("8 CUBIC, FQ-CoDel", EIGHT, "100mbit", 60, queue="fq_codel"),
    Case("8 CUBIC, CAKE", EIGHT, "100mbit", 60, queue="cake"),
    Case("8 CUBIC, losses", EIGHT, "100mbit", 60, "1bdp", loss="0.1%"),
    Case("quinn CUBIC, CUBIC", (("quic/quinn:cubic", 1), ("cubic", 1)), "50mbit", 30, "1bdp"),
    Case("noq Copa, CUBIC", (("quic/noq:copa", 1), ("cubic", 1)), "50mbit", 30, "1bdp"),
    Case("noq BBRv3, CUBIC", (("quic/noq:bbr3", 1), ("cubic", 1)), "50mbit", 30, "1bdp"),
)


def forms_of(scenario: Scenario) -> list[str]:
    """Return the engine's input in today's form, and in that of revisions with one link."""
    new = scenario.resolve()
    link = dict(new["links"][0])
    link.pop("name")
    old = {key: value for key, value in new.items() if key != "links"} | {"bottleneck": link}
    return [json.dumps(new), json.dumps(old)]


def cpu_s(program: Path, text: str) -> float | None:
    """Return the CPU time of a run, or None if the program refuses the input."""
    with tempfile.TemporaryFile("w+") as file:
        file.write(text)
        file.seek(0)
        with subprocess.Popen(
            [program], stdin=file, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
    return None if process.returncode else usage.ru_utime + usage.ru_stime


def build(tree: Path, target: Path) -> Path:
    """Build a tree's program that reads a scenario and simulates it."""
    command = ["cargo", "build", "--release", "--quiet", "--package", "dumbbell-sim"]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target)}
    subprocess.run([*command, "--example", "simulate"], cwd=tree, env=environment, check=True)
    return target / "release" / "examples" / "simulate"


def check_out(revision: str) -> tuple[Path, str]:
    """Return a tree of the revision, and its commit."""
    git = ["git", "-C", str(ROOT)]
    found = subprocess.run(
        [*git, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"],
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode:
        sys.exit(f"error: no commit `{revision}`; `git log --oneline` lists them")
    commit = found.stdout.strip()
    tree = ROOT / "target" / "against" / commit[:12]
    if not tree.is_dir():
        tree.mkdir(parents=True)
        archive = subprocess.run([*git, "archive", commit], capture_output=True, check=True)
        subprocess.run(["tar", "-x", "-C", tree], input=archive.stdout, check=True)
    return tree, commit[:12]


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the order statistics between which the median lies with `CONFIDENCE`."""
    ordered = sorted(values)
    # By how many values the median is exceeded is binomial.
    shares = (math.comb(len(ordered), below) / 2 ** len(ordered) for below in itertools.count())
    outside = itertools.takewhile(lambda p: 2 * p <= 1 - CONFIDENCE, itertools.accumulate(shares))
    place = max(len(list(outside)) - 1, 0)
    return ordered[place], ordered[-1 - place]


def measure(case: Case, programs: Sequence[Path], rounds: int) -> dict[str, Any] | None:
    """Run the case in turn in each program; None if one of them cannot."""
    texts = {time_s: forms_of(case.scenario(time_s)) for time_s in (1, case.time_s)}
    forms = []
    for program in programs:
        usable = [n for n in range(2) if cpu_s(program, texts[1][n]) is not None]
        if not usable:
            return None
        forms.append(usable[0])
    took: list[list[float]] = [[], []]
    least: list[dict[int, float]] = [{}, {}]
    for _ in range(rounds):
        for who, time_s in itertools.product((0, 1), (1, case.time_s)):
            took_s = cpu_s(programs[who], texts[time_s][forms[who]]) or math.inf
            least[who][time_s] = min(least[who].get(time_s, math.inf), took_s)
            if time_s > 1:
                took[who].append(took_s)
    old_s, new_s = (times[case.time_s] - times[1] for times in least)
    ratios = [(old - least[0][1]) / (new - least[1][1]) for old, new in zip(*took, strict=True)]
    return {
        "ratio": old_s / new_s,
        "interval": median_interval(ratios),
        "old_s": old_s,
        "new_s": new_s,
    }


def main() -> None:
    """Build both, measure, print, and keep the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("revision", help="a commit to compare this working tree with")
    parser.add_argument("--rounds", type=int, default=15, help="runs of each; default: 15")
    parser.add_argument("--only", default="", help="cases whose names contain this")
    arguments = parser.parse_args()
    tree, commit = check_out(arguments.revision)
    programs = [build(tree, tree / "target"), build(ROOT, ROOT / "target")]
    print(f"this tree against {commit}: speed, minima of {arguments.rounds}, and 95 % interval")
    results = {}
    for case in CASES:
        if arguments.only not in case.name:
            continue
        result = measure(case, programs, arguments.rounds)
        if result is None:
            print(f"{case.name:24}      -  one of them cannot run it")
            continue
        low, high = result["interval"]
        print(f"{case.name:24} {result['ratio']:6.2f}  {low:.2f} to {high:.2f}", flush=True)
        results[case.name] = result
    kept = ROOT / "target" / "against" / f"{commit}.json"
    machine = {"machine": platform.node(), "processor": platform.processor() or platform.machine()}
    kept.write_text(json.dumps({**machine, "against": commit, "cases": results}, indent=1))


if __name__ == "__main__":
    main()
