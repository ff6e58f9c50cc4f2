"""The memory of the server of `dumbbell explore` is steady over thousands of runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

#: Runs until everything is loaded and as many pictures are kept as will be (`laboratory.MAX_KEPT`).
WARM, RUNS = 600, 2000
#: By how much it may have grown since, kB: 2 kB a run, where a run's tables have 1 MB.
MAX_GROWTH_KB = 2 * (RUNS - WARM)


def resident_kb(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1])


def test_two_thousand_runs_and_sweeps_leave_nothing():
    command = [sys.executable, "-m", "dumbbell", "explore", "copa", "cubic", "--time", "2s"]
    environment = {**os.environ, "MALLOC_ARENA_MAX": "2"}  # threads' own heaps grow at random
    with subprocess.Popen(
        [*command, "--no-open"], stdout=subprocess.PIPE, text=True, env=environment
    ) as server:
        assert server.stdout is not None
        url = server.stdout.readline().split()[0]
        found = []
        for number in range(RUNS):
            changes = [["buffer", f"{1 + number % 64}bdp"], ["0.rtt", f"{20 + number}ms"]]
            asked = {"window": "w", "slot": "b", "changes": changes}
            body = json.dumps(asked).encode()
            with urllib.request.urlopen(url + "show", body) as answer:  # noqa: S310 -- our own
                assert b'"kind": "end"' in answer.read()
            if number + 1 in (WARM, RUNS):
                found.append(resident_kb(server.pid))
        server.terminate()
    warm_kb, end_kb = found
    assert end_kb - warm_kb < MAX_GROWTH_KB, (warm_kb, end_kb)
