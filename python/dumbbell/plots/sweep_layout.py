"""How a sweep is laid out as figures: one axis along x, a figure per combination of the others."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from dumbbell.base.errors import ResultError, nearest
from dumbbell.figures.style import cc_label
from dumbbell.plots.labels import design_labels
from dumbbell.plots.zipped_axes import COMMA, needs_tuples, tuples_of
from dumbbell.scenario.group_labels import ALTERNATIVES
from dumbbell.sweeps import SweepResult
from dumbbell.sweeps.design import Axis, Cell, label_of, swept_ccs

__all__ = [
    "Facet", "Layout", "alike_axes", "axis_label", "chosen_axis", "is_joined", "is_of_cc",
    "joint_label", "lay_out", "panel_title", "tick_label", "value_label",
]  # fmt: skip

#: How a figure writes the unit of an axis, and the factor to it.
UNITS = {
    "pct": ("%", 1.0),
    "bdp": ("BDP", 1.0), "bps": ("Mbit/s", 1e-6), "pkts": ("packets", 1.0), "bytes": ("kB", 1e-3),
}  # fmt: skip
#: How a figure writes the name of an axis that is not a word.
WORDS = {
    "cc": "congestion control", "rtt": "base RTT", "queue": "queue discipline",
    "impair": "impairment", "ecn": "ECN", "mss": "MSS",
}  # fmt: skip
#: The unit in a parameter's name, which its label has in parentheses.
UNIT_IN_NAME = re.compile(r"_(pct|pkts|bytes|bps|ns|us|ms|s)$")
#: An axis is logarithmic if its largest value is at least this many times its smallest.
LOG_RATIO = 8.0
#: Smallest ratio of two marked values on a logarithmic axis: their labels must not touch.
MIN_STEP = 1.4
#: A linear axis of at most this many values marks each.
FEW = 6
#: Ticks of an axis, at most.
MAX_TICKS = 12
#: Algorithms in one figure, at most: there are as many colours.
MAX_JOINED = 8


@dataclass(frozen=True)
class Facet:
    """The cells that differ only in the x axis.

    Attributes
    ----------
    label
        What they have in common: ``flows 4, rtt 20ms``; empty without other axes.
    cells
        In the order of the x axis.
    x
        Where each lies on it.
    """

    label: str
    cells: tuple[Cell, ...]
    x: tuple[float, ...]


@dataclass(frozen=True)
class Layout:
    """The layout of a sweep.

    Attributes
    ----------
    x_axes
        Names of the axes along x: one, or several that are zipped.
    x_label
        The x axis with its unit; empty for a sweep without axes.
    x_names
        Names of the places 0, 1, … when the axis has no numbers.
    x_ticks
        Values to mark when it is logarithmic; empty otherwise.
    x_values
        Values to mark on a linear axis of few values or of flow counts; empty otherwise.
    facets
        One per combination of the other axes.
    varied
        Names of the axes with more than one value.
    """

    x_axes: tuple[str, ...]
    x_label: str
    x_names: tuple[str, ...]
    x_ticks: tuple[float, ...]
    x_values: tuple[float, ...]
    facets: tuple[Facet, ...]
    varied: tuple[str, ...]

    def name_of(self, cell: Cell) -> str:
        """Return a cell's name: ``buffer=2bdp, flows=4``, without axes of a single value."""
        return ", ".join(f"{name}={label_of(cell.values[name])}" for name in self.varied) or "all"

    def place_of(self, cell: Cell) -> str:
        """Return a cell's value on the x axis: ``2bdp``; ``all`` without axes."""
        labels = [label_of(cell.values[name]) for name in self.x_axes]
        fields = {field_of(name) for name in self.x_axes}
        return ", ".join(labels[:1] if len({*labels}) == len(fields) == 1 else labels) or "all"


