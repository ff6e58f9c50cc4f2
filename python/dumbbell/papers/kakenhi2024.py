"""Utsumi, Hasegawa 2024 (KAKENHI 20K11786): many BBR flows, L3DR, a CUBIC model, BBR-FCA.

The rules follow the words of the report (in Japanese), clause by clause. The numbers go with the
words: several hundred ms is 200 ms or more (C1), use near 100 % is 97 % or more, many flows are 16
or more (C2), and a model orders flows when the rank correlation is 0.9 or more (C3). A repetition
is one seed of every run that a finding is about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dumbbell.metrics import Warmup
from dumbbell.models import MODELS
from dumbbell.models.cubic_epochs import trajectory_mean_pkts
from dumbbell.papers.clauses import at_every
from dumbbell.papers.finding import Check, Finding, Variation, evaluate
from dumbbell.papers.hosts import BBR_BEFORE_5_1, spelled
from dumbbell.papers.paper import ModelCheck, Paper, ResultTable
from dumbbell.papers.results import Results, group_values
from dumbbell.plots import Curve, Figure, overlay, style_of
from dumbbell.run import Run
from dumbbell.run.series import to_floats
from dumbbell.scenario import Group, Scenario
from dumbbell.statistics import spearman

__all__ = ["PAPER"]

# ---- The runs -----------------------------------------------------------------------------------

#: C1 and C2: the report names 128 flows, 100 Mbit/s and buffers of 10 and 1 BDP. Its base RTT is
#: not known; 40 ms is that of the other papers.
FLOW_COUNTS = (1, 2, 4, 8, 16, 32, 64, 128)
ALONE_CCS = ("bbr", "l3dr", "bbr3", "cubic")
#: C1's "deep buffer", in which "several hundred ms" can be seen: 1.28 s.
DEEP_BDP = 32.0
#: When the flows start is not in the report. C1 is decided with what is estimated for saito2022's
#: script, 0.1 to 0.4 s, as nothing else is known; the others are run because start times decide
#: whether the flows' PROBE_RTTs coincide. All other runs have the first.
ESTIMATED_SPREADS = ("100ms", "400ms")
C1_SPREADS = ("0s", *ESTIMATED_SPREADS, "1s", "5s")
C1_FLOWS = 128
#: C1's BBRs: the name of each, and what `Alone.cc` calls it.
C1_VERSIONS = {"BBR": "bbr", "BBR as in Linux 4.15": "bbr_4_15"}
#: Of those the ones that are a congestion control with parameters; see ogino2021.
PARAMETERS = {"bbr_4_15": spelled("bbr", BBR_BEFORE_5_1)}
C2_BUFFERS_BDP = (1.0, 10.0)

#: C3: "over buffers, RTTs and flow counts".
INTERVAL_BUFFERS_BDP = (0.5, 1.0, 2.0, 4.0, 8.0)
INTERVAL_RTTS = ("20ms", "40ms", "80ms")
INTERVAL_FLOWS = (1, 4, 16)
INTERVAL_RUNS = len(INTERVAL_BUFFERS_BDP) * len(INTERVAL_RTTS) * len(INTERVAL_FLOWS)

#: C4: what competes with CUBIC, and of these BBR and its variants, which BBR-FCA is compared with.
RIVALS = ("bbr_fca", "bbr", "bbr3", "copa")
BBR_FCA_RIVALS = ("bbr", "bbr3")
MIXES = ((1, 1), (1, 4), (4, 1), (4, 4))
BUFFERS_BDP = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)

#: Seeds of start times that are reported, and of runs that are only drawn.
REPORTED_SEEDS, DRAWN_SEEDS = 5, 3

QUICK_FLOW_COUNTS = (1, 16, 128)
QUICK_BUFFERS_BDP = (1.0, 4.0, 16.0)


class Alone(NamedTuple):
    """Flows of one congestion control among themselves: C1 and C2.

    Attributes
    ----------
    cc
        Its name.
    flows
        How many.
    buffer_bdp
        Bottleneck buffer.
    spread
        All flows start within this.
    """

    cc: str
    flows: int
    buffer_bdp: float
    spread: str = ESTIMATED_SPREADS[0]


class Interval(NamedTuple):
    """CUBIC flows among themselves, for the time between their losses: C3.

    Attributes
    ----------
    rtt
        Base RTT.
    flows
        How many.
    buffer_bdp
        Bottleneck buffer.
    """

    rtt: str
    flows: int
    buffer_bdp: float


class Mixed(NamedTuple):
    """Flows of one congestion control against CUBIC: C4.

    Attributes
    ----------
    cc
        CUBIC's rival.
    mix
        Flows of the rival, flows of CUBIC.
    buffer_bdp
        Bottleneck buffer.
    """

    cc: str
    mix: tuple[int, int]
    buffer_bdp: float


Point = Alone | Interval | Mixed


def run_name(point: Point) -> str:
    """Return the name that a point's runs are saved under."""
    if isinstance(point, Alone):
        return f"alone-{point.cc}-n{point.flows}-{point.buffer_bdp:g}bdp-spread{point.spread}"
    if isinstance(point, Interval):
        return f"interval-{point.rtt}-n{point.flows}-{point.buffer_bdp:g}bdp"
    return f"mixed-{point.cc}-{point.mix[0]}to{point.mix[1]}-{point.buffer_bdp:g}bdp"


