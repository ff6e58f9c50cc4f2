"""How a sweep differs from the one that its directory holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dumbbell.base.quantities.excerpt import excerpt

__all__ = ["differing", "set_words"]

#: Differences that are named; of more, how many.
MOST = 3
#: In place of a field that one of them does not have.
NOTHING = "–"


def differing(there: Mapping[str, Any], ours: Mapping[str, Any], keys: Sequence[str]) -> str:
    """Return in what two documents differ: ``rate is `50mbit` there and `20mbit` now``."""
    found = [each for key in keys for each in differences(key, there.get(key), ours.get(key))]
    shown = [
        f"{name} is `{excerpt(was)}` there and `{excerpt(now)}` now" for name, was, now in found
    ]
    more = [f"{len(found) - MOST} more differ"] if len(found) > MOST else []
    return ", ".join([*shown[:MOST], *more])


def differences(key: str, was: Any, now: Any) -> Iterator[tuple[str, str, str]]:
    """Yield the fields in which two values differ, each with both values."""
    if set_words(was) == set_words(now):
        return
    if key == "axes":
        of_both = [{axis["name"]: ",".join(axis["values"]) for axis in each} for each in (was, now)]
        yield from differences("axis", *of_both)
    elif isinstance(was, dict) and isinstance(now, dict):
        prefix = "" if key == "scenario" else f"{key} "
        for name in dict.fromkeys([*was, *now]):
            yield from differences(f"{prefix}{name}", was.get(name, ""), now.get(name, ""))
    elif is_list_of_tables(was) and is_list_of_tables(now) and len(was) == len(now):
        for index, pair in enumerate(zip(was, now, strict=True)):
            yield from differences(f"{key} {index}", *pair)
    else:
        yield key, written(was), written(now)


def is_list_of_tables(value: Any) -> bool:
    """Whether a value is the groups or links of a scenario."""
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def written(value: Any) -> str:
    """Return a value as a user writes it; of groups or links how many there are."""
    if is_list_of_tables(value):
        return f"{len(value)} of them"
    return str(value) or NOTHING


def set_words(value: Any) -> Any:
    """Return a scenario's words without those that are not set, some of which older files lack."""
    if not isinstance(value, dict):
        return value
    return {key: word for key, word in value.items() if word != ""}
