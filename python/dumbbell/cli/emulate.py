"""`dumbbell emulate`: any program over an emulated path."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from dumbbell.base.errors import EngineError, ScenarioError
from dumbbell.base.quantities.quantity import Time
from dumbbell.capture_analysis.packet_log import check_format
from dumbbell.cli.command_in_host import CommandInHost
from dumbbell.cli.live import command_live
from dumbbell.cli.print_emulation import print_emulation
from dumbbell.cli.status_line import StatusLine
from dumbbell.emulation.control_socket import serve_control
from dumbbell.emulation.path import READY_TIMEOUT_S, EmulatedPath
from dumbbell.emulation.process import DEVNULL, STDERR, Process
from dumbbell.emulation.scenario import emulated_scenario
from dumbbell.run.capture import Capture
from dumbbell.run.directory import check_place
from dumbbell.scenario.program import PortsOf
from dumbbell.terminal import options
from dumbbell.terminal.console import note, print_json
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
#: How often servers are looked at, s.
LOOK_EVERY_S = 0.2
#: Panel of `--help`.
PROGRAMS = "Programs"


@options.with_path_options
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
    fields: options.Fields,
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
            show_default="at once",
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
    cc: Annotated[
        str | None,
        typer.Option(
            "--cc",
            metavar="CC",
            rich_help_panel=PROGRAMS,
            show_default="the kernel's",
            help="Congestion control of the programs' sockets: both ends.",
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
    interactive: Annotated[
        bool,
        typer.Option(
            "--interactive", rich_help_panel=PROGRAMS, help="A shell at the client as the command."
        ),
    ] = False,
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

    The command runs on a host `client`; another host is called `server`. What runs there is
    started by `--serve`, or by `dumbbell emulate enter server -- COMMAND` from elsewhere. Between
    them is a link each way with the rate, delay, queue and impairments that the options say.
    Output, signals and the exit code are the command's own; the summary of the path goes to stderr.
    """
    words = words_of(command, interactive=interactive)
    if log is not None:
        check_format(log)
    if out_dir is not None:
        check_place(out_dir)
    timeout_s = Time.parse(ready_timeout, "--ready-timeout").seconds
    ports = [port for text in ready or () for port in PortsOf().parse(text, "--ready")]
    if ports and not serve:
        raise ScenarioError("`--ready` waits for a server; add `--serve COMMAND`")
    scenario = emulated_scenario(
        single_values(fields, "emulate"),
        client=words, cc=cc, mtu=mtu, competitors=competitors or (),
    )  # fmt: skip
    path = EmulatedPath(
        scenario,
        None if capture is None else Capture(capture),
        keeps_packets=log is not None,
        keeps_awake=keep_awake,
    )
    with path:
        servers = [start_server(path, text) for text in serve or ()]
        wait_until_ready(path, servers, [str(port) for port in ports], timeout_s)
        with serve_control(path):
            if live:
                code = command_live(path, words)
            else:
                with StatusLine(path, is_wanted=not (quiet or interactive)):
                    code = CommandInHost(path.client, words, output_to_stderr=json).run()
        result = path.stop()
        if log is not None:
            path.packets().save(log)
    if out_dir is not None:
        result.save(out_dir)
    if json:
        print_json({**result.to_dict(), "exit_code": code})
    if not quiet:
        print_emulation(result)
        if out_dir is not None:
            note(f"saved in {out_dir}")
    return code


def words_of(command: Sequence[str] | None, *, interactive: bool) -> list[str]:
    """Return the words of what runs at the client."""
    if interactive:
        if command:
            raise ScenarioError("`--interactive` runs a shell; omit the command")
        return [os.environ.get("SHELL") or "/bin/sh"]
    if not command:
        raise ScenarioError("no command; write it after `--`, or use `--interactive`")
    return list(command)


def start_server(path: EmulatedPath, text: str) -> Process:
    """Start a program at the server; what it prints goes to stderr."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        message = f"--serve `{text}`: {str(error).lower()}; quote it as in a shell"
        raise ScenarioError(message) from None
    if not words:
        raise ScenarioError("`--serve` has no command; write e.g. `--serve 'iperf3 -s'`")
    # Ctrl-C is the client's command's.
    return path.server.popen(words, stdin=DEVNULL, stdout=STDERR, new_session=True)


def wait_until_ready(
    path: EmulatedPath, servers: Sequence[Process], ports: Sequence[str], timeout_s: float
) -> None:
    """Wait until servers listen; one that ends meanwhile is an error."""
    deadline = time.monotonic() + timeout_s
    for port in ports:
        while True:
            left_s = deadline - time.monotonic()
            try:
                path.server.wait_for(port, timeout=min(LOOK_EVERY_S, max(left_s, 0)))
                break
            except EngineError:
                refuse_failed(servers)
                if left_s <= LOOK_EVERY_S:
                    raise EngineError(
                        f"nothing listens at {port} of the server after {timeout_s:g} s; see what "
                        "it printed, or use `--ready-timeout`"
                    ) from None
    refuse_failed(servers)


def refuse_failed(servers: Sequence[Process]) -> None:
    """Report a server that has failed."""
    for server in servers:
        if code := server.poll():
            ended = f"exit code {code}" if code > 0 else f"signal {-code}"
            raise EngineError(f"`{shlex.join(server.args)}` ended with {ended}")
