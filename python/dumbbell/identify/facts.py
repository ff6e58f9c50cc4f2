"""What a flow did, in words with its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from dumbbell.figures.style import cc_label
from dumbbell.identify.features import FEATURES
from dumbbell.identify.floats import Floats

__all__ = ["Measured", "fact", "measured_of"]

Measured = Mapping[str, float]
#: A shape needs this many losses.
FEW_LOSSES = 2
#: Shares of an epoch's growth: an even third each if they differ by less.
EVEN = 0.12
#: From this correlation on the rate repeats; with less a peak is anyone's.
REPEATS = 0.25
#: Cycles that algorithms have, in base RTTs, with what is to either side: BBR's ProbeBW has eight
#: phases of one (draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.4), Copa's oscillation five
#: (Arun and Balakrishnan 2018, §2.3).
CYCLES = {"bbr": (8.0, 1.0, "ProbeBW"), "copa": (5.0, 1.5, "its oscillation")}
#: A law that is off by less than this share of the window fits.
FITS = 0.05


def measured_of(features: Floats) -> Measured:
    """Return features by name, without those that the flow does not have."""
    return {
        name: float(value)
        for name, value in zip(FEATURES, features, strict=True)
        if not math.isnan(value)
    }


def has(measured: Measured, *names: str) -> bool:
    """Whether all of these were measured."""
    return all(name in measured for name in names)


def after_loss(measured: Measured) -> str | None:
    """What is left of the window after a loss."""
    if not has(measured, "keeps_q50", "losses") or measured["losses"] < FEW_LOSSES:
        return None
    low, high = measured["keeps_q25"], measured["keeps_q75"]
    spread = f" ({low:.2f} to {high:.2f})" if high - low > 0.05 else ""
    return f"after each loss {measured['keeps_q50']:.2f} of the window is left{spread}"


def shape(measured: Measured) -> str | None:
    """How the window grows between losses."""
    names = [f"share_of_growth_{third}" for third in ("first", "middle", "last")]
    if not has(measured, *names, "grows_mean", "losses") or measured["losses"] < FEW_LOSSES:
        return None
    first, middle, last = (measured[name] for name in names)
    if first - middle > EVEN and last - middle > EVEN:
        how = "concave, then convex"
    elif last - first > EVEN:
        how = "faster and faster (convex)"
    elif first - last > EVEN:
        how = "more and more slowly (concave)"
    else:
        how = "evenly"
    return f"it grows {how}, by {measured['grows_mean']:.1f} packets per round trip on average"


def law(measured: Measured, algorithm: str) -> str | None:
    """How well an algorithm's own law of growth fits."""
    error = measured.get(f"error_{algorithm}")
    if error is None or error > FITS or measured.get("losses", 0.0) < FEW_LOSSES:
        return None
    return f"its growth is {cc_label(algorithm)}'s, to {100 * error:.0f} % of the window"


def growth(measured: Measured) -> str | None:
    """How fast the window grows, without its shape."""
    if not has(measured, "grows_q50"):
        return None
    return f"the window grows by {measured['grows_q50']:.1f} packets per round trip"


def dips(measured: Measured) -> str | None:
    """Pauses to measure the RTT."""
    if not has(measured, "dip_s", "dip_least_pkts", "dip_depth") or measured["dips"] < 1:
        return None
    if measured.get("dip_after_loss", 0.0) > 0.5:
        return None
    few = measured["dip_least_pkts"] < 8
    what = (
        f"{measured['dip_least_pkts']:.0f} packets"
        if few
        else f"{measured['dip_depth']:.2f} of the usual packets"
    )
    lasts = f"{1000 * measured['dip_s']:.0f} ms with {what} in flight"
    if has(measured, "dip_interval_s"):
        return f"every {measured['dip_interval_s']:.1f} s {lasts}"
    return f"once {lasts}"


