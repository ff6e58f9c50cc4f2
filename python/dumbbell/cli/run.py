"""`dumbbell run`: one scenario, its numbers in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from dumbbell.base.errors import ScenarioError
from dumbbell.cli.link_table import percent, print_links
from dumbbell.cli.media_table import print_media
from dumbbell.cli.program_table import print_programs
from dumbbell.cli.reference_table import print_references
from dumbbell.cli.transfer_table import print_transfers
from dumbbell.cli.watch import EveryOption, Watch, WatchOption
from dumbbell.run import Run, run
from dumbbell.run.directions import Way, has_both_ways, program_ways, ways_of
from dumbbell.run.directory import check_place
from dumbbell.run.engine import KERNEL, SIMULATOR, check_engine
from dumbbell.run.groups import both_ways
from dumbbell.run.guest import UML
from dumbbell.run.programs import has_no_tcp
from dumbbell.run.verdict import INVALID
from dumbbell.scenario import Scenario
from dumbbell.scenario.describe_path import describe_path
from dumbbell.terminal import options
from dumbbell.terminal.capture import (
    CaptureOptions,
    save_with_capture,
    tidying,
)
from dumbbell.terminal.console import out, paint, print_json, print_line, progress_bar, show_page
from dumbbell.terminal.field_options import Fields, with_field_options
from dumbbell.terminal.real_time import doing
from dumbbell.terminal.scenario_options import base_scenario, single_values
from dumbbell.terminal.table import print_table

if TYPE_CHECKING:
    from dumbbell.records.rows import EmulationRecord, FlowRecord
    from dumbbell.run.groups import GroupRecord

__all__ = ["print_run", "run_command"]

#: What the help ends with.
EXAMPLES = (
    "dumbbell run copa cubic --rate 50mbit --rtt 40ms --buffer 2bdp --time 60s",
    "dumbbell run bbr copa:mode_window_rtts=5 --flows 2 --out results/bbr-copa",
    "dumbbell run cubic --upload cubic --rate 20mbit --up-rate 1mbit",
    "dumbbell run cubic bbr --traffic 'poisson:load=30%,size=pareto(1.2;10kB),bulk'",
    "dumbbell run linux/cubic linux/reno --engine kernel --time 10s",
)

#: With more flows than this only the groups' table is printed.
MAX_FLOW_ROWS = 16


@with_field_options
def run_command(
    *,
    what: options.What,
    fields: Fields,
    name: options.Names = None,
    settings: options.Settings = None,
    upload: options.Uploads = None,
    linux_tree: options.LinuxTreeOption = None,  # noqa: ARG001 -- its callback acts on it
    unsafe: options.UnsafeNoSandbox = False,  # noqa: ARG001 -- its callback acts on it
    engine: options.Engine = SIMULATOR,
    live: options.Live = False,
    watch: WatchOption = None,
    every: EveryOption = "1s",
    json: options.Json = False,
    show: options.Show = False,
    out_dir: options.Out = None,
    without_sources: options.WithoutSources = False,
    capture: CaptureOptions,
) -> int:
    """Run congestion control algorithms on a network, or a scenario file.

    Exits with 1 if the verdict is INVALID; do not use the result then.
    """
    scenario = base_scenario(what, single_values(fields, "run"), settings, upload, name)
    check_metrics(scenario)
    captures = capture.captures(out_dir)
    check_engine(engine, scenario)
    watched = None if watch is None else Watch.parse(watch, every, scenario)
    if watched and json:
        raise ScenarioError("`--watch` prints a table, which `--json` does not; remove one")
    if live and engine != KERNEL:
        raise ScenarioError("`--live` shows a run in real time; add `--engine kernel`")
    if out_dir is not None:
        check_place(out_dir)
    in_virtual_time = engine != KERNEL
    with tidying([out_dir] if captures and out_dir else []):
        captured = captures.of(out_dir) if captures and out_dir else None
        if live:
            from dumbbell.cli.live import run_live

            result = run_live(scenario, captured)
        else:
            with progress_bar(f"{doing(engine)} {scenario.time}", is_even=in_virtual_time) as bar:
                result = run(scenario, engine=engine, on_progress=bar.at, capture=captured)
        # First, so that a closed pipe does not take a finished run along; nor does a full disk.
        try:
            if out_dir is not None:
                save_with_capture(result, out_dir, texts=not without_sources)
        finally:
            print_result(result, watched, json=json)
        if out_dir is not None and not json:
            print_line(f"saved in {out_dir}")
        if show:
            show_run(result, out_dir)
    return 1 if result.verdict.status == INVALID else 0


def print_result(result: Run, watched: Watch | None, *, json: bool) -> None:
    """Print a run, as JSON or for a person."""
    if json:
        print_json({**result.to_dict(), **answers_of(result)})
        return
    if watched is not None:
        watched.print(result)
    print_run(out(), result)


def answers_of(result: Run) -> dict[str, Any]:
    """Return what a document has of a run's answers."""
    if not any(group.metric for group in result.scenario.groups):
        return {}
    from dumbbell.compare.answers import answers_key, run_answers  # metrics need numpy

    return answers_key(run_answers(result))


