"""The commands that README, the guide and help show, and how tests run them.

They are run as written, but with small times and grids (`SMALL`), next to what their reader has
(`GIVEN`).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

__all__ = ["GIVEN", "LONG", "ROOT", "SLOW", "commands", "kind", "small"]

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```[a-z]*\n(.*?)^```$|((?:^    [^\n]*\n)+)", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(
    r"^\s*(?:\$ )?(?P<command>(?:dumbbell|cd) [^#\n]*?)\s*(?:(?<=\s)# (?P<comment>.*))?$"
)
#: How a comment says that a command takes long.
LONG = re.compile(r"\d+ (?:min|h)\b")
#: Added to a command, by its first words: what makes it small; later options win.
SMALL = {
    "run": ["--time", "1s", "--start", "0s"],
    "sweep": ["--time", "1s"],
    "validate": ["--time", "1s", "--reps", "1", "--simulator-reps", "1", "--buffer", "1bdp"],
    "reproduce": ["--quick"],
    "model compare": ["--buffer", "4bdp", "--flows", "1"],
    "cc check": ["--storms", "1"],
    "gate regression": ["--case", "alone", "--reps", "3"],
    "gate rfc9743": ["--case", "high-loss", "--reps", "3"],
    "score": ["--only", "start", "--seeds", "1"],
    "tune ablate": ["--time", "1s", "--seeds", "1"],
    "tune": ["--time", "1s", "--seeds", "1", "--trials", "2"],
    "search": ["--time", "3s", "--evaluations", "2"],
    "compare": ["--warmup", "100ms"],
}
#: Commands that take longer than a minute as written.
SLOW = {"validate", "reproduce", "search"}
#: Flows of 20 kB.
SHORT = "--traffic 'poisson:load=30%,size=20kB'"
#: What a command names and its reader has: a file, Python of a page, or what a command writes.
GIVEN = {
    "mine.bpf.c": "python/dumbbell/congestion_control/new/loss.bpf.c",
    "mine.py": "docs/python-cc.md",
    "better.bpf.c": "cc/reno.bpf.c",
    "results/mine": "run reno cubic --time 1s --capture --out results/mine",
    "results/run": "run reno cubic --time 1s --capture --out results/run",
    "results/cubic": f"run cubic --time 1s {SHORT} --out results/cubic",
    "results/bbr": f"run bbr --time 1s {SHORT} --out results/bbr",
    "results/before": "sweep copa cubic --time 1s --reps 2 --out results/before",
    "results/after": "sweep copa:mode_switching=0 cubic --time 1s --reps 2 --out results/after",
    "results/other": "sweep bbr cubic --buffer 1,2bdp --time 1s --reps 2 --out results/other",
    "results/queues": "sweep copa cubic --queue bfifo,codel --time 1s --out results/queues",
}


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a page's code blocks, and their comments."""
    for block in BLOCK.finditer(text):
        lines = (block[0] or "").replace("\\\n", " ").replace(" && ", "\n")
        for part in lines.splitlines():
            match = COMMAND.match(part)
            if match is not None and "[--" not in part:  # which is how options are written
                yield match["command"], match["comment"] or ""


def kind(words: list[str]) -> str:
    """Return ``model compare`` or ``run``: what `SMALL` and `SLOW` call a command."""
    two = " ".join(words[1:3])
    return two if two in SMALL else words[1]


def small(command: str) -> list[str]:
    """Return the words of a command that is run, without the program."""
    words = shlex.split(command.rpartition(" | ")[2] if "| dumbbell" in command else command)
    extra = [] if "--resume" in words else SMALL.get(kind(words), [])
    if "--until-ci" in words:
        extra = [*extra, "--max-reps", "6"]
    elif words[1] == "sweep" and "--reps" in words:
        extra = [*extra, "--reps", "3"]
    if words[1] == "tune" and "ideal" in command:
        extra = [*extra, "--on", "ideal.start"]  # of a board, the shortest category
    return [*words[1:], *extra]
