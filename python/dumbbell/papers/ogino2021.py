"""Ogino, Okada, Utsumi 2021: "CUBIC vs Copa vs BBR".

n Copa flows against n CUBIC flows, then against n BBR flows, at one 50 Mbit/s bottleneck with a
base RTT of 40 ms and drop-tail buffers from 0.5 to 64 BDP, for 120 s each.

The rules follow the words of the paper (in Japanese), clause by clause, with no number that is not
in it: 100 ms is its only one. A comparison in the text is a comparison in the rule; a tendency
(keikō) is a significant rank correlation with the buffer (`clauses.grows`). A repetition is one
seed at every buffer. Where buffers are missing (`--quick`), a clause about them can be violated by
one that is there, and is otherwise not decided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dumbbell.papers.captured_flow import CapturedFlow, read_first_flows
from dumbbell.papers.clauses import at_every, grows
from dumbbell.papers.finding import Check, Finding
from dumbbell.papers.hosts import BBR_BEFORE_5_1, spelled
from dumbbell.papers.inflight_counts import COLUMNS, Counts, compare_counts
from dumbbell.papers.paper import FromCaptures, Paper, ResultTable
from dumbbell.papers.results import Results, group_values
from dumbbell.plots import Curve, Figure, buffer_colors, style_of
from dumbbell.run import Run
from dumbbell.run.series import first_flow, flow_series, share_of_time
from dumbbell.scenario import Group, Scenario
from dumbbell.statistics import mean_and_interval

__all__ = ["PAPER"]

# ---- The runs -----------------------------------------------------------------------------------

RIVALS = ("cubic", "bbr")

#: What each of them runs. The paper's hosts had Linux 4.15.18.
CONGESTION_CONTROLS = {
    "copa": "copa",
    "cubic": "cubic",
    "bbr": spelled("bbr", BBR_BEFORE_5_1),
}

FLOWS = (1, 4)
BUFFERS_BDP = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)

#: What `--quick` keeps of them, by rival and n: both ends, both sides of where a
#: finding says that something turns, the points that one is about (A1 0.5, A4 32 and 64 BDP), and
#: four wherever something is said to grow, for fewer have no rank correlation to speak of.
QUICK_BUFFERS_BDP = {
    ("cubic", 1): (0.5, 4.0, 32.0, 64.0),
    ("cubic", 4): (2.0, 4.0, 16.0, 32.0, 64.0),
    ("bbr", 1): (0.5, 2.0, 4.0, 64.0),
    ("bbr", 4): (0.5, 2.0, 16.0, 64.0),
}

#: Receive window. The paper says that CUBIC's cwnd reached its upper limit at 64 BDP, and not at
#: 32 BDP; 8 MiB is 33.5 BDP. It is what a Linux 4.15 host with net.core.rmem_max = 16 MiB
#: advertises: tcp_adv_win_scale = 1 keeps half of the buffer for overhead. A reconstruction.
RWND = "8MiB"


#: Groups of every run.
COPA, RIVAL = 0, 1


class Point(NamedTuple):
    """Where a run lies.

    Attributes
    ----------
    rival
        What Copa competes with: ``cubic`` or ``bbr``.
    n
        Flows of each.
    buffer_bdp
        Bottleneck buffer.
    """

    rival: str
    n: int
    buffer_bdp: float


def scenario(point: Point, seed: int) -> Scenario:
    """Return what to run; Copa's group is the first."""
    ccs = [CONGESTION_CONTROLS[name] for name in ("copa", point.rival)]
    return Scenario(
        [Group(cc, point.n, rwnd=RWND) for cc in ccs],
        rate="50mbit",
        rtt="40ms",
        buffer=f"{point.buffer_bdp:g}bdp",
        time="120s",
        seed=seed,
    )


# ---- What is measured ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """The flows of one kind in one run.

    Attributes
    ----------
    mbps
        Mean goodput of the flows.
    rtt_ms
        Mean RTT.
    outstanding_pkts
        Mean per flow of tcptrace's inflight.
    rtos
        Retransmission timeouts of all flows; NaN where a kernel does not count them.
    rwnd_limited
        Share of the flows' time in which the receive window limited them.
    resent_pkts
        Retransmissions of all flows.
    """

    mbps: float
    rtt_ms: float
    outstanding_pkts: float
    rtos: float = 0.0
    rwnd_limited: float = 0.0
    resent_pkts: float = 0.0


@dataclass(frozen=True)
class Measured:
    """One run.

    Attributes
    ----------
    copa, rival
        Either kind's flows.
    default_share
        Share of the time, of all its flows, that Copa was in default mode.
    counts
        How tcptrace's count of Copa's packets in flight differs from the kernel's; None where the
        paper does not speak of it.
    """

    copa: Kind
    rival: Kind
    default_share: float
    counts: Counts | None = None

    @property
    def total_mbps(self) -> float:
        """Throughput of a pair: one flow of each kind."""
        return self.copa.mbps + self.rival.mbps

    @property
    def competitive_share(self) -> float:
        """Share of the time that Copa was not in default mode."""
        return 1 - self.default_share

    @property
    def rival_share(self) -> float:
        """Share of the throughput that Copa's rival got."""
        return self.rival.mbps / self.total_mbps if self.total_mbps else 0.0


