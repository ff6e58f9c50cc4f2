"""Values that change in steps during a run: the link's rate, the base RTT."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar, Self

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.quantity import Quantity, Rate, Time

__all__ = ["MIN_RTT_NS", "RateSteps", "RttSteps", "Steps"]

#: Half of it is a direction's propagation; the simulator has none below 1 µs.
MIN_RTT_NS = 2_000


class Steps(tuple[tuple[Time, Any], ...]):
    """Later values: pairs of a time and the value from then on; empty if nothing changes."""

    __slots__ = ()

    #: The scenario's field.
    what: ClassVar[str]
    #: Class of the values, their minimum in base units, and their noun.
    kind: ClassVar[type[Quantity]]
    minimum: ClassVar[int]
    noun: ClassVar[str]
    examples: ClassVar[str]

    @classmethod
    def parse(cls, text: str | Steps) -> Self:
        """Read steps.

        Parameters
        ----------
        text
            ``"10s:5mbit, 20s:50mbit"``; steps are returned as they are.

        Returns
        -------
        Steps
            The steps, in order of time.
        """
        if isinstance(text, cls):
            return text
        if not isinstance(text, str):
            raise ScenarioError(
                f"{cls.what} must be a string like `{cls.examples}`, not `{excerpt(text)}`",
                key=cls.what,
            )
        steps = cls(cls._step(part) for part in text.split(",") if text.strip())
        for (before, _), (after, _) in pairwise(steps):
            if after <= before:
                raise ScenarioError(
                    f"{cls.what} `{excerpt(text)}` has `{after}` after `{before}`; "
                    "put the steps in order of time",
                    key=cls.what,
                )
        return steps

    @classmethod
    def _step(cls, part: str) -> tuple[Time, Quantity]:
        time, colon, value = part.partition(":")
        if not colon:
            raise ScenarioError(
                f"{cls.what} has `{excerpt(part.strip())}`, which is not a time and {cls.noun}; "
                f"use e.g. `{cls.examples.split(',')[0]}`",
                key=cls.what,
            )
        return (
            Time.parse(time.strip(), cls.what, minimum=1),
            cls.kind.parse(value.strip(), cls.what, minimum=cls.minimum),
        )

    def before(self, end: Time) -> list[Any]:
        """Return the later values of a run that ends at a time."""
        return [value for time, value in self if time < end]

    def __str__(self) -> str:
        return ", ".join(f"{time}:{value}" for time, value in self)

    @property
    def in_words(self) -> str:
        """The later values as text: ``, 5mbit from 10s on``; empty if there are none."""
        return "".join(f", {value} from {time} on" for time, value in self)


class RateSteps(Steps):
    """Later rates of a link: ``10s:5mbit, 20s:50mbit``."""

    __slots__ = ()

    what = "rate_steps"
    kind = Rate
    minimum = 1
    noun = "a rate"
    examples = "10s:5mbit, 20s:50mbit"


class RttSteps(Steps):
    """Later base RTTs of a path: ``20s:80ms, 40s:40ms``."""

    __slots__ = ()

    what = "rtt_steps"
    kind = Time
    minimum = MIN_RTT_NS
    noun = "an RTT"
    examples = "20s:80ms, 40s:40ms"
