"""The licences of what the wheel contains are in the wheel."""

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTICE = (ROOT / "licenses/README.md").read_text(encoding="utf-8")
TEXTS = ("GPL-3.0", "LGPL-3.0", "libbpf", "rust-crates", "zlib", "zstd")
LOCKED = {
    package["name"]: package["version"]
    for package in tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
}


@pytest.mark.parametrize("crate", ["libbpf-sys", "zstd-sys"])
def test_the_notice_names_the_sources_that_are_built(crate):
    assert f"crate `{crate}` {LOCKED[crate]}," in NOTICE


def test_every_crate_with_c_sources_is_in_the_notice():
    """Such a crate is named `-sys`; `linux-raw-sys` has declarations, `js-sys` is of browsers."""
    sources = {name for name in LOCKED if name.endswith("-sys") and not name.startswith("windows")}
    assert sources - {"js-sys", "linux-raw-sys"} == {"libbpf-sys", "zstd-sys"}


def test_every_licence_is_shipped():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    shipped = {path for pattern in project["license-files"] for path in ROOT.glob(pattern)}
    texts = {ROOT / "licenses" / name for name in TEXTS}
    assert texts <= shipped
    assert {ROOT / "LICENSE-MIT", ROOT / "cc/LICENSE-GPL-2.0"} <= shipped
    assert set((ROOT / "python").rglob("LICENSE")) <= shipped


def linked_crates() -> list[dict[str, Any]]:
    """Packages from a registry in the engine, without those that only run when it is built."""
    command = ["cargo", "metadata", "--offline", "--format-version", "1"]
    command += ["--filter-platform", "x86_64-unknown-linux-gnu"]
    metadata = json.loads(
        subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    )
    packages = {package["id"]: package for package in metadata["packages"]}
    used = {
        node["id"]: [
            dependency["pkg"]
            for dependency in node["deps"]
            if any(use["kind"] is None for use in dependency["dep_kinds"])
        ]
        for node in metadata["resolve"]["nodes"]
    }
    pending = [key for key, package in packages.items() if package["name"] == "dumbbell-py"]
    linked = set()
    while pending:
        key = pending.pop()
        is_macro = any("proc-macro" in target["kind"] for target in packages[key]["targets"])
        if key not in linked and not is_macro:
            linked.add(key)
            pending += used[key]
    return [packages[key] for key in linked if packages[key]["source"] is not None]


def needs_a_notice(package: dict[str, Any]) -> bool:
    """Whether no licence to choose from is Apache-2.0 or asks for nothing; NOTICE files count."""
    choices = re.split(r" OR |/", package["license"])
    has_notice = any(Path(package["manifest_path"]).parent.glob("NOTICE*"))
    return has_notice or not {"Apache-2.0", "Unlicense"} & set(choices)


def test_every_rust_crate_whose_licence_asks_for_a_notice_has_one():
    text = (ROOT / "licenses/rust-crates").read_text(encoding="utf-8")
    shown = {
        name
        for line in re.findall("^Crates: (.*)$", text, re.MULTILINE)
        for name in line.split(", ")
    }
    assert shown == {package["name"] for package in linked_crates() if needs_a_notice(package)}
