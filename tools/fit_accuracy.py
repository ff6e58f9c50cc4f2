"""Fit captures of drawn paths, and compare with the truth: docs/notes/fit.md.

A path's captures of CUBIC and BBR come from an engine that is not the simulator. The fit sees
CUBIC's; BBR's is what `what-if` is to predict.

    python tools/fit_accuracy.py uml 60 --first-seed 1301
    python tools/fit_accuracy.py kernel 58 --first-seed 2001 --most-rate 100
    python tools/fit_accuracy.py uml 30 --first-seed 201 --shared
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import dumbbell
from dumbbell import Group, Scenario
from dumbbell.fit import FittedPath, Interval, Outcome, Prediction, fit, what_if
from dumbbell.fit.connection_series import INTERVAL
from dumbbell.fit.simulated import evidence_of
from dumbbell.run.capture import Capture

#: Of each capture.
TIME = "30s"
#: As likely as it stands here.
KINDS = ("droptail",) * 5 + ("loss", "codel", "fq_codel", "pie")
OTHERS = (("cubic", 1), ("cubic", 2), ("cubic", 4), ("bbr", 1), ("bbr", 2), ("reno", 1))
#: What the fit calls them.
NAMES = {
    "droptail": "drop-tail",
    "loss": "drop-tail, random loss",
    "codel": "fq_codel",
    "fq_codel": "fq_codel",
    "pie": "pie",
}
#: Least buffer, bytes.
LEAST_BUFFER = 15_000
#: An outcome is predicted within these.
GOODPUT, DELAY, SHARE = 0.10, 0.20, 0.08


@dataclass(frozen=True)
class DrawnPath:
    """A drawn path."""

    kind: str
    truth: dict[str, float]
    fields: dict[str, Any]
    others: tuple[str, int] | None = None


@dataclass(frozen=True)
class Case:
    """A path, what was fitted and predicted, and what was captured."""

    path: DrawnPath
    fitted: FittedPath
    prediction: Prediction
    captured: dict[str, Outcome]


def drawn(seed: int, most_mbps: float) -> DrawnPath:
    """Draw a path on which a flow is alone."""
    chance = random.Random(seed * 7919 + 11)  # noqa: S311 -- an experiment's

    def between(low: float, high: float) -> float:
        return float(low * (high / low) ** chance.random())

    rate, rtt = between(2e6, most_mbps * 1e6), between(8e-3, 200e-3)
    bdps, kind = between(0.3, 8), chance.choice(KINDS)
    buffer = max(int(bdps * rate * rtt / 8), LEAST_BUFFER)
    fields = common(rate, rtt, seed)
    if kind in ("droptail", "loss"):
        fields["buffer"] = f"{buffer}B"
    else:
        fields["queue"] = kind
    if kind == "loss":
        fields["impair"] = f"random_loss:loss={100 * between(2e-5, 2e-3):.4f}%"
    truth = {"rate_bps": rate, "base_rtt_s": rtt}
    if "buffer" in fields:
        truth["buffer_bytes"] = buffer
    return DrawnPath(kind, truth, fields)


def drawn_shared(seed: int) -> DrawnPath:
    """Draw a path with hidden competitors."""
    chance = random.Random(seed * 104_729 + 5)  # noqa: S311 -- an experiment's

    def between(low: float, high: float) -> float:
        return float(low * (high / low) ** chance.random())

    rate, rtt, bdps = between(5e6, 100e6), between(10e-3, 120e-3), between(0.5, 4)
    others = chance.choice(OTHERS)
    buffer = max(int(bdps * rate * rtt / 8), LEAST_BUFFER)
    fields = {**common(rate, rtt, seed), "buffer": f"{buffer}B"}
    truth = {"rate_bps": rate, "base_rtt_s": rtt, "buffer_bytes": buffer}
    return DrawnPath(f"{others[1]} × {others[0]}", truth, fields, others)


def common(rate: float, rtt: float, seed: int) -> dict[str, Any]:
    """Return the fields that every path has."""
    return {
        "rate": f"{rate / 1e3:.0f}kbit",
        "rtt": f"{1e3 * rtt:.2f}ms",
        "time": TIME,
        "seed": seed,
    }


def measured(path: DrawnPath, engine: str, place: Path) -> Case:
    """Capture CUBIC and BBR on a path, and fit and predict from CUBIC's capture.

    Raises
    ------
    dumbbell.CaptureError
        The fit refuses the capture.
    """
    files, captured = {}, {}
    of = "" if engine == "simulator" else "linux/"
    for cc in ("cubic", "bbr"):
        groups: list[Any] = [f"{of}{cc}"]
        if path.others:
            groups.append(Group(f"{of}{path.others[0]}", flows=path.others[1]))
        files[cc] = place / f"{cc}.pcapng"
        dumbbell.run(
            Scenario(groups, **path.fields),
            engine=engine,
            capture=Capture(files[cc], points=["sender"], snap="96B"),
        )
        captured[cc] = Outcome.of(evidence_of(capture_of(files[cc]), 0))
    fitted = fit(files["cubic"], sender="cubic", points=["sender-0"])
    return Case(path, fitted, what_if(fitted, ["bbr"])[0], captured)


def capture_of(file: Path) -> dumbbell.Analysis:
    """Analyse a capture as the fit does."""
    return dumbbell.analyze(file, interval=INTERVAL, points=["sender-0"], segments=[0])


def covers(interval: Interval, truth: float) -> bool:
    """Whether an interval has the truth in it."""
    return interval.low <= truth <= interval.high


def share_of(flags: Sequence[bool]) -> str:
    """Write how many are true."""
    return f"{sum(flags)} of {len(flags)} ({100 * np.mean(flags):.0f} %)" if flags else "none"


def report(cases: Sequence[Case]) -> list[str]:
    """Return the result, a line each."""
    lines = []
    for name, within in (("rate_bps", 0.02), ("base_rtt_s", 0.02), ("buffer_bytes", 0.10)):
        pairs = [
            (case.fitted.intervals[name], float(case.path.truth[name]))
            for case in cases
            if name in case.fitted.intervals and name in case.path.truth
        ]
        close = [abs(found.value / true - 1) <= within for found, true in pairs]
        lines.append(
            f"{name}: within {100 * within:.0f} % {share_of(close)}; "
            f"intervals cover {share_of([covers(*pair) for pair in pairs])}"
        )
    lines.append(f"kind of path: {share_of([is_kind(case) for case in cases])}")
    for title, outcome in (
        ("predicted", predicted),
        ("CUBIC's numbers copied", copied),
    ):
        found = [outcome(case) for case in cases]
        goodput = [abs(each[0]) <= GOODPUT for each in found]
        delay = [abs(each[1]) <= DELAY for each in found]
        both = [a and b for a, b in zip(goodput, delay, strict=True)]
        shares = [abs(each[2]) <= SHARE for each in found]
        lines.append(
            f"BBR, {title}: goodput {share_of(goodput)}, p95 RTT {share_of(delay)}, "
            f"both {share_of(both)}; share within 8 points {share_of(shares)}"
        )
    return lines


def is_kind(case: Case) -> bool:
    """Whether the fit found the kind of path."""
    found = case.fitted.path
    return bool(found.competitors) if case.path.others else found.kind == NAMES[case.path.kind]


def predicted(case: Case) -> tuple[float, float, float]:
    """Return how far BBR's predicted goodput, p95 RTT and share are from what it got."""
    goodput, rtt = (case.prediction.interval(name).value for name in ("goodput_bps", "rtt_p95_s"))
    return away(case, goodput, rtt)


