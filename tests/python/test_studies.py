"""The laboratory without its studies, and with them."""

import importlib.metadata
import subprocess
import sys
import tomllib
from pathlib import Path

from dumbbell_studies.commands import COMMANDS

ROOT = Path(__file__).parents[2]


def test_the_studies_commands_are_found_by_entry_point():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["dumbbell.commands"] == {
        "studies": "dumbbell_studies.commands:COMMANDS"
    }
    names = list(COMMANDS)
    assert names == ["reproduce", "score", "search", "conform", "tune", "tune ablate"]


def test_without_the_studies_their_commands_are_unknown(cli, monkeypatch):
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: [])
    listed = cli("--help").out
    assert "  sweep " in listed
    assert [name for name in COMMANDS if f"  {name} " in listed] == []
    assert cli("reproduce", "ogino2021").err.startswith("error: no such command: `reproduce`;")
    assert cli("run", "reno", "--time", "1s").code == 0


def test_the_laboratory_needs_no_studies():
    code = (
        "import importlib, pkgutil, sys\n"
        "sys.modules['dumbbell_studies'] = None\n"
        "import dumbbell\n"
        "for each in pkgutil.walk_packages(dumbbell.__path__, 'dumbbell.'):\n"
        "    if not each.name.endswith(('__main__', 'isolation.server')):\n"
        "        importlib.import_module(each.name)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