def lay_out(result: SweepResult, x: str | None = None, *, joined: bool = False) -> Layout:
    """Lay out a sweep.

    Parameters
    ----------
    result
        The sweep.
    x
        Name of the axis along x; None takes the one with numbers that has the most values.
    joined
        Whether the algorithms of a lone group, over numbers, are in one figure.

    Raises
    ------
    ResultError
        There is no such axis.
    """
    if not result.axes:
        return Layout((), "", ("",), (), (), (Facet("", result.cells, (0.0,)),), ())
    axis = chosen_axis(result.axes, x)
    _, scale = UNITS.get(axis.unit or "", (axis.unit, 1.0))
    numbers = None if axis.numbers is None else tuple(scale * each for each in axis.numbers)
    place = dict(zip(axis.labels, numbers or map(float, range(len(axis.labels))), strict=True))
    together = next(names for names in result.design.dims if axis.name in names)
    varied = tuple(each.name for each in result.axes if len(set(each.labels)) > 1)
    axes = {each.name: each for each in result.axes}
    groups = design_labels(result.design)
    is_one = joined and len(groups) == 1 and numbers is not None
    others = [
        name for name in varied if name not in together and not (is_one and is_joined(axes[name]))
    ]
    # Those that change together with it, unless they are of one value.
    beside = [axis, *(axes[name] for name in together if name in varied and name != axis.name)]
    swept = swept_ccs(result.design)
    alike = [alike_axes(each, beside, result.cells) for each in beside]
    beside = [each for each, (first, *_) in zip(beside, alike, strict=True) if each is first]
    names_of = {axes_alike[0].name: axes_alike for axes_alike in alike}
    if needs_tuples(beside):
        numbers, beside = None, [replace(each, numbers=None) for each in beside]
    x_names = tuple(
        ", ".join(map(value_label, beside, labels))
        for labels in zip(*(each.labels for each in beside), strict=True)
    )
    found: dict[str, list[Cell]] = {}
    for cell in result.cells:
        label = panel_title([axes[name] for name in others], cell, swept, len(groups))
        found.setdefault(label, []).append(cell)
    ticks = log_ticks(numbers or ())
    values = sorted(set(numbers or ()))
    is_count = axis.name.split(".")[-1] == "flows"
    facets = []
    tuples = tuples_of(beside)
    if numbers is None:
        place_of = {labels: float(at) for at, labels in enumerate(tuples)}
    else:
        place_of = {labels: place[labels[0]] for labels in tuples}
    for label, cells in found.items():
        at = {
            cell.index: place_of[tuple(label_of(cell.values[each.name]) for each in beside)]
            for cell in cells
        }
        ordered = tuple(sorted(cells, key=lambda cell: at[cell.index]))
        facets.append(Facet(label, ordered, tuple(at[cell.index] for cell in ordered)))
    return Layout(
        x_axes=together,
        x_label=", with ".join(joint_label(each, names_of[each.name], groups) for each in beside),
        x_names=x_names if numbers is None else (),
        x_ticks=ticks,
        x_values=every_few(values) if not ticks and (is_count or len(values) <= FEW) else (),
        facets=tuple(facets),
        varied=varied,
    )


def is_joined(axis: Axis) -> bool:
    """Whether an axis's algorithms are as many curves as one figure can have."""
    return is_of_cc(axis) and len(axis.labels) <= MAX_JOINED


def panel_title(
    axes: Sequence[Axis], cell: Cell, swept: Mapping[int, Axis], group_count: int
) -> str:
    """Return what axes have in a panel: ``flows 4``, ``BBR``, ``against BBR, buffer 2bdp``.

    Parameters
    ----------
    axes
        Those that have one value there.
    cell
        One of the panel's.
    swept
        The axis that changes the algorithm of each group whose axis does.
    group_count
        Of the scenario. An algorithm of the first is what a figure is about; others are against it.
    """

    def part(axis: Axis) -> str:
        shown = value_label(axis, label_of(cell.values[axis.name]))
        if not is_of_cc(axis):
            return f"{axis.name} {shown}"
        whose = [index for index, each in swept.items() if each.name == axis.name]
        is_other = group_count > 1 and whose and 0 not in whose
        return f"against {shown}" if is_other else shown

    return ", ".join(map(part, axes))


def is_of_cc(axis: Axis) -> bool:
    """Whether an axis changes a congestion control algorithm."""
    return field_of(axis.name) == "cc"


