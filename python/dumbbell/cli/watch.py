"""`run --watch`: series of one flow over time, as a table in the terminal."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.base.quantities.quantity import Time
from dumbbell.run import Run
from dumbbell.scenario import Scenario
from dumbbell.terminal.options import OUTPUT
from dumbbell.terminal.table import print_table

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["EveryOption", "Watch", "WatchOption"]

#: A longer table hides what it shows.
MAX_ROWS = 1000
#: Rates since the last sample, of which one alone may be 0, or a burst.
MEANS = ("goodput_bps",)
#: Columns of the tables that every row has.
KEYS = ("time_us", "flow")

WatchOption = Annotated[
    str | None,
    typer.Option(
        "--watch",
        metavar="FLOW[:SERIES,…]",
        help="Print series of one flow over time: of its congestion control's state (`0:mode`), "
        "or columns of the table of flows (`0:goodput,rtt,cwnd`); without names all of its state. "
        "Goodput is a mean over the time between two rows.",
        rich_help_panel=OUTPUT,
        show_default=False,
    ),
]
EveryOption = Annotated[
    str,
    typer.Option(
        "--every",
        metavar="TIME",
        help="With --watch: the time between its rows.",
        rich_help_panel=OUTPUT,
    ),
]


@dataclass(frozen=True)
class Watch:
    """What to print of which flow.

    Attributes
    ----------
    flow
        Its number.
    names
        Of series; none: all of its congestion control algorithm's state.
    every
        Between two rows.
    """

    flow: int
    names: tuple[str, ...]
    every: Time

    @classmethod
    def parse(cls, text: str, every: str, scenario: Scenario) -> Watch:
        """Read ``0:mode,cwnd_pkts``, before the run.

        Raises
        ------
        ScenarioError
            It cannot be read, there is no such flow, or the run would have no time series.
        """
        number, _, rest = text.partition(":")
        names = tuple(name.strip() for name in rest.split(",") if name.strip())
        if not number.strip().isdigit():
            raise ScenarioError(
                f"`--watch {text}` names no flow; use `--watch 0`, or `--watch 0:cwnd_pkts`",
                key="watch",
            )
        flow = int(number)
        if flow >= scenario.flow_count:
            raise ScenarioError(
                f"there is no flow {flow} to watch; flows are 0 to {scenario.flow_count - 1}",
                key="watch",
            )
        interval = Time.parse(every, "every", minimum=1)
        if scenario.sample == 0:
            raise ScenarioError("`--watch` needs time series; set `--sample 10ms`", key="sample")
        if int(scenario.time) // int(interval) > MAX_ROWS:
            raise ScenarioError(
                f"`--every {interval}` of a run of `{scenario.time}` makes more than {MAX_ROWS:,} "
                "rows; use a longer one",
                key="every",
            )
        return cls(flow, names, interval)

    def print(self, run: Run) -> None:
        """Print the table.

        Raises
        ------
        ScenarioError
            The run has no such series.
        """
        columns = self.columns_of(run)
        names = tuple(with_unit(name, columns) for name in self.names)
        names = names or tuple(name for name in columns if name not in run.flows.column_names)
        for name in names:
            if name not in columns:
                raise ScenarioError(
                    f"flow {self.flow} has no series `{name}`{nearest(name, columns)}", key="watch"
                )
        if not names:
            known = ", ".join(f"`{name}`" for name in columns)
            raise ScenarioError(
                f"the congestion control of flow {self.flow} records no state; name columns after "
                f"a colon: {known}",
                key="watch",
            )
        rows = []
        step_us = int(self.every) // 1000
        for at_us in range(0, run.summary["duration_ns"] // 1000 + 1, step_us):
            cells = [
                mean_up_to(*columns[name], at_us, step_us)
                if name in MEANS
                else at_or_before(*columns[name], at_us)
                for name in names
            ]
            if any(cell != "–" for cell in cells):
                rows.append((f"{at_us / 1e6:g}", *cells))
        print_table(("time, s", *names), rows, title=f"flow {self.flow}", left=())

    def columns_of(self, run: Run) -> dict[str, tuple[Any, pa.ChunkedArray]]:
        """Return each series of the flow, with the times of its samples."""
        import pyarrow.compute as pc

        group = run.summary["flows"][self.flow]["group"]
        tables = [run.flows]
        if any(name.startswith(f"state-{group}-") for name in run.tables):
            tables.append(run.state(group))
        found: dict[str, tuple[Any, pa.ChunkedArray]] = {}
        for table in tables:
            mine = table.filter(pc.equal(table["flow"], self.flow))
            times_us = mine["time_us"].to_numpy()
            found |= {
                name: (times_us, mine[name]) for name in mine.column_names if name not in KEYS
            }
        return found


def with_unit(name: str, columns: Collection[str]) -> str:
    """Return the column of a series that is named without its unit, as `plot` names it."""
    found = [each for each in columns if each.rpartition("_")[0] == name]
    return found[0] if name not in columns and len(found) == 1 else name


def mean_up_to(times_us: Any, column: pa.ChunkedArray, at_us: int, step_us: int) -> str:
    """Write the mean of the samples of the last `step_us`; a dash without any."""
    import numpy as np

    first, end = np.searchsorted(times_us, (at_us - step_us, at_us), "right")
    values = [value for value in column[first:end].to_pylist() if value is not None]
    return f"{sum(values) / len(values):.0f}" if values else "–"


def at_or_before(times_us: Any, column: pa.ChunkedArray, at_us: int) -> str:
    """Write the latest value up to a time; a dash before the first."""
    import numpy as np

    index = int(np.searchsorted(times_us, at_us, "right")) - 1
    if index < 0:
        return "–"
    value = column[index].as_py()
    if value is None:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
