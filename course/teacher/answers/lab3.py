"""Model answers of lab 3."""

# answer: prediction
prediction = {"1bdp": 50, "16bdp": 50}

# answer: winners
winners = {
    "copa-cubic 0.5bdp": "copa",
    "copa-cubic 4bdp": "cubic",
    "copa-cubic 16bdp": "cubic",
    "copa-bbr 0.5bdp": "bbr",
    "copa-bbr 4bdp": "bbr",
    "copa-bbr 16bdp": "copa",
}

# answer: even_bdp
even_bdp = 2.25

# answer: believed_rtt_ms
believed_rtt_ms = 215

# answer: cwnd_in_own_bdp
cwnd_in_own_bdp = 2.18
