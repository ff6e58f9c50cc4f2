"""Generators of delivery traces: pure functions of their parameters and a seed."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.quantity import Quantity, Rate, Time, is_count
from dumbbell.scenario.parameter import SEPARATOR, listed

__all__ = ["GENERATORS", "Generator", "generate"]

MS = 10**6
#: Longest generated trace.
MAX_GENERATED_MS = 3_600_000
#: Most opportunities that are drawn for a trace: each takes a quarter of a microsecond.
MAX_DRAWN = 10_000_000
#: Most opportunities of a generated trace in a ms: 12 Gbit/s of 1500 bytes.
MAX_PER_MS = 1_000

#: Opportunities of each ms.
PerMs = Iterator[int]


@dataclass(frozen=True)
class Generator:
    """A generator.

    Attributes
    ----------
    doc
        What it makes, in a sentence.
    parameters
        Its parameters' defaults, as a user would write them, by name.
    per_ms
        From their values and the bytes of an opportunity to the opportunities of each ms.
    """

    doc: str
    parameters: Mapping[str, str]
    per_ms: Callable[..., PerMs]


#: Parameters that are not a rate.
TIMES = ("length", "stay", "every", "stop")
#: Every generator by name.
GENERATORS: dict[str, Generator] = {}


def generator(**parameters: str) -> Callable[[Callable[..., PerMs]], Callable[..., PerMs]]:
    """Register a generator with its parameters and their defaults."""

    def register(per_ms: Callable[..., PerMs]) -> Callable[..., PerMs]:
        doc = (inspect.getdoc(per_ms) or "").partition("\n")[0]
        GENERATORS[per_ms.__name__] = Generator(doc, parameters, per_ms)
        return per_ms

    return register


def generate(
    name: str, settings: Mapping[str, str], size_bytes: int
) -> tuple[tuple[tuple[int, int], ...], list[str], int]:
    """Return a generated trace's runs, its parameters that are not at their defaults, and its work.

    The work is the ms that were looked at and the opportunities that were drawn.
    """
    declared = GENERATORS[name]
    for key in settings:
        if key not in declared.parameters:
            has = listed(declared.parameters)
            raise ScenarioError(
                f"`{name}` has no parameter `{excerpt(key)}`: it has {has}"
                f"{nearest(key, list(declared.parameters))}"
            )
    values = {
        key: value_of(key, settings.get(key, default), name)
        for key, default in declared.parameters.items()
    }
    words = [
        f"{key}={shown(values[key])}"
        for key, default in declared.parameters.items()
        if values[key] != value_of(key, default, name)
    ]
    drawn = check_amount(name, values, size_bytes)
    runs, gap_ms, ms = [], 0, 0
    for ms, count in enumerate(declared.per_ms(size_bytes=size_bytes, **values), start=1):
        gap_ms += 1
        if ms > MAX_GENERATED_MS:
            raise ScenarioError(f"`{name}` is longer than an hour; use shorter times")
        check_per_ms(name, count)
        if count:
            runs.append((gap_ms, count))
            gap_ms = 0
    if not runs:
        raise ScenarioError(f"`{name}` has no opportunity; use a longer `length` or higher rate")
    return tuple(runs), words, ms + drawn


def check_amount(name: str, values: Mapping[str, Any], size_bytes: int) -> int:
    """Return how many opportunities are drawn; refuse more than can be, before they are."""
    rates_bps = [0]
    for value in values.values():
        several = value if isinstance(value, tuple) else (value,)
        rates_bps += [int(each) for each in several if isinstance(each, Rate)]
    rate_bps, line_bits = max(rates_bps), size_bytes * 8 * 1000
    check_per_ms(name, rate_bps // line_bits)
    is_drawn = "length" in values and "rate" in values
    drawn = rate_bps * ms_of(values["length"]) // line_bits if is_drawn else 0
    if drawn > MAX_DRAWN:
        raise ScenarioError(
            f"`{name}` has {drawn:,} opportunities; use at most {MAX_DRAWN:,}: a shorter `length` "
            "or a lower `rate`"
        )
    return drawn


def check_per_ms(name: str, count: int) -> None:
    """Refuse more opportunities in a ms than any link has."""
    if count > MAX_PER_MS:
        raise ScenarioError(f"`{name}` has {count:,} opportunities in a ms; use lower rates")


def value_of(key: str, text: str, name: str) -> Any:
    """Read a parameter's value."""
    what = f"`{key}` of `{name}`"
    if key == "seed":
        if not is_count(text):
            raise ScenarioError(f"{what} is `{excerpt(text)}`; use a whole number, like `1`")
        return int(text)
    if key in TIMES:
        time = Time.parse(text, what, minimum=MS)
        if int(time) > MAX_GENERATED_MS * MS:
            raise ScenarioError(f"{what} is `{excerpt(text)}`; use at most `3600s`")
        return time
    if key == "rates":
        return tuple(Rate.parse(part, what) for part in text.split(SEPARATOR))
    return Rate.parse(text, what, minimum=1)


def shown(value: Any) -> str:
    """Write a value as `value_of` reads it."""
    return SEPARATOR.join(map(str, value)) if isinstance(value, tuple) else str(value)


