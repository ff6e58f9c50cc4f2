"""Search for two kinds of own flows that last: docs/notes/nagi.md, the lemma.

``python tools/nagi_lock.py --budget 120min --seed 13300 --out found.json`` is `dumbbell search` in
a space made for it. Each scenario is within the lemma's conditions: nagi's flows on one link and
one RTT, of some packets each, which start apart, come late or leave; guests of CUBIC or BBR have
left before the last minute. Its score is the greatest part of that minute for which a flow
competes, less the least: 1 if one does and another does not for all of it, which would refute it.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from dumbbell import Group, Scenario
from dumbbell.base.quantities import Time
from dumbbell.compare import Worst
from dumbbell.congestion_control import describe
from dumbbell.run import Run
from dumbbell.scenario_space import ElementKind, Roles, Scale, Space, Values, Words, logarithmic
from dumbbell_studies.search import SearchProgress, search

__all__ = ["SPACE", "TwoKinds", "least_window"]

DEFAULTS = {each.name: each.default for each in describe("nagi").parameters}
#: c, and half of the ceiling, below which flows stop to compete, s.
C, HALF_CEILING = DEFAULTS["root_milli"] / 1e3, DEFAULTS["ceiling_us"] / 2e6
#: T₀ as the source has it, s.
T0 = 0.04
#: Queue that all flows together want, below which the lemma holds with exact bases, s.
OWN_MOST = HALF_CEILING / math.sqrt(2)
PACKET_BITS, MOST_RATE = 8 * 1514, 200e6
LASTS_MS, LAST_MS = 120_000, 60_000
GUESTS = ("cubic", "bbr")
COMPETES = ("compete", "dip")


def least_window(rtt_s: float) -> float:
    """Return the packets of a flow from which on a dip is a packet and the queue short enough."""
    dip = min(0.3, 0.8 * HALF_CEILING / rtt_s)
    return max(8, 1 / dip, C**2 * T0 * rtt_s / OWN_MOST**2)


class Crowd(ElementKind):
    """The flows, the RTT, and a rate that keeps the lemma's conditions, by a margin in per cent."""

    name = "crowd"
    parameters = {
        "flows": Scale((2, 3, 4, 6, 8, 12, 16, 24, 32, 48)),
        "rtt_ms": logarithmic(4, 100),
        "margin_percent": logarithmic(100, 3200),
    }

    def place(self, words: Words, values: Values, roles: Roles) -> None:  # noqa: ARG002
        """Set flows, RTT and rate."""
        rtt_s = values["rtt_ms"] / 1000
        window = least_window(rtt_s) * values["margin_percent"] / 100
        rate = min(values["flows"] * window * PACKET_BITS / rtt_s, MOST_RATE)
        words |= {"rtt": f"{values['rtt_ms']}ms", "rate": f"{round(rate)}bit"}
        words["group"][0]["flows"] = values["flows"]

    def phrase(self, values: Values, roles: Roles) -> str:  # noqa: ARG002
        """Say nothing: the path's words have it."""
        return ""


class Buffer(ElementKind):
    """The buffer, in hundredths of a BDP."""

    name = "buffer"
    parameters = {"percent": logarithmic(50, 1600)}

    def place(self, words: Words, values: Values, roles: Roles) -> None:  # noqa: ARG002
        """Set the buffer."""
        words["buffer"] = f"{values['percent'] / 100:g}bdp"

    def phrase(self, values: Values, roles: Roles) -> str:  # noqa: ARG002
        """Say nothing: the path's words have it."""
        return ""


class Apart(ElementKind):
    """The first flows start within so long."""

    name = "apart"
    parameters = {"within_ms": logarithmic(10, 20_000)}

    def place(self, words: Words, values: Values, roles: Roles) -> None:  # noqa: ARG002
        """Let them start at random."""
        words["group"][0]["jitter"] = f"{values['within_ms']}ms"

    def phrase(self, values: Values, roles: Roles) -> str:  # noqa: ARG002
        """Say within how long."""
        return f"that start within {values['within_ms']} ms"


