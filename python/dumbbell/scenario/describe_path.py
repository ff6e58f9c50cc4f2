"""The network of a scenario in words."""

from __future__ import annotations

from dumbbell.scenario.fields import fields_of
from dumbbell.scenario.link import Link
from dumbbell.scenario.scenario import Scenario
from dumbbell.scenario.trace import Trace

__all__ = ["describe_path"]


def describe_path(scenario: Scenario) -> str:
    """Write the path: ``50mbit, 40ms, buffer 1bdp``; several links one after the other."""
    rtt = f"{scenario.rtt}{scenario.rtt_steps.in_words}"
    if scenario.is_dumbbell:
        link = scenario.links[0]
        return f"{rate_text(link)}, {rtt}, {link.queue_in(scenario)}{other_fields(link)}"
    links = (
        f"{link.name} {rate_text(link)}, {link.queue_in(scenario)}{other_fields(link)}"
        for link in scenario.links
    )
    return f"{'; '.join(links)}; {rtt}"


def rate_text(link: Link) -> str:
    """Write a link's rate and its changes."""
    return f"{link.rate.in_words}{link.rate_steps.in_words}"


def other_fields(link: Link) -> str:
    """Write a link's fields that are set and not printed anyway: ``, loss 1%``."""
    printed = ("name", "rate", "buffer", "queue", "rate_steps")
    return "".join(
        f", {name.replace('_', ' ')} {in_words(getattr(link, name))}"
        for name, field in fields_of(Link).items()
        if name not in printed and not field.is_default(getattr(link, name))
    )


def in_words(value: object) -> object:
    """Return a value, or what it says of itself where that would be too long."""
    return value.in_words if isinstance(value, Trace) else value
