"""A reader that goes away (`dumbbell … --out r | head -3`) takes no result along.

Every command that saves has saved before it prints.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dumbbell.cli import command_line, invoke

#: What commands read, made once by `made`.
RUN, SWEEP = "run", "sweep"
#: A command, and a file that it must leave.
SAVING = [
    ("run reno --time 1s --out new", "new/run.json"),
    ("run reno --time 1s --json --out new", "new/run.json"),
    ("run reno --time 1s --watch 0:cwnd_pkts --capture --out new", "new/capture.pcapng"),
    ("sweep reno --time 1s --buffer 1,2,4bdp --out new", "new/figures/*.svg"),
    ("sweep reno --time 1s --buffer 1,2,4bdp --json --out new", "new/figures/*.svg"),
    (f"plot {RUN} --series cwnd --out new", "new/cwnd.pdf"),
    (f"report {RUN} --out new.html", "new.html"),
    (f"report export {RUN} --csv --out new", "new/flows.csv"),
    ("validate reno --time 1s --reps 1 --simulator-reps 1 --out new", "new/report.html"),
    ("validate reno --time 1s --reps 1 --simulator-reps 1 --save new.json --out v", "new.json"),
    (f"analyze {RUN} --out new", "new/connections.parquet"),
    (f"analyze {RUN} {RUN} --out new", "new/1-run/connections.parquet"),
    (f"analyze {RUN} --match --out new", "new/matches.parquet"),
    (f"analyze {RUN} --packet-log new.csv", "new.csv"),
    ("gate regression --cc reno --case alone --reps 3 --record new", "new/baseline.json"),
    ("gate regression --cc reno --case alone --reps 3 --junit new.xml", "new.xml"),
    ("gate regression --cc reno --case alone --reps 3 --markdown new.md", "new.md"),
    (f"archive {SWEEP} --out new.tar.zst", "new.tar.zst"),
    ("score reno --only start --seeds 1 --out new", "new/score.json"),
    ("search copa --against cubic --worst drop_rate --evaluations 2 --time 3s --out new",
     "new/*.toml"),
    ("model compare ware --buffer 4bdp --flows 1 --out new", "new/*.svg"),
    ("cc new mine", "mine/mine.bpf.c"),
]  # fmt: skip
#: Options that name a file or directory to write.
WRITES = {"--out", "--save", "--record", "--junit", "--markdown", "--packet-log"}
#: What prints Markdown; papers and conformance, which take long; programs on the kernel
#: (`test_emulate.py`); captures (`test_output_pairs.py`).
ELSEWHERE = {
    ("list metrics", "--markdown"), ("reproduce", "--out"), ("conform", "--out"),
    ("emulate", "--out"), ("identify", "--out"), ("what-if", "--out"),
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a capture, and a sweep."""
    place = tmp_path_factory.mktemp("made")
    for words in (f"run reno cubic --time 1s --capture --out {place / RUN}",
                  f"sweep reno --time 1s --buffer 1,2bdp --out {place / SWEEP}"):  # fmt: skip
        assert invoke(words.split()) == 0
    return place


@contextmanager
def closed_stdout() -> Iterator[None]:
    """Make stdout a pipe that nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    with pytest.MonkeyPatch.context() as patch, os.fdopen(writer, "w", buffering=1) as pipe:
        patch.setattr(sys, "stdout", pipe)
        yield


@pytest.mark.parametrize(("words", "file"), SAVING, ids=[words for words, _ in SAVING])
def test_saves_before_it_prints(
    words: str,
    file: str,
    made: Path,
    fabricated_kernel: object,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for each in (RUN, SWEEP):
        (tmp_path / each).symlink_to(made / each)
    with closed_stdout():
        try:
            code = invoke(words.split())
        except SystemExit as leaving:  # as rich does
            code = int(str(leaving.code))
    assert "error" not in capsys.readouterr().err
    assert code == 1  # of the closed pipe
    assert list(tmp_path.glob(file)), sorted(tmp_path.iterdir())


def test_every_option_that_saves_is_tried() -> None:
    root: Any = command_line()
    root.list_commands(None)
    found: set[tuple[str, str]] = set()
    for name, command in root.commands.items():
        loaded = command.load()
        for part, each in [("", loaded), *getattr(loaded, "commands", {}).items()]:
            options = {option for param in each.params for option in param.opts}
            found |= {(f"{name} {part}".strip(), option) for option in options & WRITES}
    tried = {
        (name, option)
        for words, _ in SAVING
        for name, option in found
        if words.startswith(f"{name} ") and f" {option} " in words
    }
    assert found - tried == ELSEWHERE


def test_a_full_disk_at_stdout_takes_no_result_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Callable[..., Any]
) -> None:
    with Path("/dev/full").open("w", buffering=1, encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert invoke(["run", "reno", "--time", "1s", "--out", str(tmp_path / "new")]) == 2
        monkeypatch.undo()
    assert cli("report", "export", str(tmp_path / "new"), "--csv").code == 0
