"""What was expected of the papers' apparatus.

Each has its arithmetic from the sources that docs/apparatus.md names. Numbers are of 26 November
2026 and are not corrected by results; docs/findings.md says which of them were written down when
something of it had been measured already.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dumbbell.papers import coexistence, ogino2021, saito2022
from dumbbell.papers.element import Setup, Treatment
from dumbbell.papers.finding import evaluate
from dumbbell.papers.prediction import Ended, Evidence, Prediction, Verdict, predicted
from dumbbell.papers.questions import AGAINST_CUBIC, MANY_BBR, copas, pair
from dumbbell.statistics import newcombe
from dumbbell.statistics.mean_interval import student_interval

__all__ = ["PREDICTIONS"]


def only(element: str, level: str) -> Setup:
    """Return the set-up with one element added."""
    return (Treatment(element, level),)


# ---- ogino2021 ----------------------------------------------------------------------------------

AT_16 = ogino2021.Point("bbr", 1, 16.0)
COPA_AND_BBR = pair("bbr", 1)
AGGREGATION = only("bbr_ack_aggregation", "Linux 5.1")
OVER_PACING = only("bbr_over_pacing", "Linux 4.15")
LATE = only("timer_lateness", "50us")
OLD_LOSS = (Treatment("gso", "on"), Treatment("tcp_4_15", "whole"))
SMALLEST = ogino2021.Point("cubic", 1, 0.5)
NO_ROOM = only("tclink_htb", "limit counts delayed packets")
TBF = only("tclink_tbf", "delay apart")
DIP_POINTS = pair("cubic", 1, 8, 16, 32, 64)


def bbr_share_pct(run: ogino2021.Measured) -> float:
    """Return BBR's share of the throughput."""
    return 100 * run.rival_share


def aggregation_share(evidence: Evidence) -> Ended:
    """Whether BBR of Linux 5.1 has the share it was expected to have."""
    share = evidence.mean(AGGREGATION, AT_16, bbr_share_pct)
    return predicted(share, 63, 65, "BBR has {:.0f} % ({:.0f} to {:.0f})")


def aggregation_shows(evidence: Evidence) -> Ended:
    """Whether A6 is shown with it."""
    shown = [
        evaluate(ogino2021.a6(evidence.trials.of_seed(AGGREGATION, COPA_AND_BBR, seed)))
        for seed in evidence.seeds
    ]
    held, of = sum(each is True for each in shown), len(shown)
    enough = held >= math.ceil(0.9 * of)
    return Ended(
        Verdict.CONFIRMED if enough else Verdict.REFUTED, f"A6 is shown in {held} of {of} seeds"
    )


def share_moves(setup: Setup, sign: int, evidence: Evidence) -> Ended:
    """Whether an element moves BBR's share at 16 BDP in the direction that was expected."""
    change = evidence.change(setup, AT_16, bbr_share_pct).interval
    low, high = (0.0, math.inf) if sign > 0 else (-math.inf, 0.0)
    return predicted(
        change, low, high, "BBR's share changes by {:+.1f} points ({:+.1f} to {:+.1f})"
    )


def dip_in(setup: Setup, at: int, others: tuple[int, int], evidence: Evidence) -> Ended:
    """Whether the total dips at a buffer, by more than two others differ: as A4's rule asks."""
    here, low, high = (
        evidence.values(setup, ogino2021.Point("cubic", 1, float(b)), lambda run: run.total_mbps)
        for b in (at, *others)
    )
    dips = [min(a, b) - c - abs(a - b) for c, a, b in zip(here, low, high, strict=True)]
    return predicted(
        student_interval(np.array(dips)), 0.0, math.inf,
        f"what the total at {at} BDP is below the others, less what these differ: {{:.3f}} Mbit/s "
        "({:.3f} to {:.3f})",
    )  # fmt: skip


#: A4's peaks of the RTT, as the paper has them from tcptrace.
PEAK_MS = 4120.0