def scenario(point: Point, seed: int) -> Scenario:
    """Return what to run; against CUBIC the rival's group is the first."""
    buffer = f"{point.buffer_bdp:g}bdp"
    if isinstance(point, Alone):
        group = Group(PARAMETERS.get(point.cc, point.cc), point.flows, jitter=point.spread)
        return Scenario(
            [group], rate="100mbit", rtt="40ms", buffer=buffer, time="120s", seed=seed,
            sample="100ms",
        )  # fmt: skip
    if isinstance(point, Interval):
        # Every recovery lasts an RTT at least, so two samples see it.
        return Scenario(
            [Group("cubic", point.flows)], rate="50mbit", rtt=point.rtt, buffer=buffer,
            time="300s", seed=seed, sample="10ms",
        )  # fmt: skip
    rival, cubic = point.mix
    return Scenario(
        [Group(point.cc, rival), Group("cubic", cubic)], rate="50mbit", rtt="40ms", buffer=buffer,
        time="300s", seed=seed, sample="1s",
    )  # fmt: skip


def grid(
    flow_counts: Sequence[int],
    rtts: Sequence[str],
    mixes: Sequence[tuple[int, int]],
    buffers: Sequence[float],
    interval_buffers: Sequence[float],
    c1: Sequence[tuple[str, str]],
) -> tuple[Point, ...]:
    """Return the points of a grid."""
    deep: list[Point] = [
        *(Alone("bbr", n, DEEP_BDP) for n in flow_counts),
        *(Alone(cc, C1_FLOWS, DEEP_BDP, spread) for cc, spread in c1),
    ]
    alone: list[Point] = [
        Alone(cc, n, buffer) for cc in ALONE_CCS for buffer in C2_BUFFERS_BDP for n in flow_counts
    ]
    intervals: list[Point] = [
        Interval(rtt, n, buffer)
        for rtt in rtts
        for n in INTERVAL_FLOWS
        for buffer in interval_buffers
    ]
    mixed: list[Point] = [
        Mixed(cc, mix, buffer) for cc in RIVALS for mix in mixes for buffer in buffers
    ]
    return tuple(dict.fromkeys([*deep, *alone, *intervals, *mixed]))


def default_seeds(point: Point) -> int:
    """Return ten for what C1 and C2 depend on, as they depend on single runs.

    C3 depends on all flows of 45 runs, C4 on 32 runs of each rival. The rest is drawn or reported.
    """
    if not isinstance(point, Alone):
        return 1
    if point.buffer_bdp == DEEP_BDP and point.flows == C1_FLOWS:
        return 10 if point.spread in ESTIMATED_SPREADS else REPORTED_SEEDS
    is_of_c2 = point.cc in ("l3dr", "bbr") and point.buffer_bdp in C2_BUFFERS_BDP
    return 10 if is_of_c2 and point.flows >= MANY_FLOWS else DRAWN_SEEDS


# ---- What is measured ---------------------------------------------------------------------------

FloatArray = npt.NDArray[np.float64]

#: Of a flow with fewer losses the mean time between them says little.
FEWEST_LOSSES = 5
#: Jain's index is over what follows, 60 s: C2's "fairness between flows", not their start-up.
START_UP = Warmup.parse("60s")


class AloneMeasured(NamedTuple):
    """A run of one congestion control alone.

    Attributes
    ----------
    queue_delay_ms, queue_delay_p95_ms
        Queueing delay of the packets: mean and 95th percentile.
    drop_pct
        Packets dropped of those offered to the bottleneck.
    utilization
        Of the link, start-up included.
    jain
        Of the flows' goodput over the last 60 s.
    """

    queue_delay_ms: float
    queue_delay_p95_ms: float
    drop_pct: float
    utilization: float
    jain: float


class IntervalMeasured(NamedTuple):
    """A CUBIC flow of a run, between its first loss and its last.

    Attributes
    ----------
    intervals_s
        Times between its losses, in their order.
    rtt_s, base_rtt_s
        Mean RTT, and the lowest of the run.
    rate_pkts_per_s
        Goodput, in segments.
    """

    intervals_s: tuple[float, ...]
    rtt_s: float
    base_rtt_s: float
    rate_pkts_per_s: float

    @property
    def interval_s(self) -> float:
        """Mean time between two losses."""
        return float(np.mean(self.intervals_s))

    def predict_pkts_per_s(self) -> float:
        """Return the model's throughput: the mean of CUBIC's trajectory over these intervals."""
        window = trajectory_mean_pkts(self.intervals_s, self.rtt_s, self.base_rtt_s)
        return window / self.rtt_s


#: Of a run against CUBIC: goodput of one of the rival's flows over an equal share, 1 is fair. Of
#: CUBIC flows among themselves: each of them that lost often enough.
Measured = AloneMeasured | list[IntervalMeasured] | float


