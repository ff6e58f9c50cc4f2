"""Reference allocations: what flows over several links get if they share by a known rule.

Symbols: link l of capacity C_l and price p_l; group i of n_i flows that cross the links R_i, each
at the rate x_i; load of a link, Σ n_i·x_i over the groups that cross it.

The rates maximise Σ n_i·U(x_i) within the links' capacities, U(x) = x^(1-α)/(1-α), log x for α = 1:

    α → ∞   max-min: no flow can get more but from one that has no more than it
    α = 2   minimum potential delay: Σ 1/x is smallest
    α = 1   proportional fairness

Max-min by progressive filling: all rates grow alike until a link is full, its flows keep what they
have, and so on. It is exact, in fractions. The others by prices (dual ascent):

    x_i = (Σ_{l in R_i} p_l)^(-1/α),    p_l ← p_l · (load_l / C_l)^γ

until every link is full or its price is nothing.

Which flows tend to which, with equal RTTs: queues that are fair per flow at each link, to max-min.
Reno, x ∝ 1/(RTT·√p) with losses that add up along a route, to minimum potential delay. DCTCP, with
x ∝ 1/(RTT·p), and Vegas and Copa, with queueing delays that add up, to proportional fairness. The
rates of Reno and DCTCP are also inverse to their RTTs. Losses at drop-tail queues are not random.

Sources: Bertsekas, Gallager, "Data Networks", 2nd ed., §6.5.2 (progressive filling); Kelly,
Maulloo, Tan, "Rate control for communication networks", JORS 49, 1998 (proportional fairness,
prices); Massoulié, Roberts, "Bandwidth sharing: objectives and algorithms", IEEE/ACM ToN 10(3),
2002 (minimum potential delay); Mo, Walrand, "Fair end-to-end window-based congestion control",
IEEE/ACM ToN 8(5), 2000 (α); RFC 5166 §2.3.2. Which flows tend to which: derived from their window
laws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dumbbell.scenario import Scenario
from dumbbell.scenario.routes import links_of

__all__ = [
    "ALLOCATIONS",
    "Allocation",
    "Demand",
    "allocations_of",
    "alpha_fair",
    "max_min",
    "minimum_potential_delay",
    "proportional_fair",
]

#: γ of a price's step: small enough to converge also where prices differ by orders of magnitude.
STEP = 0.1
#: The iteration ends when no rate has changed by more than this part in one step …
TOLERANCE = 1e-12
#: … or after this many steps, with an error.
MAX_STEPS = 200_000
#: A price below this part of the largest is that of a link that is never full.
NEGLIGIBLE = 1e-15


@dataclass(frozen=True)
class Demand:
    """Flows over the same links.

    Attributes
    ----------
    route
        The names of the links that they cross.
    flows
        How many there are.
    """

    route: tuple[str, ...]
    flows: int = 1


def max_min(capacities: Mapping[str, int], demands: Sequence[Demand]) -> list[Fraction]:
    """Return the max-min fair rate of a flow of each demand, in the unit of the capacities.

    Examples
    --------
    >>> lot = [Demand(("a", "b")), Demand(("a",)), Demand(("b",))]
    >>> [str(rate) for rate in max_min({"a": 100, "b": 50}, lot)]
    ['25', '75', '25']
    """
    check(capacities, demands)
    rates: dict[int, Fraction] = {}
    while len(rates) < len(demands):
        shares = {}
        for link, capacity in capacities.items():
            crossing = [i for i, demand in enumerate(demands) if link in demand.route]
            growing = sum(demands[i].flows for i in crossing if i not in rates)
            if growing:
                taken = sum(
                    (rates[i] * demands[i].flows for i in crossing if i in rates), Fraction()
                )
                shares[link] = (capacity - taken) / growing
        level = min(shares.values())
        full = {link for link, share in shares.items() if share == level}
        for i, demand in enumerate(demands):
            if i not in rates and full.intersection(demand.route):
                rates[i] = level
    return [rates[i] for i in range(len(demands))]


def alpha_fair(
    capacities: Mapping[str, int], demands: Sequence[Demand], alpha: float
) -> list[float]:
    """Return the α-fair rate of a flow of each demand, in the unit of the capacities.

    Examples
    --------
    >>> lot = [Demand(("a", "b")), Demand(("a",)), Demand(("b",))]
    >>> [round(rate, 1) for rate in alpha_fair({"a": 100, "b": 50}, lot, 1)]
    [21.1, 78.9, 28.9]
    """
    check(capacities, demands)
    if not alpha > 0:
        raise ValueError(f"alpha must be positive, not {alpha}; 1 is proportional fairness")
    used = {link for demand in demands for link in demand.route}
    largest = max(capacities[link] for link in used)
    capacity = {link: capacities[link] / largest for link in used}
    prices = dict.fromkeys(used, 1.0)
    rates = [0.0] * len(demands)
    for _ in range(MAX_STEPS):
        before = rates
        rates = [sum(prices[link] for link in demand.route) ** (-1 / alpha) for demand in demands]
        load = dict.fromkeys(used, 0.0)
        for demand, rate in zip(demands, rates, strict=True):
            for link in demand.route:
                load[link] += demand.flows * rate
        floor = NEGLIGIBLE * max(prices.values())
        for link in used:
            prices[link] = max(prices[link] * (load[link] / capacity[link]) ** STEP, floor)
        if all(abs(a - b) <= TOLERANCE * a for a, b in zip(rates, before, strict=True)):
            return [rate * largest for rate in rates]
    raise ArithmeticError(f"no {alpha}-fair rates after {MAX_STEPS:,} steps")


def proportional_fair(capacities: Mapping[str, int], demands: Sequence[Demand]) -> list[float]:
    """Return the proportionally fair rate of a flow of each demand."""
    return alpha_fair(capacities, demands, 1)


def minimum_potential_delay(
    capacities: Mapping[str, int], demands: Sequence[Demand]
) -> list[float]:
    """Return the rate of a flow of each demand for which the sum of transfer times is smallest."""
    return alpha_fair(capacities, demands, 2)


def check(capacities: Mapping[str, int], demands: Sequence[Demand]) -> None:
    """Refuse demands that are of no flow, of no link, or of one that is not there."""
    for demand in demands:
        if demand.flows < 1:
            raise ValueError(f"a demand has {demand.flows} flows; use 1 or more")
        if not demand.route:
            raise ValueError("a demand has no link in its route; name one")
        for link in demand.route:
            if link not in capacities:
                known = ", ".join(capacities)
                raise ValueError(f"there is no link `{link}`; the links are {known}")
            if capacities[link] <= 0:
                raise ValueError(
                    f"link `{link}` has the capacity {capacities[link]}; use more than 0"
                )


@dataclass(frozen=True)
class Allocation:
    """A rule of sharing.

    Attributes
    ----------
    name
        On the command line and in JSON.
    title
        In tables.
    rates
        The rate of a flow of each demand, from the links' capacities and the demands.
    """

    name: str
    title: str
    rates: Callable[[Mapping[str, int], Sequence[Demand]], Sequence[float | Fraction]]


#: Every allocation, from the one that gives long routes most.
ALLOCATIONS = (
    Allocation("max_min", "max-min", max_min),
    Allocation("minimum_potential_delay", "minimum potential delay", minimum_potential_delay),
    Allocation("proportional_fair", "proportional fairness", proportional_fair),
)


def allocations_of(scenario: Scenario) -> dict[str, list[float]]:
    """Return the rate of a flow of each group by each rule, bit/s on the wire, by the rule's name.

    Capacities are the links' rates at the start; that flows may be limited by anything else,
    by their size or a window, is left out.
    """
    capacities = {link.name: int(link.rate) for link in scenario.links}
    demands = [
        Demand(tuple(link.name for link in links_of(group, scenario)), group.flows)
        for group in scenario.groups
    ]
    return {
        allocation.name: [float(rate) for rate in allocation.rates(capacities, demands)]
        for allocation in ALLOCATIONS
    }
