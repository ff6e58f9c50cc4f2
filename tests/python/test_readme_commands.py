"""Every `dumbbell` command of README.md runs, in order, in an empty directory.

The commands are the lines of README's code blocks that begin with `dumbbell` or `$ dumbbell`. They
are run as written, but with small times and grids (`SMALL`). One that takes more than a minute as
written says how long in its comment, like `# about 40 min` (CONTRIBUTING.md).
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```[a-z]*\n(.*?)^```$|((?:^    [^\n]*\n)+)", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\s*(?:\$ )?(?P<command>(?:dumbbell|cd) [^#\n]*?)\s*(?:# (?P<comment>.*))?$")
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
    "score": ["--only", "start", "--seeds", "1"],
    "tune ablate": ["--time", "1s", "--seeds", "1"],
    "search": ["--time", "3s", "--evaluations", "2"],
}
#: Columns of a usual terminal, which what the commands print fits.
WIDTH = 80
#: Commands that take longer than a minute as written.
SLOW = {"validate", "reproduce", "search"}


def commands(readme: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of README's code blocks, and their comments."""
    for block in BLOCK.finditer(readme):
        for part in (block[0] or "").replace(" && ", "\n").splitlines():
            match = COMMAND.match(part)
            if match is not None:
                yield match["command"], match["comment"] or ""


LISTED = list(commands((ROOT / "README.md").read_text(encoding="utf-8")))


def kind(words: list[str]) -> str:
    """Return ``model compare`` or ``run``: what `SMALL` and `SLOW` call a command."""
    two = " ".join(words[1:3])
    return two if two in SMALL else words[1]


def test_readme_shows_the_commands_that_matter() -> None:
    shown = {words.split()[1] for words, _ in LISTED if words.startswith("dumbbell ")}
    assert {"run", "sweep", "report", "plot", "compare", "gate", "validate", "cc"} <= shown


@pytest.mark.parametrize(("command", "comment"), LISTED)
def test_long_commands_say_how_long(command: str, comment: str) -> None:
    words = command.split()
    if words[0] == "dumbbell" and kind(words) in SLOW:
        assert LONG.search(comment), f"`{command}` takes more than a minute: say `# about N min`"


@pytest.mark.timeout(600)
def test_the_commands_run_in_order(
    cli: Callable[..., Any],
    fabricated_kernel: object,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On the fabricated kernel, in one directory, which has nothing but a clone's scenarios."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    for command, _ in LISTED:
        words = shlex.split(command.partition(" | ")[0])
        if words[0] == "cd":
            os.chdir(words[1])
            continue
        extra = [] if "--resume" in words else SMALL.get(kind(words), [])
        outcome = cli(*words[1:], *extra)
        assert outcome.code in (0, 1), f"`{command}`: {outcome.err}"
        assert "error:" not in outcome.err, f"`{command}`: {outcome.err}"
        wide = [line for line in outcome.out.splitlines() if cell_len(line) > WIDTH]
        assert not wide, f"`{command}` prints more than {WIDTH} columns: {wide}"
