"""What killed processes left: whose it is, what is said of it, and when it is removed."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from dumbbell.base.scratch import abandoned, host, recover, scratch_in
from dumbbell.base.writing import Batch, write_file


def test_a_result_that_an_earlier_version_was_replacing_stays(tmp_path, caplog):
    left = tmp_path / ".dumbbell-0123456789abcdef"
    (left / "old").mkdir(parents=True)
    (left / "old/run.json").write_text("{}")
    write_file(tmp_path / "page.html", "")
    assert (left / "old/run.json").is_file()
    assert f"`{left / 'old'}` is a result" in caplog.messages[0]

    (left / "old").rename(tmp_path / f"{left.name}-old")
    for _ in range(2):
        write_file(tmp_path / "page.html", "")
    assert (tmp_path / f"{left.name}-old/run.json").is_file()
    assert [said.split("`")[1].removeprefix(str(left)) for said in caplog.messages] == [
        "/old",
        "-old",
    ]


def test_what_cannot_be_removed_is_not_said_to_be(tmp_path, caplog, monkeypatch):
    left = tmp_path / ".dumbbell-0123456789abcdef"
    (left / "new/out").mkdir(parents=True)
    with monkeypatch.context() as sticky:
        sticky.setattr(shutil, "rmtree", lambda *_, **__: None)
        recover(tmp_path)
    assert caplog.messages == []
    recover(tmp_path)
    assert f"removed `{left}`" in caplog.messages[0]


@pytest.mark.parametrize(("made_by", "stays"), [("other 1234", True), ("", False)])
def test_what_another_machine_writes_is_left_alone(tmp_path, made_by, stays):
    left = tmp_path / ".dumbbell-0123456789abcdef"
    (left / "new/out").mkdir(parents=True)
    (left / "lock").write_text(made_by)
    recover(tmp_path)
    assert left.exists() == stays
    with scratch_in(tmp_path) as own:
        assert {*(own / "lock").read_text().split()} == host()
        recover(tmp_path)
        assert own.exists()


def test_the_lock_ends_with_a_second_interrupt(tmp_path, monkeypatch):
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    def write() -> None:
        with Batch(tmp_path):
            monkeypatch.setattr(shutil, "rmtree", interrupt)

    with pytest.raises(KeyboardInterrupt):
        write()
    assert len(list(abandoned(tmp_path))) == 1
