"""How a flow alone responds: to losses, between them, by probing, and with its ACKs.

Nothing here is fitted: each value is read off the time series of one flow on a path that loses
packets at random and has room for any window between two losses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dumbbell.run import Run
from dumbbell.scenario import Group, Link, Scenario
from dumbbell_studies.conform.points import column
from dumbbell_studies.conform.transport_responses import (
    SENDER,
    SENDER_LINK,
    first_packets_rtts,
    packets_at_once,
    pause_rtts,
)

__all__ = ["Series", "probing", "response_scenario", "responses_of"]

FloatArray = npt.NDArray[np.float64]

#: The path: 1 BDP is 165 packets, a loss every 10,000 packets or 4 s, no ACK lost or waiting.
RATE, ONE_WAY, BUFFER, LOSS, TIME, SAMPLE = "50mbit", "20ms", "2bdp", "0.01%", "100s", "5ms"
ACK_RATE, ACK_BUFFER = "1gbit", "10MB"
DATA, ACKS = "bottleneck", "acks"
#: What is left out of the start, s: slow start, and the losses that end it.
WARMUP_S = 10.0
#: Linux's algorithms round ssthresh down to a packet; this is what they lose on average.
ROUNDED_DOWN = 0.5
#: A window that is hardly smaller is no response to a loss: slow start that ends by itself.
LEAST_CUT = 0.97
#: A loss at less than this part of the window at the last loss: the flow has less than it had, so
#: that CUBIC's fast convergence (RFC 9438 §4.7) applies, which itself keeps 0.85 of W_max.
BELOW = 0.8
#: Base RTTs after a loss at which the window is looked at.
EARLY_RTTS, LATE_RTTS = 25, 50
#: Sent in an RTT, relative to what is usually delivered: more is probing. BBR's gain is 1.25.
PROBE = 1.18
#: RTTs before, of which the median is usual: more than BBR's cycle of eight and few, because a
#: window grows meanwhile, Reno's of 50 packets by 12 %.
USUAL_RTTS = 12
#: Fewer probes in a run are chance.
LEAST_PROBES = 5


def response_scenario(make: Callable[..., Group], seed: int) -> Scenario:
    """Return the scenario in which one flow's responses are measured."""
    return Scenario(
        [make(route=[SENDER, DATA], back=[ACKS], jitter="1s")],
        links=[
            Link(SENDER, **SENDER_LINK),
            Link(DATA, rate=RATE, delay=ONE_WAY, buffer=BUFFER, loss=LOSS),
            Link(ACKS, rate=ACK_RATE, delay=ONE_WAY, buffer=ACK_BUFFER),
        ],
        time=TIME, sample=SAMPLE, seed=seed, name="responses",
    )  # fmt: skip


@dataclass(frozen=True)
class Series:
    """What is looked at of one flow over time.

    Attributes
    ----------
    time_s
        Of the samples.
    cwnd_pkts, ssthresh_pkts
        In packets, as fractions where the flow counts bytes; NaN where there is none.
    sent_pkts, forwarded_pkts
        What has come to the bottleneck and left it so far.
    rtt_s
        Base RTT.
    """

    time_s: FloatArray
    cwnd_pkts: FloatArray
    ssthresh_pkts: FloatArray
    sent_pkts: FloatArray
    forwarded_pkts: FloatArray
    rtt_s: float

    @classmethod
    def of(cls, run: Run) -> Series:
        """Return those of the first flow of a run."""
        cwnd, ssthresh, time_us = (
            column(run.flows, name) for name in ("cwnd_pkts", "ssthresh_pkts", "time_us")
        )
        ssthresh = ssthresh + ROUNDED_DOWN
        state = next((run.tables[name] for name in run.tables if name.startswith("state-0-")), None)
        if state is not None and "cwnd_bytes" in state.column_names:  # a stack counts bytes
            of_bytes, threshold = column(state, "cwnd_bytes"), column(state, "ssthresh_bytes")
            packet_bytes = float(np.median(of_bytes) / max(float(np.median(cwnd + 0.5)), 1.0))
            cwnd, ssthresh = of_bytes / packet_bytes, threshold / packet_bytes
        queue = run.queue_of(DATA)
        forwarded = column(queue, "forwarded_pkts")
        waiting = column(queue, "backlog_pkts") + column(queue, "dropped_pkts")
        last = slice(-min(cwnd.size, forwarded.size), None)
        return cls(
            time_us[last] / 1e6, cwnd[last],
            np.where(ssthresh > ROUNDED_DOWN, ssthresh, np.nan)[last],
            (forwarded + waiting)[last], forwarded[last],
            run.summary["flows"][0]["base_rtt_us"] / 1e6,
        )  # fmt: skip

    def cwnd_at(self, time_s: float) -> float:
        """Return the window at a time."""
        return float(self.cwnd_pkts[np.searchsorted(self.time_s, time_s, side="right") - 1])

    def reductions(self) -> list[int]:
        """Return the samples at which the window was reduced to a new ssthresh."""
        now, last, before = self.ssthresh_pkts[1:], self.ssthresh_pkts[:-1], self.cwnd_pkts[:-1]
        with np.errstate(invalid="ignore"):
            is_cut = (now != last) & np.isfinite(now) & np.isfinite(last)
            is_cut &= (now < LEAST_CUT * before) & (self.time_s[1:] >= WARMUP_S)
        return [int(each) + 1 for each in np.flatnonzero(is_cut)]


