"""A path's values, moved until its simulated captures measure as the one that was seen.

This is indirect inference (Gouriéroux, Monfort and Renault 1993): a measurement of a capture may be
off, because that of a simulated one is off in the same way. The runs at the end are a parametric
bootstrap: what measurements of such captures scatter by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from dumbbell.fit.evidence import Evidence
from dumbbell.fit.hypotheses import is_filled, random_losses
from dumbbell.fit.interval import Interval
from dumbbell.fit.path import PathModel
from dumbbell.fit.simulated import Simulated

__all__ = ["adjusted", "intervals"]

#: A step changes a value by this factor at most.
MAX_STEP = 3.0
#: A logarithm's standard deviation, at most: what chance decides wholly.
MAX_AWAY = 1.0
#: Of a normal distribution, for intervals of 90 %.
Z_90 = 1.6449
#: Uncertainty of a median of normal samples, in that of their mean.
MEDIAN = 1.2533
#: Hosts take up to so long, s, for a packet and its ACK, which no capture separates from the path:
#: docs/notes/fit.md.
HOST_S = 2e-4
#: Of a rate: a packet more or less in windows of a few hundred.
LEAST_RATE = 0.002
#: Spread of the delays of a full buffer behind a link that changes.
LEAST_FULL = 0.9
#: Of jitter: its distribution is another.
LEAST_JITTER = 0.1
#: Of one where packets hardly ever waited.
LEAST_IDLE_RATE = 0.01


def adjusted(path: PathModel, seen: Evidence, runs: Sequence[Simulated]) -> PathModel:
    """Return the path whose runs are nearer to what was seen."""

    def ratio(measure: Callable[[Evidence], float]) -> float:
        simulated = float(np.median([measure(each.evidence) for each in runs]))
        found = measure(seen)
        if found <= 0 or simulated <= 0:
            return 1.0
        return float(np.clip(found / simulated, 1 / MAX_STEP, MAX_STEP))

    rate = 1.0 if path.rate_steps else ratio(rate_measure(path, seen))
    base_s = float(np.median([each.evidence.base_rtt_s for each in runs]))
    changed = replace(path, rate_bps=path.rate_bps * rate)
    if not path.is_shared:  # which may have kept the queue from ever being empty, or not
        changed = replace(changed, base_rtt_s=max(path.base_rtt_s + seen.base_rtt_s - base_s, 1e-5))
    if path.loss:
        changed = replace(changed, loss=min(path.loss * ratio(losses), 0.5))
    if not path.queue and is_filled(seen) and not path.rate_steps:
        # A buffer holds whole packets: delays that differ by less are of equal ones.
        filled = [each.evidence.queue_full_s for each in runs if is_filled(each.evidence)]
        simulated_s = float(np.median(filled)) if filled else seen.queue_full_s
        longer = (seen.queue_full_s - simulated_s) * changed.rate_bps / 8
        buffer = path.buffer_bytes * rate + (longer if abs(longer) > seen.series.wire_bytes else 0)
        changed = replace(changed, buffer_bytes=float(max(buffer, seen.series.wire_bytes)))
    return changed


def intervals(path: PathModel, seen: Evidence, runs: Sequence[Simulated]) -> dict[str, Interval]:
    """Return the path's values with what captures of it scatter by."""

    def scatter(measure: Callable[[Evidence], float]) -> float:
        measured = [measure(each.evidence) for each in runs]
        logs = [np.log(each) for each in measured if each > 0]
        return min(float(np.std(logs, ddof=1)), MAX_AWAY) if len(logs) > 2 else MAX_AWAY

    rates = np.log(seen.rates_bps)
    if path.is_shared or not seen.has_rate:
        rates = np.zeros(1)
    of_windows = MEDIAN * float(np.std(rates)) / np.sqrt(rates.size)
    least_rate = LEAST_RATE if seen.has_rate else LEAST_IDLE_RATE
    rate_away = np.hypot(np.hypot(scatter(rate_measure(path, seen)), of_windows), least_rate)
    if path.rate_steps:  # each from its own ACKs
        rate_away = np.float64(LEAST_IDLE_RATE)
    found = {"rate_bps": around(path.rate_bps, float(rate_away))}
    below_s = max(seen.base_rtt_s - seen.base_rtt_low_s, HOST_S)
    if not seen.series.row["rtt_handshake_us"]:
        below_s = seen.base_rtt_s  # the queue may never have been empty
    base = path.base_rtt_s
    found["base_rtt_s"] = Interval(max(base - below_s, 0.0), base, base + HOST_S / 4)
    if not path.queue and is_filled(seen):
        # A queue is full when no packet fits any more: within one.
        one = seen.series.wire_bytes / max(path.buffer_bytes, 1.0)
        at = np.log([max(each.queue_s, 1e-9) for each in seen.full])
        if path.rate_steps:  # delays are of other rates
            at = np.log([LEAST_FULL, 1.0])
        away = np.hypot(np.hypot(scatter(full), float(np.std(at))), rate_away)
        found["buffer_bytes"] = around(path.buffer_bytes, float(np.hypot(away, one / 2)))
    if path.jitter_s:
        found["jitter_s"] = around(path.jitter_s, max(scatter(noise), LEAST_JITTER))
    if path.loss:
        lost = around(path.loss, float(1 / np.sqrt(max(random_losses(seen), 1))))
        found["loss"] = Interval(lost.low, lost.value, min(lost.high, 1.0))
    return found


def around(value: float, away: float) -> Interval:
    """Return an interval of a value whose logarithm has a standard deviation."""
    factor = float(np.exp(Z_90 * away))
    return Interval(value / factor, value, value * factor)


def rate_measure(path: PathModel, seen: Evidence) -> Callable[[Evidence], float]:
    """Return what says the rate: ACKs next to others, windows in which packets waited alone."""
    if path.is_shared or not seen.has_rate:
        return link if seen.link_bps else goodput
    return rate_of


def link(evidence: Evidence) -> float:
    return evidence.link_bps


def rate_of(evidence: Evidence) -> float:
    return evidence.rate_bps


def goodput(evidence: Evidence) -> float:
    return evidence.series.goodput_bps


def full(evidence: Evidence) -> float:
    return evidence.queue_full_s


def noise(evidence: Evidence) -> float:
    return evidence.noise_s


def losses(evidence: Evidence) -> float:
    return float(random_losses(evidence)) + 0.5