def measure(point: Point, run: Run) -> Measured:
    """Measure a run."""
    copa, rival = (measure_kind(run, group) for group in (COPA, RIVAL))
    counts = None
    if (point.rival, point.n) == ("cubic", 1):
        counts = compare_counts([flow_series(run, first_flow(run, COPA), *COLUMNS)])
    return Measured(copa, rival, share_of_time(run, COPA, "mode", "default"), counts)


def measure_kind(run: Run, group: int) -> Kind:
    """Measure the flows of one kind."""
    metric = group_values(run, group)
    return Kind(
        mbps=metric("goodput_per_flow_bps") / 1e6,
        rtt_ms=metric("rtt_mean_us") / 1e3,
        outstanding_pkts=metric("outstanding_mean_pkts") / run.scenario.groups[group].flows,
        rtos=metric("rto_count"),
        rwnd_limited=metric("rwnd_limited_share"),
        resent_pkts=run.groups[group]["retransmitted_pkts"],
    )


# ---- The rules ----------------------------------------------------------------------------------

#: The RTT that the paper calls large: "100 ms or more" (A6).
LARGE_RTT_MS = 100.0

#: One repetition: a seed's run at each point.
Repetition = Mapping[Point, Measured]


def check_findings(results: Results[Point, Measured]) -> list[Finding]:
    """Check A1 to A7."""
    repetitions = results.repetitions()
    return [
        Finding(name, statement, tuple(tuple(rule(each)) for each in repetitions))
        for name, statement, rule in RULES
    ]


def a1(seen: Repetition) -> list[Check]:
    """Copa against CUBIC in the smallest buffer."""
    here, larger = seen[Point("cubic", 1, 0.5)], runs_at(seen, "cubic", 1, above(0.5))
    complete = has_all(seen, "cubic", 1)
    rtt_ms, default = here.copa.rtt_ms, here.default_share
    least_ms = min(run.copa.rtt_ms for run in larger)
    most_default = max(run.default_share for run in larger)
    return [
        Check(
            "at 0.5 BDP Copa's throughput above CUBIC's",
            "{:.1f} and {:.1f} Mbit/s",
            (here.copa.mbps, here.rival.mbps),
            here.copa.mbps > here.rival.mbps,
        ),
        Check(
            "at 0.5 BDP Copa's inflight above CUBIC's",
            "{:.0f} and {:.0f} packets",
            (here.copa.outstanding_pkts, here.rival.outstanding_pkts),
            here.copa.outstanding_pkts > here.rival.outstanding_pkts,
        ),
        Check(
            f"at 0.5 BDP a mean RTT below {LARGE_RTT_MS:g} ms",
            "{:.0f} ms",
            (rtt_ms,),
            rtt_ms < LARGE_RTT_MS,
        ),
        Check(
            "at 0.5 BDP a mean RTT below that of every larger buffer",
            "{:.0f} ms, and at least {:.0f} ms",
            (rtt_ms, least_ms),
            confirmed(holds=rtt_ms < least_ms, complete=complete),
        ),
        Check(
            "at 0.5 BDP a larger share of default mode than in every larger buffer",
            "{:.0%}, and at most {:.0%}",
            (default, most_default),
            confirmed(holds=default > most_default, complete=complete),
        ),
    ]


