"""Algorithms that are learned, those that are kept back, and what stands for all others."""

from __future__ import annotations

import math
import random
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from dumbbell import LinuxTree

__all__ = [
    "DEVELOPED_ON", "HELD_BACK", "NEVER_SHOWN", "OTHER", "QUIC", "SAME_AS_ANOTHER", "copied",
    "drawn_cc", "other_cc", "right_name", "sources_of", "switched_cc",
]  # fmt: skip

#: The class of what is none of the known algorithms.
OTHER = "other"
#: Built in and never shown in training: what they are called is "unknown" or wrong.
HELD_BACK = ("l3dr", "nagi")
#: Never shown either, sources of this study: those that the rule was fixed on, and those that were
#: not looked at before it was.
DEVELOPED_ON = (
    "fast", "compound", "gradient", "utility", "africa", "dual", "forecast", "libra", "elastic",
    "fusion", "lola", "pert", "ledbatpp", "vegasa", "binomial", "nice", "swift", "agilesd", "fit",
    "ltcp", "tahoe",
)  # fmt: skip
NEVER_SHOWN = ("jersey", "iiad", "c2tcp", "udt", "relentless", "multcp", "card", "gaimd")
#: Built-in algorithms that are learned.
BUILT_IN = ("reno", "cubic", "bbr", "bbr3", "copa", "vegas", "ledbat", "dctcp", "prague", "bbr_fca")
#: Not learned: without other flows BBR-FCA is BBR, and is named so.
SAME_AS_ANOTHER = ("bbr_fca",)
#: Learned and named as Reno: Linux's LP reads one-way delays from timestamps, whose offsets it does
#: not know and which it multiplies by eight in 32 bits. It is Reno, but that one connection in some
#: ten to twenty backs off once, in slow start.
AS_RENO = ("lp",)
#: What runs over QUIC, by class: stacks with algorithms of their own, and ours in noq.
QUIC: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "reno": ("quic/quinn:reno", "quic/noq:reno", "quic/noq@1.2.0:reno"),
    "cubic": ("quic/quinn:cubic", "quic/noq:cubic", "quic/quinn@0.11.14:cubic"),
    "bbr": ("quic/quinn:bbr", "quic/noq:bbr"),
    "bbr3": ("quic/noq:bbr3", "quic/noq:dumbbell/bbr3"),
    "copa": ("quic/noq:copa",),
    "vegas": ("quic/noq:vegas",),
})  # fmt: skip
#: Parameters outside those in use, from and to: with them an algorithm is another one, and stands
#: for those that are not known yet.
OTHERS: Mapping[str, Mapping[str, tuple[int, int]]] = MappingProxyType({
    "cubic": {"beta": (310, 500)},
    "cubic ": {"beta": (930, 990), "bic_scale": (41, 400)},
    "cubic  ": {"bic_scale": (400, 1000), "hystart": (0, 0), "beta": (600, 700)},
    "vegas": {"alpha_pkts": (20, 40), "beta_pkts": (42, 90)},
    "bbr": {
        "probe_bw_up_gain": (400, 700), "probe_bw_down_gain": (60, 130), "cwnd_gain": (700, 1500),
    },
    "bbr ": {
        "min_rtt_window_ms": (2000, 4500), "probe_rtt_ms": (300, 600), "cwnd_gain": (300, 420),
    },
    "bbr3": {
        "beta_pct": (20, 50), "probe_wait_ms": (8000, 20000),
        "probe_rtt_interval_ms": (12000, 30000),
    },
    "copa": {"default_inv_delta": (15, 60), "mode_switching": (0, 0)},
    "ledbat": {"target_us": (5000, 25000), "gain_pct": (300, 2000)},
})  # fmt: skip


def sources_of(tree: LinuxTree) -> dict[str, tuple[str, ...]]:
    """Return what to run for each class: ours, Linux's, or both.

    Parameters
    ----------
    tree
        A Linux source tree.
    """
    found: dict[str, tuple[str, ...]] = {name: (name,) for name in BUILT_IN}
    for name in tree.names():
        found[name] = (*found.get(name, ()), tree.source(name))
    return found


def right_name(name: str) -> str:
    """Return what an algorithm is to be called."""
    return "reno" if name in AS_RENO else name


def other_cc(seed: int) -> str:
    """Draw an algorithm with parameters that make it another one."""
    chance = random.Random(f"other {seed}")  # noqa: S311 -- not for secrets
    key = chance.choice(list(OTHERS))
    values = {name: chance.randint(*ends) for name, ends in OTHERS[key].items()}
    text = ",".join(f"{name}={value}" for name, value in values.items())
    return f"{key.strip()}:{text}"


