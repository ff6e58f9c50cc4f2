"""docs/security.md: its tour gives what it shows, and its limits are those of the code."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from dumbbell.base.quantities import printable
from dumbbell.cc_check import storm
from dumbbell.congestion_control import sources
from dumbbell.congestion_control.isolation import foreign_process, protocol
from tests.python.conftest import Outcome

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs/security.md").read_text(encoding="utf-8")
RUST = ROOT / "crates/cc/src"


def rust_constant(file: str, name: str) -> int:
    """Return a constant of the engine, written as `4 << 30` or `86_400`."""
    match = re.search(rf"{name}[^=]*= ([\d_]+)(?: << (\d+))?;", (RUST / file).read_text())
    assert match is not None, name
    return int(match[1]) << int(match[2] or 0)


@pytest.mark.parametrize(
    ("shown", "limit"),
    [
        ("one call of an algorithm | {:g} s of CPU", foreign_process.FUNCTION_LIMIT_S),
        ("top level | {:g} s, of CPU time", foreign_process.LOADING_LIMIT_S),
        ("sleeping, stopped, waiting | {:g} s |", foreign_process.STALL_LIMIT_S),
        ("writing the tables at the end | {:g} s |", foreign_process.FINISHING_LIMIT_S),
        ("what it prints | {:g} kB are shown", printable.MESSAGE_BYTES / 1024),
        ("at most {:g} MiB each", protocol.FRAME_BYTES / 2**20),
        ("a program of `cc check` | {:g} s and", storm.LIMIT_S),
        ("s and {:g} GB | a finding", storm.MEMORY_BYTES / 2**30),
        ("kept for results | {:g} MiB", sources.MAX_KEPT_BYTES / 2**20),
        ("did not end within {:g} s", rust_constant("build/toolchain.rs", "COMPILER_LIMIT_S")),
        (
            "it writes | {:g} GiB",
            rust_constant("build/toolchain.rs", "ADDRESS_SPACE_BYTES") / 2**30,
        ),
        ("GiB; {:g} MiB |", rust_constant("build/toolchain.rs", "const FILE_BYTES") / 2**20),
        ("at least {:g} GiB", rust_constant("sandbox/limits.rs", "SMALLEST_BYTES") / 2**30),
    ],
)
def test_the_limits_are_those_of_the_code(shown: str, limit: float) -> None:
    assert shown.format(limit) in DOCUMENT


def test_the_pieces_are_those_of_the_code() -> None:
    pieces = (RUST / "sandbox/pieces.rs").read_text()
    costs = re.findall(r'=> \{?\s*"(foreign code [^"]+|a compiler [^"]+)"', pieces)
    assert len(costs) == 5
    assert [cost for cost in costs if cost not in DOCUMENT] == []


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the tour's file is for x86-64")
def test_the_tour_gives_what_it_shows(
    cli: Callable[..., Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tour = DOCUMENT.partition("## Your colleague's file")[2].partition("## Results")[0]
    (source,) = re.findall(r"^```c\n(.*?)^```", tour, re.MULTILINE | re.DOTALL)
    Path("better.bpf.c").write_text(source)
    steps = re.findall(r"^    dumbbell ([^\n]+)\n\n```\n(.*?)^```", tour, re.MULTILINE | re.DOTALL)
    assert [words.split()[0] for words, _ in steps] == ["cc", "run", "sweep"]
    for words, shown in steps:
        small = ["--storms", "1"] if words.startswith("cc check") else []
        outcome = cli(*words.split(), *small)
        printed = {" ".join(line.split()) for line in (outcome.out + outcome.err).splitlines()}
        for line in shown.splitlines():
            assert " ".join(line.split()) in printed, f"`dumbbell {words}`: {printed}"