def a2(seen: Repetition) -> list[Check]:
    """CUBIC against Copa as the buffer grows."""
    buffers, complete = buffers_of(seen, "cubic", 1), has_all(seen, "cubic", 1)
    runs = [seen[Point("cubic", 1, buffer)] for buffer in buffers]
    largest = seen[Point("cubic", 1, BUFFERS_BDP[-1])]
    behind = [run for run in runs if run.rival.mbps > run.copa.mbps]
    competitive = min((run.competitive_share for run in behind), default=math.nan)
    return [
        grows("CUBIC's throughput", buffers, [run.rival.mbps for run in runs],
              "{:.1f} Mbit/s", complete=complete),
        grows("the RTT", buffers, [run.copa.rtt_ms for run in runs], "{:.0f} ms",
              complete=complete),
        Check(
            "at 64 BDP CUBIC's throughput above Copa's",
            "{:.1f} and {:.1f} Mbit/s",
            (largest.rival.mbps, largest.copa.mbps),
            largest.rival.mbps > largest.copa.mbps,
        ),
        Check(
            "at 64 BDP CUBIC's inflight above Copa's",
            "{:.0f} and {:.0f} packets",
            (largest.rival.outstanding_pkts, largest.copa.outstanding_pkts),
            largest.rival.outstanding_pkts > largest.copa.outstanding_pkts,
        ),
        Check(
            "Copa in competitive mode for more than half of the time wherever CUBIC is ahead",
            "at least {:.0%}",
            (competitive,),
            confirmed(holds=competitive > 0.5, complete=complete),
        ),
    ]  # fmt: skip


def a3(seen: Repetition) -> list[Check]:
    """Four Copa against four CUBIC."""
    buffers, complete = buffers_of(seen, "cubic", 4), has_all(seen, "cubic", 4)
    largest = seen[Point("cubic", 4, BUFFERS_BDP[-1])]
    cubic = [seen[Point("cubic", 4, buffer)].rival.mbps for buffer in buffers]
    return [
        ahead(seen, "cubic", 4, up_to(2), THROUGHPUT, copa=True),
        grows("CUBIC's throughput", buffers, cubic, "{:.1f} Mbit/s", complete=complete),
        Check(
            "at 64 BDP CUBIC's throughput above Copa's",
            "{:.1f} and {:.1f} Mbit/s",
            (largest.rival.mbps, largest.copa.mbps),
            largest.rival.mbps > largest.copa.mbps,
        ),
    ]


def a4(seen: Repetition) -> list[Check]:
    """Timeouts at 32 BDP, the window's limit at 64 BDP."""
    complete = has_all(seen, "cubic", 1)
    here = seen[Point("cubic", 1, 32.0)]
    others = [run.total_mbps for run in runs_at(seen, "cubic", 1, lambda b: b != 32)]
    least, most = min(others), max(others)
    rtos = here.copa.rtos + here.rival.rtos
    limited, limited_before = (
        seen[point].rival.rwnd_limited if point in seen else math.nan
        for point in (Point("cubic", 1, 64.0), Point("cubic", 1, 16.0))
    )
    return [
        Check(
            "at 32 BDP the lowest total of all buffers, by more than the others differ",
            "{:.1f} Mbit/s, and {:.1f} to {:.1f} Mbit/s",
            (here.total_mbps, least, most),
            confirmed(holds=least - here.total_mbps > most - least, complete=complete),
        ),
        Check("at 32 BDP more than 0 retransmission timeouts", "{:.1f}", (rtos,), rtos > 0),
        Check(
            "at 64 BDP CUBIC limited by its receive window",
            "{:.1%} of the time",
            (limited,),
            limited > 0,
        ),
        Check(
            "at 16 BDP CUBIC not limited by its receive window",
            "{:.1%} of the time",
            (limited_before,),
            limited_before == 0 if Point("cubic", 1, 16.0) in seen else None,
        ),
    ]


def a5(seen: Repetition) -> list[Check]:
    """Tcptrace's inflight counts what has been received already."""
    complete = has_all(seen, "cubic", 1)
    cells = runs_at(seen, "cubic", 1, lambda _: True)
    counts = max(cells, key=lambda run: run.copa.resent_pkts).counts
    if counts is None:
        raise ValueError("the runs of Copa against CUBIC, n = 1, have no counts by second")
    above = counts.difference_pkts.low > 0
    twice = counts.excess_lossy >= 2 * counts.excess_quiet
    return [
        Check(
            "in seconds with losses, of the buffer with most losses, tcptrace's count "
            "significantly above the kernel's (95 % interval of the difference above 0)",
            "{:.1f} packets above, interval from {:.1f} to {:.1f}, over {:.0f} s",
            (counts.difference_pkts.mean, counts.difference_pkts.low,
             counts.difference_pkts.high, counts.lossy_seconds),
            above if complete else None,
        ),
        Check(
            "the excess at least twice what it is in seconds without losses",
            "{:.1%}, and {:.1%} over {:.0f} s without",
            (counts.excess_lossy, counts.excess_quiet, counts.quiet_seconds),
            twice if complete else None,
        ),
    ]  # fmt: skip


