"""What each of Linux's congestion controls is known for, as a scenario, its figures and a bound.

``python -m tests.python.linux.signatures DIR`` prints the table of
`docs/linux-congestion-controls.md` for a Linux source tree.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import dumbbell
from dumbbell import Group, LinuxTree, Run, Scenario
from tests.python.linux.measures import (
    backlog_mean_pkts,
    epochs,
    goodput_mbps,
    goodput_of_mbps,
    growth_halves_pkts,
)

__all__ = ["SIGNATURES", "Finding", "Signature"]

#: 1 BDP of most scenarios: 50 Mbit/s × 40 ms in full packets.
BDP_PKTS = 165


@dataclass(frozen=True)
class Finding:
    """What was measured, in words, and whether it is as the algorithm's authors say."""

    figures: str
    holds: bool


@dataclass(frozen=True)
class Signature:
    """What a congestion control is known for.

    Attributes
    ----------
    name
        Linux's name.
    claim
        What its authors say of it.
    where
        The scenario, in words.
    measure
        Runs it from the path of its source.
    """

    name: str
    claim: str
    where: str
    measure: Callable[[str], Finding]


def run(groups: Sequence[str | Group], **settings: str) -> Run:
    """Run 60 s of groups on 50 Mbit/s, 40 ms and 2 BDP, unless settings say otherwise."""
    words = {"rate": "50mbit", "rtt": "40ms", "buffer": "2bdp", "time": "60s", **settings}
    return dumbbell.run(Scenario(groups, **words))  # type: ignore[arg-type]


def small_queue(most_pkts: float, rival: str = "reno", **settings: str) -> Callable[[str], Finding]:
    """Check that the link is used with a small queue, where a rival's is large."""

    def measure(source: str) -> Finding:
        own, other = run([source], **settings), run([rival], **settings)
        queue, rivals = backlog_mean_pkts(own), backlog_mean_pkts(other)
        goodput, full = goodput_mbps(own), goodput_mbps(other)
        return Finding(
            f"queue {queue:.1f} pkts ({rival} {rivals:.0f}), {goodput:.1f} Mbit/s",
            queue <= most_pkts < rivals and goodput >= 0.85 * full,
        )

    return measure


def random_loss(loss: str, least: float) -> Callable[[str], Finding]:
    """Check the goodput under random loss against Reno's."""

    def measure(source: str) -> Finding:
        own = goodput_mbps(run([source], loss=loss))
        reno = goodput_mbps(run(["reno"], loss=loss))
        return Finding(
            f"{own:.1f} Mbit/s, Reno {reno:.1f}: × {own / reno:.2f}", own >= least * reno
        )

    return measure


def hybla(source: str) -> Finding:
    """A long path against a short one: Reno's share there, and Hybla's."""

    def share(cc: str) -> float:
        ran = run([Group(cc, rtt="200ms"), Group("reno", rtt="40ms")], time="120s", buffer="1bdp")
        far, near = goodput_of_mbps(ran, 0), goodput_of_mbps(ran, 1)
        return 100 * far / (far + near)

    own, reno = share(source), share("reno")
    return Finding(f"{own:.0f} % of the goodput (Reno {reno:.0f} %)", own >= 2 * reno)


def growth(least: float, most: float) -> Callable[[str], Finding]:
    """Check the growth between two losses: of its halves the second over the first."""

    def measure(source: str) -> Finding:
        first, second = growth_halves_pkts(run([source], **BIG))
        ratio = second / max(first, 1.0)
        return Finding(
            f"cwnd grows by {first:.0f} pkts, then by {second:.0f}: × {ratio:.2f}",
            least <= ratio <= most,
        )

    return measure


#: A window in which shapes can be seen: 1 BDP is 826 packets.
BIG = {"rate": "100mbit", "rtt": "100ms", "buffer": "0.5bdp", "time": "120s"}


def plateau(source: str) -> Finding:
    """Concave up to the window of the last loss, convex after it: thirds of the longest epoch."""
    longest = max(epochs(run([source], **BIG)), key=len)
    start, span = longest.index[0], longest.index[-1] - longest.index[0]
    at = [float(longest[longest.index <= start + span * i / 3].iloc[-1]) for i in (1, 2)]
    values = [float(longest.iloc[0]), *at, float(longest.iloc[-1])]
    first, middle, last = (b - a for a, b in pairwise(values))
    return Finding(
        f"cwnd grows by {first:.0f}, {middle:.0f} and {last:.0f} pkts in thirds of an epoch",
        first > 2 * middle and last > 2 * middle,
    )


#: Of runs whose outcome chance decides.
SEEDS = range(1, 9)


def as_reno(source: str) -> Finding:
    """It reads one-way delays from timestamps, whose offsets it does not know: it hardly yields."""
    alone = run([source], buffer="8bdp")

    def next_to_cubic(cc: str) -> float:
        ran = [dumbbell.run(Scenario([cc, "cubic"], buffer="8bdp", seed=seed)) for seed in SEEDS]
        return sum(goodput_of_mbps(each, 0) for each in ran) / len(ran)

    own, reno = next_to_cubic(source), next_to_cubic("reno")
    return Finding(
        f"alone {goodput_mbps(alone):.1f} Mbit/s; against CUBIC {own:.1f}, Reno {reno:.1f}, over "
        f"{len(SEEDS)} seeds",
        goodput_mbps(alone) >= 40 and 0.7 * reno < own < 1.4 * reno,
    )


