"""The examples in the docstrings."""

import doctest
import importlib
import pkgutil

import pytest

import dumbbell

MODULES = ["dumbbell", *(m.name for m in pkgutil.walk_packages(dumbbell.__path__, "dumbbell."))]


@pytest.mark.parametrize("name", [m for m in MODULES if m != "dumbbell.__main__"])
def test_examples(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0
