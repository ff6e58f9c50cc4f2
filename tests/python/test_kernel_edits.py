"""What is changed in a tree that a kernel is built from, and what the kernel is known by."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from dumbbell.base.errors import KernelError
from dumbbell.kernels import edits, recipe
from dumbbell.kernels.configuration import missing_options, read_fragment
from dumbbell.kernels.recipe import FRAGMENT, recipe_digest
from dumbbell.kernels.sources import TreeSource
from tests.python.linux_trees import CLOCK, HOSTS_READING, READING, UTIL, contents, write_tree


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree."""
    return write_tree(tmp_path / "linux-6.99")


def test_every_edit_is_made_in_one_place_and_has_a_reason(tree):
    for hz in (250, 1000):
        for edit in edits.edits(hz):
            assert len(edit.reason) > 20
            if edit.only_with:
                continue
            variant = edits.variant_for(tree, edit)
            assert (tree / variant.file).read_text().count(variant.old) == 1
    edits.apply(tree, 250)
    assert "\tdefault 250\n" in (tree / "arch/um/Kconfig").read_text()
    assert "ARCH_RANDOM" not in (tree / "arch/um/Kconfig").read_text()
    assert "MULTIPLIER" not in (tree / "arch/um/kernel/time.c").read_text()
    assert "return dumbbell_getrandom(" in (tree / "arch/um/os-Linux/util.c").read_text()
    assert (tree / "arch/um/include/asm/archrandom.h").read_text() == "/* of Linux */\n"
    makefile = (tree / "arch/um/drivers/Makefile").read_text()
    assert "\nobj-y := dumbbell.o stdio_console.o fd.o\n" in makefile
    for file in edits.DRIVER.glob("dumbbell*"):
        assert (tree / "arch/um/drivers" / file.name).read_bytes() == file.read_bytes()
        assert file.suffix == ".h" or file.with_suffix(".o").name in makefile


def test_a_tree_without_random_numbers_of_the_host_gets_them_from_the_driver(tmp_path):
    changes = {UTIL: "int main(void);\n", "arch/um/include/asm/archrandom.h": None}
    tree = write_tree(tmp_path / "old", changes)
    edits.apply(tree, 1000)
    assert "config ARCH_RANDOM\n\tdef_bool y\n" in (tree / "arch/um/Kconfig").read_text()
    assert "dumbbell_getrandom" in (tree / "arch/um/include/asm/archrandom.h").read_text()
    assert "\tdefault 1000\n" in (tree / "arch/um/Kconfig").read_text()


def test_the_driver_is_told_what_its_tree_has(tree, tmp_path):
    autosize = "u32 tcp_tso_autosize(const struct sock *sk, unsigned int mss_now,\n"
    header = (
        "\tu32 prior_delivered_ce;\n\tu32 (*tso_segs)(struct sock *sk, unsigned int mss_now);\n"
    )
    changes = {
        "include/net/tcp.h": header,
        "net/ipv4/tcp_output.c": f"static {autosize}\t\t\t    int min_tso_segs)\n{{\n}}\n",
    }
    other = write_tree(tmp_path / "bbr3", changes)
    edits.apply(tree, 1000)
    edits.apply(other, 1000)
    plain, google = ((each / edits.FACTS_FILE).read_text() for each in (tree, other))
    assert "#define" not in plain
    assert re.findall("#define (.*)", google) == [
        "DUMBBELL_HAS_DELIVERED_CE", "DUMBBELL_HAS_TSO_SEGS",
    ]  # fmt: skip
    text = (other / "net/ipv4/tcp_output.c").read_text()
    assert (text.count(autosize), text.count("static")) == (2, 0)
    used = "".join(file.read_text() for file in edits.DRIVER.glob("*_kern.c"))
    for macro in edits.FACTS:
        assert f"#ifdef {macro}\n" in used


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"arch/um/drivers/Makefile": "obj-y := other.o\n"},
            "the edit `driver` does not fit this tree: `arch/um/drivers/Makefile` lacks "
            "`obj-y := stdio_console.o`; use an unchanged tree of Linux 5.3 to 7.3 there",
        ),
        (
            {UTIL: "int main(void);\n"},
            "the edit `random numbers` does not fit this tree: `arch/um/os-Linux/util.c` lacks "
            "`ssize_t os_getrandom(void *buf, size_t len, unsigned int flags)`; use an unchanged "
            "tree of Linux 5.3 to 7.3 there",
        ),
        (
            {CLOCK: f"{HOSTS_READING}\n" * 2
             + f"{READING}\n"},
            "the edit `clock's reading without time travel` does not fit this tree: "
            "`arch/um/kernel/time.c` has `return os_nsecs() / TIMER_MULTIPLIER;` 2 times; use an "
            "unchanged tree of Linux 5.3 to 7.3 there",
        ),
        (
            {CLOCK: None},
            "the edit `clock's reading` does not fit this tree: `arch/um/kernel/time.c` lacks "
            "`return time_travel_time / TIMER_MULTIPLIER;`; use an unchanged tree of Linux 5.3 to "
            "7.3 there",
        ),
    ],
)  # fmt: skip
def test_an_edit_that_does_not_fit_names_itself_and_its_file(tmp_path, changes, message):
    tree = write_tree(tmp_path / "tree", changes)
    with pytest.raises(KernelError) as error:
        edits.apply(tree, 1000)
    assert str(error.value) == message


