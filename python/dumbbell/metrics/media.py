"""Media at a constant rate: one-way delay, jitter, what is late or lost, how a call sounds."""

from __future__ import annotations

from dumbbell.metrics.completion import scaled
from dumbbell.metrics.metric import PERCENT, register
from dumbbell.metrics.observation import Observation
from dumbbell.statistics import mean

__all__ = [
    "jitter_us", "late_or_lost_share", "mos", "one_way_delay_mean_us", "one_way_delay_p50_us",
    "one_way_delay_p95_us", "one_way_delay_p99_us", "r_factor",
]  # fmt: skip


@register(unit="us", title="mean one-way delay", better="lower", per="group")
def one_way_delay_mean_us(obs: Observation) -> list[float | None]:
    """Mean one-way delay of a group: the mean over its flows of each flow's mean.

    Of datagrams from sending to arrival; of a constant rate over TCP from writing to the arrival of
    the last byte in order, so that waiting for TCP counts. Not known after a warm-up.

    References
    ----------
    RFC 7679; RFC 5166 §2.1.2.
    """
    return of_flows(obs, "one_way_delay_mean_us")


@register(unit="us", title="median one-way delay", better="lower", per="group")
def one_way_delay_p50_us(obs: Observation) -> list[float | None]:
    """Median one-way delay of a group: the mean over flows of each one's median.

    Otherwise as `one_way_delay_mean_us`.

    References
    ----------
    RFC 7679 §5.
    """
    return of_flows(obs, "one_way_delay_p50_us")


@register(unit="us", title="one-way delay, 95th percentile", better="lower", per="group")
def one_way_delay_p95_us(obs: Observation) -> list[float | None]:
    """95th percentile of the one-way delay of a group: the mean over flows of each one's.

    Otherwise as `one_way_delay_mean_us`.

    References
    ----------
    RFC 7679 §5.
    """
    return of_flows(obs, "one_way_delay_p95_us")


@register(unit="us", title="one-way delay, 99th percentile", better="lower", per="group")
def one_way_delay_p99_us(obs: Observation) -> list[float | None]:
    """99th percentile of the one-way delay of a group: the mean over flows of each one's.

    Otherwise as `one_way_delay_mean_us`.

    References
    ----------
    RFC 7679 §5.
    """
    return of_flows(obs, "one_way_delay_p99_us")


@register(unit="us", title="interarrival jitter", better="lower", per="group")
def jitter_us(obs: Observation) -> list[float | None]:
    """Interarrival jitter of a group: the mean over its flows of J at the end of the run.

    J += (|D| - J) / 16 for each arrival, D the difference of its one-way delay and that of the
    arrival before it.

    References
    ----------
    RFC 3550 §6.4.1.
    """
    return of_flows(obs, "jitter_us")


@register(title="late or lost", better="lower", per="group", shown=PERCENT)
def late_or_lost_share(obs: Observation) -> list[float | None]:
    """Share of a group's datagrams that are of no use: lost, or later than their `deadline`.

    Of those that arrived or are lost; datagrams on the path at the end of the run do not count.

    References
    ----------
    RFC 5166 §2.1.3: loss as a user of real-time traffic sees it, late packets included.
    """
    of_no_use = sums(obs, "lost_datagrams", "late_datagrams")
    all_of_them = sums(obs, "lost_datagrams", "received_datagrams")
    return [
        part / total if part is not None and total else None
        for part, total in zip(of_no_use, all_of_them, strict=True)
    ]


@register(title="E-model's R", better="higher", per="group")
def r_factor(obs: Observation) -> list[float | None]:
    """Transmission rating factor of a group's calls, the mean over them: R = 93.2 - Id - Ie,eff.

    Id = 0.024·d + 0.11·(d - 177.3) where d > 177.3; d is the delay from mouth to ear in ms: the
    99th percentile of the one-way delay, at most the deadline, and a packet's interval. Ie,eff = Ie
    + (95 - Ie) · Ppl / (Ppl + Bpl), Ppl the late and lost in %; Ie 0 and Bpl 25.1 for G.711 with
    concealment, 11 and 19 for G.729A. Only with a `codec`. 80 and above is good, below 60 poor.

    References
    ----------
    ITU-T G.107, reduced as by Cole, Rosenbluth: "Voice over IP performance monitoring", CCR 31(2),
    2001; G.113 Appendix I.
    """
    return [scaled(value, 1e-3) for value in of_flows(obs, "r_milli")]


@register(title="mean opinion score", better="higher", per="group")
def mos(obs: Observation) -> list[float | None]:
    """Mean opinion score of a group's calls, 1 to 4.5: 1 + 0.035·R + 7·10⁻⁶·R·(R - 60)·(100 - R).

    R is each call's `r_factor`; the mean over the calls.

    References
    ----------
    ITU-T G.107 Annex B.
    """
    return [scaled(value, 1e-3) for value in of_flows(obs, "mos_milli")]


def of_flows(obs: Observation, name: str) -> list[float | None]:
    """Return the mean over each group's flows of what their applications measured."""
    return [mean(values) for values in obs.measured(name)]


def sums(obs: Observation, *names: str) -> list[int | None]:
    """Return the sum of some measurements over each group's flows; None where there are none."""
    by_name = [obs.measured(name) for name in names]
    return [sum(map(sum, values)) if all(values) else None for values in zip(*by_name, strict=True)]
