"""Delivery traces in mahimahi's format: a file, a generator's, or written out.

A trace lists when a packet's bytes may pass, in milliseconds from its start: a line of a file each.
``FILE``, ``poisson:rate=3mbit`` and ``ms:runs=5x1;1x2*10`` name one; the last is what results have,
so that a result names no file.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Self

from dumbbell.base import documents
from dumbbell.base.documents import DocumentError
from dumbbell.base.errors import ScenarioError, nearest, os_reason
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.quantity import Rate, Size, Time
from dumbbell.scenario.kinds import Named
from dumbbell.scenario.parameter import FLAGS, listed
from dumbbell.scenario.trace_generators import GENERATORS, generate

__all__ = ["MAX_TIMES", "OPPORTUNITY_BYTES", "WRITTEN", "Trace", "TraceOf", "read_trace"]

#: What a line of a trace carries: mahimahi's packet on a TUN device with its four bytes of flags.
OPPORTUNITY_BYTES = 1504
#: Most bytes of a trace file: some two million lines.
MAX_TRACE_BYTES = 1 << 24
#: Most times of all traces of a scenario: what is read of files, and the ms of generators and what
#: they draw.
MAX_TIMES = 10_000_000
#: Longest trace, ms: three years.
MAX_LENGTH_MS = 100_000_000_000
#: A trace that is written out: pairs of ms since the last time and opportunities then.
WRITTEN, RUNS = "ms", "runs"
#: Parameters that every trace has.
COMMON = ("bytes", "once")

#: Milliseconds since the last time, and how many opportunities there are then.
Run = tuple[int, int]


@dataclass(frozen=True)
class Trace:
    """A delivery trace.

    Attributes
    ----------
    text
        The trace as a scenario has it, without the name of a file.
    runs
        Its times: the ms since the last one, and how many opportunities there are then.
    opportunity_bytes
        What an opportunity carries, of IP packets.
    once
        Whether nothing passes after its end, instead of the same again.
    label
        What tables call it: a file as it was written, with its parameters. It is no part of the
        trace.
    times
        How many times it took to make it, of which a scenario may have `MAX_TIMES`.
    """

    text: str
    runs: tuple[Run, ...] = field(compare=False, repr=False)
    opportunity_bytes: int = OPPORTUNITY_BYTES
    once: bool = False
    label: str = field(default="", compare=False)
    times: int = field(default=0, compare=False, repr=False)

    @classmethod
    def parse(cls, value: Trace | str, what: str = "trace") -> Self:
        """Read a generator's name and parameters, a trace that is written out, or a file's name."""
        if isinstance(value, cls):
            return value
        if not isinstance(value, str) or not value.strip():
            raise ScenarioError(
                f"{what} must be a file or one of {listed(GENERATORS)}, like `poisson:rate=3mbit`",
                key=what,
            )
        text = value.strip()
        try:
            # A file may change; what it says does not.
            return cls._parse(text) if cls.names_file(text) else cls._parse_again(text)
        except ScenarioError as error:
            raise ScenarioError(f"{what}: {error}", key=what) from None

    @classmethod
    def _parse(cls, text: str) -> Self:
        name, _, rest = text.partition(":")
        label = ""
        if name not in (*GENERATORS, WRITTEN):
            # A file's name may have a colon: parameters come after the last one.
            name, colon, rest = text.rpartition(":")
            if not colon or "=" not in rest:
                name, rest = text, ""
        settings = settings_of(rest, text)
        size = Size.parse(settings.pop("bytes", f"{OPPORTUNITY_BYTES}B"), "`bytes`", minimum=1)
        once = flag(settings.pop("once", "off"))
        common = [f"bytes={size}"] if int(size) != OPPORTUNITY_BYTES else []
        common += ["once=on"] if once else []
        if name in GENERATORS:
            runs, own, times = generate(name, settings, int(size))
        else:
            if name == WRITTEN:
                runs = tuple(expand_runs(settings.pop(RUNS, "")))
                times = len(runs)
            else:
                runs = read_trace(Path(name))
                label, times = text, sum(count for _, count in runs)
            if settings:
                raise ScenarioError(f"`{excerpt(text)}`: unknown parameter{unknown(settings)}")
            name, own = WRITTEN, [f"{RUNS}={write_runs(runs)}"]
        check_runs(runs)
        words = ",".join([*own, *common])
        return cls(f"{name}:{words}" if words else name, runs, int(size), once, label, times)

    @classmethod
    @functools.lru_cache(maxsize=16)
    def _parse_again(cls, text: str) -> Self:
        """Return what the same text was read as before: generators take a moment."""
        return cls._parse(text)

    @staticmethod
    def names_file(text: str) -> bool:
        """Whether a trace's text names a file."""
        return text.partition(":")[0] not in (*GENERATORS, WRITTEN)

    def __str__(self) -> str:
        return self.text

    @functools.cached_property
    def length_ms(self) -> int:
        """How long it is: its last time."""
        return sum(gap_ms for gap_ms, _ in self.runs)

    @functools.cached_property
    def count(self) -> int:
        """How many opportunities it has."""
        return sum(count for _, count in self.runs)

    @property
    def rate(self) -> Rate:
        """Its mean rate, of IP packets."""
        return Rate(max(1, self.count * self.opportunity_bytes * 8 * 1000 // self.length_ms))

    @property
    def in_words(self) -> str:
        """What it is, in a few words."""
        if not self.text.startswith(f"{WRITTEN}:"):
            return self.text
        once = ", once" if self.once else ""
        return f"of {Time(self.length_ms * 10**6)} with {self.count:,} opportunities{once}"

    @functools.cached_property
    def opportunities(self) -> list[list[int]]:
        """Its times as JSON has them; there may be 100,000, and every run asks for them."""
        return [list(run) for run in self.runs]

    def in_base_units(self) -> dict[str, object]:
        """Return it as the engine takes it."""
        return {
            "kind": "trace",
            "opportunities": self.opportunities,
            "opportunity_bytes": self.opportunity_bytes,
            "once": self.once,
        }


def settings_of(rest: str, text: str) -> dict[str, str]:
    """Read parameters written as ``parameter=value,…``."""
    settings: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in rest.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value:
            raise ScenarioError(
                f"`{excerpt(text)}`: parameter `{excerpt(key)}` has no value: "
                f"use `{excerpt(key)}=…`"
            )
        if key in settings:
            raise ScenarioError(f"`{excerpt(text)}` sets `{excerpt(key)}` twice; remove one")
        settings[key] = value
    return settings


def unknown(settings: Iterable[str]) -> str:
    """Write the first of parameters that there are not."""
    name = next(iter(settings))
    return f" `{excerpt(name)}`{nearest(name, COMMON)}"


def flag(text: str) -> bool:
    """Read `on` or `off`."""
    if text not in FLAGS:
        raise ScenarioError(f"`once` is `{excerpt(text)}`; use `on` or `off`")
    return FLAGS[text]


def read_trace(path: Path) -> tuple[Run, ...]:
    """Read a trace file of mahimahi's: in each line the ms from the start, in order.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    tuple
        The ms since the last time, and how many opportunities there are then.

    Raises
    ------
    ScenarioError
        The file is missing or not a trace; the message names it and the line.
    """
    try:
        content = documents.read_file(path, MAX_TRACE_BYTES)
    except FileNotFoundError:
        names = listed(GENERATORS)
        raise ScenarioError(f"{excerpt(path)}: no such file, and not one of {names}") from None
    except OSError as error:
        raise ScenarioError(f"{excerpt(path)}: {os_reason(error)}") from None
    except DocumentError as error:
        of_what = "; use a file of mahimahi's, a time in ms a line"
        raise ScenarioError(f"{path}: {error}{of_what}") from None
    except ValueError:  # a null character
        raise ScenarioError(f"{excerpt(path)}: not the name of a file") from None
    last_ms, times = 0, []
    for number, line in enumerate(content.splitlines(), start=1):
        word = line.strip()
        if not word.isdigit() or len(word) > len(str(MAX_LENGTH_MS)):
            shown = excerpt(word.decode("utf-8", "replace"))
            raise ScenarioError(
                f"{path}:{number}: `{shown}` is not a whole number of ms from the start, like `12`"
            )
        at_ms = int(word)
        if at_ms < last_ms:
            raise ScenarioError(
                f"{path}:{number}: {at_ms} ms is before the line above it, {last_ms} ms; times "
                "must not go back"
            )
        last_ms = at_ms
        times.append(at_ms)
    if last_ms == 0:
        raise ScenarioError(f"{path}: the trace ends at 0 ms; its last time must be above 0")
    return runs_of(times)


def runs_of(times_ms: Iterable[int]) -> tuple[Run, ...]:
    """Return the runs of times in order, from the start."""
    runs, last_ms = [], 0
    for at_ms, equal in groupby(times_ms):
        runs.append((at_ms - last_ms, sum(1 for _ in equal)))
        last_ms = at_ms
    return tuple(runs)


def write_runs(runs: Iterable[Run]) -> str:
    """Write runs: ``5x1;1x2*10`` is one opportunity after 5 ms, and two in each of ten ms more."""
    words = []
    for (gap_ms, count), equal in groupby(runs):
        times = sum(1 for _ in equal)
        words.append(f"{gap_ms}x{count}" + (f"*{times}" if times > 1 else ""))
    return ";".join(words)


def expand_runs(text: str) -> Iterator[Run]:
    """Read what `write_runs` wrote."""
    total = 0
    for word in text.split(";"):
        run, star, times = word.strip().partition("*")
        gap_ms, cross, count = run.partition("x")
        numbers = (gap_ms, count, times if star else "1")
        if not cross or not all(n.isascii() and n.isdigit() and len(n) < 13 for n in numbers):
            raise ScenarioError(
                f"`{RUNS}` has `{excerpt(word)}`; use the ms since the last time, `x`, the "
                "opportunities then, like `5x1;1x2*10`"
            )
        total += int(numbers[2])
        if total > MAX_TIMES:
            raise ScenarioError(f"`{RUNS}` has more than {MAX_TIMES:,} times")
        yield from [(int(gap_ms), int(count))] * int(numbers[2])


def check_runs(runs: tuple[Run, ...]) -> None:
    """Refuse a trace that cannot be played."""
    length_ms = sum(gap_ms for gap_ms, _ in runs)
    if not 0 < length_ms <= MAX_LENGTH_MS:
        raise ScenarioError(f"the trace ends at {length_ms} ms; use 1 to {MAX_LENGTH_MS} ms")
    if any(count == 0 for _, count in runs) or any(gap_ms == 0 for gap_ms, _ in runs[1:]):
        raise ScenarioError("the trace has a time without an opportunity, or a time twice")


class TraceOf(Named[Trace]):
    """A delivery trace."""

    def __init__(self) -> None:
        super().__init__(Trace.parse, "FILE|GENERATOR")