def cycle(measured: Measured, algorithm: str) -> str | None:
    """The cycle that an algorithm is known for; other periods say nothing that can be checked."""
    period, off, name = CYCLES.get(algorithm, (0.0, 0.0, ""))
    for what, subject in (("sending", "sending rate"), ("window", "window")):
        found = measured.get(f"{what}_period", 0.0)
        if measured.get(f"{what}_period_strength", 0.0) >= REPEATS and abs(found - period) <= off:
            return f"the {subject} repeats every {found:.1f} round trips ({name}: {period:.0f})"
    return None


def queue(measured: Measured) -> str | None:
    """What waits in queues."""
    if not has(measured, "queued_pkts_q50", "queued_ms_q50"):
        return None
    return (
        f"usually {max(measured['queued_pkts_q50'], 0):.0f} packets "
        f"({max(measured['queued_ms_q50'], 0):.1f} ms) wait in queues"
    )


def level(measured: Measured) -> str | None:
    """How much is in flight."""
    if not has(measured, "inflight_over_bdp_q50"):
        return None
    return f"in flight are usually {measured['inflight_over_bdp_q50']:.1f} BDP"


def backs_off(measured: Measured) -> str | None:
    """Falls without a loss."""
    if not has(measured, "falls_without_loss", "fall_without_loss_keeps"):
        return None
    share = measured["falls_without_loss"]
    if share < 0.005:
        return None
    return (
        f"without a loss the window falls to {measured['fall_without_loss_keeps']:.2f}, in "
        f"{100 * share:.0f} % of the round trips"
    )


def delay_growth(measured: Measured) -> str | None:
    """How a queue changes the growth."""
    names = ("growth_low_queue", "growth_high_queue")
    if not has(measured, *names):
        return None
    low, high = (measured[name] for name in names)
    return (
        f"it grows by {low:.1f} packets per round trip at short RTTs and by {high:.1f} at long ones"
    )


def late_growth(measured: Measured) -> str | None:
    """How the time since the loss changes the growth."""
    early = measured.get("growth_after_0.5s", measured.get("growth_after_0.0s"))
    late = next((measured[name] for name in ("growth_after_4.0s", "growth_after_2.0s",
                 "growth_after_1.0s") if name in measured), None)  # fmt: skip
    if early is None or late is None:
        return None
    return (
        f"it grows by {early:.1f} packets per round trip in the first second after a loss, later "
        f"by {late:.1f}"
    )


def marks(measured: Measured) -> str | None:
    """Share of ECN-capable and of marked packets."""
    share = measured.get("ect_share", 0.0)
    if share < 0.5:
        return None
    marked = f", {100 * measured['ce_share']:.1f} % marked" if measured.get("ce_share") else ""
    return f"{100 * share:.0f} % of its packets are ECN-capable{marked}"


def indifferent(measured: Measured) -> str | None:
    """Losses without consequence."""
    if not has(measured, "keeps_q50") or measured["losses"] < FEW_LOSSES:
        return None
    if measured["keeps_q50"] < 0.85:
        return None
    return f"losses hardly change the window ({measured['keeps_q50']:.2f} is left)"


#: By name.
FACTS: Mapping[str, Callable[[Measured], str | None]] = {
    "after_loss": after_loss, "shape": shape, "growth": growth, "dips": dips,
    "queue": queue, "level": level, "backs_off": backs_off,
    "delay_growth": delay_growth, "late_growth": late_growth, "marks": marks,
    "indifferent": indifferent,
}  # fmt: skip
#: Those that depend on the algorithm that was named.
OWN_FACTS: Mapping[str, Callable[[Measured, str], str | None]] = {"law": law, "cycle": cycle}


def fact(name: str, measured: Measured, algorithm: str | None) -> str | None:
    """Return a fact in words; None where the flow does not show it.

    Parameters
    ----------
    name
        Of `FACTS` or `OWN_FACTS`.
    measured
        The flow's features.
    algorithm
        The one that was named; None for unknown.
    """
    if name in OWN_FACTS:
        return None if algorithm is None else OWN_FACTS[name](measured, algorithm)
    return FACTS[name](measured)
