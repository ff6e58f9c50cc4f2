"""Writes the tables of QUIC's pages, and the figure of the papers' grid over QUIC.

``python tools/quic_tables.py`` takes a quarter of an hour; names of tables as arguments make
those only: ``shares``, ``together``, ``own``, ``rules``, ``copa`` with its figure.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from element_figures import compact  # next to this file
from markdown_tables import markdown_table, replace_some

from dumbbell import Group, Run, Scenario, run_all
from dumbbell.figures import Curve, Figure
from dumbbell.plots.paper_figure import save_for_print
from dumbbell.statistics import Interval, mean_interval
from dumbbell.statistics.format import write_interval
from dumbbell_studies.papers.ogino2021.runs import BUFFERS_BDP

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "notes" / "quic.md"
RATE, RTT = "50mbit", "40ms"
ALGORITHMS = ("bbr", "bbr3", "copa", "cubic", "l3dr", "nagi", "reno")
BUFFERS = ("1bdp", "4bdp")
#: Flows start within this time: TOGETHER is a scenario's default, and shorter than slow start.
APART, TOGETHER = "1s", "100ms"
#: Shares of CUBIC vary by 15 points from run to run; this many give their mean to 5.
SEEDS = range(1, 41)
#: Of comparisons in which CUBIC's share is not what is asked.
FEW_SEEDS = range(1, 21)
#: As many as the study of the paper has.
GRID_SEEDS = range(1, 11)
#: The paths of the grid hold up to 16 MB, more than QUIC's 1.25 MB of a stream.
WINDOW = "window_bytes=67108864"


class Pair(NamedTuple):
    """Two flows on a path.

    Attributes
    ----------
    first, second
        Their algorithms.
    buffer
        Of the bottleneck.
    jitter
        When they start: at random within this time.
    lead
        How much earlier the first starts.
    time
        How long they run.
    host
        Fields of the first flow's host.
    """

    first: str
    second: str
    buffer: str
    jitter: str = APART
    lead: str = "0s"
    time: str = "60s"
    host: tuple[tuple[str, Any], ...] = ()

    def scenario(self, seed: int) -> Scenario:
        """Return what is run."""
        groups = [
            Group(self.first, jitter=self.jitter, **dict(self.host)),
            Group(self.second, jitter=self.jitter, start=self.lead),
        ]
        return Scenario(groups, rate=RATE, rtt=RTT, buffer=self.buffer, time=self.time, seed=seed)


class Measured(NamedTuple):
    """Means over the seeds, with intervals.

    Attributes
    ----------
    share
        Of the first flow, per cent.
    total_mbps
        Goodput of both.
    """

    share: Interval
    total_mbps: Interval


def measure(pairs: Sequence[Pair], seeds: range = SEEDS) -> Mapping[Pair, Measured]:
    """Run pairs of flows with each seed."""
    wanted = {(pair, seed): pair.scenario(seed) for pair in pairs for seed in seeds}

    def without_tables(_key: tuple[Pair, int], run: Run) -> Run:
        return Run(run.scenario, run.summary, {})

    runs = run_all(wanted.items(), on_finished=without_tables, cache=None)

    def of(pair: Pair) -> Measured:
        both = [
            [flow["goodput_bps"] / 1e6 for flow in runs[pair, seed].summary["flows"]]
            for seed in seeds
        ]
        return Measured(
            mean_interval([100 * first / (first + second) for first, second in both]),
            mean_interval([first + second for first, second in both]),
        )

    return {pair: of(pair) for pair in pairs}


def over_noq(cc: str) -> str:
    """Return one of our algorithms over noq."""
    return f"quic/noq:dumbbell/{cc}"


def percent(value: Interval) -> str:
    """Write a mean share with its interval."""
    return write_interval(value, 1)


def shares() -> str:
    """Shares against CUBIC over TCP, of flows that start apart."""
    return shares_table(APART)


def together() -> str:
    """Shares against CUBIC over TCP, of flows that start together."""
    return shares_table(TOGETHER)


def shares_table(jitter: str) -> str:
    """Shares against CUBIC over TCP, of each algorithm in both transports."""
    pairs = {
        (cc, buffer): [Pair(name, "cubic", buffer, jitter) for name in (cc, over_noq(cc))]
        for cc in ALGORITHMS
        for buffer in BUFFERS
    }
    measured = measure([pair for both in pairs.values() for pair in both])
    body = []
    for (cc, buffer), (tcp, noq) in pairs.items():
        a, b = measured[tcp].share, measured[noq].share
        row = [f"`{cc}`", bdp_text(buffer), percent(a), percent(b)]
        body.append([*row, f"{b.mean - a.mean:+.1f}"])
    return markdown_table(("", "buffer", "over TCP, %", "over noq, %", "difference"), body)


def bdp_text(buffer: str) -> str:
    """Write a buffer."""
    return buffer.replace("bdp", " BDP")


def own() -> str:
    """Two flows of one algorithm: over TCP, over noq, and one over each."""
    pairs = {
        (cc, buffer): [
            Pair(cc, cc, buffer),
            Pair(over_noq(cc), over_noq(cc), buffer),
            Pair(over_noq(cc), cc, buffer),
        ]
        for cc in ALGORITHMS
        for buffer in BUFFERS
    }
    measured = measure([pair for three in pairs.values() for pair in three], FEW_SEEDS)
    body = []
    for (cc, buffer), three in pairs.items():
        tcp, noq, mixed = (measured[pair] for pair in three)
        less = 100 * (noq.total_mbps.mean / tcp.total_mbps.mean - 1)
        body.append(
            [
                f"`{cc}`", bdp_text(buffer),
                f"{tcp.total_mbps.mean:.2f}", f"{noq.total_mbps.mean:.2f}", f"{less:+.1f} %",
                percent(mixed.share),
            ]
        )  # fmt: skip
    head = ("", "buffer", "two over TCP, Mbit/s", "two over noq", "", "noq next to TCP, %")
    return markdown_table(head, body)


class Rule(NamedTuple):
    """A flow next to CUBIC with one rule of its transport changed."""

    cc: str
    words: str
    first: str
    lead: str = "0s"
    host: tuple[tuple[str, Any], ...] = ()


RULES = [
    Rule("cubic", "TCP", "cubic"),
    Rule("cubic", "noq", "quic/noq:dumbbell/cubic"),
    Rule("cubic", "noq, 28 ms earlier", "quic/noq:dumbbell/cubic", "28ms"),
    Rule("cubic", "noq, not paced", "quic/noq:dumbbell/cubic:paced=0"),
    Rule("cubic", "noq, not paced, 28 ms earlier", "quic/noq:dumbbell/cubic:paced=0", "28ms"),
    Rule("reno", "TCP", "reno"),
    Rule("reno", "noq", "quic/noq:dumbbell/reno"),
    Rule("reno", "noq, 28 ms earlier", "quic/noq:dumbbell/reno", "28ms"),
    Rule("reno", "noq, not paced", "quic/noq:dumbbell/reno:paced=0"),
    Rule("reno", "noq, not paced, 28 ms earlier", "quic/noq:dumbbell/reno:paced=0", "28ms"),
    Rule("copa", "TCP", "copa"),
    Rule("copa", "TCP without segmentation offload", "copa", host=(("tso", False),)),
    Rule("copa", "TCP without delayed ACKs", "copa", host=(("delayed_ack", False),)),
    Rule("copa", "TCP without either", "copa", host=(("tso", False), ("delayed_ack", False))),
    Rule("copa", "noq", "quic/noq:copa"),
    Rule("copa", "noq, an ACK for every packet", "quic/noq:copa:ack_every_pkts=1"),
]


def rules() -> str:
    """What changes the shares of flows that start together."""
    pairs = {
        (rule, buffer): Pair(rule.first, "cubic", buffer, TOGETHER, rule.lead, host=rule.host)
        for rule in RULES
        for buffer in BUFFERS
    }
    measured = measure(list(pairs.values()))
    body = [
        [f"`{rule.cc}`", rule.words]
        + [percent(measured[pairs[rule, buffer]].share) for buffer in BUFFERS]
        for rule in RULES
    ]
    return markdown_table(("", "over", "1 BDP, %", "4 BDP, %"), body)


#: Copa's flow of the papers' grid in each transport, with the colour and marker of its curve.
GRID = {
    "TCP": ("copa", "#0072b2", "o"),
    "QUIC (noq)": (f"quic/noq:copa:{WINDOW}", "#d55e00", "s"),
}


@cache
def grid() -> Mapping[str, Sequence[Measured]]:
    """Copa's share against TCP's CUBIC at each buffer of the papers, by Copa's transport."""
    pairs = {
        name: [Pair(cc, "cubic", f"{bdp:g}bdp", TOGETHER, time="120s") for bdp in BUFFERS_BDP]
        for name, (cc, *_) in GRID.items()
    }
    measured = measure([pair for of in pairs.values() for pair in of], GRID_SEEDS)
    return {name: [measured[pair] for pair in of] for name, of in pairs.items()}


