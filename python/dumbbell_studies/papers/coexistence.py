"""BBR and CUBIC on a testbed: BBR alone and against CUBIC at 10 Mbit/s, 1 to 18 BDP.

The rules follow the words of the source, clause by clause, with no number of our own. The
experiment measured everything ten times and averaged; so the rules are applied once, to the
averages, and not to each repetition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from dumbbell.figures import Curve, Figure, style_of
from dumbbell.models import MODELS, Prediction
from dumbbell.plots import overlay
from dumbbell.run import Run
from dumbbell.scenario import Group, Scenario
from dumbbell.statistics import mean_and_interval
from dumbbell_studies.papers.clauses import falls, grows
from dumbbell_studies.papers.finding import ClauseResult, Finding
from dumbbell_studies.papers.hosts import BBR_BEFORE_5_1, spelled
from dumbbell_studies.papers.paper import ModelCheck, Paper, ResultTable
from dumbbell_studies.papers.results import Results, group_values

__all__ = ["PAPER"]

#: The hosts had Linux 4.12.
BBR = spelled("bbr", BBR_BEFORE_5_1)
BUFFERS_BDP = tuple(float(buffer) for buffer in range(1, 19))
QUICK_BUFFERS_BDP = (1.0, 2.0, 4.0, 6.0, 8.0, 12.0, 15.0, 18.0)
#: "Maximum window 100 MBytes".
WINDOW = "100MB"


class Point(NamedTuple):
    """Where a run lies.

    Attributes
    ----------
    with_cubic
        Whether BBR competes with CUBIC or is alone.
    buffer_bdp
        Bottleneck buffer.
    """

    with_cubic: bool
    buffer_bdp: float


def run_name(point: Point) -> str:
    """Return the name that a point's runs are saved under."""
    return f"{'bbr-cubic' if point.with_cubic else 'bbr'}-{point.buffer_bdp:g}bdp"


def scenario(point: Point, seed: int) -> Scenario:
    """Return what to run; BBR's group is the first."""
    ccs = [BBR, "cubic"] if point.with_cubic else [BBR]
    return Scenario(
        [Group(cc, 1, rwnd=WINDOW, sndbuf=WINDOW) for cc in ccs],
        rate="10mbit",
        rtt="40ms",
        buffer=f"{point.buffer_bdp:g}bdp",
        time="120s",
        seed=seed,
        sample="100ms",
    )


def grid(buffers: Sequence[float]) -> tuple[Point, ...]:
    """Return the points at some buffers."""
    return tuple(Point(with_cubic, buffer) for with_cubic in (False, True) for buffer in buffers)


@dataclass(frozen=True)
class Measured:
    """One run.

    Attributes
    ----------
    bbr_mbps, cubic_mbps
        Goodput; 0 where there is no CUBIC.
    rtos
        Retransmission timeouts of both; NaN where a kernel does not count them.
    """

    bbr_mbps: float
    cubic_mbps: float = 0.0
    rtos: float = 0.0

    @property
    def total_mbps(self) -> float:
        """Throughput of both together."""
        return self.bbr_mbps + self.cubic_mbps


def measure(_point: Point, run: Run) -> Measured:
    """Measure a run."""
    metrics = [group_values(run, group) for group in range(len(run.scenario.groups))]
    mbps = [metric("goodput_per_flow_bps") / 1e6 for metric in metrics]
    cubic_mbps = mbps[1] if len(mbps) > 1 else 0.0
    return Measured(mbps[0], cubic_mbps, sum(metric("rto_count") for metric in metrics))


def buffers_of(results: Results[Point, Measured]) -> list[float]:
    """Return the buffers that were run, smallest first."""
    return sorted({point.buffer_bdp for point in results.measured})


