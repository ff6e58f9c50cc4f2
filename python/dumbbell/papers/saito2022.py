"""Saito, Okada, Ogino, Utsumi 2022: 16 to 128 Copa flows at one 1 Gbit/s bottleneck.

The rules follow the words of the paper (in Japanese), clause by clause, with no number of our own.
The paper does not say when its flows start: eight hosts' iPerf processes started by one script take
an estimated 0.1 to 0.4 s. A repetition is one seed at every flow count, at either end of that
estimate; both decide. What the rule shows with other start times is reported and does not decide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dumbbell.models import MODELS, Prediction
from dumbbell.models.copa_equilibrium import LOCK_IN_BDP
from dumbbell.papers.clauses import at_every
from dumbbell.papers.finding import Check, Finding, Variation, evaluate
from dumbbell.papers.paper import ModelCheck, Paper, ResultTable
from dumbbell.papers.results import Results, group_values
from dumbbell.plots import Curve, Figure, buffer_colors, overlay, style_of
from dumbbell.quantities.quantity import Time
from dumbbell.run import Run
from dumbbell.run.series import flow_series, state_labels
from dumbbell.scenario import Group, Scenario
from dumbbell.statistics import mean_and_interval

__all__ = ["PAPER"]

# ---- The runs -----------------------------------------------------------------------------------

FLOWS = (16, 32, 64, 128)
#: All flows start within this. The paper does not say; its 8 senders each start one `iperf` with 2
#: to 16 parallel flows, from one script: 10 to 50 ms a process, 0.1 to 0.4 s for all. The findings
#: are decided with both; the others are run to show what start times do.
ESTIMATED_SPREADS = ("100ms", "400ms")
SPREADS = ("0s", *ESTIMATED_SPREADS, "1s", "5s")
#: Of the figures over time.
PAPER_SPREAD = ESTIMATED_SPREADS[0]
#: In place of a spread where a preset says when the flows start.
BY_APPARATUS = "apparatus"
#: Of the runs that switch a cause off.
CAUSE_SPREADS = ("100ms", "1s", "5s")

#: Copa as it ran (ccp_copa), and with each of the three causes switched off that are supposed to
#: lock many flows into competitive mode.
VARIANTS = {
    "as it ran": "copa",
    "default start": "copa:competitive_start_windows=0",
    "RTT_min known": "copa:rtt_min_known_us=40000",
    "1/δ does not grow": "copa:inv_delta_max=2",
    "default start, RTT_min known": "copa:competitive_start_windows=0,rtt_min_known_us=40000",
}
AS_IT_RAN = "as it ran"
CAUSES = tuple(variant for variant in VARIANTS if variant != AS_IT_RAN)
#: Where the flows do lock, so that there is something to switch off.
CAUSE_FLOWS = (64, 128)
#: Half of the paper's time; what ran longer is compared by its first half.
CAUSE_TIME = "60s"


class Point(NamedTuple):
    """Where a run lies.

    Attributes
    ----------
    flows
        Copa flows.
    spread
        All start within this; or `BY_APPARATUS`.
    variant
        Which Copa.
    """

    flows: int
    spread: str
    variant: str = AS_IT_RAN


def run_name(point: Point) -> str:
    """Return the name that a point's runs are saved under."""
    number = list(VARIANTS).index(point.variant)
    return f"copa-n{point.flows}-spread{point.spread}-variant{number}"


def scenario(point: Point, seed: int) -> Scenario:
    """Return what to run."""
    jitter = "0s" if point.spread == BY_APPARATUS else point.spread
    return Scenario(
        [Group(VARIANTS[point.variant], point.flows, jitter=jitter)],
        rate="1gbit",
        rtt="40ms",
        buffer="64bdp",
        time="120s" if point.variant == AS_IT_RAN else CAUSE_TIME,
        seed=seed,
        sample="100ms",
    )


