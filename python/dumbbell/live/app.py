"""The moving lines: a Textual application. Needs `dumbbell[live]`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Footer, RichLog, Static
from textual_plot import HiResMode, LegendLocation, PlotWidget

from dumbbell.figures.style import OWN
from dumbbell.live.history import WINDOW_S, Curve, History
from dumbbell.plots import group_colors
from dumbbell.scenario import Scenario

__all__ = ["LiveView"]

#: How often it is drawn, s.
EVERY_S = 0.1
#: Of what is black on paper.
OWN_COLOR = "#ffffff"
#: Colours of links, which have none of their own.
LINK_COLORS = ("white", "bright_black", "yellow", "magenta")


class LiveView(App[None]):
    """Rates, RTTs and queues of a path while it is there.

    Parameters
    ----------
    scenario
        What runs.
    look
        Returns what the path does now, as `EmulatedPath.stats`; None when it has ended.
    has_output
        There is a place for what a program prints: `write`.
    """

    CSS = """
    #rate, #rtt, #queue { height: 1fr; }
    #caption { height: 1; }
    RichLog { height: 8; border-top: solid $secondary; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("q", "quit", "End it")]
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self,
        scenario: Scenario,
        look: Callable[[], Mapping[str, Any] | None],
        *,
        has_output: bool = False,
    ) -> None:
        super().__init__()
        self.history = History(scenario)
        self.look = look
        self.has_output = has_output
        colors = [OWN_COLOR if color == OWN.color else color for color in group_colors(scenario)]
        self.line_colors = dict(zip(scenario.group_labels, colors, strict=True))
        self.line_colors |= {
            link.name: LINK_COLORS[number % len(LINK_COLORS)]
            for number, link in enumerate(scenario.links)
        }

    def compose(self) -> ComposeResult:
        """Lay the view out."""
        yield Static(id="caption")
        yield PlotWidget(id="rate")
        yield PlotWidget(id="rtt")
        yield PlotWidget(id="queue")
        if self.has_output:
            yield RichLog(id="output", max_lines=1000)
        yield Footer()

    def on_mount(self) -> None:
        """Name the axes and begin."""
        for name, label in (
            ("rate", "throughput, Mbit/s"),
            ("rtt", "RTT, ms"),
            ("queue", "queue, ms"),
        ):
            self.query_one(f"#{name}", PlotWidget).set_ylabel(label)
        self.set_interval(EVERY_S, self.refresh_lines)

    def write(self, text: str) -> None:
        """Show what a program printed."""
        self.query_one("#output", RichLog).write(text.rstrip("\n"))

    def refresh_lines(self) -> None:
        """Look at the path and draw."""
        stats = self.look()
        if stats is None:
            self.exit()
            return
        self.history.add(stats)
        self.query_one("#caption", Static).update(self.history.caption)
        self.draw("rate", self.history.rate)
        self.draw("rtt", self.history.rtt)
        self.draw("queue", self.history.queue)

    def draw(self, name: str, curves: Mapping[str, Curve]) -> None:
        """Draw the curves of a panel."""
        panel = self.query_one(f"#{name}", PlotWidget)
        panel.clear()
        end_s = max(self.history.time_s, WINDOW_S)
        panel.set_xlimits(end_s - WINDOW_S, end_s)
        highest = max((max(curve.value, default=0) for curve in curves.values()), default=0)
        panel.set_ylimits(0, 1.1 * highest or 1)
        for label, curve in curves.items():
            if curve.time_s:
                panel.plot(
                    list(curve.time_s), list(curve.value), line_style=self.line_colors[label],
                    hires_mode=HiResMode.BRAILLE, label=label,
                )  # fmt: skip
        panel.show_legend(LegendLocation.TOPLEFT)