def check_findings(results: Results[Point, Measured]) -> list[Finding]:
    """Check D1 to D3."""
    buffers = buffers_of(results)
    alone = [
        results.mean(Point(with_cubic=False, buffer_bdp=buffer), lambda run: run.bbr_mbps)
        for buffer in buffers
    ]
    bbr, cubic, total, rtos = (
        [results.mean(Point(with_cubic=True, buffer_bdp=buffer), what) for buffer in buffers]
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
            (d1(buffers, alone, bbr),),
        ),
        Finding(
            "D2",
            "BBR against CUBIC: with small buffers BBR is high and CUBIC low; as the buffer grows "
            "BBR falls and CUBIC ends higher.",
            (d2(buffers, bbr, cubic),),
        ),
        Finding(
            "D3",
            "The sum of the two falls as the buffer grows, because of consecutive retransmission "
            "timeouts.",
            (d3(buffers, total, rtos),),
            note="Until 2026-11-27 any timeout was enough for the second clause; it was "
            "changed after its outcome had been seen (docs/notes/findings.md).",
        ),
    ]


def d1(
    buffers: Sequence[float], alone: Sequence[float], against_cubic: Sequence[float]
) -> tuple[ClauseResult, ...]:
    """BBR alone; what is high and what is stable the experiment shows by BBR against CUBIC."""
    complete = tuple(buffers) == BUFFERS_BDP
    high = against_cubic[0]
    ranges = [max(values) - min(values) for values in (alone, against_cubic)]
    least = min(alone)
    return (
        ClauseResult(
            "high: BBR alone at every buffer at or above what it has against CUBIC in the smallest",
            "at least {:.2f}, and {:.2f} Mbit/s",
            (least, high),
            least >= high if complete or least < high else None,
        ),
        ClauseResult(
            "stable: BBR alone differs less over the buffers than against CUBIC",
            "{:.2f} and {:.2f} Mbit/s from the lowest to the highest",
            (ranges[0], ranges[1]),
            ranges[0] < ranges[1] if complete else None,
        ),
    )


def d2(
    buffers: Sequence[float], bbr: Sequence[float], cubic: Sequence[float]
) -> tuple[ClauseResult, ...]:
    """BBR against CUBIC."""
    smallest, largest = f"{BUFFERS_BDP[0]:g} BDP", f"{BUFFERS_BDP[-1]:g} BDP"
    return (
        ClauseResult(
            f"at {smallest} BBR above CUBIC",
            "{:.2f} and {:.2f} Mbit/s",
            (bbr[0], cubic[0]),
            bbr[0] > cubic[0],
        ),
        falls("BBR", buffers, bbr, "{:.2f} Mbit/s", complete=tuple(buffers) == BUFFERS_BDP),
        ClauseResult(
            f"at {largest} CUBIC above BBR",
            "{:.2f} and {:.2f} Mbit/s",
            (cubic[-1], bbr[-1]),
            cubic[-1] > bbr[-1],
        ),
    )


def d3(
    buffers: Sequence[float], total: Sequence[float], rtos: Sequence[float]
) -> tuple[ClauseResult, ...]:
    """The sum, and timeouts."""
    complete = tuple(buffers) == BUFFERS_BDP
    return (
        falls("the sum", buffers, total, "{:.2f} Mbit/s", complete=complete),
        grows("the number of timeouts", buffers, rtos, "{:.2f}", complete=complete),
    )


def model_checks() -> tuple[ModelCheck, ...]:
    """Return what models predict about D1 and D2; none predicts the timeouts of D3."""
    alone = [mbps("bbr-many", Point(with_cubic=False, buffer_bdp=b), 0) for b in BUFFERS_BDP]
    points = [Point(with_cubic=True, buffer_bdp=buffer) for buffer in BUFFERS_BDP]
    bbr, cubic = ([mbps("ware", point, group) for point in points] for group in (0, 1))
    ware = MODELS["ware"].label
    return (
        ModelCheck("D1", f"{MODELS['bbr-many'].label}; {ware}", d1(BUFFERS_BDP, alone, bbr)),
        ModelCheck("D2", ware, d2(BUFFERS_BDP, bbr, cubic)),
    )


def mbps(model: str, point: Point, group: int) -> float:
    """Return a group's goodput by a model."""
    return MODELS[model].predict(scenario(point, 1)).metric("goodput_bps", group) / 1e6


def draw_figures(results: Results[Point, Measured]) -> list[Figure]:
    """Draw BBR alone, and BBR, CUBIC and their sum."""
    return [draw(results, with_cubic=False), draw(results, with_cubic=True)]


