"""Options that commands share; those of a scenario's fields are in `field_options`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.congestion_control.isolation.sandbox import run_unconfined
from dumbbell.congestion_control.linux_tree import use_linux_tree
from dumbbell.guide import scenario_file
from dumbbell.scenario.fields import FLOWS, PATH, RUN
from dumbbell.terminal.completion import complete_engines, complete_what
from dumbbell.terminal.help import rare
from dumbbell.terminal.out_directory import out_directory

__all__ = [
    "OUTPUT",
    "RUN",
    "CacheFlag",
    "Engine",
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
    "with_files",
]

#: Languages of pages.
LANGUAGES = ("en", "ja")
#: Panel of `--help` for what becomes of the result.
OUTPUT = "Output"


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
        help="`simulator`, `kernel` or `uml` (virtual time).",
        rich_help_panel=RUN,
        autocompletion=complete_engines,
    ),
]
Live = Annotated[
    bool,
    typer.Option(
        "--live",
        help="Show rates, RTTs and queues on a page meanwhile, with sliders for `emulate`'s path.",
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
        help="Reuse runs in virtual time from the cache: `dumbbell cache`. Runs on the kernel "
        "engine are measured each time.",
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
        callback=out_directory,
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
        help="What tables and legends call a group: `0=Thesis`, `cubic=Baseline`; without `=` "
        "the only group, or with several a title. Can be repeated.",
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
