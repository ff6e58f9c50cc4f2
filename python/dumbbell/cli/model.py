"""`dumbbell model`: what should happen, by formula."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from dumbbell.base.errors import ScenarioError
from dumbbell.cli.axes import RANGE
from dumbbell.cli.model_answer import answer, source
from dumbbell.cli.model_compare import compare_command
from dumbbell.cli.model_sharing import sharing_command
from dumbbell.models import MODELS, Model
from dumbbell.models.calculation import Factor
from dumbbell.terminal import options
from dumbbell.terminal.console import out, print_json
from dumbbell.terminal.field_options import field_option
from dumbbell.terminal.lazy_command import CommandGroup, examples
from dumbbell.terminal.table import print_table

__all__ = ["model_app"]

model_app = typer.Typer(
    cls=CommandGroup,
    add_completion=False,
    help="Predict what happens at a bottleneck, with formulas from papers.",
    invoke_without_command=True,
)
model_app.command(
    "compare", epilog=examples("dumbbell model compare ware --buffer 1..8bdp --flows 1")
)(compare_command)
model_app.command("sharing", epilog=examples("dumbbell model sharing --links 1..16 --cross 4"))(
    sharing_command
)

#: Options of axes that are no fields of a scenario.
AXES = {
    "interval": f"Times between losses: `2s..16s`. {RANGE} Without them, CUBIC flows fill a "
    "drop-tail buffer.",
    "loss": "Loss rates per packet: `1e-3`, `0.1%,1%`, `1e-6..1e-2` (by tens).",
    "rivals": "Flows of CUBIC: `1,4`, `1..16`.",
}
#: Options of axes that are fields of a scenario, in the order of ``--help``.
FIELDS = ("rate", "rtt", "buffer", "flows")
#: Shown by the help of the first model.
EXAMPLES = {"ware": "dumbbell model ware --rate 50mbit --buffer 1..16bdp --flows 1,4"}


@model_app.callback()
def model_command(context: typer.Context, json: options.Json = False) -> int:
    """List the models."""
    if context.invoked_subcommand is not None:
        if json:
            raise ScenarioError(f"use `dumbbell model {context.invoked_subcommand} … --json`")
        return 0
    if json:
        print_json([describe(model) for model in MODELS.values()])
        return 0
    rows = [(model.name, model.title, source(model)) for model in MODELS.values()]
    print_table(("model", "what it predicts", "source"), rows, left=range(3))
    out().print(
        "`dumbbell model NAME --help` lists its options; `dumbbell model compare NAME` compares it "
        "with the simulator; `dumbbell model sharing` has the fair rates of flows over several "
        "links.",
        soft_wrap=True,
    )
    return 0


def describe(model: Model) -> dict[str, Any]:
    """Return a model as JSON lists it."""
    keys = ("name", "title", "source", "status")
    return {
        **{key: getattr(model, key) for key in keys},
        "of_scenarios": model.of_scenario is not None,
    }


def command_of(model: Model) -> Callable[..., int]:
    """Return the command of a model; its options are the axes and factors of its calculations."""
    axes = {axis: value for each in model.calculations for axis, value in each.axes.items()}
    factors = {
        each.name: each for calculation in model.calculations for each in calculation.factors
    }
    options_of_it = {
        **{name: axis_option(name, axes[name]) for name in AXES if name in axes},
        **{name: factor_option(factor) for name, factor in factors.items()},
        **{name: axis_option(name, axes[name]) for name in FIELDS if name in axes},
        "json": (options.Json, False),
    }

    def command(**words: Any) -> int:
        return answer(model, words, json=words.pop("json"))

    command.__doc__ = model.help
    command.__annotations__ = {name: kind for name, (kind, _) in options_of_it.items()}
    vars(command)["__signature__"] = inspect.Signature(
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value, annotation=kind)
            for name, (kind, value) in options_of_it.items()
        ]
    )
    return command


def axis_option(name: str, default: str | None) -> tuple[Any, str | None]:
    """Return the annotation and the default of an axis's option."""
    if name in FIELDS:
        return Annotated[str, field_option(name, RANGE, show_default=True)], default
    return Annotated[str | None, typer.Option(f"--{name}", help=AXES[name])], default


def factor_option(factor: Factor) -> tuple[Any, float | str]:
    """Return the annotation and the default of a factor's option."""
    option = typer.Option(
        f"--{factor.name.replace('_', '-')}",
        help=factor.doc, min=factor.minimum, max=factor.maximum,
    )  # fmt: skip
    return Annotated[str if isinstance(factor.default, str) else float, option], factor.default


for _model in MODELS.values():
    _examples = [EXAMPLES[_model.name]] if _model.name in EXAMPLES else []
    model_app.command(_model.name, epilog=examples(*_examples))(command_of(_model))
