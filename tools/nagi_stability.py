"""Where nagi's law of `delay` is stable: a region by its linear model, and simulated points on it.

``python tools/nagi_stability.py`` draws ``docs/figures/nagi-stability.svg`` and prints the points,
``python tools/nagi_stability.py bounds`` prints the law's queue and pace, and those of runs.
docs/notes/nagi.md has the model.

Flow i has the window w, the RTT R = τ + q and moves once per round by g·min(R, T₀)/T₀ of the way to
w·τ/R + α. Linearised at the equilibrium, in which each has the rate x and wants the queue q:

    δw' = -a·δw - b·δq(t - θR),  a = γq/(2R²),  b = γx(τ + q/2)/R²,  Σ δw/R = δq·Σ x/R

An RTT is that of what was sent a round trip earlier, a third of a round old on average, and stands
for a round: θ = 1 + 1/3 + 1/2. Flows in step have θ = 1 instead.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from element_figures import compact

import dumbbell
from dumbbell import Group, Scenario
from dumbbell.figures import Curve, Figure
from dumbbell.plots import save_for_print

__all__ = ["Loop", "is_calm", "variant_of"]

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "cc" / "nagi.bpf.c"
#: c, T₀ in s, and g as the source has them.
C, T0, GAIN = 0.28, 0.04, 0.75
#: How old an RTT is in RTTs: of flows whose rounds begin at any time, and of flows in step.
APART, IN_STEP = 11 / 6, 1.0
RATE_BPS, PACKET_BITS, SHORT_MS = 100e6, 12_000, 20
LONG_MS = (10, 20, 40, 80, 160)
GAINS = (0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0)
SEEDS = (60, 61)
#: A queue that oscillates moves by more than half of its mean; one that only has bursts moves less.
CALM = 0.5
#: The law alone: a step may be longer than the way, v stays 1, and no drains.
ALONE = {
    "ca->w -= (ca->w - target) * step >> 8": "ca->w -= min((ca->w - target) * step >> 8, ca->w)",
    "min(ca->velocity * 2, 1U << 20)": "1U",
}


@dataclass(frozen=True)
class Loop:
    """Flows on one link.

    Attributes
    ----------
    capacity
        Of the link, packets/s.
    base_rtts_s
        τ of each flow.
    theta
        θ.
    """

    capacity: float
    base_rtts_s: Sequence[float]
    theta: float

    def gain(self, g: float) -> float:
        """Return the loop's gain where its phase is -180°: stable below 1 (Nyquist)."""
        rate = self.capacity / len(self.base_rtts_s)
        queue = C * math.sqrt(T0 / rate)
        s = 1j * np.logspace(-1, 3.5, 50_000)
        loop, weight = np.zeros_like(s), 0.0
        for base in self.base_rtts_s:
            rtt = base + queue
            step = g * min(rtt, T0) / T0
            decay = step * queue / (2 * rtt**2)
            answer = step * rate * (base + queue / 2) / rtt**2
            loop += answer * np.exp(-s * self.theta * rtt) / (rtt * (s + decay))
            weight += rate / rtt
        loop /= weight
        beyond = np.unwrap(np.angle(loop)) <= -np.pi
        return float(np.abs(loop[beyond]).max())

    def largest_gain(self) -> float:
        """Return the g up to which it is stable."""
        low, high = 0.01, 100.0
        for _ in range(40):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self.gain(middle) < 1 else (low, middle)
        return low


def variant_of(directory: Path, g: float) -> Path:
    """Write nagi's law alone with another g, next to its headers, and return its file."""
    text = SOURCE.read_text(encoding="utf-8")
    for old, new in {**ALONE, "GAIN\t\t192U": f"GAIN\t\t{round(g * 256)}U"}.items():
        if text.count(old) != 1:
            raise SystemExit(f"{SOURCE.name} has changed: `{old}` is not in it once")
        text = text.replace(old, new)
    place = directory / f"gain-{g:g}"
    place.mkdir()
    for header in (SOURCE.parent / "include").glob("*.h"):
        if f'"{header.name}"' in text or header.name in ("net_tcp.h", "cube_root.h"):
            (place / header.name).write_text(header.read_text(encoding="utf-8"), encoding="utf-8")
    file = place / SOURCE.name
    file.write_text(text, encoding="utf-8")
    return file


def is_calm(cc: str, long_ms: float) -> bool:
    """Run two flows of a short and two of a long RTT; return whether the queue stays calm."""
    return all(variation(cc, long_ms, seed) < CALM for seed in SEEDS)


def variation(cc: str, long_ms: float, seed: int) -> float:
    """Return the standard deviation of the queueing delay over its mean, after 10 s."""
    run = dumbbell.run(Scenario(
        [Group(cc=cc, flows=2, rtt=f"{rtt:g}ms", jitter="1s") for rtt in (SHORT_MS, long_ms)],
        rate="100mbit", rtt=f"{SHORT_MS}ms", buffer="10bdp", time="30s", sample="5ms", seed=seed,
    ))  # fmt: skip
    queue = run.queue.to_pandas()
    delay = queue.sojourn_us[queue.time_us > 10_000_000]
    return float(delay.std() / delay.mean())


