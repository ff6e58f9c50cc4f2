"""Values arranged into panels and named series: which curve a value belongs to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dumbbell.congestion_control.name_kinds import split_preset
from dumbbell.congestion_control.quic import split_params
from dumbbell.figures.style import (
    CONNECTION_COLORS,
    MARKERS,
    PATTERNS,
    UNKNOWN_COLOR,
    buffer_colors,
    shades,
    style_of,
)
from dumbbell.plots.labels import check_labels
from dumbbell.plots.sweep_layout import chosen_axis, is_joined, is_of_cc, panel_title, value_label
from dumbbell.plots.tidy import Source, Values
from dumbbell.sweeps import Axis
from dumbbell.sweeps.design import label_of

__all__ = ["Panel", "Series", "arrange", "axis_of", "other_axes"]

#: Whose a series is: the place of its result, its value of the axis, its group, and the algorithm
#: that an axis gives that; of what is no group's, the algorithms of all.
Key = tuple[int, str, int, str]
#: Shades of a colour that eyes distinguish, with the dashes: as many as an axis of powers of two
#: from 0.5 to 64 has.
MAX_SHADES = 8


@dataclass(frozen=True)
class Series:
    """Values that are drawn as one: one colour, one entry of the legend.

    Attributes
    ----------
    label, color, marker, dashed
        How it looks.
    place, place_label
        Its value of the axis, and as a legend has it; empty without.
    who
        Its name without that value.
    values
        Of each run.
    """

    label: str
    color: str
    marker: str
    dashed: int
    place: str
    place_label: str
    who: str
    values: tuple[Values, ...]


@dataclass(frozen=True)
class Panel:
    """The series of one figure, and what its cells have in common."""

    title: str
    series: tuple[Series, ...]


def arrange(
    sources: Sequence[Source],
    values: Sequence[Values],
    *,
    x: str | None = None,
    by_group: bool = True,
    joined: bool = False,
    labels: Sequence[str] = (),
) -> list[Panel]:
    """Arrange values into panels, one for each combination of the axes other than `x`.

    Parameters
    ----------
    sources
        The results.
    values
        Of one quantity.
    x
        The axis that distinguishes series; the longest by default.
    by_group
        Whether the groups are distinguished; else the values are of links or of whole runs.
    joined
        Whether the algorithms that an axis gives a lone group are in one panel.
    labels
        Names of the results instead of theirs; of one result, of its groups, or of the values of
        the axis if it has one group.
    """
    axis = axis_of(sources, x)
    others = [other_axes(source, axis, joined=joined) for source in sources]
    kept: dict[str, dict[Key, list[Values]]] = {}
    for each in values:
        source = sources[each.source]
        cell = source.cells[each.cell]
        place = label_of(cell.values[axis.name]) if axis and axis.name in cell.values else ""
        varied = [other for other in source.axes if other.name in others[each.source]]
        title = panel_title(varied, cell, source.swept, source.group_count)
        key = (each.source, place, each.group, algorithms_of(source, each, by_group=by_group))
        kept.setdefault(title, {}).setdefault(key, []).append(each)
    keys = list(dict.fromkeys(key for panel in kept.values() for key in panel))
    panels = [[key for key in keys if key in panel] for panel in kept.values()]
    first = {key: panel[key][0] for panel in reversed(kept.values()) for key in panel}
    names = Names(sources, axis, first, panels, by_group=by_group, labels=labels)
    looks = names.looks()
    return [
        Panel(
            title,
            tuple(
                Series(
                    names.label(key),
                    *looks[key],
                    key[1],
                    names.place(key),
                    names.who(key),
                    tuple(kept[title][key]),
                )
                for key in panel
            ),
        )
        for title, panel in zip(kept, panels, strict=True)
    ]


def algorithms_of(source: Source, values: Values, *, by_group: bool) -> str:
    """Return the algorithm that an axis gives a group, or all of them for what is no group's."""
    if by_group:
        return source.algorithm(values.group, values.cell)
    found = (source.algorithm(group, values.cell) for group in source.swept)
    return "+".join(found)


def other_axes(source: Source, axis: Axis | None, *, joined: bool = False) -> set[str]:
    """Return the names of a result's axes that do not change together with one.

    Without that of a lone group's algorithms, where these are `joined` and not along the axis.
    """
    is_joint = joined and source.group_count == 1 and axis is not None and not is_of_cc(axis)
    names = {other.name for other in source.axes if not (is_joint and is_joined(other))}
    if axis is None or axis.name not in names:
        return names
    found = set()
    for name in names - {axis.name}:
        pairs = {
            tuple(label_of(cell.values[n]) for n in (axis.name, name)) for cell in source.cells
        }
        if len(pairs) > len({place for place, _ in pairs}):
            found.add(name)
    return found


