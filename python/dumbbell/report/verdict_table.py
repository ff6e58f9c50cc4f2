"""The verdicts of a sweep's runs: counts, and their notes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from dumbbell.run.verdict import INVALID, OK, WARN
from dumbbell.sweeps import SweepResult

__all__ = ["VerdictNote", "verdict_counts", "verdict_notes"]

#: Instead of a verdict: a congestion control algorithm ended the run.
FAILED = "FAILED"
#: Runs that a remark names.
EXAMPLES = 3


@dataclass(frozen=True)
class VerdictNote:
    """What a check says of some runs.

    Attributes
    ----------
    status, check
        WARN, INVALID or FAILED; the check's name.
    runs
        Of how many runs.
    message
        Of the first.
    examples
        The first runs: ``buffer=2bdp, rep 0``.
    """

    status: str
    check: str
    runs: int
    message: str
    examples: tuple[str, ...]


def verdict_counts(result: SweepResult) -> Counter[str]:
    """Count the runs by verdict; those that a congestion control algorithm crashed are FAILED."""
    rows = result.rows
    keys = zip(
        rows["cell"].to_pylist(), rows["rep"].to_pylist(), rows["verdict"].to_pylist(), strict=True
    )
    of_run = {(cell, rep): verdict for cell, rep, verdict in keys}
    counts = Counter(of_run.values())
    if result.failed:
        counts[FAILED] = len(result.failed)
    return counts


def verdict_notes(result: SweepResult) -> list[VerdictNote]:
    """Gather what the runs' verdicts remark, the worst first; runs that are OK are not read."""
    rows = result.rows
    keys = zip(
        rows["cell"].to_pylist(), rows["rep"].to_pylist(), rows["verdict"].to_pylist(), strict=True
    )
    amiss = dict.fromkeys((cell, rep) for cell, rep, verdict in keys if verdict != OK)
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for (cell, rep), why in result.failed.items():
        where = result.run_name(cell, rep)
        found.setdefault((FAILED, "congestion_control"), []).append((where, why))
    for cell, rep in amiss:
        where = result.run_name(cell, rep)
        for reason in result.runs[cell, rep].verdict.reasons:
            found.setdefault((reason.status, reason.check), []).append((where, reason.message))
    remarks = [
        VerdictNote(
            status, check, len({where for where, _ in said}), said[0][1],
            tuple(dict.fromkeys(where for where, _ in said if where))[:EXAMPLES],
        )
        for (status, check), said in found.items()
    ]  # fmt: skip
    return sorted(
        remarks, key=lambda each: ((FAILED, INVALID, WARN).index(each.status), -each.runs)
    )