def no_such_rtt(evidence: Evidence) -> Ended:
    """Whether tcptrace's largest RTT is below the paper's peaks."""
    largest = evidence.mean(
        OLD_LOSS, ogino2021.Point("cubic", 1, 32.0), lambda run: run.largest_rtt_ms
    )
    return predicted(largest, 0.0, PEAK_MS, "the largest RTT is {:.0f} ms ({:.0f} to {:.0f})")


def counted_twice(evidence: Evidence) -> Ended:
    """Whether tcptrace counts more where packets are lost."""
    above = evidence.mean(
        (), ogino2021.Point("cubic", 1, 0.5), lambda run: 100 * run.counts.excess_lossy
    )
    return predicted(
        above, 0.0, math.inf, "in seconds with losses {:.1f} % above ({:.1f} to {:.1f})"
    )


def lead_mbps(run: ogino2021.Measured) -> float:
    """Return Copa's throughput less CUBIC's."""
    return run.copa.mbps - run.rival.mbps


OGINO = (
    Prediction(
        "A1.room-mode",
        "If the limit counts delayed packets, 0.5 BDP leave no room, and Copa is in default "
        "mode nearly all of the time: 90 % or more.",
        (NO_ROOM,), (SMALLEST,),
        lambda evidence: predicted(
            evidence.mean(NO_ROOM, SMALLEST, lambda run: 100 * run.default_share), 90, 100,
            "{:.0f} % of the time ({:.0f} to {:.0f})",
        ),
    ),
    Prediction(
        "A1.room-rtt", "With it the RTT is 40 to 42 ms.",
        (NO_ROOM,), (SMALLEST,),
        lambda evidence: predicted(
            evidence.mean(NO_ROOM, SMALLEST, lambda run: run.copa.rtt_ms), 40, 42,
            "{:.1f} ms ({:.1f} to {:.1f})",
        ),
    ),
    Prediction(
        "A1.room-lead", "With it Copa is ahead of CUBIC.",
        (NO_ROOM,), (SMALLEST,),
        lambda evidence: predicted(
            evidence.mean(NO_ROOM, SMALLEST, lead_mbps), 0, math.inf,
            "Copa is {:+.1f} Mbit/s ahead ({:+.1f} to {:+.1f})",
        ),
    ),
    Prediction(
        "A1.tbf-mode",
        "tbf's bucket of 2.4 ms hides a queue longer than Copa's detector looks for: default mode "
        "about 60 % of the time, 55 to 65.",
        (TBF,), (SMALLEST,),
        lambda evidence: predicted(
            evidence.mean(TBF, SMALLEST, lambda run: 100 * run.default_share), 55, 65,
            "{:.0f} % of the time ({:.0f} to {:.0f})",
        ),
    ),
    Prediction(
        "A1.tbf-lead", "With it Copa is behind CUBIC.",
        (TBF,), (SMALLEST,),
        lambda evidence: predicted(
            evidence.mean(TBF, SMALLEST, lead_mbps), -math.inf, 0,
            "Copa is {:+.1f} Mbit/s ahead ({:+.1f} to {:+.1f})",
        ),
    ),
    Prediction(
        "A4.rtt",
        "tcptrace would not report stalls of 4.12 s as RTTs: a sample spans no retransmission.",
        (OLD_LOSS,), (ogino2021.Point("cubic", 1, 32.0),), no_such_rtt, captured=True,
    ),
    Prediction(
        "A5.count",
        "By tcptrace's rules, from captures, Copa's packets in flight are counted too high where "
        "losses are many, without anything of the apparatus.",
        ((),), (ogino2021.Point("cubic", 1, 0.5),), counted_twice, captured=True,
    ),
    Prediction(
        "A4.recovery",
        "What makes the total dip at 32 BDP is loss recovery that the window limits, with bursts "
        "that a full queue drops whole and the timeout of Linux 4.15.",
        (OLD_LOSS,), DIP_POINTS, lambda evidence: dip_in(OLD_LOSS, 32, (16, 64), evidence),
    ),
    Prediction(
        "A4.window",
        "If it is the window, the dip moves to 16 BDP with a window of 4 MiB.",
        (only("rwnd", "4MiB"),), DIP_POINTS,
        lambda evidence: dip_in(only("rwnd", "4MiB"), 16, (8, 32), evidence),
    ),
    Prediction(
        "A6.aggregation",
        "BBR's estimate of ACK aggregation (Linux 5.1) turns the result round: BBR has 63 to 65 % "
        "at 16 BDP.",
        (AGGREGATION,), (AT_16,), aggregation_share,
    ),
    Prediction(
        "A6.linux-5.1",
        "Had the hosts run Linux 5.1 or later, that alone would make the two comparatively fair.",
        (AGGREGATION,), COPA_AND_BBR, aggregation_shows,
    ),
    Prediction(
        "A6.over-pacing",
        "BBR of Linux 4.15 paces too fast: more for BBR at 16 BDP, by little.",
        ((), OVER_PACING), (AT_16,), lambda evidence: share_moves(OVER_PACING, 1, evidence),
    ),
    Prediction(
        "A6.lateness",
        "Timers that fire 50 µs late take from BBR.",
        ((), LATE), (AT_16,), lambda evidence: share_moves(LATE, -1, evidence),
    ),
)  # fmt: skip