def a6(seen: Repetition) -> list[Check]:
    """Copa against BBR."""
    complete = has_all(seen, "bbr", 1)
    small = runs_at(seen, "bbr", 1, up_to(2))
    large = runs_at(seen, "bbr", 1, above(2))
    default = [sum(run.default_share for run in part) / len(part) for part in (small, large)]
    nearest_small = min(off_parity(run) for run in small)
    farthest_large = max(off_parity(run) for run in large)
    return [
        ahead(seen, "bbr", 1, up_to(2), THROUGHPUT, copa=False),
        ahead(seen, "bbr", 1, up_to(2), INFLIGHT, copa=False),
        rtt_check(seen, f"up to 2 BDP a mean RTT below {LARGE_RTT_MS:g} ms", up_to(2),
                  lambda rtt_ms: rtt_ms < LARGE_RTT_MS),
        rtt_check(seen, f"from 4 BDP a mean RTT of {LARGE_RTT_MS:g} ms or more", above(2),
                  lambda rtt_ms: rtt_ms >= LARGE_RTT_MS),
        Check(
            "up to 2 BDP a larger share of default mode than from 4 BDP (means of both ranges)",
            "{:.0%}, and {:.0%}",
            (default[0], default[1]),
            default[0] > default[1] if complete else None,
        ),
        Check(
            "at every buffer from 4 BDP a ratio of the two throughputs nearer to 1 than at any up "
            "to 2 BDP",
            "a factor of at most {:.2f}, and of at least {:.2f}",
            (farthest_large, nearest_small),
            confirmed(holds=farthest_large < nearest_small, complete=complete),
        ),
    ]  # fmt: skip


def a7(seen: Repetition) -> list[Check]:
    """Four Copa against four BBR."""
    buffers, complete = buffers_of(seen, "bbr", 4), has_all(seen, "bbr", 4)
    runs = [seen[Point("bbr", 4, buffer)] for buffer in buffers]
    both = [b for b in BUFFERS_BDP if b >= 16 and all(Point("bbr", n, b) in seen for n in (1, 4))]
    factors = [[off_parity(seen[Point("bbr", n, b)]) for n in (4, 1)] for b in both]
    return [
        ahead(seen, "bbr", 4, up_to(2), THROUGHPUT, copa=False),
        ahead(seen, "bbr", 4, up_to(2), INFLIGHT, copa=False),
        ahead(seen, "bbr", 4, above(8), THROUGHPUT, copa=True),
        at_every(
            "from 16 BDP a ratio of the two throughputs farther from 1 than with n = 1",
            both,
            factors,
            "a factor of {:.2f} and {:.2f}",
            [four > one for four, one in factors],
            complete=len(both) == 3,
        ),
        grows("the RTT", buffers, [run.copa.rtt_ms for run in runs], "{:.0f} ms",
              complete=complete),
        grows("the share of competitive mode", buffers, [run.competitive_share for run in runs],
              "{:.0%}", complete=complete),
    ]  # fmt: skip


Rule = Callable[[Repetition], list[Check]]

#: Id, what the paper says, and the rule.
RULES: tuple[tuple[str, str, Rule], ...] = (
    (
        "A1",
        "Copa and CUBIC, n = 1, 0.5 BDP: Copa's mean throughput and inflight are above CUBIC's; "
        "the RTT has not become large, and the share of default mode is high.",
        a1,
    ),
    (
        "A2",
        "Copa and CUBIC, n = 1: as the buffer grows, CUBIC's throughput and the RTT tend to grow, "
        "CUBIC's inflight becomes larger than Copa's, and Copa runs in competitive mode.",
        a2,
    ),
    (
        "A3",
        "Copa and CUBIC, n = 4: Copa's throughput is the larger up to and including 2 BDP; as the "
        "buffer grows, CUBIC's tends to grow.",
        a3,
    ),
    (
        "A4",
        "Copa and CUBIC, n = 1: at 32 BDP the total throughput has fallen, because of "
        "retransmission timeouts; at 64 BDP CUBIC's cwnd reaches its upper limit.",
        a4,
    ),
    (
        "A5",
        "Copa's in-flight count rises where losses are many, because packets that are not "
        "acknowledged count as in flight (tcptrace's definition).",
        a5,
    ),
    (
        "A6",
        "Copa and BBR, n = 1: up to 2 BDP BBR's throughput and inflight are above Copa's, the RTT "
        "has not become large and the share of default mode is high; from 4 BDP the two are "
        "comparatively fair, the RTT is 100 ms or more and the share of competitive mode "
        "increases.",
        a6,
    ),
    (
        "A7",
        "Copa and BBR, n = 4: up to 2 BDP BBR's inflight and throughput are above Copa's; from "
        "16 BDP it is less fair than with n = 1, Copa ahead of BBR; RTT and share of competitive "
        "mode grow with the buffer.",
        a7,
    ),
)