def measure(point: Point, run: Run) -> Measured:
    """Measure a run."""
    if isinstance(point, Alone):
        return measure_alone(run)
    if isinstance(point, Interval):
        return measure_intervals(run)
    rates = [flow["goodput_bps"] for flow in run.summary["flows"]]
    return float(np.mean(rates[: point.mix[0]])) / float(np.mean(rates))


def measure_alone(run: Run) -> AloneMeasured:
    """Measure a run of one congestion control alone."""
    metric, late = group_values(run), group_values(run, warmup=START_UP)
    return AloneMeasured(
        queue_delay_ms=metric("queue_delay_mean_us") / 1e3,
        queue_delay_p95_ms=metric("queue_delay_p95_us") / 1e3,
        drop_pct=100 * metric("drop_rate"),
        utilization=metric("utilization"),
        jain=late("jain"),
    )


def measure_intervals(run: Run) -> list[IntervalMeasured]:
    """Measure each flow of a run that lost often enough."""
    mss_bits = 8 * int(run.scenario.groups[0].mss)
    found = []
    for rows in rows_by_flow(run):
        starts_s = loss_starts_s(rows)
        if starts_s.size < FEWEST_LOSSES:
            continue
        inside = (rows.time_s > starts_s[0]) & (rows.time_s <= starts_s[-1])
        found.append(
            IntervalMeasured(
                intervals_s=tuple(np.diff(starts_s).tolist()),
                rtt_s=float(np.nanmean(rows.rtt_us[inside])) / 1e6,
                base_rtt_s=float(np.nanmin(rows.rtt_us)) / 1e6,
                rate_pkts_per_s=float(np.mean(rows.goodput_bps[inside])) / mss_bits,
            )
        )
    return found


class FlowRows(NamedTuple):
    """A flow's samples, in order of time.

    Attributes
    ----------
    time_s, rtt_us, goodput_bps
        As the table `flows` has them.
    recovering
        Whether the flow recovers from losses.
    """

    time_s: FloatArray
    rtt_us: FloatArray
    goodput_bps: FloatArray
    recovering: npt.NDArray[np.bool_]


def rows_by_flow(run: Run) -> list[FlowRows]:
    """Return each flow's samples; the table is read once."""
    table = run.flows
    flow = np.asarray(table["flow"].to_numpy())
    order = np.argsort(flow, kind="stable")
    ends = np.cumsum(np.bincount(flow, minlength=run.scenario.groups[0].flows))[:-1]
    states = table["ca_state"].combine_chunks()
    if pa.types.is_dictionary(states.type):
        states = states.dictionary_decode()
    recovering = pc.is_in(states, value_set=pa.array(["recovery", "loss"]))
    columns = (
        to_floats(table["time_us"]) / 1e6,
        to_floats(table["rtt_us"]),
        to_floats(table["goodput_bps"]),
        np.asarray(recovering.to_numpy(zero_copy_only=False)),
    )
    parts = [np.split(column[order], ends) for column in columns]
    return [FlowRows(*flow_columns) for flow_columns in zip(*parts, strict=True)]


def loss_starts_s(rows: FlowRows) -> FloatArray:
    """Return when a flow began to recover from losses."""
    begins = rows.recovering & ~np.concatenate([[False], rows.recovering[:-1]])
    starts: FloatArray = rows.time_s[begins]
    return starts


# What was measured, by the kind of the runs.


def alone_of(results: Results[Point, Measured]) -> Results[Alone, AloneMeasured]:
    """Return the runs of one congestion control alone."""
    return part_of(results, Alone)


def intervals_of(results: Results[Point, Measured]) -> Results[Interval, list[IntervalMeasured]]:
    """Return the runs of CUBIC alone."""
    return part_of(results, Interval)


def mixed_of(results: Results[Point, Measured]) -> Results[Mixed, float]:
    """Return the runs against CUBIC."""
    return part_of(results, Mixed)


def part_of(results: Results[Point, Measured], kind: type[Point]) -> Results[Any, Any]:
    """Return the part of the results at points of one kind."""
    measured = {point: found for point, found in results.measured.items() if type(point) is kind}
    return Results(measured, {p: runs for p, runs in results.runs.items() if type(p) is kind})


def flow_counts(alone: Results[Alone, AloneMeasured]) -> tuple[int, ...]:
    """Return the flow counts that were run, smallest first."""
    return tuple(sorted({point.flows for point in alone.measured}))


#: The start of every source's address.
SOURCES = "https://people.ucsc.edu/~warner/Bufs/"


class Device(NamedTuple):
    """A device, and what one of its ports can queue (C5).

    Attributes
    ----------
    name
        Of the device, and which limit it is.
    buffer_bytes
        What one port's queue may take.
    link_rate_bps
        Of the port.
    source
        Page under `SOURCES` that states the buffer.
    """

    name: str
    buffer_bytes: int
    link_rate_bps: int
    source: str

    @property
    def delay_ms(self) -> float:
        """Buffer over capacity."""
        return 8e3 * self.buffer_bytes / self.link_rate_bps


