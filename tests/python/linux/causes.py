"""Where ours and Linux's part: the same two sources with the documented difference taken away.

``python -m tests.python.linux.causes DIR`` prints what is left. Ours is changed towards Linux's by
its text. Linux's CUBIC gets our cube root, so that nothing of Linux's text is here.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dumbbell import LinuxTree, Run
from tests.python.linux.ours_and_linux import (
    ECN,
    SCENARIOS,
    run,
    trace_difference_pct,
)

__all__ = ["CAUSES", "Cause"]

OURS = Path(__file__).parents[3] / "cc"
CUBE_ROOT = re.compile(r"^static u32 cubic_root\(u64 a\)\n\{.*?^\}$", re.MULTILINE | re.DOTALL)


def replaced(text: str, *changes: tuple[str, str]) -> str:
    """Replace passages, each of which is there once."""
    for old, new in changes:
        assert text.count(old) == 1, f"the source has changed: {old}"
        text = text.replace(old, new)
    return text


def cubic_of_jiffies(text: str) -> str:
    """Time in whole ms: Linux counts jiffies."""
    return replaced(
        text,
        (
            "\tu64 now_us = tp->tcp_mstamp;\n\tu64 since_us",
            "\tu64 now_us = tp->tcp_mstamp / 1000 * 1000;\n\tu64 since_us",
        ),
    )


def with_our_cube_root(text: str) -> str:
    """Linux's CUBIC with an exact cube root, and where it is that old HyStart's rounds of today."""
    text = with_rounds_of_small_windows(text)
    ours = CUBE_ROOT.search((OURS / "cubic.bpf.c").read_text())
    linuxs = CUBE_ROOT.search(text)
    assert ours, "our cube root is not where it was"
    assert linuxs, "Linux's cube root is not where it was"
    return replaced(text, (linuxs[0], ours[0]))


def with_rounds_of_small_windows(text: str) -> str:
    """HyStart counts rounds from the first packet on; Linux 5.10 began at `hystart_low_window`."""
    begins_late = " &&\n\t    tp->snd_cwnd >= hystart_low_window)"
    if begins_late not in text:
        return text
    looks = "\tif (hystart_detect & HYSTART_ACK_TRAIN) {"
    return replaced(
        text,
        (begins_late, ")"),
        (looks, f"\tif (tp->snd_cwnd < hystart_low_window)\n\t\treturn;\n{looks}"),
    )


def bbr_with_linuxs_phase(text: str) -> str:
    """The same draw is the same phase: Linux counts it from the cycle's end."""
    return replaced(
        text,
        (
            "bbr_enter_phase(sk, phase < PHASE_DOWN ? phase : phase + 1);",
            "bbr_enter_phase(sk, CYCLE_LEN - phase);",
        ),
    )


def dctcp_of_10_bits(text: str) -> str:
    """Alpha with 10 fractional bits, which falls to 0 where a part in 16 of it is none."""
    return replaced(
        text,
        ("#define ALPHA_SHIFT\t20", "#define ALPHA_SHIFT\t10"),
        (
            "ca->alpha += (ca->marked >> g_shift) - (ca->alpha >> g_shift);",
            "ca->alpha -= ca->alpha >> g_shift ? ca->alpha >> g_shift : ca->alpha;\n"
            "\tca->alpha += (delivered_ce << (ALPHA_SHIFT - g_shift)) / max(delivered, 1U);",
        ),
    )


@dataclass(frozen=True)
class Cause:
    """A difference, taken away.

    Attributes
    ----------
    name
        Of the congestion control.
    file
        Of ours, the file that is changed.
    ours, linuxs
        What is done to either source; None: it stays as it is, where it is.
    left_pct
        How far apart the traces may still be.
    """

    name: str
    file: str
    ours: Callable[[str], str]
    linuxs: Callable[[str], str] | None
    left_pct: float

    def differences_pct(self, tree: LinuxTree, directory: Path) -> dict[str, float]:
        """Return how far apart cwnd and pacing rate are, by scenario, whichever is more."""
        ours, linuxs = self.sources(tree, directory)
        ecn = ECN if self.name == "dctcp" else {}
        found = {}
        for scenario, settings in SCENARIOS.items():
            runs = [run([cc], time="60s", **settings, **ecn) for cc in (ours, linuxs)]
            found[scenario] = either_trace_pct(*runs)
        return found

    def sources(self, tree: LinuxTree, directory: Path) -> tuple[str, str]:
        """Write what is changed; return the paths of both sources."""
        ours, linuxs = directory / f"{self.name}.bpf.c", Path(tree.source(self.name))
        ours.write_text((OURS / ours.name).read_text())
        changed = directory / self.file
        changed.write_text(self.ours((OURS / self.file).read_text()))
        if self.linuxs is not None:
            text = self.linuxs(linuxs.read_text())
            linuxs = directory / linuxs.name
            linuxs.write_text(text)
        return str(ours), str(linuxs)


def either_trace_pct(ours: Run, linuxs: Run) -> float:
    """Return how far apart cwnd or the pacing rate is, whichever is more."""
    cwnd, pacing = (
        trace_difference_pct(ours, linuxs, column) for column in ("cwnd_pkts", "pacing_rate_bps")
    )
    assert cwnd is not None, "no cwnd was sampled in both runs"
    return cwnd if pacing is None else max(cwnd, pacing)  # what is not paced has no rate


CAUSES = (
    Cause("cubic", "cubic.bpf.c", cubic_of_jiffies, with_our_cube_root, 0.5),
    Cause("bbr", "bbr_v1.h", bbr_with_linuxs_phase, None, 0.0),
    Cause("dctcp", "dctcp.bpf.c", dctcp_of_10_bits, None, 0.0),
)


def main(root: str) -> None:
    """Print how far apart the traces are without the differences."""
    for cause in CAUSES:
        with tempfile.TemporaryDirectory() as directory:
            differences = cause.differences_pct(LinuxTree(root), Path(directory))
        for scenario, percent in differences.items():
            print(f"{cause.name}, {scenario}: {percent:.2f} %")  # noqa: T201 -- what it is for


if __name__ == "__main__":
    main(sys.argv[1])
