"""What each finding asks of runs, for its attribution: points, rule and quantities."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dumbbell_studies.papers import coexistence
from dumbbell_studies.papers.finding import ClauseResult
from dumbbell_studies.papers.kakenhi2024.rules import check_c1
from dumbbell_studies.papers.kakenhi2024.runs import C1_FLOWS, DEEP_BDP, Alone
from dumbbell_studies.papers.ogino2021.measurements import Measured as OginoMeasured
from dumbbell_studies.papers.ogino2021.rules import a1, a2, a3, a4, a5, a6, a7, off_parity
from dumbbell_studies.papers.ogino2021.runs import BUFFERS_BDP
from dumbbell_studies.papers.ogino2021.runs import Point as OginoPoint
from dumbbell_studies.papers.question import FindingQuantity, Question
from dumbbell_studies.papers.saito2022.measurements import Measured as SaitoMeasured
from dumbbell_studies.papers.saito2022.rules import Rule, b1, b2, b3
from dumbbell_studies.papers.saito2022.runs import FLOWS, PAPER_SPREAD
from dumbbell_studies.papers.saito2022.runs import Point as SaitoPoint

__all__ = ["QUESTIONS"]

# ---- ogino2021 ----------------------------------------------------------------------------------

OginoSeen = Mapping[OginoPoint, OginoMeasured]


def pair(rival: str, n: int, *buffers: float) -> tuple[OginoPoint, ...]:
    """Return a pair's points at some buffers, at all of the paper's if none is named."""
    return tuple(OginoPoint(rival, n, b) for b in buffers or BUFFERS_BDP)


def below_mbps(seen: OginoSeen) -> float:
    """Return by how much the total at 32 BDP is below the lower of those at 16 and 64 BDP."""
    low, here, high = (seen[point].total_mbps for point in pair("cubic", 1, 16, 32, 64))
    return min(low, high) - here


def timeouts(seen: OginoSeen) -> float:
    """Return the timeouts of both flows at 32 BDP."""
    here = seen[OginoPoint("cubic", 1, 32.0)]
    return here.copa.rtos + here.rival.rtos


def factor(n: int, buffer: float) -> Callable[[OginoSeen], float]:
    """Return how many times the throughput of one kind is that of the other, against BBR."""
    return lambda seen: off_parity(seen[OginoPoint("bbr", n, buffer)])


def copa_share(n: int, buffer: float) -> Callable[[OginoSeen], float]:
    """Return Copa's share of the throughput against BBR, in per cent."""
    return lambda seen: 100 * (1 - seen[OginoPoint("bbr", n, buffer)].rival_share)


def less_fair(seen: OginoSeen) -> float:
    """Return how many times the factor between the kinds with n = 4 is that with n = 1."""
    return factor(4, 16.0)(seen) / factor(1, 16.0)(seen)


def copa_lead_mbps(seen: OginoSeen) -> float:
    """Return Copa's throughput less CUBIC's at 0.5 BDP."""
    run = seen[OginoPoint("cubic", 1, 0.5)]
    return run.copa.mbps - run.rival.mbps


def default_share_pct(seen: OginoSeen) -> float:
    """Return Copa's time in default mode at 0.5 BDP."""
    return 100 * seen[OginoPoint("cubic", 1, 0.5)].default_share


