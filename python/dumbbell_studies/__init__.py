"""Studies made with the laboratory `dumbbell`: papers reproduced, boards, searches, tuning."""
