"""Presets: sets of parameters that have a name and a source, ``copa@paper``.

A preset never changes its values: results name it. A corrected one gets another name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.excerpt import excerpt

__all__ = [
    "BBR_BEFORE_5_1",
    "BBR_OVER_PACING",
    "PRESETS",
    "Preset",
    "preset_of",
    "presets_of",
]


@dataclass(frozen=True)
class Preset:
    """Parameters of a congestion control algorithm as its source has them.

    Attributes
    ----------
    doc
        What they are.
    source
        Where they are from.
    params
        Those that differ from the defaults.
    """

    doc: str
    source: str
    params: Mapping[str, int]


#: No estimate of ACK aggregation in cwnd (it came with 78dc70ebaa38, Linux 5.1), and an RTT equal
#: to min_rtt puts PROBE_RTT off too, not only a smaller one (until 1b9e2a8c99a5, Linux 5.10).
BBR_BEFORE_5_1 = {"extra_acked_gain": 0, "min_rtt_tie_renews": 1}

#: Linux 4.13 to 4.18 without fq: 1.4 to 3 % above the bandwidth.
BBR_OVER_PACING = {"pacing_margin_pct": 0, "rate_header_bytes": 52, "timer_burst_bytes": 32}

_BBR_CHANGED_AFTER_4_15 = {
    "delayed_ack_renews": 1,
    "lt_bw_cycles": 1,
    "any_ack_ends_idle": 1,
    "tso_goal_of_device": 1,
    "no_probe_budget": 1,
    "probe_rtt_needs_acked": 1,
    "inflight_at_ack": 1,
    **BBR_BEFORE_5_1,
}
_BBR_CHANGED_AFTER_4_12 = {
    "cut_after_startup": 1,
    "first_rtt_ignored": 1,
    "undo_keeps_model": 1,
    **_BBR_CHANGED_AFTER_4_15,
}

#: Every preset, by congestion control and name. The pages of docs/ have each parameter's reason.
PRESETS: Mapping[str, Mapping[str, Preset]] = {
    "bbr": {
        "linux-4.12": Preset(
            "paced by fq: 0.9 % below the bandwidth",
            "Linux 4.12.4, net/ipv4/tcp_bbr.c",
            {
                "pacing_margin_pct": 0,
                "rate_header_bytes": 52,
                "timer_packet_bytes": 66,
                **_BBR_CHANGED_AFTER_4_12,
            },
        ),
        "linux-4.12-unpaced": Preset(
            "without fq: not paced at all",
            "Linux 4.12.4, net/ipv4/tcp_bbr.c",
            {
                "unpaced": 1,
                "pacing_margin_pct": 0,
                "rate_header_bytes": 52,
                **_BBR_CHANGED_AFTER_4_12,
            },
        ),
        "linux-4.15": Preset(
            "paced by TCP itself",
            "Linux 4.15.11, net/ipv4/tcp_bbr.c and tcp_output.c",
            {**BBR_OVER_PACING, **_BBR_CHANGED_AFTER_4_15},
        ),
    },
    "bbr3": {
        "google": Preset(
            "Google's values; the defaults are the draft's",
            "github.com/google/bbr, branch v3, net/ipv4/tcp_bbr.c",
            {
                "drain_pacing_gain_pct": 34,
                "drain_max_rounds": 0,
                "probe_down_pacing_gain_pct": 91,
                "extra_acked_max_ms": 100,
            },
        ),
    },
    "copa": {
        "calm": Preset(
            "corrected for buffers smaller than what it wants to queue",
            "docs/copa.md, with its measurements; thresholds of draft-ietf-ccwg-bbr",
            {
                "report_rtt_min_pct": 0,
                "competitive_start_windows": 0,
                "loss_cut_pct": 2,
                "cwnd_min_pkts": 2,
            },
        ),
        "calm-2": Preset(
            "short queues among many flows, a fair share next to CUBIC",
            "docs/copa.md, with its measurements; CUBIC's window of RFC 9438",
            {
                # As in `calm`, which is for small buffers.
                "report_rtt_min_pct": 0,
                "loss_cut_pct": 2,
                "cwnd_min_pkts": 2,
                # 128 flows with two packets each would queue 31 ms at 100 Mbit/s.
                "default_inv_delta": 1,
                # Its units are mixed up; the paper has none.
                "loss_mode": 0,
                # Many flows oscillate out of step, so their queue is rarely empty, but short.
                "mode_window_rtts": 30,
                "mode_margin_us": 5000,
                # Flows that start in a queue take it for the path; a drain corrects that.
                "drain_ms": 5000,
                # Two drains, after which RTT_min is known.
                "compete_after_ms": 10000,
                # By the delay, 1/δ grows by 1 per RTT, which in deep buffers is too slow.
                "compete_as_cubic": 1,
                # BBR keeps up to two BDP in flight and probes with a quarter more.
                "filler_pct": 300,
                # A missed loss makes w_max eight times too large.
                "cubic_interval_max": 3,
                # CUBIC empties half a BDP in each of its epochs, of some 4 s.
                "cubic_hold_ms": 10000,
                # Two drains.
                "look_ms": 10000,
            },
        ),
        "ccp-4.15": Preset(
            "the agent and its datapath as they ran on Linux 4.15",
            "ccp_copa (2020-10-20), ccp-kernel, Linux 4.15",
            {
                "agent_delay_us": 30,
                "rto_keeps_cwnd": 1,
                "rto_reports": 2,
                "undo_doubles_ssthresh": 1,
            },
        ),
        "paper": Preset(
            "the paper's Copa; the defaults are ccp_copa's",
            "Arun and Balakrishnan, NSDI 2018",
            {
                "report_rtt_min_pct": 0,
                "report_srtt_pct": 0,
                "rtt_min_window_ms": 10000,
                "standing_window_pct": 50,
                "competitive_start_windows": 0,
                "mode_window_rtts": 5,
                "mode_max_window_rtts": 4,
                "mode_max_of_minima": 0,
                "mode_margin_us": 0,
                "inv_delta_per_rtt": 1,
                "competitive_decrease_extra": 0,
                "loss_cut_per_srtt": 1,
                "loss_mode": 0,
                "rto_halves_inv_delta": 1,
                "velocity_check_rtts": 1,
                "velocity_by_cwnd": 1,
                "velocity_max": 1048576,
                "cwnd_min_pkts": 2,
                "pacing_on_standing": 1,
            },
        ),
    },
}


def presets_of(name: str) -> Mapping[str, Preset]:
    """Return the presets of a congestion control algorithm; none if it has none."""
    return PRESETS.get(name, {})


def preset_of(name: str, preset: str) -> Preset:
    """Return a preset of a congestion control algorithm.

    Raises
    ------
    ScenarioError
        It has none of that name; the message lists those there are.
    """
    known = presets_of(name)
    if preset in known:
        return known[preset]
    if not known:
        raise ScenarioError(
            f"`{name}@{excerpt(preset)}`: `{name}` has no presets; use `{name}`", key="cc"
        )
    there = ", ".join(f"`{name}@{each}`" for each in known)
    raise ScenarioError(f"`{name}` has no preset `{excerpt(preset)}`; use {there}", key="cc")