# What the rules compare: name, form of a pair, of the flows of one kind.
Quantity = tuple[str, str, Callable[[Kind], float]]
THROUGHPUT: Quantity = ("throughput", "{:.1f} and {:.1f} Mbit/s", lambda kind: kind.mbps)
INFLIGHT: Quantity = ("inflight", "{:.0f} and {:.0f} packets", lambda kind: kind.outstanding_pkts)

Range = Callable[[float], bool]


def up_to(largest_bdp: float) -> Range:
    """Return whether a buffer is at most this large."""
    return lambda buffer: buffer <= largest_bdp


def above(buffer_bdp: float) -> Range:
    """Return whether a buffer is larger than this."""
    return lambda buffer: buffer > buffer_bdp


def buffers_of(seen: Repetition, rival: str, n: int) -> list[float]:
    """Return the buffers of a pair that were run, smallest first."""
    return sorted(point.buffer_bdp for point in seen if (point.rival, point.n) == (rival, n))


def has_all(seen: Repetition, rival: str, n: int, within: Range = lambda _: True) -> bool:
    """Return whether all of the paper's buffers in a range were run."""
    return all(Point(rival, n, buffer) in seen for buffer in BUFFERS_BDP if within(buffer))


def runs_at(seen: Repetition, rival: str, n: int, within: Range) -> list[Measured]:
    """Return the runs at the buffers in a range."""
    return [seen[Point(rival, n, b)] for b in buffers_of(seen, rival, n) if within(b)]


def confirmed(*, holds: bool, complete: bool) -> bool | None:
    """Return whether a clause about every buffer holds; without all of them it can only fail."""
    return holds if complete or not holds else None


def off_parity(run: Measured) -> float:
    """Return the ratio of the two throughputs, the larger over the smaller: 1 is fair."""
    small, large = sorted((run.copa.mbps, run.rival.mbps))
    return large / small if small > 0 else math.inf


def ahead(
    seen: Repetition,
    rival: str,
    n: int,
    within: Range,
    quantity: Quantity,
    *,
    copa: bool,
) -> Check:
    """Check that Copa or its rival is ahead at every buffer of a range."""
    name, form, of = quantity
    buffers = [b for b in buffers_of(seen, rival, n) if within(b)]
    runs = [seen[Point(rival, n, buffer)] for buffer in buffers]
    pairs = [(of(run.copa), of(run.rival)) for run in runs]
    pairs = pairs if copa else [(theirs, ours) for ours, theirs in pairs]
    first, second = ("Copa", rival.upper()) if copa else (rival.upper(), "Copa")
    return at_every(
        f"{where(within)} {first}'s {name} above {second}'s",
        buffers,
        pairs,
        form,
        [one > other for one, other in pairs],
        complete=has_all(seen, rival, n, within),
    )


def rtt_check(
    seen: Repetition, expected: str, within: Range, holds: Callable[[float], bool]
) -> Check:
    """Check Copa's mean RTT, with one BBR flow, at every buffer of a range."""
    buffers = [b for b in buffers_of(seen, "bbr", 1) if within(b)]
    rtts_ms = [seen[Point("bbr", 1, buffer)].copa.rtt_ms for buffer in buffers]
    return at_every(
        expected, buffers, [(rtt_ms,) for rtt_ms in rtts_ms], "{:.0f} ms",
        [holds(rtt_ms) for rtt_ms in rtts_ms], complete=has_all(seen, "bbr", 1, within),
    )  # fmt: skip


def where(within: Range) -> str:
    """Name a range of the paper's buffers: ``up to 2 BDP``, ``from 16 BDP``."""
    inside = [buffer for buffer in BUFFERS_BDP if within(buffer)]
    if inside[0] == BUFFERS_BDP[0]:
        return f"up to {inside[-1]:g} BDP"
    return f"from {inside[0]:g} BDP"


# ---- Figures and tables -------------------------------------------------------------------------


@dataclass(frozen=True)
class OverTime:
    """A figure that shows one flow over time, a curve per buffer."""

    number: str
    rival: str
    n: int
    group: int
    column: str


