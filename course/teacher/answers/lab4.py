"""Model answers of lab 4."""

# answer: prediction
prediction = {"reno": 4, "cubic": 4, "bbr": 1}

# answer: ratios
ratios = {"reno": 5.14, "cubic": 2.92, "bbr": 0.78}

# answer: exponent
exponent = 2.14

# answer: remedy
remedy = {"queue": "fq_codel", "buffer": "1bdp"}