def copied(case: Case) -> tuple[float, float, float]:
    """Return how far CUBIC's own are."""
    own = case.captured["cubic"]
    return away(case, own.goodput_bps, own.rtt_p95_s)


def away(case: Case, goodput_bps: float, rtt_s: float) -> tuple[float, float, float]:
    """Return how far numbers are from what BBR got."""
    truth = case.captured["bbr"]
    return (
        goodput_bps / truth.goodput_bps - 1,
        rtt_s / truth.rtt_p95_s - 1,
        (goodput_bps - truth.goodput_bps) / case.path.truth["rate_bps"],
    )


def main() -> None:
    """Measure, and print the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engine", help="simulator, kernel, uml or uml:NAME")
    parser.add_argument("paths", type=int)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--most-rate", type=float, default=200.0, help="Mbit/s")
    parser.add_argument("--shared", action="store_true", help="with hidden competitors")
    asked = parser.parse_args()
    cases = []
    for seed in range(asked.first_seed, asked.first_seed + asked.paths):
        path = drawn_shared(seed) if asked.shared else drawn(seed, asked.most_rate)
        with tempfile.TemporaryDirectory() as place:
            try:
                cases.append(measured(path, asked.engine, Path(place)))
            except dumbbell.CaptureError as error:
                print(f"{seed}: refused: {error}")
    print("\n".join(report(cases)))


if __name__ == "__main__":
    main()
