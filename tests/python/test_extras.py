"""Packages that only an extra installs: the error names the extra, and pyproject.toml has it."""

import tomllib
from pathlib import Path

import pytest

from dumbbell import MissingPackageError
from dumbbell.optional import optional

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
        ("pandas", "pandas"),
        ("scipy", "gate"),
        ("xarray", "xarray"),
        ("ziglang", "cc"),
    ],
)
def test_a_package_is_in_its_extra_and_not_in_the_core(package, extra):
    assert any(line.startswith(package) for line in PROJECT["optional-dependencies"][extra])
    assert not any(line.startswith(package) for line in PROJECT["dependencies"])
