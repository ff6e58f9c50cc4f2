"""The pytest plugin: options and fixtures. pytest loads it wherever dumbbell is installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from dumbbell.base.errors import PrivilegeError
from dumbbell.emulation import EmulatedPath, emulate
from dumbbell.gate import Gate
from dumbbell.run import Run, run
from dumbbell.run.engine import ENGINES, SIMULATOR
from dumbbell.scenario import Scenario
from dumbbell.testing.assertions import assert_no_regression

__all__ = ["dumbbell_gate", "dumbbell_path", "dumbbell_run", "pytest_addoption"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("dumbbell", "congestion control algorithms")
    group.addoption(
        "--dumbbell-engine",
        choices=ENGINES,
        default=SIMULATOR,
        help="what runs scenarios: the simulator, or this machine's Linux TCP",
    )
    group.addoption(
        "--dumbbell-record",
        action="store_true",
        help="store the gates' results as their baselines instead of comparing with them",
    )


@pytest.fixture(scope="session")
def dumbbell_run(pytestconfig: pytest.Config) -> Callable[..., Run]:
    """Run a scenario: ``dumbbell_run(scenario, buffer="4bdp")``.

    Takes a `Scenario`, a scenario file, or a list of congestion control algorithms; further
    arguments replace the scenario's fields. The same scenario is run once in a session.
    """
    engine: str = pytestconfig.getoption("--dumbbell-engine")
    done: dict[str, Run] = {}

    def call(what: Scenario | str | Path | Sequence[Any], **changes: Any) -> Run:
        scenario = Scenario.of(what, **changes)
        key = scenario.to_json()
        if key not in done:
            done[key] = run(scenario, engine=engine)
        return done[key]

    return call


@pytest.fixture(scope="session")
def dumbbell_gate(pytestconfig: pytest.Config) -> Callable[..., Gate]:
    """Assert no regression: ``dumbbell_gate("regression", cc="./mine.bpf.c", baseline="base")``.

    As `dumbbell.testing.assert_no_regression`; with ``--dumbbell-record`` the test is skipped once
    its baseline is stored, so that it does not count as passed.
    """
    record: bool = pytestconfig.getoption("--dumbbell-record")
    engine: str = pytestconfig.getoption("--dumbbell-engine")

    def call(suite: str | Path, cc: str, baseline: str | Path, **settings: Any) -> Gate:
        __tracebackhide__ = True
        gate = assert_no_regression(
            suite, cc, baseline, record=record, **{"engine": engine, **settings}
        )
        if record:
            pytest.skip(f"recorded {baseline}")
        return gate

    return call


@pytest.fixture
def dumbbell_path() -> Callable[..., EmulatedPath]:
    """Emulate a path: ``with dumbbell_path(rate="12mbit", rtt="40ms") as path:``.

    As `dumbbell.emulate`; the test is skipped where this machine has no kernel engine.
    """

    def call(**settings: Any) -> EmulatedPath:
        try:
            return emulate(**settings)
        except PrivilegeError as error:
            pytest.skip(str(error))

    return call
