"""Adaptive video: its bitrate, its stalls, and how it is rated."""

from __future__ import annotations

from dumbbell.metrics.completion import scaled
from dumbbell.metrics.media import of_flows, sums
from dumbbell.metrics.metric import PERCENT, register
from dumbbell.metrics.observation import Observation

__all__ = [
    "qoe_lin", "stall_ratio", "startup_delay_s", "video_bitrate_bps", "video_stalls",
    "video_switches",
]  # fmt: skip


@register(unit="bit/s", title="video bitrate", better="higher", per="group")
def video_bitrate_bps(obs: Observation) -> list[float | None]:
    """Mean bitrate of a group's video: the mean over players of the rates of their chunks.

    The rate that a chunk was chosen at, for any size. Not known after a warm-up, as the other
    metrics of video.

    References
    ----------
    Yin, Jindal, Sekar, Sinopoli: "A control-theoretic approach for dynamic adaptive video streaming
    over HTTP", SIGCOMM 2015.
    """
    return of_flows(obs, "bitrate_mean_bps")


@register(title="time stalled", better="lower", per="group", shown=PERCENT)
def stall_ratio(obs: Observation) -> list[float | None]:
    """Share of the time from a group's players' first picture on in which their buffer was empty.

    Σ stall / Σ (stall + played), over the players.

    References
    ----------
    Dobrian et al.: "Understanding the impact of video quality on user engagement", SIGCOMM 2011:
    the buffering ratio.
    """
    stalled, played = sums(obs, "stall_us"), sums(obs, "played_us")
    return [
        part / (part + rest) if part is not None and rest is not None and part + rest else None
        for part, rest in zip(stalled, played, strict=True)
    ]


@register(title="stalls per player", better="lower", per="group")
def video_stalls(obs: Observation) -> list[float | None]:
    """How often the buffer of a group's players became empty after the start, the mean over them.

    References
    ----------
    Dobrian et al. 2011: the rate of buffering events.
    """
    return of_flows(obs, "stalls")


@register(unit="s", title="start-up delay of video", better="lower", per="group")
def startup_delay_s(obs: Observation) -> list[float | None]:
    """Time from a player's first request to its first picture, the mean over a group's players.

    References
    ----------
    Dobrian et al. 2011: the join time.
    """
    return [scaled(value, 1e-6) for value in of_flows(obs, "startup_us")]


@register(title="switches per player", better="lower", per="group")
def video_switches(obs: Observation) -> list[float | None]:
    """How often a group's players chose another rate than for the chunk before, the mean over them.

    References
    ----------
    Yin et al. 2015: the variation of quality.
    """
    return of_flows(obs, "switches")


@register(title="QoE_lin per player", better="higher", per="group")
def qoe_lin(obs: Observation) -> list[float | None]:
    """Linear quality of experience, the mean over a group's players: Σ R - 4.3·stall - Σ |ΔR|.

    R is the rate of a chunk in Mbit/s, ΔR its difference to the chunk before, the stall in s. A sum
    over chunks: it grows with the length of the run.

    References
    ----------
    Yin et al. 2015; Mao, Netravali, Alizadeh: "Neural adaptive video streaming with Pensieve",
    SIGCOMM 2017 (the coefficients).
    """
    return [scaled(value, 1e-3) for value in of_flows(obs, "qoe_lin_milli")]
