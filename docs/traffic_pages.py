"""The tables of docs/traffic.md and a page for each application, from the declarations.

``python docs/traffic_pages.py`` writes the tables; ``make docs`` runs it. The guide's build writes
the pages.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from dumbbell.scenario.distribution import DistributionDeclaration, distributions
from dumbbell.scenario.element import Element
from dumbbell.scenario.parameter import ElementParameter
from dumbbell.scenario.traffic import PRESET, applications

__all__ = ["with_tables", "write_traffic_pages"]

PAGE = Path(__file__).with_name("traffic.md")
FIGURES = Path(__file__).with_name("figures")
#: Between these lines of the page stand the applications, and the distributions.
TABLES = re.compile(r"(<!-- (applications|distributions) -->\n).*?(<!-- end -->\n)", re.DOTALL)


def with_tables(page: str) -> str:
    """Return the page with its tables as they are now."""
    tables = {"applications": table_of_applications, "distributions": table_of_distributions}
    return TABLES.sub(lambda found: f"{found[1]}{tables[found[2]]()}{found[3]}", page)


def table_of_applications() -> str:
    """Return a row per application."""
    rows = [
        f"| `{each.name}` | {each.doc} | {', '.join(f'`{name}`' for name in each.presets)} |"
        for each in applications().values()
    ]
    return "\n".join(["| application | what it does | presets |", "|---|---|---|", *rows, ""])


def table_of_distributions() -> str:
    """Return a row per distribution."""
    rows = [f"| `{written(each)}` | {each.doc} |" for each in distributions().values()]
    rows.append("| `cdf(FILE)` | Points of a file. |")
    return "\n".join(["| distribution | what it is |", "|---|---|", *rows, ""])


def written(of: DistributionDeclaration) -> str:
    """Return a distribution as it is written: those parameters that need not be set in brackets."""
    names = [
        each.name if each.must_be_set else f"[{each.name}]" for each in of.parameters.values()
    ]
    return f"{of.name}({';'.join(names)})" if names else of.name


def write_traffic_pages(directory: Path) -> None:
    """Write ``<name>.md`` for each application; pages of others are removed."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True, exist_ok=True)
    for name, application in applications().items():
        (directory / f"{name}.md").write_text(page_of(application), encoding="utf-8")


def page_of(application: Element) -> str:
    """Return an application's page: what it does, its parameters and presets, and a figure."""
    name = application.name
    lines = [f"# Traffic: `{name}`", "", application.doc, ""]
    facts = {
        "`load` decides how often it begins a transfer.": application.takes_load,
        "Both ends write: requests one way, responses the other.": application.has_requests,
        "It sends datagrams, which no congestion control governs; the group's `cc` is not used.":
            application.sends_datagrams,
    }  # fmt: skip
    lines += [fact for fact, holds in facts.items() if holds]
    if application.parameters:
        lines += ["", "## Parameters", "", *parameter_rows(application.parameters.values())]
    if application.presets:
        lines += ["", "## Presets", "", f"`{PRESET}=NAME` sets the others, which can follow it.", ""]
        lines += ["| preset | what it is | values |", "|---|---|---|"]
        for key, preset in application.presets.items():
            values = ", ".join(
                f"`{each.name}={each.default_text}`"
                for each in preset.parameters.values()
                if each.default != application.parameters[each.name].default
            )
            lines.append(f"| `{key}` | {preset.doc} | {values} |")
    lines += ["", "## Example", ""]
    figure = FIGURES / f"traffic-{name}.svg"
    if figure.is_file():
        command = example_of(figure)
        lines += [f"    {command}", "", f"![{name}](../../figures/{figure.name})"]
    return "\n".join([*lines, "", "[All applications](../../traffic.md)", ""])


def parameter_rows(parameters: Iterable[ElementParameter]) -> list[str]:
    """Return a table of parameters."""
    rows = [
        f"| `{each.name}` | `{each.default_text}` | {each.range_text} | {each.doc} |"
        for each in parameters
    ]
    return ["| parameter | default | range | what it is |", "|---|---|---|---|", *rows]


def example_of(figure: Path) -> str:
    """Return the command whose figure it is, as `traffic_figures.py` has it."""
    from traffic_figures import EXAMPLES  # next to this file

    return EXAMPLES[figure.stem.removeprefix("traffic-")].command


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
