"""What one connection of a capture did over time: the input of a fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from dumbbell.base.errors import CaptureError
from dumbbell.capture_analysis import Analysis
from dumbbell.capture_analysis.full_packet import TIMESTAMPS_BYTES, full_payload_bytes

__all__ = ["INTERVAL", "ConnectionSeries", "Floats"]

Floats = npt.NDArray[np.float64]

#: Bins of the series that is asked for: about a packet at 12 Mbit/s.
INTERVAL = "1ms"
#: Ethernet header, as links count it.
ETHERNET_BYTES = 14
#: IPv4 and IPv6 headers without options (RFC 791, RFC 8200).
IPV4_BYTES, IPV6_BYTES = 20, 40
#: TCP's header without options (RFC 9293).
TCP_BYTES = 20


@dataclass(frozen=True, eq=False)
class ConnectionSeries:
    """The direction of a connection that carries data, at its best point.

    Attributes
    ----------
    row
        Its row of `Analysis.data`.
    time_s
        End of each bin, since the first.
    acked_bytes, arrived_bytes, sent_bytes
        Acknowledged, acknowledged also by SACK, and sent with repetitions, up to then.
    inflight_bytes
        Sent and not yet acknowledged.
    retransmitted_pkts
        Packets sent again in the bin.
    rtt_time_s, rtt_s
        Samples of the RTT, by the time they were taken.
    window_bytes
        The largest window that the receiver advertised; 0 if that is not known.
    payload_bytes, wire_bytes
        Of a full packet: what it carries, and what links count if its header is of IPv4, as in
        the simulator.
    start_s
        Of the first bin, since the capture's first packet.
    longer
        By what factor the capture's packets are longer: 1, or with IPv6 about 1.01.
    """

    row: dict[str, Any]
    time_s: Floats
    acked_bytes: Floats
    arrived_bytes: Floats
    sent_bytes: Floats
    inflight_bytes: Floats
    retransmitted_pkts: Floats
    rtt_time_s: Floats
    rtt_s: Floats
    window_bytes: float
    payload_bytes: int
    wire_bytes: int
    longer: float = 1.0
    start_s: float = 0.0

    @classmethod
    def of(cls, analysis: Analysis, connection: int) -> ConnectionSeries:
        """Take a connection's series out of an analysis.

        Raises
        ------
        CaptureError
            Nothing of it was captured over time.
        """
        row = analysis.row_of(connection)
        table = analysis.series_of(connection)
        if table.num_rows == 0:
            raise CaptureError(f"{analysis.path}: connection {connection} carried no data")

        def column(name: str) -> Floats:
            return np.asarray(table[name].to_numpy(zero_copy_only=False), dtype=np.float64)

        begin_us, width_us = column("time_us"), column("bin_us")
        time_s = (begin_us + width_us - begin_us[0]) / 1e6
        inflight, missing = column("inflight_bytes"), column("inflight_sack_bytes")
        unique = np.cumsum(column("unique_bytes"))
        rtt_s = column("rtt_us") / 1e6
        has_rtt = ~np.isnan(rtt_s)
        payload, headers, of_ipv4 = packet_sizes(row, other_mss(analysis, connection))
        return cls(
            row=row,
            time_s=time_s,
            # What was captured twice, or not at all, must not let it fall.
            acked_bytes=np.maximum.accumulate(np.maximum(unique - inflight, 0.0)),
            arrived_bytes=np.maximum.accumulate(
                np.maximum(unique - np.where(np.isnan(missing), inflight, missing), 0.0)
            ),
            sent_bytes=np.cumsum(column("payload_bytes")),
            inflight_bytes=inflight,
            retransmitted_pkts=column("retransmitted_pkts"),
            rtt_time_s=time_s[has_rtt],
            rtt_s=rtt_s[has_rtt],
            window_bytes=float(np.nan_to_num(column("window_bytes")).max()),
            payload_bytes=payload,
            wire_bytes=payload + of_ipv4,
            start_s=float(begin_us[0]) / 1e6,
            longer=(payload + headers) / (payload + of_ipv4),
        )

    def until(self, end_s: float) -> ConnectionSeries:
        """Return the beginning of it."""
        bins = int(np.searchsorted(self.time_s, end_s, side="right"))
        samples = int(np.searchsorted(self.rtt_time_s, end_s, side="right"))
        return replace(
            self,
            time_s=self.time_s[:bins],
            acked_bytes=self.acked_bytes[:bins],
            arrived_bytes=self.arrived_bytes[:bins],
            sent_bytes=self.sent_bytes[:bins],
            inflight_bytes=self.inflight_bytes[:bins],
            retransmitted_pkts=self.retransmitted_pkts[:bins],
            rtt_time_s=self.rtt_time_s[:samples],
            rtt_s=self.rtt_s[:samples],
        )

    @property
    def duration_s(self) -> float:
        """From the first bin to the last."""
        return float(self.time_s[-1])

    @property
    def goodput_bps(self) -> float:
        """Acknowledged in all of it."""
        return 8 * float(self.acked_bytes[-1]) / max(self.duration_s, 1e-9)

    @property
    def wire_per_payload(self) -> float:
        """Bytes that links count per byte that arrives."""
        return self.wire_bytes / self.payload_bytes

    @property
    def idle_share(self) -> float:
        """Share of the time in which nothing was on the way."""
        gaps = np.diff(self.time_s, append=self.time_s[-1])
        return float(gaps[self.inflight_bytes <= 0].sum()) / max(self.duration_s, 1e-9)

    def acked_between(self, begin_s: float, end_s: float) -> float:
        """Return how many bytes were acknowledged between two times."""
        begin, end = np.searchsorted(self.time_s, [begin_s, end_s], side="right") - 1
        return float(self.acked_bytes[max(end, 0)] - self.acked_bytes[max(begin, 0)])


def other_mss(analysis: Analysis, connection: int) -> int:
    """Return the MSS that the receiver announced, which limits the sender (RFC 9293 §3.7.1)."""
    best = analysis.best
    mask = pc.and_(pc.equal(best["connection"], connection), pc.invert(best["is_data"]))
    return max((each or 0 for each in best.filter(mask)["mss_bytes"].to_pylist()), default=0)


def packet_sizes(row: dict[str, Any], mss_bytes: int) -> tuple[int, int, int]:
    """Return what a full packet carries, the headers that links count, and those of IPv4."""
    options = TIMESTAMPS_BYTES if row["has_timestamps"] else 0
    of_ipv4 = ETHERNET_BYTES + IPV4_BYTES + TCP_BYTES + options
    longer = IPV6_BYTES - IPV4_BYTES if ":" in row["source"] else 0
    return full_payload_bytes(row, mss_bytes), of_ipv4 + longer, of_ipv4
