"""What a board asks of a metric: where it is good, where it is bad, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dumbbell.base.errors import GateError
from dumbbell.base.quantities import excerpt
from dumbbell.gate import Measure, read_value, write_value
from dumbbell.metrics import Metric
from dumbbell_studies.score.score_curve import ScoreCurve

__all__ = ["Bound"]

#: Keys of a bound.
KEYS = ("good", "bad", "scale", "why")
SCALES = ("linear", "log")
#: Between the lowest and the highest good value.
TO = ".."


@dataclass(frozen=True)
class Bound:
    """A metric and its scale.

    Attributes
    ----------
    measure
        Which metric, and of which groups.
    scale
        From its values to scores.
    why
        The reason of the bound, for people.
    """

    measure: Measure
    scale: ScoreCurve
    why: str = ""

    @classmethod
    def parse(cls, name: str, table: Mapping[str, Any]) -> Bound:
        """Read ``{ good = "5ms", bad = "80ms", scale = "log" }`` of a metric.

        Two-sided: ``{ good = "0.8..1.25", bad = "0.2..5" }``.

        Raises
        ------
        GateError
            A key or value is invalid, or there is no such metric.
        """
        measure = Measure(name)
        for key in table:
            if key not in KEYS:
                raise GateError(
                    f"`{name}`: unknown key `{excerpt(key)}` in a bound; use `good`, `bad`, "
                    "`scale` and `why`"
                )
        for key in ("good", "bad"):
            if key not in table:
                raise GateError(f'`{name}`: the bound has no `{key}`; write `{key} = "5ms"`')
        scale = table.get("scale", SCALES[0])
        if scale not in SCALES:
            raise GateError(f"`{name}`: unknown scale `{excerpt(scale)}`; use `linear` or `log`")
        why = table.get("why", "")
        if not isinstance(why, str):
            raise GateError(f"`{name}`: why must be a string, not `{excerpt(why)}`")
        good = read_ends(table["good"], measure.metric, name)
        bad = read_ends(table["bad"], measure.metric, name)
        return cls(measure, scale_of(name, good, bad, is_log=scale == "log"), why)

    def __str__(self) -> str:
        return f"{self.measure}: {self.words}"

    @property
    def words(self) -> str:
        """Where it scores 1 and 0: ``<= 5 ms, 0 from 80 ms``."""
        metric = self.measure.metric
        good, bad = self.scale.good, self.scale.bad
        if self.scale.is_two_sided:
            both = f"{write_value(good[0], metric)} to {write_value(good[1], metric)}"
            return f"{both}, 0 from {write_value(bad[0], metric)} and {write_value(bad[1], metric)}"
        side = int(math.isfinite(good[1]))
        relation = "<=" if side else ">="
        return (
            f"{relation} {write_value(good[side], metric)}, 0 from {write_value(bad[side], metric)}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        ends = {
            key: [value if math.isfinite(value) else None for value in pair]
            for key, pair in (("good", self.scale.good), ("bad", self.scale.bad))
        }
        return {
            "metric": str(self.measure), **ends,
            "scale": "log" if self.scale.is_log else "linear", "why": self.why,
        }  # fmt: skip


def read_ends(value: Any, metric: Metric, name: str) -> tuple[float, ...]:
    """Read a value of a metric, or two with `..` in between."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise GateError(f"`{name}`: `{excerpt(value)}` is not a value; write one like `5ms`")
    parts = str(value).split(TO) if isinstance(value, str) else [str(value)]
    if len(parts) > 2:
        raise GateError(f"`{name}`: `{excerpt(value)}` has more than two ends; use `0.8{TO}1.25`")
    return tuple(read_value(part, metric) for part in parts)


def scale_of(
    name: str, good: tuple[float, ...], bad: tuple[float, ...], *, is_log: bool
) -> ScoreCurve:
    """Return the scale between good and bad ends; refuse ends that have no order."""
    if len(good) != len(bad):
        raise GateError(f"`{name}`: good and bad must both have one end, or both two")
    if is_log and min(*good, *bad, 1.0) <= 0:
        raise GateError(f"`{name}`: a logarithmic scale has no 0; use ends above 0")
    if len(good) == 1:
        if good == bad:
            raise GateError(f"`{name}`: good and bad are both {good[0]:g}; use different ends")
        return ScoreCurve.one_sided(good[0], bad[0], is_log=is_log)
    if not bad[0] < good[0] <= good[1] < bad[1]:
        raise GateError(f"`{name}`: the bad ends must be outside of the good ones")
    return ScoreCurve((good[0], good[1]), (bad[0], bad[1]), is_log)
