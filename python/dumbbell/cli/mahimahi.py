"""Command lines of mahimahi's, answered with ours."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dumbbell.base.errors import ScenarioError
from dumbbell.cli.netem import NO_DELAY_MS
from dumbbell.scenario.trace import read_trace

__all__ = ["COMMANDS", "answer_mahimahi", "ours"]

COMMANDS = ("mm-delay", "mm-link", "mm-loss", "mm-meter", "mm-onoff")
#: What dumbbell does instead of mahimahi's other commands.
INSTEAD = {
    **dict.fromkeys(
        ("mm-webrecord", "mm-webreplay"),
        "dumbbell neither records nor replays pages: run a web server with `dumbbell emulate "
        "--serve COMMAND`, or simulate readers with `dumbbell run cubic --traffic page`",
    ),
    **dict.fromkeys(
        ("mm-throughput-graph", "mm-delay-graph"),
        "`dumbbell plot DIR` draws what `dumbbell emulate --out DIR` saved",
    ),
}
#: What `mm-loss` and `mm-onoff` begin with.
WAYS = ("uplink", "downlink")
#: Traces that a command lacks.
UPLINK, DOWNLINK = "UPLINK", "DOWNLINK"
#: Without a link, packets take no time on one.
ANY_RATE = ("--rate", "none")
#: mahimahi adds no delay, and ours has to add some.
NO_DELAY = f"{NO_DELAY_MS:g}ms"
#: A queue that never fills: mahimahi's, unless its arguments say otherwise.
INFINITE = "1GB"
#: mahimahi's queues by ours; `droptail` is a `--buffer` alone.
QUEUES = {"codel": "codel", "pie": "pie", "infinite": "", "droptail": ""}
#: What the arguments of queues are called here; they are in ms.
ARGUMENTS = {"target": "target", "interval": "interval", "qdelay_ref": "target"}


@dataclass
class Translation:
    """What commands of mahimahi's say.

    Attributes
    ----------
    options
        Options of `dumbbell emulate`.
    queues
        Parameters of the queue of each way, by the option that names it.
    left
        Words that have no equivalent.
    """

    options: dict[str, str] = field(default_factory=dict)
    queues: dict[str, list[str]] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)

    def finish_queues(self) -> None:
        """Give the queues their parameters; a drop-tail one has none."""
        for option, parameters in self.queues.items():
            if option in self.options:
                self.options[option] += f":{','.join(parameters)}"
            else:
                self.left += [part.replace("ms", "") for part in parameters]
        self.queues = {}


def answer_mahimahi(words: Sequence[str]) -> None:
    """Refuse a command of mahimahi's that is not installed, or `mm-link`'s arguments, with ours.

    Raises
    ------
    ScenarioError
        It is one.
    """
    if not words:
        return
    if words[0] in {*COMMANDS, *INSTEAD}:
        if shutil.which(words[0]) is None:
            answer = INSTEAD.get(words[0]) or f"{lacking(words)}ours is {answer_of(words)}"
            raise ScenarioError(f"`{words[0]}` is mahimahi's; {answer}")
    elif len(words) > 1 and all(is_trace(Path(word)) for word in words[:2]):
        raise ScenarioError(
            f"that is `mm-link`'s order, the uplink's trace first; ours is "
            f"{answer_of(['mm-link', *words])}"
        )


def lacking(words: Sequence[str]) -> str:
    """Return what a command of mahimahi's lacks; empty if nothing."""
    name, *rest = words
    ways = " or ".join(f"`{way}`" for way in WAYS)
    if name in ("mm-loss", "mm-onoff") and rest and rest[0] not in WAYS:
        return f"it begins with {ways}; "
    if name == "mm-link" and DOWNLINK in ours(words):
        return "it takes two traces, the uplink's and the downlink's; "
    return ""


def is_trace(place: Path) -> bool:
    """Whether a file is a trace, and no program."""
    if not place.is_file() or os.access(place, os.X_OK):
        return False
    try:
        return bool(read_trace(place))
    except ScenarioError:
        return False


def ours(words: Sequence[str]) -> str:
    """Return our command for a command of mahimahi's, with those within it.

    Examples
    --------
    >>> ours(["mm-delay", "20", "mm-link", "up", "down", "ping", "server"])
    'dumbbell emulate --rtt 40ms --buffer 1GB --up-trace up --trace down -- ping server'
    """
    return translate(words)[0]


def answer_of(words: Sequence[str]) -> str:
    """Return our command, and what of theirs it does not have."""
    command, left = translate(words)
    return f"`{command}`" + (f" without `{shlex.join(left)}`" if left else "")


