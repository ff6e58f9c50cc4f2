"""A baseline on disk: one JSON file with a line per cell, to be kept in a repository."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dumbbell.base.errors import GateError, ResultError, os_reason
from dumbbell.base.result_file import read_json
from dumbbell.base.writing import errors_of_writing, write_file
from dumbbell.congestion_control.name_kinds import is_file
from dumbbell.congestion_control.quic import algorithm_of, split_params, stack_of
from dumbbell.gate.case import Observed, Subject
from dumbbell.gate.suite_file import build_suite
from dumbbell.gate.suite_result import CellResult, SuiteResult

__all__ = ["BASELINE", "FORMAT", "is_baseline", "load_baseline", "save_baseline", "shown_cc"]

#: Version of the file; docs/gate.md describes it.
FORMAT = 1
#: Its name in the baseline's directory.
BASELINE = "baseline.json"


def is_baseline(path: Path) -> bool:
    """Whether a path is a baseline's directory or file."""
    return (path / BASELINE).is_file() or (path.name == BASELINE and path.is_file())


def save_baseline(result: SuiteResult, directory: Path) -> Path:
    """Store a suite's result, completely or not at all.

    Parameters
    ----------
    result
        The baseline.
    directory
        Created if it does not exist; a baseline in it is replaced.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    GateError
        The directory holds something else.
    ResultError
        It cannot be written.
    """
    path = directory / BASELINE
    with errors_of_writing(directory):
        if directory.is_dir() and any(directory.iterdir()) and not path.exists():
            raise GateError(
                f"{directory}: is not empty and holds no baseline; name another directory"
            )
    return write_file(path, to_text(result, directory))


def to_text(result: SuiteResult, directory: Path) -> str:
    """Write a baseline: a head, then a line per cell, so that changes are lines of a diff."""
    head = {
        "format": FORMAT,
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "engine": result.engine,
        "engine_version": result.engine_version,
        "engine_build": result.engine_build,
        "cc": moved_cc(result.cc, Path.cwd(), directory),
        **({"qdisc": result.subject.qdisc} if result.subject.qdisc else {}),
        "builds": dict(result.builds),
        "suite_name": result.suite.name,
        "suite": result.suite.document,
    }
    lines = [
        json.dumps(cell_to_dict(cell), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        for cell in result.cells
    ]
    text = json.dumps(head, ensure_ascii=False, indent=1)[:-2]
    return text + ',\n "cells": [\n' + ",\n".join(lines) + "\n]}\n"


def cell_to_dict(cell: CellResult) -> dict[str, Any]:
    """Write a cell."""
    return {
        "case": cell.case,
        "cell": cell.cell,
        "seeds": cell.seeds,
        "verdicts": cell.verdicts,
        "reasons": cell.reasons,
        "values": values_to_list(cell.values),
        **({"reference": values_to_list(cell.reference)} if cell.reference else {}),
    }


def values_to_list(values: Mapping[Observed, Sequence[float | None]]) -> list[dict[str, Any]]:
    """Write the values of a cell or of its reference."""
    return [
        {"of": observed.subject, "metric": observed.metric, "values": of_reps}
        for observed, of_reps in values.items()
    ]


def load_baseline(path: Path) -> SuiteResult:
    """Read a baseline.

    Parameters
    ----------
    path
        Its directory or its file.

    Raises
    ------
    GateError
        There is no baseline, or it is of another version.
    """
    path = path / BASELINE if path.is_dir() else path
    try:
        document = read_json(path)
    except OSError as error:
        raise GateError(f"{path}: cannot be read: {os_reason(error)}") from None
    except ResultError as error:
        raise GateError(f"{error}; record it again") from None
    version = document.get("format") if isinstance(document, dict) else None
    if version != FORMAT:
        raise GateError(
            f"{path}: written in format {version}, this version reads {FORMAT}; record it again"
        )
    try:
        return SuiteResult(
            build_suite(document["suite_name"], document["suite"]),
            Subject(
                shown_cc(moved_cc(document["cc"], path.parent, Path.cwd())),
                document.get("qdisc", ""),
            ),
            document["engine"],
            document["engine_version"],
            document["engine_build"],
            document["builds"],
            tuple(cell_from_dict(cell) for cell in document["cells"]),
        )
    except (KeyError, TypeError) as error:
        raise GateError(f"{path}: not a baseline: {error!r}; record it again") from None
    except GateError as error:
        raise GateError(f"{path}: its suite: {error}; record it again") from None


def cell_from_dict(cell: dict[str, Any]) -> CellResult:
    """Read a cell."""
    return CellResult(
        cell["case"],
        cell["cell"],
        tuple(cell["seeds"]),
        tuple(cell["verdicts"]),
        values_from_list(cell["values"]),
        tuple(cell["reasons"]),
        values_from_list(cell.get("reference", [])),
    )


def values_from_list(entries: list[dict[str, Any]]) -> dict[Observed, tuple[float | None, ...]]:
    """Read the values of a cell or of its reference."""
    return {Observed(e["of"], e["metric"]): tuple(e["values"]) for e in entries}


def shown_cc(cc: str) -> str:
    """Return a congestion control algorithm's name for messages: a file by its shorter path."""
    name, params = split_params(moved_cc(cc, Path.cwd(), Path.cwd()))
    if is_file(name):
        file = algorithm_of(name)
        name = stack_of(name) + min(file, str(Path(file).resolve()), key=len)
    return f"{name}:{params}" if params else name


def moved_cc(cc: str, seen_from: Path, to: Path) -> str:
    """Return a congestion control algorithm's name relative to another directory.

    A source file is stored by its path from the baseline, so that a repository may be anywhere.
    """
    name, params = split_params(cc)
    if is_file(name):
        way = os.path.relpath(seen_from / algorithm_of(name), to)
        name = stack_of(name) + (way if "/" in way else f"./{way}")
    return f"{name}:{params}" if params else name
