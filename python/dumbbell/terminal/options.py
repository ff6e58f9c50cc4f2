"""Options that commands share, and the scenario they make."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, get_type_hints

import typer
from typer.models import OptionInfo

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.congestion_control.isolation.sandbox import run_unconfined
from dumbbell.congestion_control.linux_tree import use_linux_tree
from dumbbell.guide import scenario_file
from dumbbell.scenario import Group, Scenario
from dumbbell.scenario.fields import FLOWS, PATH, RUN, Field, field_meant, fields_of
from dumbbell.terminal.completion import (
    complete_discipline,
    complete_engines,
    complete_impairment,
    complete_what,
)
from dumbbell.terminal.help import rare
from dumbbell.terminal.up_link import (
    UP_FIELDS,
)

__all__ = [
    "COMMON_FIELDS",
    "OPTION_FIELDS",
    "OUTPUT",
    "RUN",
    "SETTABLE",
    "CacheFlag",
    "Engine",
    "Fields",
    "Jobs",
    "Json",
    "Lang",
    "LinuxTreeOption",
    "Live",
    "Names",
    "Out",
    "Settings",
    "Show",
    "SimulatorCacheFlag",
    "UnsafeNoSandbox",
    "Uploads",
    "What",
    "WithoutSources",
    "field_option",
    "unknown_option",
    "with_field_options",
    "with_files",
]  # fmt: skip

#: Languages of pages.
LANGUAGES = ("en", "ja")
#: Commands whose options people mix up.
MIXED_UP = (("run", "sweep", "emulate"), ("plot", "report", "compare"))
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


def _check_language(language: str) -> str:
    """Refuse a language that pages do not have."""
    if language and language not in LANGUAGES:
        raise ScenarioError(f"unknown language `{language}`{nearest(language, LANGUAGES)}")
    return language


def _use_linux_tree(root: Path | None) -> Path | None:
    """Look names up in a tree from here on."""
    use_linux_tree(root)
    return root


def with_files(words: list[str] | None) -> list[str] | None:
    """Replace the names of scenarios that come with dumbbell by their files."""
    return words and [scenario_file(word) for word in words]


What = Annotated[
    list[str],
    typer.Argument(
        metavar="CC… | FILE.toml",
        callback=with_files,
        help="Algorithms like `copa`, `./mine.bpf.c`, or a scenario file. Each algorithm is a "
        "group. `copa:mode_window_rtts=5` has a parameter, `linux/cubic` is the running "
        "kernel's own, `DIR/net/ipv4/tcp_vegas.c` a Linux source file, `@which-queue` a scenario "
        "that comes with dumbbell (`dumbbell list scenarios`).",
        show_default=False,
        autocompletion=complete_what,
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="ENGINE",
        help="`simulator`, or `kernel` (this machine's TCP). `dumbbell doctor` says what it needs.",
        rich_help_panel=RUN,
        autocompletion=complete_engines,
    ),
]
Live = Annotated[
    bool,
    typer.Option(
        "--live",
        help="Show rates, RTTs and queues as moving lines meanwhile; `q` ends it.",
        rich_help_panel=rare(RUN),
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
        help="Reuse runs from the cache. New ones are kept there. Runs on the kernel are "
        "measurements: they are cached only with `--cache`.",
        rich_help_panel=rare(RUN),
        show_default="simulator only",
    ),
]
SimulatorCacheFlag = Annotated[
    bool,
    typer.Option(
        "--cache/--no-cache",
        help="Reuse the simulator's runs from the cache: `dumbbell cache`. Runs on the kernel are "
        "measured each time.",
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
        help="Leave the algorithms' source text out of the directory; their digests stay.",
        rich_help_panel=rare(OUTPUT),
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
        rich_help_panel=rare(FLOWS),
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
        help="Set a field of one link or group, like `1.rtt=80ms`. More examples: "
        "`link.access.rate=10mbit`, `copa.flows=4`. Can be repeated.",
        rich_help_panel=PATH,
        show_default=False,
    ),
]


Names = Annotated[
    list[str] | None,
    typer.Option(
        "--name",
        metavar="[GROUP=]NAME",
        help="What tables and legends call a group: `0=Thesis`, `cubic=Baseline`; without `=` a "
        "title. Can be repeated.",
        rich_help_panel=FLOWS,
        show_default=False,
    ),
]


Uploads = Annotated[
    list[str] | None,
    typer.Option(
        "--upload",
        metavar="CC",
        help="A group in the other direction, over `--up-rate`. Its ACKs cross the bottleneck. "
        " Can be repeated.",
        rich_help_panel=FLOWS,
        show_default=False,
        autocompletion=complete_what,
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
        help="Run algorithms in files unconfined: they can read, change and send all that "
        "you can. The verdict says so.",
        rich_help_panel=rare(RUN),
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
        return f"no such option: {option}; use --out DIR, then `dumbbell report export DIR --csv`"
    if option == "--cc" or (meant and meant.name == "cc"):
        return f"no such option: {option}; algorithms are arguments: `copa cubic`"
    if meant and meant.option in known:
        return f"no such option: {option}; did you mean `{meant.option}`?"
    if other := command_with(option, problem.ctx):
        return f"no such option: {option}; that is `{other} {option}`"
    words = sorted(name[2:] for name in known if name.startswith("--"))
    near = nearest(option.strip("-"), words).replace("mean `", "mean `--")
    if "did you mean" not in near:
        near = f"; `{problem.ctx.command_path} --help` lists the options"
    return f"no such option: {option}{near}"


def command_with(option: str, context: Any) -> str:
    """Return the command of `dumbbell` that has an option which another one lacks; empty if none.

    Of those that people mix up: what runs, and what shows.
    """
    root = context.find_root()
    likely = sorted(MIXED_UP, key=lambda names: context.info_name not in names)
    for name in chain.from_iterable(likely):
        command = root.command.get_command(root, name)
        if command is not None and name != context.info_name:
            names = {each for param in command.load().params for each in param.opts}
            if option in names:
                return f"{root.info_name} {name}"
    return ""
