"""Where results are written: behind links, in directories that cannot be written, in devices."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dumbbell.base import writing
from dumbbell.base.errors import ResultError
from dumbbell.base.writing import adding, check_replacing, replacing, write_file

from .test_writing import ENVIRONMENT, rename, tree, write_directory


def test_what_is_in_the_place_keeps_its_nature(tmp_path):
    place = tmp_path / "page.html"
    place.touch(0o600)
    write_file(place, "new")
    assert place.stat().st_mode & 0o777 == 0o600
    link = tmp_path / "link"
    link.symlink_to(place)
    write_file(link, "through")
    assert (link.is_symlink(), place.read_text()) == (True, "through")
    write_directory(tmp_path / "results", "older")
    latest = tmp_path / "latest"
    latest.symlink_to("results")
    write_directory(latest, "newer")
    assert (latest.is_symlink(), (tmp_path / "results/file").read_text()) == (True, "newer")
    script = "from pathlib import Path; from dumbbell.base.writing import *\n" \
             "write_file(Path('/dev/stdout'), 'said')"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", script], env=ENVIRONMENT, capture_output=True,
                          text=True, check=False)  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "said", "")
    assert Path("/dev/stdout").is_symlink()


def test_a_file_behind_a_link_is_whole_or_as_it_was(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("older")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "far").symlink_to("link")

    def write_half() -> None:
        with replacing(tmp_path / "far") as new:
            new.write_text("ha")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert (tmp_path / "file").read_text() == "older"
    synced: list[Path] = []
    monkeypatch.setattr(writing, "sync_entry", synced.append)
    write_file(tmp_path / "far", "newer")
    assert (tmp_path / "file").read_text() == "newer"
    assert (tmp_path / "far").is_symlink()
    assert synced[-1] == tmp_path


@pytest.mark.parametrize("is_through", [True, False])
def test_an_open_file_is_written_as_it_is(tmp_path, is_through):
    place = tmp_path / "stdout" if is_through else Path("/dev/stdout")
    if is_through:
        place.symlink_to("/dev/stdout")
    script = f"from pathlib import Path; from dumbbell.base.writing import *\n" \
             f"print('a', flush=True); write_file(Path('{place}'), 'b')"  # fmt: skip
    with (tmp_path / "file").open("w") as file:
        inode = os.fstat(file.fileno()).st_ino
        subprocess.run([sys.executable, "-c", script], env=ENVIRONMENT, stdout=file, check=True)
    assert (tmp_path / "file").stat().st_ino == inode
    assert [path.name for path in tmp_path.glob(".*")] == []


@pytest.mark.parametrize("name", [".", "x/..", "/", "absolute"])
def test_the_working_directory_is_not_replaced(tmp_path, monkeypatch, name, cli):
    (tmp_path / "here/x").mkdir(parents=True)
    (tmp_path / "here/new").write_text("mine")
    monkeypatch.chdir(tmp_path / "here")
    place = Path.cwd() if name == "absolute" else Path(name)
    with pytest.raises(ResultError, match="is the working directory or the root"):
        check_replacing(place)
    with pytest.raises(ResultError, match="is the working directory or the root"):
        write_directory(place, "newer")
    (tmp_path / "here/new").unlink()
    (tmp_path / "here/x").rmdir()
    if name == ".":
        outcome = cli("run", "reno", "--time", "1s", "--out", name)
        assert (outcome.code, outcome.out) == (2, "")
        assert "name another path, like `result`" in outcome.err
    assert tree(tmp_path) == {}


def test_a_directory_without_a_name_of_its_own_is_replaced(tmp_path, monkeypatch):
    (tmp_path / "out/x").mkdir(parents=True)
    write_directory(tmp_path / "out/x/..", "newer")
    assert tree(tmp_path) == {"out/file": b"newer"}
    (tmp_path / "out/here").mkdir()
    monkeypatch.chdir(tmp_path / "out/here")
    for path in (Path(".."), Path("../../out")):
        with pytest.raises(ResultError, match="cannot be written: is a directory"):
            write_file(path, "page")
        with pytest.raises(ResultError, match="cannot be written: is a directory"):
            check_replacing(path, is_file=True)


def test_files_are_added_only_where_no_directory_is(tmp_path):
    (tmp_path / "b").mkdir()

    def add() -> None:
        with adding(tmp_path) as place_for:
            for name in ("a", "b"):
                place_for(name).write_text("newer")

    with pytest.raises(ResultError, match=r"cannot be written: `.*/b` is a directory"):
        add()
    assert tree(tmp_path) == {}


@pytest.mark.parametrize("code", [errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY])
@pytest.mark.parametrize("call_that_fails", ["mkdir", "rename"])
def test_a_file_is_written_where_its_directory_is_not(tmp_path, monkeypatch, code, call_that_fails):
    (tmp_path / "page").write_text("older")

    def fail(path: Path, target: Path | None = None, **_: Any) -> Any:
        if target is None or target.name == "page":
            raise OSError(code, os.strerror(code), str(path))
        return rename(path, target)

    with monkeypatch.context() as unwritable:
        unwritable.setattr(Path, call_that_fails, fail)
        if call_that_fails == "mkdir":
            unwritable.setattr(writing, "Batch", fail)
        write_file(tmp_path / "page", "newer")
        with pytest.raises(ResultError, match=os.strerror(code).lower()):
            write_file(tmp_path / "missing/page", "x")
    assert tree(tmp_path) == {"page": b"newer"}


def test_links_that_are_a_loop_are_a_line(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    for write in (write_file, write_directory):
        with pytest.raises(ResultError, match="loop: cannot be written: too many levels"):
            write(tmp_path / "loop", "")


def test_the_file_that_is_at_fault_is_named(tmp_path):
    source = tmp_path / "cache/file"

    def copy() -> None:
        with replacing(tmp_path / "results/out") as new:
            shutil.copyfile(source, new)

    with pytest.raises(ResultError, match=f"^{source}: cannot be read or written: no such file"):
        copy()
    (tmp_path / "file").touch()
    with pytest.raises(ResultError, match=f"cannot be written: `{tmp_path / 'file'}` is not a"):
        write_file(tmp_path / "file/page", "")
