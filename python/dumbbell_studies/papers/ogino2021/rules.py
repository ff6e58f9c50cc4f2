"""The rules of A1 to A7."""

from __future__ import annotations

import math
from collections.abc import Callable

from dumbbell_studies.papers.clauses import at_every, grows
from dumbbell_studies.papers.finding import ClauseResult, Finding
from dumbbell_studies.papers.ogino2021.buffer_ranges import (
    INFLIGHT,
    THROUGHPUT,
    Repetition,
    above,
    ahead,
    buffers_of,
    confirmed,
    has_all,
    rtt_check,
    runs_at,
    up_to,
)
from dumbbell_studies.papers.ogino2021.measurements import Measured
from dumbbell_studies.papers.ogino2021.runs import BUFFERS_BDP, Point
from dumbbell_studies.papers.results import Results

__all__ = ["Rule", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "check_findings", "off_parity"]

#: The RTT that the paper calls large: "100 ms or more" (A6).
LARGE_RTT_MS = 100.0


def check_findings(results: Results[Point, Measured]) -> list[Finding]:
    """Check A1 to A7."""
    repetitions = results.repetitions()
    return [
        Finding(name, statement, tuple(tuple(rule(each)) for each in repetitions))
        for name, statement, rule in RULES
    ]


def a1(seen: Repetition) -> list[ClauseResult]:
    """Copa against CUBIC in the smallest buffer."""
    here, larger = seen[Point("cubic", 1, 0.5)], runs_at(seen, "cubic", 1, above(0.5))
    complete = has_all(seen, "cubic", 1)
    rtt_ms, default = here.copa.rtt_ms, here.default_share
    least_ms = min(run.copa.rtt_ms for run in larger)
    most_default = max(run.default_share for run in larger)
    return [
        ClauseResult(
            "at 0.5 BDP Copa's throughput above CUBIC's",
            "{:.1f} and {:.1f} Mbit/s",
            (here.copa.mbps, here.rival.mbps),
            here.copa.mbps > here.rival.mbps,
        ),
        ClauseResult(
            "at 0.5 BDP Copa's inflight above CUBIC's",
            "{:.0f} and {:.0f} packets",
            (here.copa.outstanding_pkts, here.rival.outstanding_pkts),
            here.copa.outstanding_pkts > here.rival.outstanding_pkts,
        ),
        ClauseResult(
            f"at 0.5 BDP a mean RTT below {LARGE_RTT_MS:g} ms",
            "{:.0f} ms",
            (rtt_ms,),
            rtt_ms < LARGE_RTT_MS,
        ),
        ClauseResult(
            "at 0.5 BDP a mean RTT below that of every larger buffer",
            "{:.0f} ms, and at least {:.0f} ms",
            (rtt_ms, least_ms),
            confirmed(holds=rtt_ms < least_ms, complete=complete),
        ),
        ClauseResult(
            "at 0.5 BDP a larger share of default mode than in every larger buffer",
            "{:.0%}, and at most {:.0%}",
            (default, most_default),
            confirmed(holds=default > most_default, complete=complete),
        ),
    ]


def a2(seen: Repetition) -> list[ClauseResult]:
    """CUBIC against Copa as the buffer grows."""
    buffers, complete = buffers_of(seen, "cubic", 1), has_all(seen, "cubic", 1)
    runs = [seen[Point("cubic", 1, buffer)] for buffer in buffers]
    largest = seen[Point("cubic", 1, BUFFERS_BDP[-1])]
    behind = [run for run in runs if run.rival.mbps > run.copa.mbps]
    competitive = min((run.competitive_share for run in behind), default=math.nan)
    return [
        grows("CUBIC's throughput", buffers, [run.rival.mbps for run in runs],
              "{:.1f} Mbit/s", complete=complete),
        grows("the RTT", buffers, [run.copa.rtt_ms for run in runs], "{:.0f} ms",
              complete=complete),
        ClauseResult(
            "at 64 BDP CUBIC's throughput above Copa's",
            "{:.1f} and {:.1f} Mbit/s",
            (largest.rival.mbps, largest.copa.mbps),
            largest.rival.mbps > largest.copa.mbps,
        ),
        ClauseResult(
            "at 64 BDP CUBIC's inflight above Copa's",
            "{:.0f} and {:.0f} packets",
            (largest.rival.outstanding_pkts, largest.copa.outstanding_pkts),
            largest.rival.outstanding_pkts > largest.copa.outstanding_pkts,
        ),
        ClauseResult(
            "Copa in competitive mode for more than half of the time wherever CUBIC is ahead",
            "at least {:.0%}",
            (competitive,),
            confirmed(holds=competitive > 0.5, complete=complete),
        ),
    ]  # fmt: skip