def draw(results: Results[Point, Measured], *, with_cubic: bool) -> Figure:
    """Draw throughput against buffer size."""
    buffers = buffers_of(results)
    points = [Point(with_cubic, buffer) for buffer in buffers]
    curves = [results.curve("bbr", buffers, points, lambda run: run.bbr_mbps)]
    if with_cubic:
        curves += [
            results.curve("cubic", buffers, points, lambda run: run.cubic_mbps),
            results.curve(
                "", buffers, points, lambda run: run.total_mbps, label="sum", dashed=True
            ),
        ]
    return Figure(
        name="bbr-and-cubic" if with_cubic else "bbr-alone",
        title="BBR and CUBIC: throughput" if with_cubic else "BBR alone: throughput",
        x_label="buffer (BDP)",
        y_label="throughput (Mbit/s)",
        curves=(*curves, *model_curves(points, with_cubic=with_cubic)),
        caption=f"Goodput over 120 s. {results.bars(*points)}",
    )


def model_curves(points: Sequence[Point], *, with_cubic: bool) -> list[Curve]:
    """Return what models predict for the same flows: Ware et al.'s, and that of BBR alone."""
    model = MODELS["ware" if with_cubic else "bbr-many"]
    curves = [
        overlay(
            model, [scenario(point, 1) for point in points], [p.buffer_bdp for p in points],
            partial(goodput_mbps, group), style_of(cc).color, of=style_of(cc).label, optional=True,
        )
        for group, cc in enumerate(("bbr", "cubic") if with_cubic else ("bbr",))
    ]  # fmt: skip
    return [curve for curve in curves if curve is not None]


def goodput_mbps(group: int, prediction: Prediction) -> float:
    """Return a group's predicted goodput."""
    return prediction.metric("goodput_bps", group) / 1e6


def make_tables(results: Results[Point, Measured]) -> list[ResultTable]:
    """Tabulate throughput and timeouts against the buffer."""
    rows = []
    for buffer in buffers_of(results):
        alone, both = (Point(with_cubic, buffer) for with_cubic in (False, True))
        rows.append(
            (
                f"{buffer:g}",
                mean_and_interval(results.values(alone, lambda run: run.bbr_mbps)),
                mean_and_interval(results.values(both, lambda run: run.bbr_mbps)),
                mean_and_interval(results.values(both, lambda run: run.cubic_mbps)),
                mean_and_interval(results.values(both, lambda run: run.total_mbps)),
                mean_and_interval(results.values(both, lambda run: run.rtos)),
                results.verdict(alone, both),
            )
        )
    return [
        ResultTable(
            title="BBR alone, and against CUBIC: throughput, Mbit/s",
            columns=(
                "buffer (BDP)", "BBR alone", "BBR", "CUBIC", "sum", "RTOs", "verdict",
            ),
            rows=tuple(rows),
        )
    ]  # fmt: skip


PAPER = Paper(
    name="coexistence",
    title="BBR and CUBIC coexisting on a testbed",
    authors="Fukushima University",
    setup=(
        ("Bottleneck", "10 Mbit/s, drop-tail, buffer 1 to 18 BDP (1 BDP = 50 kB)"),
        ("Base RTT", "40 ms"),
        ("Flows", "one BBR flow alone; one BBR flow against one CUBIC flow"),
        ("Time", "120 s, start-up included in every mean"),
        ("Repetitions", "10, averaged"),
        ("Windows", "100 MB at most, for sending and receiving"),
    ),
    departures=(
        "The experiment ran on Linux 4.12.4 senders and FreeBSD receivers; here both ends are the "
        "simulated Linux TCP, or this machine's. `--apparatus freebsd-dummynet-2017` adds what is "
        "known of the hosts and the router.",
        "BBR runs as Linux 4.12 had it: `extra_acked_gain=0` and `min_rtt_tie_renews=1`, as in "
        "ogino2021.",
    ),
    points=grid(BUFFERS_BDP),
    quick_points=grid(QUICK_BUFFERS_BDP),
    quick_note="Quick: 8 of the 18 buffers ("
    + ", ".join(f"{buffer:g}" for buffer in QUICK_BUFFERS_BDP)
    + " BDP). Fewer buffers can refute a finding about all and cannot confirm it.",
    run_name=run_name,
    scenario=scenario,
    measure=measure,
    findings=check_findings,
    tables=make_tables,
    figures=draw_figures,
    model_checks=model_checks,
)