# The paper's text names the figures by what they show. Its first half has one set and its findings
# with times (A4) are of n = 1; its second half has two sets, n = 1 and then n = 4.
OVER_TIME = (
    OverTime("3", "cubic", 1, COPA, "outstanding_pkts"),
    OverTime("4", "cubic", 1, RIVAL, "outstanding_pkts"),
    OverTime("5", "cubic", 1, COPA, "rtt_us"),
    OverTime("7", "bbr", 1, COPA, "outstanding_pkts"),
    OverTime("8", "bbr", 1, RIVAL, "outstanding_pkts"),
    OverTime("9", "bbr", 1, COPA, "rtt_us"),
    OverTime("10", "bbr", 4, COPA, "outstanding_pkts"),
    OverTime("11", "bbr", 4, RIVAL, "outstanding_pkts"),
    OverTime("12", "bbr", 4, COPA, "rtt_us"),
)
AGAINST_BUFFER = (("2a", "cubic", 1), ("2b", "cubic", 4), ("6a", "bbr", 1), ("6b", "bbr", 4))


def draw_figures(results: Results[Point, Measured]) -> list[Figure]:
    """Draw figures 2 to 12, in the paper's order."""
    figures = [draw_throughput(results, *figure) for figure in AGAINST_BUFFER]
    figures += [draw_over_time(results, figure) for figure in OVER_TIME]
    return sorted(figures, key=lambda figure: (len(figure.name.rstrip("ab")), figure.name))


def points_of(results: Results[Point, Measured], rival: str, n: int) -> list[Point]:
    """Return the points of a pair that were run, smallest buffer first."""
    return [Point(rival, n, b) for b in BUFFERS_BDP if Point(rival, n, b) in results]


def draw_throughput(results: Results[Point, Measured], number: str, rival: str, n: int) -> Figure:
    """Draw mean throughput per flow against buffer size."""
    points = points_of(results, rival, n)
    at = [point.buffer_bdp for point in points]
    return Figure(
        name=f"figure-{number}",
        title=f"Figure {number}: mean throughput per flow, "
        f"Copa and {style_of(rival).label}, n = {n}",
        x_label="buffer (BDP)",
        y_label="throughput (Mbit/s)",
        curves=(
            results.curve("copa", at, points, lambda run: run.copa.mbps),
            results.curve(rival, at, points, lambda run: run.rival.mbps),
        ),
        caption=f"Goodput over 120 s, start-up included. {results.bars(*points)}",
        x_ticks=BUFFERS_BDP,
    )


def draw_over_time(results: Results[Point, Measured], figure: OverTime) -> Figure:
    """Draw one flow's inflight or RTT over time, a curve per buffer, of the first seed."""
    colors = buffer_colors([f"{buffer:g} BDP" for buffer in BUFFERS_BDP])
    curves = []
    for point in points_of(results, figure.rival, figure.n):
        run, name = results.runs[point][0], f"{point.buffer_bdp:g} BDP"
        time_s, values = flow_series(run, first_flow(run, figure.group), figure.column)
        known = np.isfinite(values)
        scale = 1e-3 if figure.column == "rtt_us" else 1.0
        curves.append(Curve(name, time_s[known], values[known] * scale, colors[name]))
    return over_time_figure(figure, tuple(curves), name=f"figure-{figure.number}")


def over_time_figure(
    figure: OverTime, curves: tuple[Curve, ...], *, name: str, source: str = ""
) -> Figure:
    """Label a figure over time; `source` says where its curves come from."""
    labels = [style_of("copa").label, style_of(figure.rival).label]
    cc, other = labels if figure.group == COPA else labels[::-1]
    what = "RTT" if figure.column == "rtt_us" else "inflight"
    return Figure(
        name=name,
        title=f"Figure {figure.number}: {what} of {cc}, with {other}, n = {figure.n}{source}",
        x_label="time (s)",
        y_label="RTT (ms)" if what == "RTT" else "inflight (packets)",
        curves=curves,
        caption=(
            f"The first {cc} flow."
            if what == "RTT"
            else f"The first {cc} flow; highest sent minus cumulatively acknowledged."
        ),
    )


def make_tables(results: Results[Point, Measured]) -> list[ResultTable]:
    """Tabulate throughput, RTT and Copa's mode against the buffer, a table per pair and n."""
    return [make_table(results, rival, n) for rival in RIVALS for n in FLOWS]


