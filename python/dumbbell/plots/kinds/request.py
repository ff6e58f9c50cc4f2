"""What somebody wants drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dumbbell.plots.arrange import Panel, arrange, axis_of, other_axes
from dumbbell.plots.sweep_layout import is_of_cc
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

    @property
    def beside_algorithms(self) -> Request:
        """The same with another axis along x than that of a lone group's algorithms, if it has one.

        These stand side by side at each of its values.
        """
        axis = axis_of(self.sources, self.x)
        source = next((each for each in self.sources if each.axes), None)
        is_along = self.x is None and axis is not None and is_of_cc(axis)
        if source is None or source.group_count > 1 or not is_along:
            return self
        names = other_axes(source, axis)
        others = [each for each in source.axes if each.name in names and not is_of_cc(each)]
        longest = max(others, key=lambda each: len(each.values), default=None)
        return self if longest is None else replace(self, x=longest.name)

    def panels(
        self, name: str, values: Sequence[Values] | None = None, *, joined: bool = False
    ) -> list[Panel]:
        """Return the values of a quantity, arranged; a lone group's algorithms `joined` or not."""
        found = self.values(name) if values is None else values
        by_group = len({each.group for each in found}) > 1 or not self.quantity(name).of_links
        return arrange(
            self.sources, found, x=self.x, by_group=by_group, joined=joined, labels=self.labels
        )