#: The paper's runs, and those that switch a cause off.
POINTS = (
    *(Point(flows, spread) for spread in SPREADS for flows in FLOWS),
    *(
        Point(flows, spread, variant)
        for variant in CAUSES
        for spread in CAUSE_SPREADS
        for flows in CAUSE_FLOWS
    ),
)
APPARATUS_POINTS = tuple(Point(flows, BY_APPARATUS) for flows in FLOWS)
QUICK_POINTS = tuple(Point(flows, spread) for spread in ESTIMATED_SPREADS for flows in FLOWS)

# ---- What is measured ---------------------------------------------------------------------------

#: How long the runs are that switch a cause off.
EARLY_S = Time.parse(CAUSE_TIME, "time").seconds


class Means(NamedTuple):
    """Of flow 1 over some of its time.

    Attributes
    ----------
    rtt_ms, inflight_pkts
        Mean RTT and inflight.
    """

    rtt_ms: float
    inflight_pkts: float


@dataclass(frozen=True)
class Measured:
    """One run. Flow 1 is the first.

    Attributes
    ----------
    total_mbps
        Payload that all receivers got, over the whole run.
    rtt_mean_ms
        Of flow 1, over the whole run.
    link_mbps
        What crossed the bottleneck, headers included.
    competitive, default, whole
        Of flow 1, means over its time in either mode (None without any), and over the whole run.
    competitive_share
        Of flow 1's time in competitive mode.
    competitive_late
        The same over the second half of the run.
    all_competitive_at_end
        Of all flows' time over the last quarter of the run.
    all_competitive_early
        Of all flows' time over the last quarter of the first 60 s, which every run has.
    """

    total_mbps: float
    rtt_mean_ms: float
    link_mbps: float
    competitive: Means | None
    default: Means | None
    whole: Means
    competitive_share: float
    competitive_late: float
    all_competitive_at_end: float
    all_competitive_early: float

    @property
    def is_locked(self) -> bool:
        """Whether the flows are in competitive mode for most of the last quarter."""
        return self.all_competitive_at_end > 0.5

    @property
    def is_locked_early(self) -> bool:
        """The same of the first 60 s: what runs of different lengths can be compared by."""
        return self.all_competitive_early > 0.5


def measure(_point: Point, run: Run) -> Measured:
    """Measure a run."""
    time_s, rtt_us, inflight = flow_series(run, 0, "rtt_us", "inflight_pkts")
    end_s = run.scenario.time.seconds
    groups = range(len(run.scenario.groups))
    modes = np.concatenate([state_labels(run, group, "mode") for group in groups]) == "competitive"
    state_s, flow = (
        np.concatenate([np.asarray(run.state(group)[name].to_numpy()) for group in groups])
        for name in ("time_us", "flow")
    )
    state_s = state_s / 1e6
    late = state_s > 0.75 * end_s
    early = (state_s > 0.75 * EARLY_S) & (state_s <= EARLY_S)
    first = flow == 0
    # Both tables are sampled at the same times.
    competitive = np.isin(np.rint(1e6 * time_s), np.rint(1e6 * state_s[first & modes]))
    flows, metric = run.summary["flows"], group_values(run)
    return Measured(
        total_mbps=8 * sum(flow["received_bytes"] for flow in flows) / end_s / 1e6,
        rtt_mean_ms=flows[0]["rtt_mean_us"] / 1e3,
        link_mbps=metric("utilization") * int(run.scenario.rate) / 1e6,
        competitive=means(rtt_us, inflight, competitive),
        default=means(rtt_us, inflight, ~competitive),
        whole=Means(float(np.nanmean(rtt_us)) / 1e3, float(np.nanmean(inflight))),
        competitive_share=share(modes[first]),
        competitive_late=share(modes[first & (state_s > 0.5 * end_s)]),
        all_competitive_at_end=share(modes[late]),
        all_competitive_early=share(modes[early]),
    )


def means(rtt_us: np.ndarray, inflight: np.ndarray, when: np.ndarray) -> Means | None:
    """Return the means over some samples; None where none of them has an RTT."""
    when = when & np.isfinite(rtt_us)
    if not when.any():
        return None
    return Means(float(np.mean(rtt_us[when])) / 1e3, float(np.mean(inflight[when])))


