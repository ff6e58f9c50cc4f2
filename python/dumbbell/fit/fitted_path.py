"""The result of a fit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dumbbell._core import ENGINE_VERSION
from dumbbell.base.quantities.printable import printable
from dumbbell.base.writing import write_file
from dumbbell.fit.evidence import Evidence
from dumbbell.fit.interval import Interval
from dumbbell.fit.not_shown import not_shown, unexplained
from dumbbell.fit.path import PathModel
from dumbbell.fit.simulated import Simulated
from dumbbell.scenario import Scenario

__all__ = ["FIT_SCHEMA_VERSION", "Explanation", "FittedPath"]

#: Version of `FittedPath.to_dict`.
FIT_SCHEMA_VERSION = 1
OTHERS = "what the capture's other connections ({}) did to this one: the fit does not look at them"


@dataclass(frozen=True)
class Explanation:
    """A path that explains the capture, and how probable it is next to the others."""

    path: PathModel
    probability: float


@dataclass(frozen=True, eq=False)
class FittedPath:
    """A path, how sure its values are, and what else explains the capture.

    Attributes
    ----------
    capture, connection, other_connections
        What was fitted, and how many others the capture has.
    cc, how_known, mss_bytes
        The sender's algorithm, how that is known, and its segments.
    seen
        What was measured.
    path
        That explains it best.
    distance
        Squared differences of the statistics that were compared, in standard deviations, added up.
    runs
        Simulated on that path.
    explanations
        It, and others that explain the capture nearly as well.
    intervals
        Of 90 %, by the path's field.
    disagreement
        What several captures do not agree on; nothing if they do.
    """

    capture: str
    connection: int
    other_connections: int
    cc: str
    how_known: str
    mss_bytes: int | None
    seen: Evidence
    path: PathModel
    distance: float
    runs: tuple[Simulated, ...]
    explanations: tuple[Explanation, ...]
    intervals: dict[str, Interval]
    disagreement: str = ""

    @property
    def scenario(self) -> Scenario:
        """The scenario: the capture's algorithm on the path that was fitted."""
        return self.path.scenario(
            self.cc, time_s=self.seen.series.duration_s, seed=1, mss_bytes=self.mss_bytes
        )

    @property
    def notes(self) -> list[str]:
        """What the capture does not show."""
        others = [OTHERS.format(self.other_connections)] if self.other_connections else []
        return [*not_shown(self.seen, self.path, len(self.explanations)), *others]

    @property
    def warning(self) -> str:
        """Why the result is not to be trusted; nothing if it is."""
        return "; ".join(filter(None, (unexplained(self.distance), self.disagreement)))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as `--json` prints it."""
        return {
            "schema_version": FIT_SCHEMA_VERSION,
            "engine_version": ENGINE_VERSION,
            "capture": self.capture,
            "connection": self.connection,
            "cc": self.cc,
            "duration_s": self.seen.series.duration_s,
            "goodput_bps": self.seen.series.goodput_bps,
            "path": self.path.to_dict(),
            "intervals": {
                name: [each.low, each.value, each.high] for name, each in self.intervals.items()
            },
            "distance": self.distance,
            "explanations": [
                {"probability": each.probability, "path": each.path.to_dict()}
                for each in self.explanations
            ],
            "warning": self.warning,
            "notes": self.notes,
            "scenario": self.scenario.to_dict(),
        }

    def save(self, path: Path) -> None:
        """Write the scenario, with what is not sure as comments."""
        lines = [
            f"# Fitted to {self.capture}, connection {self.connection}, sent by {self.cc}.",
            *([f"# Warning: {self.warning}"] if self.warning else []),
            *(f"# {line}" for line in self.lines),
            *(f"# Not shown by the capture: {note}" for note in self.notes),
        ]
        lines = [printable(line) for line in lines]
        write_file(path, "\n".join(lines) + "\n\n" + self.scenario.to_toml())

    @property
    def lines(self) -> list[str]:
        """The path in words, a line a value."""
        return self.path.lines(self.intervals)
