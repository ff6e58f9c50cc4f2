"""A command line of tc's, answered with ours."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from dumbbell.base.errors import ScenarioError
from dumbbell.cli.netem import NO_DELAY_MS, Netem, read_netem
from dumbbell.cli.tc_values import AS_OURS, is_value, our_rate
from dumbbell.emulation.changes import CHANGEABLE
from dumbbell.scenario.element import queue_disciplines

__all__ = ["MORE", "answer", "answer_tc"]

#: Verbs that look.
SHOWS = ("show", "list", "ls", "get")
#: What tc calls parameters of CAKE's.
NAMES = {"bandwidth": "rate", "memlimit": "limit"}
#: Parameters of CAKE's that tc sets by the name of a choice alone.
CHOICES = ("tins", "isolation", "framing", "link_layer")
#: What it calls choices.
ACK_FILTERS = {
    "ack-filter": ("ack_filter", "normal"), "no-ack-filter": ("ack_filter", "off"),
    "ack-filter-aggressive": ("ack_filter", "aggressive"),
}  # fmt: skip
NETEM = "netem"
MORE = "and `dumbbell help coming-from` has more"


def answer_tc(words: Sequence[str]) -> None:
    """Refuse tc's command, or netem's arguments alone, with ours.

    Raises
    ------
    ScenarioError
        Always.
    """
    whose = "`tc` is iproute2's" if words[0] == "tc" else f"`{words[0]}` is tc's"
    raise ScenarioError(f"{whose}; {answer(list(words))}")


def answer(words: list[str]) -> str:
    """Return what does here what a command of tc's does."""
    objects = [word for word in words[1:] if not word.startswith("-")]
    if words[0] == "tc":
        if "filter" in objects[:1]:
            return (
                "a path has no filters: everything between `client` and `server` crosses it, and "
                "`dumbbell emulate` changes no device of yours"
            )
        if "del" in objects[:2] or "delete" in objects[:2]:
            return (
                "a path ends with the command that `dumbbell emulate … -- COMMAND` runs, and "
                "leaves nothing to delete"
            )
        is_shown = any(word in objects[:2] for word in SHOWS)
        if is_shown or ("add" not in words and any(word.startswith("-s") for word in words)):
            return (
                "`dumbbell emulate --live … -- COMMAND` shows a path while it runs; its summary, "
                "`--json` and `--out DIR` say what it did"
            )
    kind, arguments = kind_of(words)
    found = options_of(kind, arguments)
    if "change" in objects[:2]:
        return change_of(found)
    rate = {"--rate": found.options["--rate"]} if "--rate" in found.options else {}
    # Without it, ours would have 40 ms.
    options = {**rate, "--rtt": f"{found.rtt_ms or NO_DELAY_MS:g}ms", **found.options}
    if found.impair:
        options["--impair"] = "+".join(found.impair)
    ours = shlex.join(["dumbbell", "emulate", *(part for each in options.items() for part in each)])
    without = f" without `{shlex.join(found.left)}`" if found.left else ""
    return f"ours is `{ours} -- COMMAND`{without}, {MORE}"


def kind_of(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the queue discipline and its arguments."""
    known = (NETEM, "htb", *queue_disciplines())
    for at, word in enumerate(words):
        if word in known:
            return word, list(words[at + 1 :])
    return "", []


def options_of(kind: str, arguments: list[str]) -> Netem:
    """Return the options of a discipline's arguments."""
    if kind == NETEM:
        found = read_netem(arguments)
        if "--rate" not in found.options:
            # There the limit is of what is delayed; our queue never fills.
            limit = found.options.pop("--buffer", "").removesuffix("pkt")
            found.left += ["limit", limit] if limit else []
            found.options["--rate"] = "none"
        return found
    if kind == "htb":
        return of_htb(arguments)
    if not kind:
        return Netem({"--rate": "none"}, left=arguments)
    return of_queue(kind, arguments)


def of_htb(arguments: list[str]) -> Netem:
    """Return the options of htb: a class has a rate, its root has none."""
    found = Netem({"--rate": "RATE"})
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "rate" and rest:
            found.options["--rate"] = our_rate(rest.pop(0))
        else:
            found.left += [word, *([rest.pop(0)] if rest else [])]
    return found


def of_queue(kind: str, arguments: list[str]) -> Netem:
    """Return the option of a discipline, with the parameters that it has here too."""
    parameters = queue_disciplines()[kind].parameters
    choices = {
        word.replace("_", "-"): (name, word)
        for name, parameter in parameters.items()
        for word in (parameter.choices if name in CHOICES else parameter.names)
    }
    choices |= ACK_FILTERS if "ack_filter" in parameters else {}
    values: dict[str, str] = {}
    found, rest = Netem(), list(arguments)
    while rest:
        word = rest.pop(0)
        name = NAMES.get(word, word).replace("-", "_")
        if name in parameters and rest and is_value(rest[0]):
            value = rest.pop(0)
            values[name] = AS_OURS.get(parameters[name].unit, str)(value)
        elif word in choices:
            values |= dict([choices[word]])
        elif name in parameters and parameters[name].unit == "flag":
            values[name] = "on"
        elif name.removeprefix("no") in parameters and name.startswith("no"):
            values[name.removeprefix("no")] = "off"
        else:
            found.left += [word, *([rest.pop(0)] if rest and is_value(rest[0]) else [])]
    shaped = {"--rate": "none"} if "rate" in values else {}
    written = ",".join(f"{name}={value}" for name, value in values.items())
    found.options = {**shaped, "--queue": f"{kind}:{written}" if written else kind}
    return found


def change_of(found: Netem) -> str:
    """Return what changes a path that runs."""
    asked = {
        "rate": found.options.get("--rate"), "loss": found.options.get("--loss"),
        "rtt": f"{found.rtt_ms:g}ms" if found.rtt_ms else None,
    }  # fmt: skip
    changes = [f"{key}={value}" for key, value in asked.items() if value not in (None, "none")]
    left = [*found.impair, *found.left, *(found.options.get("--queue", "").split())]
    if not changes:
        return (
            f"`dumbbell emulate set NAME=VALUE` changes a path that runs: "
            f"{', '.join(CHANGEABLE)}; everything else stays as the path began"
        )
    without = f" without `{shlex.join(left)}`" if left else ""
    return f"ours is `{shlex.join(['dumbbell', 'emulate', 'set', *changes])}`{without}, {MORE}"
