"""Options that commands share, and the scenario they make."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.models import OptionInfo

from dumbbell.cli.completion import complete_engines, complete_what
from dumbbell.congestion_control.linux_tree import use_linux_tree
from dumbbell.errors import ScenarioError, nearest
from dumbbell.isolation.sandbox import run_unconfined
from dumbbell.quantities.pluralize import pluralize
from dumbbell.scenario import Group, Link, Scenario
from dumbbell.scenario.fields import FLOWS, PATH, RUN, Field, Shorthand, field_meant, fields_of
from dumbbell.sweeps.field import AxisField, field_of

__all__ = [
    "OUTPUT", "SETTABLE", "CacheFlag", "Engine", "Fields", "Jobs", "Json", "Lang",
    "LinuxTreeOption", "Out", "Settings", "Show", "SimulatorCacheFlag", "UnsafeNoSandbox", "What",
    "WithoutSources", "base_scenario", "field_option", "single_values", "unknown_option",
    "with_field_options",
]  # fmt: skip

#: Languages of pages.
LANGUAGES = ("en", "ja")
#: Written after an option that takes no value.
FLAG_WORDS = ("true", "false", "yes", "no", "on", "off")
#: Panel of `--help` for what becomes of the result.
OUTPUT = "Output"

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
    field = SETTABLE[name]
    is_flag = field.kind.is_flag
    per_group = "One for all groups, or one per group: `0s,10s`." if field.per_group else ""
    option: OptionInfo = typer.Option(
        f"{field.option}/--no-{field.option[2:]}" if is_flag else field.option,
        **{
            "metavar": "" if is_flag else field.kind.metavar,
            "help": " ".join(filter(None, (field.doc, per_group, note))),
            "rich_help_panel": field.panel,
            "show_default": field.default_text,
            **settings,
        },
    )
    return option


def with_field_options(command: Callable[..., int]) -> Callable[..., int]:
    """Replace a command's parameter `fields` by an option for each field of a scenario."""
    signature = inspect.signature(command, eval_str=True)
    parameters = []
    for parameter in signature.parameters.values():
        if parameter.name != "fields":
            parameters.append(parameter)
            continue
        for name, field in SETTABLE.items():
            of = bool | None if field.kind.is_flag else str | None
            option = Annotated[of, field_option(name)]  # type: ignore[valid-type]
            parameters.append(
                inspect.Parameter(name, parameter.kind, default=None, annotation=option)
            )

    @functools.wraps(command)
    def call(**arguments: Any) -> int:
        given = {name: arguments.pop(name) for name in SETTABLE}
        fields = {name: value for name, value in given.items() if value is not None}
        return command(**arguments, fields=fields)

    call.__annotations__ = {each.name: each.annotation for each in parameters}
    vars(call)["__signature__"] = signature.replace(parameters=parameters)
    return call


def _check_language(language: str) -> str:
    """Refuse a language that pages do not have."""
    if language and language not in LANGUAGES:
        raise ScenarioError(f"unknown language `{language}`{nearest(language, LANGUAGES)}")
    return language


def _use_linux_tree(root: Path | None) -> Path | None:
    """Look names up in a tree from here on."""
    use_linux_tree(root)
    return root


