"""Names that users give to groups: in tables, legends, errors, `--set` and `--axis`."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.plain_value import check_text
from dumbbell.scenario.fields import fields_of
from dumbbell.scenario.kinds import Kind

if TYPE_CHECKING:
    from dumbbell.scenario.scenario import Scenario

__all__ = ["GroupName", "check_names"]

#: Most characters of a name: a legend and the head of a column have to hold it.
MAX_CHARACTERS = 32
#: What a name may have besides letters and digits. Axes, directories and labels use the rest.
PUNCTUATION = " -_()'"
#: What axes and labels begin with besides fields.
WORDS = ("link", "group", "host", "params", "all")


class GroupName(Kind[str]):
    """The name of a group."""

    metavar = "NAME"

    def parse(self, value: Any, what: str) -> str:
        """Read a name; `what` names the field in an error."""
        name = check_text(value, what)
        problem = self.problem_of(name)
        if problem:
            raise ScenarioError(f"invalid group name `{excerpt(name)}`: {problem}", key=what)
        return name

    def problem_of(self, name: str) -> str:
        """Say why text cannot be a name; nothing if it can."""
        if len(name) > MAX_CHARACTERS:
            return f"it has {len(name)} characters; use at most {MAX_CHARACTERS}"
        if "." in name:
            return "a dot is between a name and a field, as in `Thesis.rtt`; leave it out"
        # Letters, marks and digits of any script.
        of_words = [unicodedata.category(each)[0] in "LMN" for each in name]
        for each, is_of_word in zip(name, of_words, strict=True):
            if not (is_of_word or each in PUNCTUATION):
                allowed = " ".join(f"`{mark}`" for mark in PUNCTUATION.strip())
                return f"`{each}` cannot be in it; use letters, digits, spaces and {allowed}"
        if not name or not of_words[0] or name != name.strip():
            return "it must begin with a letter or digit and not end in a space"
        if name.isdecimal():
            return "a number is the index of a group, as in `0.rtt`; add a letter"
        if name in self.words_of_axes():
            return f"axes have this word, as in `--axis {name}=…`; use another"
        return ""

    def words_of_axes(self) -> set[str]:
        """Return the words that mean something else in `--axis` and `--set`."""
        from dumbbell.scenario.group import Group  # these need this module
        from dumbbell.scenario.link import Link
        from dumbbell.scenario.scenario import Scenario

        return {*WORDS, *(name for owner in (Scenario, Link, Group) for name in fields_of(owner))}


def check_names(scenario: Scenario) -> None:
    """Refuse names that would mean two groups."""
    named: dict[str, int] = {}
    for index, group in enumerate(scenario.groups):
        if group.name is None:
            continue
        if group.name in named:
            message = f"groups {named[group.name]} and {index} are both named `{group.name}`"
            raise ScenarioError(f"{message}; give each a name of its own", key="name", group=index)
        named[group.name] = index
    for index, group in enumerate(scenario.groups):
        if group.name is None and group.cc.name in named:
            other = named[group.cc.name]
            raise ScenarioError(
                f"`{group.cc.name}` is the name of group {other} and the algorithm of group "
                f"{index}; use another name",
                key="name",
                group=other,
            )
