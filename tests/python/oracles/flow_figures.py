"""What a program says of one direction of a connection at one point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["Direction", "Figures", "FiguresByDirection"]


class Direction(NamedTuple):
    """From where to where."""

    source: str
    source_port: int
    destination: str
    destination_port: int

    def reversed(self) -> Direction:
        return Direction(self.destination, self.destination_port, self.source, self.source_port)


Figures = Mapping[str, float | None]
FiguresByDirection = Mapping[Direction, Figures]