OGINO: tuple[Question[Any, Any], ...] = (
    Question(
        "A1", pair("cubic", 1), pair("cubic", 1, 0.5, 1), a1,
        (
            FindingQuantity("Copa's lead over CUBIC at 0.5 BDP", "Mbit/s", copa_lead_mbps),
            FindingQuantity("Copa in default mode at 0.5 BDP", "%", default_share_pct),
        ),
    ),
    Question("A2", pair("cubic", 1), pair("cubic", 1, 0.5, 64), a2),
    Question("A3", pair("cubic", 4), pair("cubic", 4, 2, 64), a3),
    Question(
        "A4", pair("cubic", 1), pair("cubic", 1, 16, 32, 64), a4,
        (
            FindingQuantity(
                "total at 32 BDP below the lower of 16 and 64 BDP", "Mbit/s", below_mbps
            ),
            FindingQuantity("timeouts at 32 BDP", "", timeouts),
        ),
    ),
    Question("A5", pair("cubic", 1), pair("cubic", 1), a5),
    Question(
        "A6", pair("bbr", 1), pair("bbr", 1, 2, 16), a6,
        (
            FindingQuantity("factor between Copa and BBR at 16 BDP", "", factor(1, 16.0)),
            FindingQuantity("Copa's share at 16 BDP", "%", copa_share(1, 16.0)),
        ),
    ),
    Question(
        "A7", (*pair("bbr", 4), *pair("bbr", 1, 16, 32, 64)),
        (*pair("bbr", 4, 16), *pair("bbr", 1, 16)), a7,
        (
            FindingQuantity("factor with n = 4 over that with n = 1, 16 BDP", "", less_fair),
            FindingQuantity("Copa's share with n = 4 at 16 BDP", "%", copa_share(4, 16.0)),
        ),
    ),
)  # fmt: skip

# ---- saito2022 ----------------------------------------------------------------------------------

SaitoSeen = Mapping[SaitoPoint, SaitoMeasured]


def of_flows(rule: Rule) -> Callable[[SaitoSeen], Sequence[ClauseResult]]:
    """Return a rule of runs by their point, of one of runs by their number of flows."""
    return lambda seen: rule({point.flows: run for point, run in seen.items()})


def copas(*counts: int) -> tuple[SaitoPoint, ...]:
    """Return the points with this many flows, all of which start within the first estimate."""
    return tuple(SaitoPoint(n, PAPER_SPREAD) for n in counts)


def at_64(what: Callable[[SaitoMeasured], float]) -> Callable[[SaitoSeen], float]:
    """Return a value of the run with 64 flows."""
    return lambda seen: what(seen[copas(64)[0]])


#: Which of the plain runs elements are added to; the findings are of those within 0.4 s too.
WITHIN_0_1_S = "with starts within 0.1 s"
RTT_AT_64: FindingQuantity[Any, Any] = FindingQuantity(
    "flow 1's mean RTT with 64 flows", "ms", at_64(lambda run: run.rtt_mean_ms)
)
LATE_AT_64: FindingQuantity[Any, Any] = FindingQuantity(
    "flow 1 in competitive mode with 64 flows, second half", "%",
    at_64(lambda run: 100 * run.competitive_late),
)  # fmt: skip
#: How elements are tried on B: runs of 1 Gbit/s take longest.
ONLY_64 = (
    "Single elements are tried with 64 flows only, on which chance decides, and compared with "
    "plain runs of 64; what shows the finding is repeated with 16, 32 and 128 too."
)
SAITO: tuple[Question[Any, Any], ...] = (
    Question("B1", copas(*FLOWS), copas(*FLOWS), of_flows(b1), base=WITHIN_0_1_S),
    Question("B2", copas(*FLOWS), copas(64), of_flows(b2), (RTT_AT_64,),
             base=f"{WITHIN_0_1_S} and 64 flows", fewer=copas(64), thinned=ONLY_64),
    Question("B3", copas(*FLOWS), copas(64), of_flows(b3), (LATE_AT_64,),
             base=f"{WITHIN_0_1_S} and 64 flows", fewer=copas(64), thinned=ONLY_64),
)  # fmt: skip

# ---- kakenhi2024 --------------------------------------------------------------------------------

MANY_BBR = (Alone("bbr", C1_FLOWS, DEEP_BDP),)


def delay_p95_ms(seen: Mapping[Any, Any]) -> float:
    """Return the 95th percentile of the queueing delay of 128 BBR flows."""
    return float(seen[MANY_BBR[0]].queue_delay_p95_ms)


