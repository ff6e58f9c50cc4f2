"""A run of foreign code, in a process of its own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell._core import Control
from dumbbell.base.errors import CongestionControlError, EngineError, ScenarioError, os_reason
from dumbbell.run.capture import Capture
from dumbbell.scenario import Scenario

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["execute_isolated", "is_foreign"]


def is_foreign(scenario: Scenario) -> bool:
    """Whether a scenario runs code from files, which is not dumbbell's own.

    Raises
    ------
    ScenarioError
        It also has a class of this program, which another process does not have.
    """
    ccs = [group.cc for group in scenario.groups]
    foreign = [cc for cc in ccs if cc.is_file]
    own = [cc for cc in ccs if cc.is_python_class]
    if foreign and own:
        raise ScenarioError(
            f"`{foreign[0]}` runs in a process of its own, which does not have this program's "
            f"`{own[0]}`; put the class in a file and name that",
            key="cc",
        )
    return bool(foreign)


def execute_isolated(
    scenario: Scenario, control: Control, capture: Capture | None = None
) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    """Simulate a scenario in a process of its own.

    Parameters
    ----------
    scenario
        What to run.
    control
        As for `run.execute`.
    capture
        As for `run.execute`.

    Returns
    -------
    tuple
        The run's summary, with ``sandbox``, and its tables.

    Raises
    ------
    CongestionControlError
        A congestion control algorithm crashed, hung, or sent what is not a result.
    EngineError
        The engine refuses the scenario.
    Cancelled
        It was stopped through `control`.
    """
    # Slow to import, and few runs need them.
    from dumbbell.congestion_control.isolation import foreign_process
    from dumbbell.congestion_control.isolation.protocol import BrokenAnswer
    from dumbbell.run.foreign_output import read_output

    request = request_of(scenario, capture)
    output = os.memfd_create("dumbbell-run", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        ccs = [group.cc.name for group in scenario.groups]
        process, _, place = foreign_process.follow(request, ccs, control, output)
        # The process has ended, so that nothing of it can change the file.
        try:
            summary, tables = read_output(output, place, scenario)
        except BrokenAnswer as broken:
            raise CongestionControlError(
                f"the process that ran {process.names} sent {broken}"
            ) from None
    finally:
        os.close(output)
    control.set_progress(1.0)
    summary["sandbox"] = {"confined": process.is_confined, "missing": process.missing}
    return summary, tables


def request_of(scenario: Scenario, capture: Capture | None) -> dict[str, Any]:
    """Return the request to the process."""
    from dumbbell.congestion_control.isolation.foreign_process import FUNCTION_LIMIT_S
    from dumbbell.congestion_control.isolation.server_link import environment_of
    from dumbbell.congestion_control.quic import algorithm_of

    captured = None
    if capture is not None:
        words = ("snap_bytes", "senders", "receivers", "links")
        path = Path.cwd() / capture.path
        captured = {word: getattr(capture, word) for word in words} | {"path": str(path)}
        # The process may write this file, but not make one.
        try:
            path.open("wb").close()
        except OSError as error:
            raise EngineError(
                f"the capture `{capture.path}` cannot be written: {os_reason(error)}; free some "
                "space, or choose another path"
            ) from None
    return environment_of() | {
        "scenario": scenario.to_json(),
        "files": sorted(
            {algorithm_of(group.cc.runs_from) for group in scenario.groups if group.cc.is_file}
        ),
        "capture": captured,
        "function_limit_s": FUNCTION_LIMIT_S,
    }
