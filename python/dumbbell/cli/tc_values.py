"""Values as tc(8) writes them, as dumbbell writes them: ``1mbps`` is ``8mbit`` here."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

__all__ = ["AS_OURS", "is_value", "ms_of", "our_percent", "our_rate", "our_size", "our_time"]

VALUE = re.compile(r"(\d+\.?\d*|\.\d+)([a-z%]*)", re.ASCII | re.IGNORECASE)
#: Rates in bit/s (tc(8), "PARAMETERS"): what ends with `bps` is bytes per second.
THOUSANDS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
POWERS = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
PREFIXES = {**THOUSANDS, **POWERS}
RATES = {
    "": 1,
    **{f"{prefix}bit": factor for prefix, factor in PREFIXES.items()},
    **{f"{prefix}bps": 8 * factor for prefix, factor in PREFIXES.items()},
}
#: Sizes in bytes, whose thousands are 1024.
SIZES = {
    "": 1, "b": 1, "k": 2**10, "kb": 2**10, "m": 2**20, "mb": 2**20, "g": 2**30, "gb": 2**30,
    "kbit": 2**10 / 8, "mbit": 2**20 / 8, "gbit": 2**30 / 8,
}  # fmt: skip
#: Times in ms; a bare number is of µs.
TIMES = {
    **dict.fromkeys(("s", "sec", "secs"), 1000.0), **dict.fromkeys(("ms", "msec", "msecs"), 1.0),
    **dict.fromkeys(("", "us", "usec", "usecs"), 0.001),
    **dict.fromkeys(("ns", "nsec", "nsecs"), 1e-6),
}  # fmt: skip
OUR_RATES = (("gbit", 10**9), ("mbit", 10**6), ("kbit", 10**3))


def is_value(word: str) -> bool:
    """Whether a word is a number, with a unit or without."""
    return VALUE.fullmatch(word) is not None


def amount(word: str, units: Mapping[str, float]) -> float | None:
    """Return a value in the smallest of its units; None if it is not one of these."""
    found = VALUE.fullmatch(word)
    factor = None if found is None else units.get(found[2].lower())
    return None if found is None or factor is None else float(found[1]) * factor


def our_rate(word: str) -> str:
    """Return a rate.

    Examples
    --------
    >>> our_rate("1mbps"), our_rate("1mbit"), our_rate("500")
    ('8mbit', '1mbit', '500bit')
    """
    bps = amount(word, RATES)
    if bps is None:
        return word
    for unit, factor in OUR_RATES:
        if bps >= factor and float(f"{bps / factor:g}") * factor == bps:
            return f"{bps / factor:g}{unit}"
    return f"{bps:.0f}bit"


def our_size(word: str) -> str:
    """Return a size.

    Examples
    --------
    >>> our_size("32kbit"), our_size("10kb"), our_size("3000")
    ('4096B', '10240B', '3000B')
    """
    size_bytes = amount(word, SIZES)
    return word if size_bytes is None else f"{size_bytes:.0f}B"


def ms_of(word: str) -> float | None:
    """Return a time in ms; None if it is not a time."""
    return amount(word, TIMES)


def our_time(word: str) -> str:
    """Return a time.

    Examples
    --------
    >>> our_time("400ms"), our_time("0.5s"), our_time("100")
    ('400ms', '500ms', '0.1ms')
    """
    time_ms = ms_of(word)
    return word if time_ms is None else f"{time_ms:g}ms"


def our_percent(word: str) -> str:
    """Return a probability, which tc writes with or without its sign."""
    return word if word.endswith("%") else f"{word}%"


def our_packets(word: str) -> str:
    """Return a number of packets."""
    return f"{word}pkt" if word.isdecimal() else word


#: By the unit of a parameter of ours.
AS_OURS: Mapping[str, Callable[[str], str]] = {
    "bps": our_rate, "bytes": our_size, "ns": our_time, "pkts": our_packets, "ppb": our_percent,
}  # fmt: skip
