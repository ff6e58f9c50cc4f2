"""`dumbbell emulate interop`: in the place of the QUIC interop runner's network simulator."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from dumbbell.base.errors import ScenarioError, os_reason
from dumbbell.cli.print_emulation import print_emulation
from dumbbell.interop import Plan, Simulator, read_plan
from dumbbell.interop.simulator import READY_PORT
from dumbbell.interop.wait_for_quic import wait_for_quic
from dumbbell.terminal import options
from dumbbell.terminal.console import print_line

__all__ = ["interop_command"]

#: What the help ends with.
EXAMPLES = (
    "dumbbell emulate interop \\\n"
    "  'simple-p2p --delay=15ms --bandwidth=10Mbps --queue=25' --logs captures",
    "dumbbell emulate interop \\\n"
    "  'rebind --delay=15ms --bandwidth=10Mbps --queue=25 --first-rebind=1s' \\\n"
    "  --logs captures --seed 4",
)
#: How often it is looked what has happened, s.
LOOK_EVERY_S = 0.1
#: Exit code of Ctrl-C; SIGTERM is how the simulator ends.
INTERRUPTED = 130


def interop_command(
    scenario: Annotated[
        str | None,
        typer.Argument(
            metavar="[SCENARIO]",
            envvar="SCENARIO",
            show_envvar=False,
            show_default="the environment's SCENARIO",
            help="One of simple-p2p, drop-rate, corrupt-rate, droplist, blackhole, rebind and "
            "tcp-cross-traffic, with its options, as one word: put it in quotes.",
        ),
    ] = None,
    *,
    client_interface: Annotated[
        str, typer.Option("--client-interface", metavar="NAME", help="The interface to the client.")
    ] = "eth0",
    server_interface: Annotated[
        str, typer.Option("--server-interface", metavar="NAME", help="The interface to the server.")
    ] = "eth1",
    logs: Annotated[
        Path,
        typer.Option(
            "--logs",
            metavar="DIR",
            rich_help_panel=options.OUTPUT,
            help="Where trace_node_left.pcap and trace_node_right.pcap are written.",
        ),
    ] = Path("/logs"),
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", min=0, max=2**63 - 1, show_default="random", help="Of all that is random."
        ),
    ] = None,
) -> int:
    """Replace the QUIC interop runner's network simulator.

    Packets from the client's network to the server's and back cross the scenario's path; all that
    passes either interface is captured. It is ready when TCP port 57832 is open, and ends with
    SIGTERM.
    """
    if scenario is None:
        raise ScenarioError("no scenario; set SCENARIO, or give it as an argument, in quotes")
    plan = read_plan(scenario)
    make_directory(logs)
    ends = Ends()
    if where := os.environ.get("WAITFORSERVER"):
        wait_for_quic(where, ends.event.is_set)
    if seed is None:
        seed = random.SystemRandom().randrange(2**63)
    with Simulator(plan, client_interface, server_interface, logs, seed) as simulator:
        say(describe(plan, seed))
        say(f"started at {time.time() - simulator.time_s:.6f}, listening on TCP port {READY_PORT}")
        while not ends.event.wait(LOOK_EVERY_S):
            for line in simulator.events():
                say(line)
        for line in simulator.events():
            say(line)
        result = simulator.stop()
    print_emulation(result)
    return ends.code


class Ends:
    """Signals that end the simulator."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self.code = 0
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.end)

    def end(self, number: int, _: FrameType | None) -> None:
        """Let it end."""
        self.code = INTERRUPTED if number == signal.SIGINT else 0
        self.event.set()


def say(line: str) -> None:
    """Print a line at once: others wait for what it says."""
    print_line(line)
    sys.stdout.flush()


def describe(plan: Plan, seed: int) -> str:
    """Say what the simulator does, so that it can be repeated."""
    given = {name: value for name, value in plan.options.items() if value not in (None, (), False)}
    words = []
    for name, value in given.items():
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        words.append(f"--{name}" if value is True else f"--{name}={text}")
    return f"scenario {plan.name} {' '.join(words)}, seed {seed}"


def make_directory(place: Path) -> None:
    """Make the directory of the captures if it is not there."""
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ScenarioError(f"--logs {place}: {os_reason(error)}; use another directory") from None
