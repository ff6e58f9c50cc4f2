"""A scenario as text to take away: a command, a file, a program."""

from __future__ import annotations

import json
import shlex
from typing import Any

from dumbbell.base.documents import DocumentError, parse_toml
from dumbbell.base.errors import DumbbellError, ScenarioError
from dumbbell.scenario import Group, Link, Scenario
from dumbbell.scenario.fields import fields_of
from dumbbell.scenario.file import build_scenario
from dumbbell.sweeps.field import SETTABLE
from dumbbell.terminal.field_options import OPTION_FIELDS
from dumbbell.terminal.scenario_options import base_scenario

__all__ = ["as_command", "as_python", "scenario_of_toml"]


def scenario_of_toml(text: str) -> Scenario:
    """Return the scenario of a file's text.

    Raises
    ------
    ScenarioError
        It is no TOML, or has an invalid key or value.
    """
    try:
        return build_scenario(parse_toml(text))
    except DocumentError as error:
        raise ScenarioError(f"line {error.line}: {error}" if error.line else str(error)) from None


def as_command(scenario: Scenario) -> str:
    """Return the command line that runs a scenario; with its file where it needs one."""
    words = command_words(scenario) if scenario.is_dumbbell else []
    if words:
        return shlex.join(["dumbbell", "run", *words])
    return f"cat >scenario.toml <<'END'\n{scenario.to_toml()}END\ndumbbell run scenario.toml"


def command_words(scenario: Scenario) -> list[str]:
    """Return the arguments and options of a dumbbell; nothing if these cannot say all of it."""
    what = [str(group.cc) for group in scenario.groups]
    options = {
        name: text_of(field, value)
        for name, field in fields_of(Scenario).items()
        for value in [getattr(scenario, name)]
        if field.has_option and value is not None and not field.is_default(value)
    }
    of_all, settings = words_of_groups(scenario)
    options |= of_all
    names = [f"{at}={group.name}" for at, group in enumerate(scenario.groups) if group.name]
    names += [scenario.name] if scenario.name else []
    try:
        parsed = {name: OPTION_FIELDS[name].from_option(text) for name, text in options.items()}
        again = base_scenario(what, parsed, settings or None, None, names or None)
    except DumbbellError:
        return []
    if again.to_dict() != scenario.to_dict():
        return []
    words = [*what, *(word for name, text in options.items() for word in option_words(name, text))]
    for flag, texts in (("--set", settings), ("--name", names)):
        words += [word for text in texts for word in (flag, text)]
    return words


def words_of_groups(scenario: Scenario) -> tuple[dict[str, str], list[str]]:
    """Return the options of what all groups have alike, and the settings of what they have not."""
    options: dict[str, str] = {}
    settings: list[str] = []
    for name, field in fields_of(Group).items():
        if name in ("cc", "name") or not (field.is_axis or name in SETTABLE):
            continue
        values = [getattr(group, name) for group in scenario.groups]
        texts = ["" if field.is_default(each) else text_of(field, each) for each in values]
        if texts[0] and len(set(texts)) == 1 and name in OPTION_FIELDS:
            options[name] = texts[0]
        else:
            settings += [f"{at}.{name}={text}" for at, text in enumerate(texts) if text]
    return options, settings


def option_words(name: str, text: str) -> list[str]:
    """Return a field's option with its value; of a flag one word."""
    field = OPTION_FIELDS[name]
    if field.kind.is_flag and text in ("true", "false"):
        return [field.option if text == "true" else f"--no-{field.option[2:]}"]
    return [field.option, text]


def text_of(field: Any, value: Any) -> str:
    """Return a value as an option or a setting has it."""
    word = field.kind.to_word(value)
    if isinstance(word, list):
        return "+".join(word)
    return str(word).lower() if isinstance(word, bool) else str(word)


def as_python(scenario: Scenario) -> str:
    """Return a program that runs a scenario."""
    lines = ["import dumbbell", "", "scenario = dumbbell.Scenario(", "    ["]
    lines += [
        f"        {constructor('Group', group, ('cc', 'flows'))}," for group in scenario.groups
    ]
    lines.append("    ],")
    if not scenario.is_dumbbell:
        lines.append("    links=[")
        lines += [f"        {constructor('Link', link, ('name',))}," for link in scenario.links]
        lines.append("    ],")
    lines += [f"    {argument}," for argument in arguments(scenario, ())]
    return "\n".join([*lines, ")", "run = dumbbell.run(scenario)", "print(run.to_json())", ""])


def constructor(name: str, owner: Group | Link, first: tuple[str, ...]) -> str:
    """Return the call that makes a group or a link."""
    fields = fields_of(type(owner))
    given = [literal(fields[key].kind.to_word(vars(owner)[key])) for key in first]
    return f"dumbbell.{name}({', '.join([*given, *arguments(owner, first)])})"


def arguments(owner: Scenario | Group | Link, without: tuple[str, ...]) -> list[str]:
    """Return the named arguments of a constructor, without those at their defaults."""
    found = []
    for name, field in fields_of(type(owner)).items():
        value = vars(owner)[name]
        if name in without or value is None or field.is_default(value):
            continue
        found.append(f"{name}={literal(field.kind.to_word(value))}")
    return found


def literal(value: Any) -> str:
    """Write a value as a program has it, text in double quotes."""
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
