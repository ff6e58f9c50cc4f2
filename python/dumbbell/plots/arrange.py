"""Values arranged into panels and named series: which curve a value belongs to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dumbbell.congestion_control.choice import split_preset
from dumbbell.figures.style import (
    CONNECTION_COLORS,
    PATTERNS,
    UNKNOWN_COLOR,
    buffer_colors,
    shades,
    style_of,
)
from dumbbell.plots.labels import check_labels
from dumbbell.plots.sweep_layout import chosen_axis, is_of_cc, value_label
from dumbbell.plots.tidy import Source, Values
from dumbbell.sweeps import Axis
from dumbbell.sweeps.design import label_of

__all__ = ["MARKERS", "Panel", "Series", "arrange", "axis_of", "other_axes"]

#: Whose a series is: the place of its result, its value of the axis, and its group.
Key = tuple[int, str, int]
#: Markers for series whose algorithm's own is taken.
MARKERS = "osD^vPXp<>h*"
#: Shades of a colour that eyes distinguish.
MAX_SHADES = 6


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
    labels
        Names of the results instead of theirs; of one result, of its groups, or of the values of
        the axis if it has one group.
    """
    axis = axis_of(sources, x)
    others = [other_axes(source, axis) for source in sources]
    kept: dict[str, dict[Key, list[Values]]] = {}
    for each in values:
        places = sources[each.source].cells[each.cell].values
        place = label_of(places[axis.name]) if axis is not None and axis.name in places else ""
        title = ", ".join(
            f"{name} {label_of(value)}"
            for name, value in places.items()
            if name in others[each.source]
        )
        key = (each.source, place, each.group)
        kept.setdefault(title, {}).setdefault(key, []).append(each)
    keys = list(dict.fromkeys(key for panel in kept.values() for key in panel))
    first = {key: panel[key][0] for panel in reversed(kept.values()) for key in panel}
    names = Names(sources, axis, first, by_group=by_group, labels=labels)
    looks = names.looks(keys)
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
                    tuple(panel[key]),
                )
                for key in keys
                if key in panel
            ),
        )
        for title, panel in kept.items()
    ]