def dctcp(source: str) -> Finding:
    """The queue stays at the marking threshold."""
    ran = run([Group(source, 2)], rate="100mbit", rtt="2ms", buffer="200pkt", ecn_threshold="20pkt")
    queue, link = backlog_mean_pkts(ran), ran.summary["bottleneck"]
    return Finding(
        f"queue {queue:.1f} pkts, {100 * link['utilization']:.1f} % used, "
        f"{link['dropped_pkts']} dropped",
        10 <= queue <= 25 and link["utilization"] >= 0.95 and link["dropped_pkts"] == 0,
    )


def response(loss: str, expected: float, formula: str) -> Callable[[str], Finding]:
    """Check the mean window at a loss rate against the algorithm's response function."""

    def measure(source: str) -> Finding:
        # An ACK per packet, as the formulas have it: some of Linux's count ACKs, not packets.
        group = Group(source, delayed_ack=False)
        ran = run([group], rate="2gbit", rtt="50ms", sample="50ms", loss=loss)
        series = ran.flows.to_pandas()
        cwnd = float(series["cwnd_pkts"][series["time_us"] >= 20e6].mean())
        reno = (1.5 / (float(loss.rstrip("%")) / 100)) ** 0.5
        return Finding(
            f"mean cwnd {cwnd:.0f} pkts; {formula}: {expected:.0f}; Reno would have {reno:.0f}",
            0.6 * expected <= cwnd <= 1.6 * expected,
        )

    return measure


def cdg(source: str) -> Finding:
    """It backs off from a rising delay, before anything is lost."""
    ran = run([source])
    queue = ran.summary["bottleneck"]
    backoffs = len(epochs(ran))
    return Finding(
        f"{queue['dropped_pkts']} drops, cwnd cut {backoffs} times in 50 s, "
        f"queue {backlog_mean_pkts(ran):.1f} pkts, {goodput_mbps(ran):.1f} Mbit/s",
        queue["dropped_pkts"] == 0 and backlog_mean_pkts(ran) < 0.2 * BDP_PKTS,
    )


def bbr(source: str) -> Finding:
    """A deep buffer stays empty, and random loss does not matter."""
    deep, cubics = run([source], buffer="8bdp"), run(["cubic"], buffer="8bdp")
    noisy = goodput_mbps(run([source], loss="1%"))
    queue, cubics_queue = backlog_mean_pkts(deep), backlog_mean_pkts(cubics)
    return Finding(
        f"queue {queue:.0f} pkts in 8 BDP (CUBIC {cubics_queue:.0f}); "
        f"{noisy:.1f} Mbit/s at 1 % random loss",
        queue < 0.3 * BDP_PKTS and cubics_queue > BDP_PKTS and noisy >= 40,
    )


def highspeed_pkts(loss: float) -> float:
    """RFC 3649 §5: W = 0.12 / p^0.835."""
    return float(0.12 / loss**0.835)


SIGNATURES = (
    Signature("bbr", "a small queue in a deep buffer; random loss does not slow it",
              "8 BDP; 1 % loss", bbr),
    Signature("bic", "fast towards the window of the last loss, slow around it, then ever faster",
              "100 Mbit/s, 100 ms, 0.5 BDP", plateau),
    Signature("cdg", "backs off as the delay rises, before a loss", "2 BDP", cdg),
    Signature("cubic", "concave, a plateau, convex", "100 Mbit/s, 100 ms, 0.5 BDP", plateau),
    Signature("dctcp", "the queue stays at the marking threshold", "100 Mbit/s, 2 ms, K = 20 pkts",
              dctcp),
    Signature("highspeed", "large windows at low loss (RFC 3649)", "2 Gbit/s, 50 ms, loss 0.002 %",
              response("0.002%", highspeed_pkts(2e-5), "RFC 3649 §5")),
    Signature("htcp", "growth rises with the time since the last loss",
              "100 Mbit/s, 100 ms, 0.5 BDP", growth(1.3, 10.0)),
    Signature("hybla", "a long RTT is not a handicap", "200 ms against Reno at 40 ms", hybla),
    Signature("illinois", "concave growth: less as the delay rises",
              "100 Mbit/s, 100 ms, 0.5 BDP", growth(0.0, 0.7)),
    Signature("lp", "Reno: timestamps have offsets", "8 BDP, alone and against CUBIC", as_reno),
    Signature("nv", "a small queue", "2 BDP", small_queue(0.2 * BDP_PKTS)),
    Signature("scalable", "window ∝ 1 / loss", "2 Gbit/s, 50 ms, loss 0.005 %",
              response("0.005%", 0.08 / 5e-5, "0.08 / p")),
    Signature("vegas", "2 to 4 packets in the queue", "2 BDP", small_queue(8)),
    Signature("veno", "random loss cuts less", "loss 0.1 %", random_loss("0.1%", 1.2)),
    Signature("westwood", "random loss does not hide the bandwidth", "loss 0.1 %",
              random_loss("0.1%", 1.4)),
    Signature("yeah", "80 packets in the queue", "200 Mbit/s, 100 ms, 1 BDP",
              small_queue(100, "cubic", rate="200mbit", rtt="100ms", buffer="1bdp")),
)  # fmt: skip


def main(root: str) -> int:
    """Print the table, in Markdown; returns 1 if something does not hold."""
    tree = LinuxTree(root)
    failed = 0
    print("| congestion control | known for | scenario | measured |")  # noqa: T201 -- what it is for
    print("|---|---|---|---|")  # noqa: T201 -- what it is for
    for signature in SIGNATURES:
        finding = signature.measure(tree.source(signature.name))
        failed += not finding.holds
        mark = "" if finding.holds else " **not as known**"
        print(  # noqa: T201 -- what it is for
            f"| `{signature.name}` | {signature.claim} | {signature.where} "
            f"| {finding.figures}{mark} |",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
