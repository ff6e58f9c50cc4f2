"""Checks the form of a summary that a process of foreign code has sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dumbbell._core import ENGINE_VERSION
from dumbbell.isolation.printable import printable
from dumbbell.isolation.protocol import BrokenAnswer
from dumbbell.run.links import STATISTICS
from dumbbell.scenario import Scenario

__all__ = ["check_summary"]

#: Largest count and largest real number: what arrays of counts take.
MAX_COUNT = 2**63 - 1
#: Longest text: a line that explains a parameter.
TEXT_LENGTH = 1024

COUNT, WHOLE, REAL, TEXT, FLAG = "count", "whole", "real", "text", "flag"

#: Keys of a flow with their types; after them those that not every run has, or that may be null.
FLOW = {
    "flow": COUNT, "group": COUNT, "cc": TEXT, "base_rtt_us": COUNT, "start_us": COUNT,
    "end_us": COUNT, "finished": FLAG, "received_bytes": COUNT, "goodput_bps": REAL,
    "throughput_bps": REAL, "rtt_mean_us": REAL, "rtt_min_us": COUNT, "rtt_p50_us": COUNT,
    "rtt_p95_us": COUNT, "rtt_p99_us": COUNT, "rtt_max_us": COUNT, "inflight_mean_pkts": REAL,
    "outstanding_mean_pkts": REAL, "cwnd_mean_pkts": REAL, "sent_pkts": COUNT,
    "retransmitted_pkts": COUNT, "dropped_pkts": COUNT, "arrived_pkts": COUNT,
    "on_path_pkts": COUNT, "spurious_retransmits": COUNT, "cwnd_limited_us": COUNT,
    "rwnd_limited_us": COUNT, "sndbuf_limited_us": COUNT,
}  # fmt: skip
FLOW_OPTIONAL = {
    "marked_pkts": COUNT, "ce_arrived_pkts": COUNT, "acks_dropped": COUNT, "lost_pkts": COUNT,
    "fast_recovery_count": COUNT,
    "spurious_recovery_count": COUNT, "syn_retransmits": COUNT, "duplicate_pkts": COUNT,
    "rto_count": COUNT, "spurious_rto_count": COUNT, "tlp_count": COUNT,
    "rto_stall_max_us": COUNT, "rto_stall_us": COUNT, "cwnd_zero_max_us": COUNT,
    "cwnd_max_pkts": COUNT, "ssthresh_max_pkts": COUNT, "connections": COUNT,
    "duplicated_pkts": COUNT, "ooo_dropped_pkts": COUNT,
}  # fmt: skip
#: What a flow's receiver sent to its sender, of an application with requests.
REQUESTS = {
    "received_bytes": COUNT, "sent_pkts": COUNT, "retransmitted_pkts": COUNT,
    "dropped_pkts": COUNT, "arrived_pkts": COUNT, "on_path_pkts": COUNT, "rto_count": COUNT,
}  # fmt: skip
REQUESTS_OPTIONAL = {"duplicated_pkts": COUNT, "ooo_dropped_pkts": COUNT}
#: Most numbers that an application measures, and their names.
MAX_MEASUREMENTS = 100
MEASUREMENT = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)
LINK = {
    "link_rate_bps": COUNT, "base_rtt_us": COUNT, "offered_pkts": COUNT, "forwarded_pkts": COUNT,
    "forwarded_bytes": COUNT, "dropped_pkts": COUNT, "dropped_bytes": COUNT, "busy_us": COUNT,
    "left_pkts": COUNT, "utilization": REAL, "queue_delay_mean_us": REAL,
    "queue_delay_p50_us": COUNT, "queue_delay_p95_us": COUNT, "queue_delay_p99_us": COUNT,
    "queue_delay_max_us": COUNT, "backlog_mean_bytes": REAL, "backlog_max_bytes": COUNT,
}  # fmt: skip
LINK_OPTIONAL = {
    "capacity_bytes": REAL, "limit_bytes": COUNT, "limit_pkts": COUNT, "random_loss_pkts": COUNT,
    "aqm_dropped_pkts": COUNT, "lost_behind_pkts": COUNT, "duplicated_pkts": COUNT,
    "reordered_pkts": COUNT,
    "ecn_threshold_bytes": COUNT, "ecn_threshold_pkts": COUNT, "marked_pkts": COUNT,
    "busy_capacity_bytes": REAL, "queue": TEXT, "medium": TEXT, "uncounted_bytes": COUNT,
    "saved_up_bytes": COUNT,
}  # fmt: skip
LOADED = {"group": COUNT, "cc": TEXT, "build": TEXT}
#: What a congestion control algorithm declares of a parameter and of a series.
PARAMETER = {
    "name": TEXT, "unit": TEXT, "doc": TEXT, "size": COUNT, "signed": FLAG, "min": WHOLE,
    "max": WHOLE, "default": WHOLE,
}  # fmt: skip
SERIES = {
    "name": TEXT, "unit": TEXT, "doc": TEXT, "mul": COUNT, "div": COUNT, "per_mss": FLAG,
    "signed": FLAG,
}  # fmt: skip
LISTS = ("congestion_controls", "flows", "links")


def check_summary(summary: Any, scenario: Scenario) -> None:
    """Refuse a summary that is not one of a simulation of the scenario.

    Raises
    ------
    BrokenAnswer
        A key is missing or unknown, or a value is of another type or not of this scenario.
    """
    known = {"engine", "engine_version", "seed", "duration_ns", "bottleneck", *LISTS}
    if not isinstance(summary, dict) or set(summary) != known:
        raise BrokenAnswer("a summary with other keys")
    resolved = scenario.resolve()
    facts = [summary[key] for key in ("engine", "engine_version", "seed", "duration_ns")]
    if facts != ["simulator", ENGINE_VERSION, resolved["seed"], resolved["duration_ns"]]:
        raise BrokenAnswer("a summary of another run")
    for key in LISTS:
        if not isinstance(summary[key], list):
            raise BrokenAnswer(f"a summary whose `{key}` are no list")
    check_links(summary, resolved)
    for entry in summary["congestion_controls"]:
        check_loaded(entry)
    if numbers(summary["congestion_controls"], "group") != list(range(len(scenario.groups))):
        raise BrokenAnswer("a summary of other groups")
    for flow in summary["flows"]:
        check_flow(flow)
    groups = [number for number, group in enumerate(scenario.groups) for _ in range(group.flows)]
    if numbers(summary["flows"], "group") != groups:
        raise BrokenAnswer("a summary of other flows")
    if numbers(summary["flows"], "flow") != list(range(len(groups))):
        raise BrokenAnswer("a summary of other flows")


def check_flow(flow: Any) -> None:
    """Refuse a flow of another form."""
    if not isinstance(flow, dict):
        raise BrokenAnswer("a flow of another form")
    apart = ("requests", "application")
    rest = {key: value for key, value in flow.items() if key not in apart}
    check_keys("flow", rest, FLOW, FLOW_OPTIONAL)
    if "requests" in flow:
        check_keys("flow's requests", flow["requests"], REQUESTS, REQUESTS_OPTIONAL)
    if not is_measurements(flow.get("application", {})):
        raise BrokenAnswer("an application's measurements of another form")


def is_measurements(value: Any) -> bool:
    """Whether a value is what an application measured: whole numbers by names."""
    return (
        isinstance(value, dict)
        and len(value) <= MAX_MEASUREMENTS
        and all(isinstance(name, str) and MEASUREMENT.fullmatch(name) for name in value)
        and all(is_of(WHOLE, number) for number in value.values())
    )


def is_statistics(value: Any) -> bool:
    """Whether a value is a queue discipline's own statistics: counts by names."""
    return is_measurements(value) and all(is_of(COUNT, number) for number in value.values())