def other_axes(source: Source, axis: Axis | None) -> set[str]:
    """Return the names of a result's axes that do not change together with one."""
    names = {other.name for other in source.axes}
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
    by_group, labels
        As for `arrange`.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        axis: Axis | None,
        first: Mapping[Key, Values],
        *,
        by_group: bool,
        labels: Sequence[str],
    ) -> None:
        self.sources, self.axis, self.first = sources, axis, first
        self.by_group = by_group
        self.results = list(labels) if len(sources) > 1 else []
        # A title says whose a curve is only where no other result has the same.
        titles = Counter(source.title for source in sources)
        self.titles = [each.title if titles[each.title] == 1 else "" for each in sources]
        self.groups: list[str] = []
        self.places: dict[str, str] = {}
        self.parts = self._chosen([*first])
        if len(sources) == 1 and labels:
            self._name_all(labels)

    def _name_all(self, labels: Sequence[str]) -> None:
        """Name the groups of the only result; the values of the axis if these are its curves."""
        source, axis = self.sources[0], self.axis
        places = {key[1] for key in self.first}
        if axis is None or source.group_count > 1 or len(places) == 1:
            check_labels(labels, source.group_count, "group")
            self.groups = list(labels)
            self.parts = self._chosen([*self.first])
            return
        check_labels(labels, len(places), "curve", all_of_them=True)
        ordered = [place for place in map(label_of, axis.values) if place in places]
        self.places = dict(zip(ordered, labels, strict=False))
        self.parts = (self.place,)

    def _chosen(self, keys: Sequence[Key]) -> tuple[Callable[[Key], str], ...]:
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
            if len({tuple(part(key) for part in parts) for key in keys}) == len(keys):
                return parts
        return tried[-1]

    def _group(self, key: Key) -> str:
        if key[2] < len(self.groups):
            return self.groups[key[2]]
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
        parts, axis = self.parts, self.axis
        if self._group not in parts or axis is None or not is_of_cc(axis) or not key[1]:
            return ", ".join(part for part in (each(key) for each in parts) if part)
        (result,) = [each(key) for each in parts if each == self._result] or [""]
        whose, other = self._group(key), self.place(key)
        is_other = self.place in parts and whose.partition(" (")[0] != other
        return ", ".join(filter(None, (result, f"{whose} with {other}" if is_other else whose)))

    def who(self, key: Key) -> str:
        """Return the name of a series without its value of the axis."""
        whose = self._group_anywhere(key)
        result = self._result(key) if self._result in self.parts else ""
        return ", ".join(part for part in (result, whose) if part)

    def _group_anywhere(self, key: Key) -> str:
        """Return a group's name in all cells: an axis may change its algorithm."""
        if key[2] < len(self.groups) or not self.by_group:
            return self._group(key)
        return self.titles[key[0]] or self.sources[key[0]].group_label(key[2], None)

    def looks(self, keys: Sequence[Key]) -> dict[Key, tuple[str, str, int]]:
        """Return each series' colour, marker and broken line: no two look alike.

        Up to four lines are broken each in its way, for grey paper; of more, those of a result, or
        of a value of the axis.
        """
        shaded = self._shaded(keys)
        colors = self._colors(keys, shaded=shaded)
        markers: list[str] = []
        results, places = (list(dict.fromkeys(key[at] for key in keys)) for at in (0, 1))
        for key in keys:
            own = self._own_look(key)[1]
            markers.append(own if shaded else free(own, MARKERS, markers))

        def dash(at: int, key: Key) -> int:
            if len(keys) <= PATTERNS or (len(results) == 1 and not shaded):
                return at % PATTERNS
            if len(results) > 1:
                return results.index(key[0]) % PATTERNS
            return places.index(key[1]) % PATTERNS

        return {
            key: (colors[key], marker, dash(at, key))
            for at, (key, marker) in enumerate(zip(keys, markers, strict=True))
        }

    def _shaded(self, keys: Sequence[Key]) -> bool:
        """Whether series of one algorithm have shades of its colour: of results, or of values."""
        of_color = Counter(self._own_look(key)[0] for key in keys)
        if UNKNOWN_COLOR in of_color:
            return False
        if len({key[0] for key in keys}) > 1:
            return len({key[0] for key in keys}) <= PATTERNS
        return len(of_color) > 1 and 1 < max(of_color.values()) <= MAX_SHADES

    def _colors(self, keys: Sequence[Key], *, shaded: bool) -> dict[Key, str]:
        """Return a colour per series."""
        ramp = self._ramp(keys)
        found: dict[Key, str] = {}
        for key in keys:
            taken = [] if shaded else [*found.values()]
            found[key] = free(ramp.get(key[1], self._own_look(key)[0]), CONNECTION_COLORS, taken)
        if not shaded:
            return found
        alike = {color: [key for key in keys if found[key] == color] for color in found.values()}
        # The last shade would be too light for a thin line.
        return {
            key: shade
            for color, mine in alike.items()
            for key, shade in zip(mine, shades(color, len(mine) + 1), strict=False)
        }

    def _ramp(self, keys: Sequence[Key]) -> dict[str, str]:
        """Return a colour per number of the axis, dark to light, where it alone sets them apart."""
        if self.axis is None or self.axis.numbers is None or self.place not in self.parts:
            return {}
        shown = {key[1] for key in keys}
        if len(shown) < len(keys):
            return {}
        return buffer_colors([place for place in map(label_of, self.axis.values) if place in shown])

    def _own_look(self, key: Key) -> tuple[str, str]:
        """Return how a series looks where no other one does: as the algorithm in its name."""
        if self.axis is not None and is_of_cc(self.axis) and self.parts == (self.place,):
            style = style_of(split_preset(key[1].partition(":")[0])[0])
            return style.color, style.marker
        if self.by_group or self.sources[key[0]].group_count == 1:
            return self.sources[key[0]].look(key[2], self.first[key].cell)
        return UNKNOWN_COLOR, MARKERS[0]


def free(wanted: str, others: Sequence[str], taken: Sequence[str]) -> str:
    """Return what is wanted, or where it is taken the first of others that is not."""
    return next((each for each in (wanted, *others) if each not in taken), wanted)
