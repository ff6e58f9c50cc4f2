"""Elements of traffic: competitors that come and go, sources that pause, and attacks."""

from __future__ import annotations

from dumbbell.base.quantities.quantity import Rate, Time
from dumbbell.scenario_space.kind import ElementKind, Roles, Values, Words
from dumbbell.scenario_space.path_kinds import in_ms
from dumbbell.scenario_space.scale import Scale, linear, logarithmic

__all__ = ["Competitor", "Datagrams", "OnOffCompetitor", "Pauses", "Pulses"]

#: The largest datagram that is one packet of 1514 bytes on the wire, as TCP's are: 1514 - 14
#: (Ethernet) - 20 (IP) - 8 (UDP).
DATAGRAM = "1472B"
PACKET_BYTES = 1514
#: Sources of a pulse.
SOURCES = 20
#: Longer than any run of a search: to its end.
TO_THE_END_MS = 3_600_000
LASTS_MS = Scale((500, 1000, 2000, 5000, 10_000, 20_000, TO_THE_END_MS))


class Competitor(ElementKind):
    """Flows of the reference that come, and leave.

    Parameters
    ----------
    times_ms
        When they may start; they leave after as long, or at the end of the run.
    """

    name, most = "competitor", 3
    plainest = {"start_ms": 0, "lasts_ms": TO_THE_END_MS}

    def __init__(self, times_ms: Scale) -> None:
        self.parameters = {
            "flows": Scale((1, 2, 4, 8)),
            "start_ms": Scale((0, *times_ms.values)),
            "lasts_ms": LASTS_MS,
        }

    def place(self, words: Words, values: Values, roles: Roles) -> None:
        """Add a group."""
        words["group"].append(competing(words, values, roles))

    def phrase(self, values: Values, roles: Roles) -> str:
        """Say how many, and when."""
        return f"next to {values['flows']} {roles.against}{when(values)}"


class OnOffCompetitor(ElementKind):
    """Flows of the reference that send, pause, and send again."""

    name, most = "on_off_competitor", 2

    def __init__(self) -> None:
        self.parameters = {
            "flows": Scale((1, 2, 4, 8)),
            "on_ms": logarithmic(50, 5_000),
            "off_ms": logarithmic(50, 5_000),
        }

    def place(self, words: Words, values: Values, roles: Roles) -> None:
        """Add a group."""
        words["group"].append(
            {"cc": roles.against, "flows": values["flows"], "traffic": on_off(values)}
        )

    def phrase(self, values: Values, roles: Roles) -> str:
        """Say how many, and for how long they send and pause."""
        return f"next to {values['flows']} {roles.against} {say_on_off(values)}"


class Pauses(ElementKind):
    """The application under test sends, pauses, and sends again."""

    name = "pauses"

    def __init__(self) -> None:
        self.parameters = {
            "on_ms": logarithmic(200, 10_000), "off_ms": logarithmic(50, 10_000)
        }  # fmt: skip

    def place(self, words: Words, values: Values, roles: Roles) -> None:  # noqa: ARG002
        """Make group 0 a source that is on and off."""
        words["group"][0]["traffic"] = on_off(values)

    def phrase(self, values: Values, roles: Roles) -> str:  # noqa: ARG002
        """Say for how long it sends and pauses."""
        return f"as an application {say_on_off(values)}"


class Datagrams(ElementKind):
    """A source that responds to nothing, in per cent of the link's rate.

    Parameters
    ----------
    times_ms
        When it may start.
    """

    name, most = "datagrams", 2
    plainest = {"start_ms": 0, "lasts_ms": TO_THE_END_MS}

    def __init__(self, times_ms: Scale) -> None:
        self.parameters = {
            "percent": linear(5, 80, 5),
            "start_ms": Scale((0, *times_ms.values)),
            "lasts_ms": LASTS_MS,
        }

    def place(self, words: Words, values: Values, roles: Roles) -> None:
        """Add a group."""
        rate = Rate(int(Rate.parse(words["rate"], "rate")) * values["percent"] // 100)
        group = competing(words, {"flows": 1, **values}, roles)
        group["traffic"] = f"datagram:size={DATAGRAM},rate={rate}"
        words["group"].append(group)

    def phrase(self, values: Values, roles: Roles) -> str:  # noqa: ARG002
        """Say how much, and when."""
        return f"next to datagrams of {values['percent']} % of the link{when(values)}"


class Pulses(ElementKind):
    """A competitor that sends datagrams in pulses of a rate and a length: the shrew attack.

    A pulse that is as long as the victim's RTT and fills the link makes it lose a window; the next
    one comes as its retransmission timer ends. Each pulse is that of `SOURCES` sources, which start
    at random within its length and then send at equal intervals.

    References
    ----------
    Kuzmanovic, Knightly: "Low-rate TCP-targeted denial of service attacks (the shrew vs. the mice
    and elephants)", SIGCOMM 2003.
    """

    name = "pulses"

    def __init__(self) -> None:
        self.parameters = {
            "percent": linear(100, 400, 50),
            "length_ms": logarithmic(10, 300),
            # Around Linux's smallest RTO of 200 ms, and the 1 s of RFC 6298, section 2.4.
            "period_ms": logarithmic(150, 2_000),
        }

    def place(self, words: Words, values: Values, roles: Roles) -> None:
        """Add a group, which starts after the flows have begun."""
        length_ms = min(values["length_ms"], values["period_ms"])
        rate_bps = int(Rate.parse(words["rate"], "rate")) * values["percent"] // 100
        packets = max(rate_bps * length_ms // 1000 // (8 * PACKET_BYTES), 1)
        sources = min(SOURCES, packets)
        traffic = f"datagram:size={DATAGRAM},burst={packets // sources}"
        words["group"].append(
            {
                "cc": roles.against, "flows": sources, "start": "1s", "jitter": in_ms(length_ms),
                "traffic": f"{traffic},interval={in_ms(values['period_ms'])}",
            }
        )  # fmt: skip

    def phrase(self, values: Values, roles: Roles) -> str:  # noqa: ARG002
        """Say how strong, how long and how often."""
        length_ms = min(values["length_ms"], values["period_ms"])
        return (
            f"with pulses of datagrams at {values['percent']} % of the link, {length_ms} ms long, "
            f"every {values['period_ms']} ms"
        )


def competing(words: Words, values: Values, roles: Roles) -> Words:
    """Return a group of competitors that starts, and stops unless the run ends before."""
    start_ms, stop_ms = values["start_ms"], values["start_ms"] + values["lasts_ms"]
    group: Words = {"cc": roles.against, "flows": values["flows"]}
    if start_ms:
        group["start"] = in_ms(start_ms)
    if stop_ms * 1_000_000 < int(Time.parse(words["time"], "time")):
        group["stop"] = in_ms(stop_ms)
    return group


def when(values: Values) -> str:
    """Say from when to when competitors are there."""
    start_s, lasts_s = values["start_ms"] / 1000, values["lasts_ms"] / 1000
    if values["lasts_ms"] == TO_THE_END_MS:
        return f" from {start_s:g} s on" if start_s else ""
    return f" from {start_s:g} to {start_s + lasts_s:g} s"


def on_off(values: Values) -> str:
    """Write the application of a source that pauses."""
    return f"onoff:on={in_ms(values['on_ms'])},off={in_ms(values['off_ms'])}"


def say_on_off(values: Values) -> str:
    """Say for how long a source sends and pauses."""
    return f"sending for {values['on_ms'] / 1000:g} s and pausing for {values['off_ms'] / 1000:g} s"
