"""What a verdict is made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dumbbell.scenario import Scenario

if TYPE_CHECKING:
    from dumbbell.records.rows import FlowRecord

__all__ = ["INVALID", "NOTE", "OK", "WARN", "Reason", "Verdict", "about_flows", "worst"]

OK, WARN, INVALID = "OK", "WARN", "INVALID"
#: Status of what may have been a danger to a run, and is no finding about it.
NOTE = "NOTE"


def worst(statuses: Iterable[str]) -> str:
    """Return the worst of some verdicts; OK when there are none."""
    return max(statuses, key=(OK, WARN, INVALID).index, default=OK)


@dataclass(frozen=True)
class Reason:
    """A problem with a run.

    Attributes
    ----------
    status
        ``WARN``: the numbers are right, but check this; ``INVALID``: do not use them; ``NOTE``: a
        circumstance, from which the run need not have suffered.
    check
        Which check found it: one of the names in docs/format-run.md.
    message
        What it found, with numbers.
    """

    status: str
    check: str
    message: str

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Verdict:
    """OK, WARN or INVALID, and why.

    Attributes
    ----------
    reasons
        What is wrong; none of a run that is OK.
    notes
        Circumstances from which the run need not have suffered.
    """

    reasons: tuple[Reason, ...] = field(default=())
    notes: tuple[Reason, ...] = field(default=())

    @classmethod
    def of(cls, found: Iterable[Reason]) -> Verdict:
        """Return the verdict of what the checks found."""
        all_ = tuple(found)
        return cls(
            tuple(each for each in all_ if each.status != NOTE),
            tuple(each for each in all_ if each.status == NOTE),
        )

    @property
    def status(self) -> str:
        """The worst of the reasons."""
        return worst(reason.status for reason in self.reasons)

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as in `--json`."""
        reasons = [
            {"status": r.status, "check": r.check, "message": r.message} for r in self.reasons
        ]
        notes = [{"check": note.check, "message": note.message} for note in self.notes]
        return {"status": self.status, "reasons": reasons, **({"notes": notes} if notes else {})}


def about_flows(
    status: str,
    check: str,
    what: str,
    found: Sequence[tuple[FlowRecord, str]],
    scenario: Scenario,
) -> Iterator[Reason]:
    """Yield one reason for all flows that it applies to, with the first as an example."""
    if not found:
        return
    flow, detail = found[0]
    label = scenario.group_labels[flow["group"]]
    example = f"flow {flow['flow']} ({label}): {detail}"
    yield Reason(status, check, f"{len(found)} of {scenario.flow_count} flows {what}: {example}")
