"""Studies made with `dumbbell`: papers, boards, searches, conformance, identification, tuning."""
