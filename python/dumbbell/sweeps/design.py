"""A sweep's design: its axes, the cells they make, and the scenario of each cell."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, product
from operator import is_
from pathlib import PurePath
from typing import Any

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.congestion_control import CongestionControlChoice, short_names
from dumbbell.scenario import Group, Link, Scenario
from dumbbell.scenario.fields import fields_of
from dumbbell.scenario.group_labels import (
    ALTERNATIVES,
    Varied,
    group_labels,
    names_of_own,
    plain_labels,
)
from dumbbell.scenario.trace import Trace
from dumbbell.sweeps.field import AxisField, field_of, varied_by

__all__ = [
    "Axis",
    "Cell",
    "Design",
    "directory_name",
    "label_of",
    "make_design",
    "swept_ccs",
]

#: Columns of the rows that an axis cannot have: its label's is called ``axis_flows`` then.
RESERVED = frozenset({"cell", "rep", "seed", "group", "cc", "flows", "verdict"})
#: Every cell's scenario is in memory, and checked before the first run.
MAX_CELLS = 100_000
#: A file name has 255 bytes; `,rep=…` follows.
MAX_LABEL_BYTES = 230


@dataclass(frozen=True)
class Axis:
    """An axis of a sweep.

    Attributes
    ----------
    name
        The field it changes: ``buffer``, ``copa.flows``.
    unit
        Of its numbers; None if they have none, or the values are not numbers.
    values
        As a scenario has them: ``Buffer("2bdp")``, 4.
    numbers
        The values as numbers in `unit`; None if they are not numbers, or of several units.
    own
        Of labels that are algorithms of the user's: the names that they have as groups.
    """

    name: str
    unit: str | None
    values: tuple[Any, ...]
    numbers: tuple[float, ...] | None = None
    own: tuple[tuple[str, str], ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The values as text."""
        return tuple(label_of(value) for value in self.values)

    @property
    def shown(self) -> dict[str, str]:
        """What tables show of each label: of a congestion control algorithm's file the name."""
        ccs = [value for value in self.values if isinstance(value, CongestionControlChoice)]
        short = short_names(cc.name for cc in ccs)
        spelled = {str(cc): short[cc.name] + str(cc).removeprefix(cc.name) for cc in ccs}
        spelled |= dict(self.own)
        return {label: spelled.get(label, label) for label in self.labels}

    @property
    def column(self) -> str:
        """The column of its labels in the rows: its name, or ``axis_flows`` where that is taken."""
        return f"axis_{self.name}" if self.name in RESERVED else self.name

    @property
    def number_column(self) -> str | None:
        """The column of its numbers: ``buffer_bdp``, or ``copa.flows_number`` without a unit."""
        return None if self.numbers is None else f"{self.column}_{self.unit or 'number'}"


@dataclass(frozen=True)
class Cell:
    """One combination of the axes' values.

    Attributes
    ----------
    index
        From 0, in the order of the design.
    values
        By the axes' names.
    """

    index: int
    values: Mapping[str, Any]

    @cached_property
    def label(self) -> str:
        """The cell as a directory is called: ``buffer=2bdp,flows=4``; ``all`` without axes."""
        named = (f"{name}={label_of(value)}" for name, value in self.values.items())
        return ",".join(named).replace("/", "-") or "all"


