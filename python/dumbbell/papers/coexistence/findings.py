"""The experiment's findings, each as rules on our measurements.

Written from the source's words before any of our results was looked at; a comment says why a
threshold is what it is where those words leave it open.
"""

from __future__ import annotations

import math

from dumbbell.papers.coexistence.measurements import Measurements
from dumbbell.papers.paper import Check, Finding
from dumbbell.papers.trend import falls

__all__ = ["check_findings"]

#: "A high throughput": nine tenths of the link. Headers take 4.4 %, PROBE_RTT about 2 %.
HIGH_MBPS = 9.0


def check_findings(m: Measurements) -> list[Finding]:
    """Check D1 to D3."""
    return [d1(m), d2(m), d3(m)]


def d1(m: Measurements) -> Finding:
    """BBR alone."""
    alone = m.means(lambda run: run.bbr_mbps, with_cubic=False)
    least = min(zip(alone, m.buffers, strict=True))
    return Finding(
        "D1",
        "BBR alone keeps a high throughput whatever the buffer size.",
        (
            Check(
                f"BBR alone: at least {least[0]:.2f} Mbit/s (at {least[1]:g} BDP) ≥ {HIGH_MBPS:g} "
                "of the link's 10",
                least[0] >= HIGH_MBPS,
            ),
        ),
    )


def d2(m: Measurements) -> Finding:
    """BBR against CUBIC."""
    bbr = m.means(lambda run: run.bbr_mbps, with_cubic=True)
    cubic = m.means(lambda run: run.cubic_mbps, with_cubic=True)
    small, large = m.buffers[0], m.buffers[-1]
    return Finding(
        "D2",
        "BBR against CUBIC: with small buffers BBR is high and CUBIC low; as the buffer grows BBR "
        "falls and CUBIC ends higher.",
        (
            Check(
                f"{small:g} BDP: BBR {bbr[0]:.2f} > CUBIC {cubic[0]:.2f} Mbit/s", bbr[0] > cubic[0]
            ),
            falls("BBR", m.buffers, bbr, "{:.2f} Mbit/s"),
            Check(
                f"{large:g} BDP: CUBIC {cubic[-1]:.2f} > BBR {bbr[-1]:.2f} Mbit/s",
                cubic[-1] > bbr[-1],
            ),
        ),
    )


def d3(m: Measurements) -> Finding:
    """The sum, and timeouts."""
    total = m.means(lambda run: run.total_mbps, with_cubic=True)
    rtos = m.means(lambda run: run.rtos, with_cubic=True)
    worst = rtos[-1]
    return Finding(
        "D3",
        "The sum of the two falls as the buffer grows, because of consecutive retransmission "
        "timeouts.",
        (
            falls("the sum", m.buffers, total, "{:.2f} Mbit/s"),
            Check(
                f"{m.buffers[-1]:g} BDP: {'unknown' if math.isnan(worst) else f'{worst:.1f}'} RTOs "
                "a run > 0",
                worst > 0,
            ),
        ),
    )
