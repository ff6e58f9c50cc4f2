"""What distinguishes one algorithm's flow from another's, as numbers."""

from __future__ import annotations

from dumbbell.identify.features.vector import FEATURES, GROUPS, features_of

__all__ = ["FEATURES", "GROUPS", "features_of"]