DEVICES = (
    Device("Juniper QFX3500, whole buffer", 9_360_000, 10**10, "QFX3500.html"),
    Device("Arista 7500R, limit of a queue", 500_000_000, 10**11, "arista7500R.html"),
    Device("Arista 7500R, limit of a queue", 50_000_000, 10**10, "arista7500R.html"),
    Device("Arista 7500R, limit of a queue", 12_500_000, 10**9, "arista7500R.html"),
    Device("Arista 7500R2, whole buffer of a chip", 4 * 10**9, 10**11, "7500R2.html"),
    Device("Arista 7280R3, whole buffer of a chip", 8 * 10**9, 10**11, "7280R3.html"),
    Device("Arista 7280R3, whole buffer of a chip", 8 * 10**9, 10**10, "7280R3.html"),
)


# ---- The rules ----------------------------------------------------------------------------------

#: C1: "several hundred ms".
SEVERAL_HUNDRED_MS = 200.0
#: C2: "many flows share the bottleneck".
MANY_FLOWS = 16
#: C2: use "near 100 %".
UTILIZATION = 0.97
#: C3: the model orders flows by throughput.
CORRELATION = 0.9
#: C5: "hundreds of ms" and "tens of seconds".
HUNDREDS_OF_MS, TENS_OF_S_MS = (100.0, 1000.0), 10_000.0


def check_findings(results: Results[Point, Measured]) -> list[Finding]:
    """Check C1 to C5."""
    return [c1(results), c2(results), c3(results), c4(results), c5()]


def c1(results: Results[Point, Measured]) -> Finding:
    """Many BBR flows' buffering delay.

    The report does not say when its flows start. As for saito2022, both ends of 0.1 to 0.4 s
    decide; other start times, and BBR as Linux 4.15 had it, are reported.
    """
    alone = alone_of(results)
    checked = {
        (version, spread): [check_c1(run.queue_delay_p95_ms) for run in alone.measured[point]]
        for version, cc in C1_VERSIONS.items()
        for spread in C1_SPREADS
        if (point := Alone(cc, C1_FLOWS, DEEP_BDP, spread)) in alone
    }
    first = next(iter(C1_VERSIONS))
    return Finding(
        "C1",
        "128 BBR flows sharing 100 Mbit/s reach several hundred ms of buffering delay, because the "
        "bottleneck bandwidth is over-estimated when many flows share it.",
        tuple((check,) for s in ESTIMATED_SPREADS for check in checked.get((first, s), [])),
        variations=tuple(
            Variation(
                f"{version}, all flows start within {spread}",
                tuple(evaluate([check]) for check in checks),
                f"95th percentile {np.mean([check.values[0] for check in checks]):.0f} ms",
            )
            for (version, spread), checks in checked.items()
        ),
    )


def check_c1(delay_p95_ms: float) -> Check:
    """Check the buffering delay that many BBR flows reach."""
    return Check(
        f"{C1_FLOWS} flows in {DEEP_BDP:g} BDP: 95th percentile of the queueing delay "
        f"{SEVERAL_HUNDRED_MS:g} ms or more",
        "{:.0f} ms",
        (delay_p95_ms,),
        delay_p95_ms >= SEVERAL_HUNDRED_MS,
    )


def c2(results: Results[Point, Measured]) -> Finding:
    """L3DR."""
    points = [
        Alone(cc, n, buffer)
        for cc in ("l3dr", "bbr")
        for n in FLOW_COUNTS
        for buffer in C2_BUFFERS_BDP
        if n >= MANY_FLOWS
    ]
    repetitions = alone_of(results).repetitions(points)
    return Finding(
        "C2",
        "L3DR keeps buffering delay and drop rate low when many flows share the bottleneck: "
        "smaller buffering delay than BBR, use near 100 %, excellent fairness.",
        tuple(c2_checks(each) for each in repetitions),
        note="L3DR is a reconstruction (docs/l3dr.md).",
    )


def c2_checks(seen: Mapping[Alone, AloneMeasured]) -> tuple[Check, ...]:
    """Check one repetition of C2, in both buffers."""
    wanted = [n for n in FLOW_COUNTS if n >= MANY_FLOWS]
    checks = []
    for buffer in C2_BUFFERS_BDP:
        counts = [n for n in wanted if Alone("l3dr", n, buffer) in seen]
        pairs = [(seen[Alone("l3dr", n, buffer)], seen[Alone("bbr", n, buffer)]) for n in counts]

        def clause(
            expected: str,
            form: str,
            of: Callable[[AloneMeasured], float],
            holds: Callable[[float, float], bool],
            pairs: Sequence[tuple[AloneMeasured, AloneMeasured]] = pairs,
            counts: Sequence[int] = counts,
            buffer: float = buffer,
        ) -> Check:
            values = [(of(ours), of(bbr)) for ours, bbr in pairs]
            return at_every(
                f"{buffer:g} BDP, {MANY_FLOWS} flows and more: {expected}",
                counts,
                values,
                form,
                [holds(ours, bbr) for ours, bbr in values],
                complete=counts == wanted,
                unit="flows",
            )

        checks += [
            clause("L3DR's mean queueing delay below BBR's", "{:.1f} and {:.1f} ms",
                   lambda run: run.queue_delay_ms, lambda ours, bbr: ours < bbr),
            # A drop rate of 0 cannot be undercut.
            clause("L3DR's drop rate below BBR's, or 0 like it", "{:.3f} and {:.3f} %",
                   lambda run: run.drop_pct, lambda ours, bbr: ours < bbr or ours == bbr == 0),
            clause(f"utilisation with L3DR {UTILIZATION:.0%} or more", "{:.1%} (BBR {:.1%})",
                   lambda run: run.utilization, lambda ours, _: ours >= UTILIZATION),
            clause("Jain's index (last 60 s) with L3DR at or above BBR's", "{:.3f} and {:.3f}",
                   lambda run: run.jain, lambda ours, bbr: ours >= bbr),
        ]  # fmt: skip
    return tuple(checks)


