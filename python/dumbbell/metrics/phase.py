"""A part of a run by its times: what metrics look at instead of the whole run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dumbbell.base.errors import ResultError, ScenarioError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.quantity import Time

if TYPE_CHECKING:
    from dumbbell.run import Run
    from dumbbell.scenario import Scenario

__all__ = ["IN", "Phase"]

#: Between a metric's name and the phase that it is of, in rows and suites.
IN = " in "


@dataclass(frozen=True)
class Phase:
    """The time between two events of a run: ``20s..40s``.

    Attributes
    ----------
    start, end
        From the start of the run.

    Examples
    --------
    >>> from dumbbell.metrics import Phase
    >>> str(Phase.parse("20s..40s"))
    '20s..40s'
    """

    start: Time
    end: Time

    @classmethod
    def parse(cls, text: str) -> Phase:
        """Read a phase.

        Raises
        ------
        ScenarioError
            It is not two times, or ends before it begins.
        """
        start, dots, end = text.strip().partition("..")
        if not dots:
            raise ScenarioError(
                f"phase `{excerpt(text)}` is not two times; use `20s..40s`", key="phase"
            )
        phase = cls(Time.parse(start, "phase"), Time.parse(end, "phase", minimum=1))
        if phase.end <= phase.start:
            raise ScenarioError(
                f"phase `{phase}` does not end after it begins; use a later end", key="phase"
            )
        return phase

    def __str__(self) -> str:
        return f"{self.start}..{self.end}"

    def check(self, scenario: Scenario) -> None:
        """Check that a scenario's runs have the phase.

        Raises
        ------
        ScenarioError
            They end before it does, or record no time series.
        """
        if scenario.sample == 0:
            raise ScenarioError(
                f"phase `{self}` needs time series; set `sample`, e.g. `10ms`", key="sample"
            )
        if self.end > scenario.time:
            raise ScenarioError(
                f"phase `{self}` ends after a run of `{scenario.time}`; use an earlier end or a "
                "longer `time`",
                key="time",
            )

    def span_us(self, run: Run) -> tuple[int, int]:
        """Return where it begins and ends, µs from the start of the run.

        Raises
        ------
        ResultError
            The run has no time series, or is over before the phase.
        """
        if "flows" not in run.tables or "queue" not in run.tables:
            raise ResultError(
                f"phase `{self}` needs time series, but the run has none; run it with `sample`, "
                "e.g. `10ms`"
            )
        if self.start.ns >= run.summary["duration_ns"]:
            raise ResultError(f"phase `{self}` begins after a run of `{run.scenario.time}`")
        return self.start.ns // 1000, self.end.ns // 1000
