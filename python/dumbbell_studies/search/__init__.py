"""The scenario in which a CCA does worst, found and made small: docs/search.md."""

from dumbbell_studies.search.search import SearchProgress, SearchResult, confirm, search

__all__ = ["SearchProgress", "SearchResult", "confirm", "search"]
