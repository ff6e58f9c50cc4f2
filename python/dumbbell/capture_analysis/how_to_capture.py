"""The command that makes a capture from which most can be seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["tcpdump"]


def tcpdump(row: Mapping[str, Any], protocol: str = "tcp") -> str:
    """Write the command that captures a flow at its sender, in both directions.

    Parameters
    ----------
    row
        Of the flow, with its ports.
    protocol
        ``tcp`` or ``udp``.
    """
    port = min(int(row["source_port"]), int(row["destination_port"]))
    return f"tcpdump -i any -s 96 -w capture.pcap '{protocol} and port {port}'"