# ---- saito2022 ----------------------------------------------------------------------------------

MANY_COPAS = copas(64)[0]
IN_TURN = only("starts", "50ms apart")
FAST_TURN = only("starts", "10ms apart")
SLOW_TURN = only("starts", "1s apart")
IPERF3 = only("starts", "iperf3, 50ms apart")
GSO = only("gso", "on")
LOCKED = "{:.0%} of the seeds lock ({:.0%} to {:.0%})"


def is_locked(run: saito2022.Measured) -> bool:
    """Whether the flows of a run are locked."""
    return run.is_locked


def locks_in_turn(evidence: Evidence) -> Ended:
    """Whether as many seeds lock as was expected."""
    return predicted(evidence.share(IN_TURN, MANY_COPAS, is_locked), 0.4, 0.8, LOCKED)


def all_lock(evidence: Evidence) -> Ended:
    """Whether all seeds lock."""
    values = evidence.values(SLOW_TURN, MANY_COPAS, is_locked)
    verdict = Verdict.CONFIRMED if all(values) else Verdict.REFUTED
    return Ended(verdict, f"{sum(values):.0f} of {len(values)} seeds lock")


def fewer_lock(evidence: Evidence) -> Ended:
    """Whether fewer seeds lock than with iperf 2."""
    iperf2, iperf3 = (
        [bool(value) for value in evidence.values(setup, MANY_COPAS, is_locked)]
        for setup in (IN_TURN, IPERF3)
    )
    return predicted(
        newcombe(iperf2, iperf3), -1.0, 0.0,
        f"{sum(iperf3)} of {len(iperf3)} seeds, {sum(iperf2)} with iperf 2: "
        "{:+.0%} ({:+.0%} to {:+.0%})",
    )  # fmt: skip


def same_locks(evidence: Evidence) -> Ended:
    """Whether bursts change how many seeds lock."""
    plain, bursts = (
        [bool(value) for value in evidence.values(setup, MANY_COPAS, is_locked)]
        for setup in ((), GSO)
    )
    change = newcombe(plain, bursts)
    saw = f"{sum(bursts)} of {len(bursts)} seeds lock, {sum(plain)} without"
    return Ended(Verdict.REFUTED if change.excludes(0) else Verdict.UNDECIDABLE, saw)


SAITO = (
    Prediction(
        "B2.in-turn",
        "With 64 flows of eight iperf 2 processes that start within 0.4 s, 50 ms apart, two to "
        "four of five seeds lock into competitive mode.",
        (IN_TURN,), (MANY_COPAS,), locks_in_turn,
    ),
    Prediction(
        "B2.sleep", "With a second between the processes all seeds lock.",
        (SLOW_TURN,), (MANY_COPAS,), all_lock,
    ),
    Prediction(
        "B2.iperf3",
        "With iperf 3 fewer seeds lock: each host's flows start together and know the base RTT.",
        (IN_TURN, IPERF3), (MANY_COPAS,), fewer_lock,
    ),
    Prediction(
        "B2.gso", "Super-packets of two segments change nothing.",
        ((), GSO), (MANY_COPAS,), same_locks,
    ),
)  # fmt: skip

