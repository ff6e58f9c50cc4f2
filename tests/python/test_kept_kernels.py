"""The kernels that were built: finding, listing and removing them."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from dumbbell.base.errors import KernelError
from dumbbell.kernels import find, kernels, recipe, remove
from dumbbell.kernels.recipe import recipe_digest


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of kernels."""
    monkeypatch.setenv("DUMBBELL_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache/kernels").mkdir(parents=True)
    return tmp_path / "cache/kernels"


ALGORITHMS = (
    "bbr", "bic", "cdg", "cubic", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp", "nv",
    "reno", "scalable", "vegas", "veno", "westwood", "yeah",
)  # fmt: skip


def keep(place: Path, name: str, release: str, **changes: object) -> None:
    """Write a kernel's directory."""
    record = {
        "name": name, "release": release, "hz": 1000, "abi": recipe.driver_abi(),
        "digest": f"{name:0<64}", "recipe": recipe_digest(1000), "source": "/my/linux",
        "congestion_controls": ALGORITHMS, "built_at": "2026-11-29T10:00:00+00:00", **changes,
    }  # fmt: skip
    (place / name).mkdir()
    (place / name / "linux").write_bytes(b"x" * 5_900_000)
    (place / name / "kernel.json").write_text(json.dumps(record))


def test_the_newest_release_that_is_ready_is_found(place):
    keep(place, "old", "6.9.1")
    keep(place, "new", "6.12.3")
    keep(place, "newest", "7.0.0", abi=recipe.driver_abi() + 1)
    (place / ".dumbbell-0123456789abcdef").mkdir()
    assert find().name == "new"
    assert [each.name for each in kernels()] == ["newest", "new", "old"]
    assert find("old").release == "6.9.1"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("newish", "no kernel `newish`; did you mean `new`?"),
        ("../new", "no kernel `../new`"),
        ("later", "kernel `later` was built for another version of dumbbell; build it again: "
                  "`dumbbell kernel build /my/linux --name later --hz 250`"),
        ("bad", "kernel `bad` is damaged; build it again: `dumbbell kernel build 6.12 --name bad`"),
        ("gone", "kernel `gone` is damaged; build it again: `dumbbell kernel build /my/linux "
                 "--name gone`"),
        ("wrong", "kernel `wrong` is damaged"),
    ],
)  # fmt: skip
def test_a_kernel_that_is_not_usable_is_an_error_with_the_remedy(place, name, message):
    keep(place, "new", "6.12.3")
    keep(place, "later", "6.12.3", abi=recipe.driver_abi() + 1, hz=250)
    keep(place, "bad", "6.12.3")
    (place / "bad/kernel.json").write_text("{")
    keep(place, "gone", "6.12.3")
    (place / "gone/linux").unlink()
    keep(place, "wrong", "6.12.3", hz="many")
    with pytest.raises(KernelError) as error:
        find(name)
    assert str(error.value).startswith(message)


def test_without_a_kernel_the_error_says_how_to_have_one(tmp_path, monkeypatch, cli):
    monkeypatch.setenv("DUMBBELL_CACHE", str(tmp_path))
    for name, what in ((None, "no kernel is built"), ("x", "no kernel `x`: none is built")):
        with pytest.raises(KernelError) as error:
            find(name)
        assert str(error.value) == f"{what}; build one with `dumbbell kernel build 6.12`"
    listed = cli("kernel", "list")
    assert (listed.code, listed.out) == (
        0, "no kernel is built; build one with `dumbbell kernel build 6.12`\n",
    )  # fmt: skip
    assert json.loads(cli("kernel", "list", "--json").out) == []
    assert cli("kernel", "remove", "x").err == "error: no kernel `x`: none is built\n"


def test_the_list_fits_a_terminal_and_says_what_is_the_matter(place, cli, monkeypatch):
    keep(place, "6.12", "6.12.117")
    keep(place, "linux-of-somebody-with-a-long-name", "6.13.0-rc3", abi=0)
    keep(place, "earlier", "6.9.1", recipe="other")
    keep(place, "bad", "6.9.2")
    (place / "bad/kernel.json").unlink()
    monkeypatch.setenv("COLUMNS", "80")
    shown = cli("kernel", "list").out
    assert max(map(len, shown.splitlines())) <= 80
    words = " ".join(shown.split())
    for text in ("6.12.117 1000", "5.9 MB", "ready", "damaged"):
        assert text in words
    documents = json.loads(cli("kernel", "list", "--json").out)
    assert {each["name"]: each["state"] for each in documents} == {
        "6.12": "ready",
        "linux-of-somebody-with-a-long-name": "built for another version of dumbbell",
        "earlier": "ready, but dumbbell's driver has changed",
        "bad": "damaged",
    }
    assert documents[0]["path"] == str(place / "linux-of-somebody-with-a-long-name/linux")


def test_a_kernel_is_removed_and_the_others_stay(place, cli):
    keep(place, "6.12", "6.12.117")
    keep(place, "bbr3", "6.4.0")
    assert cli("kernel", "remove", "6.1").err == "error: no kernel `6.1`; did you mean `6.12`?\n"
    assert cli("kernel", "remove", "6.12").out == "removed kernel 6.12\n"
    assert remove("bbr3").release == "6.4.0"
    assert list(place.iterdir()) == []


def test_the_cache_of_runs_is_pruned_without_the_kernels(place, cli):
    keep(place, "6.12", "6.12.117")
    assert cli("cache", "prune", "--all").code == 0
    assert find("6.12").is_ready


def test_kernels_of_packages_are_found_after_the_user_s_own(place, tmp_path, monkeypatch):
    packages = tmp_path / "site/dumbbell_kernels"
    packages.mkdir(parents=True)
    keep(packages, "6.12", "6.12.9")
    keep(packages, "shared", "6.1.1")
    keep(place, "shared", "6.1.2")
    monkeypatch.syspath_prepend(str(packages.parent))
    assert [(each.name, each.release) for each in kernels()] == [
        ("6.12", "6.12.9"), ("shared", "6.1.2"),
    ]  # fmt: skip
    assert find().directory == packages / "6.12"
    with pytest.raises(KernelError, match=r"`pip uninstall dumbbell-kernel-6\.12` removes it"):
        remove("6.12")
    assert (packages / "6.12/linux").is_file()


def test_a_wheel_has_the_kernel_its_licence_and_its_changes(place, tmp_path):
    """pip takes it, and it runs from there: the program stays executable."""
    keep(place, "6.12", "6.12.9", source="6.12", origin="linux-source-6.12 6.12.9-1")
    (place / "6.12/linux").chmod(0o755)
    tool = Path(__file__).parents[2] / "tools/kernel_wheel.py"
    command = [sys.executable, str(tool), "6.12", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name == "dumbbell_kernel_6_12-6.12.9-py3-none-manylinux_2_17_x86_64.whl"
    with zipfile.ZipFile(wheel) as archive:
        inside = {each.filename: each for each in archive.infolist()}
        assert inside["dumbbell_kernels/6.12/linux"].external_attr >> 16 & 0o111
        assert b"GNU GENERAL PUBLIC LICENSE" in archive.read("dumbbell_kernels/6.12/COPYING")
        source = archive.read("dumbbell_kernels/6.12/SOURCE").decode()
    assert "dumbbell kernel build 6.12 --name 6.12" in source
    assert "linux-source-6.12 6.12.9-1" in source
    assert "dumbbell_kernels/6.12/changes/dumbbell_kern.c" in inside
    assert "dumbbell_kernels/6.12/changes/fragment.config" in inside
