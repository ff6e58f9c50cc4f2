"""The experiment's findings, each as a rule on the means of its repetitions.

The rules follow the words of the source, clause by clause, with no number of our own. The
experiment measured everything ten times and averaged; so the rules are applied once, to the
averages, and not to each repetition.
"""

from __future__ import annotations

from collections.abc import Sequence

from dumbbell.papers.coexistence.measurements import Measurements
from dumbbell.papers.coexistence.points import BUFFERS_BDP
from dumbbell.papers.finding import Check, Finding
from dumbbell.papers.trend import falls

__all__ = ["check_findings", "d1", "d2"]


def check_findings(m: Measurements) -> list[Finding]:
    """Check D1 to D3."""
    alone = m.means(lambda run: run.bbr_mbps, with_cubic=False)
    bbr, cubic, total, rtos = (
        m.means(what, with_cubic=True)
        for what in (
            lambda run: run.bbr_mbps,
            lambda run: run.cubic_mbps,
            lambda run: run.total_mbps,
            lambda run: run.rtos,
        )
    )
    return [
        Finding(
            "D1",
            "BBR alone: stable high performance, whatever the buffer size.",
            (d1(m.buffers, alone, bbr),),
        ),
        Finding(
            "D2",
            "BBR against CUBIC: with small buffers BBR is high and CUBIC low; as the buffer grows "
            "BBR falls and CUBIC ends higher.",
            (d2(m.buffers, bbr, cubic),),
        ),
        Finding(
            "D3",
            "The sum of the two falls as the buffer grows, because of consecutive retransmission "
            "timeouts.",
            (d3(m.buffers, total, rtos),),
        ),
    ]


def d1(
    buffers: Sequence[float], alone: Sequence[float], against_cubic: Sequence[float]
) -> tuple[Check, ...]:
    """BBR alone; what is high and what is stable the experiment shows by BBR against CUBIC."""
    complete = tuple(buffers) == BUFFERS_BDP
    high = against_cubic[0]
    ranges = [max(values) - min(values) for values in (alone, against_cubic)]
    least = min(alone)
    return (
        Check(
            "high: BBR alone at every buffer at or above what it has against CUBIC in the smallest",
            "at least {:.2f}, and {:.2f} Mbit/s",
            (least, high),
            least >= high if complete or least < high else None,
        ),
        Check(
            "stable: BBR alone differs less over the buffers than against CUBIC",
            "{:.2f} and {:.2f} Mbit/s from the lowest to the highest",
            (ranges[0], ranges[1]),
            ranges[0] < ranges[1] if complete else None,
        ),
    )


def d2(buffers: Sequence[float], bbr: Sequence[float], cubic: Sequence[float]) -> tuple[Check, ...]:
    """BBR against CUBIC."""
    smallest, largest = f"{BUFFERS_BDP[0]:g} BDP", f"{BUFFERS_BDP[-1]:g} BDP"
    return (
        Check(
            f"at {smallest} BBR above CUBIC",
            "{:.2f} and {:.2f} Mbit/s",
            (bbr[0], cubic[0]),
            bbr[0] > cubic[0],
        ),
        falls("BBR", buffers, bbr, "{:.2f} Mbit/s", complete=tuple(buffers) == BUFFERS_BDP),
        Check(
            f"at {largest} CUBIC above BBR",
            "{:.2f} and {:.2f} Mbit/s",
            (cubic[-1], bbr[-1]),
            cubic[-1] > bbr[-1],
        ),
    )


def d3(
    buffers: Sequence[float], total: Sequence[float], rtos: Sequence[float]
) -> tuple[Check, ...]:
    """The sum, and timeouts."""
    complete = tuple(buffers) == BUFFERS_BDP
    mean = sum(rtos) / len(rtos)
    return (
        falls("the sum", buffers, total, "{:.2f} Mbit/s", complete=complete),
        Check(
            "more than 0 retransmission timeouts a run, over all buffers",
            "{:.2f}",
            (mean,),
            mean > 0 if complete or mean > 0 else None,
        ),
    )
