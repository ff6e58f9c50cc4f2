"""What a connection's series says of its path without a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dumbbell.fit.connection_series import ConnectionSeries, Floats
from dumbbell.fit.noise import noise_s

__all__ = ["Evidence", "LossEvent"]

#: A queue shorter than this, s and as a share of the base RTT, may be delays of hosts.
MIN_QUEUE_S, MIN_QUEUE_SHARE = 1e-3, 0.03
#: Nor from packets that were sent at once: receivers acknowledge the second (RFC 9293 §3.8.6.3).
MIN_QUEUE_PKTS = 2.5
#: A full queue has at least this share of the delay at this quantile, in %.
LONG_SHARE, LONG_QUANTILE = 0.9, 99.5
#: Packets acknowledged in a span without a whole window, for it to have a rate.
MIN_SPAN_PKTS = 40
#: Queueing delays within this share, or a packet, of the longest before a loss: the queue was full.
FULL_SHARE = 0.95
#: RTTs, packets and seconds over which a rate is measured, so that single packets do not count.
WINDOW_RTTS, WINDOW_PKTS, WINDOW_S = 8, 200, 0.5
#: The rate says what is a queue, and where there is a queue the rate is known: rounds of that.
ROUNDS = 3
#: RTTs over which a share moves where flows compete, and a link's rate does not; windows, of which
#: fewer say nothing.
MOVE_RTTS, MOVE_WINDOWS = 4, 8
#: Windows that a rate needs, and the standard error of its logarithm.
ENOUGH_WINDOWS, SURE = 3, 0.01
#: Retransmissions within these RTTs are of one loss event.
EVENT_RTTS = 2
#: RTTs in which the packet that filled the queue was acknowledged, before the loss was seen.
FILL_RTTS = 1.5
#: Quantiles of the queueing delay that two records are compared by.
QUANTILES = (5, 25, 50, 75, 95)


class LossEvent(NamedTuple):
    """Losses of about one round trip."""

    time_s: float
    end_s: float
    #: Longest queueing delay just before, s.
    queue_s: float
    retransmitted_pkts: int


@dataclass(frozen=True, eq=False)
class Evidence:
    """Direct measurements of a connection.

    Attributes
    ----------
    base_rtt_s
        Smallest RTT, without a full packet's own time on the link.
    base_rtt_low_s
        It may have been as small as this.
    packet_s
        A full packet's own time on the link, which no queueing delay here includes.
    rates_bps
        On the wire, in windows in which the queue was never empty.
    busy_share
        Of the time: packets waited.
    moves
        Standard deviation of the logarithm of the rate over a few RTTs, while packets waited.
    link_bps
        The rate of the bottleneck from the spacing of ACKs; 0 if that is not known.
    queue_s
        Quantiles of the queueing delay.
    losses
        Loss events, the first first.
    loss_share
        Retransmitted packets of all.
    noise_s
        By how much neighbouring samples of the RTT are off a straight line.
    changes
        From when on, s since the first bin, the link had which rate, if it changed.
    """

    series: ConnectionSeries
    base_rtt_s: float
    base_rtt_low_s: float
    packet_s: float
    rates_bps: Floats
    busy_share: float
    moves: float
    link_bps: float
    queue_s: Floats
    losses: tuple[LossEvent, ...]
    loss_share: float
    noise_s: float = 0.0
    changes: tuple[tuple[float, float], ...] = ()

    @classmethod
    def of(
        cls,
        series: ConnectionSeries,
        link_bps: float = 0.0,
        changes: tuple[tuple[float, float], ...] = (),
    ) -> Evidence:
        """Measure a connection whose ACKs say a rate of the bottleneck, or several."""
        own_s, rates = 8 * series.payload_bytes / max(series.goodput_bps, 1.0), np.zeros(0)
        for _ in range(ROUNDS):
            own_s = min(own_s, most_own_s(series))
            base_s, low_s = base_rtt(series, own_s)
            queue = series.rtt_s - base_s - own_s
            least_s = max(MIN_QUEUE_S, MIN_QUEUE_SHARE * base_s, MIN_QUEUE_PKTS * own_s)
            spans = busy_spans(series, queue, least_s)
            rates = window_rates(series, spans, base_s, WINDOW_RTTS, WINDOW_S)
            if rates.size:
                own_s = 8 * series.wire_bytes / float(np.median(rates))
        losses = loss_events(series, queue, base_s)
        calm = without(spans, losses, base_s + float(queue.max(initial=0.0)))
        moves = window_rates(series, calm, base_s, MOVE_RTTS, 0.0)
        pkts = series.sent_bytes[-1] / series.payload_bytes
        return cls(
            series=series,
            base_rtt_s=base_s,
            base_rtt_low_s=low_s,
            rates_bps=rates,
            packet_s=own_s,
            busy_share=sum(end - begin for begin, end in spans) / max(series.duration_s, 1e-9),
            moves=float(np.std(np.log(moves))) if moves.size >= MOVE_WINDOWS else 0.0,
            link_bps=link_bps,
            queue_s=np.percentile(queue, QUANTILES) if queue.size else np.zeros(len(QUANTILES)),
            losses=losses,
            loss_share=float(series.retransmitted_pkts.sum()) / max(pkts, 1.0),
            noise_s=noise_s(series, own_s),
            changes=changes,
        )

    @property
    def rate_bps(self) -> float:
        """On the wire while packets waited; the mean of all of it where none did."""
        if self.rates_bps.size:
            return float(np.median(self.rates_bps))
        return self.series.goodput_bps * self.series.wire_per_payload

    @property
    def has_rate(self) -> bool:
        """Whether enough windows agree on the rate."""
        if self.rates_bps.size < ENOUGH_WINDOWS:
            return False
        return bool(np.std(np.log(self.rates_bps)) < SURE * np.sqrt(self.rates_bps.size))

    @property
    def queue_long_s(self) -> float:
        """A queueing delay that hardly any sample exceeded, s."""
        if not self.series.rtt_s.size:
            return 0.0
        longest_s = float(np.percentile(self.series.rtt_s, LONG_QUANTILE))
        return longest_s - self.base_rtt_s - self.packet_s

    @property
    def queue_full_s(self) -> float:
        """The queueing delay at which most losses were that found a long queue, s."""
        delays = [each.queue_s for each in self.losses]
        long = [each for each in delays if each >= LONG_SHARE * self.queue_long_s]
        if not long:
            return max(delays, default=0.0)
        return max(long, key=lambda each: (len(self._losses_at(each)), each))

    @property
    def full(self) -> tuple[LossEvent, ...]:
        """The losses at which the queue was that long, or longer."""
        least_s = self._least_s(self.queue_full_s)
        return tuple(each for each in self.losses if each.queue_s >= least_s)

    def _losses_at(self, queue_s: float) -> list[LossEvent]:
        least_s = self._least_s(queue_s)
        return [each for each in self.losses if least_s <= each.queue_s <= queue_s]

    def _least_s(self, queue_s: float) -> float:
        return min(FULL_SHARE * queue_s, queue_s - self.packet_s)

    @property
    def queue_max_s(self) -> float:
        """The longest queueing delay."""
        return max(float(self.series.rtt_s.max(initial=0.0)) - self.base_rtt_s - self.packet_s, 0.0)


def most_own_s(series: ConnectionSeries) -> float:
    """Return the longest own time that a packet can have had: the handshake's had nearly none."""
    handshake = series.row["rtt_handshake_us"]
    if not handshake or not series.rtt_s.size:
        return float("inf")
    return max(float(series.rtt_s.min()) - float(handshake) / 1e6, 0.0)