class Others(ElementKind):
    """Flows of nagi that come later, or guests; guests have left before the last minute."""

    name, most = "others", 4
    parameters = {
        "kind": Scale((0, 1, 2)),
        "flows": Scale((1, 2, 4, 8)),
        "start_ms": logarithmic(100, 40_000),
        "lasts_ms": Scale((500, 1000, 2000, 5000, 10_000, 20_000, LASTS_MS)),
    }

    def place(self, words: Words, values: Values, roles: Roles) -> None:
        """Add a group."""
        stop_ms = values["start_ms"] + values["lasts_ms"]
        if values["kind"]:
            stop_ms = min(stop_ms, LAST_MS - 1000)
        group = {
            "cc": (roles.tested, *GUESTS)[values["kind"]],
            "flows": values["flows"],
            "start": f"{values['start_ms']}ms",
        }
        words["group"].append(group if stop_ms >= LASTS_MS else {**group, "stop": f"{stop_ms}ms"})

    def phrase(self, values: Values, roles: Roles) -> str:
        """Say who comes when, and for how long."""
        cc = (roles.tested, *GUESTS)[values["kind"]]
        return (
            f"with {values['flows']} {cc} from {values['start_ms']} ms on, "
            f"for {values['lasts_ms']} ms"
        )


SPACE = Space("lock", {each.name: each for each in (Crowd(), Buffer(), Apart(), Others())})


class TwoKinds(Worst):
    """For how much of the last minute some own flows compete and others do not.

    Parameters
    ----------
    cc
        The flows' algorithm.
    """

    name = "two-kinds"
    least = 0.999
    flows = 2

    def __init__(self, cc: str) -> None:
        self.cc = cc

    def value(self, run: Run, rows: Sequence[object]) -> float | None:  # noqa: ARG002
        """Return it; None where the lemma's conditions do not hold, 0 for the reference."""
        scenario = run.scenario
        if str(scenario.groups[0].cc) != self.cc:
            return 0.0
        parts, error_s, flows = [], 0.0, 0
        rate, rtt_s = float(int(scenario.links[0].rate)), scenario.rtt.seconds
        for index, group in enumerate(scenario.groups):
            if str(group.cc) != self.cc:
                continue
            state = run.state(index).to_pandas()
            state = state[state.time_us > 1e3 * LAST_MS]
            # Flows that leave within the minute are of no kind for all of it.
            if state.empty or state.time_us.max() < 1e3 * (LASTS_MS - 1000):
                continue
            flows += group.flows
            competes = state["mode"].isin(COMPETES).groupby(state.flow).mean()
            parts += [competes.max(), competes.min()]
            base_s = state.base_us / 1e6 - rtt_s - PACKET_BITS / rate
            error_s = max(error_s, base_s.abs().max())
        if not flows or rate * rtt_s / PACKET_BITS / flows < least_window(rtt_s):
            return None
        own_s = C * math.sqrt(flows * T0 * PACKET_BITS / rate)
        if own_s >= (HALF_CEILING - error_s) / math.sqrt(2):
            return None
        return float(max(parts) - min(parts))

    def score(self, tested: float, reference: float) -> float:
        """Return what is measured: the reference has one kind."""
        return tested - reference

    def verb(self) -> str:
        """Say what it does."""
        return "keeps two kinds for"

    def shown(self, value: float, scenario: Scenario) -> str:  # noqa: ARG002
        """Write the part of the last minute."""
        return f"{100 * value:.3g} %"

    def of(self) -> str:
        """Say of what."""
        return "of the last minute on"


def main(arguments: Sequence[str]) -> None:
    """Search, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cc", nargs="?", default="nagi")
    parser.add_argument("--budget", default="5min")
    parser.add_argument("--seed", type=int, default=13000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    plain = Scenario(
        [Group(cc=given.cc)], rate="50mbit", rtt="40ms", buffer="4bdp",
        time=f"{LASTS_MS}ms", sample="200ms", impair="jitter:normal=20us",
    )  # fmt: skip
    count = 0

    def follow(progress: SearchProgress) -> None:
        nonlocal count
        if progress.evaluations >= count + 100:
            count = progress.evaluations
            print(f"{progress.stage}: {count} scenarios, worst {progress.best:.3f}", flush=True)

    result = search(
        plain, "cubic", worst=TwoKinds(str(plain.groups[0].cc)), space=SPACE,
        budget_s=Time.parse(given.budget, "budget").seconds, seed=given.seed, jobs=given.jobs,
        cache=False, on_progress=follow,
    )  # fmt: skip
    given.out.write_text(json.dumps(result.to_dict(), indent=1), encoding="utf-8")
    finding = result.finding
    outcome = "not refuted" if result.failure is None else "refuted"
    worst = "none counted" if result.best is None else f"worst {result.best:.3f}"
    print(f"{outcome}: {result.evaluations} scenarios, {result.runs} runs, {worst}")
    if finding is not None:
        print(finding.sentence, finding.proof, finding.toml(), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