def c3(results: Results[Point, Measured]) -> Finding:
    """The CUBIC model."""
    intervals = intervals_of(results)
    complete = len(intervals.measured) == INTERVAL_RUNS
    return Finding(
        "C3",
        "A CUBIC flow's throughput follows from the interval between its packet-loss detections.",
        tuple(
            c3_checks([flow for run in each.values() for flow in run], complete=complete)
            for each in intervals.repetitions()
        ),
        note="The model is a reconstruction (docs/models.md); the report claims no accuracy.",
    )


def c3_checks(flows: Sequence[IntervalMeasured], *, complete: bool = True) -> tuple[Check, ...]:
    """Check one repetition of C3."""
    model = np.array([flow.predict_pkts_per_s() for flow in flows])
    seen = np.array([flow.rate_pkts_per_s for flow in flows])
    correlation = spearman(model.tolist(), seen.tolist()) if flows else 0.0
    error = float(np.median(np.abs(model / seen - 1))) if flows else float("nan")
    return (
        Check(
            f"the model orders flows by their throughput: rank correlation {CORRELATION:g} or more",
            "{:.2f} over {:.0f} flows, the throughput {:.0%} off in the median",
            (correlation, len(flows), error),
            correlation >= CORRELATION if complete else None,
        ),
    )


def c4(results: Results[Point, Measured]) -> Finding:
    """BBR-FCA against CUBIC."""
    mixed = mixed_of(results)
    rivals = ("bbr_fca", *BBR_FCA_RIVALS)
    complete = all(
        Mixed(cc, mix, b) in mixed for cc in rivals for mix in MIXES for b in BUFFERS_BDP
    )
    repetitions = [
        {
            cc: unfairness([share for point, share in each.items() if point.cc == cc])
            for cc in rivals
        }
        for each in mixed.repetitions()
    ]
    return Finding(
        "C4",
        "BBR-FCA is fairer to CUBIC than BBR and existing variants of it.",
        tuple(c4_checks(each, complete=complete) for each in repetitions),
        note="BBR-FCA is a reconstruction (docs/bbr-fca.md).",
    )


def c4_checks(unfair: Mapping[str, float], *, complete: bool = True) -> tuple[Check, ...]:
    """Check one repetition of C4, by the factor that each is off a fair share."""
    return tuple(
        Check(
            f"a BBR-FCA flow's share nearer to a fair one than that of a flow of {cc}",
            "off by a factor of {:.2f}, and of {:.2f}",
            (unfair["bbr_fca"], other),
            unfair["bbr_fca"] < other if complete else None,
        )
        for cc, other in unfair.items()
        if cc != "bbr_fca"
    )


def c5() -> Finding:
    """The longest that real devices can delay a packet."""
    delays_ms = sorted(device.delay_ms for device in DEVICES)
    low, high = HUNDREDS_OF_MS
    hundreds = [delay for delay in delays_ms if low <= delay < high]
    return Finding(
        "C5",
        "The maximum buffering delay of real routers and switches runs from hundreds of ms to "
        "tens of seconds.",
        (
            (
                Check(
                    "a device whose buffer can delay a packet for hundreds of ms",
                    "{:.0f}, of {:.0f} devices",
                    (len(hundreds), len(delays_ms)),
                    bool(hundreds),
                ),
                Check(
                    "a device whose buffer can delay a packet for 10 s or more",
                    "at most {:.1f} s",
                    (delays_ms[-1] / 1e3,),
                    delays_ms[-1] >= TENS_OF_S_MS,
                ),
            ),
        ),
        note="Not measured: from the buffers that the table of figure 1 lists. The report's own "
        "devices are not in its text.",
    )


def unfairness(of_fair: Sequence[float]) -> float:
    """Return the geometric mean of how far shares are off a fair one, either way: 1 is fair."""
    shares = np.asarray(of_fair, dtype=np.float64)
    if np.any(shares <= 0):
        return float("inf")
    return float(np.exp(np.mean(np.abs(np.log(shares)))))


def model_checks() -> tuple[ModelCheck, ...]:
    """Return what models predict about C1 and C4; C3 is about a model, and L3DR of C2 has none."""
    return many_bbr(), bbr_fca()


