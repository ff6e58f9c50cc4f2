"""A connection as a row of text, for the terminal, pages and notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dumbbell.capture_analysis.analysis import Analysis
from dumbbell.figures.style import cc_label

__all__ = ["COLUMNS", "connection_label", "connection_row", "endpoint", "scaled"]

COLUMNS = (
    "connection", "point", "time\ns", "goodput\nMbit/s", "data\npkts", "retransmitted\npkts",
    "RTT, ms\nmin / mean / max", "max in flight, kB\nby ACK / by SACK",
)  # fmt: skip


def connection_label(analysis: Analysis, connection: int) -> str:
    """Name a connection in a legend: by its CCA if it is known, else its source."""
    group = analysis.group_of(connection)
    if group is not None:
        name = analysis.names[group]
        is_cc = name == analysis.congestion_controls[group]
        return f"{connection}: {cc_label(name) if is_cc else name}"
    row = analysis.row_of(connection)
    return f"{connection}: {endpoint(row['source'], row['source_port'])}"


def endpoint(address: str, port: int) -> str:
    """Write an endpoint; an IPv6 address in brackets (RFC 3986 §3.2.2)."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def connection_row(analysis: Analysis, row: Mapping[str, Any]) -> tuple[str, ...]:
    """Write a connection's cells."""
    source = endpoint(row["source"], row["source_port"])
    destination = endpoint(row["destination"], row["destination_port"])
    group = analysis.group_of(row["connection"])
    cc = "" if group is None else f" {analysis.names[group]}"
    data, resent = row["data_pkts"], row["retransmitted_pkts"]
    share = f" ({100 * resent / data:.2f} %)" if data and resent else ""
    return (
        f"{row['connection']}{cc} {source}\n→ {destination}",
        str(row["point"]),
        scaled(row["duration_us"], 1e6, 2),
        scaled(row["goodput_bps"], 1e6, 2),
        f"{data:,}",
        f"{resent:,}{share}",
        several([row[f"rtt_{which}_us"] for which in ("min", "mean", "max")], 1e3, 1, 3),
        several([row["inflight_max_bytes"], row["inflight_sack_max_bytes"]], 1e3, 0, 1),
    )


def several(values: Sequence[float | None], unit: float, digits: int, if_small: int) -> str:
    """Write related values, with more digits if all are below 10; a dash for none."""
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    digits = if_small if max(known) < 10 * unit else digits
    return " / ".join(scaled(value, unit, digits) for value in values)


def scaled(value: float | None, unit: float, digits: int) -> str:
    """Write a value in a larger unit; a dash where it is unknown."""
    return "–" if value is None else f"{value / unit:,.{digits}f}"
