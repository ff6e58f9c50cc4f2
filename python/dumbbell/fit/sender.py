"""The algorithm that sent what a capture has."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from dumbbell.base.errors import CaptureError, ScenarioError
from dumbbell.base.quantities.printable import printable
from dumbbell.capture_analysis import Analysis
from dumbbell.capture_analysis.analyze import STDIN
from dumbbell.congestion_control import CongestionControlChoice, congestion_controls
from dumbbell.identify import Identified, identify

__all__ = ["USUAL", "Senders", "checked_sender"]

#: Linux's default, where nothing says otherwise.
USUAL = "cubic"


def checked_sender(cc: str) -> str:
    """Return the algorithm that a user names.

    Raises
    ------
    CongestionControlError
        There is no such algorithm.
    ScenarioError
        It is QUIC's.
    """
    if CongestionControlChoice.parse(cc).is_quic:
        raise ScenarioError(f"`{cc}` is QUIC; a fit takes connections of TCP")
    return cc


class Senders:
    """Algorithms of a capture's connections, which is identified once, when that is needed.

    Parameters
    ----------
    path
        The capture.
    analysis
        Of it.
    points
        Capture points to look at.
    """

    def __init__(self, path: str | Path, analysis: Analysis, points: Sequence[str] | None) -> None:
        self.path = path
        self.analysis = analysis
        self.points = points

    @cached_property
    def identified(self) -> dict[int, Identified]:
        """Connections of TCP with a name."""
        found = identify(self.path, points=self.points).connections
        return {
            each.connection: each for each in found if each.protocol == "tcp" and each.algorithm
        }

    def of(self, connection: int) -> tuple[str, str]:
        """Return the algorithm of a connection's sender, and how it is known.

        Raises
        ------
        CaptureError
            The capture's run has an algorithm that is not built in: a result runs no code.
        """
        group = self.analysis.group_of(connection)
        if group is not None:
            own = self.analysis.congestion_controls[group].removeprefix("linux/")
            if own.partition(":")[0].partition("@")[0] not in congestion_controls():
                raise CaptureError(
                    f"{printable(str(self.path))}: was sent by `{printable(own)}`, which is not "
                    "built in; name what stands for it: `--sender CC`"
                )
            return own, "the run's own"
        if str(self.path) == STDIN:
            return USUAL, "assumed, because a pipe is read once; `--sender CC` sets it"
        each = self.identified.get(connection)
        if each is None or each.algorithm is None:
            return USUAL, "assumed, because it was not identified; `--sender CC` sets it"
        if each.algorithm in congestion_controls():
            return each.algorithm, f"identified, {100 * (each.probability or 0):.0f} %"
        return USUAL, f"in place of {each.algorithm}, which is not built in"

    def cc_of(self, connection: int) -> str:
        """Return the algorithm of another connection: the usual one where its own cannot run."""
        try:
            return self.of(connection)[0]
        except CaptureError:
            return USUAL