def many_bbr() -> ModelCheck:
    """Many BBR flows' buffering delay; the model's does not vary, so its mean is any percentile."""
    model = MODELS["bbr-many"]
    predicted = model.predict(scenario(Alone("bbr", C1_FLOWS, DEEP_BDP), 1))
    delay_ms = predicted.metric("queue_delay_mean_us") / 1e3
    return ModelCheck("C1", model.label, (check_c1(delay_ms),))


def bbr_fca() -> ModelCheck:
    """BBR-FCA's share compared with BBR's, against CUBIC."""
    unfair = {
        cc: unfairness([of_fair(name, Mixed(cc, mix, b)) for mix in MIXES for b in BUFFERS_BDP])
        for name, cc in (("bbr-fca", "bbr_fca"), ("ware", "bbr"))
    }
    return ModelCheck("C4", f"{MODELS['bbr-fca'].label}; {MODELS['ware'].label}", c4_checks(unfair))


def of_fair(model: str, point: Mixed) -> float:
    """Return what a rival's flow gets by a model, over a fair share."""
    rival = MODELS[model].predict(scenario(point, 1)).metric("share", 0)
    return rival / (point.mix[0] / sum(point.mix))


# ---- Figures and tables -------------------------------------------------------------------------

#: What C2 is about: (name, heading, form, from a run).
ALONE_METRICS: tuple[tuple[str, str, str, Callable[[AloneMeasured], float]], ...] = (
    ("delay", "queueing delay (ms)", "{:.1f}", lambda run: run.queue_delay_ms),
    ("drops", "dropped (%)", "{:.3f}", lambda run: run.drop_pct),
    ("utilisation", "utilisation (%)", "{:.1f}", lambda run: 100 * run.utilization),
    ("fairness", "Jain's index, last 60 s", "{:.3f}", lambda run: run.jain),
)
#: Of the queueing delay of flows of one kind.
DELAY_MODELS = {"bbr": "bbr-many", "cubic": "cubic-interval"}
#: The report's figure 3 is of 10 BDP, figure 4 of 1 BDP.
FIGURE_OF_BUFFER = {10.0: "3", 1.0: "4"}


def draw_figures(results: Results[Point, Measured]) -> list[Figure]:
    """Draw figures 2 to 6."""
    alone, mixed = alone_of(results), mixed_of(results)
    figures = [draw_many_bbr(alone)]
    for buffer, number in FIGURE_OF_BUFFER.items():
        figures += [draw_alone(alone, number, buffer, metric) for metric in ALONE_METRICS]
    intervals = draw_intervals(intervals_of(results))
    return [*figures, intervals, *(draw_mixed(mixed, mix) for mix in mixes(mixed))]


def draw_many_bbr(alone: Results[Alone, AloneMeasured]) -> Figure:
    """Draw BBR's buffering delay against the number of flows."""
    counts = flow_counts(alone)
    points = [Alone("bbr", n, DEEP_BDP) for n in counts]
    return Figure(
        name="figure-2",
        title="Figure 2: buffering delay of BBR flows",
        x_label="BBR flows",
        y_label="mean queueing delay (ms)",
        curves=(
            alone.curve("bbr", counts, points, lambda run: run.queue_delay_ms),
            *delay_models(("bbr",), counts, DEEP_BDP),
        ),
        caption=f"100 Mbit/s, {DEEP_BDP:g} BDP. {alone.bars(*points)}",
        x_ticks=tuple(float(n) for n in counts),
    )


def draw_alone(
    alone: Results[Alone, AloneMeasured],
    number: str,
    buffer: float,
    metric: tuple[str, str, str, Callable[[AloneMeasured], float]],
) -> Figure:
    """Draw one of C2's metrics against the number of flows."""
    name, label, _, what = metric
    counts = flow_counts(alone)
    points = {cc: [Alone(cc, n, buffer) for n in counts] for cc in ALONE_CCS}
    curves = [alone.curve(cc, counts, points[cc], what) for cc in ALONE_CCS]
    curves += delay_models(ALONE_CCS, counts, buffer) if name == "delay" else []
    return Figure(
        name=f"figure-{number}-{name}",
        title=f"Figure {number}: {label}, buffer {buffer:g} BDP",
        x_label="flows",
        y_label=label,
        curves=tuple(curves),
        caption="100 Mbit/s, flows of one kind. L3DR is a reconstruction. "
        + alone.bars(*points["bbr"]),
        x_ticks=tuple(float(n) for n in counts),
    )


def delay_models(ccs: Sequence[str], counts: Sequence[int], buffer: float) -> list[Curve]:
    """Return what models say of the queueing delay of flows of one kind."""
    curves = [
        overlay(
            MODELS[DELAY_MODELS[cc]],
            [scenario(Alone(cc, n, buffer), 1) for n in counts],
            counts,
            lambda prediction: prediction.metric("queue_delay_mean_us") / 1e3,
            style_of(cc).color,
            optional=True,
        )
        for cc in ccs
        if cc in DELAY_MODELS
    ]
    return [curve for curve in curves if curve is not None]


