"""What is written is whole or absent: after interrupts, full disks, killed processes, no power."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell.base import writing
from dumbbell.base.errors import ResultError
from dumbbell.base.writing import Batch, adding, replacing, write_file
from dumbbell.sweeps import Sweep, SweepResult

from .own_mounts import in_own_mounts
from .power_failure import KINDS, digest_of

HERE = Path(__file__).parent
PACKAGES = Path(dumbbell.__file__).parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(PACKAGES)}
ROOT = HERE.parents[1]
call, rename = writing.call, Path.rename


def without_exchange(name: str, *arguments: Any) -> int:
    """Call the C library of a file system without RENAME_EXCHANGE."""
    return errno.EINVAL if name == "renameat2" else call(name, *arguments)


@pytest.fixture(params=["exchange", "two renames"])
def either_way(request, monkeypatch):
    """Replace directories both ways."""
    if request.param != "exchange":
        monkeypatch.setattr(writing, "call", without_exchange)
    return request.param


def write_directory(place: Path, text: str) -> None:
    """Write a directory with a file."""
    with replacing(place) as new:
        new.mkdir()
        (new / "file").write_text(text)


def tree(directory: Path) -> dict[str, bytes]:
    """Return every file below a directory."""
    return {str(path.relative_to(directory)): path.read_bytes()
            for path in directory.rglob("*") if path.is_file()}  # fmt: skip


# Power failures.


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_power_failure_leaves_what_was_saved(kind, tmp_path):
    if shutil.which(KINDS[kind][0][0]) is None:
        pytest.skip(f"not installed: {KINDS[kind][0][0]}")
    words = (sys.executable, str(HERE / "power_failure.py"), kind, str(tmp_path))
    done = in_own_mounts("", *words, env=ENVIRONMENT)
    if done.returncode and "'mount'" in done.stderr:
        pytest.skip(f"no image can be mounted here as {kind}")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["copies"]
    assert found["faults"] == []


def test_a_directory_is_synced_before_it_is_exchanged_and_the_older_one_removed_last(
    tmp_path, monkeypatch, either_way
):
    write_directory(tmp_path / "out", "older")
    done: list[str] = []

    def noted(what: str, action: Callable[..., Any]) -> Callable[..., Any]:
        def act(*arguments: Any, **options: Any) -> Any:
            result = action(*arguments, **options)
            done.append(what.format(*(Path(str(each)).name for each in arguments)))
            return result

        return act

    monkeypatch.setattr(writing, "sync", lambda new, _: done.append(f"sync {len(new)}"))
    monkeypatch.setattr(writing, "sync_entry", noted("sync {0}", writing.sync_entry))
    monkeypatch.setattr(writing, "call", noted("exchange", writing.call))
    monkeypatch.setattr(Path, "rename", noted("rename {0} {1}", rename))
    monkeypatch.setattr(shutil, "rmtree", noted("remove {0}", shutil.rmtree))
    write_directory(tmp_path / "out", "newer")
    two = ["remove out", "rename out out", "rename out out"]
    assert done[1:-1] == [  # without those of the scratch directory
        "sync 1", "exchange", *(two if either_way == "two renames" else []),
        f"sync {tmp_path.name}", "remove older" if either_way == "two renames" else "remove out",
    ]  # fmt: skip
    assert (tmp_path / "out/file").read_text() == "newer"


def test_a_damaged_cache_is_the_same_as_none(tmp_path):
    sweep = Sweep(dumbbell.Scenario(["reno"], time="1s"), {"buffer": "1..2bdp"})
    first = sweep.run(cache=tmp_path / "cache", out=tmp_path / "first")
    for path in (tmp_path / "cache").rglob("*.*"):
        os.truncate(path, 0)
    again = sweep.run(cache=tmp_path / "cache", out=tmp_path / "again")
    assert again.rows.equals(first.rows)
    assert tree(tmp_path / "again/runs") == tree(tmp_path / "first/runs")
    assert "2 runs in the cache cannot be read, and ran again" in again.notes[0]


# Interrupts and full disks.


@pytest.mark.parametrize("how", [KeyboardInterrupt(), OSError(errno.ENOSPC, "full")])
@pytest.mark.parametrize("after", [True, False])
def test_between_two_renames_nothing_is_lost(tmp_path, monkeypatch, how, after):
    write_directory(tmp_path / "out", "older")
    monkeypatch.setattr(writing, "call", without_exchange)

    def rename_and_fail(path: Path, target: Path) -> Path:
        moves_away = target.parent.name == "older"
        if moves_away and not after:
            raise how
        result = rename(path, target)
        if moves_away:
            raise how
        return result

    with monkeypatch.context() as interrupted:
        interrupted.setattr(Path, "rename", rename_and_fail)
        with pytest.raises((KeyboardInterrupt, ResultError)):
            write_directory(tmp_path / "out", "newer")
    assert tree(tmp_path) == {"out/file": b"older"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_cannot_be_put_back_is_put_back_by_the_next(tmp_path, monkeypatch, caplog):
    write_directory(tmp_path / "out", "older")
    monkeypatch.setattr(writing, "call", without_exchange)

    def rename_away(path: Path, target: Path) -> Path:
        if (tmp_path / "out").exists():
            return rename(path, target)
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as full:
        full.setattr(Path, "rename", rename_away)
        with pytest.raises(ResultError, match="out: cannot be written: no space left on device"):
            write_directory(tmp_path / "out", "newer")
    assert not (tmp_path / "out").exists()
    write_file(tmp_path / "page.html", "")
    assert (tmp_path / "out/file").read_text() == "older"
    assert caplog.messages == [
        f"note: `{tmp_path / 'out'}` is back: a command that was replacing it was killed"
    ]
    assert {path.name for path in tmp_path.iterdir()} == {"out", "page.html"}


@pytest.mark.parametrize("is_there", [True, False])
def test_a_full_disk_leaves_files_as_they_were(tmp_path, monkeypatch, is_there):
    """Every command writes by `adding`, `replacing` or a `Batch`; see the last test here."""
    if is_there:
        (tmp_path / "a").write_text("older")
    before = tree(tmp_path)

    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, "full")

    def add() -> None:
        with adding(tmp_path) as new:
            for name in ("a", "b"):
                new(name).write_text("newer")

    def settle() -> None:
        with Batch(tmp_path) as batch:
            with batch.new("c") as path:
                path.mkdir()
            batch.settle()

    monkeypatch.setattr(writing, "sync", full)
    for write in (add, settle, lambda: write_file(tmp_path / "a", "newer")):
        with pytest.raises(ResultError, match="cannot be written: no space left"):
            write()
    assert tree(tmp_path) == before
    assert len(list(tmp_path.iterdir())) == len(before)


def test_what_failed_in_the_background_is_an_error_of_the_next(tmp_path, monkeypatch):
    failed = threading.Event()

    def full(*_: Any) -> int:
        failed.set()
        raise OSError(errno.EIO, "broken")

    def write() -> None:
        with Batch(tmp_path, every_s=0.001) as batch:
            with batch.new("a") as path:
                path.mkdir()
            assert failed.wait(60)

    monkeypatch.setattr(writing, "sync", full)
    with pytest.raises(ResultError, match="cannot be written: input/output error"):
        write()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_does_not_hide_an_interrupt(tmp_path, monkeypatch, caplog):
    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, "full")

    def write() -> None:
        with Batch(tmp_path) as batch:
            with batch.new("a") as new:
                new.mkdir()
            raise KeyboardInterrupt

    monkeypatch.setattr(writing, "sync", full)
    with pytest.raises(KeyboardInterrupt):
        write()
    assert "a: cannot be written: no space left" in caplog.messages[0]


def test_what_could_not_be_put_in_place_is_tried_again(tmp_path, monkeypatch):
    failed = threading.Event()
    sync = writing.sync

    def fail_once(*arguments: Any) -> None:
        if not failed.is_set():
            failed.set()
            raise MemoryError
        sync(*arguments)

    monkeypatch.setattr(writing, "sync", fail_once)
    with Batch(tmp_path, every_s=0.001) as batch:
        with batch.new("a") as new:
            new.mkdir()
        assert failed.wait(60)
        while batch.error is None:
            pass
        with pytest.raises(MemoryError), batch.new("b"):
            pass
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


# Killed processes, and several at once.

KILLED = """
import errno, os, signal, sys
from pathlib import Path
from dumbbell.base import writing
from dumbbell.cli import invoke

