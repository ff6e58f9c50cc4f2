"""Elements of the path: its rate, RTT, buffer, queue and losses, and how they change in time."""

from __future__ import annotations

from dumbbell.base.quantities.quantity import Loss, Rate, Time
from dumbbell.scenario_space.kind import ElementKind, Roles, Values, Words
from dumbbell.scenario_space.scale import Scale, linear, logarithmic

__all__ = [
    "BufferSize", "Flows", "LinkRate", "Outage", "Outages", "QueueDiscipline", "RandomLoss",
    "RateStep", "Rtt", "RttStep", "add_impairment", "in_ms",
]  # fmt: skip

#: What a space tries instead of drop-tail, by the number that stands for it.
DISCIPLINES = ("codel", "fq_codel", "pie", "fq_pie", "dualpi2")
#: Above, a run of 20 s takes more than a tenth of a second.
RATES_KBIT = logarithmic(1_000, 200_000)
RTTS_MS = logarithmic(4, 400)


def in_ms(time_ms: int) -> str:
    """Write a time: ``40ms``, ``1.5s``."""
    return str(Time(time_ms * 1_000_000))


def in_kbit(rate_kbit: int) -> str:
    """Write a rate: ``20mbit``."""
    return str(Rate(rate_kbit * 1000))


class LinkRate(ElementKind):
    """Another rate of the link."""

    name = "rate"

    def __init__(self) -> None:
        self.parameters = {"kbit": RATES_KBIT}

    def place(self, words: Words, values: Values, roles: Roles) -> None:  # noqa: ARG002
        """Set the rate."""
        words["rate"] = in_kbit(values["kbit"])

    def phrase(self, values: Values, roles: Roles) -> str:  # noqa: ARG002
        """Say nothing: the path's words have it."""
        return ""


class Rtt(ElementKind):
    """Another base RTT."""

    name = "rtt"

    def __init__(self) -> None:
        self.parameters = {"ms": RTTS_MS}

    def place(self, words: Words, values: Values, roles: Roles) -> None:  # noqa: ARG002
        """Set the base RTT."""
        words["rtt"] = in_ms(values["ms"])

    def phrase(self, values: Values, roles: Roles) -> str:  # noqa: ARG002
        """Say nothing: the path's words have it."""
        return ""


class BufferSize(ElementKind):
    """Another buffer, in hundredths of a BDP."""

    name = "buffer"

    def __init__(self) -> None:
        self.parameters = {"percent": logarithmic(10, 6_400)}

    def place(self, words: Words, values: Values, roles: Roles) -> None:  # noqa: ARG002
        """Set the buffer."""
        words["buffer"] = f"{values['percent'] / 100:g}bdp"

    def phrase(self, values: Values, roles: Roles) -> str:  # noqa: ARG002
        """Say nothing: the path's words have it."""
        return ""


class QueueDiscipline(ElementKind):
    """Another queue discipline than drop-tail."""

    name = "queue"

    def __init__(self) -> None:
        self.parameters = {"discipline": linear(0, len(DISCIPLINES) - 1, 1)}

    def place(self, words: Words, values: Values, roles: Roles) -> None:  # noqa: ARG002
        """Set the discipline."""
        words["queue"] = DISCIPLINES[values["discipline"]]

    def phrase(self, values: Values, roles: Roles) -> str:  # noqa: ARG002
        """Say nothing: the path's words have it."""
        return ""


class RandomLoss(ElementKind):
    """Random losses, in millionths."""

    name = "loss"

    def __init__(self) -> None:
        self.parameters = {"ppm": logarithmic(10, 50_000)}

    def place(self, words: Words, values: Values, roles: Roles) -> None:  # noqa: ARG002
        """Set the probability."""
        words["loss"] = str(Loss(values["ppm"] * 1000))

    def phrase(self, values: Values, roles: Roles) -> str:  # noqa: ARG002
        """Say nothing: the path's words have it."""
        return ""