# ---- kakenhi2024 --------------------------------------------------------------------------------


def hardly(evidence: Evidence) -> Ended:
    """Whether the delay stays where it is."""
    change = evidence.change(
        OVER_PACING, MANY_BBR[0], lambda run: float(run.queue_delay_p95_ms)
    ).interval
    return predicted(
        change, -20, 20,
        "the 95th percentile changes by {:+.0f} ms ({:+.0f} to {:+.0f})",
    )  # fmt: skip


KAKENHI = (
    Prediction(
        "C1.over-pacing",
        "With 128 flows BBR's over-pacing hardly matters, because cwnd limits them: less than a "
        "tenth of 200 ms.",
        ((), OVER_PACING), MANY_BBR, hardly,
    ),
)  # fmt: skip

# ---- coexistence --------------------------------------------------------------------------------

LIMIT_48, LIMIT_100 = only("ooo_limit", "48"), only("ooo_limit", "100")
#: CUBIC's longest epoch at 18 BDP, s: with a timeout in each there are at least so many in 120 s.
LONGEST_EPOCH_S = 9.0


def mean_of(evidence: Evidence, setup: Setup, low: float, high: float, what: Any) -> Any:
    """Return for each seed the mean of a value over the buffers of a range, with its interval."""
    points = [point for point in AGAINST_CUBIC if low <= point.buffer_bdp <= high]
    by_point = [evidence.values(setup, point, what) for point in points]
    means = [math.fsum(seed) / len(seed) for seed in zip(*by_point, strict=True)]
    return student_interval(np.array(means))


def total(run: coexistence.Measured) -> float:
    """Return the sum of both flows."""
    return run.total_mbps


def rtos(run: coexistence.Measured) -> float:
    """Return the timeouts of both flows."""
    return run.rtos


D3_SUM = "{:.2f} Mbit/s ({:.2f} to {:.2f})"

COEXISTENCE = (
    Prediction(
        "D3.small", "With 48 segments above a hole the sum is 9.5 Mbit/s at 1 to 3 BDP.",
        (LIMIT_48,), AGAINST_CUBIC,
        lambda evidence: predicted(mean_of(evidence, LIMIT_48, 1, 3, total), 9.45, 9.55, D3_SUM),
    ),
    Prediction(
        "D3.large", "With 48 segments the sum is below 9 Mbit/s from 8 BDP on.",
        (LIMIT_48,), AGAINST_CUBIC,
        lambda evidence: predicted(mean_of(evidence, LIMIT_48, 8, 18, total), 0, 9.0, D3_SUM),
    ),
    Prediction(
        "D3.timeouts",
        "With 48 segments there is a timeout in every epoch of CUBIC from 4 BDP on, the longest of "
        "which lasts 9 s: at least 13.3 a run.",
        (LIMIT_48,), AGAINST_CUBIC,
        lambda evidence: predicted(
            mean_of(evidence, LIMIT_48, 4, 18, rtos), 120 / LONGEST_EPOCH_S, math.inf,
            "{:.2f} timeouts a run ({:.2f} to {:.2f})",
        ),
    ),
    Prediction(
        "D3.limit-100",
        "With 100 segments such timeouts begin at 9 to 12 BDP: from 12 BDP on at least 13.3 a run.",
        (LIMIT_100,), AGAINST_CUBIC,
        lambda evidence: predicted(
            mean_of(evidence, LIMIT_100, 12, 18, rtos), 120 / LONGEST_EPOCH_S, math.inf,
            "{:.2f} timeouts a run ({:.2f} to {:.2f})",
        ),
    ),
)  # fmt: skip

#: By the paper's name.
PREDICTIONS: dict[str, tuple[Prediction, ...]] = {
    "ogino2021": OGINO,
    "saito2022": SAITO,
    "kakenhi2024": KAKENHI,
    "coexistence": COEXISTENCE,
}
