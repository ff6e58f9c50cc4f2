"""Scenario files: TOML, with the fields of `Scenario` and `Group` as keys."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dumbbell.errors import ScenarioError
from dumbbell.scenario import Group, Scenario
from dumbbell.scenario.fields import fields_of, suggest

__all__ = ["format_scenario", "line_of", "read_scenario"]

TABLE_HEADER = re.compile(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(#.*)?")
KEY = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*[=.]""")
ERROR_LINE = re.compile(r"(.*) \(at line (\d+), column \d+\)")


def read_scenario(path: Path) -> Scenario:
    """Read a scenario file.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    Scenario
        The scenario.

    Raises
    ------
    ScenarioError
        The file is missing, is not TOML or has an invalid key or value; the message starts with
        the file and, if there is one, the line.
    """
    text = read_text(path)
    document = parse_toml(path, text)
    try:
        return build_scenario(document)
    except ScenarioError as error:
        line = line_of(text, error.key, error.group)
        where = f"{path}:{line}" if line else str(path)
        raise ScenarioError(f"{where}: {error}", key=error.key, group=error.group) from None


def read_text(path: Path) -> str:
    """Read a text file; an error is one line."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ScenarioError(f"{path}: no such file") from None
    except OSError as error:
        raise ScenarioError(f"{path}: {(error.strerror or 'cannot be read').lower()}") from None
    except UnicodeDecodeError:
        raise ScenarioError(f"{path}: not TOML: not UTF-8 text") from None


def parse_toml(path: Path, text: str) -> dict[str, Any]:
    """Parse TOML; an error names the line."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = ERROR_LINE.fullmatch(str(error))
        if match is None:  # the error is at the end of the file
            raise ScenarioError(f"{path}: not TOML: {error}") from None
        raise ScenarioError(f"{path}:{match[2]}: not TOML: {match[1]}") from None


def build_scenario(document: Mapping[str, Any]) -> Scenario:
    """Build the scenario of a parsed file."""
    check_keys(document, Scenario, None)
    tables = document.get("group", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ScenarioError("write each group of flows as `[[group]]`", key="group")
    groups = [build_group(table, index) for index, table in enumerate(tables)]
    if not groups:
        raise ScenarioError('no flows; write a `[[group]]` with `cc = "copa"`')
    return Scenario(groups, **{key: document[key] for key in document if key != "group"})


def build_group(table: Mapping[str, Any], index: int) -> Group:
    """Build a `[[group]]`, the `index`-th of the file."""
    check_keys(table, Group, index)
    if "cc" not in table:
        raise ScenarioError('the group has no `cc`; write `cc = "copa"`', group=index)
    try:
        return Group(**table)
    except ScenarioError as error:
        error.group = index
        raise


def check_keys(table: Mapping[str, Any], owner: type, group: int | None) -> None:
    """Refuse an unknown key."""
    tables = ("group",) if owner is Scenario else ()
    for key in table:
        if key not in fields_of(owner) and key not in tables:
            hint = suggest(key, [owner], tables)
            if key == "engine":
                hint = "; a scenario runs on any engine: use `--engine kernel`"
            raise ScenarioError(f"unknown key `{key}`{hint}", key=key, group=group)


def line_of(text: str, key: str, group: int | None) -> int | None:
    """Return the line number, from 1, on which a scenario file sets a key.

    Parameters
    ----------
    text
        The file.
    key
        The key; empty for the group itself.
    group
        Index of the `[[group]]` the key is in; None for the keys above the groups.

    Returns
    -------
    int or None
        None when the file does not set it.
    """
    table: int | None = None
    in_string = ""  # the quotes of the multi-line string that the line before left open
    for number, line in enumerate(text.splitlines(), start=1):
        was_in_string, in_string = in_string, open_string(line, in_string)
        if was_in_string:
            continue
        header = TABLE_HEADER.fullmatch(line)
        if header is not None:
            table = (-1 if table is None else table) + (header[1] == "group")
            if (not key and table == group) or (group is None and header[1] == key):
                return number
        match = KEY.match(line)
        if match and table == group and key == (match[1] or match[2] or match[3]):
            return number
    return None


def open_string(line: str, quotes: str) -> str:
    """Return the quotes of the multi-line string that is open after a line."""
    for mark in re.findall(r'"""|\'\'\'', line):
        if not quotes:
            quotes = mark
        elif quotes == mark:
            quotes = ""
    return quotes


def format_scenario(scenario: Scenario) -> str:
    """Write a scenario file; of the groups' fields only those that are not at their defaults."""
    words = scenario.to_dict()
    lines = [format_line(key, words[key]) for key in fields_of(Scenario) if words[key] != ""]
    for group, table in zip(scenario.groups, words["group"], strict=True):
        kept = [
            key
            for key, field in fields_of(Group).items()
            if key in ("cc", "flows") or not field.is_default(getattr(group, key))
        ]
        lines += ["", "[[group]]", *(format_line(key, table[key]) for key in kept)]
    return "\n".join(lines) + "\n"


def format_line(key: str, value: str | int | bool) -> str:  # noqa: FBT001 -- a TOML value
    """Write `key = value`; JSON's strings, numbers and booleans are TOML's too."""
    return f"{key} = {json.dumps(value, ensure_ascii=False)}"