def base_rtt(series: ConnectionSeries, own_s: float) -> tuple[float, float]:
    """Return the smallest RTT of an empty path, and how small it may have been.

    The limit is Robson and Whitlock's for the end of a distribution, from the two smallest
    samples (Biometrika 51, 1964), at 90 %.
    """
    samples = (np.unique(series.rtt_s)[:2] - own_s).tolist()
    if series.row["rtt_handshake_us"]:
        samples.append(series.row["rtt_handshake_us"] / 1e6)
    samples = sorted(each for each in samples if each > 0)
    if not samples:
        return 0.0, 0.0
    gap = samples[1] - samples[0] if len(samples) > 1 else 0.0
    return samples[0], max(samples[0] - 9 * gap, 0.0)


def busy_spans(
    series: ConnectionSeries, queue: Floats, least_s: float
) -> list[tuple[float, float]]:
    """Return the spans of time in which every sample of the RTT says that packets waited."""
    busy = queue > least_s
    edges = np.flatnonzero(np.diff(np.concatenate(([0], busy.astype(np.int8), [0]))))
    times = series.rtt_time_s
    spans = [
        (float(times[begin]), float(times[end - 1]))
        for begin, end in zip(edges[::2], edges[1::2], strict=True)
    ]
    least_bytes = MIN_SPAN_PKTS * series.payload_bytes
    return [each for each in spans if series.acked_between(*each) > least_bytes]


