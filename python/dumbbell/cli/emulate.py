"""`dumbbell emulate`: any program over an emulated path."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.quantity import Time
from dumbbell.cli.command_in_host import CommandInHost
from dumbbell.cli.kept_results import Kept
from dumbbell.cli.live import command_live
from dumbbell.cli.mahimahi import answer_mahimahi
from dumbbell.cli.print_emulation import print_emulation
from dumbbell.cli.servers import Server, named, wait_until_ready
from dumbbell.cli.status_line import StatusLine
from dumbbell.cli.virtual import refuse_real_time, run_virtual
from dumbbell.emulation.control_socket import serve_control
from dumbbell.emulation.path import READY_TIMEOUT_S, EmulatedPath
from dumbbell.emulation.scenario import emulated_scenario
from dumbbell.emulation.way_out import WayOut, path_around
from dumbbell.run.capture import Capture
from dumbbell.scenario.link import BOTTLENECK, UP
from dumbbell.scenario.program import PortsOf
from dumbbell.terminal import options
from dumbbell.terminal.console import note, print_json
from dumbbell.terminal.field_options import Fields, with_path_options
from dumbbell.terminal.help import rare
from dumbbell.terminal.scenario_options import single_values

__all__ = ["emulate_command"]

#: What the help ends with.
EXAMPLES = (
    "dumbbell emulate --rtt 40ms -- ping -c 3 server",
    "dumbbell emulate --rate 12mbit --serve 'python3 -m http.server 80' \\\n"
    "  --ready tcp:80 -- curl -so /dev/null http://server/",
    "dumbbell emulate --rate 5mbit --loss 1% --with cubic:2 --interactive",
)
#: Panel of `--help`.
PROGRAMS = "Programs"


@with_path_options
def emulate_command(
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- COMMAND…]",
            help="What runs at the client.",
            show_default=False,
        ),
    ] = None,
    *,
    fields: Fields,
    serve: Annotated[
        list[str] | None,
        typer.Option(
            "--serve",
            metavar="COMMAND",
            rich_help_panel=PROGRAMS,
            show_default=False,
            help="What runs at the server meanwhile; may be given several times.",
        ),
    ] = None,
    ready: Annotated[
        list[str] | None,
        typer.Option(
            "--ready",
            metavar="tcp|udp:PORT",
            rich_help_panel=PROGRAMS,
            show_default=False,
            help="Wait until something listens there at the server.",
        ),
    ] = None,
    ready_timeout: Annotated[
        str,
        typer.Option(
            "--ready-timeout",
            metavar="TIME",
            rich_help_panel=rare(PROGRAMS),
            help="How long that may take.",
        ),
    ] = f"{READY_TIMEOUT_S:.0f}s",
    competitors: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="CC[:FLOWS]",
            rich_help_panel=PROGRAMS,
            show_default=False,
            help="Flows from server to client that compete meanwhile: `cubic:2`.",
        ),
    ] = None,
    competitors_up: Annotated[
        list[str] | None,
        typer.Option(
            "--with-up",
            metavar="CC[:FLOWS]",
            rich_help_panel=rare(PROGRAMS),
            show_default=False,
            help="The same from client to server.",
        ),
    ] = None,
    cc: Annotated[
        str | None,
        typer.Option(
            "--cc",
            metavar="CC",
            rich_help_panel=PROGRAMS,
            show_default="the kernel's",
            help="Algorithm of the programs' sockets: both ends.",
        ),
    ] = None,
    mtu: Annotated[
        str | None,
        typer.Option(
            "--mtu",
            metavar="SIZE",
            rich_help_panel=rare(PROGRAMS),
            show_default="1500B",
            help="MTU of both hosts' devices.",
        ),
    ] = None,
    internet: Annotated[
        bool,
        typer.Option(
            "--internet",
            rich_help_panel=PROGRAMS,
            help="Let the client reach the Internet: over IPv4, through the path.",
        ),
    ] = False,
    interactive: Annotated[
        bool,
        typer.Option(
            "--interactive", rich_help_panel=PROGRAMS, help="A shell at the client as the command."
        ),
    ] = False,
    virtual: Annotated[
        bool,
        typer.Option(
            "--virtual",
            rich_help_panel=PROGRAMS,
            help="Run in virtual time, on a kernel of `dumbbell kernel`: exact, and without root.",
        ),
    ] = False,
    kernel: Annotated[
        str | None,
        typer.Option(
            "--kernel",
            metavar="NAME",
            rich_help_panel=rare(PROGRAMS),
            show_default="the newest",
            help="The kernel of `--virtual`.",
        ),
    ] = None,
    keep_awake: Annotated[
        bool,
        typer.Option(
            "--keep-awake",
            rich_help_panel=rare(PROGRAMS),
            help="Keep idle CPUs from sleeping: packets on an idle path are 0.1 ms less late.",
        ),
    ] = False,
    live: options.Live = False,
    capture: Annotated[
        Path | None,
        typer.Option(
            "--capture",
            metavar="FILE",
            rich_help_panel=options.OUTPUT,
            help="Capture packets to this pcapng file: at both hosts and both sides of each link.",
        ),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(
            "--log",
            metavar="FILE",
            rich_help_panel=options.OUTPUT,
            help="Write what happened to each packet at each link to this file: `.arrow`, "
            "`.parquet` or `.csv`.",
        ),
    ] = None,
    downlink_log: Annotated[
        Path | None,
        typer.Option(
            "--downlink-log",
            metavar="FILE",
            rich_help_panel=rare(options.OUTPUT),
            help="The same of the link from server to client, in mahimahi's format.",
        ),
    ] = None,
    uplink_log: Annotated[
        Path | None,
        typer.Option(
            "--uplink-log",
            metavar="FILE",
            rich_help_panel=rare(options.OUTPUT),
            help="The same of the link from client to server.",
        ),
    ] = None,
    out_dir: options.Out = None,
    json: Annotated[
        bool,
        typer.Option(
            "--json",
            rich_help_panel=options.OUTPUT,
            help="Print the result as JSON; the command's output goes to stderr then.",
        ),
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", rich_help_panel=rare(options.OUTPUT), help="Do not print the summary."
        ),
    ] = False,
) -> int:
    """Run any program over an emulated path; say if the result is valid.

    The command runs on a host `client`. On another, `server`, runs what `--serve` starts, or
    `dumbbell emulate enter server -- COMMAND` from elsewhere. Between them is a link each way with
    the rate, delay, queue and impairments that the options say.
    Output, signals and the exit code are the command's own; the summary of the path goes to stderr.
    Its rates are over the time that the command ran, pauses included.
    """
    check_kernel(kernel, is_virtual=virtual)
    if virtual:
        refuse_real_time(
            {"--live": live, "--interactive": interactive, "--internet": internet,
             "--keep-awake": keep_awake}
        )  # fmt: skip
    words = words_of(command, interactive=interactive)
    kept = Kept(out_dir, log, {BOTTLENECK: downlink_log, UP: uplink_log})
    kept.check()
    timeout_s = Time.parse(ready_timeout, "--ready-timeout").seconds
    ports = [port for text in ready or () for port in PortsOf().parse(text, "--ready")]
    if ports and not serve:
        raise ScenarioError("`--ready` waits for a server; add `--serve COMMAND`")
    scenario = emulated_scenario(
        single_values(fields, "emulate"),
        client=words, cc=cc, mtu=mtu,
        competitors=competitors or (), competitors_up=competitors_up or (),
    )  # fmt: skip
    captured = None if capture is None else Capture(capture)
    if virtual:
        result, code = run_virtual(
            scenario, kernel, captured, kept,
            words=words, serve=serve or (), ready=[str(port) for port in ports],
            ready_timeout_s=timeout_s, output_to_stderr=json,
        )  # fmt: skip
    else:
        path = EmulatedPath(
            scenario,
            captured,
            keeps_packets=kept.needs_packets,
            keeps_awake=keep_awake,
            way_out=way_out_of(is_wanted=internet, has_servers=bool(serve)),
        )
        with path:
            servers = [Server(path, text, name) for name, text in named(serve or ())]
            wait_until_ready(path, servers, [str(port) for port in ports], timeout_s)
            with serve_control(path):
                if live:
                    code = command_live(path, words, output_to_stderr=json)
                else:
                    with StatusLine(path, is_wanted=not (quiet or interactive)):
                        code = CommandInHost(path.client, words, output_to_stderr=json).run()
            result = path.stop()
            for server in servers:
                server.print_rest()
            # Before anything is printed.
            kept.save(path)
    if json:
        print_json({**result.to_dict(), "exit_code": code})
    if not quiet:
        print_emulation(result, is_within=path_around() is not None)
        if code and serve and not ports:
            note("the server may not have listened yet: wait for it with `--ready tcp:PORT`")
        if out_dir is not None:
            note(f"saved in {out_dir}")
    return code


def check_kernel(kernel: str | None, *, is_virtual: bool) -> None:
    """Refuse the name of a kernel where none is chosen."""
    if kernel is not None and not is_virtual:
        raise ScenarioError("`--kernel` chooses a kernel for virtual time; add `--virtual`")


def words_of(command: Sequence[str] | None, *, interactive: bool) -> list[str]:
    """Return the words of what runs at the client."""
    if interactive:
        if command:
            raise ScenarioError("`--interactive` runs a shell; omit the command")
        return [os.environ.get("SHELL") or "/bin/sh"]
    if not command:
        raise ScenarioError("no command; write it after `--`, or use `--interactive`")
    answer_mahimahi(command)
    check_words(command)
    return list(command)


def check_words(command: Sequence[str]) -> None:
    """Refuse a command line in quotes, which is one word: no program has that name."""
    (line, *more) = command
    words = line.split()
    if not more and len(words) > 1 and shutil.which(line) is None:
        raise ScenarioError(
            f"`{excerpt(line)}` is one word; write the command without quotes, `-- "
            f"{excerpt(' '.join(words))}`, or for a shell `-- sh -c {excerpt(shlex.quote(line))}`"
        )


def way_out_of(*, is_wanted: bool, has_servers: bool) -> WayOut | None:
    """Return the way out: a path within a path leads on to the other's server."""
    around = path_around()
    if around is not None and has_servers:
        note("`server` is that of `--serve`, so the path around this one is not crossed")
        around = None
    return WayOut(around) if is_wanted or around is not None else None