@dataclass(frozen=True)
class Design:
    """Axes and how they are crossed.

    Attributes
    ----------
    scenario
        What no axis changes.
    axes
        In the order that they were named.
    dims
        Names of the axes that change together; one name for an axis that is crossed with the rest.
    """

    scenario: Scenario
    axes: tuple[Axis, ...]
    dims: tuple[tuple[str, ...], ...]

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Every combination; the last axis changes fastest."""
        by_name = {axis.name: axis for axis in self.axes}
        steps = [range(len(by_name[names[0]].values)) for names in self.dims]
        dim_of = {name: at for at, names in enumerate(self.dims) for name in names}
        return tuple(
            Cell(
                index,
                {axis.name: axis.values[position[dim_of[axis.name]]] for axis in self.axes},
            )
            for index, position in enumerate(product(*steps))
        )

    @property
    def points(self) -> list[tuple[Cell, Scenario]]:
        """Every cell with the scenario of its first repetition."""
        return [(cell, self.scenario_of(cell)) for cell in self.cells]

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the dims."""
        by_name = {axis.name: axis for axis in self.axes}
        return tuple(len(by_name[names[0]].values) for names in self.dims)

    @cached_property
    def _fields(self) -> dict[str, AxisField]:
        return {axis.name: field_of(axis.name, self.scenario) for axis in self.axes}

    @cached_property
    def varied(self) -> Varied:
        """What axes change of each group."""
        fields = ((self._fields[axis.name], axis.values) for axis in self.axes)
        return varied_by(fields, self.scenario)

    @property
    def group_labels(self) -> tuple[str, ...]:
        """A label for each group, right in every cell: without what axes change."""
        return group_labels(self.scenario, self.varied)

    @property
    def ccs(self) -> tuple[CongestionControlChoice, ...]:
        """Every congestion control algorithm that runs, once each."""
        swept = swept_ccs(self)
        found = [cc for axis in swept.values() for cc in axis.values]
        found += [g.cc for i, g in enumerate(self.scenario.groups) if i not in swept]
        return tuple(dict.fromkeys(found))

    def with_ccs(
        self, change: Callable[[CongestionControlChoice], CongestionControlChoice]
    ) -> Design:
        """Return a copy with each congestion control algorithm changed."""

        def changed(axis: Axis) -> Axis:
            if self._fields[axis.name].key != "cc":
                return axis
            return replace(axis, values=tuple(change(value) for value in axis.values))

        axes = tuple(changed(axis) for axis in self.axes)
        return Design(self.scenario.with_ccs(change), axes, self.dims)

    def with_live_programs(self) -> Design:
        """Return a copy whose programs run, although a result names them."""
        return Design(self.scenario.with_live_programs(), self.axes, self.dims)

    def scenario_of(self, cell: Cell, rep: int = 0) -> Scenario:
        """Return what runs in a cell: repetition r has the same seed in every cell.

        Raises
        ------
        ScenarioError
            The values do not fit together; the message names the cell.
        """
        if cell.index not in self._scenarios:
            self._scenarios[cell.index] = self._scenario_at(cell)
        return self._scenarios[cell.index].replace(seed=self.scenario.seed + rep)

    @cached_property
    def _scenarios(self) -> dict[int, Scenario]:
        """The scenarios that were asked for, by cell: each is made and checked once."""
        return {}

    def _scenario_at(self, cell: Cell) -> Scenario:
        fields, scenario = self._fields, self.scenario
        words = values_of(scenario)
        links = [] if scenario.is_dumbbell else [values_of(link) for link in scenario.links]
        groups = [values_of(group) for group in scenario.groups]
        try:
            # A parameter belongs to the congestion control algorithm that another axis may have put
            # there.
            for name in sorted(cell.values, key=lambda name: fields[name].key != "cc"):
                fields[name].set(words, links, groups, cell.values[name])
            return Scenario(
                [
                    group
                    if all(map(is_, values.values(), values_of(group).values()))
                    else Group(**values)
                    for group, values in zip(scenario.groups, groups, strict=True)
                ],
                links=[Link(**link) for link in links],
                **words,
            )
        except ScenarioError as error:
            raise ScenarioError(
                f"{excerpt(cell.label)}: {error}", key=error.key, group=error.group, link=error.link
            ) from None


def values_of(owner: object) -> dict[str, Any]:
    """Return the fields of a scenario, a link or a group."""
    values = vars(owner)
    return {name: values[name] for name in fields_of(type(owner))}


def swept_ccs(design: Design) -> dict[int, Axis]:
    """Return the axis that changes the CCA of each group whose axis does."""
    return {
        index: axis
        for axis in design.axes
        for field in [field_of(axis.name, design.scenario)]
        if field.key == "cc"
        for index in field.groups or ()
    }


def make_design(
    scenario: Scenario,
    axes: Mapping[str, Sequence[Any] | str],
    zipped: Iterable[Sequence[str]] = (),
) -> Design:
    """Read a design.

    Parameters
    ----------
    scenario
        What no axis changes.
    axes
        Values by field: a list, or text as on the command line (``"0.5..64bdp"``).
    zipped
        Names of axes that change together, like the columns of a list, instead of being crossed.

    Raises
    ------
    ScenarioError
        No such field, a value it cannot have, or zipped axes of several lengths.
    """
    made = {name.strip(): make_axis(field_of(name, scenario), axes[name]) for name in axes}
    together = [tuple(name.strip() for name in names) for names in zipped]
    check_zipped(made, together)
    taken = {name: names for names in together for name in names}
    dims = tuple(dict.fromkeys(taken.get(name, (name,)) for name in made))
    crossed = {names[0] for names in dims if len(names) == 1}
    design = Design(
        scenario,
        tuple(
            with_own_names(without_doubles(axis) if name in crossed else axis, scenario)
            for name, axis in made.items()
        ),
        dims,
    )
    check_size(design)
    check_labels(design)
    return design


