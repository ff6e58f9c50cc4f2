"""A result of each kind, small; those of the kernel are fabricated."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

import dumbbell
from dumbbell import Group, Link, Run, Scenario
from dumbbell.emulation.scenario import emulated_scenario
from tests.python.conftest import fabricate

__all__ = ["KINDS"]

TIME = "2s"


def simulated(place: Path) -> None:
    dumbbell.run(["copa", "cubic"], time=TIME).save(place)


def kernel(place: Path) -> None:
    run = dumbbell.run(["cubic", "reno"], time=TIME)
    in_clothes_of(run.scenario, run).save(place)


def programs(place: Path) -> None:
    """A group that runs a program beside one of ours."""
    asked = Scenario([Group(client="curl http://server/", server="nginx"), "cubic"], time=TIME)
    run = dumbbell.run(["reno", "cubic"], time=TIME)
    in_clothes_of(asked, run, programs=True).save(place)


def emulated(place: Path) -> None:
    """A program that sends upwards, beside CUBIC each way."""
    asked = emulated_scenario(
        {"rate": "50mbit", "rtt": "40ms"},
        client=["python3", "rtc.py", "send", "server"],
        competitors=["cubic:2"],
        competitors_up=["cubic"],
    ).replace(time=TIME)
    ours = asked.replace(groups=[group_of_ours(group) for group in asked.groups])
    in_clothes_of(asked, dumbbell.run(ours), programs=True).save(place)


def emulated_alone(place: Path) -> None:
    """A program that sends nothing that is counted."""
    asked = emulated_scenario({}, client=["true"]).replace(time=TIME)
    ours = asked.replace(groups=[group_of_ours(group) for group in asked.groups])
    run = in_clothes_of(asked, dumbbell.run(ours), programs=True)
    run.save(place)


def applications(place: Path) -> None:
    groups = [
        Group("cubic", traffic="poisson:load=30%,size=20kB"),
        Group("cubic", traffic="page"),
        Group("cubic", traffic="datagram:rate=64kbit"),
    ]
    dumbbell.run(Scenario(groups, rate="10mbit", time=TIME)).save(place)


def many_links(place: Path) -> None:
    links = [Link(name, rate="10mbit") for name in ("first", "second", "third")]
    groups = [Group("cubic", route=["first", "second"]), Group("bbr", route=["second", "third"])]
    dumbbell.run(Scenario(groups, links=links, time=TIME)).save(place)


def captured(place: Path) -> None:
    file = place.with_suffix(".pcapng")
    dumbbell.run(["cubic"], time=TIME, capture=file).save(place)


def without_series(place: Path) -> None:
    dumbbell.run(["cubic"], time=TIME, sample="0s").save(place)


#: What makes a result of each kind in a directory.
KINDS: Mapping[str, Callable[[Path], None]] = {
    each.__name__: each
    for each in (
        simulated, kernel, programs, emulated, emulated_alone, applications, many_links, captured,
        without_series,
    )
}  # fmt: skip


def group_of_ours(group: Group) -> Group:
    """Return a group that the simulator runs in the place of one of programs."""
    if group.client is None:
        return group
    return Group("reno", route=group.route or (), back=group.back or ())


def in_clothes_of(scenario: Scenario, run: Run, *, programs: bool = False) -> Run:
    """Dress a simulated run as one of the kernel's, of this scenario."""
    summary: dict[str, Any] = fabricate(json.loads(json.dumps(run.summary)))
    tables = {name: run.tables[name] for name in run.tables}
    if programs:
        flow = next(flow for flow in summary["flows"] if flow["group"] == 0)
        # All that it received, it received upwards; nothing is known of its windows.
        flow |= {"cc": "linux/cubic", "sent_pkts": 8, "retransmitted_pkts": 0, "dropped_pkts": 0}
        flow |= {"arrived_pkts": 8, "on_path_pkts": 0}
        flow["requests"] = {
            "received_bytes": flow["received_bytes"], "throughput_bps": flow["throughput_bps"],
            "sent_pkts": 1000, "retransmitted_pkts": 3, "dropped_pkts": 3, "arrived_pkts": 997,
            "on_path_pkts": 0, "rto_count": None,
        }  # fmt: skip
        summary["congestion_controls"][0] |= {"cc": "linux/cubic", "params": {}}
        summary["programs"] = [
            {
                "group": 0, "side": "client", "command": list(scenario.groups[0].client or ()),
                "start_us": 0, "end_us": 2_000_000, "exit_code": 0, "signal": None,
                "was_ended": False, "cpu_us": 1, "run_delay_us": 1, "output": "",
            }
        ]  # fmt: skip
        tables = {name: table for name, table in tables.items() if not name.startswith("state-0")}
        tables["flows"] = without_windows(tables["flows"], flow["flow"])
    return Run(scenario, summary, tables)


def without_windows(table: pa.Table, flow: int) -> pa.Table:
    """Forget what sockets of programs do not say."""
    is_its = [each == flow for each in table["flow"].to_pylist()]
    for name in ("cwnd_pkts", "inflight_pkts"):
        at = table.schema.get_field_index(name)
        values = [
            None if mine else value
            for mine, value in zip(is_its, table[name].to_pylist(), strict=True)
        ]
        field = table.schema.field(name).with_nullable(True)
        table = table.set_column(at, field, pa.array(values, field.type))
    return table
