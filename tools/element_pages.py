"""The guide's pages of elements, from their declarations, and the tables that lead to them.

An element is a queue discipline, an impairment, a medium or an application. Each has a page,
``queues/codel.md``. The guide's own pages include the tables. `guide_pages.py` writes both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from element_figures import EXAMPLES, FIGURES, Example, figure_name  # next to this file
from markdown_tables import markdown_table

from dumbbell.scenario.distribution import DistributionDeclaration, distributions
from dumbbell.scenario.element import Element, impairments, media, queue_disciplines
from dumbbell.scenario.linux_release import DEFAULT_TCP, kernels
from dumbbell.scenario.parameter import ElementParameter
from dumbbell.scenario.trace_generators import GENERATORS
from dumbbell.scenario.traffic import PRESET, applications

__all__ = ["KINDS", "Kind", "pages", "tables"]

#: Where pages are, as the guide's own pages link to them.
GENERATED = "_generated"


@dataclass(frozen=True)
class Kind:
    """A kind of elements.

    Attributes
    ----------
    noun
        Of one of them, with a capital letter.
    plural
        Of all.
    elements
        By name.
    facts
        Sentences that hold for some, and for which.
    columns
        Further columns of the table that leads to their pages, and what each has of an element.
    """

    noun: str
    plural: str
    elements: Callable[[], Mapping[str, Element]]
    facts: Mapping[str, Callable[[Element], bool]]
    columns: Mapping[str, Callable[[Element], str]]


def proper_impairments() -> Mapping[str, Element]:
    """Return the impairments that are not media."""
    return {name: each for name, each in impairments().items() if not each.is_medium}


def yes(*, holds: bool) -> str:
    """Return a cell that is empty for no."""
    return "yes" if holds else ""


def place_of(impairment: Element) -> str:
    """Return on which side of the queue an impairment is."""
    place = impairment.parameters.get("place")
    if place is None:
        return ""
    other = "behind" if place.default_text == "before" else "before"
    return f"{place.default_text}, or {other}"


#: By the directory of their pages, which is also the name of the page with their table.
KINDS = {
    "queues": Kind(
        "Queue discipline", "queue disciplines", queue_disciplines,
        {
            "Packets leave in the order in which they came.": lambda each: each.is_fifo,
            "It can mark ECN-capable packets.": lambda each: each.can_mark,
            "Packets may wait while the link is idle.": lambda each: each.holds_back,
        },
        {
            "in order": lambda each: yes(holds=each.is_fifo),
            "can mark": lambda each: yes(holds=each.can_mark),
            "link may idle": lambda each: yes(holds=each.holds_back),
        },
    ),
    "impairments": Kind(
        "Impairment", "impairments", proper_impairments, {}, {"`place`": place_of}
    ),
    "media": Kind("Medium", "media", media, {}, {}),
    "traffic": Kind(
        "Application", "applications", applications,
        {
            "`load` decides how often it begins a transfer.": lambda each: each.takes_load,
            "Both ends write: requests one way, responses the other.":
                lambda each: each.has_requests,
            "It sends datagrams, without congestion control; the group's `cc` is not used.":
                lambda each: each.sends_datagrams,
        },
        {"presets": lambda each: ", ".join(f"`{name}`" for name in each.presets)},
    ),
}  # fmt: skip


def pages() -> dict[str, str]:
    """Return the page of every element, by its path."""
    return {
        f"{directory}/{name}.md": page_of(directory, element)
        for directory, kind in KINDS.items()
        for name, element in kind.elements().items()
    }


def page_of(directory: str, element: Element) -> str:
    """Return an element's page: what it does, an example with its figure, its parameters."""
    kind = KINDS[directory]
    facts = [fact for fact, holds in kind.facts.items() if holds(element)]
    example = EXAMPLES[directory][element.name]
    figure = FIGURES / f"{figure_name(directory, element.name)}.svg"
    lines = [
        f"# `{element.name}`", "", " ".join([f"{kind.noun}.", element.doc, *facts]), "",
        "## Example", "", f"    {example.command}", "",
    ]  # fmt: skip
    if figure.is_file():  # `make docs` draws them first
        lines += [f"![{alternative_text(example)}](../{FIGURES.name}/{figure.name})", ""]
    if example.note:
        lines += [example.note, ""]
    if element.parameters:
        lines += ["## Parameters", "", *parameter_rows(element.parameters.values()), ""]
    if element.presets:
        lines += ["## Presets", "", *preset_rows(element), ""]
    if element.series:
        lines += ["## Time series", "", ", ".join(f"`{name}`" for name in element.series), ""]
    return "\n".join([*lines, f"[All {kind.plural}](../../{directory}.md)", ""])


