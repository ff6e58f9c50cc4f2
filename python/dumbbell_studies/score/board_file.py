"""Board files: TOML with categories of cases, and the keys of scenario files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dumbbell.base.errors import DumbbellError, GateError, ScenarioError, nearest
from dumbbell.base.quantities import excerpt
from dumbbell.gate import (
    CASE_NAME,
    OF_ONLY_LINK,
    SCENARIO_WORDS,
    check_words,
    find_case_file,
    groups_of,
    links_of,
    read_case_file,
    shipped_in,
    table_of,
    text_of,
    warmup_of,
)
from dumbbell_studies.score.board import Board, Category
from dumbbell_studies.score.bound import Bound
from dumbbell_studies.score.draw import Draw, read_drawn
from dumbbell_studies.score.scored_case import ScoredCase

__all__ = ["build_board", "find_board", "read_board", "shipped_boards"]

#: Where dumbbell's own boards are.
SHIPPED = Path(__file__).parent / "boards"
#: Keys that a category sets for all its cases, and a case for itself.
SHARED = ("warmup", "axes", *SCENARIO_WORDS)
OF_BOARD = ("title", "source", "floor", "worst_share", "sets", "category", *SHARED)
OF_CATEGORY = ("name", "title", "why", "weight", "score", "draw", "case", *SHARED)
OF_CASE = ("name", "why", "weight", "score", "kernel", "link", "group", *SHARED)
#: Of the geometric mean, and of a category's score, unless a board says otherwise.
FLOOR, WORST_SHARE = 0.02, 0.5


def shipped_boards() -> dict[str, Path]:
    """Return the boards that come with dumbbell, by name."""
    return shipped_in(SHIPPED)


def find_board(name_or_path: str | Path) -> Board:
    """Read a board from its file, or one of dumbbell's own by its name.

    Raises
    ------
    GateError
        There is no such board, or it cannot be read.
    """
    return read_board(find_case_file(name_or_path, shipped_boards(), "a board or a board's file"))


def read_board(path: Path) -> Board:
    """Read a board's file.

    Raises
    ------
    GateError
        It is missing, not TOML, or has an invalid key or value; the message starts with the file
        and, if it is known, the line.
    """
    return read_case_file(path, lambda document: build_board(path.stem, document), headers_of)


def headers_of(error: GateError) -> list[tuple[str, int | None]]:
    """Return the headers under which an error's key is, with how many of each come before."""
    return [
        ("category", error.category),
        ("category.case", error.case),
        ("category.case.link", error.link),
        ("category.case.group", error.group),
    ]


def build_board(name: str, document: Mapping[str, Any]) -> Board:
    """Build a board from a parsed file.

    Raises
    ------
    GateError
        A key or a value is invalid.
    """
    check_words(document, OF_BOARD, "a board")
    categories: list[Category] = []
    for index, table in enumerate(tables_of(document, "category")):
        try:
            categories.append(build_category(table, document))
            check_name_is_new(categories[-1].name, [each.name for each in categories[:-1]])
        except (GateError, ScenarioError) as error:
            raise within(error, "category", table, category=index) from None
    if not categories:
        raise GateError("the board has no category; write a `[[category]]`")
    floor = number_of(document, "floor", FLOOR)
    worst_share = number_of(document, "worst_share", WORST_SHARE)
    for key, value in (("floor", floor), ("worst_share", worst_share)):
        if not 0 <= value <= 1 or (key == "floor" and value == 0):
            raise GateError(f"{key} is {value:g}; use a value above 0, at most 1", key=key)
    sets = table_of(document, "sets")
    board = Board(name, text_of(document, "title"), text_of(document, "source"),
                  tuple(categories), floor, worst_share, sets)  # fmt: skip
    for names in sets.values():
        if not isinstance(names, list):
            raise GateError(f"a set is a list of categories, not `{excerpt(names)}`", key="sets")
        board.only(names)
    return board


def within(
    error: GateError | ScenarioError, what: str, table: Mapping[str, Any], **index: int
) -> GateError:
    """Add to an error in which category or case it is."""
    name = table.get("name")
    where = f"{what} `{excerpt(name)}`: " if isinstance(name, str) else ""
    places = {key: getattr(error, key, None) for key in ("category", "case", "group", "link")}
    key = "axes" if error.key == "axis" and "axis" not in table else error.key
    return GateError(f"{where}{error}", key=key, **(places | index))


def build_category(table: Mapping[str, Any], board: Mapping[str, Any]) -> Category:
    """Build a `[[category]]`; keys that it does not set are the board's."""
    check_words(table, OF_CATEGORY, "a category")
    name = name_of(table, "category")
    shared = {key: board[key] for key in SHARED if key in board}
    shared |= {key: table[key] for key in SHARED if key in table}
    bounds = score_of(table)
    cases: list[ScoredCase] = []
    for index, words in enumerate(tables_of(table, "case")):
        try:
            cases.append(build_case(words, name, shared, bounds))
            check_name_is_new(cases[-1].name, [each.name for each in cases[:-1]])
        except (GateError, ScenarioError) as error:
            raise within(error, "case", words, case=index) from None
    if not cases:
        raise GateError("the category has no case; write a `[[category.case]]`")
    return Category(name, text_of(table, "title"), text_of(table, "why"), tuple(cases),
                    weight_of(table), draws_of(table, cases))  # fmt: skip


