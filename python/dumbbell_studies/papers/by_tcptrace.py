"""Copa's RTT and packets in flight as tcptrace reports them from a capture at its sender.

ogino2021 measured so. tcptrace takes an RTT only of what was sent once and did not wait behind what
was sent again, and counts as in flight all that is not acknowledged.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from dumbbell.capture_analysis import analyze
from dumbbell.errors import CaptureError
from dumbbell.run import Run
from dumbbell_studies.papers.captured_flow import INTERVAL, captured_flow, first_connection, sent_at
from dumbbell_studies.papers.inflight_counts import Counts, compare_counts
from dumbbell_studies.papers.series import first_flow
from dumbbell_studies.papers.trials import Trials

__all__ = ["ByTcptrace", "by_tcptrace", "measure"]

#: Copa's group in ogino2021.
COPA = 0


@dataclass(frozen=True)
class ByTcptrace:
    """Copa's first flow as tcptrace reports it.

    Attributes
    ----------
    largest_rtt_ms
        The largest RTT.
    longest_stall_ms
        The longest time without progress after a timeout, which the simulator knows.
    counts
        How its count of packets in flight differs from the one that knows SACKs.
    """

    largest_rtt_ms: float
    longest_stall_ms: float
    counts: Counts


def measure(_point: Any, run: Run) -> ByTcptrace:
    """Measure a run that was captured at the senders."""
    if run.capture is None:
        raise CaptureError("the run has no capture")
    analysis = analyze(run.capture, interval=INTERVAL)
    row = first_connection(analysis, COPA)
    series = sent_at(analysis.series, f"sender-{COPA}", row["connection"])
    flow = captured_flow(series, row["largest_segment_bytes"], 0.0)
    return ByTcptrace(
        largest_rtt_ms=row["rtt_max_us"] / 1e3,
        longest_stall_ms=run.summary["flows"][first_flow(run, COPA)]["rto_stall_max_us"] / 1e3,
        counts=compare_counts(
            [
                (
                    flow.time_s,
                    flow.outstanding_pkts,
                    flow.inflight_pkts,
                    flow.retransmitted_pkts,
                )
            ]
        ),
    )


def by_tcptrace(trials: Trials[Any, Any]) -> Trials[Any, Any]:
    """Return trials of the same paper that measure by tcptrace."""
    paper = dataclasses.replace(trials.paper, measure=measure)
    return Trials(paper, trials.cache, trials.jobs, trials.on_progress, captures=True)
