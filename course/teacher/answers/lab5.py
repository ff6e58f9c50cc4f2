"""Model answers of lab 5, for the number 42."""

# answer: number
number = 42

# answer: prediction
prediction = "It stays at one BDP and does not fall at losses."

# answer: who
who = {"a": "bbr", "b": "vegas", "c": "cubic", "d": "copa", "e": "reno"}

# answer: kept
kept = 0.7

# answer: dips_s
dips_s = 10.2
