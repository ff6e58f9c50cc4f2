"""Our impairments against netem's models, in virtual time."""

from __future__ import annotations

import numpy as np
import pytest

from tests.python.guests import built
from tests.python.netem_models import (
    MODELS,
    Model,
    Pair,
    Seen,
    chi_squared,
    compare,
    p_values,
    probed,
    runs_of,
)  # fmt: skip
from tests.python.real_programs import needs

#: Fixed before the first run: of some 30 comparisons one is below it by chance in 3 % of all cases.
LEAST_P = 0.001
PACKETS = 10_000
#: One of each kind; the others are long.
USUAL = ("delay 50ms 10ms", "loss gemodel 10% 30%", "duplicate 10%")


def geometric(seed: int, loss: float, end: float) -> Seen:
    """Draw which of many packets are lost, in bursts."""
    random = np.random.default_rng(seed)
    marked, is_bad = [], False
    for _ in range(PACKETS):
        is_bad = random.random() >= end if is_bad else random.random() < loss
        marked.append(is_bad)
    return Seen(random.normal(50, 10, PACKETS), marked)


def test_runs_are_counted():
    assert runs_of([True, True, False, True], of=True) == [2, 1]
    assert runs_of([True, True, False, True], of=False) == [1]


def test_other_distributions_are_found_and_the_same_are_not():
    lost = Model("", "", "lost")
    same = Pair(geometric(1, 0.1, 0.3), geometric(2, 0.1, 0.3))
    assert min(p_values(lost, same).values()) > LEAST_P
    assert p_values(lost, Pair(geometric(1, 0.1, 0.3), geometric(2, 0.1, 0.4)))["runs"] < LEAST_P
    assert p_values(lost, Pair(geometric(1, 0.1, 0.3), geometric(2, 0.13, 0.3)))["gaps"] < LEAST_P
    delays = Model("", "", "delays")
    assert min(p_values(delays, same).values()) > LEAST_P
    late = Seen(same.ours.delays_ms + 1, same.ours.is_marked)
    assert p_values(delays, Pair(same.netem, late))["delays"] < LEAST_P
    assert chi_squared([1, 2, 3] * 100, [1, 2, 3] * 100) == 1


@built
@needs("tc")
@pytest.mark.parametrize(
    "model",
    [
        pytest.param(model, marks=() if model.netem in USUAL else pytest.mark.long, id=model.netem)
        for model in MODELS
    ],
)
def test_netem_and_ours_are_one_distribution(model):
    found = p_values(model, compare(model, PACKETS))
    assert min(found.values()) > LEAST_P, found


@built
@needs("tc")
def test_netem_s_rate_is_a_link_s():
    """A burst of 1,000 datagrams of 142 bytes on the wire, at 1 Mbit/s."""
    make = "tc qdisc add dev tun0 root netem limit 1000000 rate 1mbit 14; "
    netem = probed((), make, 0, 1000)
    ours = probed(("--rate", "1mbit", "--buffer", "2000pkt"), "", 0, 1000)
    assert [number for number, _ in netem] == [number for number, _ in ours] == list(range(1000))
    apart_ns = [theirs[1] - own[1] for theirs, own in zip(netem, ours, strict=True)]
    assert max(map(abs, apart_ns)) < 10_000
    assert ours[-1][1] == pytest.approx(1000 * 142 * 8e3 + 2e6, rel=0.001)
