"""The command line: `dumbbell`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import typer
from typer.exceptions import TyperException
from typer.main import get_command

from dumbbell.cli.analyze import analyze_command
from dumbbell.cli.cache import cache_app
from dumbbell.cli.cc import cc_app
from dumbbell.cli.compare import compare_command
from dumbbell.cli.console import error
from dumbbell.cli.doctor import doctor_command
from dumbbell.cli.gate import gate_command
from dumbbell.cli.metrics import metrics_command
from dumbbell.cli.model import model_app
from dumbbell.cli.plot import plot_command
from dumbbell.cli.report import report_command
from dumbbell.cli.reproduce import reproduce_command
from dumbbell.cli.rootless import enter_user_namespace
from dumbbell.cli.run import run_command
from dumbbell.cli.sweep import sweep_command
from dumbbell.cli.xval import xval_command
from dumbbell.errors import DumbbellError, PrivilegeError, os_reason

__all__ = ["app", "invoke", "main"]

#: Exit codes: 0 ok, 1 a check failed, 2 bad usage or input, 130 Ctrl-C (128 + SIGINT).
BAD_INPUT = 2
INTERRUPTED = 130

app = typer.Typer(
    name="dumbbell",
    help="Put any mix of TCP congestion controls on one bottleneck and see who gets what.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("run")(run_command)
app.command("sweep")(sweep_command)
app.command("plot")(plot_command)
app.command("report")(report_command)
app.command("reproduce")(reproduce_command)
app.command("xval")(xval_command)
app.command("analyze")(analyze_command)
app.command("gate")(gate_command)
app.command("compare")(compare_command)
app.command("metrics")(metrics_command)
app.command("doctor")(doctor_command)
app.add_typer(cache_app, name="cache")
app.add_typer(cc_app, name="cc")
app.add_typer(model_app, name="model")


@app.callback()
def root() -> None:
    """Put any mix of TCP congestion controls on one bottleneck and see who gets what."""


def main() -> None:
    """Run the command line and leave with its exit code."""
    if sys.prefix != sys.base_prefix:
        # Where the engine looks for a compiler from a wheel, activated or not.
        os.environ.setdefault("VIRTUAL_ENV", sys.prefix)
    sys.exit(invoke(sys.argv[1:]))


def invoke(arguments: Sequence[str]) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments
        Without the program's name.

    Returns
    -------
    int
        The exit code.
    """
    try:
        return call(arguments)
    except typer.Exit as leave:
        return leave.exit_code
    except TyperException as problem:
        message = problem.format_message().strip().rstrip(".")
        if message:
            error(message[:1].lower() + message[1:])
        return BAD_INPUT
    except DumbbellError as problem:
        error(str(problem))
        return BAD_INPUT
    except KeyboardInterrupt as interrupt:
        error(f"interrupted{f': {interrupt}' if str(interrupt) else ''}")
        return INTERRUPTED
    except BrokenPipeError:
        # `dumbbell … | head` is no error.
        drop_unwritten()
        return 1
    except OSError as problem:
        drop_unwritten()
        error(f"{problem.filename or 'stdout'}: cannot be read or written: {os_reason(problem)}")
        return BAD_INPUT


def call(arguments: Sequence[str]) -> int:
    """Run a command; where it lacks what a user namespace gives, again inside one."""
    command = get_command(app)
    try:
        with command.make_context("dumbbell", list(arguments)) as context:
            code = int(command.invoke(context) or 0)
    except PrivilegeError:
        # Raised before anything ran or was written.
        enter_user_namespace(arguments)
    # Here, where what goes wrong is told in a line, and not when Python leaves.
    sys.stdout.flush()
    return code


def drop_unwritten() -> None:
    """Let go of what stdout does not take; Python would complain of it again when it leaves."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
