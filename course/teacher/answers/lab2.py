"""Model answers of lab 2."""

# answer: prediction
prediction = 100


# answer: longest_wait_ms
def longest_wait_ms(rate_mbps, buffer_kb):
    """The longest time that a packet waits in a full buffer."""
    return buffer_kb * 8 / rate_mbps  # kbit / (kbit/ms)


# answer: largest_bdp
largest_bdp = 3.0

# answer: queue
queue = "fq_codel"
