"""What is compared with each oracle, how exactly, and where an oracle is known to count otherwise.

Each `known` is a row of the table in docs/analysis.md that says who is right, and why.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.python.oracles.comparison import Row, Rule

__all__ = ["TCPTRACE", "TSHARK"]

#: tcptrace prints tenths of a millisecond, and rounds.
TENTH_MS = 0.0501

Figure = Callable[[Row], float | None]


def known(row: Row, name: str) -> float | None:
    value: float | None = row[name]
    return value


def column(name: str) -> Figure:
    return lambda row: known(row, name)


def ms(name: str) -> Figure:
    return lambda row: None if row[name] is None else float(row[name]) / 1e3


def has_data(row: Row) -> bool:
    return int(row["payload_bytes"]) > 0


def is_as_on_the_wire(row: Row) -> bool:
    """Whether packets are the wire's; ACKs of parts of larger ones are lost on both oracles."""
    return not row["offload"]


def is_checked_by_tshark(row: Row) -> bool:
    """Whether RTT and in-flight are a sender's; tshark takes no sample of 0, as receivers have."""
    return has_data(row) and row["vantage"] != "receiver"


def rtt_mean_ms(row: Row) -> float | None:
    """tcptrace's mean: it divides by a ten-thousandth more than the count."""
    mean_us, count = known(row, "rtt_mean_us"), int(row["rtt_count"])
    return None if mean_us is None else mean_us / 1e3 * count / (count + 1e-4)


def bytes_per_s(row: Row) -> float | None:
    """tcptrace's throughput: unique bytes over the connection's time."""
    goodput_bps = known(row, "goodput_bps")
    return None if goodput_bps is None else goodput_bps / 8


def retransmitted_sequence(row: Row) -> int:
    """What tcptrace takes for retransmitted bytes: a SYN and a FIN are one each."""
    repeated = max(int(row["syn_count"]) - 1, 0) + max(int(row["fin_count"]) - 1, 0)
    return int(row["retransmitted_bytes"]) + repeated


def below_highest(row: Row) -> int:
    """Data below the highest seen, whether it was seen before or not."""
    return int(row["retransmitted_pkts"]) + int(row["out_of_order_pkts"])


def inflight_without_holes(row: Row) -> int:
    """What is in flight by SACK; tshark does not count what comes late until it comes."""
    hole = int(row["largest_segment_bytes"]) if row["out_of_order_pkts"] else 0
    return int(row["inflight_sack_max_bytes"]) - hole


TCPTRACE = (
    *(Rule(name, column(name)) for name in (
        "pkts", "data_pkts", "pure_ack_pkts", "payload_bytes", "unique_bytes",
        "retransmitted_pkts", "out_of_order_pkts", "rst_count", "zero_window_pkts",
        "largest_segment_bytes", "mss_bytes", "sack_pkts", "dsack_pkts", "window_max_bytes",
        "window_min_bytes",
    )),
    Rule("retransmitted_bytes", retransmitted_sequence, known="SYN and FIN as bytes"),
    Rule("zero_window_probes", column("zero_window_probe_pkts")),
    Rule("inflight_max_bytes", lambda row: row["inflight_max_bytes"] + 1, applies=has_data,
         known="one byte more in flight"),
    Rule("throughput_bytes_per_s", bytes_per_s, 1.0),
    Rule("dup_acks", column("dup_acks"), 1.0, applies=is_as_on_the_wire,
         known="the window of a SYN-ACK"),
    Rule("triple_dup_acks", column("triple_dup_acks"), 1.0, applies=is_as_on_the_wire,
         known="the window of a SYN-ACK"),
    Rule("rtt_count", column("rtt_count"), applies=is_as_on_the_wire, known="offload"),
    Rule("rtt_min_ms", ms("rtt_min_us"), TENTH_MS,
         applies=lambda row: is_as_on_the_wire(row) and row["rtt_min_us"] != 0,
         known="an RTT of zero"),
    Rule("rtt_max_ms", ms("rtt_max_us"), TENTH_MS, applies=is_as_on_the_wire, known="offload"),
    Rule("rtt_mean_ms", rtt_mean_ms, TENTH_MS, applies=is_as_on_the_wire, known="the mean"),
    Rule("rtt_stddev_ms", ms("rtt_stddev_us"), TENTH_MS,
         applies=lambda row: is_as_on_the_wire(row) and row["rtt_count"] > 2,
         known="deviation of two"),
    Rule("rtt_handshake_ms", ms("rtt_handshake_us"), TENTH_MS),
    Rule("idle_max_ms", ms("idle_max_us"), TENTH_MS, most=lambda _: math.inf,
         known="idle at the end"),
)  # fmt: skip

TSHARK = (
    *(Rule(name, column(name)) for name in (
        "pkts", "wire_bytes", "data_pkts", "payload_bytes", "zero_window_pkts",
    )),
    Rule("below_highest_pkts", below_highest, applies=lambda row: row["vantage"] != "receiver",
         known="retransmitted or out of order"),
    Rule("below_highest_pkts", below_highest, 1.0, known="the sequence number of a pure ACK"),
    Rule("dup_acks", column("dup_acks"), applies=has_data, known="duplicate ACKs without data"),
    Rule("rtt_min_ms", ms("rtt_min_us"), 0.001, known="tshark's RTT samples",
         applies=lambda row: is_checked_by_tshark(row) and is_as_on_the_wire(row)),
    Rule("inflight_max_bytes", inflight_without_holes, known="lost packets in flight",
         most=lambda row: row["inflight_max_bytes"], applies=is_checked_by_tshark),
)  # fmt: skip
