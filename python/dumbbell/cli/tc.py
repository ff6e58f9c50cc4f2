"""A command line of tc's, answered with ours."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from dumbbell.base.errors import ScenarioError
from dumbbell.scenario.element import queue_disciplines

__all__ = ["answer_tc"]

#: Words of netem and of shapers, with our option.
OPTIONS = {"delay": "--rtt", "loss": "--loss", "rate": "--rate", "limit": "--buffer"}
#: What rates, losses and delays are of, besides our queue disciplines.
KINDS = {"netem", "tbf", "htb"}
#: tc's units of sizes that are not ours.
UNITS = {"b": "B", "k": "kB", "kb": "kB", "m": "MB", "mb": "MB"}
#: The default, thus not ours to say.
DEFAULT = ["loss", "random"]


def answer_tc(words: Sequence[str]) -> None:
    """Refuse tc's command, with ours.

    Raises
    ------
    ScenarioError
        Always.
    """
    disciplines = queue_disciplines()
    kind = next((word for word in reversed(words) if word in KINDS or word in disciplines), "")
    given: dict[str, str] = {}
    left: list[str] = []
    option = ""
    for at, word in enumerate(words):
        if option and word[:1].isdecimal():
            given[option] = of_limit(word, kind) if option == "--buffer" else word
            option = ""
        elif word in OPTIONS:
            option = OPTIONS[word]
        elif kind in words[:at] and [words[at - 1], word] != DEFAULT:
            left.append(word)
            option = ""
    if kind in disciplines and kind not in KINDS:
        given["--queue"] = kind
    elif "--rate" not in given:
        given = {"--rate": "none", **given}
    ours = shlex.join(["dumbbell", "emulate", *(part for each in given.items() for part in each)])
    without = f" without `{shlex.join(left)}`" if left else ""
    raise ScenarioError(
        f"`tc` is iproute2's; ours is `{ours} -- COMMAND`{without}, and `dumbbell help "
        "coming-from` has more"
    )


def of_limit(value: str, kind: str) -> str:
    """Return a queue's limit as ours; a bare number is bytes for tbf, and else packets."""
    number = value.rstrip("bkm")
    if number == value:
        return value if not value.isdecimal() else value + ("B" if kind == "tbf" else "pkt")
    return number + UNITS.get(value[len(number) :], value[len(number) :])
