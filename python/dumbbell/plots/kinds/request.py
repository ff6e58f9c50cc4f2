"""What somebody wants drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dumbbell.plots.arrange import Panel, arrange
from dumbbell.plots.tidy import Quantity, Source, Values, quantity_of, values_of

__all__ = ["Request"]


@dataclass(frozen=True)
class Request:
    """What is drawn, of which results.

    Attributes
    ----------
    sources
        The results.
    names
        Of the quantities.
    x, y
        Axes: along x, or that distinguishes series; and along y.
    labels
        Names of the results; of one result, of its groups.
    """

    sources: Sequence[Source]
    names: Sequence[str]
    x: str | None = None
    y: str | None = None
    labels: Sequence[str] = ()

    def quantity(self, name: str) -> Quantity:
        """Return a quantity that every result has."""
        return quantity_of(self.sources, name)

    def values(self, name: str) -> list[Values]:
        """Return the values of a quantity."""
        return values_of(self.sources, name)

    def panels(
        self, name: str, values: Sequence[Values] | None = None, *, joined: bool = False
    ) -> list[Panel]:
        """Return the values of a quantity, arranged; a lone group's algorithms `joined` or not."""
        found = self.values(name) if values is None else values
        by_group = len({each.group for each in found}) > 1 or not self.quantity(name).of_links
        return arrange(
            self.sources, found, x=self.x, by_group=by_group, joined=joined, labels=self.labels
        )
