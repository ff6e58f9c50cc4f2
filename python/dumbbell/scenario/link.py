"""A link of a scenario: what it carries, how far it goes, and its queue."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from dumbbell import _core
from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.quantity import Buffer, Loss, Rate, Time
from dumbbell.base.quantities.steps import RateSteps
from dumbbell.scenario.element import Impair, ImpairmentChoice, Impairments, QueueChoice
from dumbbell.scenario.fields import PATH, Field, Of, documented, fields_of, to_engine
from dumbbell.scenario.kinds import Amount, Changes, Measure, Named
from dumbbell.scenario.link_queue import LinkQueue
from dumbbell.scenario.routes import LinkName, largest_packet_bytes
from dumbbell.scenario.trace import Trace, TraceOf

if TYPE_CHECKING:
    from dumbbell.scenario.scenario import Scenario

__all__ = ["BOTTLENECK", "UNLIMITED", "UP", "Link", "key_of_up_link", "write_steps"]

#: Name of a dumbbell's only link.
BOTTLENECK = "bottleneck"
#: Name of the link of the way back, and what its options begin with: `--up-rate`.
UP = "up"
#: At this rate and above, packets take no time that matters: 12 ns a full one.
UNLIMITED = Rate(10**12)


def write_steps(key: str) -> Any:
    """Return a function that writes steps as the engine takes them."""
    return lambda steps, *_: [{"at_ns": int(time), key: int(value)} for time, value in steps]


@documented
@dataclass(frozen=True)
class Link:
    """A link in one direction, with a queue before it."""

    name: Field[str, str] = Field(
        LinkName(), panel=PATH, example="access", option=False, axis=False,
        engine="name", always=True, synonyms=("id", "label"),
        doc="Name of the link, in routes and results: letters, digits, `-` and `_`.",
    )  # fmt: skip
    _: KW_ONLY
    rate: Of[Rate] = Field(
        Measure(Rate, 1), None, panel=PATH, example="20mbit", engine="link_rate_bps", always=True,
        synonyms=("bw", "bandwidth", "link_rate", "capacity", "speed"),
        default_note="required; with a `trace`, always its mean rate",
        doc="Capacity of the link; Ethernet, IP and TCP headers count.",
    )  # fmt: skip
    delay: Of[Time | None] = Field(
        Measure(Time, unit="ms"), None, panel=PATH, example="5ms", option=False,
        engine="delay_ns", synonyms=("latency", "propagation_delay"),
        default_note="`0s`; of the only link, half the shortest base RTT",
        doc="Propagation delay of the link, in its direction. What it leaves of a group's base "
        "RTT is before the group's first link and on its way back.",
    )  # fmt: skip
    buffer: Of[Buffer | None] = Field(
        Amount(), None, panel=PATH, example="2bdp",
        default_note="1bdp, or the `queue`'s own limit",
        synonyms=("limit", "queue_size", "buf"),
        doc="How much may wait before the link, in BDP, bytes or packets: the `limit` of its "
        "`queue`.",
    )  # fmt: skip
    queue: Of[QueueChoice | None] = Field(
        Named(QueueChoice.parse, "QUEUE"), None, panel=PATH, example="fq_codel:target=10ms",
        engine="queue", always=True,
        convert=lambda _, link, scenario: link.queue_in(scenario).to_engine(),
        default_note="bfifo; in packets pfifo",
        synonyms=("qdisc", "aqm", "discipline", "scheduler"),
        doc="Queue discipline of the link, with parameters: `fq_codel:target=10ms,ecn=off` "
        "(`dumbbell list queues` lists them).",
    )  # fmt: skip
    rate_steps: Of[RateSteps] = Field(
        Changes(RateSteps), "", panel=PATH, example=RateSteps.examples,
        engine="rate_steps", convert=write_steps("link_rate_bps"),
        doc="Changes of the link's capacity. A BDP is still that of `rate`.",
    )  # fmt: skip
    ecn_threshold: Of[Buffer | None] = Field(
        Amount(), None, panel=PATH, example="20pkt",
        synonyms=("mark_threshold", "k", "ce_threshold"),
        doc="Backlog above which a drop-tail link marks ECN-capable packets, in BDP, bytes or "
        "packets: short for the `queue` `step`.",
    )  # fmt: skip
    loss: Of[Loss] = Field(
        Measure(Loss), "0%", panel=PATH, example="0.1%", engine="random_loss_ppb",
        synonyms=("loss_rate", "plr", "drop", "drop_rate", "random_loss"),
        doc="Probability that a packet is lost at random: before it reaches the link's queue, as "
        "on a noisy link.",
    )  # fmt: skip
    impair: Field[Impairments, str | Sequence[str | ImpairmentChoice]] = Field(
        Impair(), "", panel=PATH, example="policer:rate=20mbit,burst=15kB", engine="impairments",
        convert=lambda impairments, link, _: impairments.without_medium(int(link.rate)),
        synonyms=("impairments", "netem", "policer", "medium"),
        doc="What else happens to packets before the link's queue or behind the link, in this "
        "order, and what carries them: a list, or text with `+` between them (`dumbbell list "
        "queues` lists them).",
    )  # fmt: skip
    trace: Of[Trace | None] = Field(
        TraceOf(), None, panel=PATH, example="cellular:rate=5mbit", sparse=True,
        synonyms=("mahimahi", "mm_link", "delivery_trace", "opportunities"),
        doc="When the link's packets may pass: a trace file in mahimahi's format, or a generator "
        "(`dumbbell help media`). The link's `rate` is always the trace's mean rate then.",
    )  # fmt: skip

    def __post_init__(self) -> None:
        if self.trace is not None:
            medium = self.impair.medium
            if medium is not None:
                raise ScenarioError(
                    f"a link with a `trace` cannot have `{medium.name}` as well, which carries its "
                    "packets too; remove one",
                    key="trace",
                )
            vars(self)["rate"] = self.trace.rate
        elif vars(self)["rate"] is None:
            raise TypeError("Link() needs `rate`")
        if self.has_medium and self.rate_steps:
            raise ScenarioError(
                f"rate_steps `{self.rate_steps}` cannot be combined with what carries the link's "
                "packets by itself, its `trace` or medium; remove one",
                key="rate_steps",
            )

    @property
    def has_medium(self) -> bool:
        """Whether its packets are not carried by a wire of its rate."""
        return self.trace is not None or self.impair.medium is not None

    def to_engine(self, scenario: Scenario) -> dict[str, Any]:
        """Return the link as the engine takes it: integers in base units."""
        resolved = to_engine(self, scenario)
        medium = self.impair.medium
        if not resolved.get("impairments", True):
            del resolved["impairments"]
        if medium is not None:
            resolved["medium"] = medium.in_base_units(link_rate=int(self.rate))
        elif self.trace is not None:
            resolved["medium"] = self.trace.in_base_units()
        return resolved

    def check_medium(self, scenario: Scenario) -> None:
        """Refuse a medium that does not fit the link's queue, as the engine does."""
        if self.impair.medium is None:
            return
        try:
            _core.check_medium(json.dumps(self.to_engine(scenario)))
        except _core.EngineError as error:
            raise ScenarioError(str(error), key="impair") from None

    @property
    def rates(self) -> list[Rate]:
        """The rates that it has, one after the other."""
        return [self.rate, *(rate for _, rate in self.rate_steps)]

    def queue_in(self, scenario: Scenario) -> LinkQueue:
        """Return the queue with the limit in force; 1 BDP is rate × `scenario.bdp_rtt`."""
        return LinkQueue(
            queue=self.queue,
            buffer=self.buffer,
            ecn_threshold=self.ecn_threshold,
            rate=self.rate,
            rtt=scenario.bdp_rtt(self),
            packet_bytes=largest_packet_bytes(self, scenario),
        )


def key_of_up_link(word: str) -> str:
    """Return ``rate`` for ``up_rate``, as commands call the field; empty for another word."""
    way, _, key = word.partition("_")
    return key if way == UP and key in fields_of(Link) else ""
