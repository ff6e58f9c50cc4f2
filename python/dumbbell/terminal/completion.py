"""Shell completion: CCAs with their parameters, metrics, suites, papers, models.

Typer completes commands, options and what is listed here; the shell completes files.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dumbbell.scenario.element import Element

__all__ = [
    "COMPLETE",
    "complete_discipline",
    "complete_engines",
    "complete_impairment",
    "complete_metrics",
    "complete_models",
    "complete_queues",
    "complete_tcp",
    "complete_traffic",
    "complete_what",
    "matching",
    "prepare",
]

#: Environment variable by which a shell's script asks for completions.
COMPLETE = "_DUMBBELL_COMPLETE"
#: Where bash breaks words, unlike other shells.
BREAKS = ":="
#: What a stack's own algorithm is.
OF_A_STACK = "in QUIC, the stack's own"
#: Environment variable for what is before the last break of the word to complete.
BEFORE_BREAK = "_DUMBBELL_BEFORE_BREAK"


def prepare() -> None:
    """Get a process ready that only completes a command line."""
    from dumbbell.terminal.placeholders import PlaceholderImporter  # commands that run load none

    sys.meta_path.insert(0, PlaceholderImporter())
    os.environ["COLUMNS"] = "1000"  # a candidate's help is one line
    if os.environ[COMPLETE] == "complete_bash":
        join_broken_words()


def join_broken_words() -> None:
    """Undo bash's breaking of ``copa:mode`` into ``copa``, ``:`` and ``mode``.

    Of the word to complete, bash replaces what follows the last break only.
    """
    broken = os.environ.get("COMP_WORDS", "").split("\n")
    words: list[str] = []
    for word in broken[: 1 + int(os.environ.get("COMP_CWORD", "0"))]:
        if words and word and (word in BREAKS or words[-1].endswith(tuple(BREAKS))):
            words[-1] += word
        else:
            words.append(word)
    if not words[-1].startswith("-"):
        start = 1 + max(words[-1].rfind(mark) for mark in BREAKS)
        os.environ[BEFORE_BREAK], words[-1] = words[-1][:start], words[-1][start:]
    os.environ["COMP_WORDS"] = "\n".join(words)
    os.environ["COMP_CWORD"] = str(len(words) - 1)


def matching(incomplete: str, candidates: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the candidates that begin with a word."""
    return [each for each in candidates if each[0].startswith(incomplete)]


def complete_what(incomplete: str) -> list[tuple[str, str]]:
    """Complete a CCA: ``co``, ``copa@p``, ``copa:mode_``, ``copa:a=0,b``."""
    from dumbbell.congestion_control import congestion_controls
    from dumbbell.congestion_control.presets import presets_of
    from dumbbell.congestion_control.quic import QUIC, names_of_stacks

    known = congestion_controls()
    before = os.environ.get(BEFORE_BREAK, "")
    if (before + incomplete).startswith(QUIC):
        return complete_over_quic(before, incomplete)
    name, colon, parameters = (before + incomplete).partition(":")
    spelled, at, _ = name.partition("@")
    if at and not colon:
        presets = presets_of(spelled).items()
        return matching(incomplete, ((f"{spelled}@{each}", p.doc) for each, p in presets))
    if not colon:
        ours = [(each, cc.title) for each, cc in known.items()]
        return matching(incomplete, [*ours, *((each, OF_A_STACK) for each in names_of_stacks())])
    if spelled not in known:
        return []
    done = (name + colon + parameters[: 1 + parameters.rfind(",")]).removeprefix(before)
    return matching(
        incomplete, ((f"{done}{p.name}={p.default}", p.doc) for p in known[spelled].parameters)
    )