What = Annotated[
    list[str],
    typer.Argument(
        metavar="CC… | FILE.toml",
        help="Congestion controls, one group each: `copa`, `copa:mode_window_rtts=5`, "
        "`./mine.bpf.c`, `linux/cubic` (the running kernel's own), `DIR/net/ipv4/tcp_vegas.c` "
        "(a Linux source file); or a scenario file.",
        show_default=False,
        autocompletion=complete_what,
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="simulator|kernel",
        help="The simulator, or this machine's Linux TCP (`dumbbell doctor`).",
        rich_help_panel=RUN,
        autocompletion=complete_engines,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        min=1,
        metavar="N",
        help="Simultaneous runs. On the kernel they share the cores in real time: use more than "
        "one only if the verdicts stay OK.",
        rich_help_panel=RUN,
        show_default="all cores; on the kernel 1",
    ),
]
CacheFlag = Annotated[
    bool | None,
    typer.Option(
        "--cache/--no-cache",
        help="Reuse runs from the cache and keep new ones there. Runs on the kernel are "
        "measurements: they are cached only with `--cache`.",
        rich_help_panel=RUN,
        show_default="simulator only",
    ),
]
SimulatorCacheFlag = Annotated[
    bool,
    typer.Option(
        "--cache/--no-cache",
        help="Reuse the simulator's runs from the cache (`dumbbell cache`); runs on the kernel "
        "are measured each time.",
        rich_help_panel=RUN,
    ),
]
Lang = Annotated[
    str,
    typer.Option(
        "--lang",
        metavar="|".join(LANGUAGES),
        help="Language in which the page opens; it contains both.",
        rich_help_panel=OUTPUT,
        show_default="the browser's",
        callback=_check_language,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON.", rich_help_panel=OUTPUT)
]
Show = Annotated[
    bool,
    typer.Option(
        "--show",
        help="Open the page in the browser, or print where it is.",
        rich_help_panel=OUTPUT,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Save the run to this directory: run.json and Parquet tables.",
        rich_help_panel=OUTPUT,
    ),
]
WithoutSources = Annotated[
    bool,
    typer.Option(
        "--without-sources",
        help="Leave the congestion controls' source text out of the directory; their digests stay.",
        rich_help_panel=OUTPUT,
    ),
]
LinuxTreeOption = Annotated[
    Path | None,
    typer.Option(
        "--linux-tree",
        metavar="DIR",
        envvar="DUMBBELL_LINUX_TREE",
        help="Linux source tree in which names that are not built in are looked up: `vegas` is "
        "its `net/ipv4/tcp_vegas.c`.",
        rich_help_panel=FLOWS,
        callback=_use_linux_tree,
        is_eager=True,
        show_default=False,
    ),
]


Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Set a field of one link or group: `link.access.rate=10mbit`, `1.rtt=80ms`, "
        "`copa.flows=4`. Can be repeated.",
        rich_help_panel=PATH,
        show_default=False,
    ),
]


def _run_unconfined(*, is_wanted: bool) -> bool:
    """Run foreign code without the sandbox from here on."""
    if is_wanted:
        run_unconfined()
    return is_wanted


UnsafeNoSandbox = Annotated[
    bool,
    typer.Option(
        "--unsafe-no-sandbox",
        help="Run congestion controls in files unconfined: they can read, change and send all that "
        "you can. The verdict says so.",
        rich_help_panel=RUN,
        callback=lambda is_wanted: _run_unconfined(is_wanted=is_wanted),
        is_eager=True,
    ),
]


def unknown_option(problem: Any) -> str:
    """Return the message about an option that a command does not have."""
    option, command = problem.option_name, problem.ctx.command
    known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
    meant = field_meant(option, [Scenario, Group])
    if option == "--csv":
        return f"no such option: {option}; use --out DIR, then `dumbbell export DIR --csv`"
    if option == "--cc" or (meant and meant.name == "cc"):
        return f"no such option: {option}; congestion controls are arguments: `copa cubic`"
    if meant and meant.option in known:
        return f"no such option: {option}; did you mean `{meant.option}`?"
    words = sorted(name[2:] for name in known if name.startswith("--"))
    near = nearest(option.strip("-"), words).replace("mean `", "mean `--")
    if "did you mean" not in near:
        near = f"; `{problem.ctx.command_path} --help` lists the options"
    return f"no such option: {option}{near}"


def single_values(fields: Fields, command: str) -> dict[str, Any]:
    """Return what options set; refuse lists of values.

    Parameters
    ----------
    fields
        By field, as written.
    command
        Which takes one value of each.
    """
    for name, text in fields.items():
        field = SETTABLE[name]
        if not field.per_group and isinstance(text, str) and field.kind.is_list(text):
            values = len(field.kind.split(text, name))
            instead = "; use `dumbbell sweep`" if command == "run" else ""
            raise ScenarioError(
                f"`{field.option} {text}` lists {values} values, but `dumbbell {command}` takes "
                f"one{instead}",
                key=name,
            )
    return {name: SETTABLE[name].from_option(value) for name, value in fields.items()}