def draw_intervals(intervals: Results[Interval, list[IntervalMeasured]]) -> Figure:
    """Draw throughput against loss interval: each flow, and the model at the mean RTT."""
    curves = []
    for rtt, color in zip(
        sorted({point.rtt for point in intervals.measured}),
        ("#0072b2", "#d55e00", "#009e73"),
        strict=False,
    ):
        flows = sorted(
            (
                flow
                for point in intervals.measured
                if point.rtt == rtt
                for flow in flows_of(intervals, point)
            ),
            key=lambda flow: flow.interval_s,
        )
        x = np.array([flow.interval_s for flow in flows])
        y = np.array([flow.rate_pkts_per_s for flow in flows])
        model = np.array([flow.predict_pkts_per_s() for flow in flows])
        curves += [
            Curve(f"simulated, {rtt}", x, y, color, "o", points=True),
            Curve(f"model, {rtt}", x, model, color, "o", points=True, hollow=True),
        ]
    return Figure(
        name="figure-5",
        title="Figure 5: CUBIC's throughput against its loss interval",
        x_label="time between losses (s)",
        y_label="throughput (packets/s)",
        curves=tuple(curves),
        caption="Each point is a flow, at its mean interval. The model takes the flow's intervals "
        "in their order, its mean and its lowest RTT. It is a reconstruction.",
    )


def flows_of(
    intervals: Results[Interval, list[IntervalMeasured]], point: Interval
) -> list[IntervalMeasured]:
    """Return the flows of all seeds."""
    return [flow for run in intervals.measured[point] for flow in run]


def mixes(mixed: Results[Mixed, float]) -> list[tuple[int, int]]:
    """Return the mixes that were run."""
    return sorted({point.mix for point in mixed.measured})


def buffers(mixed: Results[Mixed, float]) -> list[float]:
    """Return the buffers that were run against CUBIC."""
    return sorted({point.buffer_bdp for point in mixed.measured})


def draw_mixed(mixed: Results[Mixed, float], mix: tuple[int, int]) -> Figure:
    """Draw a rival's share over a fair one, against buffer size."""
    sizes = buffers(mixed)
    fair = Curve("fair", np.array(sizes), np.ones(len(sizes)), "#6c6c6c", dashed=True)
    points = {cc: [Mixed(cc, mix, buffer) for buffer in sizes] for cc in RIVALS}
    curves = [mixed.curve(cc, sizes, points[cc], float) for cc in RIVALS]
    rival, cubic = mix
    return Figure(
        name=f"figure-6-{rival}to{cubic}",
        title=f"Figure 6: share of a flow against CUBIC, {rival} to {cubic}",
        x_label="buffer (BDP)",
        y_label="goodput over a fair share",
        curves=(*curves, fair, *share_models(mix, sizes)),
        caption="50 Mbit/s, 300 s. BBR-FCA is a reconstruction. " + mixed.bars(*points["bbr"]),
        x_ticks=tuple(sizes),
    )


def share_models(mix: tuple[int, int], sizes: Sequence[float]) -> list[Curve]:
    """Return what models say of a rival's share over a fair one."""
    curves = [
        overlay(
            MODELS[name],
            [scenario(Mixed(cc, mix, buffer), 1) for buffer in sizes],
            sizes,
            lambda prediction: prediction.metric("share", 0) / (mix[0] / sum(mix)),
            style_of(cc).color,
            of=style_of(cc).label,
            optional=True,
        )
        for name, cc in (("ware", "bbr"), ("bbr-fca", "bbr_fca"))
    ]
    return [curve for curve in curves if curve is not None]


def make_tables(results: Results[Point, Measured]) -> list[ResultTable]:
    """Tabulate C2, C3 and C4, and C5's devices."""
    alone, mixed = alone_of(results), mixed_of(results)
    return [
        *(alone_table(alone, buffer) for buffer in (10.0, 1.0)),
        interval_table(intervals_of(results)),
        *(mixed_table(mixed, mix) for mix in mixes(mixed)),
        devices_table(),
    ]


def alone_table(alone: Results[Alone, AloneMeasured], buffer: float) -> ResultTable:
    """Tabulate all of C2's metrics in one buffer."""
    rows = []
    for n in flow_counts(alone):
        cells = [
            " / ".join(form.format(alone.mean(Alone(cc, n, buffer), what)) for cc in ALONE_CCS)
            for _, _, form, what in ALONE_METRICS
        ]
        verdict = alone.verdict(*(Alone(cc, n, buffer) for cc in ALONE_CCS))
        rows.append((str(n), *cells, verdict))
    names = " / ".join(style_of(cc).label for cc in ALONE_CCS)
    return ResultTable(
        title=f"Flows of one kind, 100 Mbit/s, {buffer:g} BDP: {names}",
        columns=("flows", *(heading for _, heading, _, _ in ALONE_METRICS), "verdict"),
        rows=tuple(rows),
    )