def axis_label(axis: Axis, groups: Sequence[str] = ()) -> str:
    """Return an axis as a figure names it: ``buffer (BDP)``, ``congestion control of Thesis``."""
    whose, _, field = axis.name.rpartition(".")
    unit = unit_after(axis)
    words = WORDS.get(field) or (UNIT_IN_NAME.sub("", field) if unit else field).replace("_", " ")
    if whose.startswith("link."):
        words += f" of {whose.removeprefix('link.')}"
    elif whose and len(groups) > 1:
        is_index = whose.isdecimal() and int(whose) < len(groups)
        label = groups[int(whose)] if is_index else whose
        # That of a group without a name has what the axis changes.
        has_name = not (is_index and (not label or (is_of_cc(axis) and ALTERNATIVES in label)))
        words += f" of {label}" if has_name else f" of group {whose}"
    return f"{words}{unit}"


def unit_after(axis: Axis) -> str:
    """Return the unit of an axis of numbers, as it follows the axis's name: `` (BDP)``."""
    unit, _ = UNITS.get(axis.unit or "", (axis.unit, 1.0))
    return f" ({unit})" if unit and axis.numbers is not None else ""


def field_of(name: str) -> str:
    """Return the field that an axis changes: `queue` of `link.up.queue`."""
    return name.rpartition(".")[2]


def alike_axes(axis: Axis, axes: Sequence[Axis], cells: Sequence[Cell]) -> list[Axis]:
    """Return the axes of the same field that have the same value as one everywhere, with it."""
    return [
        each
        for each in axes
        if field_of(each.name) == field_of(axis.name)
        and all(
            each.name in cell.values
            and axis.name in cell.values
            and label_of(cell.values[each.name]) == label_of(cell.values[axis.name])
            for cell in cells
        )
    ]


def joint_label(axis: Axis, alike: Sequence[Axis], groups: Sequence[str] = ()) -> str:
    """Return an axis with those that are alike: ``queue discipline of down and up``."""
    unit = unit_after(axis)
    bare = axis_label(axis, groups).removesuffix(unit)
    others = [
        axis_label(replace(each, numbers=None), groups).rpartition(" of ")[2]
        for each in alike
        if each.name != axis.name
    ]
    return " and ".join([bare, *others]) + unit


def value_label(axis: Axis, label: str) -> str:
    """Return a value of an axis as a figure names it: ``Copa``; a file without its path."""
    return dict(axis.own).get(label) or (cc_label(label) if is_of_cc(axis) else label)


def tick_label(axis: Axis, label: str) -> str:
    """Return a value of an axis beside the axis's name: a number alone, in the unit of that."""
    if axis.numbers is None:
        return value_label(axis, label)
    _, scale = UNITS.get(axis.unit or "", ("", 1.0))
    return f"{axis.numbers[axis.labels.index(label)] * scale:g}"


def chosen_axis(axes: Sequence[Axis], x: str | None) -> Axis:
    """Return the named axis, or the longest numeric one."""
    if x is not None:
        for axis in axes:
            if x in (axis.name, *axis.name.split(COMMA)):
                return axis
        raise ResultError(f"the sweep has no axis `{x}`{nearest(x, [axis.name for axis in axes])}")
    return max(axes, key=lambda axis: (axis.numbers is not None, len(axis.values)))


def log_ticks(numbers: Sequence[float]) -> tuple[float, ...]:
    """Return the ticks of a logarithmic axis; nothing if a linear axis suits the values.

    These are the values or, where these are close together, powers of 2.
    """
    found = sorted(set(numbers))
    if len(found) < 3 or found[0] <= 0 or found[-1] / found[0] < LOG_RATIO:
        return ()
    if all(high / low >= MIN_STEP for low, high in pairwise(found)):
        return every_few(found)
    first, last = math.ceil(math.log2(found[0])), math.floor(math.log2(found[-1]))
    return every_few([2.0**power for power in range(first, last + 1)])


def every_few(values: Sequence[float]) -> tuple[float, ...]:
    """Return all values, or every second, third, … so that at most `MAX_TICKS` remain."""
    step = max(1, -(-len(values) // MAX_TICKS))
    return tuple(values[::step])
