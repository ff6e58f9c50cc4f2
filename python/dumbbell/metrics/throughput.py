"""What crosses the bottleneck, and for whom."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dumbbell.metrics.observation import FloatArray, Observation

__all__ = ["flow_rates_bps", "goodput_bps", "goodput_share", "share"]


def share(part: float, total: float) -> float:
    """Part of a total, 0 to 1: part / total, and 0 when there is no total."""
    return part / total if total > 0 else 0.0


def flow_rates_bps(seen: Observation, numbers: Sequence[int]) -> FloatArray:
    """Return the goodput of some flows, each over its own time after the cut, bit/s."""
    if seen.whole:
        return np.array([seen.flows[number]["goodput_bps"] for number in numbers])
    spans = [seen.span_us([number]) for number in numbers]
    return np.array(
        [
            seen.flow_bits[number] * 1e6 / (end - start) if end > start else 0.0
            for number, (start, end) in zip(numbers, spans, strict=True)
        ]
    )


def goodput_bps(seen: Observation) -> list[float | None]:
    """Goodput of a group: 8 · bytes received / time.

    Bytes are payload that the receiving applications got in order, each once. The time is the
    group's: from its first flow's start, or the cut, to its last flow's end.

    References
    ----------
    RFC 5166 §2.1.1; "goodput" as in RFC 2647 §3.17.
    """
    if seen.whole:
        return [group["goodput_bps"] for group in seen.groups]
    values: list[float | None] = []
    for numbers in seen.members:
        start, end = seen.span_us(numbers) if numbers else (0, 0)
        bits = float(seen.flow_bits[numbers].sum())
        values.append(bits * 1e6 / (end - start) if end > start else None)
    return values


def goodput_share(seen: Observation) -> list[float | None]:
    """Throughput share of a group: bytes its receivers got / bytes all receivers got.

    Of bytes, not of rates, so that the parts of all groups sum to 1 whenever each of them ran.

    References
    ----------
    The papers' "throughput share": Ware et al., "Modeling BBR's interactions with loss-based
    congestion control", IMC 2019, §2.
    """
    total = float(seen.flow_bits.sum())
    return [share(float(seen.flow_bits[numbers].sum()), total) for numbers in seen.members]