def check_links(summary: Mapping[str, Any], resolved: Mapping[str, Any]) -> None:
    """Refuse links that are not those of the scenario."""
    for link in summary["links"]:
        if not isinstance(link, dict) or not is_statistics(link.get(STATISTICS, {})):
            raise BrokenAnswer("a link of another form")
        rest = {key: value for key, value in link.items() if key != STATISTICS}
        check_keys("link", rest, {"name": TEXT, **LINK}, LINK_OPTIONAL)
    names = [link["name"] for link in summary["links"]]
    if sorted(names) != sorted(link["name"] for link in resolved["links"]):
        raise BrokenAnswer("a summary of other links")
    if summary["bottleneck"] not in summary["links"]:
        raise BrokenAnswer("a summary whose bottleneck is not one of its links")


def numbers(entries: list[dict[str, Any]], key: str) -> list[int]:
    """Return a number of each entry."""
    return [entry[key] for entry in entries]


def check_loaded(entry: Any) -> None:
    """Refuse a congestion control algorithm of another form."""
    if not isinstance(entry, dict):
        raise BrokenAnswer("an algorithm of another form")
    apart = ("params", "needs_ecn", "declared")
    rest = {key: value for key, value in entry.items() if key not in apart}
    check_keys("congestion control", rest, LOADED, {})
    params = entry.get("params")
    if entry.get("needs_ecn", True) is not True or not isinstance(params, dict):
        raise BrokenAnswer("an algorithm of another form")
    for name, value in params.items():
        if not is_of(TEXT, name) or not is_of(WHOLE, value):
            raise BrokenAnswer("a parameter of another form")
    check_declared(entry.get("declared"))


