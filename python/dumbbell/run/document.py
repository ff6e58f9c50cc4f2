"""`run.json`, which may be anyone's: what it must have, and of which type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dumbbell.base.errors import ResultError
from dumbbell.records.check import Unexpected, check_record, is_of
from dumbbell.records.declared import TEXT, WHOLE
from dumbbell.run.programs import PROGRAMS, TIME_IS_MEASURED

__all__ = ["check_document", "damaged"]

#: What to do about a damaged document.
REMEDY = "copy it again, or repeat the run"
#: Keys of the document, each with its type; and those of a group that do not follow from the flows.
DOCUMENT = {
    "scenario": dict, "engine": str, "engine_version": str, "seed": int, "duration_ns": int,
    "groups": list, "flows": list, "bottleneck": dict,
}  # fmt: skip
GROUP = {"group": int, "params": dict}
NAMES = {"cc": TEXT, "build": TEXT}
#: What a congestion control algorithm declares.
DECLARED = {"ops": list, "parameters": list, "series": list}
PARAMETER = {"name": TEXT, "unit": TEXT, "doc": TEXT, "min": WHOLE, "max": WHOLE, "default": WHOLE}
SERIES = {"name": TEXT, "unit": TEXT, "doc": TEXT}


def damaged(what: str) -> ResultError:
    """Return the error for a damaged document; its reader puts the file's name before it."""
    return ResultError(f"run.json is damaged: {what}; {REMEDY}")


def check_document(document: Mapping[str, Any]) -> None:
    """Refuse a document that lacks something, or has it in another type.

    Raises
    ------
    ResultError
        The message names the first place.
    """
    check_types("", document, DOCUMENT)
    for index, group in enumerate(document["groups"]):
        check_types(f"groups[{index}].", group, GROUP)
        check_values(f"groups[{index}].", group, NAMES)
        if "declared" in group:
            check_declared(f"groups[{index}].declared.", group["declared"])
    try:
        for index, flow in enumerate(document["flows"]):
            check_record("flow", flow, f"flows[{index}].")
        check_links(document)
        check_programs(document)
    except Unexpected as unexpected:
        raise damaged(str(unexpected)) from None
    groups = document["groups"]
    words = document["scenario"].get("group")
    if not isinstance(words, list) or len(words) != len(groups):
        raise damaged("`scenario.group` and `groups` are not the same groups")
    for index, group in enumerate(words):
        if not isinstance(group, dict) or not isinstance(group.get("cc"), str):
            raise damaged(f"`scenario.group[{index}].cc` is missing or not text")
    for index, flow in enumerate(document["flows"]):
        if not 0 <= flow["group"] < len(groups):
            raise damaged(f"`flows[{index}].group` is {flow['group']}, which is not a group")


def check_links(document: Mapping[str, Any]) -> None:
    """Refuse links that no result has; one of an earlier version has only its bottleneck."""
    check_record("link", document["bottleneck"], "bottleneck.", without=("name",))
    if "links" not in document:
        return
    check_types("", document, {"links": list})
    for index, link in enumerate(document["links"]):
        check_record("link", link, f"links[{index}].")
    names = [link["name"] for link in document["links"]]
    if len(set(names)) < len(names):
        raise damaged("two of `links` have one name")
    if document["bottleneck"] not in document["links"]:
        raise damaged("`bottleneck` is not one of `links`")


def check_programs(document: Mapping[str, Any]) -> None:
    """Refuse programs that no result has."""
    if TIME_IS_MEASURED in document:
        check_types("", document, {TIME_IS_MEASURED: bool})
    programs = document.get(PROGRAMS, [])
    if not isinstance(programs, list):
        raise damaged(f"`{PROGRAMS}` is not a list")
    for index, program in enumerate(programs):
        check_record("program", program, f"{PROGRAMS}[{index}].")
        if program["group"] >= len(document["groups"]):
            raise damaged(
                f"`{PROGRAMS}[{index}].group` is {program['group']}, which is not a group"
            )


def check_declared(place: str, declared: object) -> None:
    """Refuse what a congestion control algorithm cannot declare about itself."""
    check_types(place, declared, DECLARED)
    if not isinstance(declared, dict):
        return
    for index, each in enumerate(declared["parameters"]):
        check_values(f"{place}parameters[{index}].", each, PARAMETER)
    texts = {"ops": declared["ops"], "notes": declared.get("notes", [])}
    for index, each in enumerate(declared["series"]):
        check_values(f"{place}series[{index}].", each, SERIES)
        texts[f"series[{index}].labels"] = each.get("labels")
    for name, values in texts.items():
        if not isinstance(values, list) or not all(is_of(TEXT, value) for value in values):
            raise damaged(f"`{place}{name}` is not a list of texts")


def check_types(place: str, part: object, types: Mapping[str, type]) -> None:
    """Refuse a part that is not an object with keys of certain types."""
    if not isinstance(part, dict):
        raise damaged(f"`{place.rstrip('.')}` is not an object")
    for key, kind in types.items():
        if key not in part:
            raise damaged(f"`{place}{key}` is missing")
        if type(part[key]) is not kind:
            raise damaged(f"`{place}{key}` is of the type {type(part[key]).__name__}")


def check_values(place: str, part: object, kinds: Mapping[str, str]) -> None:
    """Refuse a part that lacks a value, or has one of another kind."""
    if not isinstance(part, dict):
        raise damaged(f"`{place.rstrip('.')}` is not an object")
    for key, kind in kinds.items():
        if key not in part:
            raise damaged(f"`{place}{key}` is missing")
        if not is_of(kind, part[key]):
            raise damaged(f"`{place}{key}` cannot be {part[key]!r:.40}")