def window_rates(
    series: ConnectionSeries,
    spans: list[tuple[float, float]],
    base_s: float,
    rtts: int,
    least_s: float,
) -> Floats:
    """Return the rate on the wire, bit/s, in windows of a number of RTTs within spans."""
    if not spans:
        return np.zeros(0)
    rtt_s = base_s + float(np.median(series.rtt_s - base_s)) / 2
    window_s = max(rtts * rtt_s, least_s)
    found = []
    for begin, end in spans:
        window = max(
            window_s, (end - begin) * WINDOW_PKTS * series.payload_bytes
            / max(series.acked_between(begin, end), 1.0),
        )  # fmt: skip
        marks = np.linspace(begin, end, max(int((end - begin) / window), 1) + 1)
        at = np.searchsorted(series.time_s, marks, side="right") - 1
        seconds, acked = np.diff(series.time_s[at]), np.diff(series.acked_bytes[at])
        good = seconds > 0
        whole = end - begin >= window
        found.append((whole, 8 * acked[good] / seconds[good] * series.wire_per_payload))
    # Spans shorter than a window count only where there is none that is longer.
    has_whole = any(whole for whole, _ in found)
    chosen = [rates for whole, rates in found if whole or not has_whole]
    rates = np.concatenate(chosen) if chosen else np.zeros(0)
    return rates[rates > 0]


def without(
    spans: list[tuple[float, float]], losses: tuple[LossEvent, ...], longest_rtt_s: float
) -> list[tuple[float, float]]:
    """Return the spans without the recoveries, in which ACKs stand still and then jump."""
    for loss in losses:
        begin, end = loss.time_s - longest_rtt_s, loss.end_s + EVENT_RTTS * longest_rtt_s
        pieces = [piece for a, b in spans for piece in ((a, min(b, begin)), (max(a, end), b))]
        spans = [(a, b) for a, b in pieces if b > a]
    return spans


def loss_events(series: ConnectionSeries, queue: Floats, base_s: float) -> tuple[LossEvent, ...]:
    """Return the loss events: retransmissions that follow one another, and the queue before."""
    events: list[LossEvent] = []
    longest_s = base_s + float(queue.max(initial=0.0))
    for index in np.flatnonzero(series.retransmitted_pkts > 0):
        time_s, pkts = float(series.time_s[index]), int(series.retransmitted_pkts[index])
        last = events[-1] if events else None
        if last and time_s - last.end_s < EVENT_RTTS * longest_s:
            pkts += last.retransmitted_pkts
            events[-1] = last._replace(end_s=time_s, retransmitted_pkts=pkts)
            continue
        begin, end = np.searchsorted(
            series.rtt_time_s, [time_s - FILL_RTTS * longest_s, time_s], side="right"
        )
        full_s = float(queue[begin:end].max(initial=0.0))
        events.append(LossEvent(time_s, time_s, full_s, pkts))
    return tuple(events)
