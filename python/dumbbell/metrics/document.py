"""The metrics as docs/metrics.md has them: their docstrings."""

from __future__ import annotations

import inspect

from dumbbell.metrics.metric import METRICS

__all__ = ["document"]

HEAD = '''# Metrics

What is measured of a run. `dumbbell metrics` lists the metrics, `dumbbell metrics NAME` prints one
entry of this page, and `dumbbell metrics --markdown` the page. From Python:

```python
import dumbbell
from dumbbell.metrics import METRICS, Observation, Phase, Warmup, measure, register

run = dumbbell.run(dumbbell.Scenario(["copa", "cubic"], buffer="2bdp", time="30s"))
measure(run)                                # a row per group, every metric by its name
METRICS["jain"].of(run)                     # one of them
measure(run, Warmup.parse("10s"))           # without the first ten seconds
measure(run, phases=[Phase.parse("2s..9s")])   # that part by itself too: `utilization in 2s..9s`


@register(unit="us", title="largest RTT", better="lower", per="group")
def rtt_max_us(obs: Observation) -> list[float | None]:
    """A metric of your own."""
    return [max(obs.after_cut(flow, "rtt_us").max() for flow in flows) for flows in obs.members]


METRICS["rtt_max_us"].of(run)
```

A run has one value of a metric, or each of its groups or links has one. A value is None where the
run cannot have one: without time series, of a count that the kernel does not report, of a share
without a second flow.

**A metric of links** is the bottleneck's, the link with the largest utilisation. `NAME@LINK` is
that of one link, like `utilization@access`, wherever a metric is named: `METRICS`, `--metric`, a
suite. In the rows of runs with several links it is a column.

**Without a warm-up** a metric is the engine's own figure of the whole run, of every packet, where
there is one; papers report these. **With a warm-up** it is computed from the time series after the
cut, which have a sample every 10 ms. On a run with nothing cut both agree within 1 %, percentiles
of the queueing delay within 2 %. RTTs agree less: a sample counts for as long as it is the latest,
so the RTTs of a loss weigh more; the mean was up to 5 % higher, the 99th percentile up to a quarter
higher. `Warmup.parse("auto")` detects the cut ([statistics.md](statistics.md#warm-up)).

Goodput in windows (convergence, starvation, oscillation) always comes from the time series. A
window is 1 s, or 10 base RTTs where that is longer.

**A metric of your own** is a function of an `Observation`: `obs.run` is the run with its summary
and tables, `obs.members` the numbers of each group's flows, `obs.after_cut(flow, column)` a flow's
samples after the warm-up; `obs.links` has each link's summary and its queue's samples. It returns a
number, or with `per="group"` or `per="link"` a list of one number per group or link; None marks a
missing value. Register it before a sweep, a gate or a plot uses it: it is then
a column of the rows, `until_ci` and `compare` take it, a suite may compare or require it, and
`SweepResult` draws it. Runs in the cache are measured again if their time series were kept (with
`out`), and executed again if not. The cache tells versions of a metric apart by the file
that it is in.

Harm compares two runs, and so is not in the list: `dumbbell.metrics.harm(run, solo)`, and
`dumbbell compare SOLO RUNS --harm`. With x alone and y among others it is (x - y) / x where more
is better and (y - x) / y where less is (Ware, Mukerjee, Seshan, Sherry: "Beyond Jain's fairness
index", HotNets 2019).
'''


def document() -> str:
    """Return the page: every metric with its unit, formula and source."""
    return "\n".join([HEAD, *(entry(name) for name in METRICS)])


def entry(name: str) -> str:
    """Return a metric's section."""
    metric = METRICS[name]
    unit = "no unit" if metric.unit == "1" else metric.unit
    way = f", {metric.better} is better" if metric.better else ""
    text, _, source = inspect.cleandoc(metric.doc).partition("\n\nReferences\n----------\n")
    return f"## `{name}`\n\n*{unit}, of a {metric.per}{way}*\n\n{text}\n\nSource: {source}\n"
