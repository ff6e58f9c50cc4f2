"""What comes back: cycles of the sending rate, and pauses to measure the RTT."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dumbbell.identify.features.summary import median
from dumbbell.identify.floats import Floats
from dumbbell.identify.trace import Trace

__all__ = ["NAMES", "Dip", "dips_of", "rhythm"]

#: Lags of the autocorrelation in base RTTs: BBR's cycle has 8, Copa's 5.
LAGS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 32)
NAMES = (
    *(f"sending_repeats_{lag}" for lag in LAGS),
    *(f"window_repeats_{lag}" for lag in LAGS),
    "sending_period", "sending_period_strength", "window_period", "window_period_strength",
    "window_period_s",
    "dips", "dip_interval_s", "dip_interval_spread", "dip_s", "dip_least_pkts", "dip_depth",
    "dip_after_loss", "burstiness", "idle_steps",
)  # fmt: skip
#: Points of the grid per base RTT, and the most in all.
PER_RTT, MAX_POINTS = 4, 4096
#: A dip is below this share of the window around it, for a tenth of a second at least: BBR's
#: ProbeRTT lasts 200 ms, with 4 packets in version 1 and half a BDP in versions 2 and 3.
DIP_SHARE, DIP_LEAST_S = 0.62, 0.1
#: The window around it: this long to either side.
AROUND_S = 1.5


@dataclass(frozen=True)
class Dip:
    """Little in flight for a short while.

    Attributes
    ----------
    start_s, end_s
        Since the flow's start.
    least_pkts, around_pkts
        In flight: at least, and usually.
    follows_loss
        Whether there was a loss just before it.
    """

    start_s: float
    end_s: float
    least_pkts: float
    around_pkts: float
    follows_loss: bool


def rhythm(trace: Trace) -> list[float]:
    """Return the features that `NAMES` lists."""
    sending, window = resampled(trace)
    of_sending, of_window = repeats(sending), repeats(window)
    dips = dips_of(trace)
    starts = np.array([dip.start_s for dip in dips])
    gaps = np.diff(starts)
    per_round = trace.sent_bytes.reshape(-1)
    steps = max(round(trace.base_rtt_s / trace.step_s), 1)
    period, strength = strongest(of_sending)
    window_period, window_strength = strongest(of_window)
    return [
        *(at(of_sending, lag) for lag in LAGS),
        *(at(of_window, lag) for lag in LAGS),
        period,
        strength,
        window_period,
        window_strength,
        window_period * trace.base_rtt_s,
        float(len(dips)),
        median(gaps),
        float(gaps.std() / gaps.mean()) if len(gaps) > 1 else float("nan"),
        median(np.array([dip.end_s - dip.start_s for dip in dips])),
        median(np.array([dip.least_pkts for dip in dips])),
        median(np.array([dip.least_pkts / max(dip.around_pkts, 1.0) for dip in dips])),
        float(np.mean([dip.follows_loss for dip in dips])) if dips else float("nan"),
        burstiness(per_round, steps),
        float((per_round == 0).mean()),
    ]


def resampled(trace: Trace) -> tuple[Floats, Floats]:
    """Return the sending rate and the window on a grid of quarters of the base RTT, detrended."""
    skip = min(len(trace.time_s) // 10, int(2.0 / trace.step_s))
    step = max(trace.base_rtt_s / PER_RTT, trace.step_s)
    total_s = (len(trace.time_s) - skip) * trace.step_s
    count = int(min(total_s / step, MAX_POINTS))
    if count < 8 * PER_RTT:
        return np.zeros(0), np.zeros(0)
    edges = np.arange(count + 1) * (step / trace.step_s) + skip
    grid = np.arange(len(trace.time_s) + 1)
    sent = np.interp(edges, grid, np.concatenate(([0.0], np.cumsum(trace.sent_bytes))))
    inside = np.interp(edges, grid, np.concatenate(([0.0], np.cumsum(trace.inflight_pkts))))
    points = max(round(step * PER_RTT / max(trace.base_rtt_s, step)), 1)
    width = 32 * points
    return flat(np.diff(sent), width), flat(np.diff(inside), width)


def flat(values: Floats, width: int) -> Floats:
    """Remove what changes slowly: the mean over a width."""
    kernel = min(width, len(values))
    sums = np.cumsum(np.concatenate(([0.0], values)))
    low = np.maximum(np.arange(len(values)) - kernel // 2, 0)
    high = np.minimum(np.arange(len(values)) + kernel // 2 + 1, len(values))
    mean = (sums[high] - sums[low]) / (high - low)
    scale = max(float(values.mean()), 1e-9)
    found: Floats = np.clip((values - mean) / scale, -2.0, 2.0)
    return found


def repeats(values: Floats) -> Floats:
    """Return the autocorrelation."""
    if len(values) < 8 or not values.any():
        return np.zeros(0)
    size = 1 << (2 * len(values) - 1).bit_length()
    spectrum = np.fft.rfft(values, size)
    found = np.fft.irfft(spectrum * spectrum.conj(), size)[: len(values)]
    scaled: Floats = found / found[0] * len(values) / np.arange(len(values), 0, -1)
    return scaled


def at(autocorrelation: Floats, lag: int) -> float:
    """Return it at a lag in base RTTs; NaN where there is none."""
    place = lag * PER_RTT
    return float(autocorrelation[place]) if place < len(autocorrelation) // 2 else float("nan")


def strongest(autocorrelation: Floats) -> tuple[float, float]:
    """Return the lag of the highest peak between 2 and 64 base RTTs, and its height."""
    inside = autocorrelation[2 * PER_RTT : min(64 * PER_RTT, len(autocorrelation) // 2)]
    if len(inside) < 3:
        return float("nan"), float("nan")
    peaks = np.flatnonzero((inside[1:-1] >= inside[:-2]) & (inside[1:-1] > inside[2:])) + 1
    if not len(peaks):
        return float("nan"), 0.0
    best = peaks[np.argmax(inside[peaks])]
    return float(best + 2 * PER_RTT) / PER_RTT, float(inside[best])


def dips_of(trace: Trace) -> list[Dip]:
    """Find where little is in flight for a short while."""
    inflight = trace.inflight_pkts
    width = max(int(AROUND_S / trace.step_s), 2)
    if len(inflight) < 2 * width:
        return []
    # The median of blocks, which is near enough to a running median and much faster.
    block = max(width // 2, 1)
    count = len(inflight) // block
    medians = np.median(inflight[: count * block].reshape(count, block), axis=1)
    padded = np.pad(medians, 2, mode="edge")
    typical = np.median(np.stack([padded[i : i + count] for i in range(5)]), axis=0)
    around = np.repeat(typical, block)
    around = np.pad(around, (0, len(inflight) - len(around)), mode="edge")
    low = inflight < DIP_SHARE * around
    change = np.diff(np.concatenate(([0], low.astype(np.int8), [0])))
    starts, ends = np.flatnonzero(change > 0), np.flatnonzero(change < 0)
    least = max(DIP_LEAST_S, trace.base_rtt_s) / trace.step_s
    lost = np.concatenate(([0.0], np.cumsum(trace.lost_pkts)))
    back = int(max(3 * float(np.median(trace.rtt_s)), 0.1) / trace.step_s)
    skip = 2.0 / trace.step_s
    return [
        Dip(
            start_s=start * trace.step_s,
            end_s=end * trace.step_s,
            least_pkts=float(inflight[start:end].min()),
            around_pkts=float(around[start]),
            follows_loss=bool(lost[end] > lost[max(start - back, 0)]),
        )
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        if end - start >= least and start > skip and end < len(inflight)
    ]


def burstiness(sent: Floats, steps: int) -> float:
    """Return how unevenly a round's bytes leave: their standard deviation over their mean."""
    if steps < 4 or len(sent) < 8 * steps:
        return float("nan")
    rounds = sent[: len(sent) // steps * steps].reshape(-1, steps)
    means = rounds.mean(axis=1)
    busy = means > 0
    return float(np.median(rounds[busy].std(axis=1) / means[busy])) if busy.any() else float("nan")
