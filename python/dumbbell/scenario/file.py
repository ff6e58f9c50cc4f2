"""Scenario files: TOML, with the fields of `Scenario`, `Link` and `Group` as keys."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import starmap
from pathlib import Path
from typing import Any

from dumbbell.base import documents
from dumbbell.base.documents import DocumentError
from dumbbell.base.errors import ScenarioError, os_reason
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.scenario import Group, Link, Scenario
from dumbbell.scenario.fields import field_meant, fields_of, suggest
from dumbbell.scenario.host import Host
from dumbbell.scenario.link import BOTTLENECK, UP, key_of_up_link
from dumbbell.scenario.scenario import shorthand_fields

__all__ = ["format_scenario", "line_of", "read_scenario"]

#: Words of a file that are lists of tables.
TABLES = ("link", "group")
#: The word of a group that is a table of its hosts' fields.
HOST = "host"
#: Where a file sets a scenario's, a link's and a group's fields.
PLACES = {Scenario: "above the first `[[…]]`", Link: "in a `[[link]]`", Group: "in a `[[group]]`"}
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
        line = line_of(text, error.key, error.group, error.link)
        where = f"{path}:{line}" if line else str(path)
        raise ScenarioError(
            f"{where}: {error}", key=error.key, group=error.group, link=error.link
        ) from None


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
    check_keys(document, Scenario)
    links = tables_of(document, "link", "link")
    if links:
        check_shorthand(document)
    groups = tables_of(document, "group", "group of flows")
    if not groups:
        raise ScenarioError('no flows; write a `[[group]]` with `cc = "copa"`')
    settings = {key: document[key] for key in document if key not in TABLES}
    return Scenario(
        starmap(build_group, enumerate(groups)),
        links=starmap(build_link, enumerate(links)),
        **settings,
    )


def tables_of(document: Mapping[str, Any], word: str, what: str) -> list[dict[str, Any]]:
    """Return the tables of a word: `[[link]]`."""
    tables = document.get(word, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ScenarioError(f"write each {what} as `[[{word}]]`", key=word)
    return tables


def check_shorthand(words: Mapping[str, Any]) -> None:
    """Refuse what describes the only link of a scenario without links."""
    for field in shorthand_fields():
        if field.name in words:
            raise ScenarioError(
                f"`{field.name}` cannot be combined with `[[link]]`; set it in a `[[link]]`",
                key=field.name,
            )


def build_link(index: int, table: Mapping[str, Any]) -> Link:
    """Build a `[[link]]`, the `index`-th of the file."""
    check_keys(table, Link, link=index)
    for key, example in (("name", "access"), ("rate", "20mbit")):
        has_own = key == "rate" and table.get("trace")  # whose mean rate it is
        if key not in table and not has_own:
            which = f" `{excerpt(table['name'])}`" if "name" in table else ""
            raise ScenarioError(
                f'the link{which} has no `{key}`; write `{key} = "{example}"`', link=index
            )
    try:
        return Link(**table)
    except ScenarioError as error:
        error.link = index
        raise


def build_group(index: int, table: Mapping[str, Any]) -> Group:
    """Build a `[[group]]`, the `index`-th of the file."""
    table = with_host(index, table)
    check_keys(table, Group, group=index)
    if "cc" not in table and "client" not in table:
        raise ScenarioError('the group has no `cc`; write `cc = "copa"`', group=index)
    try:
        return Group(**table)
    except ScenarioError as error:
        error.group = index
        raise


def with_host(index: int, table: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a group's words with those of its `[group.host]` among them."""
    host = table.get(HOST, {})
    own = {key: value for key, value in table.items() if key != HOST}
    if not isinstance(host, dict):
        message = "write the fields of the group's hosts as `[group.host]`, below the group's own"
        raise ScenarioError(message, key=HOST, group=index)
    for key in host:
        if key in fields_of(Group) and key not in fields_of(Host):
            message = f"`{key}` is not a field of hosts; set it in the `[[group]]`"
            raise ScenarioError(message, key=key, group=index)
        if key in own:
            message = f"`{key}` is set in the group and in its `[group.host]`; remove one"
            raise ScenarioError(message, key=key, group=index)
    check_keys(host, Host, group=index)
    return {**own, **host}


