"""Our congestion controls against Linux's own source, in the same simulated scenario.

``python -m tests.python.linux.ours_and_linux DIR`` prints the table of
`docs/linux-congestion-controls.md` for a Linux source tree.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

import dumbbell
from dumbbell import Group, LinuxTree, Run, Scenario

__all__ = ["COMPARISONS", "Comparison", "Difference"]

#: Both take these scenarios: settings by what the table calls them.
SCENARIOS: dict[str, dict[str, str]] = {
    "1 flow, 0.5 BDP": {"buffer": "0.5bdp"},
    "1 flow, 1 BDP": {"buffer": "1bdp"},
    "1 flow, 2 BDP": {"buffer": "2bdp"},
    "1 flow, 8 BDP": {"buffer": "8bdp"},
    "1 flow, loss 0.1 %": {"buffer": "1bdp", "loss": "0.1%"},
    "1 flow, 50 to 10 to 50 Mbit/s": {"buffer": "2bdp", "rate_steps": "20s:10mbit, 40s:50mbit"},
}
#: 4 + 4: four of ours against four of Linux's on one link.
RIVALRY = "4 + 4 flows, 2 BDP"
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
        A key of `SCENARIOS`, or `RIVALRY`.
    most_pct
        How much the traces, or the shares, may differ.
    """

    name: str
    scenario: str
    most_pct: float

    def __str__(self) -> str:
        return f"{self.name}, {self.scenario}"

    def measure(self, tree: LinuxTree) -> Difference:
        """Run both and compare."""
        source = tree.source(self.name)
        extra = ECN if self.name == "dctcp" else {}
        if self.scenario == RIVALRY:
            return self._share(source, extra)
        settings = {"time": "60s", **SCENARIOS[self.scenario], **extra}
        ours, linuxs = (dumbbell.run(Scenario([cc], **settings)) for cc in (self.name, source))  # type: ignore[arg-type]
        cwnd = trace_difference_pct(ours, linuxs, "cwnd_pkts")
        pacing = trace_difference_pct(ours, linuxs, "pacing_rate_bps")
        goodputs = [run.groups[0]["goodput_bps"] / 1e6 for run in (ours, linuxs)]
        paced = "" if pacing is None else f", pacing rate {pacing:.1f} %"
        return Difference(
            f"cwnd differs by {cwnd:.1f} %{paced}; goodput {goodputs[0]:.2f} and {goodputs[1]:.2f}",
            cwnd is not None and cwnd <= self.most_pct,
        )

    def _share(self, source: str, extra: dict[str, str]) -> Difference:
        shares = []
        for seed in range(1, 6):
            groups = [Group(self.name, 4), Group(source, 4)]
            settings = {"buffer": "2bdp", "time": "60s", **extra}
            run = dumbbell.run(Scenario(groups, seed=seed, **settings))  # type: ignore[arg-type]
            shares.append(100 * run.groups[0]["share"])
        mean = float(np.mean(shares))
        return Difference(
            f"ours has {mean:.1f} % of the goodput over 5 seeds", abs(mean - 50) <= self.most_pct
        )


def trace_difference_pct(ours: Run, linuxs: Run, column: str) -> float | None:
    """Return the mean distance of two traces over their mean, per cent; None if there is none."""
    traces = []
    for run in (ours, linuxs):
        series = run.flows.to_pandas().set_index("time_us")[column].dropna().astype(float)
        traces.append(series)
    one, other = traces[0].align(traces[1], join="inner")
    if one.empty:
        return None
    return float(100 * (one - other).abs().mean() / ((one + other).mean() / 2))


NAMES = ("cubic", "bbr", "vegas", "dctcp")
COMPARISONS = tuple(
    Comparison(name, scenario, most_pct=10.0)
    for name in NAMES
    for scenario in (*SCENARIOS, RIVALRY)
)


def main(root: str) -> int:
    """Print the table, in Markdown; returns 1 if a difference is large."""
    tree = LinuxTree(root)
    large = 0
    print("| congestion control | scenario | ours and Linux's |")
    print("|---|---|---|")
    for comparison in COMPARISONS:
        difference = comparison.measure(tree)
        large += not difference.is_small
        mark = "" if difference.is_small else " **large**"
        print(
            f"| `{comparison.name}` | {comparison.scenario} | {difference.figures}{mark} |",
            flush=True,
        )
    return 1 if large else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