def make_table(results: Results[Point, Measured], rival: str, n: int) -> ResultTable:
    """Tabulate one pair and n."""
    label = style_of(rival).label
    rows = []
    for point in points_of(results, rival, n):
        rtos = sum(results.values(point, lambda run: run.copa.rtos + run.rival.rtos))
        rows.append(
            (
                f"{point.buffer_bdp:g}",
                mean_and_interval(results.values(point, lambda run: run.copa.mbps)),
                mean_and_interval(results.values(point, lambda run: run.rival.mbps)),
                f"{results.mean(point, lambda run: run.rival_share):.0%}",
                f"{results.mean(point, lambda run: run.copa.rtt_ms):.0f}",
                f"{results.mean(point, lambda run: run.competitive_share):.0%}",
                "–" if math.isnan(rtos) else f"{rtos:g}",
                results.verdict(point),
            )
        )
    return ResultTable(
        title=f"Copa and {label}, n = {n}: mean throughput per flow",
        columns=(
            "buffer (BDP)", "Copa (Mbit/s)", f"{label} (Mbit/s)", f"{label}'s share",
            "RTT of Copa (ms)", "Copa competitive", "RTOs", "verdict",
        ),
        rows=tuple(rows),
    )  # fmt: skip


# ---- Captures -----------------------------------------------------------------------------------

#: How much is drawn around where the two counts differ most, s.
DETAIL_S = 8.0
TCPTRACE, LINUX = "#d55e00", "#0072b2"
ENGINE_TCPTRACE, ENGINE_LINUX = "#e69f00", "#404040"

#: By point, the first flow of each group as its capture shows it.
Flows = Mapping[Point, Mapping[int, CapturedFlow]]


def evaluate_captures(results: Results[Point, Measured]) -> FromCaptures:
    """Draw the figures over time from captures at the senders, as the paper made them.

    Of each point the first seed is drawn, if it has a capture; all captures are in the note on A5.
    """
    captured = {p: [r for r in runs if r.capture is not None] for p, runs in results.runs.items()}
    flows = {p: [read_first_flows(r) for r in runs] for p, runs in captured.items()}
    first = {point: found[0] for point, found in flows.items() if found}
    figures = [draw_captured(figure, first) for figure in OVER_TIME]
    copa = {p: [found[COPA] for found in flows[p]] for p in first if p[:2] == ("cubic", 1)}
    if not copa:
        return FromCaptures(tuple(figures), {})
    worst = max(copa, key=lambda point: widest_gap(copa[point][0])[1])
    figures.append(draw_artefact(worst, captured[worst][0], copa[worst][0]))
    counts = compare_counts(
        (f.time_s, f.outstanding_pkts, f.inflight_pkts, f.retransmitted_pkts)
        for found in copa.values()
        for f in found
    )
    note = (
        f"from captures at the senders: in {counts.lossy_seconds} s with retransmissions "
        f"tcptrace's count is {counts.excess_lossy:.1%} above the SACK-aware one, in "
        f"{counts.quiet_seconds} s without {counts.excess_quiet:.1%}"
    )
    return FromCaptures(tuple(figures), {"A5": note})


def draw_captured(figure: OverTime, flows: Flows) -> Figure:
    """Draw one of the paper's figures from captures, a curve per buffer, of the first seed."""
    colors = buffer_colors([f"{buffer:g} BDP" for buffer in BUFFERS_BDP])
    curves = []
    for point in sorted(p for p in flows if (p.rival, p.n) == (figure.rival, figure.n)):
        flow, label = flows[point][figure.group], f"{point.buffer_bdp:g} BDP"
        values = flow.rtt_ms if figure.column == "rtt_us" else flow.outstanding_pkts
        known = np.isfinite(values)
        curves.append(Curve(label, flow.time_s[known], values[known], colors[label]))
    return over_time_figure(
        figure, tuple(curves), name=f"capture-figure-{figure.number}", source=", from captures"
    )


def widest_gap(flow: CapturedFlow) -> tuple[float, float]:
    """Return when the two counts differ most, and by how much."""
    gaps = flow.outstanding_pkts - flow.inflight_pkts
    at = int(np.argmax(gaps))
    return float(flow.time_s[at]), float(gaps[at])


