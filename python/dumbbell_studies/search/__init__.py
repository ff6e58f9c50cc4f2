"""The scenario in which a CCA does worst, found and made small: docs/search.md.

`search.py` comes first, then `evolution.py`, `shrink.py` and `evaluator.py` (runs and scores). What
is bad is in `dumbbell.compare.worst`, what a scenario may have in `dumbbell.scenario_space`.
"""

from dumbbell_studies.search.search import SearchProgress, SearchResult, confirm, search

__all__ = ["SearchProgress", "SearchResult", "confirm", "search"]
