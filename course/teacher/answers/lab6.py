"""Model answers of lab 6; the algorithm is mine.bpf.c next to this file."""

# answer: prediction
prediction = "alone"

# answer: file
file = "mine/mine.bpf.c"
