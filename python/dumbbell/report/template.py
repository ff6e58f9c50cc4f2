"""How every page is made: templates, scripts, and data inside scripts."""

from __future__ import annotations

from importlib import resources
from typing import Any

from markupsafe import Markup

from dumbbell._core import ENGINE_VERSION
from dumbbell.figures import Figure
from dumbbell.report.chart import chart, script_json
from dumbbell.report.language import bilingual, marked

__all__ = ["plot", "render_template"]


def render_template(
    name: str, language: str = "", package: str = "dumbbell.report", **values: Any
) -> str:
    """Return a page's HTML.

    Parameters
    ----------
    name
        The template's.
    language
        ``en`` or ``ja``: what the page opens in; empty leaves it to the browser.
    package
        The package with the template; what that extends can be here.
    values
        The template's own.
    """
    from jinja2 import (  # slow to import
        ChoiceLoader,
        Environment,
        PackageLoader,
        StrictUndefined,
    )

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(each) for each in (package, "dumbbell.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name).render(
        **values,
        language=language,
        engine_version=ENGINE_VERSION,
        t=bilingual,
        marked=marked,
        uplot=uplot,
    )


def uplot(file: str) -> Markup:
    """Return uPlot's script, style sheet or licence, which its copies have to carry."""
    vendored = resources.files("dumbbell.report").joinpath("vendor", "uplot", file)
    return Markup(vendored.read_text(encoding="utf-8"))  # noqa: S704 -- no text of a user's


def plot(figure: Figure) -> tuple[Figure, Markup]:
    """Return a figure with its JSON for the page's script."""
    return figure, script_json(chart(figure))
