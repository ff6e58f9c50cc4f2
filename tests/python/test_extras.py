"""Packages that only an extra installs: the error names the extra, and pyproject.toml has it."""

import tomllib
from pathlib import Path

import pytest

from dumbbell import MissingPackageError
from dumbbell.base.optional import optional

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "xarray", None)
    expected = (
        r"a labelled array needs the package `xarray`; run `pip install 'dumbbell\[xarray\]'`"
    )
    with pytest.raises(MissingPackageError, match=expected):
        optional("xarray", extra="xarray", purpose="a labelled array")


@pytest.mark.parametrize(
    ("package", "extra"),
    [
        ("distributed", "dask"),
        ("junitparser", "gate"),
        ("matplotlib", "plot"),
        ("pandas", "pandas"),
        ("optuna", "tune"),
        ("xarray", "xarray"),
        ("ziglang", "cc"),
    ],
)
def test_a_package_is_in_its_extra_and_not_in_the_core(package, extra):
    assert any(line.startswith(package) for line in PROJECT["optional-dependencies"][extra])
    assert not any(line.startswith(package) for line in PROJECT["dependencies"])


def test_without_matplotlib_a_sweep_is_saved_and_reported_and_says_what_is_missing(cli, tmp_path):
    import sys
    from importlib import util

    real = util.find_spec

    def without(name: str, package: str | None = None):
        return None if name == "matplotlib" else real(name, package)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "matplotlib", None)
        patch.setattr("dumbbell.figures.frame.find_spec", without)
        words = ("reno", "--buffer", "1..4bdp", "--time", "1s", "--out", str(tmp_path / "s"))
        outcome = cli("sweep", *words)
        assert outcome.code == 0, outcome.err
        assert "pip install 'dumbbell[plot]'" in outcome.err
        assert cli("report", str(tmp_path / "s")).code == 0
        outcome = cli("plot", str(tmp_path / "s"))
        assert outcome.code == 2
        assert "a figure as a file needs the package `matplotlib`" in outcome.err
    assert not list((tmp_path / "s").glob("figures/*.svg"))
