"""Our congestion controls against Linux's own source, in the same simulated scenario.

``python -m tests.python.linux.ours_and_linux DIR`` prints the table of
`docs/linux-congestion-controls.md` for a Linux source tree.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import dumbbell
from dumbbell import Group, LinuxTree, Run, Scenario
from tests.python.linux.reno import reno_module

__all__ = ["COMPARISONS", "Comparison", "Difference"]

#: Both take these scenarios: settings by what the table calls them.
SCENARIOS: dict[str, dict[str, str]] = {
    "1 flow, 0.5 BDP": {"buffer": "0.5bdp"},
    "1 flow, 1 BDP": {"buffer": "1bdp"},
    "1 flow, 2 BDP": {"buffer": "2bdp"},
    "1 flow, 8 BDP": {"buffer": "8bdp"},
    "1 flow, 50 to 10 to 50 Mbit/s": {"buffer": "2bdp", "rate_steps": "20s:10mbit, 40s:50mbit"},
    "1 flow, 40 to 80 to 40 ms": {"buffer": "2bdp", "rtt_steps": "20s:80ms, 40s:40ms"},
}
#: 4 + 4: four of ours against four of Linux's on one link.
RIVALRY = "4 + 4 flows, 2 BDP"
#: Under random loss two traces part for good with the first packet that one sends later, so it is
#: the mean over seeds that is compared.
RANDOM_LOSS = "1 flow, loss 0.1 %"
SEEDS = range(1, 9)
#: Marks for dctcp, which without any is Reno.
ECN = {"ecn_threshold": "20pkt"}


@dataclass(frozen=True)
class Difference:
    """Ours against Linux's: what differs by how much, in words, and whether that is small."""

    figures: str
    is_small: bool


@dataclass(frozen=True)
class Comparison:
    """One of ours and Linux's of the same name, in one scenario.

    Attributes
    ----------
    name
        Of the congestion control.
    scenario
        A key of `SCENARIOS`, `RANDOM_LOSS` or `RIVALRY`.
    """

    name: str
    scenario: str

    def __str__(self) -> str:
        return f"{self.name}, {self.scenario}"

    def measure(self, tree: LinuxTree) -> Difference:
        """Run both and compare."""
        with tempfile.TemporaryDirectory() as directory:
            return self._measure(
                reno_module(Path(tree.root), Path(directory))
                if self.name == "reno"
                else tree.source(self.name)
            )

    def _measure(self, source: str) -> Difference:
        extra = ECN if self.name == "dctcp" else {}
        if self.scenario == RIVALRY:
            return self._share(source, extra)
        if self.scenario == RANDOM_LOSS:
            return self._mean_under_loss(source, extra)
        settings = {"time": "60s", **SCENARIOS[self.scenario], **extra}
        ours, linuxs = (run([cc], **settings) for cc in (self.name, source))
        trace = trace_difference_pct(ours, linuxs, "cwnd_pkts")
        pacing = trace_difference_pct(ours, linuxs, "pacing_rate_bps")
        mean = mean_difference_pct([mean_cwnd_pkts(ours)], [mean_cwnd_pkts(linuxs)])
        goodputs = [run.groups[0]["goodput_bps"] / 1e6 for run in (ours, linuxs)]
        paced = "" if pacing is None else f", pacing rate {pacing:.1f} %"
        return Difference(
            f"cwnd apart by {trace:.1f} % at any time{paced}, by {mean:.1f} % on average; "
            f"goodput {goodputs[0]:.2f} and {goodputs[1]:.2f} Mbit/s",
            trace is not None and trace <= 15 and mean <= 2,
        )

    def _mean_under_loss(self, source: str, extra: dict[str, str]) -> Difference:
        goodputs = [
            [
                run([cc], seed=seed, loss="0.1%", time="60s", **extra).groups[0]["goodput_bps"]
                for seed in SEEDS
            ]
            for cc in (self.name, source)
        ]
        mean = mean_difference_pct(*goodputs)
        ours, linuxs = (float(np.mean(values)) / 1e6 for values in goodputs)
        return Difference(
            f"goodput {ours:.2f} and {linuxs:.2f} Mbit/s over {len(SEEDS)} seeds", mean <= 2
        )

    def _share(self, source: str, extra: dict[str, str]) -> Difference:
        groups = [Group(self.name, 4), Group(source, 4)]
        shares = [
            100 * run(groups, seed=seed, buffer="2bdp", time="60s", **extra).groups[0]["share"]
            for seed in SEEDS
        ]
        mean = float(np.mean(shares))
        return Difference(
            f"ours has {mean:.1f} % of the goodput over {len(SEEDS)} seeds", abs(mean - 50) <= 5
        )


def run(groups: Sequence[str | Group], **settings: Any) -> Run:
    """Run groups on 50 Mbit/s, 40 ms and what else is said."""
    return dumbbell.run(Scenario(groups, **settings))


def mean_cwnd_pkts(ran: Run) -> float:
    """Return flow 0's mean cwnd."""
    return float(ran.flows.to_pandas()["cwnd_pkts"].mean())


def mean_difference_pct(ours: Sequence[float], linuxs: Sequence[float]) -> float:
    """Return how far apart two means are, per cent of the second."""
    return float(100 * abs(np.mean(ours) / np.mean(linuxs) - 1))


def trace_difference_pct(ours: Run, linuxs: Run, column: str) -> float | None:
    """Return the mean distance of two traces over their mean, per cent; None if there is none."""
    traces = []
    for run in (ours, linuxs):
        series = run.flows.to_pandas().set_index("time_us")[column]
        traces.append(series.dropna().astype(float))
    one, other = traces[0].align(traces[1], join="inner")
    if one.empty:
        return None
    return float(100 * (one - other).abs().mean() / ((one + other).mean() / 2))


NAMES = ("cubic", "bbr", "reno", "vegas", "dctcp")
COMPARISONS = tuple(
    Comparison(name, scenario) for name in NAMES for scenario in (*SCENARIOS, RANDOM_LOSS, RIVALRY)
)


def main(root: str) -> int:
    """Print the table, in Markdown; returns 1 if a difference is large."""
    tree = LinuxTree(root)
    large = 0
    print("| congestion control | scenario | ours and Linux's |")  # noqa: T201 -- what it is for
    print("|---|---|---|")  # noqa: T201 -- what it is for
    for comparison in COMPARISONS:
        difference = comparison.measure(tree)
        large += not difference.is_small
        mark = "" if difference.is_small else " **large**"
        print(  # noqa: T201 -- what it is for
            f"| `{comparison.name}` | {comparison.scenario} | {difference.figures}{mark} |",
            flush=True,
        )
    return 1 if large else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
