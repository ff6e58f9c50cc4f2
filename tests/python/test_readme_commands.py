"""Every `dumbbell` command of README.md runs, in order, in an empty directory.

The commands are the lines of README's code blocks that begin with `dumbbell` or `$ dumbbell`. They
are run as written, but with small times and grids (`documented.SMALL`). One that takes more than a
minute as written says how long in its comment, like `# about 40 min` (CONTRIBUTING.md).
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from tests.python.documented import LONG, ROOT, SLOW, commands, kind, small

#: Columns of a usual terminal, which what the commands print fits.
WIDTH = 80
LISTED = list(commands((ROOT / "README.md").read_text(encoding="utf-8")))


def test_readme_shows_the_commands_that_matter() -> None:
    shown = {words.split()[1] for words, _ in LISTED if words.startswith("dumbbell ")}
    assert {"run", "sweep", "report", "plot", "compare", "gate", "validate", "cc"} <= shown


@pytest.mark.parametrize(("command", "comment"), LISTED)
def test_long_commands_say_how_long(command: str, comment: str) -> None:
    words = command.split()
    if words[0] == "dumbbell" and kind(words) in SLOW:
        assert LONG.search(comment), f"`{command}` takes more than a minute: say `# about N min`"


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
        words = shlex.split(command)
        if "uml" in words or "kernel build" in command:
            continue  # test_uml_engine.py and test_kernels.py run them, where a kernel is built
        if words[1] == "explore":
            continue  # test_explore_command.py: it runs until Ctrl-C
        if words[1] == "what-if":
            continue  # test_fit.py: its capture takes longer than the second that is run here
        if words[0] == "cd":
            os.chdir(words[1])
            continue
        outcome = cli(*small(command))
        assert outcome.code in (0, 1), f"`{command}`: {outcome.err}"
        assert "error:" not in outcome.err, f"`{command}`: {outcome.err}"
        wide = [line for line in outcome.out.splitlines() if cell_len(line) > WIDTH]
        assert not wide, f"`{command}` prints more than {WIDTH} columns: {wide}"
