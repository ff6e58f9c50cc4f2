"""What tshark says of a capture."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

from tests.python.oracles.flow_figures import Direction, Figures, FiguresByDirection
from tests.python.oracles.programs import run

__all__ = ["expert_lines", "interface_names", "measure", "to_classic_pcap"]

FIELDS = (
    "ip.src", "tcp.srcport", "ip.dst", "tcp.dstport", "frame.len", "tcp.len",
    "tcp.analysis.retransmission", "tcp.analysis.fast_retransmission",
    "tcp.analysis.spurious_retransmission", "tcp.analysis.out_of_order",
    "tcp.analysis.duplicate_ack", "tcp.analysis.zero_window", "tcp.analysis.ack_rtt",
    "tcp.analysis.bytes_in_flight", "tcp.analysis.lost_segment", "tcp.analysis.ack_lost_segment",
)  # fmt: skip
#: Our name of a flag that tshark sets on a packet.
FLAGS = {
    "retransmitted_pkts": "tcp.analysis.retransmission",
    "fast_retransmitted_pkts": "tcp.analysis.fast_retransmission",
    "spurious_retransmitted_pkts": "tcp.analysis.spurious_retransmission",
    "out_of_order_pkts": "tcp.analysis.out_of_order",
    "zero_window_pkts": "tcp.analysis.zero_window",
    "lost_segments": "tcp.analysis.lost_segment",
}


def measure(capture: Path) -> FiguresByDirection:
    """Return tshark's figures of every direction; the capture is of one point.

    With several points it would take a packet's second sight for a retransmission.
    """
    command: list[str | Path] = [
        "tshark",
        "-n",
        "-r",
        capture,
        "-T",
        "fields",
        "-E",
        "separator=;",
        "-Y",
        "tcp",
    ]
    for field in FIELDS:
        command += ["-e", field]
    packets: dict[Direction, list[dict[str, str]]] = defaultdict(list)
    for line in run(*command).splitlines():
        cells = dict(zip(FIELDS, line.split(";"), strict=True))
        direction = Direction(
            cells["ip.src"], int(cells["tcp.srcport"]), cells["ip.dst"], int(cells["tcp.dstport"])
        )
        packets[direction].append(cells)
    return {
        direction: summarize(sent, packets.get(direction.reversed(), []))
        for direction, sent in packets.items()
    }


def summarize(sent: list[dict[str, str]], received: list[dict[str, str]]) -> Figures:
    """Sum up one direction; its RTT and its duplicate ACKs are on the other's packets."""
    figures: dict[str, float | None] = {
        ours: sum(bool(packet[field]) for packet in sent) for ours, field in FLAGS.items()
    }
    figures["dup_acks"] = sum(bool(packet["tcp.analysis.duplicate_ack"]) for packet in received)
    lengths = [int(packet["tcp.len"]) for packet in sent]
    flight = [int(cell) for packet in sent if (cell := packet["tcp.analysis.bytes_in_flight"])]
    rtts = [float(cell) * 1e3 for packet in received if (cell := packet["tcp.analysis.ack_rtt"])]
    figures |= {
        "below_highest_pkts": (figures["retransmitted_pkts"] or 0)
        + (figures["out_of_order_pkts"] or 0),
        "pkts": len(sent),
        "wire_bytes": sum(int(packet["frame.len"]) for packet in sent),
        "data_pkts": sum(length > 0 for length in lengths),
        "payload_bytes": sum(lengths),
        "inflight_max_bytes": max(flight, default=None),
        "rtt_count": len(rtts),
        "rtt_min_ms": min(rtts, default=None),
        "rtt_mean_ms": float(np.mean(rtts)) if rtts else None,
        "rtt_max_ms": max(rtts, default=None),
    }
    return figures


def to_classic_pcap(capture: Path, interface: str | None, target: Path) -> Path:
    """Write one point's packets as a classic pcap, which tcptrace reads."""
    point = [] if interface is None else ["-Y", f'frame.interface_name=="{interface}"']
    # What packets contain plays no part in it, and takes 40 % of the time.
    blind = ["--disable-protocol", "ip", "--disable-protocol", "ipv6"]
    run("tshark", "-n", *blind, "-r", capture, *point, "-F", "pcap", "-w", target)
    return target


def expert_lines(capture: Path) -> list[str]:
    """Return what tshark's expert says is malformed or has a bad checksum."""
    checks = [
        option for protocol in ("ip", "tcp") for option in ("-o", f"{protocol}.check_checksum:TRUE")
    ]
    bad = "_ws.malformed || ip.checksum.status==0 || tcp.checksum.status==0"
    return run("tshark", "-n", "-r", capture, *checks, "-Y", bad).splitlines()


def interface_names(capture: Path) -> list[str]:
    """Return the names of the points that tshark sees packets at."""
    names = run("tshark", "-n", "-r", capture, "-T", "fields", "-e", "frame.interface_name")
    return list(dict.fromkeys(names.split()))
