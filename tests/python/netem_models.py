"""Our impairments against the models of netem in a guest: the same datagrams through each.

``python -m tests.python.netem_models`` prints the table of docs/notes/queues.md. Both draw random
numbers, but not the same, so distributions are compared: delays by the test of Kolmogorov and
Smirnov, lengths of runs of what is lost, copied or early, and of the gaps between, by chi-squared
tests.
"""

from __future__ import annotations

import shlex
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy import stats

from tests.python.emulated import EMULATE, PYTHON

__all__ = ["MODELS", "Model", "Pair", "compare", "p_values"]

PROBE = Path(__file__).parents[1] / "programs" / "probe.py"
#: One way it takes half of it besides, ms.
RTT_MS = 4
#: Classes of a chi-squared test in which fewer are expected are put together.
LEAST_EXPECTED = 10


@dataclass(frozen=True)
class Model:
    """What netem does, and the same in our words.

    Attributes
    ----------
    netem, impair
        Of `tc` and of `--impair`.
    what
        What is compared: delays, or the runs of what is lost, copied, or early.
    spacing_us
        Between two datagrams.
    """

    netem: str
    impair: str
    what: str
    spacing_us: int = 0


#: All draw from the seed 1. A datagram has 100 bytes.
PACKETS, BYTES = 20_000, 100
JITTER = "jitter:reorder=on,delay=50ms"
MODELS = (
    Model("delay 50ms 10ms", f"{JITTER},uniform=10ms", "delays"),
    Model("delay 50ms 10ms distribution normal", f"{JITTER},normal=10ms", "delays"),
    Model("delay 50ms 10ms distribution pareto", f"{JITTER},pareto=10ms", "delays"),
    Model("delay 50ms 10ms distribution paretonormal", f"{JITTER},paretonormal=10ms", "delays"),
    Model("delay 5ms 10ms distribution normal",
          "jitter:reorder=on,delay=5ms,normal=10ms", "delays"),
    Model("loss 10%", "random_loss:loss=10%", "lost"),
    Model("loss gemodel 10% 30%", "gilbert_elliott:p=10%,r=30%", "lost"),
    Model("loss gemodel 10% 30% 60% 5%",
          "gilbert_elliott:p=10%,r=30%,loss_bad=60%,loss_good=5%", "lost"),
    Model("loss gemodel 10%", "gilbert_elliott:p=10%", "lost"),
    Model("loss state 5% 30% 20% 40% 3%",
          "loss_state:p13=5%,p31=30%,p32=20%,p23=40%,p14=3%", "lost"),
    Model("corrupt 10%", "corrupt:probability=10%", "lost"),
    Model("duplicate 10%", "duplicate:probability=10%", "copied"),
    Model("delay 10ms reorder 25%", "reorder:probability=25%,early=10ms", "early", 1000),
    Model("delay 10ms reorder 50% gap 4",
          "reorder:probability=50%,gap=4,early=10ms", "early", 1000),
)  # fmt: skip


@dataclass(frozen=True)
class Seen:
    """What arrived.

    Attributes
    ----------
    delays_ms
        Of each datagram that arrived, beyond the path's own.
    is_marked
        Of each that was sent, whether it was lost, copied or early.
    """

    delays_ms: np.ndarray
    is_marked: list[bool]


@dataclass(frozen=True)
class Pair:
    """A model by netem and by us."""

    netem: Seen
    ours: Seen


def probed(
    options: Iterable[str], before: str, spacing_us: int, packets: int
) -> list[tuple[int, int]]:
    """Send datagrams from the server to the client; return numbers and delays, ns."""
    send = shlex.join([PYTHON, str(PROBE), "send", str(packets), str(spacing_us), str(BYTES)])
    with TemporaryDirectory() as place:
        subprocess.run(
            [*EMULATE, "--virtual", "--rate", "none", "--rtt", f"{RTT_MS}ms", "--quiet", *options,
             "--serve", shlex.join(["sh", "-c", f"{before}exec {send}"]), "--",
             PYTHON, str(PROBE), "receive", "arrived"],
            check=True, capture_output=True, cwd=place,
        )  # fmt: skip
        lines = (Path(place) / "arrived").read_text().splitlines()
    numbers = (line.split() for line in lines)
    return [(int(number), int(delay_ns)) for number, delay_ns in numbers]