def build_case(
    table: Mapping[str, Any], category: str, shared: Mapping[str, Any], bounds: Mapping[str, Bound]
) -> ScoredCase:
    """Build a `[[category.case]]`; keys that it does not set are the category's."""
    check_words(table, OF_CASE, "a case")
    links = links_of(table)
    # A case with links has none of what the category says of the only one.
    words = {key: shared[key] for key in shared if not (links and key in OF_ONLY_LINK)}
    words |= {key: table[key] for key in SHARED if key in table}
    removed = [key for key, value in table.get("score", {}).items() if value is False]
    asked = {key: bounds[key] for key in bounds if key not in removed} | score_of(table)
    if not asked:
        raise GateError("nothing is scored; write a `[category.score]` or `[category.case.score]`")
    case = ScoredCase(
        name=name_of(table, "case"),
        why=text_of(table, "why"),
        words={key: words[key] for key in SCENARIO_WORDS if key in words},
        groups=tuple(groups_of(table)),
        axes=table_of(words, "axes"),
        reps=1,
        warmup=warmup_of(words),
        compared=(),
        criteria=(),
        links=tuple(links),
        category=category,
        bounds=tuple(asked.values()),
        weight=weight_of(table),
        kernel=kernel_of(table, words),
    )
    case.check()
    return case


def kernel_of(table: Mapping[str, Any], words: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the axes of a case on the kernel; `true` for its own, a table for others."""
    kernel = table.get("kernel", False)
    if isinstance(kernel, dict):
        return table_of(table, "kernel")
    if not isinstance(kernel, bool):
        raise GateError(f"kernel must be true, or a table of axes, not `{excerpt(kernel)}`",
                        key="kernel")  # fmt: skip
    return table_of(words, "axes") if kernel else None


def draws_of(table: Mapping[str, Any], cases: list[ScoredCase]) -> tuple[Draw, ...]:
    """Return how the cells of a category are drawn: one table, or several that take turns."""
    draws = table.get("draw", {})
    if not isinstance(draws, list):
        draws = [draws] if draws else []
    return tuple(draw_of({"draw": each}, cases, is_only=len(draws) == 1) for each in draws)


def draw_of(table: Mapping[str, Any], cases: list[ScoredCase], *, is_only: bool) -> Draw:
    """Return how cells like one of the category's cases are drawn; of several each has a name."""
    words = table_of(table, "draw")
    name = words.pop("case", cases[0].name)
    called = words.pop("name", "" if is_only else name)
    named = [case for case in cases if case.name == name]
    if not named:
        hint = nearest(str(name), [case.name for case in cases])
        raise GateError(f"draw: the category has no case `{excerpt(name)}`{hint}", key="draw")
    try:
        draw = Draw(named[0], read_drawn(words), called)
        draw.case_at(1, 0).check()
    except DumbbellError as error:
        raise GateError(f"draw: {error}", key="draw") from None
    return draw


def score_of(table: Mapping[str, Any]) -> dict[str, Bound]:
    """Return a table's bounds by metric."""
    bounds = {}
    score = table.get("score", {})
    if not isinstance(score, dict):
        raise GateError("score must be a table, `[category.score]`", key="score")
    for name, words in score.items():
        if words is False:
            continue
        try:
            if not isinstance(words, dict):
                raise GateError(f"`{name}` is `{excerpt(words)}`; write a table with good and bad")
            bounds[name] = Bound.parse(name, words)
        except GateError as error:
            error.key = name
            raise
    return bounds


def tables_of(table: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """Return a list of tables."""
    tables = table.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        raise GateError(f"write each {key} as a table of its own, `[[…{key}]]`", key=key)
    return tables


def name_of(table: Mapping[str, Any], what: str) -> str:
    """Return a category's or case's name."""
    name = table.get("name")
    if not isinstance(name, str) or not CASE_NAME.fullmatch(name):
        raise GateError(
            f"invalid name of a {what} `{excerpt(name)}`: use lower-case letters, digits, `-`, `_` "
            "and `.`",
            key="name",
        )
    return name


def check_name_is_new(name: str, earlier: list[str]) -> None:
    """Refuse two of one name."""
    if name in earlier:
        raise GateError(f"two are named `{name}`", key="name")


def weight_of(table: Mapping[str, Any]) -> float:
    """Return a weight, above 0."""
    weight = number_of(table, "weight", 1.0)
    if not (weight > 0 and math.isfinite(weight)):
        raise GateError(f"weight is {weight:g}; use one above 0", key="weight")
    return weight


def number_of(table: Mapping[str, Any], key: str, default: float) -> float:
    """Return a number."""
    value = table.get(key, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise GateError(f"{key} must be a number, not `{excerpt(value)}`", key=key)
    return float(value)
