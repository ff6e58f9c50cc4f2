"""The page's sliders and pickers, made of what a scenario, its elements and algorithms declare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell.congestion_control import PRESETS, CongestionControlChoice, congestion_controls
from dumbbell.explore.changes import picked
from dumbbell.explore.steps import (
    steps_of_element,
    steps_of_kind,
    steps_of_parameter,
    words_of_kind,
)
from dumbbell.plots import group_colors
from dumbbell.plots.labels import group_labels
from dumbbell.report.language import japanese, page_text
from dumbbell.scenario import Group, Link, Scenario
from dumbbell.scenario.element import (
    ElementChoice,
    Impairments,
    QueueChoice,
    impairments,
    queue_disciplines,
)
from dumbbell.scenario.fields import Field, Shorthand, fields_of
from dumbbell.scenario.linux_release import kernels
from dumbbell.scenario.parameter import LIMIT, ElementParameter
from dumbbell.scenario.traffic import PRESET, applications
from dumbbell.terminal.field_options import COMMON_FIELDS

__all__ = ["Control", "controls_of", "doc_text", "sections_of"]

#: Fields that are seen without unfolding anything, besides those of `--help`.
COMMON = COMMON_FIELDS | {"cc", "impair", "delay"}
#: Only a program has it, and the simulator runs none.
OF_PROGRAMS = ("mtu",)
#: Times that must be before the end of the run.
WITHIN_THE_RUN = ("start", "stop")
#: What a picker chooses from, by what its values are called.
KNOWN: Mapping[str, Any] = {
    "QUEUE": queue_disciplines, "TRAFFIC": applications, "TCP": kernels,
    "IMPAIRMENT+…": impairments,
}  # fmt: skip


@dataclass(frozen=True)
class Control:
    """A slider, a picker or a text field.

    Attributes
    ----------
    name
        What it sets, as `changes.changed` takes it: ``1.rtt``, ``queue:target``.
    label, doc
        What it is called, and what it is.
    value
        As text; empty: not set.
    default
        What holds when it is not set.
    steps
        Where a slider stops; empty: it is none.
    options
        What a picker chooses from; empty: it is none.
    chosen
        Of several elements in one field, each; None: it has one value.
    is_common
        Whether it is seen without unfolding.
    of
        What it is a parameter of; empty: it is a field of its section.
    """

    name: str
    label: str
    doc: str
    value: str
    default: str = ""
    steps: Sequence[str] = ()
    options: Sequence[str] = ()
    chosen: Sequence[str] | None = None
    is_common: bool = False
    of: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as the page takes it."""
        return {**vars(self), "label": page_text(self.label), "doc": doc_text(self.doc)}


@dataclass(frozen=True)
class Section:
    """The controls of the path, a link or a group.

    Attributes
    ----------
    title
        What it is headed by.
    controls
        In the order of the declarations.
    color
        Of a group's curves; empty of others.
    group
        The index of a group; None of others.
    """

    title: str
    controls: Sequence[Control]
    color: str = ""
    group: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as the page takes it."""
        controls = [each.to_dict() for each in self.controls]
        return {**vars(self), "title": page_text(self.title), "controls": controls}


def doc_text(doc: str) -> str | dict[str, str]:
    """Return what a control is, by language; of parameters it is there in English only."""
    other = japanese().get(doc)
    return doc if other is None else {"en": doc, "ja": other}


def sections_of(scenario: Scenario) -> list[Section]:
    """Return every control of a scenario, by what it belongs to."""
    own = [
        control
        for name, field in fields_of(Scenario).items()
        if field.is_axis and (scenario.is_dumbbell or not isinstance(field, Shorthand))
        for control in controls_of_field(name, field, getattr(scenario, name))
    ]
    sections = [Section("the path", own)]
    for link in () if scenario.is_dumbbell else scenario.links:
        of_link = [
            control
            for name, field in fields_of(Link).items()
            if field.is_axis
            for control in controls_of_field(f"link.{link.name}.{name}", field, getattr(link, name))
        ]
        sections.append(Section(link.name, of_link))
    looks = zip(group_labels(scenario), group_colors(scenario), strict=True)
    for index, (group, (label, color)) in enumerate(zip(scenario.groups, looks, strict=True)):
        sections.append(
            Section(label, list(controls_of_group(index, group, int(scenario.time))), color, index)
        )
    return sections


def controls_of(scenario: Scenario) -> dict[str, Control]:
    """Return every control by its name."""
    return {each.name: each for section in sections_of(scenario) for each in section.controls}


def controls_of_field(
    name: str, field: Field[Any, Any], value: Any, end: int | None = None
) -> Iterator[Control]:
    """Yield a field's control, and those of the parameters of what it chooses; `end` of the run."""
    options = options_of(field, value)
    is_list = isinstance(value, Impairments)
    yield Control(
        name=name,
        label=field.name.replace("_", " "),
        doc=field.doc,
        value=text_of(field, value),
        default=field.default_text if field.default in (None, "", ...) else "",
        steps=() if options else steps_of_kind(field.kind, value, end),
        options=options,
        chosen=[str(each) for each in value] if is_list else None,
        is_common=field.name in COMMON,
    )
    if isinstance(value, QueueChoice):
        yield from controls_of_element(f"{name}:", value)
    for place, each in enumerate(value if is_list else ()):
        yield from controls_of_element(f"{name}:{place}.", each)


