"""`dumbbell model`: what should happen, by formula."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

import typer

from dumbbell.cli import options
from dumbbell.cli.axes import RANGE
from dumbbell.cli.console import out, print_json, print_table
from dumbbell.cli.lazy_command import CommandGroup, examples
from dumbbell.cli.model_answer import (
    Column,
    answer,
    answer_sawtooth,
    at_points,
    parse_losses,
    parse_times,
    source,
)
from dumbbell.cli.model_compare import compare_command
from dumbbell.cli.model_sharing import sharing_command
from dumbbell.errors import ScenarioError
from dumbbell.models import (
    MODELS,
    Bottleneck,
    Model,
    bbr_fca,
    bbr_many_flows,
    copa_equilibrium,
    cubic_interval,
    cubic_response,
    mathis1997,
    padhye1998,
    ware2019,
)
from dumbbell.quantities.quantity import Time, expand_counts

__all__ = ["model_app"]

model_app = typer.Typer(
    cls=CommandGroup,
    add_completion=False,
    help="Predict what happens at a bottleneck, with formulas from papers.",
    invoke_without_command=True,
)
model_app.command(
    "compare", epilog=examples("dumbbell model compare ware --buffer 1..8bdp --flows 1")
)(compare_command)
model_app.command("sharing", epilog=examples("dumbbell model sharing --links 1..16 --cross 4"))(
    sharing_command
)

Rates = Annotated[str, options.field_option("rate", RANGE, show_default=True)]
Rtts = Annotated[str, options.field_option("rtt", RANGE, show_default=True)]
Buffers = Annotated[str, options.field_option("buffer", RANGE, show_default=True)]
Flows = Annotated[str, options.field_option("flows", RANGE, show_default=True)]
Rivals = Annotated[str, typer.Option("--rivals", help="Flows of CUBIC: `1,4`, `1..16`.")]
Losses = Annotated[
    str | None,
    typer.Option(
        "--loss", help="Loss rates per packet: `1e-3`, `0.1%,1%`, `1e-6..1e-2` (by tens)."
    ),
]
PacketsPerAck = Annotated[
    float,
    typer.Option(
        "--packets-per-ack",
        help="Packets for which the window grows as for one: 2 for delayed ACKs counted as "
        "one each; Linux counts packets.",
        min=1,
        max=1000,
    ),
]


@model_app.callback()
def model_command(context: typer.Context, json: options.Json = False) -> int:
    """List the models."""
    if context.invoked_subcommand is not None:
        if json:
            raise ScenarioError(f"use `dumbbell model {context.invoked_subcommand} … --json`")
        return 0
    if json:
        print_json([describe(model) for model in MODELS.values()])
        return 0
    rows = [(model.name, model.title, source(model)) for model in MODELS.values()]
    print_table(("model", "what it predicts", "source"), rows, left=range(3))
    out().print(
        "`dumbbell model NAME --help` lists its options; `dumbbell model compare NAME` compares it "
        "with the simulator; `dumbbell model sharing` has the fair rates of flows over several "
        "links.",
        soft_wrap=True,
    )
    return 0


def describe(model: Model) -> dict[str, Any]:
    """Return a model as JSON lists it."""
    keys = ("name", "title", "source", "status")
    return {
        **{key: getattr(model, key) for key in keys},
        "of_scenarios": model.of_scenario is not None,
    }


@model_app.command(
    "ware", epilog=examples("dumbbell model ware --rate 50mbit --buffer 1..16bdp --flows 1,4")
)
def ware_command(
    rate: Rates = "10mbit",
    rtt: Rtts = "40ms",
    buffer: Buffers = "1..64bdp",
    flows: Flows = "1",
    burst_pkts: Annotated[
        float,
        typer.Option(
            "--burst-pkts",
            help="Packets that each BBR window has beyond twice its BDP: 3 and more in Linux, none "
            "in the paper.",
            min=0,
            max=1e6,
        ),
    ] = 0,
    json: options.Json = False,
) -> int:
    """BBR flows (--flows) against loss-based ones: Ware et al. 2019."""
    rows = at_points(rate, rtt, buffer, flows, lambda b, n: vars(ware2019.solve(b, n, burst_pkts)))
    columns = (
        Column("bbr_share_pct", "BBR's share\n%", "{:.1f}"),
        Column("loss_based_share", "p", "{:.3f}"),
        Column("rtt_est_ms", "RTT_est\nms", "{:.1f}"),
        Column("inflight_cap_pkts", "inflight cap\npkts", "{:.0f}"),
        Column("probe_time_pct", "PROBE_RTT\n% of time", "{:.1f}"),
    )
    for row in rows:
        row["bbr_share_pct"] = 100 * row["bbr_share"]
        row["probe_time_pct"] = 100 * row["probe_time_share"]
    return answer("ware", rows, columns, json=json)


@model_app.command("cubic-interval")
def cubic_interval_command(
    interval: Annotated[
        str | None,
        typer.Option(
            "--interval",
            help=f"Times between losses: `2s..16s`. {RANGE} Without them, CUBIC flows fill a "
            "drop-tail buffer.",
        ),
    ] = None,
    rate: Rates = "10mbit",
    rtt: Rtts = "40ms",
    buffer: Buffers = "1..64bdp",
    flows: Flows = "1",
    json: options.Json = False,
) -> int:
    """CUBIC's window and throughput from the time between losses (derived)."""
    if interval is None:
        return answer_sawtooth(
            "cubic-interval", rate, rtt, buffer, flows, cubic_interval.at_bottleneck, json=json
        )
    rows = []
    for round_trip in parse_times(rtt, "rtt"):
        for between in parse_times(interval, "interval"):
            t, r = between.seconds, round_trip.seconds
            rows.append(
                {
                    "rtt": str(round_trip),
                    "interval": str(between),
                    "w_max_pkts": cubic_interval.w_max_pkts(t, r),
                    "w_avg_pkts": cubic_interval.w_avg_pkts(t, r),
                    "rate_pkts_per_s": cubic_interval.rate_pkts_per_s(t, r),
                    "reno_friendly": t < cubic_interval.crossover_s(r),
                }
            )
    columns = (
        Column("w_max_pkts", "W_max\npkts", "{:.1f}"),
        Column("w_avg_pkts", "W_avg\npkts", "{:.1f}"),
        Column("rate_pkts_per_s", "throughput\npkts/s", "{:.1f}"),
        Column("reno_friendly", "Reno-friendly"),
    )
    return answer("cubic-interval", rows, columns, axes=("rtt", "interval"), json=json)