def a3(seen: Repetition) -> list[ClauseResult]:
    """Four Copa against four CUBIC."""
    buffers, complete = buffers_of(seen, "cubic", 4), has_all(seen, "cubic", 4)
    largest = seen[Point("cubic", 4, BUFFERS_BDP[-1])]
    cubic = [seen[Point("cubic", 4, buffer)].rival.mbps for buffer in buffers]
    return [
        ahead(seen, "cubic", 4, up_to(2), THROUGHPUT, copa=True),
        grows("CUBIC's throughput", buffers, cubic, "{:.1f} Mbit/s", complete=complete),
        ClauseResult(
            "at 64 BDP CUBIC's throughput above Copa's",
            "{:.1f} and {:.1f} Mbit/s",
            (largest.rival.mbps, largest.copa.mbps),
            largest.rival.mbps > largest.copa.mbps,
        ),
    ]


def a4(seen: Repetition) -> list[ClauseResult]:
    """Timeouts at 32 BDP, the window's limit at 64 BDP."""
    complete = has_all(seen, "cubic", 1)
    here = seen[Point("cubic", 1, 32.0)]
    others = [run.total_mbps for run in runs_at(seen, "cubic", 1, lambda b: b != 32)]
    least, most = min(others), max(others)
    rtos = here.copa.rtos + here.rival.rtos
    limited, limited_before = (
        seen[point].rival.rwnd_limited if point in seen else math.nan
        for point in (Point("cubic", 1, 64.0), Point("cubic", 1, 16.0))
    )
    return [
        ClauseResult(
            "at 32 BDP the lowest total of all buffers, by more than the others differ",
            "{:.1f} Mbit/s, and {:.1f} to {:.1f} Mbit/s",
            (here.total_mbps, least, most),
            confirmed(holds=least - here.total_mbps > most - least, complete=complete),
        ),
        ClauseResult("at 32 BDP more than 0 retransmission timeouts", "{:.1f}", (rtos,), rtos > 0),
        ClauseResult(
            "at 64 BDP CUBIC limited by its receive window",
            "{:.1%} of the time",
            (limited,),
            limited > 0,
        ),
        ClauseResult(
            "at 16 BDP CUBIC not limited by its receive window",
            "{:.1%} of the time",
            (limited_before,),
            limited_before == 0 if Point("cubic", 1, 16.0) in seen else None,
        ),
    ]


def a5(seen: Repetition) -> list[ClauseResult]:
    """Tcptrace's inflight counts what has been received already."""
    complete = has_all(seen, "cubic", 1)
    cells = runs_at(seen, "cubic", 1, lambda _: True)
    counts = max(cells, key=lambda run: run.copa.resent_pkts).counts
    if counts is None:
        raise ValueError("the runs of Copa against CUBIC, n = 1, have no counts by second")
    above = counts.difference_pkts.low > 0
    twice = counts.excess_lossy >= 2 * counts.excess_quiet
    return [
        ClauseResult(
            "in seconds with losses, of the buffer with most losses, tcptrace's count "
            "significantly above the kernel's (95 % interval of the difference above 0)",
            "{:.1f} packets above, interval from {:.1f} to {:.1f}, over {:.0f} s",
            (counts.difference_pkts.mean, counts.difference_pkts.low,
             counts.difference_pkts.high, counts.lossy_seconds),
            above if complete else None,
        ),
        ClauseResult(
            "the excess at least twice what it is in seconds without losses",
            "{:.1%}, and {:.1%} over {:.0f} s without",
            (counts.excess_lossy, counts.excess_quiet, counts.quiet_seconds),
            twice if complete else None,
        ),
    ]  # fmt: skip