def responses_of(run: Run) -> dict[str, float | None]:
    """Return what a run of `response_scenario` shows, by the name of the check."""
    series = Series.of(run)
    links = {link["name"]: link for link in run.summary["links"]}
    acks = links[ACKS]["forwarded_pkts"]
    epochs = epochs_of(series)
    full = [each for each in epochs if each.is_full]
    below = [each for each in epochs if each.is_below]
    per_rtt, power = growth(series, full)
    gain, period_s = probing(series)
    cuts = [int(np.searchsorted(series.time_s, each.start_s)) for each in full]
    return {
        "decrease": decrease(full),
        "decrease_below": decrease(below),
        "growth": per_rtt,
        "growth_power": power,
        "growth_below": growth(series, below)[0],
        "probe_gain": gain,
        "probe_period_s": period_s,
        "packets_per_ack": links[DATA]["forwarded_pkts"] / acks if acks else None,
        "packets_at_once": packets_at_once(links[SENDER]),
        "first_packets_rtts": first_packets_rtts(run, series.rtt_s),
        "pause_rtts": pause_rtts(series.time_s, series.sent_pkts, cuts, series.rtt_s),
        "goodput_bps": run.summary["flows"][0]["goodput_bps"],
    }


@dataclass(frozen=True)
class Epoch:
    """The time from one loss to the next.

    Attributes
    ----------
    start_s, end_s
        Its ends.
    before_pkts, ssthresh_pkts
        The window before the loss, and what it was reduced to.
    is_full, is_below
        Whether the window had come back to that at the last loss, or was well below it.
    """

    start_s: float
    end_s: float
    before_pkts: float
    ssthresh_pkts: float
    is_full: bool
    is_below: bool


def epochs_of(series: Series) -> list[Epoch]:
    """Return the epochs of a flow, but the first: what was before it is unknown."""
    cuts = series.reductions()
    ends = [*cuts[1:], series.time_s.size - 1]
    found = []
    last = np.nan
    for at, end in zip(cuts, ends[: len(cuts)], strict=True):
        before = float(series.cwnd_pkts[at - 1])
        if np.isfinite(last):
            found.append(Epoch(
                float(series.time_s[at]), float(series.time_s[end]), before,
                float(series.ssthresh_pkts[at]), before >= last, before < BELOW * last,
            ))  # fmt: skip
        last = before
    return found


def decrease(epochs: Sequence[Epoch]) -> float | None:
    """Return the window after a loss over that before."""
    return median([each.ssthresh_pkts / each.before_pkts for each in epochs])


def growth(series: Series, epochs: Sequence[Epoch]) -> tuple[float | None, float | None]:
    """Return the growth in packets per RTT after a loss, and the power of the time it is of."""
    per_rtt, powers = [], []
    for epoch in epochs:
        early_s, late_s = (rtts * series.rtt_s for rtts in (EARLY_RTTS, LATE_RTTS))
        if epoch.start_s + late_s >= epoch.end_s:
            continue
        early, late = (
            series.cwnd_at(epoch.start_s + after_s) - epoch.ssthresh_pkts
            for after_s in (early_s, late_s)
        )
        per_rtt.append(late / LATE_RTTS)
        if early > 0 and late > 0:
            powers.append(float(np.log(late / early) / np.log(LATE_RTTS / EARLY_RTTS)))
    return median(per_rtt), median(powers)


def probing(series: Series) -> tuple[float | None, float | None]:
    """Return by how much a flow sends more than is usual when it probes, and how often, in s."""
    rtt = max(1, round(series.rtt_s / float(np.median(np.diff(series.time_s)))))  # samples
    first = max(int(np.searchsorted(series.time_s, WARMUP_S)), (USUAL_RTTS + 1) * rtt)
    at = np.arange(first, series.time_s.size)
    sent = series.sent_pkts[at] - series.sent_pkts[at - rtt]
    ends = at[:, np.newaxis] - rtt * np.arange(USUAL_RTTS)
    usual = np.median(series.forwarded_pkts[ends] - series.forwarded_pkts[ends - rtt], axis=1)
    gains = sent / np.maximum(usual, 1.0)
    probes = np.flatnonzero(gains >= PROBE)
    # Rises within an RTT of each other are one probe; what goes on at the start is none.
    begins = np.flatnonzero(np.diff(probes, prepend=-1) > rtt)
    if begins.size < LEAST_PROBES:
        return None, None
    peaks = [float(gains[each].max()) for each in np.split(probes, begins)[1:]]
    return median(peaks), float(np.diff(series.time_s[at[probes[begins]]]).mean())


def median(values: list[float]) -> float | None:
    """Return the median; None of nothing."""
    return float(np.median(values)) if values else None