def check_metrics(scenario: Scenario) -> None:
    """Refuse metrics of groups that there are not, before anything runs."""
    if any(group.metric for group in scenario.groups):
        from dumbbell.metrics import judged_by  # it needs numpy

        judged_by(scenario)


def show_run(result: Run, out_dir: Path | None) -> None:
    """Write a run's page, to a temporary file if the run is not saved, and open it."""
    from tempfile import mkdtemp

    from dumbbell.report.source import sweep_of_run
    from dumbbell.report.sweep_page import write_sweep_report

    place = out_dir or Path(mkdtemp(prefix="dumbbell-"))
    show_page(write_sweep_report(sweep_of_run(result), place / "report.html"))


def print_run(console: Console, result: Run) -> None:
    """Print a run's result for a person."""
    scenario = result.scenario
    console.print(
        f"{describe_path(scenario)}, {scenario.time}, seed {scenario.seed}{engine_note(result)}",
        markup=False,
        soft_wrap=True,
    )
    print_groups(result)
    print_transfers(result)
    print_media(result)
    print_programs(result)
    print_references(result)
    if 1 < len(result.summary["flows"]) <= MAX_FLOW_ROWS:
        print_flows(result)
    print_links(console, result)
    console.print(f"fairness     {fairness_line(result)}", markup=False)
    if result.emulation is not None:
        console.print(emulation_line(result.emulation, result.engine), markup=False, soft_wrap=True)
        if numbers := result.emulation.get("ect1_groups"):
            labels = [f"`{result.scenario.group_labels[number]}`" for number in numbers]
            console.print(rewriting_line(labels), markup=False, soft_wrap=True)
    if any(group.metric for group in scenario.groups):
        from dumbbell.cli.answers import print_judged  # metrics need numpy

        print_judged(result)
    print_verdict(console, result)


def fairness_line(result: Run) -> str:
    """Write how equally flows shared: each way of programs whose data went both.

    And over each link, of flows in opposite directions, which did not compete.
    """
    if not has_both_ways(result):
        line = f"Jain's index {result.jain:.3f} over all flows"
        ways = main_ways(result)
        links = [link for way in ways for link in way.links]
        if len(ways) < 2 or len(links) > len(set(links)):
            return line
        words = [f"{way.jain:.3f} over {way.links[-1]}" for way in ways if way.jain is not None]
        return ", ".join([line, *words]) if words else f"{line}, which share no link"
    words = [
        f"{way.jain:.3f} {name}"
        for name, way in zip(("down", "up"), program_ways(result).values(), strict=True)
        if way.jain is not None
    ]
    return f"Jain's index {', '.join(words) or '–'}"


def main_ways(result: Run) -> list[Way]:
    """Return the ways that groups sent most of their payload: no way of requests alone."""
    most: dict[int, tuple[int, Way]] = {}
    for way in ways_of(result):
        for got in way.groups:
            if got.received_bytes > most.get(got.group, (-1, way))[0]:
                most[got.group] = (got.received_bytes, way)
    ways = [way for _, way in most.values()]
    return [way for at, way in enumerate(ways) if way not in ways[:at]]


def engine_note(result: Run) -> str:
    """Write the engine, unless it is the simulator."""
    facts = result.emulation
    return "" if facts is None else f", on Linux {facts['kernel_release']}"


def print_groups(result: Run) -> None:
    """Print a row per group."""
    each_way = has_both_ways(result)
    ways = list(program_ways(result).values()) if each_way else []
    got = (
        [f"{way}\n{unit}" for way in ("down", "up") for unit in ("Mbit/s", "%")] if each_way
        else ["goodput\nMbit/s", "per flow\nMbit/s", "share\n%"]
    )  # fmt: skip
    columns = (
        "group", "flows", *got, "RTT mean\nms", "inflight\npkts/flow", "retrans.\n%", "RTOs",
    )  # fmt: skip
    rows = []
    for group, label in zip(result.groups, result.scenario.group_labels, strict=True):
        is_program = result.scenario.groups[group["group"]].client is not None
        inflight_pkts = group["inflight_mean_pkts"] / group["flows"]
        rows.append(
            (
                label,
                str(group["flows"]),
                *(got_each_way(ways, group["group"]) if each_way else got_of(group)),
                milliseconds(group["rtt_mean_us"]),
                "–" if is_program else f"{inflight_pkts:.1f}",
                retransmissions(result, of_group(result, group["group"]), group),
                count(group["rto_count"]),
            )
        )
    print_table(
        columns, rows, optional=("RTOs", "per flow\nMbit/s", "inflight\npkts/flow", "flows")
    )


