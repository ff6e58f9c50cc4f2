"""The command line: `dumbbell`."""

from __future__ import annotations

import gc
import os
import re
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, cast

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command

from dumbbell._core import ENGINE_VERSION
from dumbbell.base.engine_compat import changed_since_build
from dumbbell.base.errors import DumbbellError, PrivilegeError, os_reason
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.cli.rootless import enter_user_namespace
from dumbbell.cli.streams import drop_unwritten, prepare_streams
from dumbbell.terminal.completion import COMPLETE, prepare
from dumbbell.terminal.console import error
from dumbbell.terminal.installed_commands import RootGroup
from dumbbell.terminal.lazy_command import LazyCommand, examples, with_plain_help

__all__ = ["invoke", "main"]

#: Exit codes: 0 ok, 1 a check failed, 2 bad usage or input, 130 Ctrl-C (128 + SIGINT).
BAD_INPUT = 2
INTERRUPTED = 130

#: What typer says of an argument too many, and the option that takes another result.
EXTRA, AGAINST = "Got unexpected extra argument", "--against"
#: What typer says of a value, and what we do.
VALUE_ERRORS = {
    "Input should be a valid integer.*": "use a whole number",
    "Input should be a valid number.*": "use a number",
    "Unable to parse input string as an integer.*": "use a smaller number",
    "Input should be greater than or equal to (.*)": r"use \2 or more",
    "Input should be less than or equal to (.*)": r"use at most \2",
    "Value error, '.*' is not one of (.*)": r"use one of \2",
}

#: In the order of `dumbbell --help`, with what that says of each: the first line of its own help.
#: Other packages add theirs: `installed_commands`.
COMMANDS = {
    "run": "Run congestion control algorithms on a network, or a scenario file.",
    "sweep": "Run every combination of values, repeated, and summarise each metric.",
    "explore": "Open a page with sliders for all of a scenario, drawn at once.",
    "emulate": "Run any program over an emulated path; say if the result is valid.",
    "emulate set": "Change the path of a running `emulate`.",
    "emulate enter": "Run a program, or a shell, in a host of a running `emulate`.",
    "emulate interop": "Replace the QUIC interop runner's network simulator.",
    "plot": "Draw runs, sweeps and captures, sized for print.",
    "report": "Write a run, sweep, analysis or reproduction as one HTML page.",
    "report export": "Write results as CSV, a LaTeX table or qlog.",
    "cc": "List congestion control algorithms; check or start your own.",
    "gate": "Find regressions: run a suite, and compare with a baseline.",
    "doctor": "Report what this machine can do, and how to get what is missing.",
    "validate": "Compare the simulator with the kernel on the same scenarios.",
    "compare": "Compare two sets of runs: B minus A, paired by seed.",
    "analyze": "Analyse TCP connections in packet captures.",
    "fit": "Find the path that explains a capture.",
    "what-if": "Predict what other algorithms would have got on a capture's path.",
    "identify": "Identify the congestion control algorithms in captures.",
    "model": "Predict what happens at a bottleneck, with formulas from papers.",
    "kernel": "Build, list and remove Linux kernels that run in virtual time.",
    "list": "List metrics, queue disciplines, traffic or releases of TCP.",
    "list metrics": "List the metrics, or print the formula and source of one.",
    "list queues": "List queue disciplines and impairments, or the parameters of one.",
    "list traffic": "List applications and distributions, or the parameters of one.",
    "list scenarios": "List the scenarios that come with dumbbell, or print one.",
    "list tcp": "List the releases of Linux that `--tcp` takes, or one's switches.",
    "archive": "Write runs, scenarios and sources to one file; verify such a file.",
    "archive verify": "Run an archive's runs again and compare them byte by byte.",
    "cache": "Show, prune and check the cache of runs.",
    "help": "Show a page of the guide, or the help of a command.",
    "docs": "Open the guide in the browser, or say where it is.",
}

