"""Writes the measured tables of queues.md: what papers and kernels report, and what we measure.

Takes a minute: ``python docs/queue_measurements.py``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import dumbbell

__all__ = ["overload_table", "red_row"]

PAGE = Path(__file__).with_name("queues.md")
#: Gaps after the n-th signal, and times from the first to the n-th, ms, of Linux's arithmetic with
#: an interval of 100 ms, and of 100/√n.
LINUX_GAPS_MS = {1: 100.0, 2: 50.0, 3: 56.2, 4: 48.8, 5: 44.2, 6: 40.4, 8: 35.2, 10: 31.5}
LINUX_SUMS_MS = {17: 640.9, 33: 968.0, 129: 2095.0}
#: Flows, and RED's bounds in packets.
FLOWS = (5, 10, 20, 50, 100)
MIN_PKTS, MAX_PKTS, PACKET_BYTES = 20, 60, 1514
TARGET_PKTS = (MIN_PKTS + 0.4 * (MAX_PKTS - MIN_PKTS), MIN_PKTS + 0.6 * (MAX_PKTS - MIN_PKTS))


def main() -> None:
    """Replace what is between the markers of each table."""
    text = PAGE.read_text(encoding="utf-8")
    for name, table in {"overload": overload_table(), "red": red_table()}.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{table}\n{end}{rest.split(end)[1]}"
    PAGE.write_text(text, encoding="utf-8")


def rows(header: list[str], body: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *body]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def column(run: dumbbell.Run, name: str) -> Any:
    """Return a column of a run's time series of the queue."""
    return np.array(run.tables["queue"][name].to_pylist(), dtype=float)


def overload_ms(time: str = "2.4s") -> list[float]:
    """Return when CoDel drops, ms after its first drop, while a source ignores that.

    A source of 1.5 times the link's rate, and room for all that it sends.
    """
    flood = dumbbell.Group("cubic", traffic="datagram:rate=60mbit,size=1460B")
    run = dumbbell.run(
        dumbbell.Scenario(
            [flood], rate="40mbit", rtt="2ms", queue="codel:limit=100000pkt", time=time,
            sample="200us",
        )
    )  # fmt: skip
    at_us, count = column(run, "time_us"), column(run, "count")
    drops = [at_us[np.argmax(count >= number)] for number in range(1, int(count.max()) + 1)]
    return [(at - drops[0]) / 1000 for at in drops]


def overload_table() -> str:
    """Return the table of CoDel's control law."""
    at_ms = overload_ms()
    gaps = [
        [f"after drop {n}", f"{100 / n**0.5:.1f}", f"{linux:.1f}", f"{at_ms[n] - at_ms[n - 1]:.1f}"]
        for n, linux in LINUX_GAPS_MS.items()
    ]
    sums = [
        [
            f"from drop 1 to drop {n}", f"{sum(100 / k**0.5 for k in range(1, n)):.0f}",
            f"{linux:.0f}", f"{at_ms[n - 1]:.0f}",
        ]
        for n, linux in LINUX_SUMS_MS.items()
    ]  # fmt: skip
    return rows(["time", "100/√n, ms", "Linux's arithmetic, ms", "measured, ms"], gaps + sums)


def averages(flows: int, adaptive: str, time: str = "60s") -> tuple[Any, float, float]:
    """Return RED's average queue over time, in packets, its drop rate and the link's utilization.

    15 Mbit/s, 100 ms, flows of Reno, after 20 s: as Floyd, Gummadi and Shenker, 2001.
    """
    # W = 1/1024: theirs is 1 - exp(-1/C), 1/1250 at 1250 packets/s.
    queue = (
        f"red:limit=240pkt,min={MIN_PKTS * PACKET_BYTES}B,max={MAX_PKTS * PACKET_BYTES}B,"
        f"avpkt={PACKET_BYTES}B,burst=200,probability=2%,adaptive={adaptive}"
    )
    groups = [dumbbell.Group("reno", flows, jitter="5s")]
    run = dumbbell.run(
        dumbbell.Scenario(groups, rate="15mbit", rtt="100ms", queue=queue, time=time, sample="20ms")
    )
    settled = column(run, "time_us") > 20e6
    average = column(run, "avg_bytes")[settled] / PACKET_BYTES
    link = run.summary["bottleneck"]
    return average, link["dropped_pkts"] / link["offered_pkts"], link["utilization"]


def red_row(flows: int, adaptive: str) -> list[str]:
    """Return a row of the table of RED: what the average queue does with so many flows."""
    average, dropped, utilization = averages(flows, adaptive)
    low, high = np.percentile(average, [5, 95])
    within = TARGET_PKTS[0] <= average.mean() <= TARGET_PKTS[1]
    return [
        str(flows), "adaptive RED" if adaptive == "on" else "RED", f"{average.mean():.1f}",
        f"{low:.1f} to {high:.1f}", "yes" if within else "no", f"{dropped:.1%}",
        f"{utilization:.1%}",
    ]  # fmt: skip


def red_table() -> str:
    """Return the table of RED's average queue by the number of flows."""
    body = [red_row(flows, adaptive) for flows in FLOWS for adaptive in ("off", "on")]
    header = ["flows", "discipline", "mean of the average, packets", "5 % to 95 %",
              f"mean in {TARGET_PKTS[0]:.0f} to {TARGET_PKTS[1]:.0f}", "dropped",
              "utilization"]  # fmt: skip
    return rows(header, body)


if __name__ == "__main__":
    main()