def ms_of(time: Quantity) -> int:
    """Return a time in whole ms."""
    return max(1, int(time) // MS)


def emit(rates_bps: Iterator[int], size_bytes: int) -> PerMs:
    """Return the opportunities of rates, one a ms: what is left of a ms goes to the next."""
    reserve = 0
    for rate_bps in rates_bps:
        reserve += rate_bps
        count, reserve = divmod(reserve, size_bytes * 8 * 1000)
        yield count


@generator(rate="12mbit")
def constant(size_bytes: int, rate: Rate) -> PerMs:
    """A constant rate, as exactly as whole milliseconds allow in a minute."""
    rate_bps, line_bits = int(rate), size_bytes * 8 * 1000
    # The shortest trace that has the rate exactly, if it is not longer than a minute.
    length_ms = line_bits // math.gcd(rate_bps, line_bits)
    return emit((rate_bps for _ in range(min(length_ms, 60_000))), size_bytes)


@generator(rate="3mbit", length="60s", seed="1")
def poisson(size_bytes: int, rate: Rate, length: Time, seed: int) -> PerMs:
    """Exponentially distributed gaps, as Pantheon's calibrated emulators of cellular paths."""
    random, mean_ms = Random(seed), size_bytes * 8 * 1000 / int(rate)  # noqa: S311 -- not secrets
    at_ms = random.expovariate(1 / mean_ms)
    for ms in range(1, ms_of(length) + 1):
        count = 0
        while at_ms < ms:
            count += 1
            at_ms += random.expovariate(1 / mean_ms)
        yield count


@generator(low="1mbit", high="20mbit", stay="5s", length="120s", seed="1")
def markov(size_bytes: int, low: Rate, high: Rate, stay: Time, length: Time, seed: int) -> PerMs:
    """Two rates, each of which stays for an exponentially distributed time."""

    def rates() -> Iterator[int]:
        random, is_high, left_ms = Random(seed), True, 0.0  # noqa: S311 -- not secrets
        for _ in range(ms_of(length)):
            if left_ms <= 0:
                left_ms, is_high = random.expovariate(1 / ms_of(stay)), not is_high
            left_ms -= 1
            yield int(high if is_high else low)

    return emit(rates(), size_bytes)


@generator(rates="12mbit;3mbit", every="10s")
def steps(size_bytes: int, rates: tuple[Rate, ...], every: Time) -> PerMs:
    """Rates one after the other, each as long."""
    if int(rates[-1]) == 0 and any(map(int, rates)):
        # A trace ends at its last opportunity: a pause after it would be missing.
        passing = max(at for at, rate in enumerate(rates, start=1) if int(rate))
        rotated = rates[passing:] + rates[:passing]
        begun = SEPARATOR.join(str(rate) if int(rate) else "0bit" for rate in rotated)
        raise ScenarioError(
            "`rates` of `steps` ends with 0, and a trace ends at its last opportunity; use "
            f"`rates={begun}`, which begins with the pause"
        )
    return emit((int(rate) for rate in rates for _ in range(ms_of(every))), size_bytes)


@generator(rate="20mbit", every="15s", stop="500ms")
def handover(size_bytes: int, rate: Rate, every: Time, stop: Time) -> PerMs:
    """A constant rate that stops for some time in each interval."""
    # It begins with the stop: a trace ends at its last opportunity.
    stop_ms = min(ms_of(stop), ms_of(every) - 1)
    rates = (0 if ms < stop_ms else int(rate) for ms in range(ms_of(every)))
    return emit(rates, size_bytes)


@generator(rate="5mbit", length="120s", seed="1")
def cellular(size_bytes: int, rate: Rate, length: Time, seed: int) -> PerMs:
    """A Poisson process whose rate wanders and sometimes stops, like a cellular link.

    After Winstein, Sivaraman, Balakrishnan: "Stochastic forecasts achieve high throughput and low
    delay over cellular networks", NSDI 2013, §3.1: the rate is a Brownian motion of 200
    packets/s/√s from 0 to 1,000 packets/s, and an outage ends once a second on average. There
    every visit to 0 is an outage, here one of ten: at 0 it turns round otherwise. The rates are
    then scaled to the mean.
    """
    random = Random(seed)  # noqa: S311 -- not secrets
    shares = list(wandering(random, ms_of(length)))
    per_share = int(rate) / (size_bytes * 8 * 1000) * len(shares) / sum(shares)
    return (poisson_count(random, share * per_share) for share in shares)


def wandering(random: Random, length_ms: int) -> Iterator[float]:
    """Return shares of the largest rate, one a ms: a Brownian motion with outages."""
    sigma, tick_ms, outage_share = 0.2, 20, 0.1
    share, outage_ms = 0.5, 0.0
    for ms in range(length_ms):
        outage_ms -= 1
        if ms % tick_ms == 0 and outage_ms <= 0:
            share += random.gauss(0, sigma * math.sqrt(tick_ms / 1000))
            if share <= 0 and random.random() < outage_share:
                outage_ms = random.expovariate(1 / 1000)
            share = 1 - abs(1 - abs(share))
        yield 0.0 if outage_ms > 0 else share


def poisson_count(random: Random, mean: float) -> int:
    """Draw from a Poisson distribution (Knuth's method; the mean is small)."""
    if mean <= 0:
        return 0
    # In parts, whose exponential does not vanish.
    parts = math.ceil(mean / 50)
    count = 0
    for _ in range(parts):
        limit, product = math.exp(-mean / parts), random.random()
        while product > limit:
            count += 1
            product *= random.random()
    return count