@model_app.command("cubic-response")
def cubic_response_command(
    loss: Losses = "1e-8..1e-2",
    rtt: Rtts = "100ms",
    json: options.Json = False,
) -> int:
    """CUBIC's mean window from the loss rate: RFC 9438's response function."""
    rows = [
        {
            "rtt": str(round_trip),
            "loss": p,
            "w_avg_pkts": cubic_response.response_avg_w_pkts(p, round_trip.seconds),
            "reno_w_avg_pkts": cubic_response.reno_avg_w_pkts(p),
        }
        for round_trip in parse_times(rtt, "rtt")
        for p in parse_losses(loss or "")
    ]
    columns = (
        Column("w_avg_pkts", "CUBIC's mean\nwindow, pkts", "{:.0f}"),
        Column("reno_w_avg_pkts", "Reno's\npkts", "{:.0f}"),
    )
    return answer("cubic-response", rows, columns, axes=("rtt", "loss"), json=json)


@model_app.command("mathis")
def mathis_command(
    loss: Losses = None,
    packets_per_ack: PacketsPerAck = 1,
    rate: Rates = "10mbit",
    rtt: Rtts = "40ms",
    buffer: Buffers = "1..64bdp",
    flows: Flows = "1",
    json: options.Json = False,
) -> int:
    """Reno: Mathis et al. 1997. With --loss from the loss rate, else at a drop-tail buffer."""
    if loss is None:
        return answer_sawtooth(
            "mathis", rate, rtt, buffer, flows, mathis1997.at_bottleneck, json=json
        )
    rows = []
    for round_trip in parse_times(rtt, "rtt"):
        for p in parse_losses(loss):
            mean = mathis1997.avg_w_pkts(p, packets_per_ack)
            rows.append(
                {
                    "rtt": str(round_trip),
                    "loss": p,
                    "w_max_pkts": mathis1997.peak_w_pkts(p, packets_per_ack),
                    "w_avg_pkts": mean,
                    "rate_pkts_per_s": mean / round_trip.seconds,
                }
            )
    columns = (
        Column("w_max_pkts", "W\npkts", "{:.1f}"),
        Column("w_avg_pkts", "mean window\npkts", "{:.1f}"),
        Column("rate_pkts_per_s", "throughput\npkts/s", "{:.1f}"),
    )
    return answer("mathis", rows, columns, axes=("rtt", "loss"), json=json)


@model_app.command("pftk")
def pftk_command(
    loss: Losses = "1e-5..1e-1",
    rtt: Rtts = "40ms",
    rto: Annotated[str, typer.Option("--rto", help="T0: the first RTO.")] = "200ms",
    packets_per_ack: PacketsPerAck = 1,
    json: options.Json = False,
) -> int:
    """Reno with timeouts: Padhye et al. 1998."""
    rto_s = Time.parse(rto, "rto", minimum=1).seconds
    rows = []
    for round_trip in parse_times(rtt, "rtt"):
        for p in parse_losses(loss or ""):
            arguments = (p, round_trip.seconds, rto_s, packets_per_ack)
            rows.append(
                {
                    "rtt": str(round_trip),
                    "loss": p,
                    "rate_pkts_per_s": padhye1998.rate_pkts_per_s(*arguments),
                    "approximate_rate_pkts_per_s": padhye1998.approximate_rate_pkts_per_s(
                        *arguments
                    ),
                }
            )
    columns = (
        Column("rate_pkts_per_s", "full model\npkts/s", "{:.1f}"),
        Column("approximate_rate_pkts_per_s", "approximation\npkts/s", "{:.1f}"),
    )
    return answer("pftk", rows, columns, axes=("rtt", "loss"), json=json)


