"""Every command that the guide and help show runs as it stands, next to what its reader has."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dumbbell.cli import command_line
from tests.python.documented import GIVEN, ROOT, commands, kind, small

#: What a test of its own runs, or what needs what no test has.
ELSEWHERE = {
    "emulate": "the kernel: below",
    "explore": "test_explore_command.py and test_explore_browser.py; it runs until Ctrl-C",
    "emulate set": "test_emulate.py",
    "emulate enter": "test_emulate.py",
    "emulate interop": "test_interop_sim.py",
    "conform": "test_conform.py, which takes a minute",
    "identify": "test_identify.py: it needs captures of 30 s, and the Internet",
    "kernel build": "test_kernels.py",
    "kernel remove": "test_kernels.py",
    "cc check": "test_readme_commands.py runs it, which takes ten seconds",
    "search": "test_readme_commands.py runs it, which takes 20 s",
    "reproduce": "test_readme_commands.py and test_reproduce.py",
}
#: In a command: what the reader has and a test does not.
ABSENT = (
    "linux-6", "bpf_cubic.c", "old/mine", "tcp://10.0.0.1", "trace.pcap", "before.pcap", "tcpdump",
    "gate mine.toml", "download.toml", "capture.pcapng", "path.toml", "--engine uml",
)  # fmt: skip
#: Those of `reports` are run by test_figure_kinds.py, and their figures looked at; those of
#: `coming-from` by test_coming_from.py, in the order of the page.
OF_OTHERS = {"reports", "coming-from"}
PAGES = sorted({path.stem for path in (ROOT / "docs").glob("*.md")} - OF_OTHERS)


def of_help() -> list[str]:
    """Return the examples of every command's help, in the order of `dumbbell --help`."""
    root: Any = command_line()
    root.list_commands(None)
    found = [root.epilog]
    for command in root.commands.values():
        loaded = command.load()
        found += [loaded.epilog, *(of.epilog for of in getattr(loaded, "commands", {}).values())]
    text = "\n".join(each for each in found if each)
    return list(dict.fromkeys(text.replace("\\\n", " ").splitlines()))


def is_elsewhere(command: str) -> bool:
    words = command.split()
    two, one = " ".join(words[1:3]), words[1]
    return two in ELSEWHERE or one in ELSEWHERE or any(part in command for part in ABSENT)


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of a reader who has a clone's scenarios."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    return tmp_path


def provide(command: str, cli: Callable[..., Any]) -> None:
    """Make what a command names and its reader has."""
    for name, how in GIVEN.items():
        words = re.sub(r"--out \S+|quic/\w+:(?=\./)", "", command).replace("./", "").split()
        if not any(word.partition(":")[0].rstrip("/") == name for word in words):
            continue
        if Path(name).exists():
            continue
        if how.endswith(".md"):
            block = (ROOT / how).read_text(encoding="utf-8").partition("```python\n")[2]
            Path(name).write_text(block.partition("```")[0], encoding="utf-8")
        elif (ROOT / how).is_file():
            shutil.copy(ROOT / how, name)
        else:
            assert cli(*shlex.split(how)).code == 0, how


def run_all(listed: Iterator[str] | list[str], cli: Callable[..., Any]) -> None:
    """Run commands in order."""
    for command in listed:
        if command.startswith("cd "):
            os.chdir(command.split()[1])
        elif not is_elsewhere(command):
            provide(command, cli)
            outcome = cli(*small(command))
            assert outcome.code in (0, 1), f"`{command}`: {outcome.err}"
            assert "error:" not in outcome.err, f"`{command}`: {outcome.err}"


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_run(
    page: str, cli: Callable[..., Any], fabricated_kernel: object, reader: Path
) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    for name, toml in files_of(text):
        (reader / name).write_text(toml, encoding="utf-8")
    run_all([command for command, _ in commands(text)], cli)


def test_the_examples_of_help_run(
    cli: Callable[..., Any], fabricated_kernel: object, reader: Path
) -> None:
    run_all(of_help(), cli)


def files_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield the scenario files that a page shows, by the names that its commands have for them."""
    named = [word for command, _ in commands(text) for word in command.split()
             if word.endswith(".toml") and "/" not in word]  # fmt: skip
    blocks = [part.partition("\n```")[0] for part in text.split("```toml\n")[1:]]
    yield from zip(dict.fromkeys(named), blocks, strict=False)


def emulations() -> list[str]:
    """Return what help shows of `dumbbell emulate`, as far as no terminal is needed."""
    return [
        command
        for command in of_help()
        if kind(command.split()) == "emulate" and " -- " in command and "enter" not in command
    ]


@pytest.mark.kernel
@pytest.mark.parametrize("command", emulations())
def test_the_emulations_of_help_run(command: str, reader: Path) -> None:
    """In a process of its own, as its programs' output is its own."""
    program = shlex.split(command.partition(" -- ")[2])[0]
    assert shutil.which(program), f"the machine has no `{program}`; `make setup` installs it"
    words = [sys.executable, "-m", "dumbbell", *shlex.split(command)[1:]]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
