"""Reference allocations: closed forms, published networks, and what defines each rule."""

import math
import random
from collections.abc import Sequence
from fractions import Fraction

import pytest

from dumbbell.models.allocations import (
    Demand,
    alpha_fair,
    max_min,
    minimum_potential_delay,
    proportional_fair,
)


def parking_lot(links: int, cross: int = 1) -> tuple[dict[str, int], list[Demand]]:
    """One long flow over all links, and cross flows over each."""
    names = [f"link{i}" for i in range(links)]
    demands = [Demand(tuple(names)), *(Demand((name,), cross) for name in names)]
    return dict.fromkeys(names, 1), demands


@pytest.mark.parametrize("links", range(1, 11))
def test_parking_lots_are_as_in_closed_form(links):
    assert max_min(*parking_lot(links)) == [Fraction(1, 2)] * (links + 1)
    mpd = minimum_potential_delay(*parking_lot(links))
    assert mpd[0] == pytest.approx(1 / (1 + math.sqrt(links)), rel=1e-9)
    pf = proportional_fair(*parking_lot(links))
    assert pf[0] == pytest.approx(1 / (links + 1), rel=1e-9)
    for long, *cross in (mpd, pf):
        assert cross == pytest.approx([1 - long] * links, rel=1e-9)


@pytest.mark.parametrize(
    ("links", "mpd", "pf"),
    [
        (1, 0.500, 0.500),
        (2, 0.414, 0.333),
        (3, 0.366, 0.250),
        (5, 0.309, 0.167),
        (10, 0.240, 0.091),
    ],
)
def test_parking_lots_as_tabulated(links, mpd, pf):
    assert minimum_potential_delay(*parking_lot(links))[0] == pytest.approx(mpd, abs=5e-4)
    assert proportional_fair(*parking_lot(links))[0] == pytest.approx(pf, abs=5e-4)


@pytest.mark.parametrize("cross", [1, 2, 4])
def test_several_cross_flows_for_each_link(cross):
    assert max_min(*parking_lot(3, cross))[0] == Fraction(1, cross + 1)
    mpd = minimum_potential_delay(*parking_lot(3, cross))[0]
    assert mpd == pytest.approx(1 / (1 + cross * math.sqrt(3)), rel=1e-9)


@pytest.mark.parametrize(
    ("capacities", "mm", "mpd", "pf"),
    [
        ((100, 50), (25, 75, 25), (24.3, 75.7, 25.7), (21.1, 78.9, 28.9)),
        ((100, 20), (10, 90, 10), None, (9.4, 90.6, 10.6)),
        # RFC 8867, 6.3, in units of 10 kbit/s.
        ((200, 150), (75, 125, 75), (69, 131, 81), (57, 143, 93)),
    ],
)
def test_two_links_of_unequal_rate(capacities, mm, mpd, pf):
    links = dict(zip("ab", capacities, strict=True))
    demands = [Demand(("a", "b")), Demand(("a",)), Demand(("b",))]
    precision = 0.005 * capacities[0] if capacities == (200, 150) else 0.05
    assert max_min(links, demands) == list(mm)
    assert proportional_fair(links, demands) == pytest.approx(pf, abs=precision)
    if mpd:
        assert minimum_potential_delay(links, demands) == pytest.approx(mpd, abs=precision)


def chain(
    rates: tuple[int, ...], groups: list[tuple[str, int, int, int]]
) -> tuple[dict[str, int], list[Demand]]:
    """Routers R1, R2, … in a chain, and groups from one to another: letter, flows, first, last."""
    links = {f"R{i}": rate for i, rate in enumerate(rates, 1)}
    demands = [
        Demand(tuple(f"R{i}" for i in range(first, last)), flows)
        for _, flows, first, last in groups
    ]
    return links, demands