def base_scenario(
    what: list[str], values: Mapping[str, Any], settings: Sequence[str] | None = None
) -> Scenario:
    """Build the scenario that arguments and options name.

    Parameters
    ----------
    what
        Congestion controls, or one scenario file.
    values
        By field, as Python has them; they replace a file's.
    settings
        Fields of single links and groups, as ``--set`` has them.
    """
    refuse_flag_words(what)
    words: dict[str, Any] = {}
    links: list[dict[str, Any]] = []
    tables: list[dict[str, Any]] = [{"cc": cc} for cc in split_mix(what)]
    files = [word for word in what if word.endswith(".toml")]
    if files:
        if len(what) > 1:
            raise ScenarioError(
                f"scenario file `{files[0]}` cannot be combined with other arguments"
            )
        # Through the file's words, so that an option replaces a value before it is checked against
        # the others.
        words = Scenario.from_toml(files[0]).to_dict()
        links, tables = words.pop("link", []), words.pop("group")
    for name, value in values.items():
        if name in fields_of(Scenario):
            check_settable(name, links, files)
            words[name] = value
            continue
        for table, each in zip(tables, per_group(name, value, len(tables)), strict=True):
            table[name] = each
    if settings:
        # Before the scenario is made, so that options and settings are checked together.
        named = Scenario.from_toml(files[0]) if files else Scenario([t["cc"] for t in tables])
        for table, group in zip(tables, named.groups, strict=True):
            table["cc"] = group.cc
        for field, value in changes_of(settings, named):
            field.set(words, links, tables, value)
    return Scenario(
        [Group(**table) for table in tables], links=[Link(**link) for link in links], **words
    )


def refuse_flag_words(what: Sequence[str]) -> None:
    """Refuse `true` and the like, written as an option's value."""
    for word in what:
        if word.lower() in FLAG_WORDS:
            raise ScenarioError(
                f"`{word}` is not a congestion control; an option like `--json` takes no value: "
                f"remove `{word}`"
            )


def check_settable(name: str, links: Sequence[Mapping[str, Any]], files: Sequence[str]) -> None:
    """Refuse an option of the only link for a file that has links."""
    field = fields_of(Scenario)[name]
    if links and isinstance(field, Shorthand):
        raise ScenarioError(
            f"`{field.option}` cannot be combined with the links of {files[0]}; use "
            f"`--set link.{links[0]['name']}.{name}={field.example}`",
            key=name,
        )


def changes_of(settings: Sequence[str], scenario: Scenario) -> list[tuple[AxisField, Any]]:
    """Return the fields of `--set` and their values, congestion controls before parameters."""
    changes: dict[str, tuple[AxisField, Any]] = {}
    for text in settings:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise ScenarioError(f"`--set {text}` sets nothing; use `--set NAME=VALUE`", key="set")
        if name in changes:
            raise ScenarioError(f"`--set {name}` is given twice; give it once", key="set")
        field = field_of(name, scenario)
        changes[name] = (field, field.parse(value))
    return sorted(changes.values(), key=lambda change: change[0].key != "cc")


def split_mix(what: list[str]) -> list[str]:
    """Return a group for each argument; ``copa+cubic`` alone is two."""
    # A mix may be longer than any path, for which Path.exists() raises an error.
    if len(what) == 1 and "+" in what[0] and not os.path.exists(what[0]):  # noqa: PTH110
        return what[0].split("+")
    return what


def per_group(name: str, value: Any, groups: int) -> list[Any]:
    """Return each group's value of an option."""
    field = SETTABLE[name]
    if not (field.per_group and isinstance(value, str)):
        return [value] * groups
    values = field.kind.split(value, name)
    if len(values) not in (1, groups):
        raise ScenarioError(
            f"`{field.option} {value}` lists {len(values)} values for "
            f"{pluralize(groups, 'group')}; "
            "use one, or one per group",
            key=name,
        )
    return (values * groups)[:groups]