def test_links_become_files_and_the_user_s_tree_stays_as_it_is(tree, tmp_path):
    before = contents(tree)
    farm = tmp_path / "farm"
    TreeSource(str(tree)).provide(farm)
    edits.apply(farm, 1000)
    assert contents(tree) == before
    assert (farm / "net/ipv4/tcp_mine.c").is_symlink()
    assert not (farm / "arch/um/Kconfig").is_symlink()
    assert not (farm / ".git").exists()
    assert {path.name for path in (farm / "Documentation").iterdir()} == {"Kconfig"}
    assert not (farm / "kernel/old.o").exists()


def test_a_tree_is_known_by_what_is_built_of_it(tree):
    def identity() -> str:
        return TreeSource(str(tree)).identity()

    before = identity()
    (tree / "Documentation/index").write_text("other")
    (tree / ".git/config").write_text("other")
    (tree / "kernel/new.o").write_text("built")
    os.utime(tree / "Makefile", (0, 0))
    assert identity() == before
    (tree / "net/ipv4/tcp_mine.c").write_text("changed")
    assert identity() != before


def test_the_recipe_is_known_by_tick_driver_fragment_and_edits(tmp_path, monkeypatch):
    digest = recipe_digest.__wrapped__
    seen = {digest(1000), digest(250)}
    fragment = tmp_path / "fragment.config"
    fragment.write_text(FRAGMENT.read_text() + "CONFIG_MORE=y\n")
    monkeypatch.setattr(recipe, "FRAGMENT", fragment)
    seen.add(digest(1000))
    driver = tmp_path / "driver"
    driver.mkdir()
    for file in edits.DRIVER.glob("*.[ch]"):
        (driver / file.name).write_bytes(file.read_bytes() + b"\n")
    monkeypatch.setattr(recipe, "DRIVER", driver)
    seen.add(digest(1000))
    assert len(seen) == 4
    # The library of guests is built anew more often, and is no part of a kernel.
    (driver / "libdumbbell_guest.so").write_bytes(b"library")
    assert digest(1000) in seen


def test_the_driver_of_the_package_has_its_licence_and_interface():
    for file in edits.DRIVER.glob("*.[ch]"):
        assert "SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause" in file.read_text()[:80]
    assert recipe.driver_abi() > 0


def test_the_fragment_has_what_is_required_and_what_is_wanted():
    fragment = read_fragment(FRAGMENT.read_text())
    assert fragment.required["UML_TIME_TRAVEL_SUPPORT"] == "y"
    assert fragment.required["BLOCK"] == "n"
    assert {"HOSTFS", "IPV6", "TUN", "NET_SCH_FQ_CODEL"} <= set(fragment.wanted)
    assert not set(fragment.required) & set(fragment.wanted)


def test_missing_options_are_an_error_if_they_are_required():
    fragment = read_fragment(
        "\n## required\nCONFIG_A=y\n# CONFIG_B is not set\n## wanted\nCONFIG_C=y\n"
    )
    assert missing_options(fragment, 250, "CONFIG_A=y\nCONFIG_HZ=250\n", "6.1") == ["C"]
    with pytest.raises(KernelError, match=r"Linux 6\.1 cannot be configured with `A=y`, `B=n`, "):
        missing_options(fragment, 250, "CONFIG_B=y\nCONFIG_C=y\nCONFIG_HZ=250\n", "6.1")
    with pytest.raises(KernelError, match="`HZ=250`, which dumbbell needs; use a tree of Linux"):
        missing_options(fragment, 250, "CONFIG_A=y\nCONFIG_HZ=100\n", "6.1")