def share(flags: np.ndarray) -> float:
    """Return the share that is set."""
    return float(np.mean(flags)) if flags.size else 0.0


# ---- The rules ----------------------------------------------------------------------------------

#: "Close to 1 Gbit/s", the paper's one digit: what crosses the bottleneck rounds to 1 Gbit/s and
#: not to 0.9.
ROUNDS_TO_1_GBPS = 950.0
#: No mean RTT is shorter.
BASE_RTT_MS = 40.0
#: "Has increased" (B2): the rule that goes with the reading.
INCREASED = 1.5
MANY = FLOWS[2:]
#: The runs that decide, and seeds of the others.
REPORTED_SEEDS = 5
DECIDING = (*ESTIMATED_SPREADS, BY_APPARATUS)

#: One repetition: a seed's run by the number of flows. B2 and B3 take those there are; without that
#: of 16 flows they can only be refuted.
Repetition = Mapping[int, Measured]
Rule = Callable[[Repetition], list[Check]]


def check_findings(results: Results[Point, Measured]) -> list[Finding]:
    """Check B1 to B3."""
    by_spread = {spread: repetitions(results, spread) for spread in spreads_of(results)}
    findings = []
    for name, statement, rule in RULES:
        checked = {s: [tuple(rule(each)) for each in seeds] for s, seeds in by_spread.items()}
        findings.append(
            Finding(
                name,
                statement,
                tuple(checks for s in DECIDING for checks in checked.get(s, [])),
                variations=tuple(
                    Variation(f"all flows start {when(s)}", tuple(evaluate(c) for c in seeds))
                    for s, seeds in checked.items()
                    if s != BY_APPARATUS
                ),
            )
        )
    return findings


def spreads_of(results: Results[Point, Measured]) -> list[str]:
    """Return the spreads of start times that were run."""
    return [s for s in (*SPREADS, BY_APPARATUS) if Point(FLOWS[0], s) in results]


def is_deciding(point: Point) -> bool:
    """Whether a finding depends on it: only the estimated start times decide one."""
    return point.variant == AS_IT_RAN and point.spread in DECIDING


def when(spread: str) -> str:
    """Say when the flows start."""
    return "as the apparatus has it" if spread == BY_APPARATUS else f"within {spread}"


def drawn_spread(results: Results[Point, Measured]) -> str:
    """Return the spread of the figures over time."""
    spreads = spreads_of(results)
    return PAPER_SPREAD if PAPER_SPREAD in spreads else spreads[0]


def repetitions(results: Results[Point, Measured], spread: str) -> list[Repetition]:
    """Return what was measured with one spread of start times, by seed."""
    seeds = results.repetitions([Point(n, spread) for n in FLOWS])
    return [{point.flows: run for point, run in seed.items()} for seed in seeds]


def b1(seen: Repetition) -> list[Check]:
    """The total throughput."""
    totals = [seen[n].link_mbps for n in FLOWS]
    return [
        at_every(
            "a total throughput (headers included) that rounds to 1 Gbit/s: "
            f"{ROUNDS_TO_1_GBPS:g} Mbit/s or more",
            FLOWS,
            [(total,) for total in totals],
            "{:.0f} Mbit/s",
            [total >= ROUNDS_TO_1_GBPS for total in totals],
            unit="flows",
        )
    ]


def b2(seen: Repetition) -> list[Check]:
    """The RTT of flow 1."""
    # Without the run of 16 flows: its mean RTT is at least the path's.
    few_ms = seen[FLOWS[0]].rtt_mean_ms if FLOWS[0] in seen else BASE_RTT_MS
    bound = f"{INCREASED:g} × that with {FLOWS[0]} flows"
    checks = [
        Check(
            f"with {n} flows a mean RTT of flow 1 above {bound}",
            "{:.0f} ms, and {:.0f} ms",
            (seen[n].rtt_mean_ms, few_ms),
            seen[n].rtt_mean_ms > INCREASED * few_ms,
        )
        for n in MANY
        if n in seen
    ]
    if 32 in seen:
        checks.append(
            Check(
                f"with 32 flows a mean RTT of flow 1 not above {bound}",
                "{:.0f} ms, and {:.0f} ms",
                (seen[32].rtt_mean_ms, few_ms),
                seen[32].rtt_mean_ms <= INCREASED * few_ms,
            )
        )
    return checks


