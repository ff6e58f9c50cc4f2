"""The help of every command, as a terminal of 80 columns shows it."""

import inspect
import shlex
from typing import Any

import pytest

from dumbbell.cli import command_line
from dumbbell.terminal.field_options import SETTABLE

#: Lines and columns of a screen.
LINES, WIDTH = 45, 80
ROOT: Any = command_line()
LISTED = ROOT.list_commands(None)


def commands() -> dict[str, Any]:
    """Return every command by its words, `cc check` as `emulate set`."""
    found: dict[str, Any] = {"": ROOT}
    for name, command in ROOT.commands.items():
        loaded = command.load()
        found[name] = loaded
        found |= {f"{name} {part}": of for part, of in getattr(loaded, "commands", {}).items()}
    return found


COMMANDS = commands()


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("option", ["--help", "--help-all"])
def test_help_is_one_screen(name, option, cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    outcome = cli(*name.split(), option)
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert [line for line in lines if len(line) > WIDTH] == []
    if option == "--help":
        assert len(lines) <= LINES, (
            f"put options into a `rare` panel, or shorten their help: {name}"
        )


@pytest.mark.parametrize("name", COMMANDS)
def test_help_all_has_every_option_and_all_that_is_said_of_it(name, cli):
    shown = cli(*name.split(), "--help-all").out
    words = " ".join(shown.split())
    for param in COMMANDS[name].params:
        assert param.opts[0] in shown or param.metavar in shown
        assert " ".join((param.help or "").split()) in words


def test_help_says_what_it_leaves_out(cli):
    shown = cli("run", "--help").out
    assert "--rtt-dither" not in shown
    assert shown.splitlines()[-1].startswith("`dumbbell run --help-all` lists ")
    assert "--help-all" not in cli("doctor", "--help").out


def test_help_shows_commands_by_how_often_they_are_needed(cli):
    lines = cli("--help").out.splitlines()
    first, more = lines.index("Commands"), lines.index("More commands")
    assert [line.split()[0] for line in lines[first + 1 : more - 1]] == [
        "run", "sweep", "explore", "emulate", "plot", "report", "cc", "gate", "doctor",
    ]  # fmt: skip
    assert len(LISTED) <= 27


def test_help_lists_the_commands_of_a_command(cli):
    shown = cli("emulate", "--help").out
    for part in ("emulate set", "emulate enter", "emulate interop"):
        assert f"  {part} " in shown
    assert "tune ablate" in cli("tune", "--help").out


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("set", "emulate set"), ("enter", "emulate enter"), ("interop-sim", "emulate interop"),
        ("export", "report export"), ("metrics", "list metrics"), ("queues", "list queues"),
        ("traffic", "list traffic"), ("tcp", "list tcp"), ("ablate", "tune ablate"),
        ("verify", "archive verify"),
    ],
)  # fmt: skip
def test_an_old_name_works_and_says_the_new_one(old, new, cli):
    outcome = cli(old, "--help")
    assert outcome.code == 0
    assert outcome.out == cli(*new.split(), "--help").out
    assert outcome.err == (
        f"note: `dumbbell {old}` is `dumbbell {new}` now; the old name goes in the next release\n"
    )


def test_xval_is_another_name(cli):
    outcome = cli("xval", "--help")
    assert (outcome.out, outcome.err) == (cli("validate", "--help").out, "")


def test_help_names_the_defaults(cli):
    shown = cli("run", "--help").out
    for default in ("50mbit", "40ms", "1bdp", "60s"):
        assert f"[{default}" in shown
    shown = cli("run", "--help-all").out
    assert "[default: 10ms]" in " ".join(shown.split())
    assert "[default: (" not in shown


@pytest.mark.parametrize("command", ["run", "sweep", "validate", "gate"])
def test_every_command_has_the_options_of_every_field(command):
    """`SETTABLE` is derived from the declarations, so a new field has its option everywhere."""
    options = {option for param in COMMANDS[command].params for option in param.opts}
    assert {field.option for field in SETTABLE.values()} <= options


def test_help_groups_the_options_and_names_no_python_type(cli):
    lines = cli("sweep", "--help").out.splitlines()
    for panel in ("Path", "Flows", "Run", "Sweep", "Output"):
        assert panel in lines
    assert not any("<" in line for line in lines)


@pytest.mark.parametrize("name", [name for name in COMMANDS if name in ROOT.commands])
def test_help_lists_each_command_with_its_own_summary(name):
    summary = inspect.cleandoc(COMMANDS[name].help).partition("\n\n")[0].replace("\n", " ")
    assert ROOT.commands[name].help == summary


@pytest.mark.parametrize("name", [name for name in COMMANDS if name])
def test_help_has_examples_that_parse(name):
    """Each command's examples are accepted by its own options; nothing is run."""
    for line in (COMMANDS[name].epilog or "").replace("\\\n", "").splitlines():
        program, *words = shlex.split(line.rpartition("| ")[2])
        assert program == "dumbbell"
        assert words[: len(name.split())] == name.split()
        called = next(n for n in (2, 1) if " ".join(words[:n]) in COMMANDS)
        command = COMMANDS[" ".join(words[:called])]
        assert command.make_context(name, words[called:]).params is not None


@pytest.mark.parametrize("name", LISTED)
def test_every_command_has_an_example(name):
    assert any(of.epilog for each, of in COMMANDS.items() if each.split()[:1] == [name])


@pytest.mark.parametrize("arguments", [["run"], ["cc", "list"], ["cache"], ["model", "ware"]])
def test_h_is_help(arguments, cli):
    outcome = cli(*arguments, "-h")
    assert outcome.code == 0
    assert outcome.out == cli(*arguments, "--help").out
