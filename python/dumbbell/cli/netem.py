"""The arguments of netem's, as options of `dumbbell emulate`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from dumbbell.cli.tc_values import is_value, ms_of, our_percent, our_rate

__all__ = ["NO_DELAY_MS", "Netem", "read_netem"]

#: The least RTT of answers, ms. On a busy machine 1 packet in 100 is 0.1 to 0.3 ms late; of less
#: than this that is more than a twentieth of an idle path's RTT, which makes a run INVALID.
NO_DELAY_MS = 3.0
#: How far below the mean a distribution reaches, of its scale: netem's tables end at 4.
REACH = {"uniform": 1.0, "normal": 4.0, "pareto": 1.0, "paretonormal": 4.0}
#: Parameters of impairments in netem's order.
GEMODEL = ("p", "r", "loss_bad", "loss_good")
LOSS_STATE = ("p13", "p31", "p32", "p23", "p14")
#: How many values a word of netem's takes, at most.
VALUES = {"delay": 3, "loss": 2, "duplicate": 1, "corrupt": 1, "reorder": 1, "rate": 1, "limit": 1}


@dataclass
class Netem:
    """What netem's arguments say.

    Attributes
    ----------
    options
        Options of `dumbbell emulate`, but its RTT.
    impair
        Impairments.
    rtt_ms
        The delay as an RTT: netem delays one way, and so does nothing else.
    left
        Words that have no equivalent.
    """

    options: dict[str, str] = field(default_factory=dict)
    impair: list[str] = field(default_factory=list)
    rtt_ms: float = 0.0
    left: list[str] = field(default_factory=list)


def read_netem(words: Sequence[str]) -> Netem:
    """Read the words behind `netem`.

    Examples
    --------
    >>> found = read_netem("delay 50ms 10ms distribution normal".split())
    >>> found.rtt_ms, found.impair
    (10.0, ['jitter:delay=40ms,normal=10ms,reorder=on'])
    """
    found, rest = Netem(), list(words)
    delay: list[str] = []
    distribution, reorder = "", ""
    while rest:
        word = rest.pop(0)
        if word == "delay":
            delay = take(rest, VALUES["delay"])
        elif word == "distribution" and rest:
            distribution = rest.pop(0)
        elif word == "reorder":
            reorder = "".join(take(rest, 1))
            found.left += take(rest, 1)
            if rest[:1] == ["gap"]:
                reorder += f",gap={rest[1]}" if len(rest) > 1 else ""
                del rest[:2]
        elif word == "loss":
            take_loss(found, rest)
        elif word in SIMPLE and rest:
            SIMPLE[word](found, rest.pop(0))
            found.left += take(rest, 1)  # a correlation, whose rate is not what it says
        else:
            found.left += [word, *take(rest, 1)]
    take_delay(found, delay, distribution, reorder)
    return found


def take(rest: list[str], most: int) -> list[str]:
    """Take the values that words begin with."""
    values: list[str] = []
    while rest and len(values) < most and is_value(rest[0]):
        values.append(rest.pop(0))
    return values


def take_loss(found: Netem, rest: list[str]) -> None:
    """Read what follows `loss`: a probability, or a model with its own."""
    kind = rest.pop(0) if rest[:1] and rest[0] in ("random", "gemodel", "state") else "random"
    if kind == "random":
        values = take(rest, VALUES["loss"])
        found.options |= {"--loss": our_percent(values[0])} if values else {}
        found.left += values[1:]
        return
    name, names = {
        "gemodel": ("gilbert_elliott", GEMODEL), "state": ("loss_state", LOSS_STATE)
    }[kind]  # fmt: skip
    values = [our_percent(value) for value in take(rest, len(names))]
    if values:
        found.impair.append(with_parameters(name, dict(zip(names, values, strict=False))))


def take_delay(found: Netem, values: Sequence[str], distribution: str, reorder: str) -> None:
    """Set the RTT and what varies it, so that the mean delay is netem's."""
    mean_ms, scale_ms = [*(ms_of(value) or 0.0 for value in values[:2]), 0.0, 0.0][:2]
    found.left += values[2:]
    found.rtt_ms = mean_ms
    kind = distribution or "uniform"
    if scale_ms and kind in REACH:
        # What a draw takes from the mean has to be there behind the link.
        least_ms = min(NO_DELAY_MS, mean_ms)
        held_ms = min(REACH[kind] * scale_ms, mean_ms - least_ms)
        found.rtt_ms = mean_ms - held_ms
        held = {"delay": f"{held_ms:g}ms"} if held_ms else {}
        drawn = {kind: f"{scale_ms:g}ms", "reorder": "on"}
        found.impair.append(with_parameters("jitter", {**held, **drawn}))
    elif scale_ms:
        found.left += [f"{scale_ms:g}ms", "distribution", distribution]
    if reorder and mean_ms and not scale_ms:
        probability, *gap = reorder.split(",")
        # The packets that are drawn do not wait; all others do.
        early = f"reorder:probability={our_percent(probability)},early={mean_ms:g}ms"
        found.impair.append(",".join([early, *gap]))
        found.rtt_ms = 0.0
    elif reorder:
        found.left += ["reorder", reorder]


def with_parameters(name: str, values: Mapping[str, str]) -> str:
    """Write an impairment."""
    return f"{name}:{','.join(f'{key}={value}' for key, value in values.items())}"


def limit(found: Netem, value: str) -> None:
    """Read `limit`, in packets."""
    found.options["--buffer"] = f"{value}pkt"


def rate(found: Netem, value: str) -> None:
    """Read the link's rate."""
    found.options["--rate"] = our_rate(value)


def copies(name: str) -> Callable[[Netem, str], None]:
    """Return what reads an impairment of one probability."""

    def read(found: Netem, value: str) -> None:
        found.impair.append(f"{name}:probability={our_percent(value)}")

    return read


#: Words with one value.
SIMPLE: Mapping[str, Callable[[Netem, str], None]] = {
    "limit": limit, "rate": rate, "duplicate": copies("duplicate"), "corrupt": copies("corrupt"),
}  # fmt: skip
