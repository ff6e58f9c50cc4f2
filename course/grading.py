"""Reads the answers in a lab's notebook. What they are compared with, a lab's test simulates."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["Answers"]

#: How a graded cell begins.
MARK = "# answer:"


class Answers:
    """The answers of a lab.

    Parameters
    ----------
    values
        By name; ``...`` stands for none.
    directory
        The lab's.
    failures
        Why cells failed, by the names that their first lines have.
    """

    def __init__(
        self,
        values: Mapping[str, Any],
        directory: Path,
        failures: Mapping[str, str] | None = None,
    ) -> None:
        self.values = values
        self.directory = directory
        self.failures = failures or {}

    @classmethod
    def of_directory(cls, directory: Path) -> Answers:
        """Read the answers in a lab's notebook, in whichever language they were written."""
        found = [run_cells(path, directory) for path in sorted(directory.glob("*.ipynb"))]
        answered = [each for each in found if each.has_any]
        if len(answered) > 1:
            names = " and ".join(path.name for path in sorted(directory.glob("*.ipynb")))
            raise AssertionError(f"there are answers in {names}: keep them in one notebook")
        return answered[0] if answered else cls({}, directory)

    @property
    def has_any(self) -> bool:
        """Whether anything was written."""
        return bool(self.failures) or any(not is_empty(value) for value in self.values.values())

    def __getitem__(self, name: str) -> Any:
        """Return an answer."""
        __tracebackhide__ = True
        if name in self.failures:
            raise AssertionError(
                f"the cell `{MARK} {name}` fails: {self.failures[name]}. A graded cell runs "
                "without the notebook's other cells: it imports what it needs"
            )
        value = self.values.get(name, ...)
        if is_empty(value):
            raise AssertionError(f"`{name}` has no answer: write it in the cell `{MARK} {name}`")
        return value

    def number(self, name: str) -> float:
        """Return an answer that is a number."""
        __tracebackhide__ = True
        return as_number(self[name], f"`{name}`")

    def numbers(self, name: str, keys: tuple[str, ...]) -> dict[str, float]:
        """Return an answer that has a number for each key."""
        __tracebackhide__ = True
        values = self.choices(name, keys)
        return {key: as_number(values[key], f"`{name}[{key!r}]`") for key in keys}

    def choices(self, name: str, keys: tuple[str, ...]) -> dict[str, Any]:
        """Return an answer that has something for each key."""
        __tracebackhide__ = True
        value = self[name]
        if not isinstance(value, dict):
            raise AssertionError(f"`{name}` is {value!r}: use a dict, as the cell has it")
        missing = [key for key in keys if is_empty(value.get(key, ...))]
        if missing:
            raise AssertionError(f"`{name}` has no answer for {', '.join(missing)}")
        return {key: value[key] for key in keys}

    def calls(self, name: str, *arguments: float) -> float:
        """Return what an answer that is a function returns."""
        __tracebackhide__ = True
        function = self[name]
        called = f"`{name}({', '.join(f'{each:g}' for each in arguments)})`"
        if not callable(function):
            raise AssertionError(f"`{name}` is {function!r}: it is to be a function")
        return as_number(result_of(function, called, arguments), called)


def run_cells(path: Path, directory: Path) -> Answers:
    """Run the graded cells of a notebook, and nothing else of it."""
    values: dict[str, Any] = {}
    failures = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
        first, _, _ = source.partition("\n")
        if cell["cell_type"] != "code" or not first.startswith(MARK):
            continue
        known = set(values)
        try:
            tree = ast.parse(source)
            exec(compile(tree, f"{path.name}, {first}", "exec"), values)
        except Exception as error:
            failures[first.removeprefix(MARK).strip()] = f"{type(error).__name__}: {error}"
            continue
        if any(isinstance(node, ast.Constant) and node.value is ... for node in ast.walk(tree)):
            # A function that still has the dots in which its body goes is no answer.
            new = {name for name in values if name not in known and callable(values[name])}
            values.update(dict.fromkeys(new, ...))
    values.pop("__builtins__", None)
    return Answers(values, directory, failures)


def is_empty(value: Any) -> bool:
    """Whether a cell was left as it was."""
    if isinstance(value, dict):
        return all(is_empty(each) for each in value.values())
    return value is ... or value is None or value == ""


def as_number(value: Any, what: str) -> float:
    """Return a number, without a unit."""
    __tracebackhide__ = True
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, (bool, str)) or not math.isfinite(number):
        raise AssertionError(f"{what} is {value!r}: it is to be a number")
    return number


def result_of(function: Callable[..., Any], called: str, arguments: tuple[float, ...]) -> Any:
    """Return what a student's function returns."""
    __tracebackhide__ = True
    try:
        result = function(*arguments)
    except Exception as error:
        raise AssertionError(f"{called} fails: {type(error).__name__}: {error}") from None
    if is_empty(result):
        raise AssertionError(f"{called} returns nothing: write the function's last line")
    return result