def draw_artefact(point: Point, run: Run, flow: CapturedFlow) -> Figure:
    """Draw Copa's in-flight by both definitions, from the capture and by the engine."""
    at_s, _ = widest_gap(flow)
    start_s = max(at_s - DETAIL_S / 2, 0.0)
    end_s = start_s + DETAIL_S
    time_s, outstanding, inflight = flow_series(
        run, first_flow(run, COPA), "outstanding_pkts", "inflight_pkts"
    )
    here = (flow.time_s >= start_s) & (flow.time_s <= end_s)
    there = (time_s >= start_s) & (time_s <= end_s)
    captured, sampled = flow.time_s[here], time_s[there]
    curves = (
        Curve("not acknowledged (tcptrace), capture", captured,
              flow.outstanding_pkts[here], TCPTRACE),
        Curve("in flight by SACK, capture", captured, flow.inflight_pkts[here], LINUX),
        Curve("not acknowledged, engine", sampled, outstanding[there], ENGINE_TCPTRACE,
              dashed=True),
        Curve("in flight, engine", sampled, inflight[there], ENGINE_LINUX, dashed=True),
    )  # fmt: skip
    return Figure(
        name="capture-a5",
        title=f"A5: inflight of Copa by both definitions (CUBIC, n = 1, {point.buffer_bdp:g} BDP)",
        x_label="time (s)",
        y_label="inflight (packets)",
        curves=curves,
        caption="Where they differ most. While a hole is open tcptrace counts as in flight what "
        "the receiver has already.",
    )


# ---- The paper ----------------------------------------------------------------------------------


def missing_buffers(rival: str, n: int) -> str:
    """Return what the quick grid leaves out of a pair: ``cubic n = 1: 1, 2, 8, 16 BDP``."""
    kept = QUICK_BUFFERS_BDP[rival, n]
    missing = ", ".join(f"{buffer:g}" for buffer in BUFFERS_BDP if buffer not in kept)
    return f"{rival} n = {n}: {missing} BDP"


QUICK_NOTE = (
    "Quick: fewer buffers, which can refute a finding about all buffers and cannot confirm it; "
    "what they cannot decide is counted apart. Missing are, with "
    + "; ".join(missing_buffers(rival, n) for rival, n in QUICK_BUFFERS_BDP)
    + "."
)

PAPER = Paper(
    name="ogino2021",
    title=(
        "Performance evaluation of heterogeneous congestion control when competing: "
        "CUBIC vs Copa vs BBR"
    ),
    authors="Ogino, Okada, Utsumi (Fukushima University), 2021",
    setup=(
        ("Bottleneck", "50 Mbit/s, drop-tail, buffer 0.5 to 64 BDP (1 BDP = 250 kB)"),
        ("Base RTT", "40 ms"),
        ("Flows", "n = 1 and n = 4 of Copa, against as many of CUBIC or of BBR"),
        ("Time", "120 s, start-up included in every mean"),
        ("Receivers", f"SACK, timestamps, delayed ACKs, receive window {RWND}"),
        ("Throughput", "payload the receiver got per second, which is what tcptrace counts"),
        ("Inflight in the figures", "highest sent minus cumulatively acknowledged, as tcptrace's"),
    ),
    departures=(
        f"Receive window {RWND}: the paper names no limit, but says that CUBIC's cwnd reached its "
        "upper limit at 64 BDP and not at 32 BDP. A Linux 4.15 host whose net.core.rmem_max is "
        "16 MiB advertises half of it (tcp_adv_win_scale = 1), 33.5 BDP, which fits; it is a "
        "reconstruction.",
        "BBR runs as Linux 4.15 had it: without the ACK-aggregation term (`extra_acked_gain=0`; it "
        "came with commit 78dc70ebaa38 in Linux 5.1), and an RTT equal to min_rtt renews it "
        "(`min_rtt_tie_renews=1`; until 1b9e2a8c99a5 in Linux 5.10).",
        "The paper ran CCP's Copa on Linux 4.15 in Mininet; here its algorithm runs in a simulated "
        "Linux TCP, or in this machine's, without CCP's reaction delay between kernel and user "
        "space.",
        "The paper's n = 4 curves over time are taken to be one flow's, as tcptrace draws one "
        "connection; here the first of each kind.",
    ),
    points=tuple(Point(rival, n, b) for rival in RIVALS for n in FLOWS for b in BUFFERS_BDP),
    quick_points=tuple(
        Point(rival, n, b) for (rival, n), kept in QUICK_BUFFERS_BDP.items() for b in kept
    ),
    quick_note=QUICK_NOTE,
    run_name=lambda point: f"copa-{point.rival}-n{point.n}-{point.buffer_bdp:g}bdp",
    scenario=scenario,
    measure=measure,
    findings=check_findings,
    tables=make_tables,
    figures=draw_figures,
    # The paper has no figure over time of Copa and CUBIC with n = 4.
    wants_capture=lambda point: (point.rival, point.n) != ("cubic", 4),
    from_captures=evaluate_captures,
)