def translate(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return our command, and the words that have no equivalent."""
    found = Translation()
    rest = list(words)
    while rest and rest[0] in COMMANDS:
        rest = TRANSLATIONS[rest[0]](rest[1:], found)
    found.finish_queues()
    options = found.options
    if not {"--trace", "--up-trace", "--rate"} & set(options):
        options = {ANY_RATE[0]: ANY_RATE[1], **options}
    # Without it, ours would have 40 ms.
    options.setdefault("--rtt", NO_DELAY)
    given = [part for name, value in options.items() for part in (name, value) if part]
    command = ["--", *rest] if rest else ["--interactive"]
    return shlex.join(["dumbbell", "emulate", *given, *command]), found.left


def delay(words: Sequence[str], found: Translation) -> list[str]:
    """Read ``mm-delay MS``: of each way, so twice as much of both."""
    ms, rest = (words[0], words[1:]) if words else ("", [])
    options = found.options
    before = int(options.get("--rtt", "0ms").removesuffix("ms"))
    ms = ms.removesuffix("ms")
    options["--rtt"] = f"{before + 2 * int(ms)}ms" if ms.isdecimal() else "40ms"
    return list(rest)


def loss(words: Sequence[str], found: Translation) -> list[str]:
    """Read ``mm-loss uplink|downlink SHARE``."""
    way, words = way_of(words)
    share, *rest = [*words, *("",) * (1 - len(words))]
    try:
        percent = f"{100 * float(share):g}%"
    except ValueError:
        percent = "1%"
    found.options["--up-loss" if way == "uplink" else "--loss"] = percent
    return list(rest)


def way_of(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the way that words begin with, the way down if they do not, and the others."""
    return (words[0], words[1:]) if words and words[0] in WAYS else (WAYS[1], words)


def onoff(words: Sequence[str], found: Translation) -> list[str]:
    """Read ``mm-onoff uplink|downlink ON OFF``: mean times, s."""
    way, words = way_of(words)
    on, off, *rest = [*words, *("",) * (2 - len(words))]
    on, off = on or "2", off or "0.1"
    option = "--up-impair" if way == "uplink" else "--impair"
    found.options[option] = f"outage:on={on}s,off={off}s,exponential=on"
    return rest


def link(words: Sequence[str], found: Translation) -> list[str]:
    """Read ``mm-link UPLINK DOWNLINK [OPTION]… [COMMAND]``; options may stand anywhere before."""
    rest, once, is_constant = list(words), "", False
    options = found.options
    traces: list[str] = []
    while rest and (rest[0].startswith("-") or len(traces) < 2):
        word = rest.pop(0)
        if word == "--":
            break
        if not word.startswith("-"):
            traces.append(word)
            continue
        name, equals, value = word.partition("=")
        if name in WITH_VALUE and not equals and rest:
            value = rest.pop(0)
        once = ":once=on" if name == "--once" else once
        is_constant |= name == "--cbr"
        if name.startswith("--meter"):
            options["--live"] = ""
        elif name not in ("--once", "--cbr"):
            take_option(name, value, found)
    if options.setdefault("--buffer", INFINITE) != INFINITE:
        options.setdefault("--up-buffer", INFINITE)  # else the same as the other way's
    traces += [UPLINK, DOWNLINK][len(traces) :]
    # With `--cbr` they are rates.
    names = ("--up-rate", "--rate") if is_constant else ("--up-trace", "--trace")
    for option, trace in zip(names, traces, strict=False):
        options[option] = trace if is_constant else f"{trace}{once}"
    return rest


#: Options of `mm-link` with a value.
WITH_VALUE = tuple(
    f"--{way}-{what}" for way in ("uplink", "downlink") for what in ("log", "queue", "queue-args")
)


def take_option(name: str, value: str, found: Translation) -> None:
    """Translate an option of `mm-link`'s, or leave it."""
    way = "up-" if name.startswith("--uplink") else ""
    if name not in WITH_VALUE:
        found.left.append(f"{name}={value}" if value else name)
    elif name.endswith("-log"):
        found.options[name] = value
    elif name.endswith("-queue") and value in QUEUES:
        if QUEUES[value]:
            found.options[f"--{way}queue"] = QUEUES[value]
    elif name.endswith("-queue"):
        found.left.append(f"{name}={value}")
    else:
        for part in filter(None, (each.strip() for each in value.split(","))):
            key, _, number = part.partition("=")
            if key in ("bytes", "packets"):
                found.options[f"--{way}buffer"] = f"{number}{'B' if key == 'bytes' else 'pkt'}"
            elif key in ARGUMENTS:
                parameters = found.queues.setdefault(f"--{way}queue", [])
                parameters.append(f"{ARGUMENTS[key]}={number}ms")
            else:
                found.left.append(part)


def others(words: Sequence[str], found: Translation) -> list[str]:
    """Read what has no arguments of ours: ``mm-meter``."""
    found.options["--live"] = ""
    return [word for word in words if not word.startswith("--meter")]


TRANSLATIONS = {
    "mm-delay": delay, "mm-link": link, "mm-loss": loss, "mm-meter": others,
    "mm-onoff": onoff,
}  # fmt: skip