def complete_over_quic(before: str, incomplete: str) -> list[tuple[str, str]]:
    """Complete an algorithm over QUIC: ``quic/noq:b``, ``quic/noq:bbr3:mt``."""
    from dumbbell.base.errors import DumbbellError
    from dumbbell.congestion_control import congestion_controls, describe
    from dumbbell.congestion_control.quic import (
        algorithm_of,
        names_of_stacks,
        split_params,
        with_ours,
    )

    text = before + incomplete
    stack, colon, rest = text.partition(":")
    if ":" not in rest:
        known = congestion_controls()
        ours = [name for name, each in known.items() if not each.needs_ecn]
        names = with_ours(stack + colon, ours) if colon else names_of_stacks()
        own = set(names_of_stacks())
        titles = {
            name: OF_A_STACK if name in own else known[algorithm_of(name)].title for name in names
        }
        candidates = [(name, title) for name, title in titles.items() if name.startswith(text)]
    else:
        name, parameters = split_params(text)
        try:
            described = describe(name)
        except DumbbellError:
            return []
        done = f"{name}:{parameters[: 1 + parameters.rfind(',')]}"
        candidates = [
            (f"{done}{each.name}={each.default}", each.doc) for each in described.parameters
        ]
    return matching(incomplete, ((each.removeprefix(before), doc) for each, doc in candidates))


def complete_discipline(incomplete: str) -> list[tuple[str, str]]:
    """Complete the value of `--queue`: ``fq``, ``fq_codel:tar``, ``codel:ecn=off,ta``."""
    from dumbbell.scenario.element import queue_disciplines

    return complete_element(incomplete, queue_disciplines())


def complete_impairment(incomplete: str) -> list[tuple[str, str]]:
    """Complete the value of `--impair`, the last of several."""
    from dumbbell.scenario.element import impairments

    before, plus, last = incomplete.rpartition("+")
    found = complete_element(last, impairments())
    return [(f"{before}{plus}{word}", doc) for word, doc in found]


def complete_element(incomplete: str, known: Mapping[str, Element]) -> list[tuple[str, str]]:
    """Complete an element's name, or its parameters."""
    before = os.environ.get(BEFORE_BREAK, "")
    name, colon, parameters = (before + incomplete).partition(":")
    if not colon:
        return matching(incomplete, ((each, element.doc) for each, element in known.items()))
    if name not in known:
        return []
    done = (name + colon + parameters[: 1 + parameters.rfind(",")]).removeprefix(before)
    of = known[name].parameters.values()
    return matching(incomplete, ((f"{done}{p.name}={p.default_text}", p.doc) for p in of))


def complete_metrics(incomplete: str) -> list[tuple[str, str]]:
    """Complete a metric."""
    from dumbbell.metrics import METRICS

    return matching(incomplete, ((name, metric.title) for name, metric in METRICS.items()))


def complete_queues(incomplete: str) -> list[tuple[str, str]]:
    """Complete a queue discipline or an impairment."""
    from dumbbell.scenario.element import impairments, queue_disciplines

    known = {**queue_disciplines(), **impairments()}
    return matching(incomplete, ((name, each.doc) for name, each in known.items()))


def complete_tcp(incomplete: str) -> list[tuple[str, str]]:
    """Complete a release of Linux."""
    from dumbbell.scenario.linux_release import kernels

    return matching(incomplete, [(name, each.doc) for name, each in kernels().items()])


def complete_traffic(incomplete: str) -> list[tuple[str, str]]:
    """Complete an application or a distribution."""
    from dumbbell.scenario.distribution import distributions
    from dumbbell.scenario.traffic import applications

    docs = {each.name: each.doc for of in (applications(), distributions()) for each in of.values()}
    return matching(incomplete, docs.items())


def complete_models(incomplete: str) -> list[tuple[str, str]]:
    """Complete a model."""
    from dumbbell.models import MODELS

    return matching(incomplete, ((name, model.title) for name, model in MODELS.items()))


def complete_engines(incomplete: str) -> list[tuple[str, str]]:
    """Complete an engine."""
    from dumbbell.run.engine import KERNEL, SIMULATOR
    from dumbbell.run.guest import UML

    engines = (
        (SIMULATOR, ""),
        (KERNEL, "this machine's Linux TCP"),
        (UML, "a Linux kernel in virtual time"),
    )
    return matching(incomplete, engines)
