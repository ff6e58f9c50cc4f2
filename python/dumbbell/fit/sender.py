"""The algorithm that sent what a capture has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dumbbell.base.errors import CaptureError, ScenarioError
from dumbbell.base.quantities.printable import printable
from dumbbell.capture_analysis import Analysis
from dumbbell.capture_analysis.analyze import STDIN
from dumbbell.congestion_control import CongestionControlChoice, congestion_controls
from dumbbell.identify import identify

__all__ = ["USUAL", "checked_sender", "sender_of"]

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


def sender_of(
    path: str | Path, analysis: Analysis, connection: int, points: Sequence[str] | None
) -> tuple[str, str]:
    """Return the algorithm of a connection's sender, and how it is known.

    Raises
    ------
    CaptureError
        The capture's run has an algorithm that is not built in: a result runs no code.
    """
    group = analysis.group_of(connection)
    if group is not None:
        own = analysis.congestion_controls[group].removeprefix("linux/")
        if own.partition(":")[0].partition("@")[0] not in congestion_controls():
            raise CaptureError(
                f"{printable(str(path))}: was sent by `{printable(own)}`, which is not built in; "
                "name what stands for it: `--sender CC`"
            )
        return own, "the run's own"
    if str(path) != STDIN:
        for each in identify(path, points=points).connections:
            if each.protocol != "tcp" or each.connection != connection or not each.algorithm:
                continue
            if each.algorithm in congestion_controls():
                return each.algorithm, f"identified, {100 * (each.probability or 0):.0f} %"
            return USUAL, f"in place of {each.algorithm}, which is not built in"
        return USUAL, "assumed, because it was not identified; `--sender CC` sets it"
    return USUAL, "assumed, because a pipe is read once; `--sender CC` sets it"