def check_size(design: Design) -> None:
    """Refuse more cells than a sweep can have."""
    count = math.prod(design.shape)
    if count > MAX_CELLS:
        lengths = " × ".join(f"`{axis.name}` {len(axis.values):,}" for axis in design.axes)
        raise ScenarioError(
            f"the axes make {count:,} cells ({lengths}); use fewer values: at most {MAX_CELLS:,} "
            "cells",
            key="axis",
        )


def check_labels(design: Design) -> None:
    """Refuse cells that would share a directory."""
    seen: dict[str, int] = {}
    for cell in design.cells:
        if cell.label in seen:
            raise ScenarioError(
                f"cells {seen[cell.label]} and {cell.index} are both `{cell.label}`"
            )
        if len(cell.label.encode()) > MAX_LABEL_BYTES:
            message = f"`{excerpt(cell.label)}` is too long for a directory; use shorter names"
            raise ScenarioError(message)
        seen[cell.label] = cell.index


def make_axis(field: AxisField, values: Sequence[Any] | str) -> Axis:
    """Read an axis's values."""
    if isinstance(values, str):
        read = field.expand(values)
    else:
        # Without `len`: the values may be a generator, which need not end.
        listed = list(islice(values, MAX_CELLS + 1))
        if len(listed) > MAX_CELLS:
            message = f"axis `{field.name}` has too many values; use at most {MAX_CELLS:,}"
            raise ScenarioError(message, key="axis")
        read = [field.parse(value) for value in listed]
    if not read:
        raise ScenarioError(f"axis `{field.name}` has no values", key="axis")
    values = tuple(labelled(read) if all(isinstance(each, Trace) for each in read) else read)
    return Axis(field.name, field.kind.unit(values), values, field.kind.numbers(values))


def labelled(traces: Sequence[Trace]) -> list[Trace]:
    """Return traces, those of files with labels that are short, no two alike."""
    names = {trace.label: PurePath(trace.label).name for trace in traces}
    short = [names[label] for label in names]
    return [
        replace(trace, label=names[trace.label] if short.count(names[trace.label]) == 1
                else trace.label)
        for trace in traces
    ]  # fmt: skip


def without_doubles(axis: Axis) -> Axis:
    """Keep the first of equal values."""
    kept = list({label: at for at, label in reversed(list(enumerate(axis.labels)))}.values())
    if len(kept) == len(axis.values):
        return axis
    kept.sort()
    numbers = None if axis.numbers is None else tuple(axis.numbers[at] for at in kept)
    return Axis(axis.name, axis.unit, tuple(axis.values[at] for at in kept), numbers)


def with_own_names(axis: Axis, scenario: Scenario) -> Axis:
    """Name the algorithms of an axis that are groups' own after these."""
    ccs = {str(value) for value in axis.values if isinstance(value, CongestionControlChoice)}
    named = names_of_own(scenario).items() if ccs else ()
    return replace(axis, own=tuple((cc, name) for cc, name in named if cc in ccs))


def check_zipped(axes: Mapping[str, Axis], zipped: Sequence[Sequence[str]]) -> None:
    """Refuse zips of unknown axes, of one axis twice, or of several lengths."""
    seen: set[str] = set()
    for names in zipped:
        for name in names:
            if name not in axes:
                message = f"zip: `{excerpt(name)}` is not an axis of this sweep"
                raise ScenarioError(message, key="zip")
            if name in seen:
                raise ScenarioError(f"zip: `{name}` is given twice", key="zip")
            seen.add(name)
        lengths = {name: len(axes[name].values) for name in names}
        if len(set(lengths.values())) > 1:
            counts = ", ".join(f"`{name}` has {count}" for name, count in lengths.items())
            raise ScenarioError(f"zip: {counts} values; use as many for each", key="zip")


def label_of(value: Any) -> str:
    """Write a value as a user would; the trace of a file by the file's name."""
    if isinstance(value, Trace) and value.label:
        return value.label
    return str(value).lower() if isinstance(value, bool) else str(value)


def directory_name(scenario: Scenario, varied: Varied | None = None) -> str:
    """Return what competes as a directory's name: ``copa+linux-cubic``."""
    labels = plain_labels(scenario, varied)
    return "+".join(label.replace(ALTERNATIVES, "-").replace("/", "-") for label in labels)