#: Sources of algorithms that only this study has.
SOURCES = Path(__file__).parent / "others"
#: Gains of each law of `others/drawn.bpf.c`, from and to, on a logarithmic scale.
GAINS_MILLI = ((1800, 20_000), (150, 6000), (50, 1000), (300, 5000), (300, 4000), (300, 5000))
#: With these growth is Scalable's (RFC 3649 §A): other algorithms are wanted.
SCALABLE_MILLI, SCALABLE_BETA_PCT = (700, 1500), (78, 93)
#: How often, of a hundred.
SLOWER_THAN_RENO, PULSES, PAUSES, PACED = 25, 30, 15, 70
#: Laws of delay: none as often as one.
DELAY_LAWS, DELAY_LAWS_OF_SWITCHED = (0, 0, 0, 1, 2, 3), (0, 0, 0, 2, 3, 4)
#: Where the queue decides: how often, of a hundred, about growth, what a loss leaves, and that it
#: leaves a share of what the path holds.
SWITCHES, SWITCHES_LEFT, LEAVES_OF_PATH = 70, 50, 30
#: There constant growth may be Reno's, as the other law is not.
CONSTANT_MILLI = (300, 20_000)


def copied(name: str, directory: Path) -> Path:
    """Copy a source of this study to a directory: the sandbox hides those next to the package.

    Parameters
    ----------
    name
        Of the algorithm.
    directory
        Where to.
    """
    source = f"{name}.bpf.c"
    return Path(shutil.copy(SOURCES / source, directory / source))


class Draw(random.Random):
    """Draws the parameters of an algorithm."""

    def between(self, low: float, high: float) -> int:
        """Draw from a logarithmic scale."""
        return round(math.exp(self.uniform(math.log(low), math.log(high))))

    def happens(self, percent: int) -> bool:
        """Draw whether something happens that does so this often, of a hundred."""
        return self.random() * 100 < percent


def drawn_cc(seed: int, source: Path) -> str:
    """Draw an algorithm that is in no use.

    Parameters
    ----------
    seed
        Of the draw.
    source
        Where `others/drawn.bpf.c` is.
    """
    chance = Draw(f"drawn {seed}")
    between, happens = chance.between, chance.happens
    law = chance.randrange(len(GAINS_MILLI))
    gain_milli, beta_pct = between(*GAINS_MILLI[law]), chance.randint(30, 95)
    if law == 0 and happens(SLOWER_THAN_RENO):
        gain_milli = between(80, 500)
    is_scalable = SCALABLE_MILLI[0] < gain_milli < SCALABLE_MILLI[1]
    if law == 1 and is_scalable and beta_pct in range(*SCALABLE_BETA_PCT):
        beta_pct = chance.randint(30, SCALABLE_BETA_PCT[0])
    values = {
        "law": law,
        "gain_milli": gain_milli,
        "tau_ms": between(300, 10_000),
        "beta_pct": beta_pct,
        "delay_law": chance.choice(DELAY_LAWS),
        "target_us": between(1000, 60_000),
        "cut_pct": chance.randint(50, 95),
        "period_rounds": chance.randint(2, 20) if happens(PULSES) else 0,
        "pulse_pct": between(5, 60),
        "pause_ms": chance.randint(2000, 20_000) if happens(PAUSES) else 0,
        "pause_lasts_ms": chance.randint(100, 600),
        "paced": int(happens(PACED)),
    }
    return f"{source}:" + written(values)


def switched_cc(seed: int, source: Path) -> str:
    """Draw an algorithm in which the queue decides between two laws, or how much a loss leaves.

    Parameters
    ----------
    seed
        Of the draw.
    source
        Where `others/drawn.bpf.c` is.
    """
    chance = Draw(f"switched {seed}")
    between, happens = chance.between, chance.happens
    law, second_law = chance.sample(range(len(GAINS_MILLI)), 2)
    switches = happens(SWITCHES)
    values = {
        "law": law,
        "gain_milli": between(*(CONSTANT_MILLI if law == 0 else GAINS_MILLI[law])),
        "second_law": second_law,
        "second_gain_milli": between(*(GAINS_MILLI[second_law] if second_law else CONSTANT_MILLI)),
        "tau_ms": between(300, 10_000),
        "switch_us": between(300, 30_000) if switches else 0,
        "beta_pct": chance.randint(40, 90),
        "queued_beta_pct": chance.randint(30, 90) if happens(SWITCHES_LEFT) else 0,
        "path_pct": between(60, 130) if happens(LEAVES_OF_PATH) else 0,
        "delay_law": chance.choice(DELAY_LAWS_OF_SWITCHED[0 if switches else 3 :]),
        "target_us": between(1000, 60_000),
        "cut_pct": chance.randint(50, 97),
        "cut_rounds": between(1, 12),
        "kept_pkts": between(5, 200),
        "paced": int(happens(PACED)),
    }
    return f"{source}:" + written(values)


def written(values: Mapping[str, int]) -> str:
    """Write parameters as `cc` takes them."""
    return ",".join(f"{name}={value}" for name, value in values.items())
