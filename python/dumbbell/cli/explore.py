"""`dumbbell explore`: a page whose sliders change a scenario, and show at once what follows."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote, urlsplit

import typer

from dumbbell.base.errors import EngineError, ScenarioError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.congestion_control import congestion_controls
from dumbbell.congestion_control.name_kinds import is_file
from dumbbell.guide import scenario_file
from dumbbell.run.engine import SIMULATOR, check_engine
from dumbbell.scenario import Scenario
from dumbbell.terminal import options
from dumbbell.terminal.completion import complete_what
from dumbbell.terminal.console import open_page, print_files, print_line
from dumbbell.terminal.field_options import Fields, with_field_options
from dumbbell.terminal.help import rare
from dumbbell.terminal.scenario_options import base_scenario, single_values

__all__ = ["explore_command"]

#: What the help ends with.
EXAMPLES = (
    "dumbbell explore copa bbr --rate 20mbit",
    "dumbbell explore @which-queue",
    "dumbbell explore mine.bpf.c cubic",
    "dumbbell explore copa cubic --export buffer.html --over buffer=1..16bdp",
)
#: What the page opens with where nothing is named, and what runs beside a file alone.
USUAL, BESIDE = ["copa", "cubic"], "cubic"
#: Pages that are served, also through a proxy; a page without a server may lie in a file.
LINKS = ("http://", "https://", "file://")


What = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[CC… | FILE.toml | LINK]",
        help="Algorithms, a scenario file or `@which-queue`, as `dumbbell run` takes them; or a "
        "link that the page gave. A file alone, `mine.bpf.c`, runs beside cubic.",
        show_default=" ".join(USUAL),
        autocompletion=complete_what,
    ),
]


@with_field_options
def explore_command(
    *,
    what: What = None,
    fields: Fields,
    name: options.Names = None,
    settings: options.Settings = None,
    upload: options.Uploads = None,
    linux_tree: options.LinuxTreeOption = None,  # noqa: ARG001 -- its callback acts on it
    unsafe: options.UnsafeNoSandbox = False,  # noqa: ARG001 -- its callback acts on it
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            metavar="ENGINE",
            help="Only `simulator`.",
            rich_help_panel=rare(options.OUTPUT),
        ),
    ] = SIMULATOR,
    port: Annotated[
        int,
        typer.Option(
            "--port",
            metavar="N",
            min=0,
            max=65535,
            help="Port on 127.0.0.1.",
            show_default="any that is free",
            rich_help_panel=options.OUTPUT,
        ),
    ] = 0,
    no_open: Annotated[
        bool,
        typer.Option(
            "--no-open",
            help="Only print the address; open no browser.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = False,
    export: Annotated[
        Path | None,
        typer.Option(
            "--export",
            metavar="FILE.html",
            rich_help_panel=options.OUTPUT,
            show_default=False,
            help="Write a page that needs no server, with the runs of all positions of its "
            "sliders in it.",
        ),
    ] = None,
    over: Annotated[
        list[str] | None,
        typer.Option(
            "--over",
            metavar="NAME=VALUES",
            rich_help_panel=options.OUTPUT,
            help="With `--export`: a slider and its values, like `buffer=1..16bdp` or "
            "`1.cc=cubic,bbr`. Can be repeated.",
            show_default="buffer and rtt",
        ),
    ] = None,
    lang: options.Lang = "",
) -> int:
    """Open a page with sliders for all of a scenario, drawn at once.

    The page is on 127.0.0.1, until Ctrl-C. A saved file of an algorithm runs again.
    """
    scenario = scenario_named(what or USUAL, fields, settings, upload, name)
    check_simulates(scenario)
    if engine != SIMULATOR:
        raise EngineError(
            f"`explore` runs in the simulator, which is faster than a slider; omit `--engine "
            f"{engine}`, and run what the page gives `as a command` with it"
        )
    check_engine(SIMULATOR, scenario)
    if over and export is None:
        raise ScenarioError("`--over` is of `--export`; the page that is served has all sliders")
    if export is not None:
        return write_page(scenario, export, over, lang)
    from dumbbell.explore.redirect import redirect_page
    from dumbbell.explore.server import ExploreServer  # slow to import

    server = ExploreServer(scenario, port, lang)
    # While the browser starts.
    threading.Thread(target=server.warm_up, daemon=True).start()
    print_line(f"{server.url}  (Ctrl-C ends it)")
    try:
        with redirect_page(server.url) as address:
            if not no_open:
                open_page(address)
            server.serve()
    except KeyboardInterrupt:
        return 0  # how it ends
    return 0


def check_simulates(scenario: Scenario) -> None:
    """Refuse what only a kernel has: another engine, which others advise, cannot be chosen here."""
    for group in scenario.groups:
        if group.client is not None:
            raise ScenarioError(
                f"`{excerpt(group.client)}` is a real program, which runs on a kernel only, and "
                "explore simulates; follow it with `dumbbell run FILE --engine kernel --live`",
                key="client",
            )
        if group.cc.is_kernels_own:
            plain = group.cc.kernel_name
            hint = f"; use `{plain}`" if plain in congestion_controls() else ""
            raise ScenarioError(
                f"`{group.cc}` runs on a kernel only, and explore simulates{hint}", key="cc"
            )
    for link in scenario.links:
        if link.queue is not None and link.queue.of_kernel:
            raise ScenarioError(
                f"queue `{link.queue}` runs on a kernel only, and explore simulates; use "
                f"`{link.queue.name}`",
                key="queue",
            )


def scenario_named(
    what: list[str],
    fields: Fields,
    settings: list[str] | None,
    upload: list[str] | None,
    name: list[str] | None,
) -> Scenario:
    """Return the scenario that the page opens with."""
    if what[0].startswith(LINKS):
        if len(what) > 1 or fields or settings or upload or name:
            raise ScenarioError("a link has the whole scenario; omit the other arguments")
        from dumbbell.explore.words import scenario_of_toml

        text = unquote(urlsplit(what[0]).fragment)
        if not text:
            raise ScenarioError("the link has no scenario after `#`; copy it with `Copy link`")
        if "=" not in text:  # a place among the runs of an exported page: `0,3`
            raise ScenarioError(
                "this link is of a page without a server; open it in the browser, or run what "
                "the page gives `as a command`"
            )
        return scenario_of_toml(text)
    words = [scenario_file(word) for word in what]
    if len(words) == 1 and not upload and is_file(words[0]) and not words[0].endswith(".toml"):
        words.append(BESIDE)
    return base_scenario(words, single_values(fields, "explore"), settings, upload, name)


def write_page(scenario: Scenario, path: Path, over: list[str] | None, lang: str) -> int:
    """Write the page that needs no server."""
    from dumbbell.explore.export import write_export
    from dumbbell.terminal.console import progress_bar

    with progress_bar("running the positions of the sliders") as bar:
        write_export(scenario, path, over or (), language=lang, on_progress=bar.at_run)
    print_files([path], json=False)
    return 0