def axis_of(sources: Sequence[Source], x: str | None) -> Axis | None:
    """Return the axis that distinguishes series: the longest, of algorithms if several are.

    None where no result has one.
    """
    for source in sources:
        if x is not None:
            return chosen_axis(source.axes, x)
        if source.axes:
            return max(
                source.axes,
                key=lambda axis: (len(axis.values), is_of_cc(axis), axis.numbers is not None),
            )
    return None


class Names:
    """Names of series: as short as distinguishes them.

    Parameters
    ----------
    sources, axis
        The results, and the axis along which their cells are distinguished.
    first
        The first values of each series.
    panels
        The series of each figure.
    by_group, labels
        As for `arrange`.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        axis: Axis | None,
        first: Mapping[Key, Values],
        panels: Sequence[Sequence[Key]],
        *,
        by_group: bool,
        labels: Sequence[str],
    ) -> None:
        self.sources, self.axis, self.first = sources, axis, first
        self.panels, self.by_group = panels, by_group
        self.results = list(labels) if len(sources) > 1 else []
        # A title says whose a curve is only where no other result has the same.
        titles = Counter(source.title for source in sources)
        self.titles = [each.title if titles[each.title] == 1 else "" for each in sources]
        self.groups: dict[tuple[int, str], str] = {}
        self.places: dict[str, str] = {}
        self.parts = self._chosen()
        if len(sources) == 1 and labels:
            self._name_all(labels)

    def _name_all(self, labels: Sequence[str]) -> None:
        """Name the groups of the only result; the values of the axis if these are its curves."""
        source, axis = self.sources[0], self.axis
        places = {key[1] for key in self.first}
        if axis is None or source.group_count > 1 or len(places) == 1:
            self.groups = given_labels(source, labels)
            self.parts = self._chosen()
            return
        check_labels(labels, len(places), "curve", all_of_them=True)
        ordered = [place for place in map(label_of, axis.values) if place in places]
        self.places = dict(zip(ordered, labels, strict=False))
        self.parts = (self.place,)

    def _chosen(self) -> tuple[Callable[[Key], str], ...]:
        """Return the fewest parts of a name that distinguish all series."""
        group, place, result = self._group, self.place, self._result
        mix = self._mix
        tried: tuple[tuple[Callable[[Key], str], ...], ...] = (
            (group,), (place,), (result,), (group, place), (result, group), (result, place),
            (result, group, place),
        )  # fmt: skip
        if not self.by_group:
            tried = ((mix,), (place,), (result,), (mix, place), (result, place))
            if any(source.group_count > 1 for source in self.sources) and len(self.sources) > 1:
                tried = tuple(parts for parts in tried if mix not in parts)  # it would be long
        if self.results:  # the reader asked for them
            tried = tuple(parts for parts in tried if result in parts)
        for parts in tried:
            if all(
                len({tuple(part(key) for part in parts) for key in panel}) == len(panel)
                for panel in self.panels
            ):
                return parts
        return tried[-1]

    def _group(self, key: Key) -> str:
        if (given := self.groups.get(key[2:])) is not None:
            return given
        if not self.by_group:
            return ""
        label = self.sources[key[0]].group_label(key[2], self.first[key].cell)
        return self.titles[key[0]] or label

    def _mix(self, key: Key) -> str:
        """Return the groups that were there together, as `_group` names a lone one."""
        source, cell = self.sources[key[0]], self.first[key].cell
        labels = (source.group_label(at, cell) for at in range(source.group_count))
        return self.titles[key[0]] or " + ".join(labels)

    def place(self, key: Key) -> str:
        """Return a series' value of the axis as a legend has it."""
        if self.axis is None:
            return ""
        return self.places.get(key[1]) or value_label(self.axis, key[1])

    def _result(self, key: Key) -> str:
        return (self.results[key[0]] if key[0] < len(self.results) else "") or self.sources[
            key[0]
        ].name

    def label(self, key: Key) -> str:
        """Return the name of a series: ``CUBIC, 2bdp``; ``BBR`` and ``CUBIC with BBR``."""
        axis = self.axis
        parts = [part for part in self.parts if part != self._result]
        result = self._result(key) if self._result in self.parts else ""
        if self._group not in parts or axis is None or not is_of_cc(axis) or not key[1]:
            named = ", ".join(part for part in (each(key) for each in parts) if part)
            return of_result(result, named)
        whose, other = self._group(key), self.place(key)
        is_other = self.place in parts and whose.partition(" (")[0] != other
        return of_result(result, f"{whose} with {other}" if is_other else whose)

    def who(self, key: Key) -> str:
        """Return the name of a series without its value of the axis."""
        result = self._result(key) if self._result in self.parts else ""
        return of_result(result, self._group(key) or (self._mix(key) if key[3] else ""))

    def looks(self) -> dict[Key, tuple[str, str, int]]:
        """Return each series' colour, marker and broken line: no two of a figure look alike.

        Up to four lines are broken each in its way, for grey paper; of more, those of a result, or
        of a value of the axis. A series has the same look in each of several figures.
        """
        shaded = self._shaded()
        colors = self._colors(shaded=shaded)
        markers: dict[Key, str] = {}
        results, places = (list(dict.fromkeys(key[at] for key in self.first)) for at in (0, 1))

        def dash(at: int, key: Key, panel: Sequence[Key]) -> int:
            if len(panel) <= PATTERNS or (len(results) == 1 and not shaded):
                return at % PATTERNS
            if len(results) > 1:
                return results.index(key[0]) % PATTERNS
            return places.index(key[1]) % PATTERNS

        found: dict[Key, tuple[str, str, int]] = {}
        for panel in self.panels:
            for at, key in enumerate(panel):
                if key not in found:
                    own = self._own_look(key)[1]
                    taken = [markers[each] for each in panel if each in markers]
                    markers[key] = own if shaded else free(own, MARKERS, taken)
                    found[key] = (colors[key], markers[key], dash(at, key, panel))
        return found

    def _shaded(self) -> bool:
        """Whether series of one algorithm have shades of its colour: of results, or of values."""
        of_panels = [Counter(self._own_look(key)[0] for key in panel) for panel in self.panels]
        if any(UNKNOWN_COLOR in each for each in of_panels):
            return False
        if len({key[0] for key in self.first}) > 1:
            return len({key[0] for key in self.first}) <= PATTERNS
        most = max((max(each.values()) for each in of_panels if each), default=0)
        return any(len(each) > 1 for each in of_panels) and 1 < most <= MAX_SHADES

    def _colors(self, *, shaded: bool) -> dict[Key, str]:
        """Return a colour per series."""
        ramp = self._ramp()
        found: dict[Key, str] = {}
        for panel in self.panels:
            for key in panel:
                taken = [] if shaded else [found[each] for each in panel if each in found]
                wanted = ramp.get(key[1], self._own_look(key)[0])
                found.setdefault(key, free(wanted, CONNECTION_COLORS, taken))
        if not shaded:
            return found
        shaded_colors: dict[Key, str] = {}
        for panel in self.panels:
            alike = {found[key]: [each for each in panel if found[each] == found[key]]
                     for key in panel}  # fmt: skip
            # The last shade would be too light for a thin line.
            for color, mine in alike.items():
                for key, shade in zip(mine, shades(color, len(mine) + 1), strict=False):
                    shaded_colors.setdefault(key, shade)
        return shaded_colors

    def _ramp(self) -> dict[str, str]:
        """Return a colour per number of the axis, dark to light, where it alone sets them apart."""
        if self.axis is None or self.axis.numbers is None or self.place not in self.parts:
            return {}
        if any(len({key[1] for key in panel}) < len(panel) for panel in self.panels):
            return {}
        shown = {key[1] for key in self.first}
        return buffer_colors([place for place in map(label_of, self.axis.values) if place in shown])

    def _own_look(self, key: Key) -> tuple[str, str]:
        """Return how a series looks where no other one does: as the algorithm in its name."""
        if self.axis is not None and is_of_cc(self.axis) and self.parts == (self.place,):
            style = style_of(split_preset(split_params(key[1])[0])[0])
            return style.color, style.marker
        if self.axis is not None and self.parts == (self.place,) and self.axis.numbers is None:
            # The same in every figure of a sweep.
            at = list(map(label_of, self.axis.values)).index(key[1]) if key[1] else 0
            colors = (UNKNOWN_COLOR, *CONNECTION_COLORS)
            return colors[at % len(colors)], MARKERS[at % len(MARKERS)]
        if self.by_group or self.sources[key[0]].group_count == 1:
            return self.sources[key[0]].look(key[2], self.first[key].cell)
        return UNKNOWN_COLOR, MARKERS[0]


def of_result(result: str, name: str) -> str:
    """Return a name with the result before it, as a comparison has it: ``A: CUBIC``."""
    return ": ".join(part for part in (result, name) if part)


def given_labels(source: Source, labels: Sequence[str]) -> dict[tuple[int, str], str]:
    """Return what the reader calls the groups of a result; of a CCA that an axis gives, each.

    Raises
    ------
    ResultError
        There are more labels than these.
    """
    groups = range(source.group_count)
    entries = [(group, cc) for group in groups for cc in source.algorithms(group)]
    check_labels(labels, len(entries), "group" if len(entries) == len(groups) else "curve")
    return dict(zip(entries, labels, strict=False))


def free(wanted: str, others: Sequence[str], taken: Sequence[str]) -> str:
    """Return what is wanted, or where it is taken the first of others that is not."""
    return next((each for each in (wanted, *others) if each not in taken), wanted)