def got_of(group: GroupRecord) -> list[str]:
    """Write a group's goodput, that of a flow, and its share."""
    rates_bps = (group["goodput_bps"], group["goodput_per_flow_bps"])
    share = group["share"]
    return [
        *(f"{rate_bps / 1e6:.2f}" for rate_bps in rates_bps),
        "–" if share is None else f"{100 * share:.1f}",
    ]


def got_each_way(ways: Sequence[Way], group: int) -> list[str]:
    """Write a group's goodput and share each way; dashes where it sent nothing."""
    words: list[str] = []
    for way in ways:
        got = next((each for each in way.groups if each.group == group), None)
        words += (
            ["–", "–"] if got is None
            else [f"{got.goodput_bps / 1e6:.2f}", f"{100 * got.share:.1f}"]
        )  # fmt: skip
    return words


def of_group(result: Run, group: int) -> list[FlowRecord]:
    """Return a group's flows."""
    return [flow for flow in result.summary["flows"] if flow["group"] == group]


def retransmissions(result: Run, flows: Sequence[FlowRecord], counts: Mapping[str, Any]) -> str:
    """Write the retransmission rate of flows; a dash without TCP."""
    if all(has_no_tcp(result.scenario, flow) for flow in flows):
        return "–"
    return percent(counts["retransmitted_pkts"], counts["sent_pkts"])


def print_flows(result: Run) -> None:
    """Print a row per flow."""
    columns = (
        "flow", "goodput\nMbit/s", "RTT min\nms", "mean\nms", "p95\nms", "max\nms",
        "cwnd\npkts", "inflight\npkts", "retrans.\n%", "RTOs",
    )  # fmt: skip
    rows = []
    labels = result.scenario.group_labels
    for flow in result.summary["flows"]:
        is_program = result.scenario.groups[flow["group"]].client is not None
        rtts = [flow[f"rtt_{which}_us"] for which in ("min", "mean", "p95", "max")]
        rows.append(
            (
                f"{flow['flow']} {labels[flow['group']]}",
                f"{flow['goodput_bps'] / 1e6:.2f}",
                *(milliseconds(rtt_us) for rtt_us in rtts),
                "–" if is_program else f"{flow['cwnd_mean_pkts']:.1f}",
                "–" if is_program else f"{flow['inflight_mean_pkts']:.1f}",
                retransmissions(result, [flow], both_ways(flow) if is_program else flow),
                count(flow["rto_count"]),
            )
        )
    print_table(
        columns,
        rows,
        apart=True,
        optional=("RTOs", "max\nms", "RTT min\nms", "cwnd\npkts", "p95\nms"),
    )


def emulation_line(facts: EmulationRecord, engine: str) -> str:
    """Write in a line how well an engine kept time."""
    lateness = (
        f"lateness     p50 {facts['lateness_p50_us']:.0f} µs, p99 {facts['lateness_p99_us']:.0f} "
        f"µs, max {facts['lateness_max_us']:.0f} µs of {facts['written_pkts']:,} packets"
    )
    if engine == UML:
        return f"{lateness}, in virtual time"
    return (
        f"{lateness}; CPUs: {facts['own_cpu_cores']:.2f} used, {facts['idle_cpu_cores']:.2f} idle "
        f"of {facts['cpus']}"
    )


def rewriting_line(labels: Sequence[str]) -> str:
    """Write in a line whose packets the relay changed."""
    return (
        f"ECN          the relay turned ECT(0) of {', '.join(labels)} into ECT(1), which Linux "
        "sends only in the handshake"
    )


def print_verdict(console: Console, result: Run) -> None:
    """Print the verdict, its reasons and notes."""
    verdict = result.verdict
    console.print(f"verdict      {paint(verdict.status)}")
    for reason in verdict.reasons:
        line = f"  {reason.status.lower()}: {reason.message}"
        console.print(line, markup=False, soft_wrap=True)
    for each in verdict.notes:
        console.print(f"  note: {each.message}", markup=False, soft_wrap=True)


def milliseconds(rtt_us: float) -> str:
    """Write an RTT in ms; a dash if nothing was measured, as of datagrams."""
    return f"{rtt_us / 1e3:.1f}" if rtt_us else "–"


def count(value: float | None) -> str:
    """Write a count; a dash if the engine does not know it."""
    return "–" if value is None else f"{value:.0f}"