def check_keys(
    table: Mapping[str, Any], owner: type, *, group: int | None = None, link: int | None = None
) -> None:
    """Refuse an unknown key."""
    tables = TABLES if owner is Scenario else ()
    if owner is Scenario and "case" in table:
        raise ScenarioError("is a suite, not a scenario; use `dumbbell gate` with it", key="case")
    for key, value in table.items():
        if key not in fields_of(owner) and key not in tables:
            hint = elsewhere(key, value, owner) or suggest(key, [owner], tables)
            message = f"unknown key `{excerpt(key)}`{hint}"
            raise ScenarioError(message, key=key, group=group, link=link)


def elsewhere(key: str, value: Any, owner: type) -> str:
    """Return where a key belongs that this table does not have; empty where it has none."""
    if key == "engine":
        return "; a scenario runs on any engine: use `--engine kernel`"
    if of_up := key_of_up_link(key):
        return (
            f'; write two `[[link]]`, `name = "{BOTTLENECK}"` and `name = "{UP}"`, the second with '
            f'`{of_up} = "{excerpt(value)}"`, and in the `[[group]]` `route = ["{BOTTLENECK}"]` '
            f'and `back = ["{UP}"]`'
        )
    if field_meant(key, [owner]):
        return ""
    places = [place for each, place in PLACES.items() if key in fields_of(each)]
    return f"; set it {' or '.join(places)}" if places else ""


def line_of(text: str, key: str, group: int | None = None, link: int | None = None) -> int | None:
    """Return the line number, from 1, on which a scenario file sets a key.

    Parameters
    ----------
    text
        The file.
    key
        The key; empty for the group or link itself.
    group, link
        Index of the `[[group]]` or `[[link]]` the key is in; None for both: above all tables.

    Returns
    -------
    int or None
        None when the file does not set it.
    """
    wanted = ("group", group) if group is not None else ("link", link) if link is not None else None
    counts = dict.fromkeys(TABLES, -1)
    table: tuple[str, int] | None = None
    in_string = ""  # the quotes of the multi-line string that the line before left open
    for number, line in enumerate(text.splitlines(), start=1):
        was_in_string, in_string = in_string, open_string(line, in_string)
        if was_in_string:
            continue
        header = table_of(line)
        if header:
            if header in counts:
                counts[header] += 1
                table = (header, counts[header])
            else:
                table = table or ("", 0)
            if (not key and table == wanted) or (wanted is None and header == key):
                return number
        match = KEY.match(line)
        if match and table == wanted and key == (match[1] or match[2] or match[3]):
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
    """Write a scenario file; of its tables' fields only those that are not at their defaults."""
    words = scenario.to_dict()
    lines = [
        format_line(key, words[key]) for key in fields_of(Scenario) if words.get(key, "") != ""
    ]
    for link, table in zip(scenario.links, words.get("link", []), strict=not scenario.is_dumbbell):
        lines += ["", "[[link]]", *format_table(link, table, ("name", "rate"))]
    for group, table in zip(scenario.groups, words["group"], strict=True):
        lines += ["", "[[group]]", *format_table(group, table, ("cc", "flows"))]
    return "\n".join(lines) + "\n"


def format_table(owner: Link | Group, table: Mapping[str, Any], always: Sequence[str]) -> list[str]:
    """Write the lines of a link or group, those in `always` at their defaults too."""
    return [
        format_line(key, table[key])
        for key, field in fields_of(type(owner)).items()
        if key in always or not field.is_default(getattr(owner, key))
    ]


def format_line(key: str, value: Any) -> str:
    """Write `key = value`; JSON's strings, numbers and booleans are TOML's too."""
    return f"{key} = {json.dumps(value, ensure_ascii=False)}"
