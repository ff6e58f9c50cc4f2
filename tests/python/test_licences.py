"""The licences of what the wheel contains are in the wheel."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTICE = (ROOT / "licenses/README.md").read_text(encoding="utf-8")
LOCKED = {
    package["name"]: package["version"]
    for package in tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
}


@pytest.mark.parametrize("crate", ["libbpf-sys", "zstd-sys"])
def test_the_notice_names_the_sources_that_are_built(crate):
    assert f"crate `{crate}` {LOCKED[crate]}," in NOTICE


def test_every_crate_with_c_sources_is_in_the_notice():
    """Such a crate is named `-sys`; `linux-raw-sys` and others have declarations only."""
    sources = {name for name in LOCKED if name.endswith("-sys") and not name.startswith("windows")}
    declarations = {"core-foundation-sys", "js-sys", "linux-raw-sys", "netlink-sys"}
    assert sources - declarations == {"libbpf-sys", "zstd-sys"}


def test_every_licence_is_shipped():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    shipped = {path for pattern in project["license-files"] for path in ROOT.glob(pattern)}
    texts = {ROOT / "licenses" / name for name in ("GPL-3.0", "LGPL-3.0", "libbpf", "zlib", "zstd")}
    assert texts <= shipped
    assert {ROOT / "LICENSE-MIT", ROOT / "cc/LICENSE-GPL-2.0"} <= shipped
    assert set((ROOT / "python").rglob("LICENSE")) <= shipped
