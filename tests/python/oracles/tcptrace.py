"""What tcptrace 6.6.7 says of a capture."""

from __future__ import annotations

import csv
from pathlib import Path

from tests.python.oracles.flow_figures import Direction, Figures, FiguresByDirection
from tests.python.oracles.programs import run

__all__ = ["measure"]

#: Our column and tcptrace's, without the direction.
COLUMNS = {
    "pkts": "total_packets",
    "pure_ack_pkts": "pure_acks_sent",
    "rst_count": "resets_sent",
    "sack_pkts": "sack_pkts_sent",
    "dsack_pkts": "dsack_pkts_sent",
    "unique_bytes": "unique_bytes_sent",
    "data_pkts": "actual_data_pkts",
    "payload_bytes": "actual_data_bytes",
    "retransmitted_pkts": "rexmt_data_pkts",
    "retransmitted_bytes": "rexmt_data_bytes",
    "out_of_order_pkts": "outoforder_pkts",
    "zero_window_pkts": "zero_win_adv",
    "zero_window_probes": "zwnd_probe_pkts",
    "mss_bytes": "mss_requested",
    "largest_segment_bytes": "max_segm_size",
    "window_max_bytes": "max_win_adv",
    "window_min_bytes": "min_win_adv",
    "inflight_max_bytes": "max_owin",
    "inflight_mean_bytes": "wavg_owin",
    "missing_bytes": "missed_data",
    "hardware_dups": "hardware_dups",
    "throughput_bytes_per_s": "throughput",
    "rtt_count": "RTT_samples",
    "rtt_min_ms": "RTT_min",
    "rtt_mean_ms": "RTT_avg",
    "rtt_max_ms": "RTT_max",
    "rtt_stddev_ms": "RTT_stdev",
    "rtt_handshake_ms": "RTT_from_3WHS",
    "idle_max_ms": "idletime_max",
    "dup_acks": "duplicate_acks",
    "triple_dup_acks": "triple_dupacks",
    "ambiguous_acks": "ambiguous_acks",
    "post_loss_acks": "post-loss_acks",
}


def measure(capture: Path) -> FiguresByDirection:
    """Return tcptrace's figures of every direction; the capture is a classic pcap."""
    lines = run("tcptrace", "-l", "-r", "-n", "-W", "--csv", capture).splitlines()
    lines = [line for line in lines if line.strip() and not line.startswith("#")]
    figures: dict[Direction, Figures] = {}
    for row in csv.DictReader(lines, skipinitialspace=True):
        row = {key.strip(): value for key, value in row.items() if key is not None}
        forward = Direction(row["host_a"], int(row["port_a"]), row["host_b"], int(row["port_b"]))
        for direction, way in ((forward, "a2b"), (forward.reversed(), "b2a")):
            found = {ours: number(row[f"{theirs}_{way}"]) for ours, theirs in COLUMNS.items()}
            # A SYN's window is not scaled: ours is of what follows, theirs also of a SYN alone.
            if row[f"total_packets_{way}"] == row[f"SYN/FIN_pkts_sent_{way}"].partition("/")[0]:
                found |= {"window_max_bytes": None, "window_min_bytes": None}
            figures[direction] = found
    return figures


def number(text: str) -> float | None:
    """Read a cell; tcptrace writes NA where it does not know."""
    return None if text.strip() == "NA" else float(text)
