"""What the papers' hosts ran: parameters of congestion controls as of Linux 4.12 and 4.15.

docs/bbr.md ("Earlier versions") and docs/copa.md have each parameter with its source.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = [
    "BBR_4_12",
    "BBR_4_12_UNPACED",
    "BBR_4_15",
    "BBR_BEFORE_5_1",
    "COPA_CCP_KERNEL",
    "OVER_PACING",
    "spelled",
]

#: What the papers' plain set-up has: no estimate of ACK aggregation in cwnd (it came with
#: 78dc70ebaa38, Linux 5.1), and an RTT equal to min_rtt puts PROBE_RTT off too, not only a smaller
#: one (until 1b9e2a8c99a5, Linux 5.10).
BBR_BEFORE_5_1 = {"extra_acked_gain": 0, "min_rtt_tie_renews": 1}

#: Linux 4.13 to 4.18 without fq: 1.4 to 3 % above the bandwidth.
OVER_PACING = {"pacing_margin_pct": 0, "rate_header_bytes": 52, "timer_burst_bytes": 32}

_CHANGED_AFTER_4_15 = {
    "delayed_ack_renews": 1,
    "lt_bw_cycles": 1,
    "any_ack_ends_idle": 1,
    "tso_goal_of_device": 1,
    "no_probe_budget": 1,
    "probe_rtt_needs_acked": 1,
    "inflight_at_ack": 1,
    **BBR_BEFORE_5_1,
}
_CHANGED_AFTER_4_12 = {
    "cut_after_startup": 1,
    "first_rtt_ignored": 1,
    "undo_keeps_model": 1,
    **_CHANGED_AFTER_4_15,
}

#: BBR of Linux 4.15, paced by TCP itself.
BBR_4_15 = {**OVER_PACING, **_CHANGED_AFTER_4_15}
#: BBR of Linux 4.12, paced by the queue discipline ``fq``: 0.9 % below the bandwidth.
BBR_4_12 = {
    "pacing_margin_pct": 0,
    "rate_header_bytes": 52,
    "timer_packet_bytes": 66,
    **_CHANGED_AFTER_4_12,
}
#: BBR of Linux 4.12 without ``fq``: not paced at all.
BBR_4_12_UNPACED = {
    "unpaced": 1,
    "pacing_margin_pct": 0,
    "rate_header_bytes": 52,
    **_CHANGED_AFTER_4_12,
}

#: ccp_copa's agent and ccp-kernel on Linux 4.15.
COPA_CCP_KERNEL = {
    "agent_delay_us": 25,
    "rto_keeps_cwnd": 1,
    "rto_reports": 2,
    "undo_doubles_ssthresh": 1,
}


def spelled(name: str, parameters: Mapping[str, int]) -> str:
    """Return a congestion control with parameters as the command line has it."""
    return f"{name}:" + ",".join(f"{each}={value}" for each, value in parameters.items())