def a6(seen: Repetition) -> list[ClauseResult]:
    """Copa against BBR."""
    complete = has_all(seen, "bbr", 1)
    small = runs_at(seen, "bbr", 1, up_to(2))
    large = runs_at(seen, "bbr", 1, above(2))
    default = [sum(run.default_share for run in part) / len(part) for part in (small, large)]
    nearest_small = min(off_parity(run) for run in small)
    farthest_large = max(off_parity(run) for run in large)
    return [
        ahead(seen, "bbr", 1, up_to(2), THROUGHPUT, copa=False),
        ahead(seen, "bbr", 1, up_to(2), INFLIGHT, copa=False),
        rtt_check(seen, f"up to 2 BDP a mean RTT below {LARGE_RTT_MS:g} ms", up_to(2),
                  lambda rtt_ms: rtt_ms < LARGE_RTT_MS),
        rtt_check(seen, f"from 4 BDP a mean RTT of {LARGE_RTT_MS:g} ms or more", above(2),
                  lambda rtt_ms: rtt_ms >= LARGE_RTT_MS),
        ClauseResult(
            "up to 2 BDP a larger share of default mode than from 4 BDP (means of both ranges)",
            "{:.0%}, and {:.0%}",
            (default[0], default[1]),
            default[0] > default[1] if complete else None,
        ),
        ClauseResult(
            "at every buffer from 4 BDP a ratio of the two throughputs nearer to 1 than at any up "
            "to 2 BDP",
            "a factor of at most {:.2f}, and of at least {:.2f}",
            (farthest_large, nearest_small),
            confirmed(holds=farthest_large < nearest_small, complete=complete),
        ),
    ]  # fmt: skip


def a7(seen: Repetition) -> list[ClauseResult]:
    """Four Copa against four BBR."""
    buffers, complete = buffers_of(seen, "bbr", 4), has_all(seen, "bbr", 4)
    runs = [seen[Point("bbr", 4, buffer)] for buffer in buffers]
    both = [b for b in BUFFERS_BDP if b >= 16 and all(Point("bbr", n, b) in seen for n in (1, 4))]
    factors = [[off_parity(seen[Point("bbr", n, b)]) for n in (4, 1)] for b in both]
    return [
        ahead(seen, "bbr", 4, up_to(2), THROUGHPUT, copa=False),
        ahead(seen, "bbr", 4, up_to(2), INFLIGHT, copa=False),
        ahead(seen, "bbr", 4, above(8), THROUGHPUT, copa=True),
        at_every(
            "from 16 BDP a ratio of the two throughputs farther from 1 than with n = 1",
            both,
            factors,
            "a factor of {:.2f} and {:.2f}",
            [four > one for four, one in factors],
            complete=len(both) == 3,
        ),
        grows("the RTT", buffers, [run.copa.rtt_ms for run in runs], "{:.0f} ms",
              complete=complete),
        grows("the share of competitive mode", buffers, [run.competitive_share for run in runs],
              "{:.0%}", complete=complete),
    ]  # fmt: skip


Rule = Callable[[Repetition], list[ClauseResult]]

#: Id, what the paper says, and the rule.
RULES: tuple[tuple[str, str, Rule], ...] = (
    (
        "A1",
        "Copa and CUBIC, n = 1, 0.5 BDP: Copa's mean throughput and inflight are above CUBIC's; "
        "the RTT has not become large, and the share of default mode is high.",
        a1,
    ),
    (
        "A2",
        "Copa and CUBIC, n = 1: as the buffer grows, CUBIC's throughput and the RTT tend to grow, "
        "CUBIC's inflight becomes larger than Copa's, and Copa runs in competitive mode.",
        a2,
    ),
    (
        "A3",
        "Copa and CUBIC, n = 4: Copa's throughput is the larger up to and including 2 BDP; as the "
        "buffer grows, CUBIC's tends to grow.",
        a3,
    ),
    (
        "A4",
        "Copa and CUBIC, n = 1: at 32 BDP the total throughput has fallen, because of "
        "retransmission timeouts; at 64 BDP CUBIC's cwnd reaches its upper limit.",
        a4,
    ),
    (
        "A5",
        "Copa's in-flight count rises where losses are many, because packets that are not "
        "acknowledged count as in flight (tcptrace's definition).",
        a5,
    ),
    (
        "A6",
        "Copa and BBR, n = 1: up to 2 BDP BBR's throughput and inflight are above Copa's, the RTT "
        "has not become large and the share of default mode is high; from 4 BDP the two are "
        "comparatively fair, the RTT is 100 ms or more and the share of competitive mode "
        "increases.",
        a6,
    ),
    (
        "A7",
        "Copa and BBR, n = 4: up to 2 BDP BBR's inflight and throughput are above Copa's; from "
        "16 BDP it is less fair than with n = 1, Copa ahead of BBR; RTT and share of competitive "
        "mode grow with the buffer.",
        a7,
    ),
)


def off_parity(run: Measured) -> float:
    """Return the ratio of the two throughputs, the larger over the smaller: 1 is fair."""
    small, large = sorted((run.copa.mbps, run.rival.mbps))
    return large / small if small > 0 else math.inf