def b3(seen: Repetition) -> list[Check]:
    """The mode of flow 1, and its inflight and RTT meanwhile."""
    checks = []
    for n in (n for n in MANY if n in seen):
        run, few = seen[n], seen.get(FLOWS[0])
        default = run.default if run.default is not None or few is None else few.whole
        default = default or Means(BASE_RTT_MS, 0.0)
        competitive = run.competitive if run.competitive is not None else run.default
        if competitive is None:
            raise ValueError(f"flow 1 of {n} has no samples")
        checks += [
            Check(
                f"with {n} flows flow 1 in competitive mode for more than half of the second half",
                "{:.0%}",
                (run.competitive_late,),
                run.competitive_late > 0.5,
            ),
            Check(
                f"with {n} flows a larger mean RTT of flow 1 in competitive than in default mode "
                f"(than with {FLOWS[0]} flows, if it is never in default mode)",
                "{:.0f} ms, and {:.0f} ms",
                (competitive.rtt_ms, default.rtt_ms),
                competitive.rtt_ms > default.rtt_ms,
            ),
            Check(
                f"with {n} flows a larger mean inflight of flow 1 in competitive than in default "
                f"mode (than with {FLOWS[0]} flows, if it is never in default mode)",
                "{:.0f} and {:.0f} packets",
                (competitive.inflight_pkts, default.inflight_pkts),
                competitive.inflight_pkts > default.inflight_pkts,
            ),
        ]
    return checks


#: Id, what the paper says, and the rule.
RULES: tuple[tuple[str, str, Rule], ...] = (
    ("B1", "The total throughput is close to 1 Gbit/s whatever the number of flows.", b1),
    ("B2", "Flow 1's mean RTT has increased at 64 and 128 flows.", b2),
    (
        "B3",
        "At 64 and 128 flows flow 1 runs in competitive mode; while it does, inflight and RTT "
        "increase; and it goes on.",
        b3,
    ),
)


def model_checks() -> tuple[ModelCheck, ...]:
    """Return what the model of Copa's equilibrium and lock-in predicts about B1 and B3.

    It does not predict how long the RTT of flows gets that lock in (B2).
    """
    model = MODELS["copa"]
    predicted = {n: model.predict(scenario(Point(n, PAPER_SPREAD), 1)) for n in FLOWS}
    totals = [each.metric("throughput_bps", 0) / 1e6 for each in predicted.values()]
    throughput = at_every(
        f"a total throughput of {ROUNDS_TO_1_GBPS:g} Mbit/s or more",
        FLOWS,
        [(total,) for total in totals],
        "{:.0f} Mbit/s",
        [total >= ROUNDS_TO_1_GBPS for total in totals],
        unit="flows",
    )
    queues = {n: each.details["start_queue_bdp"] for n, each in predicted.items()}
    locks = tuple(
        Check(
            f"{n} flows lock in competitive mode: a queue above {LOCK_IN_BDP:g} BDP at the start",
            "{:.2f} BDP",
            (queues[n],),
            queues[n] > LOCK_IN_BDP,
        )
        for n in MANY
    )
    return (
        ModelCheck("B1", model.label, (throughput,)),
        ModelCheck("B3", model.label, locks),
    )


# ---- Figures and tables -------------------------------------------------------------------------


