"""Writes the measured tables of notes/queues.md: what papers and kernels report, what we measure.

Takes a minute: ``python tools/queue_measurements.py``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from markdown_tables import markdown_table  # next to this file
from red_stability import Loop

import dumbbell

__all__ = ["overload_table", "red_row", "stability_row"]

PAGE = Path(__file__).parents[1] / "docs" / "notes" / "queues.md"
#: Gaps after the n-th signal, and times from the first to the n-th, ms, of Linux's arithmetic with
#: an interval of 100 ms, and of 100/√n.
LINUX_GAPS_MS = {1: 100.0, 2: 50.0, 3: 56.2, 4: 48.8, 5: 44.2, 6: 40.4, 8: 35.2, 10: 31.5}
LINUX_SUMS_MS = {17: 640.9, 33: 968.0, 129: 2095.0}
#: Flows, and RED's bounds in packets.
FLOWS = (5, 10, 20, 50, 100)
MIN_PKTS, MAX_PKTS, PACKET_BYTES = 20, 60, 1514
#: The same of the sweep for stability: wide enough for an equilibrium in between in every cell.
WIDE_MIN_PKTS, WIDE_MAX_PKTS, WIDE_PROBABILITY = 20, 320, 0.1
RTTS_MS = (40, 100, 200, 400)
#: W of a burst of 200 packets, by `tc`'s rule.
WEIGHT = 1 / 1024
RATE_BPS = 15_000_000
SAMPLE_S = 0.02
TARGET_PKTS = (MIN_PKTS + 0.4 * (MAX_PKTS - MIN_PKTS), MIN_PKTS + 0.6 * (MAX_PKTS - MIN_PKTS))


def main() -> None:
    """Replace what is between the markers of each table."""
    text = PAGE.read_text(encoding="utf-8")
    for name, table in {
        "overload": overload_table(),
        "red": red_table(),
        "stability": stability_table(),
    }.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{table}\n{end}{rest.split(end)[1]}"
    PAGE.write_text(text, encoding="utf-8")


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
    head = ["time", "100/√n, ms", "Linux's arithmetic, ms", "measured, ms"]
    return markdown_table(head, gaps + sums)


def averages(
    flows: int, queue: str, rtt_ms: int = 100, time: str = "60s", settled_s: int = 20
) -> tuple[Any, float, float]:
    """Return RED's average queue over time, in packets, its drop rate and the link's utilization.

    Flows of Reno over a link of 15 Mbit/s, once they have settled.
    """
    run = dumbbell.run(
        dumbbell.Scenario(
            [dumbbell.Group("reno", flows, jitter="5s")], rate=f"{RATE_BPS}bit",
            rtt=f"{rtt_ms}ms", queue=queue, time=time, sample=f"{SAMPLE_S * 1000:.0f}ms",
        )
    )  # fmt: skip
    settled = column(run, "time_us") > settled_s * 1e6
    average = column(run, "avg_bytes")[settled] / PACKET_BYTES
    link = run.summary["bottleneck"]
    return average, link["dropped_pkts"] / link["offered_pkts"], link["utilization"]


def red_row(flows: int, adaptive: str) -> list[str]:
    """Return a row of the table of RED: what the average queue does with a number of flows."""
    # 15 Mbit/s, 100 ms, as Floyd, Gummadi and Shenker, 2001. W = 1/1024: theirs is
    # 1 - exp(-1/C), 1/1250 at 1250 packets/s.
    average, dropped, utilization = averages(
        flows,
        f"red:limit=240pkt,min={MIN_PKTS * PACKET_BYTES}B,max={MAX_PKTS * PACKET_BYTES}B,"
        f"avpkt={PACKET_BYTES}B,burst=200,probability=2%,adaptive={adaptive}",
    )
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
    return markdown_table(header, body)


def oscillation(average: Any) -> tuple[float, float]:
    """Return the period of the average queue, s, and how much it repeats itself after one.

    The peak of the autocorrelation's first positive lobe after its first negative one: 1 is a
    perfect oscillation, and noise has a low one.
    """
    deviation = average - average.mean()
    lags = deviation.size // 2  # for longer ones there are too few pairs
    spectrum = np.abs(np.fft.rfft(deviation, 2 * deviation.size)) ** 2
    correlation = np.fft.irfft(spectrum)[:lags] / np.arange(deviation.size, lags, -1)[:lags]
    changes = np.flatnonzero(np.diff(np.sign(correlation))) + 1
    # Down, up, down: the lobe is between the second and the third.
    begin, end = [*changes[1:3], lags, lags][:2]
    if begin == lags:
        return 0.0, 0.0
    at = begin + int(np.argmax(correlation[begin:end]))
    return at * SAMPLE_S, float(correlation[at] / deviation.var())


def figures(value: float) -> str:
    """Write a ratio: two decimals below 10."""
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def loop(flows: int, rtt_ms: int) -> Loop:
    """Return the linear model of a cell of the sweep.

    Gaps between RED's drops are uniform in 1 … 1/p, so that it drops twice p in the mean.
    """
    return Loop(
        flows, rtt_ms / 1000, RATE_BPS / (8 * PACKET_BYTES), WIDE_MIN_PKTS, WIDE_MAX_PKTS,
        2 * WIDE_PROBABILITY, WEIGHT,
    )  # fmt: skip


def stability_row(flows: int, rtt_ms: int) -> list[str]:
    """Return a row of the table of RED's stability: what the model says and what is measured."""
    model = loop(flows, rtt_ms)
    gain, period_s = model.crossover()
    average, _, utilization = averages(
        flows,
        f"red:limit=1000pkt,min={WIDE_MIN_PKTS * PACKET_BYTES}B,"
        f"max={WIDE_MAX_PKTS * PACKET_BYTES}B,avpkt={PACKET_BYTES}B,burst=200,"
        f"probability={WIDE_PROBABILITY:.0%}",
        rtt_ms, "240s", 40,
    )  # fmt: skip
    low, high = np.percentile(average, [5, 95])
    measured_s, repeats = oscillation(average)
    return [
        f"{rtt_ms} ms", str(flows), figures(model.bound()), figures(gain),
        f"{model.queue():.0f}",
        f"{average.mean():.0f}", f"{low:.0f} to {high:.0f}",
        f"{(high - low) / average.mean():.0%}", f"{period_s:.1f} s", f"{measured_s:.1f} s",
        f"{repeats:.2f}", f"{utilization:.1%}",
    ]  # fmt: skip


def stability_table() -> str:
    """Return the table of RED's stability by RTT and number of flows."""
    body = [stability_row(flows, rtt_ms) for rtt_ms in RTTS_MS for flows in FLOWS]
    header = ["RTT", "flows", "bound", "gain", "queue, model", "queue, measured", "5 % to 95 %",
              "of the mean", "period, model", "period, measured", "repeats",
              "utilization"]  # fmt: skip
    return markdown_table(header, body)


if __name__ == "__main__":
    main()