@model_app.command("bbr-many")
def bbr_many_command(
    rate: Rates = "100mbit",
    rtt: Rtts = "40ms",
    buffer: Buffers = "10bdp",
    flows: Flows = "1..128",
    json: options.Json = False,
) -> int:
    """Queue of many BBR flows (derived)."""
    rows = at_points(rate, rtt, buffer, flows, lambda b, n: vars(bbr_many_flows.solve(b, n)))
    columns = (
        Column("bias", "largest rate\nover share", "{:.3f}"),
        Column("rtt_est_ms", "RTT_est\nms", "{:.1f}"),
        Column("cwnd_pkts", "cwnd\npkts", "{:.0f}"),
        Column("queue_delay_ms", "queueing delay, ms:\ntogether", "{:.1f}"),
        Column("queue_delay_unsynchronised_ms", "not\ntogether", "{:.1f}"),
        Column("overflows", "overflows"),
    )
    return answer("bbr-many", rows, columns, json=json)


@model_app.command("copa")
def copa_command(
    rate: Rates = "1gbit",
    rtt: Rtts = "40ms",
    flows: Flows = "16..128",
    inv_delta: Annotated[
        float, typer.Option("--inv-delta", help="1/δ in default mode, packets.", min=0.01, max=1e6)
    ] = copa_equilibrium.DEFAULT_INV_DELTA,
    start_inv_delta: Annotated[
        float,
        typer.Option(
            "--start-inv-delta", help="1/δ when the competitive start ends.", min=0.01, max=1e6
        ),
    ] = copa_equilibrium.START_INV_DELTA,
    json: options.Json = False,
) -> int:
    """Copa's equilibrium and swing in default mode; lock-in (derived)."""
    rows = at_points(
        rate, rtt, "64bdp", flows,
        lambda b, n: {
            **vars(copa_equilibrium.solve(b, n, inv_delta, start_inv_delta)),
            "critical_flows": copa_equilibrium.critical_flows(b, start_inv_delta),
        },
    )  # fmt: skip
    columns = (
        Column("queue_pkts", "mean queue\npkts", "{:.0f}"),
        Column("queue_delay_ms", "queueing delay\nmean ms", "{:.2f}"),
        Column("swing_ms", "largest\nms", "{:.2f}"),
        Column("period_ms", "period\nms", "{:.0f}"),
        Column("utilization", "utilisation", "{:.4f}"),
        Column("start_queue_bdp", "start wants\nBDP", "{:.2f}"),
        Column("lock_in", "locks in"),
        Column("critical_flows", "N_crit", "{:.0f}"),
    )
    return answer("copa", rows, columns, axes=("rate", "rtt", "flows"), json=json)


@model_app.command("bbr-fca")
def bbr_fca_command(
    rate: Rates = "50mbit",
    rtt: Rtts = "40ms",
    buffer: Buffers = "1..32bdp",
    flows: Flows = "1,4",
    rivals: Rivals = "1,4",
    theta: Annotated[
        float, typer.Option("--theta", help="θ: the latest loss event's weight.", min=0, max=1)
    ] = bbr_fca.DEFAULT_THETA,
    json: options.Json = False,
) -> int:
    """BBR-FCA (--flows) against CUBIC (--rivals): fixed point, stability (derived)."""
    rows = [
        {**row, "rivals": count}
        for count in expand_counts(rivals, "rivals")
        for row in at_points(
            rate, rtt, buffer, flows,
            partial(solve_fca, rivals=count, theta=theta),
        )
    ]  # fmt: skip
    columns = (
        Column("rivals", "CUBIC\nflows"),
        Column("window_pkts", "window\npkts", "{:.1f}"),
        Column("cubic_peak_pkts", "CUBIC's W_max\npkts", "{:.1f}"),
        Column("loss_interval_s", "T\ns", "{:.2f}"),
        Column("reno_friendly", "Reno-friendly"),
        Column("contraction", "left of a\ndeviation", "{:.2f}"),
        Column("theta_limit", "θ below", "{:.3f}"),
        Column("stable", "stable"),
    )
    return answer("bbr-fca", rows, columns, json=json)


def solve_fca(
    bottleneck: Bottleneck, flows: int, *, rivals: int, theta: float
) -> Mapping[str, Any]:
    """Solve BBR-FCA's model."""
    return vars(bbr_fca.solve(bottleneck, flows, rivals, theta))