def draw_figures(results: Results[Point, Measured]) -> list[Figure]:
    """Draw figures 2 to 6."""
    return [
        against_flows(
            results, "2", "total throughput", "throughput (Mbit/s)", lambda run: run.total_mbps,
            lambda prediction: prediction.metric("goodput_bps", 0) / 1e6,
        ),
        against_flows(
            results, "3", "mean RTT of flow 1", "RTT (ms)", lambda run: run.rtt_mean_ms,
            lambda prediction: prediction.metric("rtt_mean_us", 0) / 1e3,
        ),
        mode_over_time(results),
        over_time(results, "5", "inflight of flow 1", "inflight (packets)", "inflight_pkts", 1.0),
        over_time(results, "6", "RTT of flow 1", "RTT (ms)", "rtt_us", 1e-3),
    ]  # fmt: skip


def against_flows(
    results: Results[Point, Measured],
    number: str,
    what: str,
    label: str,
    value: Callable[[Measured], float],
    predicted: Callable[[Prediction], float],
) -> Figure:
    """Draw a value against the number of flows, a curve per spread of start times, and a model's.

    The model's is that of Copa's equilibrium: flows that lock in leave it.
    """
    spreads = spreads_of(results)
    colors = buffer_colors(spreads)
    curves = [
        results.curve(
            "copa",
            FLOWS,
            [Point(n, spread) for n in FLOWS],
            value,
            label=f"starts {when(spread)}",
            color="" if spread == drawn_spread(results) else colors[spread],
            dashed=spread not in DECIDING,
        )
        for spread in spreads
    ]
    model = overlay(
        MODELS["copa"],
        [scenario(Point(n, PAPER_SPREAD), 1) for n in FLOWS],
        FLOWS,
        predicted,
        style_of("copa").color,
        of="not locked in",
        optional=True,
    )
    curves += [] if model is None else [model]
    return Figure(
        name=f"figure-{number}",
        title=f"Figure {number}: {what}",
        x_label="Copa flows",
        y_label=label,
        curves=tuple(curves),
        caption=results.bars(*(Point(n, spreads[0]) for n in FLOWS)),
        x_ticks=tuple(float(n) for n in FLOWS),
    )


def flow_count_colors() -> dict[str, str]:
    """Return a colour per flow count."""
    return buffer_colors([f"{n} flows" for n in FLOWS])


def over_time(
    results: Results[Point, Measured], number: str, what: str, label: str, column: str, scale: float
) -> Figure:
    """Draw a column of flow 1 over time, a curve per flow count, of the first seed."""
    curves, spread = [], drawn_spread(results)
    for name, color in flow_count_colors().items():
        run = results.runs[Point(int(name.split()[0]), spread)][0]
        time_s, values = flow_series(run, 0, column)
        known = np.isfinite(values)
        curves.append(Curve(name, time_s[known], values[known] * scale, color))
    return Figure(
        name=f"figure-{number}",
        title=f"Figure {number}: {what}",
        x_label="time (s)",
        y_label=label,
        curves=tuple(curves),
        caption=f"First seed, all flows starting {when(spread)}.",
    )


def mode_over_time(results: Results[Point, Measured]) -> Figure:
    """Draw flow 1's mode: 1 competitive, 0 default, each flow count on a step of its own."""
    curves, spread = [], drawn_spread(results)
    for step, (name, color) in enumerate(flow_count_colors().items()):
        run = results.runs[Point(int(name.split()[0]), spread)][0]
        state = run.state(0)
        first = np.asarray(state["flow"].to_numpy()) == 0
        time_s = np.asarray(state["time_us"].to_numpy())[first] / 1e6
        competitive = state_labels(run, 0, "mode")[first] == "competitive"
        curves.append(Curve(name, time_s, 1.5 * step + competitive, color))
    return Figure(
        name="figure-4",
        title="Figure 4: Copa's mode in flow 1",
        x_label="time (s)",
        y_label="up: competitive, down: default",
        curves=tuple(curves),
        caption="The flow counts are drawn one above the other. First seed, all flows starting "
        f"{when(spread)}.",
    )


def make_tables(results: Results[Point, Measured]) -> list[ResultTable]:
    """Tabulate the paper's runs, and which cause locks the flows."""
    tables = [runs_table(results, spread) for spread in spreads_of(results)]
    if any(point.variant != "as it ran" for point in results.measured):
        tables.append(causes_table(results))
    return tables


