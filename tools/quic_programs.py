"""Writes the table of quinn simulated against quinn as a program, in docs/notes/quic.md.

``python tools/quic_programs.py PROGRAM virtual`` takes some minutes, ``real`` a minute for each row
and repetition; PROGRAM is what ``cargo build --release`` makes of ``tests/programs/quinn``.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from markdown_tables import markdown_table, replace_some  # next to this file

import dumbbell

PAGE = Path(__file__).parents[1] / "docs" / "notes" / "quic.md"
RATE, RTT = "20mbit", "40ms"
TIME_S = 60
BDP_BYTES, BDPS = 100_000, {"1bdp": 1, "4bdp": 4}
CASES = [("cubic", "1bdp"), ("reno", "1bdp"), ("cubic", "4bdp"), ("bbr", "4bdp")]
#: Without them a run in virtual time is the same again; those in real time are.
REPETITIONS = {"virtual": 2, "real": 1}
#: Lines of the client: ms, smoothed RTT in µs, cwnd, packets sent.
SAMPLE = re.compile(r"^(\d+) (\d+) (\d+) (\d+)$", re.MULTILINE)
TOTAL = re.compile(r"^total bytes (\d+) ms (\d+) lost_pkts (\d+)", re.MULTILINE)


class Seen(NamedTuple):
    """What one run shows.

    Attributes
    ----------
    goodput_mbps
        What the receiver's application read, or the sender learned that it had.
    rtt_ms
        Mean of the smoothed RTT over time.
    lost_pkts
        Packets that the sender declared lost.
    status
        Verdict.
    """

    goodput_mbps: float
    rtt_ms: float
    lost_pkts: float
    status: str


def program(path: str, cc: str, buffer: str, seed: int, clock: str) -> Seen:
    """Run the program over an emulated path, in which the client sends."""
    command = [sys.executable, "-m", "dumbbell", "emulate", "--json", "--seed", str(seed)]
    command += ["--virtual"] if clock == "virtual" else []
    # The client sends. The way back has no rate, as in the simulator: ACKs do not queue there.
    command += ["--up-rate", RATE, "--up-buffer", f"{BDPS[buffer] * BDP_BYTES}B"]
    command += ["--rate", "none", "--rtt", RTT, "--ready", "udp:4433"]
    command += ["--serve", f"{path} server 0.0.0.0:4433", "--"]
    command += [path, "client", "server:4433", cc, str(TIME_S)]
    done = subprocess.run(  # noqa: S603 - the program that the user names
        command, capture_output=True, text=True, check=True
    )
    result: dict[str, Any] = json.loads(done.stdout)
    total = TOTAL.search(done.stderr)
    if total is None:
        raise SystemExit(f"error: {path} printed no totals: {done.stderr[-300:]}")
    rtts_us = [int(found[2]) for found in SAMPLE.finditer(done.stderr)]
    return Seen(
        int(total[1]) * 8 / int(total[2]) / 1e3, fmean(rtts_us) / 1e3, int(total[3]),
        result["verdict"]["status"],
    )  # fmt: skip


def simulated(cc: str, buffer: str, seed: int) -> Seen:
    """Run the same as a flow of the simulator."""
    run = dumbbell.run(
        [f"quic/quinn:{cc}"], rate=RATE, rtt=RTT, buffer=buffer, time=f"{TIME_S}s", seed=seed,
        sample="10ms",
    )  # fmt: skip
    (flow,) = run.summary["flows"]
    rtts_us = [value for value in run.flows["srtt_us"].to_pylist() if value]
    return Seen(
        flow["received_bytes"] * 8 / TIME_S / 1e6, fmean(rtts_us) / 1e3, flow["lost_pkts"],
        run.verdict.status,
    )  # fmt: skip


def mean_of(seen: Sequence[Seen]) -> Seen:
    """Return the means, and the worst verdict."""
    numbers = [fmean(values) for values in zip(*(each[:3] for each in seen), strict=True)]
    worst = max((each.status for each in seen), key=["OK", "WARN", "INVALID"].index)
    return Seen(numbers[0], numbers[1], numbers[2], worst)


def table(path: str, clock: str) -> str:
    """Return the table of a clock."""
    body = []
    seeds = range(1, REPETITIONS[clock] + 1)
    for cc, buffer in CASES:
        own = mean_of([simulated(cc, buffer, seed) for seed in seeds])
        real = mean_of([program(path, cc, buffer, seed, clock) for seed in seeds])
        body.append(
            [
                f"`{cc}`", buffer.replace("bdp", " BDP"),
                f"{own.goodput_mbps:.2f}", f"{real.goodput_mbps:.2f}",
                f"{100 * (own.goodput_mbps / real.goodput_mbps - 1):+.1f} %",
                f"{own.rtt_ms:.1f}", f"{real.rtt_ms:.1f}",
                f"{100 * (own.rtt_ms / real.rtt_ms - 1):+.1f} %",
                f"{own.lost_pkts:.0f}", f"{real.lost_pkts:.0f}", real.status,
            ]
        )  # fmt: skip
        print(*body[-1], flush=True)
    head = (
        "", "buffer", "simulated, Mbit/s", "program, Mbit/s", "", "simulated, ms", "program, ms",
        "", "lost, simulated", "lost, program", "verdict",
    )  # fmt: skip
    return markdown_table(head, body)


def main(path: str, clock: str) -> None:
    """Replace the table of a clock."""
    made = table(str(Path(path).resolve()), clock)
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(replace_some(text, {f"program_{clock}": made}), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] not in REPETITIONS:
        raise SystemExit("usage: quic_programs.py PROGRAM virtual|real")
    main(*sys.argv[1:])