#: ATM Forum 94-0557's first generic fairness configuration.
GFC1 = chain(
    (50, 150, 150, 100),
    [
        ("A", 3, 1, 4),
        ("B", 3, 2, 5),
        ("C", 3, 3, 4),
        ("D", 6, 1, 2),
        ("E", 6, 4, 5),
        ("F", 2, 2, 3),
    ],
)
#: The second.
GFC2 = chain(
    (50, 100, 50, 150, 150, 50),
    [
        ("A1", 1, 1, 6), ("A2", 1, 2, 6), ("A3", 1, 3, 6), ("B1", 1, 1, 7), ("B2", 1, 2, 7),
        ("B3", 1, 4, 7), ("C", 3, 5, 6), ("D", 1, 1, 2), ("E", 2, 2, 3), ("F", 1, 3, 4),
        ("G", 7, 6, 7), ("H", 2, 4, 5),
    ],
)  # fmt: skip


def test_generic_fairness_configurations():
    assert [float(rate) for rate in max_min(*GFC1)] == pytest.approx(
        [5.56, 11.1, 33.3, 5.56, 11.1, 50], rel=5e-3
    )
    assert minimum_potential_delay(*GFC1) == pytest.approx(
        [5.48, 10.6, 34.0, 5.59, 11.4, 50.9], rel=5e-3
    )
    assert proportional_fair(*GFC1) == pytest.approx([4.71, 8.07, 37.2, 5.98, 12.6, 55.8], rel=5e-3)
    assert max_min(*GFC2) == [10, 10, 10, 5, 5, 5, 35, 35, 35, 10, 5, Fraction(105, 2)]
    assert proportional_fair(*GFC2) == pytest.approx(
        [6.8, 8.1, 10.2, 3.1, 3.3, 4.5, 38, 40, 39, 18.5, 5.6, 57], rel=2e-2
    )


def random_network(generator: random.Random) -> tuple[dict[str, int], list[Demand]]:
    links = {f"l{i}": generator.randint(1, 1000) for i in range(generator.randint(1, 8))}
    demands = [
        Demand(
            tuple(generator.sample(sorted(links), generator.randint(1, len(links)))),
            generator.randint(1, 20),
        )
        for _ in range(generator.randint(1, 6))
    ]
    return links, demands


def load(demands: list[Demand], rates: Sequence[float | Fraction], link: str) -> float | Fraction:
    return sum(
        demand.flows * rate
        for demand, rate in zip(demands, rates, strict=True)
        if link in demand.route
    )


@pytest.mark.parametrize("seed", range(50))
def test_max_min_leaves_each_flow_a_full_link_on_which_none_has_more(seed):
    links, demands = random_network(random.Random(seed))  # noqa: S311
    rates = max_min(links, demands)
    assert all(load(demands, rates, link) <= capacity for link, capacity in links.items())
    for demand, rate in zip(demands, rates, strict=True):
        assert any(
            load(demands, rates, link) == links[link]
            and all(
                rate >= other
                for rival, other in zip(demands, rates, strict=True)
                if link in rival.route
            )
            for link in demand.route
        )


@pytest.mark.parametrize("alpha", [1, 4 / 3, 2])
@pytest.mark.parametrize("seed", range(20))
def test_no_other_allocation_has_a_larger_utility(seed, alpha):
    """First-order optimality: Σ n·(y - x)·U'(x) is not positive for any y within capacity."""
    generator = random.Random(seed)  # noqa: S311
    links, demands = random_network(generator)
    rates = alpha_fair(links, demands, alpha)
    for link, capacity in links.items():
        assert load(demands, rates, link) <= capacity * (1 + 1e-6)
    for _ in range(50):
        weights = [generator.random() for _ in demands]
        scale = min(
            capacity / used
            for link, capacity in links.items()
            if (used := load(demands, weights, link)) > 0
        )
        gain = sum(
            demand.flows * (scale * weight - rate) * rate**-alpha
            for demand, weight, rate in zip(demands, weights, rates, strict=True)
        )
        bound = sum(demand.flows * rate ** (1 - alpha) for demand, rate in zip(demands, rates))  # noqa: B905
        assert gain <= 1e-5 * bound


@pytest.mark.parametrize(
    ("demand", "message"),
    [
        (Demand(("b",)), "there is no link `b`; the links are a"),
        (Demand(()), "no link in its route"),
        (Demand(("a",), 0), "0 flows"),
    ],
)
def test_refuses_what_no_network_has(demand, message):
    for rule in (max_min, proportional_fair):
        with pytest.raises(ValueError, match=message):
            rule({"a": 1}, [demand])
