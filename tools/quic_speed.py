"""Writes the table of how fast QUIC flows are; run it on a quiet machine."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from markdown_tables import markdown_table, replace_some  # next to this file

import dumbbell
from dumbbell import Scenario

PAGE = Path(__file__).parents[1] / "docs" / "notes" / "quic.md"
ALGORITHMS = ("quic/quinn:cubic", "quic/noq:copa", "quic/noq:bbr3")
#: Others take processor time too: the least of these runs is the nearest to what one takes.
RUNS = 15


def cpu_s(scenario: Scenario) -> tuple[float, int]:
    """Return the CPU time of a whole run, and the data packets of its first flow."""
    began_s = time.process_time()
    run = dumbbell.run(scenario)
    took_s = time.process_time() - began_s
    return took_s, run.summary["flows"][0]["sent_pkts"]


def main() -> None:
    """Measure in turns and write the table."""
    scenarios = {
        cc: Scenario([cc, "cubic"], rate="50mbit", rtt="40ms", buffer="1bdp", time="30s")
        for cc in ALGORITHMS
    }
    rounds = [{cc: cpu_s(scenarios[cc]) for cc in ALGORITHMS} for _ in range(RUNS)]
    body = []
    for cc in ALGORITHMS:
        least_s, pkts = min(each[cc] for each in rounds)
        body.append([f"`{cc}`", f"{pkts:,}", f"{least_s:.3f}", f"{pkts / least_s:,.0f}"])
    head = ("", "data packets", "CPU time, s", "packets per CPU-second")
    text = replace_some(PAGE.read_text(encoding="utf-8"), {"speed": markdown_table(head, body)})
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