class Flows(ElementKind):
    """More flows of the congestion control algorithm under test.

    Parameters
    ----------
    least
        The fewest; the plain scenario has one less.
    """

    name = "flows"

    def __init__(self, least: int = 2) -> None:
        self.parameters = {
            "count": Scale(tuple(n for n in (2, 3, 4, 6, 8, 12, 16, 24, 32) if n >= least))
        }

    def place(self, words: Words, values: Values, roles: Roles) -> None:  # noqa: ARG002
        """Set the number of flows of group 0."""
        words["group"][0]["flows"] = values["count"]

    def phrase(self, values: Values, roles: Roles) -> str:  # noqa: ARG002
        """Say nothing: the subject of the sentence has it."""
        return ""


class RateStep(ElementKind):
    """The link's rate changes at a time.

    Parameters
    ----------
    times_ms
        When.
    """

    name, most = "rate_step", 4

    def __init__(self, times_ms: Scale) -> None:
        self.parameters = {"at_ms": times_ms, "kbit": RATES_KBIT}

    def place(self, words: Words, values: Values, roles: Roles) -> None:  # noqa: ARG002
        """Add a step."""
        add_step(words, "rate_steps", values["at_ms"], in_kbit(values["kbit"]))

    def phrase(self, values: Values, roles: Roles) -> str:  # noqa: ARG002
        """Say nothing: the path's words have it."""
        return ""


class RttStep(ElementKind):
    """The base RTT changes at a time.

    Parameters
    ----------
    times_ms
        When.
    """

    name, most = "rtt_step", 4

    def __init__(self, times_ms: Scale) -> None:
        self.parameters = {"at_ms": times_ms, "ms": RTTS_MS}

    def place(self, words: Words, values: Values, roles: Roles) -> None:  # noqa: ARG002
        """Add a step."""
        add_step(words, "rtt_steps", values["at_ms"], in_ms(values["ms"]))

    def phrase(self, values: Values, roles: Roles) -> str:  # noqa: ARG002
        """Say nothing: the path's words have it."""
        return ""


class Outage(ElementKind):
    """Everything is lost for a time, once: a burst of losses where that is short.

    Parameters
    ----------
    times_ms
        When it begins.
    """

    name, most = "outage", 3

    def __init__(self, times_ms: Scale) -> None:
        early = (100, 200, 500)  # in slow start
        self.parameters = {
            "at_ms": Scale((*early, *times_ms.values)),
            "off_ms": logarithmic(1, 3_000),
        }

    def place(self, words: Words, values: Values, roles: Roles) -> None:  # noqa: ARG002
        """Add an outage."""
        at, off = in_ms(values["at_ms"]), in_ms(values["off_ms"])
        add_impairment(words, f"outage:off={off},at={at}")

    def phrase(self, values: Values, roles: Roles) -> str:  # noqa: ARG002
        """Say when and for how long."""
        at_s = values["at_ms"] / 1000
        return f"on which everything is lost for {values['off_ms']} ms at {at_s:g} s"


class Outages(ElementKind):
    """Everything is lost for a short time, again and again.

    Not more often than Linux's smallest RTO of 200 ms, about: what comes more often is a loss rate.
    """

    name = "outages"

    def __init__(self) -> None:
        self.parameters = {"on_ms": logarithmic(150, 5_000), "off_ms": logarithmic(1, 500)}

    def place(self, words: Words, values: Values, roles: Roles) -> None:  # noqa: ARG002
        """Add the outages; the first comes after the flows have begun."""
        on, off = in_ms(values["on_ms"]), in_ms(values["off_ms"])
        add_impairment(words, f"outage:off={off},on={on},at=1s")

    def phrase(self, values: Values, roles: Roles) -> str:  # noqa: ARG002
        """Say how long and how often."""
        period_ms = values["on_ms"] + values["off_ms"]
        return f"on which everything is lost for {values['off_ms']} ms every {period_ms} ms"


def add_step(words: Words, field: str, at_ms: int, value: str) -> None:
    """Add a step to those of a field, in order of time; of two at one time the last counts."""
    texts = (step.split(":") for step in words.get(field, "").split(",") if step.strip())
    steps = {int(Time.parse(at.strip(), field)): to.strip() for at, to in texts}
    steps[at_ms * 1_000_000] = value
    words[field] = ", ".join(f"{Time(at)}:{to}" for at, to in sorted(steps.items()))


def add_impairment(words: Words, impairment: str) -> None:
    """Add an impairment to those of the link."""
    words["impair"] = "+".join(filter(None, [words.get("impair", ""), impairment]))
