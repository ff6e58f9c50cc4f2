"""Try to refute that two kinds of own flows never last: docs/notes/nagi.md, Stability.

``python tools/nagi_lock.py --minutes 5 --seed 9500`` draws scenarios within the lemma's conditions
until the time is over: nagi's flows start apart, and CUBIC or BBR comes and leaves. A scenario
refutes it if, in the last 10 s, some flows compete and some do not, none changes, and the queue is
above half of the ceiling. It prints what it found, and how many scenarios it ran.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections.abc import Sequence

import dumbbell
from dumbbell import Group, Scenario

__all__ = ["draw", "has_two_kinds"]

#: c and T₀ in s as the source has them; the ceiling, and the queue below which the lemma holds, s.
C, T0 = 0.28, 0.04
CEILING = 0.0135
OWN_MOST = CEILING / (2 * math.sqrt(2))
PACKET_BITS = 12_000
LEAVES_S, LASTS_S, LAST_S = 40, 100, 10
#: States in which a flow competes.
COMPETES = ("compete", "dip")


def draw(cc: str, dice: random.Random, seed: int) -> Scenario:
    """Return a scenario within the conditions: one RTT, own queue and windows of some packets."""
    while True:
        rate = 10 ** dice.uniform(1, 2.3)
        rtt = dice.uniform(10, 100)
        flows = round(2 ** dice.uniform(1, 5.5))
        capacity = rate * 1e6 / PACKET_BITS
        window = capacity * rtt / 1e3 / flows
        if C * math.sqrt(flows * T0 / capacity) < OWN_MOST and window > 8:
            break
    guest = Group(
        cc=dice.choice(["cubic", "bbr"]), flows=dice.choice([1, 2, 4]),
        start=f"{dice.uniform(0, 20):.1f}s", stop=f"{LEAVES_S}s",
    )  # fmt: skip
    return Scenario(
        [Group(cc=cc, flows=flows, jitter=f"{dice.choice([1, 5, 20])}s"), guest],
        rate=f"{rate:.1f}mbit", rtt=f"{rtt:.0f}ms", buffer=f"{2 ** dice.uniform(0, 4):.2f}bdp",
        time=f"{LASTS_S}s", sample="100ms", seed=seed,
    )  # fmt: skip


def has_two_kinds(scenario: Scenario) -> bool:
    """Run it; return whether both kinds last for the last 10 s above half of the ceiling."""
    run = dumbbell.run(scenario)
    state, queue = run.state(0).to_pandas(), run.queue.to_pandas()
    since = (LASTS_S - LAST_S) * 1e6
    competes = (
        state[state.time_us > since]
        .assign(competes=lambda each: each["mode"].isin(COMPETES))
        .groupby("flow")
        .competes.mean()
    )
    delay = queue.sojourn_us[queue.time_us > since].mean() / 1e6
    return bool(delay > CEILING / 2 and (competes == 1).any() and (competes == 0).any())


def main(arguments: Sequence[str]) -> None:
    """Draw and run until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cc", nargs="?", default="nagi")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=9500)
    given = parser.parse_args(arguments)
    dice = random.Random(given.seed)  # noqa: S311
    ends = time.monotonic() + 60 * given.minutes
    count, found = 0, 0
    while time.monotonic() < ends:
        scenario = draw(given.cc, dice, given.seed + count)
        count += 1
        if has_two_kinds(scenario):
            found += 1
            own, guest = scenario.groups
            print(
                f"two kinds last: {own.flows} flows within {own.jitter}, {scenario.rate}, "
                f"{scenario.rtt}, {scenario.buffer}, {guest.flows} of {guest.cc} from "
                f"{guest.start}, seed {scenario.seed}"
            )
    print(f"{found} of {count} scenarios in {given.minutes:g} minutes, seeds from {given.seed}")


if __name__ == "__main__":
    main(sys.argv[1:])