def copa() -> str:
    """Copa against TCP's CUBIC on the papers' grid; its figure as well."""
    of_transport = grid()
    draw(of_transport)
    body = [
        [f"{bdp:g}"]
        + [percent(of[at].share) for of in of_transport.values()]
        + [f"{of[at].total_mbps.mean:.1f}" for of in of_transport.values()]
        for at, bdp in enumerate(BUFFERS_BDP)
    ]
    head = (
        "buffer, BDP",
        *(f"{name}, %" for name in of_transport),
        *(f"both, {name}, Mbit/s" for name in of_transport),
    )
    return markdown_table(head, body)


def draw(of_transport: Mapping[str, Sequence[Measured]]) -> None:
    """Draw the shares over the buffer."""
    curves = tuple(
        Curve(
            f"Copa over {name}", np.array(BUFFERS_BDP),
            np.array([each.share.mean for each in of]), *GRID[name][1:],
            low=np.array([each.share.low for each in of]),
            high=np.array([each.share.high for each in of]),
        )
        for name, of in of_transport.items()
    )  # fmt: skip
    figure = Figure(
        name="quic-copa", title="Copa's share against TCP's CUBIC", x_label="buffer (BDP)",
        y_label="share (%)", curves=curves, x_ticks=BUFFERS_BDP, y_bound=100,
    )  # fmt: skip
    (path,) = save_for_print(
        [figure], DOCS / "figures", figure.name, formats=("svg",), style="report"
    )
    path.write_text(compact(path.read_text(encoding="utf-8")), encoding="utf-8")


TABLE_OF: Mapping[str, Callable[[], str]] = {
    "shares": shares, "together": together, "own": own, "rules": rules, "copa": copa,
}  # fmt: skip


def main(wanted: Sequence[str]) -> None:
    """Replace the tables that are wanted; without any, all."""
    made = {name: TABLE_OF[name]() for name in wanted or TABLE_OF}
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(replace_some(text, made), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
