"""An ordinary user and the kernel engine: the command line goes into a user namespace."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dumbbell.base.errors import EngineError
from dumbbell.cli import rootless
from dumbbell.run import engine

RUN = ("run", "linux/cubic", "--engine", "kernel", "--time", "1s")


class Replaced(BaseException):
    """Stands for a process that another program has replaced."""


@pytest.fixture
def executed(monkeypatch):
    """As an ordinary user; what would replace the process."""
    commands = []

    def execute(_file, command, environment):
        commands.append((command, environment))
        raise Replaced

    monkeypatch.setattr(engine, "has_capabilities", lambda *_bits: False)
    monkeypatch.setattr("os.execvpe", execute)
    monkeypatch.setattr(rootless, "probe", lambda: None)
    return commands


def test_runs_itself_again_in_a_user_namespace(cli, executed):
    with pytest.raises(Replaced):
        cli(*RUN)
    ((command, environment),) = executed
    assert command[:4] == ["unshare", "--user", "--map-root-user", "--"]
    assert command[4:] == [sys.executable, "-m", "dumbbell", *RUN]
    assert environment[rootless.ENTERED] == "1"
    assert environment["PATH"] == os.environ["PATH"]


@pytest.mark.parametrize("command", ["run", "sweep"])
def test_our_own_congestion_controls_need_root(cli, executed, command):
    outcome = cli(command, "linux/cubic", "copa", "--engine", "kernel")
    assert outcome.code == 2
    assert executed == []
    assert outcome.err == (
        "error: `copa` on the kernel engine needs root's privileges, because loading a congestion "
        "control into the kernel does; use `sudo`, or the kernel's own, like `linux/cubic`\n"
    )


@pytest.mark.parametrize("command", [("validate", "copa"), ("reproduce", "--engine", "kernel")])
def test_nothing_runs_before_the_error(cli, executed, command, tmp_path):
    outcome = cli(*command, "--out", str(tmp_path / "out"))
    assert outcome.code == 2
    assert "needs root's privileges" in outcome.err
    assert list(tmp_path.iterdir()) == []


def test_goes_in_once(cli, executed, monkeypatch):
    monkeypatch.setenv(rootless.ENTERED, "1")
    outcome = cli(*RUN)
    assert (outcome.code, executed) == (2, [])
    assert "it is not root inside a user namespace either; use `sudo`\n" in outcome.err


def test_the_simulator_needs_none(cli, executed):
    assert cli("run", "cubic", "--time", "1s").code == 0
    assert executed == []


def test_says_why_there_is_no_user_namespace(monkeypatch):
    def refuse(*_arguments, **_options):
        return subprocess.CompletedProcess([], 1, "", "unshare: unshare failed:\nNot permitted\n")

    monkeypatch.setattr("subprocess.run", refuse)
    with pytest.raises(EngineError) as caught:
        rootless.enter_user_namespace(RUN, {})
    assert str(caught.value) == (
        "the kernel engine needs root or a user namespace, and this machine gives this user "
        "none (unshare: unshare failed: Not permitted); use `sudo`"
    )

    def absent(*_arguments, **_options):
        raise FileNotFoundError("unshare")

    monkeypatch.setattr("subprocess.run", absent)
    with pytest.raises(EngineError, match="there is no `unshare`, which util-linux has; use"):
        rootless.enter_user_namespace(RUN, {})


def test_enters_for_real():
    # What the command line would run inside, as this user: is it root there?
    if shutil.which("unshare") is None:
        pytest.skip("no unshare; apt install util-linux")
    try:
        rootless.probe()
    except EngineError as error:
        pytest.skip(str(error))
    script = (
        "import os, sys; from dumbbell.cli import rootless; sys.executable = '/bin/sh'; "
        "rootless.enter_user_namespace(['ignored'], os.environ)"
    )
    # A shell that stands for Python says that it finds no `dumbbell` to run: it was started.
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False,
        cwd=Path(__file__).parent,
    )  # fmt: skip
    assert "dumbbell" in result.stderr
