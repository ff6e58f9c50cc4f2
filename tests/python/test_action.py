"""The GitHub Action `action.yml`: its steps, run by bash as GitHub's runner runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import dumbbell

ROOT = Path(__file__).resolve().parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
SUITE = """
title = "one case"
reps = 2

[[case]]
name = "alone"
time = "2s"
buffer = "1bdp"
require = ["goodput_bps >= 1mbit"]

[[case.group]]
cc = "{cc}"
"""


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """A working directory with `python` and `dumbbell` on its path; pip is only noted."""
    commands = tmp_path / "bin"
    commands.mkdir()
    scripts = {
        "python": f'echo "$@" >> {tmp_path}/python.log',
        "dumbbell": f'exec {sys.executable} -m dumbbell "$@"',
    }
    for name, line in scripts.items():
        (commands / name).write_text(f"#!/bin/sh\n{line}\n")
        (commands / name).chmod(0o755)
    return tmp_path


def run_action(runner: Path, **given: str) -> tuple[int, dict[str, str], str, str]:
    """Run the steps; return the exit code, the outputs, the step summary and stderr."""
    defaults = {name: each.get("default", "") for name, each in ACTION["inputs"].items()}
    assert not set(given) - set(defaults)
    inputs = {**defaults, **given}

    def expand(text: str) -> str:
        return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: inputs[match[1]], text)

    environment = {
        **os.environ,
        "PATH": f"{runner / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(Path(dumbbell.__file__).parents[1]),
        "GITHUB_ACTION_PATH": "/actions/dumbbell",
        "GITHUB_STEP_SUMMARY": str(runner / "summary.md"),
        "GITHUB_OUTPUT": str(runner / "output.txt"),
    }
    errors = ""
    for step in ACTION["runs"]["steps"]:
        if "uses" in step:
            continue
        assert "${{" not in step["run"]  # an input in a script would be run as a command
        script = runner / "step.sh"
        script.write_text(step["run"])
        env = {name: expand(value) for name, value in step.get("env", {}).items()}
        done = subprocess.run(
            # As GitHub runs `shell: bash`.
            ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=runner, env=environment | env, capture_output=True, text=True, check=False,
        )  # fmt: skip
        errors += done.stderr
        if done.returncode:
            break
    output = (runner / "output.txt").read_text() if (runner / "output.txt").exists() else ""
    outputs = dict(line.split("=", 1) for line in output.splitlines())
    summary = (runner / "summary.md").read_text() if (runner / "summary.md").exists() else ""
    return done.returncode, outputs, summary, errors


def test_is_a_composite_action_whose_inputs_are_all_used() -> None:
    assert ACTION["runs"]["using"] == "composite"
    steps = ACTION["runs"]["steps"]
    assert all(step["shell"] == "bash" for step in steps if "run" in step)
    used = re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text(encoding="utf-8"))
    assert set(used) == set(ACTION["inputs"])
    assert all(each["description"].endswith(".") for each in ACTION["inputs"].values())


def test_a_suite_passes_and_the_summary_has_it(runner: Path) -> None:
    (runner / "suite.toml").write_text(SUITE)
    code, outputs, summary, errors = run_action(runner, suite="suite.toml", cc="reno", jobs="1")
    assert (code, errors) == (0, "")
    assert outputs == {"passed": "true"}
    assert summary.startswith("### gate passed")
    assert "<testsuite" in (runner / "gate.xml").read_text()
    installed = "-m pip install --quiet /actions/dumbbell[cc,gate]\n"
    assert (runner / "python.log").read_text() == installed


def test_another_package_is_installed_if_it_is_named(runner: Path) -> None:
    (runner / "suite.toml").write_text(SUITE)
    assert run_action(runner, suite="suite.toml", cc="reno", package="./dumbbell.whl[gate]")[0] == 0
    assert (runner / "python.log").read_text() == "-m pip install --quiet ./dumbbell.whl[gate]\n"


def test_a_missed_criterion_fails_the_step(runner: Path) -> None:
    (runner / "suite.toml").write_text(SUITE.replace("1mbit", "2gbit"))
    code, outputs, summary, _ = run_action(
        runner, suite="suite.toml", cc="reno", reps="3", case="alone", markdown="sum.md"
    )
    assert code == 1
    assert outputs == {"passed": "false"}
    assert summary.startswith("### gate failed")
    assert (runner / "sum.md").read_text() == summary


def test_an_input_is_not_run_as_a_command(runner: Path) -> None:
    (runner / "suite.toml").write_text(SUITE)
    mark = runner / "mark"
    code, outputs, summary, errors = run_action(
        runner, suite="suite.toml", cc=f"$(touch {mark})", tolerance=f"`touch {mark}`; touch {mark}"
    )
    assert code == 2
    assert outputs == {"passed": "false"}
    assert summary == ""
    assert "error: " in errors
    assert not mark.exists()
