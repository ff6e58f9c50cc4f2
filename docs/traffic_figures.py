"""The figures of the pages of docs/traffic.md: a run of each application, drawn.

``python docs/traffic_figures.py`` draws them into docs/figures, which takes a few seconds; matplotlib
is needed.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

import dumbbell
from dumbbell.cli.base_scenario import base_scenario, single_values
from dumbbell.plots.paper_figure import save_for_print
from dumbbell.plots.run_figures import draw_series

__all__ = ["EXAMPLES", "Example"]

FIGURES = Path(__file__).with_name("figures")


@dataclass(frozen=True)
class Example:
    """A run of an application, and what is drawn of it.

    Attributes
    ----------
    ccs
        Of the groups.
    traffic
        The option.
    series
        Of the run.
    options
        Further options, by field.
    """

    ccs: tuple[str, ...]
    traffic: str
    series: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = (("time", "30s"),)

    @property
    def command(self) -> str:
        """The command line."""
        options = " ".join(f"--{name} {value}" for name, value in self.options)
        return f"dumbbell run {' '.join(self.ccs)} --traffic {shlex.quote(self.traffic)} {options}"


#: By application.
EXAMPLES = {
    "bulk": Example(("cubic", "bbr"), "bulk", ("goodput", "rtt")),
    "poisson": Example(
        ("cubic", "bbr"), "poisson:load=30%,size=lognormal(p5=4kB;p95=1MB),bulk",
        ("fct", "slowdown"), (("buffer", "2bdp"), ("time", "60s")),
    ),
    "deterministic": Example(
        ("cubic", "bbr"), "deterministic:gap=500ms,size=100kB,bulk", ("fct", "goodput"),
        (("buffer", "2bdp"), ("time", "60s")),
    ),
    "onoff": Example(("cubic", "bbr"), "onoff:on=2s,off=2s,bulk", ("goodput", "cwnd")),
    "rpc": Example(
        ("cubic", "cubic"), "rpc:request=100B,response=10kB,think=exponential(50ms),bulk",
        ("latency", "queue"), (("buffer", "2bdp"), ("time", "60s")),
    ),
    "page": Example(
        ("cubic", "cubic"), "page:objects=50,object=10kB,reading=1s,bulk",
        ("page-load-time", "goodput"), (("buffer", "2bdp"), ("time", "60s")),
    ),
    "cbr": Example(("cubic", "cubic"), "cbr:rate=5mbit,bulk", ("goodput", "rtt")),
    "datagram": Example(
        ("cubic", "cubic"), "datagram:preset=hd_call,bulk", ("goodput", "sojourn")
    ),
    "video": Example(
        ("cubic", "cubic"), "video:preset=pensieve,bulk", ("bitrate", "goodput"),
        (("rate", "6mbit"), ("time", "240s")),
    ),
    "responsiveness": Example(
        ("cubic",), "responsiveness:interval=1s", ("latency", "queue"),
        (("buffer", "2bdp"), ("time", "30s")),
    ),
}  # fmt: skip


def draw(name: str, example: Example) -> None:
    """Run an example and draw it."""
    options = {"traffic": example.traffic, **dict(example.options)}
    scenario = base_scenario(list(example.ccs), single_values(options, "run"))
    figures = draw_series(dumbbell.run(scenario), example.series)
    save_for_print(figures, FIGURES, f"traffic-{name}", formats=("svg",), size="2col",
                   style="report")  # fmt: skip


if __name__ == "__main__":
    from dumbbell.scenario.traffic import applications

    for known in applications():
        draw(known, EXAMPLES[known])
