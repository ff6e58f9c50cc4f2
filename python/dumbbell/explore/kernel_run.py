"""A scenario of the page on this machine's kernel, next to what the simulator says."""

from __future__ import annotations

import json
import time
from collections.abc import Generator

from dumbbell.explore.pictures import rows_of
from dumbbell.explore.window import Request
from dumbbell.run.engine import KERNEL, check_engine
from dumbbell.scenario import Scenario

__all__ = ["kernel_lines"]


def kernel_lines(scenario: Scenario, request: Request) -> Generator[str]:
    """Yield lines of JSON: that the run begins, and what the kernel's flows got.

    It takes the scenario's time. An ended or overtaken request cancels it.

    Raises
    ------
    DumbbellError
        This machine cannot run it, with the reason.
    """
    check_engine(KERNEL, scenario)
    try:
        yield json.dumps({"kind": "begin", "seconds": scenario.time.seconds})
        began_s = time.monotonic()
        run = request.run(scenario, KERNEL)
        request.check()
        yield json.dumps(
            {
                "kind": "kernel",
                "rows": rows_of(run),
                "verdict": run.verdict.status,
                "reasons": [reason.message for reason in run.verdict.reasons],
                "took_s": time.monotonic() - began_s,
            }
        )
        yield '{"kind": "end"}'
    finally:
        request.cancel()
