"""Every `dumbbell` command of docs/coming-from.md runs, in order, in one directory."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dumbbell.cli.mahimahi import ours
from dumbbell.cli.tc import MORE, answer
from tests.python.real_programs import needs

PAGE = Path(__file__).resolve().parents[2] / "docs" / "coming-from.md"
#: A block of code, or code in a line.
CODE = re.compile(r"((?:^    [^\n]*\n)+)|`([^`\n]+)`", re.MULTILINE)
#: Not run: what only names a command, and placeholders.
NAMED = re.compile(r"[A-Z]{1,4}(?= |$)|…|^dumbbell [a-z]+$")


def commands() -> Iterator[str]:
    """Yield the shell's lines of the page."""
    for block, words in CODE.findall(PAGE.read_text(encoding="utf-8")):
        for line in (block or words).replace("\\\n", " ").splitlines():
            text = " ".join(line.split())
            if text.startswith(("dumbbell ", "seq ")) and not NAMED.search(text):
                yield text


COMMANDS = list(commands())


def test_the_page_has_commands_of_each_tool() -> None:
    text = PAGE.read_text(encoding="utf-8")
    sections = text.split("\n## ")[1:]
    assert [section.splitlines()[0] for section in sections] == [
        "mahimahi", "netem and tc", "flent", "ns-3", "NeST", "transperf", "iperf3",
    ]  # fmt: skip
    for section in sections:
        assert "dumbbell " in section
        assert "Missing:" in section
    assert len(COMMANDS) > 25


def test_what_mahimahi_s_rows_say_is_what_its_commands_are_answered_with() -> None:
    text = PAGE.read_text(encoding="utf-8")
    delayed = ours(["mm-delay", "20", "ping", "-c", "3", "server"])
    assert f"`{delayed}`" in text
    traced = ours(["mm-link", "up.trace", "down.trace", "ping", "-c", "3", "server"])
    assert f"`{traced}`" in text


def test_what_tc_s_rows_say_is_what_its_commands_are_answered_with() -> None:
    text = PAGE.read_text(encoding="utf-8")
    section = text.partition("## netem and tc")[2].partition("\n## ")[0]
    rows = re.findall(
        r"^\| `((?:netem|tbf|cake) [^`]+)`[^|]*\| `([^`]+)` \|$", section, re.MULTILINE
    )
    assert len(rows) == 8
    for theirs, answer_of_page in rows:
        said = answer(["tc", "qdisc", "add", "dev", "eth0", "root", *theirs.split()])
        shown = answer_of_page.replace("ping -c 3 server", "COMMAND")
        assert said == f"ours is `{shown}`, {MORE}"


@needs("ping", "curl", "iperf3", "nft", "ip")
@pytest.mark.kernel(bpf=True)
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_commands_run_in_order(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    own = tmp_path / "bin" / "dumbbell"
    own.write_text(f'#!/bin/sh\nexec {sys.executable} -m dumbbell "$@"\n')
    own.chmod(0o755)
    shell = shutil.which("sh") or "/bin/sh"
    path = f"{own.parent}:{os.environ['PATH']}"
    for command in COMMANDS:
        done = subprocess.run(
            [shell, "-c", command], cwd=tmp_path, env={**os.environ, "PATH": path},
            capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        # 1: a run on a busy machine may be INVALID, and ping may lose all that it sends.
        is_measured = "emulate" in command or "kernel" in command
        assert done.returncode in ((0, 1) if is_measured else (0,)), f"{command}\n{done.stderr}"
        assert not done.stderr.startswith("error"), f"{command}\n{done.stderr}"
        if "--rtt 100ms -- dumbbell" in command:
            found = re.search(r"= ([\d.]+)/", done.stdout)
            assert found is not None, done.stderr
            assert 120 < float(found[1]) < 130
