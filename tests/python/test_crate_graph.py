"""The crates use one another as ARCHITECTURE.md's table has it."""

import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "dumbbell-"


def documented() -> dict[str, set[str]]:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = text.partition("\n## The crates and what they use\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([\w-]+)` \| ([^|]*?) ?\|", section, re.MULTILINE)
    return {crate: set(re.findall(r"`([\w-]+)`", used)) for crate, used in rows}


def built() -> dict[str, set[str]]:
    command = ["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"]
    metadata = json.loads(
        subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    )
    # What only tests and benchmarks use binds nothing.
    return {
        package["name"].removeprefix(PREFIX): {
            dependency["name"].removeprefix(PREFIX)
            for dependency in package["dependencies"]
            if dependency["kind"] != "dev" and dependency["name"].startswith(PREFIX)
        }
        for package in metadata["packages"]
    }


def test_the_crates_use_what_the_table_allows():
    assert documented() == built()


def test_the_engines_do_not_use_each_other():
    crates = built()
    assert "emu" not in crates["sim"]
    assert crates["emu"].isdisjoint({"sim", "tcp"})
    assert crates["net"] == {"declare"}
    assert not crates["declare"]


@pytest.mark.parametrize("main", sorted((ROOT / "crates").glob("*/tests/main.rs")))
def test_no_file_of_tests_is_left_out(main):
    files = {path.stem for path in main.parent.glob("*.rs")} - {"main"}
    files |= {path.parent.name for path in main.parent.glob("*/mod.rs")}
    assert set(re.findall(r"^mod (\w+);$", main.read_text(encoding="utf-8"), re.MULTILINE)) == files
