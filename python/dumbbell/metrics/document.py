"""The metrics as docs/metrics.md has them: their docstrings."""

from __future__ import annotations

import inspect

from dumbbell.metrics.registry import METRICS

__all__ = ["document"]

HEAD = """# Metrics

What is measured of a run: `dumbbell metrics` lists it, `dumbbell metrics NAME` prints an entry,
and `dumbbell metrics --markdown` this page. From Python:

```python
import dumbbell
from dumbbell.metrics import METRICS, Warmup, measure

run = dumbbell.run(dumbbell.Scenario(["copa", "cubic"], buffer="2bdp", time="30s"))
measure(run)                                # a row per group, every metric by its name
METRICS["jain"].of(run)                     # one of them
measure(run, Warmup.parse("10s"))           # without the first ten seconds
```

A metric is of a run, or of each of its groups. None says that the run does not tell: no time
series, a count that the kernel does not give, no second flow to share with.

**Without a warm-up** a metric is the engine's own figure of the whole run, of every packet, where
there is one: that is what papers report. **With a warm-up** it is computed from the time series
after the cut, which know a sample every 10 ms. On a run with nothing cut both agree within 1 %,
percentiles of the queueing delay within 2 %. RTTs agree less: a sample counts for as long as it is
the latest, so those of a loss weigh more; the mean was up to 5 % higher, the 99th percentile up to
a quarter. `Warmup.parse("auto")` detects the cut ([statistics.md](statistics.md#warm-up)).

Goodput in windows (convergence, starvation, oscillation) always comes from the time series. A
window is 1 s, or 10 base RTTs where that is longer.

Harm is a comparison of two runs, and so not in the list: `dumbbell.metrics.harm(run, solo)`, and
`dumbbell compare SOLO RUNS --harm`. With x alone and y among others it is (x - y) / x where more
is better and (y - x) / y where less is (Ware, Mukerjee, Seshan, Sherry: "Beyond Jain's fairness
index", HotNets 2019).
"""


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
