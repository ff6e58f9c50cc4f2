"""Shell completion, as bash, zsh and fish ask for it."""

import os
import re
import shutil
import subprocess
import sys
from typing import Any

import pytest

from dumbbell.cli import command_line

ROOT: Any = command_line()

SLOW = ("numpy", "pyarrow", "matplotlib", "plotly")


def ask(shell: str, line: str) -> list[str]:
    """Return what the protocol answers for a line, as its shell's script asks."""
    environment = {**os.environ, "_DUMBBELL_COMPLETE": f"complete_{shell}"}
    if shell == "bash":
        # bash breaks words at `:` and `=` too.
        words = re.findall(r"[:=]|[^:= ]+|(?<= )$", line)
        environment |= {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)}
    else:
        environment |= {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    done = subprocess.run(
        [sys.executable, "-m", "dumbbell"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout.splitlines()


def words(shell: str, line: str) -> list[str]:
    return [answer.partition("\t")[0] for answer in ask(shell, line) if answer]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("dumbbell re", ["report", "reproduce"]),
        ("dumbbell run co", ["copa"]),
        ("dumbbell run copa cubic --rt", ["--rtt", "--rtt-steps"]),
        ("dumbbell validate cu", ["cubic"]),
        ("dumbbell run copa --engine k", ["kernel"]),
        ("dumbbell cc ", ["list", "check", "new"]),
        ("dumbbell cc list bbr", ["bbr", "bbr3", "bbr_fca"]),
        ("dumbbell list metrics jain", ["jain"]),
        ("dumbbell compare A B --metric queue_delay_p9", ["queue_delay_p95_us"]),
        ("dumbbell gate reg", ["regression"]),
        ("dumbbell reproduce og", ["ogino2021"]),
        ("dumbbell plot DIR --model war", ["ware"]),
    ],
)
@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_completes(shell, line, expected):
    found = words(shell, line)
    assert [word for word in found if word in expected] == expected
    assert len(found) <= len(expected) + 3


def test_completes_parameters_with_their_defaults():
    assert words("fish", "dumbbell run copa:mode_sw") == ["copa:mode_switching=1"]
    twice = "dumbbell run copa:mode_switching=0,mode_window"
    assert words("fish", twice) == ["copa:mode_switching=0,mode_window_rtts=10"]
    assert "compete with buffer-filling flows" in ask("fish", "dumbbell run copa:mode_sw")[0]
    # bash replaces only what follows the last `:` or `=`.
    assert words("bash", "dumbbell run copa:mode_sw") == ["mode_switching=1"]
    assert words("bash", "dumbbell run nosuch:") == []


def test_zsh_gets_descriptions():
    (answer,) = ask("zsh", "dumbbell run vega")
    assert answer.startswith('_arguments \'*: :(("vegas":"Vegas')
    assert ask("zsh", "dumbbell run ./mine") == ["_files"]


def test_files_are_the_shell_s():
    for line in ("dumbbell run ./m", "dumbbell report ", "dumbbell run copa --out "):
        assert words("fish", line) == []


@pytest.mark.parametrize("command", ROOT.list_commands(None))
def test_loads_no_large_package(command, tmp_path):
    """Typing waits for it: every command's options come without numpy and pyarrow."""
    code = (
        "import atexit, sys\n"
        f"real = lambda: [n for n in {SLOW} if getattr(sys.modules.get(n), '__file__', None)]\n"
        "atexit.register(lambda: print(real(), file=sys.stderr))\n"
        "from dumbbell.cli import main; main()"
    )
    environment = {
        **os.environ, "_DUMBBELL_COMPLETE": "complete_fish",
        "_TYPER_COMPLETE_ARGS": f"dumbbell {command} --",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stderr == "[]\n"
    assert "--help\t" in done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shows_a_script(shell):
    environment = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "dumbbell", "--show-completion", shell],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert f"_DUMBBELL_COMPLETE=complete_{shell}" in done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_itself_completes(tmp_path):
    """The script that is shown, in the shell it is for."""
    program = tmp_path / "dumbbell"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m dumbbell "$@"\n')
    program.chmod(0o755)
    script = (
        'eval "$(_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION=1 dumbbell --show-completion bash)"\n'
        "COMP_WORDS=(dumbbell run cubic copa : mode_sw) COMP_CWORD=5\n"
        "_dumbbell_completion dumbbell\n"
        'echo "${COMPREPLY[@]}"\n'
    )
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        [shutil.which("bash") or "bash", "--norc", "-c", script],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("mode_switching=1\n", "")