def interval_table(intervals: Results[Interval, list[IntervalMeasured]]) -> ResultTable:
    """Tabulate C3: means over the flows of each point."""
    rows = []
    for point in intervals.measured:
        flows = flows_of(intervals, point)
        if not flows:
            rows.append((point.rtt, str(point.flows), f"{point.buffer_bdp:g}", "–", "–", "–", "–"))
            continue
        seen = float(np.mean([flow.rate_pkts_per_s for flow in flows]))
        model = float(np.mean([flow.predict_pkts_per_s() for flow in flows]))
        interval = float(np.mean([flow.interval_s for flow in flows]))
        rows.append(
            (
                point.rtt, str(point.flows), f"{point.buffer_bdp:g}", f"{interval:.2f}",
                f"{seen:.0f}", f"{model:.0f}", f"{model / seen - 1:+.0%}",
            )
        )  # fmt: skip
    return ResultTable(
        title="CUBIC alone, 50 Mbit/s: throughput from the loss interval",
        columns=(
            "base RTT", "flows", "buffer (BDP)", "interval (s)", "simulated (packets/s)",
            "model (packets/s)", "model off by",
        ),
        rows=tuple(rows),
    )  # fmt: skip


def mixed_table(mixed: Results[Mixed, float], mix: tuple[int, int]) -> ResultTable:
    """Tabulate C4's shares of one mix."""
    rows = []
    for buffer in buffers(mixed):
        points = [Mixed(cc, mix, buffer) for cc in RIVALS]
        rows.append(
            (
                f"{buffer:g}",
                *(f"{mixed.mean(point, float):.2f}" for point in points),
                mixed.verdict(*points),
            )
        )
    rival, cubic = mix
    return ResultTable(
        title=f"Goodput over a fair share, {rival} to {cubic} CUBIC",
        columns=("buffer (BDP)", *(style_of(cc).label for cc in RIVALS), "verdict"),
        rows=tuple(rows),
    )


def devices_table() -> ResultTable:
    """Tabulate the devices, shortest delay first."""
    return ResultTable(
        title="Figure 1: maximum buffering delay of real devices (not measured: buffer / capacity)",
        columns=("device", "buffer (MB)", "port (Gbit/s)", "delay (ms)", "buffer stated in"),
        rows=tuple(
            (
                device.name,
                f"{device.buffer_bytes / 1e6:g}",
                f"{device.link_rate_bps / 1e9:g}",
                f"{device.delay_ms:.3g}" if device.delay_ms < 1000 else f"{device.delay_ms:.0f}",
                SOURCES + device.source,
            )
            for device in sorted(DEVICES, key=lambda device: device.delay_ms)
        ),
    )


# ---- The paper ----------------------------------------------------------------------------------

PAPER = Paper(
    name="kakenhi2024",
    title="An ideal congestion control: no buffering delay and 100 % utilisation",
    authors="Utsumi, Hasegawa (KAKENHI 20K11786, final report)",
    setup=(
        ("Alone (C1, C2)", "1 to 128 flows of one kind, 100 Mbit/s, 32, 10 and 1 BDP, 120 s"),
        (
            "Loss intervals (C3)",
            "1, 4, 16 CUBIC flows, 50 Mbit/s, 20 to 80 ms, 0.5 to 8 BDP, 300 s",
        ),
        ("Against CUBIC (C4)", "1:1, 1:4, 4:1, 4:4 flows, 50 Mbit/s, 0.5 to 64 BDP, 300 s"),
        ("Base RTT", "40 ms where nothing else is said"),
        ("Queueing delay", "mean over all packets, start-up included"),
    ),
    departures=(
        "The report's papers on L3DR and BBR-FCA could not be had in full: both congestion "
        "controls and the CUBIC model are reconstructions from the report's words (docs/l3dr.md, "
        "docs/bbr-fca.md, docs/models.md).",
        "Base RTT, flow counts other than 128, and the rates of C3 and C4 are not in the report's "
        "text; they are those of the other papers.",
        "Drawn but not in the report: BBRv3 as of the IETF draft.",
    ),
    points=grid(
        FLOW_COUNTS, INTERVAL_RTTS, MIXES, BUFFERS_BDP, INTERVAL_BUFFERS_BDP,
        [(cc, spread) for cc in C1_VERSIONS.values() for spread in C1_SPREADS],
    ),
    quick_points=grid(
        QUICK_FLOW_COUNTS, ("40ms",), ((1, 1), (4, 4)), QUICK_BUFFERS_BDP, (1.0, 4.0),
        [("bbr", spread) for spread in ESTIMATED_SPREADS],
    ),
    quick_note=(
    "Quick: 1, 16 and 128 flows of each alone; CUBIC's loss intervals at 40 ms and two buffers; "
    "against CUBIC the mixes 1:1 and 4:4 at 1, 4 and 16 BDP. A clause about runs that are missing "
    "is not decided, unless one that is there violates it."
    ),
    run_name=run_name,
    scenario=scenario,
    measure=measure,
    findings=check_findings,
    tables=make_tables,
    figures=draw_figures,
    default_seeds=default_seeds,
    model_checks=model_checks,
)  # fmt: skip
