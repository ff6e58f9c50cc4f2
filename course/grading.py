"""Reads the answers in a lab's notebook. What they are compared with, a lab's test simulates."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import time_limit
from time_limit import TimeLimitError

__all__ = ["Answers", "as_number", "check_each"]

Part = TypeVar("Part")

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
    assigned
        What cells assigned, by those names.
    """

    def __init__(
        self,
        values: Mapping[str, Any],
        directory: Path,
        failures: Mapping[str, str] | None = None,
        assigned: Mapping[str, list[str]] | None = None,
    ) -> None:
        self.values = values
        self.directory = directory
        self.failures = failures or {}
        self.assigned = assigned or {}

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
            raise AssertionError(f"the cell `{MARK} {name}` {self.failures[name]}")
        others = self.assigned.get(name)
        if others and name not in self.values:
            raise AssertionError(
                f"the cell `{MARK} {name}` assigns {', '.join(f'`{each}`' for each in others)}, "
                f"not `{name}`: use that name"
            )
        value = self.values.get(name, ...)
        if is_empty(value):
            raise AssertionError(f"`{name}` has no answer: write it in the cell `{MARK} {name}`")
        return value

    def number(self, name: str) -> float:
        """Return an answer that is a number."""
        __tracebackhide__ = True
        return as_number(self[name], f"`{name}`")

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
    failures, assigned = {}, {}
    for name, source in graded_cells(path):
        known = set(values)
        try:
            tree = ast.parse(source)
            with time_limit.time_limit():
                exec(compile(tree, f"{path.name}, {MARK} {name}", "exec"), values)
        except (Exception, TimeLimitError) as error:
            failures[name] = reason(error)
            continue
        new = [each for each in values if each not in known and each != "__builtins__"]
        assigned[name] = [each for each in new if not isinstance(values[each], ModuleType)]
        if any(isinstance(node, ast.Constant) and node.value is ... for node in ast.walk(tree)):
            # A function that still has the dots in which its body goes is no answer.
            values.update(dict.fromkeys((each for each in new if callable(values[each])), ...))
    values.pop("__builtins__", None)
    return Answers(values, directory, failures, assigned)


def graded_cells(path: Path) -> list[tuple[str, str]]:
    """Return the graded cells of a notebook: the name in the first line, and the source."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError) as error:
        raise AssertionError(
            f"{path.parent.name}/{path.name} is damaged ({type(error).__name__}: {error}): save it "
            "again in Jupyter, or write your answers into a new copy"
        ) from None
    marked = [source for source in sources if source.startswith(MARK)]
    return [(each.partition("\n")[0].removeprefix(MARK).strip(), each) for each in marked]


def reason(error: BaseException) -> str:
    """Return why a cell or a function of a student failed."""
    if isinstance(error, TimeLimitError):
        return f"has not returned within {time_limit.LIMIT_S:g} s: look for a loop without an end"
    said = f"fails: {type(error).__name__}: {error}"
    if isinstance(error, NameError) and not isinstance(error, UnboundLocalError):
        said += (
            ". A graded cell runs without the notebook's other cells: import or define in it "
            "what it uses"
        )
    return said


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
        with time_limit.time_limit():
            result = function(*arguments)
    except (Exception, TimeLimitError) as error:
        raise AssertionError(f"{called} {reason(error)}") from None
    if is_empty(result):
        raise AssertionError(f"{called} returns nothing: write the function's last line")
    return result


def check_each(check: Callable[[Part], None], parts: Iterable[Part]) -> None:
    """Check the parts of an answer, and say what is wrong with all of them."""
    __tracebackhide__ = True
    problems = []
    for part in parts:
        try:
            check(part)
        except AssertionError as error:
            problems.append(str(error))
    if problems:
        raise AssertionError("; ".join(problems))
