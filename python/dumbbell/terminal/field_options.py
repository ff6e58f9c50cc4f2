"""An option for each field of a scenario, made of the field's declaration."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Annotated, Any, get_type_hints

import typer
from typer.models import OptionInfo

from dumbbell.scenario import Group, Scenario
from dumbbell.scenario.fields import FLOWS, PATH, RUN, Field, fields_of
from dumbbell.terminal.completion import complete_discipline, complete_impairment
from dumbbell.terminal.help import rare
from dumbbell.terminal.up_link import UP_FIELDS

__all__ = [
    "COMMON_FIELDS",
    "OPTION_FIELDS",
    "SETTABLE",
    "Fields",
    "field_option",
    "with_field_options",
    "with_grouped_options",
    "with_path_options",
]

#: The fields that options set, as they were written; a command with `with_field_options` takes it.
Fields = Mapping[str, Any]

#: Each field with an option, in the order of `--help`.
SETTABLE: Mapping[str, Field[Any, Any]] = {
    name: field
    for panel in (PATH, FLOWS, RUN)
    for owner in (Scenario, Group)
    for name, field in fields_of(owner).items()
    if field.has_option and field.panel == panel
}
#: These, and those of the second link, which commands with `--upload` have.
OPTION_FIELDS: Mapping[str, Field[Any, Any]] = {**SETTABLE, **UP_FIELDS}
#: Those of them that `--help` lists; `--help-all` lists the others too.
COMMON_FIELDS = frozenset(
    ("rate", "rtt", "buffer", "queue", "loss", "flows", "start", "traffic", "time", "seed")
)
#: What the options of an emulated path say otherwise than their fields do.
OF_EMULATED_PATH = {
    "rate": {
        "help": "Capacity of the link from server to client; all headers count. `none`: delay only."
    },
    "rtt": {"help": "Base RTT: propagation in both directions, without queueing."},
    "up_rate": {
        "help": "Capacity of the link from client to server.",
        "show_default": "as the way down",
        "rich_help_panel": PATH,
    },
    "seed": {"rich_help_panel": rare(RUN)},
    "up_buffer": {"show_default": "as the way down"},
    "up_queue": {"show_default": "as the way down"},
    "sample": {"show_default": "100ms"},
}
#: What completes the values of an option, by what `--help` calls them.
COMPLETIONS: Mapping[str, Callable[[str], list[tuple[str, str]]]] = {
    "QUEUE": complete_discipline,
    "IMPAIRMENT+…": complete_impairment,
}


def field_option(name: str, note: str = "", **settings: Any) -> OptionInfo:
    """Return the option of a field.

    Parameters
    ----------
    name
        The field.
    note
        What ``--help`` adds to its description.
    settings
        Of `typer.Option`, instead of the field's.
    """
    field = OPTION_FIELDS[name]
    is_flag = field.kind.is_flag
    per_group = (
        "One for all groups, or one per group with commas between." if field.per_group else ""
    )
    option: OptionInfo = typer.Option(
        f"{field.option}/--no-{field.option[2:]}" if is_flag else field.option,
        **{
            "metavar": "" if is_flag else field.kind.metavar,
            "help": " ".join(filter(None, (field.doc, per_group, note))),
            "rich_help_panel": field.panel,
            "show_default": field.default_text,
            "autocompletion": COMPLETIONS.get(field.kind.metavar),
            **settings,
        },
    )
    return option


def with_field_options(
    command: Callable[..., int], common: Collection[str] = COMMON_FIELDS
) -> Callable[..., int]:
    """Replace a command's parameter `fields` by an option for each field of a scenario.

    A command that takes uploads has options of a second link, too. A parameter that is a named
    tuple is replaced by an option for each of its fields.

    Parameters
    ----------
    command
        The command.
    common
        The fields whose options `--help` lists; `--help-all` lists them all.
    """
    has_up_link = "upload" in inspect.signature(command).parameters
    settable = OPTION_FIELDS if has_up_link else SETTABLE
    return _with_options_of(settable, command, common)


def with_grouped_options(command: Callable[..., int]) -> Callable[..., int]:
    """Replace each parameter of a command that is a named tuple by an option for its fields."""
    return _with_options_of({}, command, ())


def _with_options_of(
    settable: Mapping[str, Field[Any, Any]],
    command: Callable[..., int],
    common: Collection[str],
    settings: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
) -> Callable[..., int]:
    """Replace a command's parameter `fields` by an option for each of these.

    Some have settings of their own instead of their field's.
    """
    signature = inspect.signature(command, eval_str=True)
    parameters = []
    groups: dict[str, Any] = {}
    for parameter in signature.parameters.values():
        if hasattr(parameter.annotation, "_fields"):
            groups[parameter.name] = parameter.annotation
            parameters += options_of_group(parameter.annotation)
            continue
        if parameter.name != "fields":
            parameters.append(parameter)
            continue
        for name, field in settable.items():
            of = bool | None if field.kind.is_flag else str | None
            panel = field.panel if name in common else rare(field.panel)
            own = {"rich_help_panel": panel, **settings.get(name, {})}
            option = Annotated[of, field_option(name, **own)]  # type: ignore[valid-type]
            parameters.append(
                inspect.Parameter(name, parameter.kind, default=None, annotation=option)
            )

    @functools.wraps(command)
    def call(**arguments: Any) -> int:
        given = {name: arguments.pop(name) for name in settable}
        fields = {name: value for name, value in given.items() if value is not None}
        grouped = {
            name: group(**{field: arguments.pop(field) for field in group._fields})
            for name, group in groups.items()
        }
        given_fields = {"fields": fields} if "fields" in signature.parameters else {}
        return command(**arguments, **grouped, **given_fields)

    call.__annotations__ = {each.name: each.annotation for each in parameters}
    vars(call)["__signature__"] = signature.replace(parameters=parameters)
    return call


def options_of_group(group: Any) -> list[inspect.Parameter]:
    """Return a parameter for each field of a named tuple."""
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=group._field_defaults[name],
            annotation=hints[name],
        )
        for name in group._fields
    ]


def with_path_options(command: Callable[..., int]) -> Callable[..., int]:
    """Replace a command's parameter `fields` by an option for each field of an emulated path."""
    from dumbbell.emulation.scenario import PATH_FIELDS

    names = [name for name in OPTION_FIELDS if name in PATH_FIELDS]
    settable = {name: OPTION_FIELDS[name] for name in names}
    return _with_options_of(settable, command, COMMON_FIELDS, OF_EMULATED_PATH)