rename, call = Path.rename, writing.call

def rename_and_die(path, target):
    result = rename(path, target)
    if target.parent.name == "older":
        os.kill(os.getpid(), signal.SIGKILL)
    return result

def call_and_die(name, *arguments):
    if name == "renameat2" and sys.argv[1] == "two renames":
        return errno.EINVAL
    if name == "syncfs" and sys.argv[1] == "unfinished":
        os.kill(os.getpid(), signal.SIGKILL)
    failed = call(name, *arguments)
    if name == "renameat2":
        os.kill(os.getpid(), signal.SIGKILL)
    return failed

Path.rename, writing.call = rename_and_die, call_and_die
invoke(sys.argv[2:])
"""


@pytest.mark.parametrize("when", ["two renames", "exchange", "unfinished"])
def test_the_next_command_names_what_a_killed_one_left(tmp_path, when):
    command = ("run", "reno", "--time", "1s", "--out", "out")
    options: Any = {"cwd": tmp_path, "env": ENVIRONMENT, "capture_output": True, "text": True,
                    "check": False}  # fmt: skip
    older = dumbbell.run(["cubic"], time="1s")
    older.save(tmp_path / "out")
    older_digest = digest_of(tmp_path / "out")
    killed = subprocess.run([sys.executable, "-c", KILLED, when, *command], **options)
    assert killed.returncode == -signal.SIGKILL
    assert len(list(tmp_path.glob(".dumbbell-*"))) == 1
    again = [sys.executable, "-m", "dumbbell", *command[:-1], "other"]
    done = subprocess.run(again, **options)
    said = "`out` is back: a command that was replacing it was killed"
    if when != "two renames":
        said = r"removed `.dumbbell-\w{16}`, left by a command that was killed while it wrote `out`"
    assert re.fullmatch(f"note: {said}\n", done.stderr), done.stderr
    assert (digest_of(tmp_path / "out") == older_digest) == (when != "exchange")
    assert dumbbell.Run.load(tmp_path / "out").flows.num_rows
    assert not list(tmp_path.glob(".dumbbell-*"))
    assert subprocess.run(again, **options).stderr == ""


def test_sweeps_into_one_directory_at_once(tmp_path, either_way, monkeypatch):
    monkeypatch.setattr("dumbbell.sweeps.sweep_directory.SETTLE_S", 0.001)
    sweep = Sweep(dumbbell.Scenario(["copa"], time="1s", sample="100ms"), {"buffer": "1..8bdp"})
    alone = sweep.run(cache=False, out=tmp_path / "alone")
    for _ in range(3):
        with ThreadPoolExecutor(4) as pool:
            ran = [pool.submit(sweep.run, cache=False, out=tmp_path / "out") for _ in range(4)]
        for each in ran:
            assert each.result().rows.equals(alone.rows)
            assert all(run.flows.num_rows for run in each.result().runs.values())
        assert tree(tmp_path / "out") == tree(tmp_path / "alone")
        for path in (tmp_path / "out/runs").glob("*/provenance.json"):
            os.truncate(path, 0)  # so that the next ones replace the runs
    assert len(SweepResult.load(tmp_path / "out").runs) == 4


# No other way.

#: What opens a file to write it, or puts it in place.
WRITES = re.compile(
    r"\.(?:write_(?:text|bytes|table|csv|feather)|savefig|rename)\(|copyfile\("
    r"|\bopen\([^)]*[\"'][wxa]b?[\"']"
)
#: What users do not keep: processes' own files, devices, temporary directories and the cache's tag;
#: kernels, which are built in a temporary directory that is moved into place; and a capture, which
#: grows as its run does.
OTHERS = {
    "base/scratch.py", "base/writing.py", "archive/extract.py", "cli/streams.py",
    "emulation/control_socket.py", "emulation/way_out.py", "figures/canvas.py",
    "kernels/build.py", "kernels/built.py", "kernels/edits.py", "run/capture.py",
    "run/foreign_run.py", "runs/cache.py", "runs/inventory.py", "sweeps/labelled.py",
    "congestion_control/isolation/server.py", "congestion_control/isolation/worker.py",
}  # fmt: skip


#: Where what is written is named by `replacing`, `Batch` or `adding`, or in memory.
OURS = re.compile(r"\b(new|place_for|stream)\b")


def test_a_directory_that_appears_between_two_looks_is_no_device(tmp_path):
    def write(place: Path) -> None:
        with replacing(place) as new:
            new.mkdir()
            (new / "file").write_text("whole", encoding="utf-8")

    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            for turn in range(60):
                list(pool.map(write, [tmp_path / f"{turn}"] * 8))
    finally:
        sys.setswitchinterval(usual)
    assert {path.read_text(encoding="utf-8") for path in tmp_path.glob("*/file")} == {"whole"}


def test_nothing_that_users_keep_is_written_in_another_way():
    found = []
    for package in ("dumbbell", "dumbbell_studies"):
        for path in sorted((PACKAGES / package).rglob("*.py")):
            if str(path.relative_to(PACKAGES / package)) not in OTHERS:
                found += [f"{path}: {line.strip()}" for line in path.read_text().splitlines()
                          if WRITES.search(line) and not OURS.search(line)]  # fmt: skip
    assert found == []
