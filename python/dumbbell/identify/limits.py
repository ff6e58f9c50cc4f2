"""What keeps a flow from being identified, and what to capture instead."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dumbbell.capture_analysis.connection_table import endpoint
from dumbbell.capture_analysis.how_to_capture import tcpdump
from dumbbell.identify.facts import Measured
from dumbbell.identify.rounds import Rounds
from dumbbell.identify.trace import Trace

__all__ = [
    "MIN_ROUNDS",
    "MIN_S",
    "Hindrance",
    "doubts_of",
    "few_decisions",
    "hindrance_of",
    "never_filled",
    "no_trace",
]

#: Less shows too little: most algorithms have lost something, and BBR has paused, within 10 s.
MIN_S, MIN_ROUNDS = 8.0, 40
#: With nothing in flight in this share of the time the program had nothing to send.
IDLE_SHARE = 0.1
#: Packets shorter than this share of the longest, on average, are not those of a bulk transfer.
SHORT_SHARE = 0.7
#: As full as this in this share of the round trips, the receive window limits.
WINDOW_FULL, WINDOW_SHARE = 0.9, 0.5
#: With fewer losses, and falls of the window without one in fewer round trips, little was decided.
FEW_LOSSES, FEW_FALLS = 2, 0.05
#: A path whose RTT never rises by both was never filled.
RISE_RATIO, RISE_MS = 1.05, 1.0
#: A window is held if for longer than this it is within a share of the most, but for some rounds,
#: and never falls further, while more packets wait than Vegas leaves.
HELD_S, HELD_WITHIN, HELD_SHARE, HELD_LEAST = 12.0, 0.02, 0.8, 0.75
HELD_QUEUE_PKTS, HELD_QUEUE_SHARE = 10.0, 0.05


@dataclass(frozen=True)
class Hindrance:
    """Why there is no answer.

    Attributes
    ----------
    name
        ``one_direction``, ``too_short``, ``application_limited``, ``window_limited``,
        ``never_filled``, ``quic_elsewhere`` or ``no_data``.
    message
        What is wrong, with its value.
    advice
        What to capture instead, with the command.
    """

    name: str
    message: str
    advice: str

    def to_dict(self) -> dict[str, str]:
        """Return it as `--json` has it."""
        return {"name": self.name, "message": self.message, "advice": self.advice}


def at_sender(row: Mapping[str, Any]) -> str:
    """Name the host that sent the data."""
    return f"on the host that sends the data ({row['source']})"


def no_trace(
    row: Mapping[str, Any], ack_row: Mapping[str, Any] | None, protocol: str = "tcp"
) -> Hindrance:
    """Say why a flow has no RTT."""
    has_no_ack = ack_row is None or ack_row["pkts"] == 0 or "one_direction" in row["notes"]
    if row["data_pkts"] < 2:
        return Hindrance(
            "no_data",
            f"{row['data_pkts']} packets with data: nothing to tell an algorithm by",
            f"capture a bulk transfer of 30 s {at_sender(row)}: `{tcpdump(row, protocol)}`",
        )
    if has_no_ack:
        return Hindrance(
            "one_direction",
            "only the data's direction was captured, and without ACKs nothing shows what is "
            "in flight",
            f"capture both directions, {at_sender(row)}: `{tcpdump(row, protocol)}`; a filter like "
            "`src host`, or a mirror port of one direction, has only half of it",
        )
    return Hindrance(
        "too_short",
        "no ACK could be assigned to data, so there is no RTT",
        f"capture a transfer of 30 s from its start, {at_sender(row)}: `{tcpdump(row, protocol)}`",
    )


def hindrance_of(
    row: Mapping[str, Any], trace: Trace, rounds: Rounds | None, protocol: str = "tcp"
) -> Hindrance | None:
    """Return what keeps a flow from being identified; None if nothing does."""
    count = 0 if rounds is None else int(rounds.per_rtt.sum())
    if rounds is None or trace.duration_s < MIN_S or count < MIN_ROUNDS:
        return Hindrance(
            "too_short",
            f"{trace.duration_s:.1f} s of data, {count} round trips: too short; at least "
            f"{MIN_S:.0f} s and {MIN_ROUNDS} round trips are needed, 30 s are good",
            f"send more (a file of {suggested_size(trace)}), and capture it from its start, "
            f"{at_sender(row)}: `{tcpdump(row, protocol)}`",
        )
    if limited := application_limit(row, trace):
        return Hindrance(
            "application_limited",
            f"{limited}: the program limited the sending, not the algorithm",
            f"capture a bulk transfer (a large file, `iperf3 -t 30`), {at_sender(row)}: "
            f"`{tcpdump(row, protocol)}`",
        )
    full = rounds.window_pkts * trace.mss_bytes >= WINDOW_FULL * window_in(trace)
    if full.mean() > WINDOW_SHARE:
        return Hindrance(
            "window_limited",
            f"the receive window ({window_in(trace) / 1000:.0f} kB) was full in "
            f"{100 * full.mean():.0f} % of the round trips: it limited the sending, not the "
            "algorithm",
            "raise the receiver's buffer (`sysctl net.ipv4.tcp_rmem`, the program's SO_RCVBUF), "
            f"and capture again, {at_sender(row)}: `{tcpdump(row, protocol)}`",
        )
    if protocol == "udp" and not trace.is_estimated and (held := held_pkts(trace, rounds)):
        return Hindrance(
            "window_limited",
            f"{held * trace.mss_bytes / 1000:.0f} kB stayed in flight, with a queue: the "
            "receiver's window, which QUIC encrypts, limited the sending, not the algorithm",
            "raise the receiver's flow-control windows (of stream and connection), or send through "
            f"a path that holds less, and capture again, {at_sender(row)}: "
            f"`{tcpdump(row, protocol)}`",
        )
    return None


def held_pkts(trace: Trace, rounds: Rounds) -> float:
    """Return what was in flight all the time although packets waited; 0 if it changed.

    Loss-based algorithms grow, BBR measures the RTT every 10 s, Vegas leaves fewer packets waiting.
    """
    later = slice(len(rounds) // 5, None)
    window, rtt_s = rounds.window_pkts[later], rounds.rtt_s[later]
    most = float(np.quantile(window, 0.95))
    waiting = most * (1 - trace.base_rtt_s / max(float(np.median(rtt_s)), trace.base_rtt_s))
    is_held = (
        trace.duration_s * 0.8 > HELD_S
        and float((window > (1 - HELD_WITHIN) * most).mean()) > HELD_SHARE
        and float(window.min()) > HELD_LEAST * most
        and waiting > max(HELD_QUEUE_PKTS, HELD_QUEUE_SHARE * most)
    )
    return most if is_held else 0.0


def quic_elsewhere(row: Mapping[str, Any], vantage: str) -> Hindrance:
    """Say that QUIC shows its window at the sender only."""
    place = "at the receiver" if vantage == "receiver" else "between sender and receiver"
    return Hindrance(
        "quic_elsewhere",
        f"QUIC captured {place}: its acknowledgments are encrypted, and there nothing shows what "
        "is in flight",
        f"capture {at_sender(row)}: `{tcpdump(row, 'udp')}`",
    )


def never_filled(trace: Trace, rounds: Rounds, measured: Measured) -> Hindrance | None:
    """Return that a path was never filled, which only algorithms that act on delay do."""
    has_queue = (
        measured.get("rtt_over_base_q95", 9.0) > RISE_RATIO
        and measured.get("queued_ms_q95", 9e9) > RISE_MS
    )
    if rounds.losses or has_queue or trace.ce_share > 0:
        return None
    return Hindrance(
        "never_filled",
        "no loss, no mark, and no RTT above the shortest: the path was never filled, and "
        "something else limited the sending",
        "send through a slower path, for example `dumbbell emulate --rate 20mbit --rtt 50ms "
        "--buffer 1bdp`, or for longer",
    )


def suggested_size(trace: Trace) -> str:
    """Write how much 30 s take at the rate so far."""
    rate = trace.sent_bytes.sum() / max(trace.duration_s, 1e-3)
    megabytes = max(30 * rate / 1e6, 10.0)
    return f"{float(f'{megabytes:.1g}'):.0f} MB or more"


def application_limit(row: Mapping[str, Any], trace: Trace) -> str | None:
    """Return what shows that a program limited the sending."""
    later = trace.inflight_pkts[len(trace.inflight_pkts) // 20 :]
    idle = float((later < 0.5).mean())
    if idle > IDLE_SHARE:
        return f"nothing was in flight in {100 * idle:.0f} % of the time"
    mean = row["payload_bytes"] / max(row["data_pkts"], 1)
    if mean < SHORT_SHARE * trace.mss_bytes:
        return f"packets have {mean:.0f} bytes of data on average, where {trace.mss_bytes:.0f} fit"
    return None


def few_decisions(trace: Trace, measured: Measured) -> list[str]:
    """Return that a sender decided too seldom to be distinguished, and what shows more."""
    losses = measured.get("losses", 0.0)
    if losses >= FEW_LOSSES or measured.get("falls_without_loss", 0.0) > FEW_FALLS:
        return []
    count = "no loss" if losses < 1 else "one loss"
    longer_s = 10 * math.ceil(FEW_LOSSES * trace.duration_s / max(losses, 1.0) / 10)
    return [
        f"{count} in {trace.duration_s:.0f} s shows little of what follows one; capture for "
        f"{longer_s} s, or on a path with a shorter RTT"
    ]


def window_in(trace: Trace) -> float:
    """Return the largest receive window, infinite where it is unknown."""
    largest = float(trace.window_bytes.max()) if len(trace.window_bytes) else 0.0
    return largest if largest > 0 else float("inf")


def doubts_of(row: Mapping[str, Any], trace: Trace, protocol: str = "tcp") -> list[str]:
    """Return why an answer is less certain than it could be."""
    found = []
    if protocol == "udp":
        source = "counts of packets, which drift" if trace.is_estimated else "the spin bit's RTT"
        found.append(
            "taken for QUIC, whose acknowledgments are encrypted: what was in flight follows from "
            + source
        )
    if protocol == "tcp" and (trace.is_estimated or row["vantage"] in ("receiver", "middle")):
        place = {"receiver": "at the receiver", "middle": "between sender and receiver"}.get(
            row["vantage"], "at an unknown place"
        )
        found.append(
            f"captured {place}: what was in flight is estimated, and the answer is less certain; "
            f"better: {at_sender(row)}: `{tcpdump(row, protocol)}`"
        )
    elif row["vantage"] == "unknown":
        found.append(
            f"it is unknown where this was captured; best is {at_sender(row)}: "
            f"`{tcpdump(row, protocol)}`"
        )
    if row["began_before_capture"]:
        found.append(
            "the start was not captured, so its slow start is not seen; start the capture before "
            f"the transfer to {endpoint(row['destination'], row['destination_port'])}"
        )
    if np.any(trace.lost_pkts > 0) and "missing_data" in row["notes"]:
        found.append("the capture itself lost packets; use `-B 65536` with tcpdump, and `-s 96`")
    return found
