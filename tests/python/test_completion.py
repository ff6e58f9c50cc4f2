"""Shell completion, as bash, zsh and fish ask for it."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dumbbell.cli import command_line
from dumbbell.terminal.completion import COMPLETE

ROOT: Any = command_line()

SLOW = ("numpy", "pyarrow", "matplotlib", "plotly")
#: Forks a process for each line of its input, an environment, that is dumbbell in it. It has loaded
#: all commands, as completing loads them: that takes most of a process's time.
FORKING = """
import gc, json, os, sys, tempfile
from dumbbell.cli import command_line, main
from dumbbell.terminal.placeholders import PlaceholderImporter
sys.meta_path.insert(0, PlaceholderImporter())
root = command_line()
for name in root.list_commands(None):
    root.commands[name].load()
gc.freeze()
for line in sys.stdin:
    files = [tempfile.TemporaryFile() for _ in range(2)]
    child = os.fork()
    if child == 0:
        os.environ |= json.loads(line)
        for number, file in enumerate(files, start=1):
            os.dup2(file.fileno(), number)
        try:
            main()
        except SystemExit as leaving:  # at once: to tidy up takes longer than to answer
            sys.stdout.flush()
            os._exit(leaving.code or 0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    said = [file.seek(0) or file.read().decode() for file in files]
    print(json.dumps([code, *said]), flush=True)
"""


def asked(shell: str, line: str) -> dict[str, str]:
    """Return the environment in which a shell's script asks about a line."""
    environment = {COMPLETE: f"complete_{shell}"}
    if shell == "bash":
        # bash breaks words at `:` and `=` too.
        broken = re.findall(r"[:=]|[^:= ]+|(?<= )$", line)
        return environment | {"COMP_WORDS": "\n".join(broken), "COMP_CWORD": str(len(broken) - 1)}
    return environment | {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}


Ask = Callable[[str, str], list[str]]


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """Return what the protocol answers for a line."""
    with subprocess.Popen(
        [sys.executable, "-c", FORKING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        to, of = process.stdin, process.stdout
        assert to is not None
        assert of is not None

        def answers(shell: str, line: str) -> list[str]:
            print(json.dumps(asked(shell, line)), file=to, flush=True)
            code, out, err = json.loads(of.readline())
            assert (code, err) == (0, "")
            return str(out).splitlines()

        yield answers
        to.close()


@pytest.fixture
def words(ask: Ask) -> Ask:
    """Return the words of what is answered, without what they are."""
    return lambda shell, line: [each.partition("\t")[0] for each in ask(shell, line) if each]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_process_that_has_loaded_nothing_answers_the_same(ask, shell):
    line = "dumbbell run copa:mode_sw"
    done = subprocess.run(
        [sys.executable, "-m", "dumbbell"],
        env={**os.environ, **asked(shell, line)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout.splitlines() == ask(shell, line) != []


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
def test_completes(words, shell, line, expected):
    found = words(shell, line)
    assert [word for word in found if word in expected] == expected
    assert len(found) <= len(expected) + 3


def test_completes_parameters_with_their_defaults(ask, words):
    assert words("fish", "dumbbell run copa:mode_sw") == ["copa:mode_switching=1"]
    twice = "dumbbell run copa:mode_switching=0,mode_window"
    assert words("fish", twice) == ["copa:mode_switching=0,mode_window_rtts=10"]
    assert "compete with buffer-filling flows" in ask("fish", "dumbbell run copa:mode_sw")[0]
    # bash replaces only what follows the last `:` or `=`.
    assert words("bash", "dumbbell run copa:mode_sw") == ["mode_switching=1"]
    assert words("bash", "dumbbell run nosuch:") == []


def test_completes_algorithms_over_quic(words):
    assert "quic/noq:bbr3" in words("fish", "dumbbell run quic/noq:b")
    assert {"quic/noq:bbr", "quic/noq:dumbbell/bbr3"} <= set(
        words("fish", "dumbbell run quic/noq:")
    )
    assert not {"quic/noq:dctcp", "quic/noq:prague"} & set(words("fish", "dumbbell run quic/noq:"))
    assert "quic/quinn:copa" not in words("fish", "dumbbell run quic/quinn:")
    assert words("fish", "dumbbell run quic/noq:bbr3:mtu") == ["quic/noq:bbr3:mtu_bytes=0"]
    assert words("bash", "dumbbell run quic/noq:bbr3:mtu") == ["mtu_bytes=0"]
    assert words("bash", "dumbbell run quic/nosuch:") == []


def test_zsh_gets_descriptions(ask):
    (answer,) = ask("zsh", "dumbbell run vega")
    assert answer.startswith('_arguments \'*: :(("vegas":"Vegas')
    assert ask("zsh", "dumbbell run ./mine") == ["_files"]


def test_files_are_the_shell_s(words):
    for line in ("dumbbell run ./m", "dumbbell report ", "dumbbell run copa --out "):
        assert words("fish", line) == []


#: Asks about every command's options, one after the other in one process, and prints by command
#: what was answered and which large packages came with it.
OPTIONS_OF_EACH = f"""
import contextlib, io, json, os, sys
from dumbbell.cli import main
found = {{}}
for command in sys.argv[1:]:
    os.environ["_TYPER_COMPLETE_ARGS"] = f"dumbbell {{command}} --"
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main()
    real = [name for name in {SLOW} if getattr(sys.modules.get(name), "__file__", None)]
    found[command] = [out.getvalue(), real]
print(json.dumps(found))
"""


def test_no_command_loads_a_large_package():
    """Typing waits for it: every command's options come without numpy and pyarrow."""
    environment = {**os.environ, **asked("fish", "")}
    commands = ROOT.list_commands(None)
    done = subprocess.run(
        [sys.executable, "-c", OPTIONS_OF_EACH, *commands],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert list(found) == commands
    for command, (answer, loaded) in found.items():
        assert loaded == [], command
        assert "--help\t" in answer, command


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
