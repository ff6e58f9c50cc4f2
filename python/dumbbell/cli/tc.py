"""A command line of tc's, answered with ours."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import pairwise

from dumbbell.base.errors import ScenarioError
from dumbbell.scenario.element import queue_disciplines

__all__ = ["answer_tc"]

#: Words of netem and of shapers, with our option, and what its values end in.
OPTIONS = {
    "delay": ("--rtt", ""), "loss": ("--loss", ""), "rate": ("--rate", ""),
    "limit": ("--buffer", "pkt"),
}  # fmt: skip


def answer_tc(words: Sequence[str]) -> None:
    """Refuse tc's command, with ours.

    Raises
    ------
    ScenarioError
        Always.
    """
    given = {
        option: f"{value}{unit}"
        for word, value in pairwise(words)
        for option, unit in [OPTIONS.get(word, ("", ""))]
        if option and value[:1].isdecimal()
    }
    queues = [word for word in words if word in queue_disciplines()]
    if queues:
        given["--queue"] = queues[-1]
    elif "--rate" not in given:
        given = {"--rate": "none", **given}
    ours = shlex.join(["dumbbell", "emulate", *(part for each in given.items() for part in each)])
    raise ScenarioError(
        f"`tc` is iproute2's; ours is `{ours} -- COMMAND`, and `dumbbell help coming-from` has more"
    )
