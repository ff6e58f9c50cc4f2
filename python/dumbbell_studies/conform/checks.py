"""Response checks: what of the reference's responses an algorithm does not have, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from dumbbell.gate import LEVEL
from dumbbell.statistics import Difference, holm, known, paired_difference
from dumbbell_studies.conform.transport_responses import FIRST_PKTS

__all__ = ["ALGORITHM", "CHECKS", "TRANSPORT", "Check", "Response", "compare_responses", "number"]

#: What a check is of.
ALGORITHM, TRANSPORT = "algorithm", "transport"


@dataclass(frozen=True)
class Check:
    """One response that is compared.

    Attributes
    ----------
    name
        Its key in `responses_of`.
    what, words
        What it is of, and a value in words: ``{}`` is the number.
    of
        Whose it is: an algorithm's, or of the transport that runs it.
    least
        The smallest difference that is one, in the unit of the value.
    is_relative
        Whether `least` is a share of the reference's value.
    of_packets
        Whether packets alone show it, without the sender's window.
    """

    name: str
    what: str
    words: str
    of: str
    least: float
    is_relative: bool = False
    of_packets: bool = False

    @property
    def title(self) -> str:
        """What it is of, with the unit."""
        unit = self.words.replace("{}", "").strip()
        return f"{self.what}: {unit}" if unit else self.what

    def say(self, value: float) -> str:
        """Return a value in words; ``none`` where there is none."""
        return "none" if math.isnan(value) else self.words.format(number(value))


def number(value: float) -> str:
    """Write a value with three digits."""
    return "none" if math.isnan(value) else f"{value:.3g}"


#: After which losses: at less than this, RFC 9438's fast convergence applies.
BELOW_LAST = "a loss below 0.8 of the last window"
#: Least differences: of a share of the window, of a power; relative of packets per RTT, of times.
SHARE, POWER, GROWTH, TIME = 0.02, 0.3, 0.2, 0.2
CHECKS = (
    Check("decrease", "window after a loss", "{} of before", ALGORITHM, SHARE),
    Check("decrease_below", f"window after {BELOW_LAST}", "{} of before", ALGORITHM, SHARE),
    Check("growth_power", "growth after a loss", "time to the power {}", ALGORITHM, POWER),
    Check("growth_below", f"growth after {BELOW_LAST}", "{} packets per RTT", ALGORITHM, GROWTH,
          is_relative=True),
    Check("probe_gain", "probing", "{} of the usual rate", ALGORITHM, 0.05, of_packets=True),
    Check("probe_period_s", "time between probes", "{} s", ALGORITHM, TIME, is_relative=True,
          of_packets=True),
    Check("growth", "growth after a loss", "{} packets per RTT", TRANSPORT, GROWTH,
          is_relative=True),
    Check("packets_per_ack", "packets sent per ACK", "{}", TRANSPORT, 0.1, is_relative=True,
          of_packets=True),
    Check("packets_at_once", "packets sent at once", "{}", TRANSPORT, 0.2, is_relative=True,
          of_packets=True),
    Check("first_packets_rtts", f"first {FIRST_PKTS} packets sent after", "{} RTTs", TRANSPORT,
          0.5, of_packets=True),
    Check("pause_rtts", "pause after a loss", "{} RTTs", TRANSPORT, 0.15),
)  # fmt: skip


@dataclass(frozen=True)
class Response:
    """How a response compares with the reference's.

    Attributes
    ----------
    check
        Which response.
    test, reference
        Means over the repetitions; NaN where fewer than half have a value.
    difference
        Of the pairs, by Student's t.
    p_adjusted
        Of the difference, adjusted for all checks by Holm; None where one of both has no value.
    only_one
        Whether every repetition of one has a value, and none of the other.
    """

    check: Check
    test: float
    reference: float
    difference: Difference
    p_adjusted: float | None
    only_one: bool

    @property
    def differs(self) -> bool:
        """Whether they differ surely, and by enough; a response that only one has does."""
        if math.isnan(self.test) or math.isnan(self.reference):
            return self.only_one
        least = self.check.least * (abs(self.reference) if self.check.is_relative else 1.0)
        is_sure = self.p_adjusted is not None and self.p_adjusted < LEVEL
        return is_sure and abs(self.test - self.reference) >= least

    @property
    def sentence(self) -> str:
        """Both values in words."""
        check, reference = self.check, number(self.reference)
        return f"{check.what}: {check.say(self.test)}; reference {reference}"

    def to_dict(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "name": self.check.name,
            "of": self.check.of,
            "test": None if math.isnan(self.test) else self.test,
            "reference": None if math.isnan(self.reference) else self.reference,
            "difference": self.difference.to_dict(),
            "p_adjusted": self.p_adjusted,
            "differs": self.differs,
            "sentence": self.sentence,
        }


def compare_responses(
    test: Sequence[Mapping[str, float | None]],
    reference: Sequence[Mapping[str, float | None]],
    *,
    of_packets: bool = False,
) -> list[Response]:
    """Compare the responses of two algorithms, pair by pair.

    Parameters
    ----------
    test, reference
        What `responses_of` returned for each repetition, with the same seeds.
    of_packets
        Only what packets show: the window of a program is not seen.
    """
    sides = {
        check: ([each[check.name] for each in test], [each[check.name] for each in reference])
        for check in CHECKS
        if check.of_packets or not of_packets
    }
    differences = {check: paired_difference(b, a) for check, (a, b) in sides.items()}
    means = {check: (mean_of_most(a), mean_of_most(b)) for check, (a, b) in sides.items()}
    p_values = {
        check: difference.p
        for check, difference in differences.items()
        if difference.p is not None and not any(map(math.isnan, means[check]))
    }
    adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    return [
        Response(
            check, *means[check], differences[check], adjusted.get(check),
            sorted((len(known(a)), len(known(b)))) == [0, len(a)],
        )
        for check, (a, b) in sides.items()
    ]  # fmt: skip


def mean_of_most(values: Sequence[float | None]) -> float:
    """Return the mean; NaN if fewer than half of the repetitions have a value."""
    found = known(values)
    return fmean(found) if 2 * len(found) >= max(len(values), 1) else math.nan
