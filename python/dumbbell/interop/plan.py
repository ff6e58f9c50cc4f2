"""What `SCENARIO` of the interop runner asks for, and the scenario of ours that does it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.quantity import Rate, Time
from dumbbell.base.quantities.steps import MIN_RTT_NS
from dumbbell.interop import values
from dumbbell.interop.values import Option
from dumbbell.scenario import Group, Link, Scenario
from dumbbell.scenario.link import BOTTLENECK, UP

__all__ = ["SCENARIOS", "Plan", "read_plan"]

#: How long the simulator runs at most.
LONGEST = "36000s"
SAMPLE = "100ms"
#: What competes in `tcp-cross-traffic`, and how far its hosts are from the path's ends, there and
#: back.
CROSS_TRAFFIC = "linux/reno"
CROSS_TRAFFIC_RTT_NS = 4_000_000
#: In ns-3 a device has a queue of one packet behind the queue whose size is given.
DEVICE_QUEUE_PKTS = 1
#: Ways, as options name them, and the link of each.
WAYS = {"client": BOTTLENECK, "server": UP}

LINK = {
    "delay": Option(values.time, "15ms", required=True),
    "bandwidth": Option(values.rate, "10Mbps", required=True),
    "queue": Option(values.count, "25", required=True),
}
RATES = {
    f"{what}_to_{way}": Option(read, example, required=required)
    for way in WAYS
    for what, read, example, required in (
        ("rate", values.percent, "10", True),
        ("burst", partial(values.count, least=1), "3", False),
    )
}
#: The scenarios, and their options.
SCENARIOS: Mapping[str, Mapping[str, Option]] = {
    "simple-p2p": LINK,
    "drop-rate": LINK | RATES,
    "corrupt-rate": LINK | RATES,
    "droplist": LINK | {f"drops_to_{way}": Option(values.numbers, "1,3,15", ()) for way in WAYS},
    "blackhole": LINK
    | {
        "on": Option(values.time, "5s", required=True),
        "off": Option(values.time, "2s", required=True),
        "repeat": Option(values.count, "1", 1),
        "direction": Option(values.choice("both", "toclient", "toserver"), "both", "both"),
    },
    "rebind": LINK
    | {
        "first-rebind": Option(values.time, "1s", required=True),
        "rebind-freq": Option(values.time, "5s"),
        "rebind-addr": Option(values.yes, "", default=False),
    },
    "tcp-cross-traffic": LINK,
}


@dataclass(frozen=True)
class Plan:
    """A scenario of the interop runner.

    Attributes
    ----------
    name
        One of `SCENARIOS`.
    options
        Its options, all of them.
    """

    name: str
    options: Mapping[str, Any]

    @property
    def delay(self) -> Time:
        """Propagation delay of each way."""
        delay: Time = self.options["delay"]
        return delay

    @property
    def rate(self) -> Rate:
        """Rate of each way."""
        rate: Rate = self.options["bandwidth"]
        return rate

    @property
    def rebind(self) -> dict[str, Any] | None:
        """When bindings of the NAT are forgotten, as the engine takes it."""
        if self.name != "rebind":
            return None
        every = self.options["rebind-freq"]
        return {
            "first_ns": int(self.options["first-rebind"]),
            "every_ns": int(every) if every else None,
            "addresses": self.options["rebind-addr"],
        }

    @property
    def blackholes(self) -> list[tuple[float, str]]:
        """Times, s, at which packets begin to be lost and to pass again."""
        if self.name != "blackhole":
            return []
        on, off = (int(self.options[name]) for name in ("on", "off"))
        return [
            event
            for cycle in range(self.options["repeat"])
            for event in (
                ((cycle * (on + off) + on) / 1e9, "blackhole begins"),
                ((cycle + 1) * (on + off) / 1e9, "blackhole ends"),
            )
        ]

    def scenario(self, seed: int) -> Scenario:
        """Return the scenario of ours that does it."""
        rtt = Time(max(2 * int(self.delay), MIN_RTT_NS))
        routes: dict[str, Any] = {"route": [BOTTLENECK], "back": [UP]}
        groups = [Group(client="client", **routes)]
        if self.name == "tcp-cross-traffic":
            rtt_of_cross_traffic = Time(int(rtt) + CROSS_TRAFFIC_RTT_NS)
            groups.append(Group(CROSS_TRAFFIC, rtt=rtt_of_cross_traffic, **routes))
        links = [
            Link(
                link, rate=self.rate, delay=self.delay, impair=self.impairments(way),
                queue=f"pfifo:limit={self.options['queue'] + DEVICE_QUEUE_PKTS}pkt",
            )
            for way, link in WAYS.items()
        ]  # fmt: skip
        return Scenario(groups, links=links, rtt=rtt, time=LONGEST, sample=SAMPLE, seed=seed)

    def impairments(self, way: str) -> list[str]:
        """Return what happens behind the link to packets on their way to the client or server."""
        match self.name:
            case "drop-rate" | "corrupt-rate":
                return self.random_impairments(way)
            case "droplist":
                drops = self.options[f"drops_to_{way}"]
                listed = ";".join(map(str, drops))
                return [f"listed:packets={listed},flow=off,place=behind"] if drops else []
            case "blackhole" if self.options["direction"] in ("both", f"to{way}"):
                return [self.outage()]
        return []

    def random_impairments(self, way: str) -> list[str]:
        """Return loss or corruption at random."""
        share, burst = (self.options[f"{what}_to_{way}"] for what in ("rate", "burst"))
        if not share:
            return []
        # Certainty is a run without end, which no impairment has: one in 10⁹ packets passes.
        probability = f"{share}%" if share < 100 else "99.9999999%"
        run = f",max_run={burst}" if burst else ""
        if self.name == "drop-rate":
            return [f"random_loss:loss={probability}{run},place=behind"]
        return [f"corrupt:probability={probability}{run},delivered=on"]

    def outage(self) -> str:
        """Return the blackhole.

        ns-3 loses packets where they arrive, an impairment where they leave the link: earlier by
        the delay.
        """
        on, off, delay = int(self.options["on"]), int(self.options["off"]), int(self.delay)
        at = max(on - delay, 0)
        lasts = off - max(delay - on, 0)
        if lasts <= 0:
            raise ScenarioError(
                f"--off `{self.options['off']}` ends before a packet can arrive after --delay "
                f"`{self.delay}`; use a longer one",
                key="off",
            )
        times = self.options["repeat"]
        cycle = f",on={on}ns,times={times}" if times > 1 else ""
        return f"outage:at={at}ns,off={lasts}ns{cycle},place=behind"


def read_plan(text: str) -> Plan:
    """Read a scenario: its name, and its options like ``--delay=15ms``.

    Raises
    ------
    ScenarioError
        There is no such scenario or option, a value is invalid, or one is missing.
    """
    try:
        name, *words = shlex.split(text)
    except ValueError as error:
        reason = str(error) if text.strip() else "it is empty"
        raise ScenarioError(
            f"SCENARIO: {reason.lower()}; use e.g. `{example('simple-p2p')}`"
        ) from None
    if name not in SCENARIOS:
        raise ScenarioError(
            f"unknown scenario `{excerpt(name)}`{nearest(name, SCENARIOS)}; there are "
            + ", ".join(f"`{each}`" for each in SCENARIOS)
        )
    options = SCENARIOS[name]
    given = {}
    for word in words:
        option, _, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or option not in options:
            raise ScenarioError(
                f"`{name}` has no option `{excerpt(word)}`{nearest(f'--{option}', known(options))}"
            )
        given[option] = options[option].read(value, option)
    for option, declared in options.items():
        if declared.required and option not in given:
            raise ScenarioError(
                f"`{name}` needs --{option}, e.g. `--{option}={declared.example}`", key=option
            )
        given.setdefault(option, declared.default)
    return Plan(name, given)


def known(options: Mapping[str, Option]) -> list[str]:
    """Return options as they are written."""
    return [f"--{name}" for name in options]


def example(name: str) -> str:
    """Return a scenario with all that it needs."""
    needed = {key: option for key, option in SCENARIOS[name].items() if option.required}
    return " ".join([name, *(f"--{key}={option.example}" for key, option in needed.items())])