def alternative_text(example: Example) -> str:
    """Return what a figure shows, for who cannot see it."""
    of = " and ".join(name.replace("-", " ") for name in example.series)
    return f"{of} over time, or over sizes, of the command above".capitalize()


def parameter_rows(parameters: Iterable[ElementParameter]) -> list[str]:
    """Return a table of parameters."""
    rows = [
        f"| `{each.name}` | `{each.default_text}` | {each.range_text} | {each.doc} |"
        for each in parameters
    ]
    return ["| parameter | default | range | what it is |", "|---|---|---|---|", *rows]


def preset_rows(application: Element) -> list[str]:
    """Return what presets are, and a table of them."""
    lines = [f"`{PRESET}=NAME` sets the others, which can follow it.", ""]
    lines += ["| preset | what it is | values |", "|---|---|---|"]
    for name, preset in application.presets.items():
        values = ", ".join(
            f"`{each.name}={each.default_text}`"
            for each in preset.parameters.values()
            if each.default != application.parameters[each.name].default
        )
        lines.append(f"| `{name}` | {preset.doc} | {values} |")
    return lines


def tables() -> dict[str, str]:
    """Return the tables that the guide's pages include, by name."""
    return {
        **{directory: element_table(directory) for directory in KINDS},
        "distributions": distribution_table(),
        "generators": generator_table(),
        "tcp": switch_table(),
    }


def element_table(directory: str) -> str:
    """Return the table that leads to the pages of a kind."""
    kind = KINDS[directory]
    header = [kind.noun.lower(), "what it does", *kind.columns]
    rows = [
        [f"[`{name}`]({GENERATED}/{directory}/{name}.md)", each.doc]
        + [cell(each) for cell in kind.columns.values()]
        for name, each in kind.elements().items()
    ]
    return markdown_table(header, rows)


def distribution_table() -> str:
    """Return a row per distribution."""
    rows = [f"| `{written(each)}` | {each.doc} |" for each in distributions().values()]
    rows.append("| `cdf(FILE)` | Points of a file. |")
    return "\n".join(["| distribution | what it is |", "|---|---|", *rows, ""])


def written(of: DistributionDeclaration) -> str:
    """Return a distribution as it is written: those parameters that need not be set in brackets."""
    names = [each.name if each.must_be_set else f"[{each.name}]" for each in of.parameters.values()]
    return f"{of.name}({';'.join(names)})" if names else of.name


def generator_table() -> str:
    """Return a row per generator of traces."""
    rows = [
        f"| `{name}` | {', '.join(f'`{key}={value}`' for key, value in each.parameters.items())} "
        f"| {each.doc} |"
        for name, each in GENERATORS.items()
    ]
    head = ["| generator | parameters with their defaults | what it makes |", "|---|---|---|"]
    return "\n".join([*head, *rows, ""])


def switch_table() -> str:
    """Return a row per switch of TCP, with what each release has."""
    known = kernels()
    header = ["switch", *(f"`{name}`" for name in known), "values", "what it is"]
    rows = [
        [
            f"`{name}`",
            *(f"`{each.parameters[name].default_text}`" for each in known.values()),
            switch.range_text,
            switch.doc,
        ]
        for name, switch in known[DEFAULT_TCP].parameters.items()
    ]
    kernel_rows = [f"- `{name}`: {each.doc}" for name, each in known.items()]
    return "\n".join([*kernel_rows, "", markdown_table(header, rows)])
