"""Boards: how far a congestion control algorithm is from the ideal one, as a number with its parts.

docs/score.md says how it is computed, and why.

`league.py` (`score_board`) comes first, then `control.py` and `aggregate.py` (the rules),
`board_file.py` (a board's TOML) and `draw.py` (held-out cells). The boards are in `boards/`.
"""

from dumbbell_studies.score.board import Board, Category
from dumbbell_studies.score.board_file import build_board, find_board, read_board, shipped_boards
from dumbbell_studies.score.bound import Bound
from dumbbell_studies.score.control import ControlScore
from dumbbell_studies.score.league import League, score_board
from dumbbell_studies.score.score_curve import ScoreCurve
from dumbbell_studies.score.scored_case import ScoredCase

__all__ = [
    "Board",
    "Bound",
    "Category",
    "ControlScore",
    "League",
    "ScoreCurve",
    "ScoredCase",
    "build_board",
    "find_board",
    "read_board",
    "score_board",
    "shipped_boards",
]