def check_declared(declared: Any) -> None:
    """Refuse what a congestion control algorithm declares about itself if it is of another form."""
    match declared:
        case {"kind": str(kind), "params": list(params), "series": list(series), "ops": list(ops)}:
            pass
        case _:
            raise BrokenAnswer("a declaration of another form")
    for entry in [*params, *series]:
        escape(entry)
    for param in params:
        check_keys("parameter", param, PARAMETER, {})
    for entry in series:
        rest = {key: value for key, value in entry.items() if key != "labels"}
        check_keys("series", rest, SERIES, {})
        if not (isinstance(entry.get("labels"), list) and all_texts(entry["labels"])):
            raise BrokenAnswer("a series with other labels")
    notes = declared.get("notes", [])
    known = {"kind", "params", "series", "ops", "notes"}
    texts = isinstance(notes, list) and all_texts([kind, *ops, *notes])
    if not set(declared) <= known or not texts:
        raise BrokenAnswer("a declaration of another form")


def escape(entry: Any) -> None:
    """Escape the texts that a congestion control algorithm may choose freely."""
    if not isinstance(entry, dict):
        raise BrokenAnswer("a declaration of another form")
    for key in ("unit", "doc"):
        if isinstance(entry.get(key), str):
            entry[key] = printable(entry[key], limit_bytes=TEXT_LENGTH // 2)


def all_texts(values: list[Any]) -> bool:
    """Whether all are texts that can be printed."""
    return all(is_of(TEXT, value) for value in values)


def check_keys(
    what: str, entry: Any, required: Mapping[str, str], optional: Mapping[str, str]
) -> None:
    """Refuse an entry whose keys or types are others."""
    if not isinstance(entry, dict) or not set(required) <= set(entry):
        raise BrokenAnswer(f"a {what} without all its keys")
    for key, value in entry.items():
        kind = required.get(key) or optional.get(key)
        if kind is None:
            raise BrokenAnswer(f"a {what} with an unknown key")
        if not (is_of(kind, value) or (value is None and key in optional)):
            raise BrokenAnswer(f"a {what} whose `{key}` is of another type")


def is_of(kind: str, value: Any) -> bool:
    """Whether a value is of a type."""
    if kind == FLAG:
        return type(value) is bool
    if kind == TEXT:
        is_short = isinstance(value, str) and len(value) <= TEXT_LENGTH
        return is_short and printable(value) == value
    if type(value) is int:
        return -(2**63) <= value < 2**64 if kind == WHOLE else 0 <= value <= MAX_COUNT
    # Sums of them must be finite, too; NaN is not in the range.
    return kind == REAL and isinstance(value, float) and 0 <= value <= MAX_COUNT
