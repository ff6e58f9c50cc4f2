"""Congestion controls with one planted change, as a user's own source files."""

from __future__ import annotations

from pathlib import Path

SOURCES = Path(__file__).parents[2] / "cc"


def edited(folder: Path, source: str, old: str, new: str) -> Path:
    """Copy a congestion control and its header into a folder, and change one place in either."""
    folder.mkdir(parents=True, exist_ok=True)
    found = 0
    for name in (source, "bbr_v1.h"):
        text = (SOURCES / name).read_text(encoding="utf-8")
        found += text.count(old)
        (folder / name).write_text(text.replace(old, new), encoding="utf-8")
    assert found == 1, f"{old!r} is in the sources {found} times"
    return folder / source


def cubic_with_beta_08(folder: Path) -> Path:
    """CUBIC that keeps 0.8 of its window after a loss, not 0.7."""
    return edited(folder, "cubic.bpf.c", "PARAM(u32, beta, 717,", "PARAM(u32, beta, 819,")


def bbr_without_drain(folder: Path) -> Path:
    """BBR that goes from STARTUP to PROBE_BW without draining the queue that STARTUP made."""
    return edited(
        folder, "bbr.bpf.c", "\t\tca->mode = BBR_DRAIN;\n", "\t\tbbr_enter_probe_bw(sk);\n"
    )


def unchanged(folder: Path, source: str) -> Path:
    """The same congestion control with a comment more."""
    return edited(folder, source, "#include <bpf/bpf_helpers.h>\n",
                  "#include <bpf/bpf_helpers.h>\n/* the same */\n")  # fmt: skip