def region(theta: float) -> list[float]:
    """Return the largest stable g over the longer RTT."""
    capacity = RATE_BPS / PACKET_BITS
    return [
        Loop(capacity, [SHORT_MS / 1e3] * 2 + [each / 1e3] * 2, theta).largest_gain()
        for each in LONG_MS
    ]


def main() -> None:
    """Simulate the points, print them with the region, and draw both."""
    apart, in_step = region(APART), region(IN_STEP)
    calm: list[tuple[float, float]] = []
    moving: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as name:
        for g in GAINS:
            file = variant_of(Path(name), g)
            for long_ms in LONG_MS:
                where = calm if is_calm(f"{file}:drain_ms=0", long_ms) else moving
                where.append((long_ms, g))
    for at, long_ms in enumerate(LONG_MS):
        stays = [g for rtt, g in calm if rtt == long_ms]
        leaves = [g for rtt, g in moving if rtt == long_ms]
        print(f"{long_ms} ms: stable below {apart[at]:.2f} apart and {in_step[at]:.2f} in step; "
              f"calm {stays}, oscillates {leaves}")  # fmt: skip
    ticks = tuple(float(each) for each in LONG_MS)
    curves = (
        Curve("stable below: rounds apart", np.array(ticks), np.array(apart), "#2a6fbb"),
        Curve("stable below: in step", np.array(ticks), np.array(in_step), "#2a6fbb", dashed=1),
        Curve("nagi", np.array(ticks), np.full(len(ticks), GAIN), "#777777", dashed=2),
        Curve("simulated: calm", *columns(calm), "#2e8b57", "o", shape="points"),
        Curve("simulated: oscillates", *columns(moving), "#c0392b", "x", shape="points"),
    )
    figure = Figure(
        name="nagi-stability", title="Where nagi's law is stable",
        x_label=f"RTT of two flows next to two of {SHORT_MS} ms (ms)", y_label="g",
        curves=curves, x_ticks=ticks,
    )  # fmt: skip
    (path,) = save_for_print(
        [figure], ROOT / "docs" / "figures", figure.name, formats=("svg",), style="report"
    )
    path.write_text(compact(path.read_text(encoding="utf-8")), encoding="utf-8")


def measure_bounds() -> None:
    """Print queues and e-folds of a difference of two flows' windows: bound, measured, ratio.

    In equilibrium N flows queue c·root(N·T₀/capacity), and at most two packets of each besides.
    A difference decays by a = γq/(2R²), once the sum is at rest.
    """
    with tempfile.TemporaryDirectory() as name:
        cc = f"{variant_of(Path(name), GAIN)}:drain_ms=0"
        for flows, rate_mbit, rtt_ms in ((1, 50, 40), (4, 50, 40), (16, 100, 40), (64, 500, 40)):
            run = dumbbell.run(Scenario(
                [Group(cc=cc, flows=flows, jitter="1s")], rate=f"{rate_mbit}mbit",
                rtt=f"{rtt_ms}ms", buffer="10bdp", time="60s", sample="10ms", seed=SEEDS[0],
            ))  # fmt: skip
            capacity = rate_mbit * 1e6 / PACKET_BITS
            law = C * math.sqrt(flows * T0 / capacity)
            bound = law + 2 * flows / capacity
            queue = run.queue.to_pandas()
            measured = float(queue.sojourn_us[queue.time_us > 20_000_000].mean()) / 1e6
            print(
                f"{flows} flows, {rate_mbit} Mbit/s: law {law * 1e3:.2f} ms, bound "
                f"{bound * 1e3:.2f}, measured {measured * 1e3:.2f}, {measured / bound:.2f} of it"
            )
        for rtt_ms in (20, 40, 80):
            print(fairness_of(cc, rtt_ms))


def fairness_of(cc: str, rtt_ms: int) -> str:
    """Return the e-fold of the difference between a flow of 50 Mbit/s and one that joins it."""
    run = dumbbell.run(Scenario(
        [Group(cc=cc), Group(cc=cc, start="10s")], rate="50mbit", rtt=f"{rtt_ms}ms",
        buffer="4bdp", time="60s", sample="40ms", seed=SEEDS[0],
    ))  # fmt: skip
    windows = [run.state(group).to_pandas().set_index("time_us").w_pkts for group in (0, 1)]
    both = np.column_stack([each[each.index > 11_000_000].to_numpy() for each in windows])
    apart = np.abs(both[:, 0] - both[:, 1]) / both.sum(axis=1)
    above = int(np.argmax(apart < apart[0] / math.e)) if (apart < apart[0] / math.e).any() else 0
    queue = C * math.sqrt(2 * T0 / (50e6 / PACKET_BITS))
    rtt = rtt_ms / 1e3 + queue
    bound = 2 * rtt**2 / (GAIN * min(rtt, T0) / T0 * queue)
    return (f"two flows, {rtt_ms} ms: differ by {apart[0]:.2f} of the sum after 1 s; an e-fold: "
            f"{bound:.2f} s by the law, measured {above * 0.04:.2f} s")  # fmt: skip


def columns(points: Sequence[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    """Return x and y of points."""
    return np.array([x for x, _ in points]), np.array([y for _, y in points])


if __name__ == "__main__":
    if sys.argv[1:] == ["bounds"]:
        measure_bounds()
    else:
        main()