#: Without its commands, which `command_line` adds: each is loaded when it is called.
app = typer.Typer(
    cls=RootGroup,
    name="dumbbell",
    help="Put any mix of congestion control algorithms on a network and see who gets what.",
    epilog=examples(
        "dumbbell run copa cubic --buffer 2bdp --time 30s",
        "dumbbell sweep copa cubic --buffer 1..64bdp --flows 1,4 --out results/buffers",
        "dumbbell report results/buffers",
    ),
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def show_version(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        typer.echo(f"dumbbell {ENGINE_VERSION}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=show_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Put any mix of congestion control algorithms on a network and see who gets what."""


def main() -> None:
    """Run the command line and leave with its exit code."""
    # Python's 700 would spend a tenth of a command's start on garbage that is not there.
    gc.set_threshold(50_000, 20, 20)
    prepare_streams()
    if COMPLETE in os.environ:
        prepare()
        command_line().main(prog_name="dumbbell", complete_var=COMPLETE)
    code = invoke(sys.argv[1:])
    gc.freeze()  # or Python would look for garbage in everything before it leaves, which takes long
    sys.exit(code)


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
        print_problem(problem, arguments)
        return BAD_INPUT
    except DumbbellError as problem:
        error(str(problem))
        return BAD_INPUT
    except KeyboardInterrupt as interrupt:
        error(f"interrupted{f': {interrupt}' if str(interrupt) else ''}")
        return INTERRUPTED
    except BrokenPipeError:
        # `dumbbell … | head` is not an error.
        drop_unwritten()
        return 1
    except (AttributeError, KeyError, TypeError) as problem:
        return blame_old_engine(problem)
    except MemoryError:
        error("out of memory; use fewer flows, a shorter run, or a longer `--sample`")
        return BAD_INPUT
    except OSError as problem:
        drop_unwritten()
        error(f"{problem.filename or 'stdout'}: cannot be read or written: {os_reason(problem)}")
        return BAD_INPUT


def print_problem(problem: TyperException, arguments: Sequence[str]) -> None:
    """Print what is wrong with a command line; its help where nothing but a command is missing."""
    if type(problem).__name__ == "NoArgsIsHelpError":
        typer.echo(problem.format_message())
        return
    message = message_of(problem, arguments)
    if message:
        error(message[:1].lower() + message[1:])


def blame_old_engine(problem: Exception) -> int:
    """Report an error inside that comes of an engine older than its sources; else raise it."""
    changed = changed_since_build()
    if not changed:
        raise problem
    traceback.print_exception(problem)
    error(f"{problem!r}: the engine may be too old: it is older than {changed}; run `make build`")
    return BAD_INPUT


def message_of(problem: TyperException, arguments: Sequence[str]) -> str:
    """Return what is wrong with a command line, and how it is right."""
    if hasattr(problem, "possibilities"):
        from dumbbell.terminal.unknown_option import unknown_option  # slow to load

        return unknown_option(problem, arguments)
    message = in_our_words(problem.format_message().strip().rstrip("."), arguments)
    if message.startswith(EXTRA):
        return message + option_for_more(problem)
    return message + example_of(problem) if message.startswith("Missing") else message


def option_for_more(problem: TyperException) -> str:
    """Return the option that takes a further argument of the same kind; nothing if none does."""
    command = getattr(getattr(problem, "ctx", None), "command", None)
    params = getattr(command, "params", ())
    return f"; use `{AGAINST}` for it" if any(AGAINST in each.opts for each in params) else ""


def example_of(problem: TyperException) -> str:
    """Return how the command that lacks something is called."""
    command = getattr(getattr(problem, "ctx", None), "command", None)
    first = (getattr(command, "epilog", None) or "").partition("\n")[0]
    return f"; use e.g. `{first}`" if first else ""


def in_our_words(message: str, arguments: Sequence[str]) -> str:
    """Return an error about an option's value as the others are; typer's come from pydantic."""
    if lacking := re.fullmatch("Option '(.*)' requires an argument", message):
        return f"`{lacking[1]}` needs a value: `{lacking[1]} VALUE`"
    for theirs, ours in VALUE_ERRORS.items():
        if found := re.fullmatch(f"Invalid value for '(.*?)': {theirs}", message):
            option = f"{found[1]} {value_of(found[1], arguments)}".rstrip()
            return found.expand(rf"invalid `{excerpt(option)}`: {ours}")
    return message


def value_of(option: str, arguments: Sequence[str]) -> str:
    """Return the value that an option was given; nothing of an argument's."""
    for word, after in zip(arguments, [*arguments[1:], ""], strict=True):
        name, equals, value = word.partition("=")
        if name == option:
            return value if equals else after
    return ""


def command_line() -> TyperGroup:
    """Return the command with all its commands."""
    command = cast("TyperGroup", with_plain_help(get_command(app)))
    for name, help_line in COMMANDS.items():
        command.add_command(LazyCommand(name, help_line))
    return command


def call(arguments: Sequence[str]) -> int:
    """Run a command; where it lacks what a user namespace gives, again inside one."""
    if arguments and arguments[0].startswith("mm-"):
        from dumbbell.cli.mahimahi import answer_mahimahi

        answer_mahimahi(arguments)
    if arguments and arguments[0] in ("tc", "netem"):
        from dumbbell.cli.tc import answer_tc

        answer_tc(arguments)
    command = command_line()
    try:
        with command.make_context("dumbbell", [*arguments]) as context:
            code = int(command.invoke(context) or 0)
    except PrivilegeError:
        # Raised before anything ran or was written.
        enter_user_namespace(arguments)
    # Here, where an error is reported in one line, and not when Python exits.
    sys.stdout.flush()
    return code
