"""Runs of a few simulated seconds that several tests look at, and the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

import dumbbell
from dumbbell.cli import invoke


@dataclass(frozen=True)
class Outcome:
    """What a command left."""

    code: int
    out: str
    err: str


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """The command line, in this process."""

    def call(*arguments: str) -> Outcome:
        code = invoke(arguments)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call


@pytest.fixture(scope="session")
def short_run() -> dumbbell.Run:
    """Copa against two CUBIC flows for two seconds."""
    scenario = dumbbell.Scenario(
        ["copa", dumbbell.Group("cubic", 2, jitter="10ms")], buffer="2bdp", time="2s", name="short"
    )
    return dumbbell.run(scenario)