def controls_of_group(index: int, group: Group, end: int) -> Iterator[Control]:
    """Yield the controls of a group: of its fields, and of its algorithm's and traffic's."""
    for name, field in fields_of(Group).items():
        if not field.is_axis or name in OF_PROGRAMS:
            continue
        value = getattr(group, name)
        if name == "cc":
            yield from controls_of_cc(index, group.cc, field)
            continue
        below = end if name in WITHIN_THE_RUN else None
        yield from controls_of_field(f"{index}.{name}", field, value, below)
        if name == "traffic":
            yield from controls_of_element(f"{index}.traffic.", value)


def controls_of_cc(
    index: int, cc: CongestionControlChoice, field: Field[Any, Any]
) -> Iterator[Control]:
    """Yield the picker of a congestion control algorithm, and a slider for each parameter."""
    chosen = f"{cc.name}@{cc.preset}" if cc.preset else cc.name
    known = [
        *congestion_controls(),
        *(f"{name}@{each}" for name in PRESETS for each in PRESETS[name]),
    ]
    options = known if chosen in known else [chosen, *known]
    yield Control(f"{index}.cc", "cc", field.doc, chosen, options=options, is_common=True)
    if cc.is_kernels_own:
        return
    for each in cc.description.parameters:
        value = cc.params.get(each.name, each.default)
        is_flag = (each.min, each.max) == (0, 1)
        unit = f" ({each.unit})" if each.unit else ""
        yield Control(
            name=f"{index}.{each.name}",
            label=each.name.replace("_", " ") + unit,
            doc=each.doc,
            value=str(value),
            steps=() if is_flag else steps_of_parameter(each, value),
            options=("0", "1") if is_flag else (),
            of=chosen,
        )


def controls_of_element(prefix: str, chosen: ElementChoice) -> Iterator[Control]:
    """Yield a control for each parameter of a queue, an impairment or an application."""
    for name, parameter in chosen.declaration.parameters.items():
        if name in (LIMIT, PRESET):
            continue  # the buffer sets the one; the other is chosen with the application
        value = chosen.params.get(name, parameter.default)
        options = options_of_parameter(parameter)
        yield Control(
            name=f"{prefix}{name}",
            label=name.replace("_", " "),
            doc=parameter.doc,
            value="" if value is None else parameter.show(value),
            default="" if parameter.must_be_set else parameter.default_text,
            steps=() if options else steps_of_element(parameter, value),
            options=options,
            of=chosen.name,
        )


def options_of_parameter(parameter: ElementParameter) -> Sequence[str]:
    """Return the words that a parameter can be; none where it is a number."""
    return ("on", "off") if parameter.unit == "flag" else parameter.choices


def options_of(field: Field[Any, Any], value: Any) -> Sequence[str]:
    """Return what a field's picker chooses from; none where it is no picker."""
    words = words_of_kind(field.kind)
    if words or field.kind.metavar not in KNOWN:
        return words
    known = [
        name
        for each in KNOWN[field.kind.metavar]().values()
        for name in (each.name, *(f"{each.name}:{PRESET}={preset}" for preset in each.presets))
    ]
    return ["", *known] if field.default is None and value is None else known


def text_of(field: Field[Any, Any], value: Any) -> str:
    """Return a value as text; of a choice what its picker has."""
    if value is None:
        return ""
    if isinstance(value, ElementChoice):
        return picked(value)
    if isinstance(value, bool) and field.kind.is_flag and "off" in field.kind.metavar:
        return "on" if value else "off"
    word = field.kind.to_word(value)
    if isinstance(word, list):
        return "+".join(word)
    return str(word).lower() if isinstance(word, bool) else str(word)