#: C2 to C5 are about reconstructions, a model and a list of devices; no elements are tried on them.
KAKENHI: tuple[Question[Any, Any], ...] = (
    Question(
        "C1", MANY_BBR, MANY_BBR, lambda seen: [check_c1(delay_p95_ms(seen))],
        (FindingQuantity("95th percentile of the queueing delay", "ms", delay_p95_ms),),
        base=WITHIN_0_1_S,
    ),
)  # fmt: skip

# ---- coexistence --------------------------------------------------------------------------------

CoexistenceSeen = Mapping[coexistence.Point, coexistence.Measured]


def bbr_and_cubic(seen: CoexistenceSeen) -> list[tuple[float, coexistence.Measured]]:
    """Return the runs with CUBIC by their buffer, smallest first."""
    return sorted((point.buffer_bdp, run) for point, run in seen.items() if point.with_cubic)


def d1(seen: CoexistenceSeen) -> Sequence[ClauseResult]:
    """The question of D1: BBR alone."""
    buffers, runs = zip(*bbr_and_cubic(seen), strict=True)
    alone = [seen[coexistence.Point(with_cubic=False, buffer_bdp=b)].bbr_mbps for b in buffers]
    return coexistence.d1(buffers, alone, [run.bbr_mbps for run in runs])


def d2(seen: CoexistenceSeen) -> Sequence[ClauseResult]:
    """BBR against CUBIC."""
    buffers, runs = zip(*bbr_and_cubic(seen), strict=True)
    return coexistence.d2(buffers, [r.bbr_mbps for r in runs], [r.cubic_mbps for r in runs])


def d3(seen: CoexistenceSeen) -> Sequence[ClauseResult]:
    """The sum, and timeouts."""
    buffers, runs = zip(*bbr_and_cubic(seen), strict=True)
    return coexistence.d3(buffers, [r.total_mbps for r in runs], [r.rtos for r in runs])


def fall_mbps(seen: CoexistenceSeen) -> float:
    """Return by how much the sum at 18 BDP is below that at 3 BDP."""
    by_buffer = dict(bbr_and_cubic(seen))
    return by_buffer[3.0].total_mbps - by_buffer[18.0].total_mbps


def timeouts_per_run(seen: CoexistenceSeen) -> float:
    """Return the timeouts of a run against CUBIC."""
    runs = [run for _, run in bbr_and_cubic(seen)]
    return sum(run.rtos for run in runs) / len(runs)


def average(seeds: Sequence[CoexistenceSeen]) -> CoexistenceSeen:
    """Return the averages over repetitions: the experiment measured ten times."""

    def mean(values: Sequence[float]) -> float:
        return math.fsum(values) / len(values)

    return {
        point: coexistence.Measured(
            mean([seen[point].bbr_mbps for seen in seeds]),
            mean([seen[point].cubic_mbps for seen in seeds]),
            mean([seen[point].rtos for seen in seeds]),
        )
        for point in seeds[0]
    }


BOTH = coexistence.grid(coexistence.BUFFERS_BDP)
AGAINST_CUBIC = tuple(point for point in BOTH if point.with_cubic)
COEXISTENCE: tuple[Question[Any, Any], ...] = (
    Question("D1", BOTH, BOTH, d1, average=average),
    Question("D2", AGAINST_CUBIC, AGAINST_CUBIC, d2, average=average),
    Question(
        "D3", AGAINST_CUBIC, AGAINST_CUBIC, d3,
        (
            FindingQuantity("sum at 18 BDP below that at 3 BDP", "Mbit/s", fall_mbps),
            FindingQuantity("timeouts a run", "", timeouts_per_run),
        ),
        average,
    ),
)  # fmt: skip

#: By the paper's name.
QUESTIONS: dict[str, tuple[Question[Any, Any], ...]] = {
    "ogino2021": OGINO,
    "saito2022": SAITO,
    "kakenhi2024": KAKENHI,
    "coexistence": COEXISTENCE,
}
