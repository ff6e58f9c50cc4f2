"""Model answers of lab 1."""

# answer: prediction
prediction = 1.3  # half of 66 packets, at 40 ms each: forgets that the RTT grows


# answer: period_s
def period_s(rate_mbps, rtt_ms, buffer_bdp):
    """Seconds between two losses of a Reno flow alone."""
    pkts_per_s = rate_mbps * 1e6 / 8 / 1514
    peak = (1 + buffer_bdp) * pkts_per_s * rtt_ms / 1e3
    # From peak / 2 to peak, a packet per round trip, of cwnd / rate each: the sum of cwnd / rate.
    return (peak**2 - (peak / 2) ** 2) / 2 / pkts_per_s


# answer: smallest_bdp
smallest_bdp = 1.0  # path and buffer are 2 BDP; half of it fills the path

# answer: even_s
even_s = 15
