"""What is compared: an algorithm, or a program with a transport of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dumbbell.base.errors import ScenarioError
from dumbbell.congestion_control import CongestionControlChoice, congestion_controls
from dumbbell.run import SIMULATOR
from dumbbell.scenario import Group, Scenario

__all__ = ["Subject", "subject_of"]


@dataclass(frozen=True)
class Subject:
    """An algorithm or a program.

    Attributes
    ----------
    label
        The algorithm, or the program's file, as it was named: two of one label are the same.
    model
        The group that runs it.
    """

    label: str
    model: Group

    @property
    def is_program(self) -> bool:
        """Whether it is a program, of which nothing but its packets is seen."""
        return self.model.client is not None

    def group(self, **fields: Any) -> Group:
        """Return a flow of it, with fields of the path and the start."""
        return replace(self.model, **fields)


def subject_of(text: str, engine: str) -> Subject:
    """Return what is named: an algorithm, or the scenario file of a program.

    Raises
    ------
    ScenarioError
        It is not one, or needs another engine.
    """
    if text.endswith(".toml"):
        return program_of(text, engine)
    choice = CongestionControlChoice.parse(text)
    if choice.is_kernels_own and engine == SIMULATOR:
        plain = choice.kernel_name
        instead = f"`{plain}`" if plain in congestion_controls() else "a file or a built-in one"
        raise ScenarioError(
            f"`{text}` runs on a kernel only; use `--engine uml`, or {instead}", key="cc"
        )
    return Subject(str(choice), Group(choice))


def program_of(file: str, engine: str) -> Subject:
    """Return the one program of a scenario file."""
    groups = [group for group in Scenario.of(Path(file)).groups if group.client is not None]
    if len(groups) != 1:
        raise ScenarioError(
            f"{file}: has {len(groups)} groups with a `client`; conform takes an algorithm, or a "
            "file with one program; its paths are those of `--grid`"
        )
    if engine == SIMULATOR:
        raise ScenarioError(
            f"{file}: is a program, which the simulator does not run; use `--engine uml`"
        )
    return Subject(file, groups[0])