def runs_table(results: Results[Point, Measured], spread: str) -> ResultTable:
    """Tabulate the runs with one spread of start times."""
    rows = []
    for n in FLOWS:
        point = Point(n, spread)
        rows.append(
            (
                str(n),
                mean_and_interval(results.values(point, lambda run: run.total_mbps)),
                mean_and_interval(results.values(point, lambda run: run.rtt_mean_ms)),
                f"{results.mean(point, lambda run: run.competitive_share):.0%}",
                locked(results.values(point, lambda run: run.is_locked)),
                results.verdict(point),
            )
        )
    return ResultTable(
        title=f"Copa flows that start {when(spread)}",
        columns=(
            "flows", "throughput (Mbit/s)", "mean RTT of flow 1 (ms)", "flow 1 competitive",
            "seeds locked", "verdict",
        ),
        rows=tuple(rows),
    )  # fmt: skip


def causes_table(results: Results[Point, Measured]) -> ResultTable:
    """Tabulate how many seeds lock with each cause switched off."""
    columns = [(n, spread) for n in FLOWS[2:] for spread in CAUSE_SPREADS]
    rows = [
        (
            variant,
            *(
                locked(results.values(Point(n, spread, variant), lambda run: run.is_locked_early))
                for n, spread in columns
            ),
        )
        for variant in VARIANTS
    ]
    return ResultTable(
        title=f"What locks the flows: seeds in competitive mode towards the end of {CAUSE_TIME}",
        columns=("Copa", *(f"{n} flows, {spread}" for n, spread in columns)),
        rows=tuple(rows),
    )


def locked(values: list[float]) -> str:
    """Return in how many seeds the flows are in competitive mode."""
    return f"{int(sum(values))} of {len(values)}"


# ---- The paper ----------------------------------------------------------------------------------

PAPER = Paper(
    name="saito2022",
    title="Evaluation of multiple Copa flows using network emulator Mininet",
    authors="Saito, Okada, Ogino, Utsumi (Fukushima University), 2022",
    setup=(
        ("Bottleneck", "1 Gbit/s, drop-tail, buffer 64 BDP (1 BDP = 5 MB)"),
        ("Base RTT", "40 ms"),
        ("Flows", "16, 32, 64 and 128 of Copa, from 8 senders"),
        ("Time", "120 s, start-up included in every mean"),
        ("Flow 1", "the first flow of the run"),
        ("Start times", "all within 0.1 s and 0.4 s; also 0, 1 and 5 s"),
        ("Locked", "flows in competitive mode for most of the last quarter of the run"),
    ),
    departures=(
        "The paper does not say when its flows start. Its eight senders' iPerf processes, started "
        "by one script, take an estimated 0.1 to 0.4 s; the findings are decided with both, and "
        "reported for 0, 1 and 5 s too.",
        "The paper describes Copa with a mode window of 5 RTT; CCP's Copa, which ran, has 10. Here "
        "runs CCP's, without its reaction delay between kernel and user space.",
        "The runs that switch a cause off last 60 s. `RTT_min known` gives every flow the path's "
        "40 ms; `1/δ does not grow` keeps δ at 0.5 in competitive mode too.",
    ),
    points=POINTS,
    quick_points=QUICK_POINTS,
    quick_note="Quick: the paper's four flow counts, all flows starting within "
    f"{' and '.join(ESTIMATED_SPREADS)}; other start times, and the runs that switch each cause "
    "off, are left out.",
    run_name=run_name,
    scenario=scenario,
    measure=measure,
    findings=check_findings,
    tables=make_tables,
    figures=draw_figures,
    default_seeds=lambda point: 10 if is_deciding(point) else REPORTED_SEEDS,
    decides=is_deciding,
    model_checks=model_checks,
    apparatus_points=APPARATUS_POINTS,
    trial_time=CAUSE_TIME,
)
