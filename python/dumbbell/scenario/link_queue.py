"""The queue of a link: discipline, limit and ECN threshold, which have to fit together."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.quantity import U64_MAX, Buffer, Rate, Time
from dumbbell.scenario.element import QueueChoice
from dumbbell.scenario.parameter import LIMIT, ElementParameter

#: Drop-tail, which `ecn_threshold` makes `step`.
DROP_TAIL = ("bfifo", "pfifo")
STEP, THRESHOLD = "step", "threshold"

__all__ = ["DROP_TAIL_BUFFER", "LinkQueue"]

#: Limit of a discipline that has no default of its own: drop-tail.
DROP_TAIL_BUFFER = Buffer.parse("1bdp")
#: The most that a discipline holds which finds its own limit (`cake`): that of a Linux device.
DEVICE_LIMIT = Buffer.parse("10240pkt")


@functools.cache
def drop_tail(name: str) -> QueueChoice:
    """Return drop-tail without parameters, made once."""
    return QueueChoice(name)


@dataclass(frozen=True)
class LinkQueue:
    """A link's queue.

    Attributes
    ----------
    queue
        The discipline; None: drop-tail, in packets where `buffer` is.
    buffer
        How much may wait; None: the discipline's own limit.
    ecn_threshold
        Backlog above which a drop-tail queue marks: short for `step`; None: it does not.
    rate, rtt
        Whose product is a BDP.
    packet_bytes
        The largest packet on the wire, which converts between bytes and packets.
    """

    queue: QueueChoice | None
    buffer: Buffer | None
    ecn_threshold: Buffer | None
    rate: Rate
    rtt: Time
    packet_bytes: int

    @property
    def choice(self) -> QueueChoice:
        """The discipline, drop-tail if none is named."""
        if self.queue is not None:
            return self.queue
        in_pkts = self.buffer is not None and self.buffer.unit == "pkt"
        return drop_tail("pfifo" if in_pkts else "bfifo")

    @property
    def limit(self) -> Buffer:
        """How much may wait."""
        if self._given is not None:
            return self._given
        parameter = self._parameter
        if parameter.must_be_set:
            return DROP_TAIL_BUFFER
        if parameter.default is None:
            return DEVICE_LIMIT
        return Buffer.parse(parameter.default_text, LIMIT)

    @property
    def _given(self) -> Buffer | None:
        return self.choice.limit or self.buffer

    @property
    def _parameter(self) -> ElementParameter:
        return self.choice.declaration.parameters[LIMIT]

    @property
    def _unit(self) -> str:
        """What the limit counts: ``bytes`` or ``pkts``."""
        unit = self._parameter.unit
        if unit != "amount":
            return unit
        return "pkts" if self.limit.unit == "pkt" else "bytes"

    @property
    def _key(self) -> str:
        """Name of the field that gave the limit."""
        return "buffer" if self.choice.limit is None else "queue"

    @property
    def _name(self) -> str:
        return "buffer" if self._key == "buffer" else f"`{LIMIT}` of `{self.choice.name}`"

    def amount(self, of: Buffer, unit: str) -> int:
        """Return an amount in ``bytes`` or ``pkts``; packets are the largest."""
        if unit == "pkts":
            if of.unit == "pkt":
                return int(of.amount)
            return of.limit_bytes(self.rate, self.rtt) // self.packet_bytes
        if of.unit == "pkt":
            return int(of.amount) * self.packet_bytes
        return of.limit_bytes(self.rate, self.rtt)

    def check(self) -> None:
        """Refuse what does not fit together."""
        if self.buffer is not None and self.choice.limit is not None:
            raise ScenarioError(
                f"buffer `{self.buffer}` and `{LIMIT}` of queue `{self.choice}` are the same; "
                "remove one",
                key="buffer",
            )
        self._check_limit()
        self._check_threshold()

    def _check_limit(self) -> None:
        """Refuse a queue that holds no packet, or more than the engine can count."""
        limit, parameter = self.limit, self._parameter
        size = self.amount(limit, self._unit)
        if size == 0 or (self._unit == "bytes" and size < self.packet_bytes):
            in_bytes = self.amount(limit, "bytes")
            # The rate of a trace is its mean, which may be far from what its file seems to say.
            where = f", at {self.rate} and an RTT of {self.rtt}" if limit.unit == "bdp" else ""
            raise ScenarioError(
                f"{self._name} `{limit}` is {in_bytes} B, smaller than a packet{where}; "
                f"use at least `{self.packet_bytes}B`",
                key=self._key,
            )
        if size > min(parameter.max, U64_MAX):
            most = parameter.show(parameter.max)
            most = f"{parameter.max}B" if self._unit == "bytes" else most
            raise ScenarioError(
                f"{self._name} `{excerpt(limit)}` is too large; use at most `{most}`",
                key=self._key,
            )

    def _check_threshold(self) -> None:
        """Refuse a threshold that the discipline ignores or the queue never reaches."""
        key, threshold, limit = "ecn_threshold", self.ecn_threshold, self.limit
        name = self.choice.name
        if threshold is not None and name not in DROP_TAIL:
            parameters = self.choice.declaration.parameters
            instead = f"; use `{name}:ecn=on`" if "ecn" in parameters else ""
            instead = f"; use `{name}:{THRESHOLD}={threshold}`" if name == STEP else instead
            raise ScenarioError(f"queue `{name}` has no ecn_threshold{instead}", key=key)
        what = key
        if name == STEP:
            key, what, threshold = (
                "queue",
                f"`{THRESHOLD}` of `{STEP}`",
                self.choice.params[THRESHOLD],
            )
        if not isinstance(threshold, Buffer):
            return
        if (threshold.unit == "pkt") != (limit.unit == "pkt"):
            return
        unit = "pkts" if limit.unit == "pkt" else "bytes"
        if self.amount(threshold, unit) >= self.amount(limit, unit):
            raise ScenarioError(
                f"{what} `{threshold}` is not below {self._name} `{limit}`, so nothing "
                "would be marked; use a smaller threshold or a larger buffer",
                key=key,
            )

    def __str__(self) -> str:
        """Return ``buffer 1bdp`` or ``queue fq_codel, buffer 2bdp``."""
        if self.queue is None:
            return f"buffer {self.limit}"
        return f"queue {self.queue}" + (f", buffer {self.buffer}" if self.buffer else "")

    def to_engine(self) -> dict[str, Any]:
        """Return discipline and limit as the engine takes them."""
        choice = self.choice
        if self.ecn_threshold is not None:
            choice = QueueChoice(STEP, {THRESHOLD: self.ecn_threshold})
        limit: int | dict[str, int] | None = None
        finds_its_own = self._parameter.default is None and self._given is None
        if not finds_its_own:
            limit = self.amount(self.limit, self._unit)
            if choice.declaration.parameters[LIMIT].unit == "amount":
                limit = {self._unit: limit}
        return choice.in_base_units(limit, int(self.rate), self._with_unit)

    def _with_unit(self, of: Buffer) -> dict[str, int]:
        """Return an amount as the engine takes one with its unit."""
        unit = "pkts" if of.unit == "pkt" else "bytes"
        return {unit: self.amount(of, unit)}
