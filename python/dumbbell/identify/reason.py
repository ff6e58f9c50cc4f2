"""Why a flow is taken for an algorithm's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dumbbell.identify.facts import Measured, fact

__all__ = ["MOST_FACTS", "reason_of"]

#: Facts by which each algorithm is known, the most telling first.
TELLING: Mapping[str, Sequence[str]] = {
    "reno": ("after_loss", "shape", "law"),
    "cubic": ("after_loss", "shape", "law"),
    "bic": ("after_loss", "shape", "law"),
    "highspeed": ("after_loss", "shape", "law"),
    "scalable": ("after_loss", "shape", "law"),
    "htcp": ("after_loss", "late_growth", "law"),
    "hybla": ("after_loss", "growth", "law"),
    "illinois": ("after_loss", "delay_growth", "shape"),
    "veno": ("after_loss", "delay_growth", "shape"),
    "westwood": ("after_loss", "shape", "queue"),
    "yeah": ("after_loss", "queue", "backs_off"),
    "vegas": ("queue", "growth", "after_loss"),
    "nv": ("queue", "backs_off", "after_loss"),
    "cdg": ("backs_off", "queue", "after_loss"),
    "lp": ("backs_off", "queue", "after_loss"),
    "ledbat": ("queue", "growth"),
    "copa": ("cycle", "queue", "level"),
    "dctcp": ("marks", "after_loss", "queue"),
    "prague": ("marks", "queue", "after_loss"),
    "bbr": ("dips", "cycle", "indifferent", "level"),
    "bbr3": ("dips", "level", "after_loss"),
}
#: Facts of a flow whose algorithm is unknown.
OF_UNKNOWN = ("after_loss", "shape", "dips", "queue", "backs_off")
#: More facts are left out.
MOST_FACTS = 3


def reason_of(algorithm: str | None, measured: Measured) -> str:
    """Write the reason, with this flow's numbers.

    Parameters
    ----------
    algorithm
        None for unknown.
    measured
        The features that it has.
    """
    wanted = OF_UNKNOWN if algorithm is None else TELLING.get(algorithm, OF_UNKNOWN)
    facts = [text for name in wanted if (text := fact(name, measured, algorithm))]
    if not facts:
        facts = [text for name in ("queue", "level") if (text := fact(name, measured, algorithm))]
    return "; ".join(facts[:MOST_FACTS]) if facts else "nothing in it is typical"
