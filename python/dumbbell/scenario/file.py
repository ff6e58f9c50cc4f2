"""Scenario files: TOML, with the fields of `Scenario` and `Group` as keys."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dumbbell import documents
from dumbbell.documents import DocumentError
from dumbbell.errors import ScenarioError, os_reason
from dumbbell.quantities.excerpt import excerpt
from dumbbell.scenario import Group, Scenario
from dumbbell.scenario.fields import fields_of, suggest

__all__ = ["format_scenario", "line_of", "read_scenario"]

KEY = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*[=.]""")


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
    """Read a TOML file's text; an error is one line."""
    try:
        return documents.read_toml(path)
    except FileNotFoundError:
        raise ScenarioError(f"{path}: no such file") from None
    except OSError as error:
        raise ScenarioError(f"{path}: {os_reason(error)}") from None
    except DocumentError as error:
        raise in_file(path, error) from None


def parse_toml(path: Path, text: str) -> dict[str, Any]:
    """Parse TOML; an error names the line."""
    try:
        return documents.parse_toml(text)
    except DocumentError as error:
        raise in_file(path, error) from None


def in_file(path: Path, error: DocumentError) -> ScenarioError:
    """Add the file and the line to an error."""
    return ScenarioError(f"{path}:{error.line}: {error}" if error.line else f"{path}: {error}")


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
            raise ScenarioError(f"unknown key `{excerpt(key)}`{hint}", key=key, group=group)


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
        header = table_of(line)
        if header:
            table = (-1 if table is None else table) + (header == "group")
            if (not key and table == group) or (group is None and header == key):
                return number
        match = KEY.match(line)
        if match and table == group and key == (match[1] or match[2] or match[3]):
            return number
    return None


def table_of(line: str) -> str:
    """Return the table that a line begins, ``group`` of ``[[group]]``; empty if it begins none."""
    name, bracket, rest = line.strip().partition("]")
    after = rest.removeprefix("]").strip()
    is_header = name.startswith("[") and bracket and (not after or after.startswith("#"))
    return name.removeprefix("[").removeprefix("[").strip() if is_header else ""


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
