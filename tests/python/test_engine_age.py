"""An engine that is older than the Python around it says so, and what to do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import dumbbell.cli
from dumbbell import _core
from dumbbell.base.engine_compat import changed_since_build, refuse_old_engine


def test_what_is_missing_is_named_with_the_remedy(tmp_path: Path) -> None:
    stub = tmp_path / "_core.pyi"
    stub.write_text('__all__ = [\n    "describe",\n    "invented",\n]\n')
    with pytest.raises(ImportError, match=r"\(no `invented`\); run `make build`"):
        refuse_old_engine(stub)


def test_the_command_line_says_it_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stub = tmp_path / "_core.pyi"
    stub.write_text('__all__ = ["invented"]\n')
    monkeypatch.setattr("sys.argv", ["/usr/bin/dumbbell", "run"])
    with pytest.raises(SystemExit) as left:
        refuse_old_engine(stub)
    said = capsys.readouterr().err
    assert left.value.code == 2
    assert said.startswith("error: the engine is older")
    assert said.count("\n") == 1


def test_a_source_that_changed_since_the_build_is_found(tmp_path: Path) -> None:
    built = Path(str(_core.__file__)).stat().st_mtime
    for name, age_s in (("crates/net/src/queue/red.rs", 1), ("cc/reno.bpf.c", 2)):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.touch()
        os.utime(path, (built, built - age_s))
    assert changed_since_build(tmp_path) == ""
    os.utime(tmp_path / "cc/reno.bpf.c", (built, built + 1))
    assert changed_since_build(tmp_path) == "cc/reno.bpf.c"
    assert changed_since_build(tmp_path / "installed") == ""


def test_an_error_inside_says_that_the_engine_is_old(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> int:
        raise AttributeError("no `invented`")

    monkeypatch.setattr(dumbbell.cli, "call", fail)
    monkeypatch.setattr(dumbbell.cli, "changed_since_build", lambda: "cc/reno.bpf.c")
    assert dumbbell.cli.invoke(["run"]) == 2
    said = capsys.readouterr().err
    assert said.endswith("it is older than cc/reno.bpf.c; run `make build`\n")
    assert "Traceback" in said
    monkeypatch.setattr(dumbbell.cli, "changed_since_build", lambda: "")
    with pytest.raises(AttributeError):
        dumbbell.cli.invoke(["run"])
