"""An engine that is older than the Python around it says so, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from dumbbell.base.engine_compat import refuse_old_engine


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
