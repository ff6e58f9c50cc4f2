"""Sources next to results: damaged ones are written again, if their file is here."""

from __future__ import annotations

import os
import shutil

import pytest

from dumbbell import Scenario
from dumbbell.sweeps import Sweep

from .test_writing import ROOT, tree


@pytest.fixture
def swept(tmp_path, monkeypatch):
    """A sweep of a file, in `sweep`."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "cc/reno.bpf.c", "mine.bpf.c")
    Sweep(Scenario(["./mine.bpf.c"], time="1s"), {}).run(cache=False, out="sweep")
    return tmp_path


@pytest.mark.parametrize("names", ["*", "*.c", "sources.json"])
def test_emptied_sources_are_written_again(swept, cli, names):
    kept = tree(swept / "sweep/sources")
    assert set(kept) == {f"{next(iter(kept)).split('/')[0]}/{name}"
                         for name in ("mine.bpf.c", "sources.json")}  # fmt: skip
    for path in (swept / "sweep/sources").glob(f"*/{names}"):
        os.truncate(path, 0)
    damaged = tree(swept / "sweep")
    outcome = cli("archive", "sweep", "-o", "sweep.tar.zst")
    assert outcome.code == 0, outcome.err
    assert tree(swept / "sweep") == damaged
    assert cli("archive", "verify", "--trust", "sweep.tar.zst").code == 0
    outcome = cli("sweep", "--resume", "sweep")
    assert outcome.code == 0, outcome.err
    assert tree(swept / "sweep/sources") == kept


def test_emptied_sources_that_are_not_here_are_missed(swept, cli):
    for path in (swept / "sweep/sources").glob("*/*"):
        os.truncate(path, 0)
    (swept / "elsewhere").mkdir()
    (swept / "mine.bpf.c").rename(swept / "elsewhere/mine.bpf.c")
    outcome = cli("sweep", "--resume", "sweep")
    assert outcome.code == 2
    assert "lacks runs or the source of `./mine.bpf.c`" in outcome.err
    assert "is damaged" in cli("archive", "sweep", "-o", "sweep.tar.zst").err
    outcome = cli("sweep", "--resume", "sweep", "--cc", "elsewhere/mine.bpf.c")
    assert outcome.code == 0, outcome.err
    assert cli("archive", "sweep", "-o", "sweep.tar.zst").code == 0


def test_a_digest_that_was_kept_alone_is_mended_alone(swept, cli):
    sweep = Sweep(Scenario(["./mine.bpf.c"], time="1s"), {})
    sweep.run(cache=False, out="bare", texts=False)
    kept = tree(swept / "bare/sources")
    for path in (swept / "bare/sources").glob("*/*"):
        os.truncate(path, 0)
    assert cli("sweep", "--resume", "bare").code == 0
    assert tree(swept / "bare/sources") == kept
    assert len(kept) == 1