def seen(model: Model, arrived: Sequence[tuple[int, int]], packets: int) -> Seen:
    """Return what a model did to the datagrams."""
    copies = Counter(number for number, _ in arrived)
    delays_ms = np.array([delay_ns for _, delay_ns in arrived]) / 1e6 - RTT_MS / 2
    match model.what:
        case "lost":
            marked = [copies[number] == 0 for number in range(packets)]
        case "copied":
            marked = [copies[number] == 2 for number in range(packets)]
        case _:
            delay_of = dict(arrived)
            marked = [delay_of[number] / 1e6 < RTT_MS / 2 + 5 for number in range(packets)]
    return Seen(delays_ms, marked)


def compare(model: Model, packets: int = PACKETS) -> Pair:
    """Probe netem and our model."""
    make = f"tc qdisc add dev tun0 root netem limit 1000000 {model.netem}; "
    arrivals = (
        probed((), make, model.spacing_us, packets),
        probed(("--impair", model.impair), "", model.spacing_us, packets),
    )
    return Pair(*(seen(model, arrived, packets) for arrived in arrivals))


def runs_of(marked: Sequence[bool], *, of: bool) -> list[int]:
    """Return the lengths of runs in which all are marked, or none is."""
    return [len(list(run)) for is_marked, run in groupby(marked) if is_marked == of]


def chi_squared(one: Sequence[int], other: Sequence[int]) -> float:
    """Return how likely two samples of one kind differ by as much as these, or more."""
    edges = sorted({int(edge) for edge in np.quantile([*one, *other], np.linspace(0, 1, 11)[1:-1])})
    counts = np.array([
        np.bincount(np.searchsorted(edges, each, side="left"), minlength=len(edges) + 1)
        for each in (one, other)
    ])  # fmt: skip
    columns: list[np.ndarray] = []
    for column in counts.T:
        if columns and min(columns[-1].sum(), column.sum()) < 2 * LEAST_EXPECTED:
            columns[-1] = columns[-1] + column
        else:
            columns.append(column)
    if len(columns) < 2:
        return 1.0
    return float(stats.chi2_contingency(np.array(columns).T, correction=False).pvalue)


def p_values(model: Model, pair: Pair) -> dict[str, float]:
    """Return how likely differences at least as large are by chance, by what is compared."""
    if model.what == "delays":
        delays = (pair.netem.delays_ms, pair.ours.delays_ms)
        return {"delays": float(stats.ks_2samp(*delays).pvalue)}
    found = {}
    for name, of in (("runs", True), ("gaps", False)):
        both = [runs_of(each.is_marked, of=of) for each in (pair.netem, pair.ours)]
        found[name] = chi_squared(*both)
    totals = [(sum(each.is_marked), len(each.is_marked)) for each in (pair.netem, pair.ours)]
    # Of runs, whose number varies less than that of packets which are drawn alone.
    numbers = [len(runs_of(each.is_marked, of=True)) for each in (pair.netem, pair.ours)]
    table = [[many, total - many] for many, (_, total) in zip(numbers, totals, strict=True)]
    found["number of runs"] = float(stats.chi2_contingency(table, correction=False).pvalue)
    return found


def row(model: Model, pair: Pair) -> str:
    """Return a row of the table."""
    found = p_values(model, pair)
    if model.what == "delays":
        shown = [
            "/".join(f"{value:.2f}" for value in
                     (delays.mean(), delays.std(), *np.quantile(delays, [0.05, 0.5, 0.95, 0.999])))
            for delays in (pair.netem.delays_ms, pair.ours.delays_ms)
        ]  # fmt: skip
    else:
        shown = []
        for each in (pair.netem, pair.ours):
            runs, gaps = (runs_of(each.is_marked, of=of) for of in (True, False))
            share = np.mean(each.is_marked)
            shown.append(f"{share:.2%}/{np.mean(runs):.2f}/{max(runs)}/{np.mean(gaps):.1f}")
    p = ", ".join(f"{value:.2f}" for value in found.values())
    return f"| `{model.netem}` | `{model.impair}` | {shown[0]} | {shown[1]} | {p} |"


def main() -> None:
    """Print the table."""
    for model in MODELS:
        print(row(model, compare(model)), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
