"""Building kernels that run in virtual time, with a small tree and a `make` of the test's own.

A real build takes five minutes of a processor, so it is in `make test-all` only, or where
`DUMBBELL_TEST_KERNEL_BUILD` names a tree or a release.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dumbbell.kernels import BuildProgress, build, find, kernels, recipe
from dumbbell.kernels.compiling import first_error
from tests.python.linux_trees import MAKE, contents, put_program, write_tree
from tests.python.thorough import THOROUGH

REAL_BUILD = os.environ.get("DUMBBELL_TEST_KERNEL_BUILD") or ("6.12" if THOROUGH else "")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree."""
    return write_tree(tmp_path / "linux-6.99")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with all that a build needs, and an empty cache; returns its programs."""
    programs = tmp_path / "bin"
    put_program(programs, "make", MAKE)
    for name in ("gcc", "ld", "flex", "bison", "bc"):
        put_program(programs, name, "#!/bin/sh\necho a compiler 1.0\n")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("DUMBBELL_CACHE", str(tmp_path / "cache"))
    return programs


def scratch(tmp_path: Path) -> list[Path]:
    """Return what is in the cache and is no kernel."""
    return [path for path in (tmp_path / "cache/kernels").iterdir() if path.name.startswith(".")]


def test_a_kernel_is_built_and_then_found(tree, machine, tmp_path, cli):
    before = contents(tree)
    (tree / "absent").write_text("NET_SCH_DUALPI2")
    outcome = cli("kernel", "build", str(tree), "--jobs", "2")
    assert outcome.code == 0, outcome.err
    assert re.fullmatch(
        r"kernel linux-6\.99: Linux 6\.99\.1, 1000 Hz, 3 algorithms, 8 B, in \d+ s\n"
        "not in this tree: NET_SCH_DUALPI2\n",
        outcome.out,
    )
    assert "note: preparing" in outcome.err
    assert "note: compiling file 1 of about " in outcome.err
    (tree / "absent").unlink()
    assert contents(tree) == before
    kernel = find()
    assert kernel == find("linux-6.99")
    assert kernel.path == tmp_path / "cache/kernels/linux-6.99/linux"
    assert os.access(kernel.path, os.X_OK)
    assert (kernel.name, kernel.release, kernel.hz, kernel.abi, kernel.state) == (
        "linux-6.99", "6.99.1", 1000, recipe.driver_abi(), "ready",
    )  # fmt: skip
    assert kernel.congestion_controls == ("cubic", "mine", "reno")
    assert kernel.missing == ("NET_SCH_DUALPI2",)
    assert (kernel.source, kernel.origin) == (str(tree), str(tree))
    assert "CONFIG_TCP_CONG_MINE=y" in (kernel.directory / "config").read_text()
    record = json.loads((kernel.directory / "kernel.json").read_text())
    assert record["digest"] == kernel.digest
    assert "directory" not in record
    assert scratch(tmp_path) == []


def test_the_same_kernel_is_not_built_again(tree, machine, cli):
    first = build(tree)
    (machine / "make").unlink()
    stages: list[BuildProgress] = []
    assert build(tree, on_progress=stages.append) == first
    assert stages == []
    assert cli("kernel", "build", str(tree)).out.endswith("8 B, already built\n")
    put_program(machine, "make", MAKE)
    again = build(tree, name="other", on_progress=stages.append)
    assert (again.name, again.digest, stages) == ("other", first.digest, [])
    assert again.path.read_text() == "a kernel"
    (tree / "net/ipv4/tcp_mine.c").write_text('.name = "mine2"')
    changed = build(tree, on_progress=stages.append)
    assert changed.digest != first.digest
    assert [stage.stage for stage in stages] == [
        "preparing", "configuring", "compiling", "compiling",
    ]  # fmt: skip
    assert {each.name for each in kernels()} == {"linux-6.99", "other"}
    slower = build(tree, hz=250)
    assert (slower.name, slower.hz) == ("linux-6.99-250hz", 250)
    assert len({each.digest for each in kernels()}) == 3


def test_a_kernel_of_another_tree_is_not_replaced(tree, machine, tmp_path, cli):
    build(tree)
    other = write_tree(tmp_path / "copies" / tree.name, {"net/ipv4/tcp_mine.c": "other"})
    outcome = cli("kernel", "build", str(other))
    assert outcome.err == (
        f"error: kernel `linux-6.99` was built from `{tree}`; use another name with `--name`, or "
        "remove it with `dumbbell kernel remove linux-6.99`\n"
    )
    assert cli("kernel", "build", str(other), "--name", "copy").code == 0


def debian(machine: Path, tmp_path: Path) -> None:
    """Let apt offer a package."""
    tarball = tmp_path / "package/usr/src/linux-source-6.12.tar.xz"
    tarball.parent.mkdir(parents=True)
    with tarfile.open(tarball, "w:xz") as archive:
        archive.add(write_tree(tmp_path / "unpacked"), "linux-source-6.12")
    put_program(
        machine,
        "apt-cache",
        '#!/bin/sh\ncase "$*" in\n'
        '"policy linux-source-6.12") echo "  Candidate: 6.12.9-1";;\n'
        'policy*) echo "  Candidate: (none)";;\n'
        "*) printf 'linux-source-6.12\\nlinux-source-6.9\\nlinux-source\\n';;\nesac\n",
    )
    put_program(
        machine,
        "apt-get",
        '#!/bin/sh\n[ "$*" = "download linux-source-6.12=6.12.9-1" ] && touch it.deb\n',
    )
    put_program(machine, "dpkg-deb", f'#!/bin/sh\ncp -r {tmp_path}/package "$3"\n')
    put_program(machine, "dpkg-query", "#!/bin/sh\nexit 1\n")


def test_a_release_of_debian_is_downloaded(machine, tmp_path, cli):
    debian(machine, tmp_path)
    outcome = cli("kernel", "build", "6.12")
    assert outcome.out.startswith("kernel 6.12: Linux 6.99.1, 1000 Hz"), outcome.err
    kernel = find("6.12")
    assert (kernel.source, kernel.origin) == ("6.12", "linux-source-6.12 6.12.9-1")
    assert kernel.build_command == "dumbbell kernel build 6.12 --name 6.12"
    assert scratch(tmp_path) == []
    assert cli("kernel", "build", "6.12").out.endswith("already built\n")


def test_what_apt_does_not_offer_and_a_failed_download_say_so(machine, tmp_path, cli):
    debian(machine, tmp_path)
    assert cli("kernel", "build", "6.13").err == (
        "error: apt offers no package `linux-source-6.13`: apt offers `6.9` and `6.12`; run "
        "`sudo apt-get update`, or name a directory with a Linux tree\n"
    )
    put_program(
        machine, "apt-get", "#!/bin/sh\necho W: slow >&2\necho E: no network >&2\nexit 100\n"
    )
    assert cli("kernel", "build", "6.12").err.endswith(
        "error: `linux-source-6.12` cannot be downloaded: no network; see `apt-get download`\n"
    )
    assert kernels() == []
    assert scratch(tmp_path) == []


def test_a_machine_without_apt_is_told_where_linux_is(machine, monkeypatch, cli):
    monkeypatch.setenv("PATH", str(machine))
    assert cli("kernel", "build", "6.12").err == (
        "error: `6.12` is Debian's package `linux-source-6.12`, and `apt-cache` is not installed; "
        "download Linux from kernel.org, unpack it, and use `dumbbell kernel build ./linux-6.12`\n"
    )


# ---- What cannot be built ----


def test_missing_programs_are_named_before_anything_starts(tree, machine, monkeypatch, cli):
    monkeypatch.setenv("PATH", str(machine))
    for name in ("flex", "bison", "bc"):
        (machine / name).unlink()
    assert cli("kernel", "build", str(tree)).err == (
        "error: building a kernel needs `flex`, `bison`, `bc`, not found here; on Debian and "
        "Ubuntu: `sudo apt-get install flex bison bc`\n"
    )
    put_program(machine, "gcc", "#!/bin/sh\nexit 1\n")
    for name in ("flex", "bison", "bc"):
        put_program(machine, name, "")
    assert cli("kernel", "build", str(tree)).err == (
        "error: building a kernel needs `<sys/ptrace.h>`, not found here; on Debian and Ubuntu: "
        "`sudo apt-get install libc6-dev`\n"
    )


def test_a_machine_of_another_architecture_is_refused(tree, machine, monkeypatch, cli):
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(("Linux", "x", "6", "1", "aarch64")))
    assert "this machine is `aarch64`; kernels that run as a program exist for x86_64 only" in (
        cli("kernel", "build", str(tree)).err
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "`nowhere`: does not exist; name a Linux tree, or a release of Debian's "
                      "`linux-source-*` like `6.12`"),
        (["/dev/null"], "/dev/null: is not a directory; name a Linux tree, or a release of "
                        "Debian's `linux-source-*` like `6.12`"),
        (["EMPTY"], "`EMPTY` is not a whole Linux tree: it has no `Makefile`; name the directory "
                    "that has it, like `./linux-6.12`"),
        (["TREE", "--hz", "300"], "invalid `hz` 300: use 1000 or 250"),
        (["TREE", "--name", "a/b"], "invalid name of a kernel `a/b`: use 1 to 40 letters, digits "
                                    "and `.`, `_`, `+`, `-`, the first a letter or digit"),
        (["ODD"], "invalid name of a kernel `odd name`: use `--name` with 1 to 40 letters, digits "
                  "and `.`, `_`, `+`, `-`, the first a letter or digit"),
        (["OLD"], "OLD: this Linux has no virtual time (UML_TIME_TRAVEL_SUPPORT); use 5.3 or "
                  "later"),
    ],
)  # fmt: skip
def test_what_is_no_tree_or_option_is_refused(words, message, tree, machine, tmp_path, cli):
    places = {
        "TREE": tree,
        "EMPTY": tmp_path / "empty",
        "ODD": write_tree(tmp_path / "odd name"),
        "OLD": write_tree(tmp_path / "old", {"arch/um/Kconfig": "config HZ\n"}),
    }
    (tmp_path / "empty").mkdir()
    outcome = cli("kernel", "build", *(str(places.get(word, word)) for word in words))
    for name, place in places.items():
        message = message.replace(name, str(place))
    assert outcome.err.splitlines()[-1] == f"error: {message}"
    assert outcome.code == 2


FAILURES = [
    (
        "In file included from x.h:1:\nTREE/net/ipv4/tcp_mine.c:7:2: error: unknown type name 'u23'"
        "\nTREE/net/ipv4/tcp_mine.c:9:2: error: another\nmake[3]: *** [Makefile:2: x.o] Error 1",
        "the kernel does not build: {tree}/net/ipv4/tcp_mine.c:7: unknown type name 'u23'",
    ),
    (
        "../tree/net/ipv4/tcp_mine.c:7: fatal error: mine.h: No such file",
        "the kernel does not build: {tree}/net/ipv4/tcp_mine.c:7: mine.h: No such file",
    ),
    (
        "TREE/arch/um/drivers/dumbbell_kern.c:3:1: error: no member 'x'",
        "dumbbell's driver does not fit this tree: {tree}/arch/um/drivers/dumbbell_kern.c:3: no "
        "member 'x'; use a tree of Linux 5.10 to 7.3",
    ),
    (
        "arch/um/Kconfig:4:warning: odd\narch/um/Kconfig:9: syntax error\nmake: *** [a] Error 1",
        "the kernel does not build: {tree}/arch/um/Kconfig:9: syntax error",
    ),
    (
        "/usr/bin/ld: net/a.o: in function `f':\nTREE/net/a.c:(.text+0x1): undefined reference to "
        "`g'\ncollect2: error: ld returned 1 exit status",
        "the kernel does not build: net/a.c:(.text+0x1): undefined reference to `g'",
    ),
    (
        "cc1: fatal error: x.o: No space left on device\nmake[1]: *** [y] Error 1",
        "no space left on device; set $DUMBBELL_CACHE to a directory with more",
    ),
    (
        "make[1]: *** [Makefile:10: all] Error 2\nmake: *** Waiting for unfinished jobs....",
        "the kernel does not build: make[1]: *** [Makefile:10: all] Error 2",
    ),
    ("strange", "the kernel does not build: strange"),
]


@pytest.mark.parametrize(("printed", "message"), FAILURES)
def test_the_first_error_of_a_build_is_reported_in_a_line(printed, message):
    lines = printed.replace("TREE", "/cache/.dumbbell-0/making/tree").splitlines()
    assert first_error(lines, lambda file: f"/mine/{file}") == message.format(tree="/mine")


def test_a_build_that_fails_leaves_nothing(tree, machine, tmp_path, cli):
    (tree / "fail").write_text(FAILURES[0][0])
    outcome = cli("kernel", "build", str(tree))
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.splitlines()[-1] == "error: " + FAILURES[0][1].format(tree=tree)
    assert list((tmp_path / "cache/kernels").iterdir()) == []


def test_a_kernel_stays_if_building_it_again_fails(tree, machine, cli):
    before = build(tree)
    (tree / "fail").write_text("strange")
    assert cli("kernel", "build", str(tree)).code == 2
    assert find() == before
    assert before.path.read_text() == "a kernel"


def test_a_disk_that_is_too_full_is_refused(tree, machine, tmp_path, monkeypatch, cli):
    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage())
    assert cli("kernel", "build", str(tree)).err == (
        f"error: {tmp_path}/cache/kernels: a build takes about 0.6 GB, and 0.1 GB is free; set "
        "$DUMBBELL_CACHE to a directory with more\n"
    )


class Usage:
    free = 100_000_000


def test_a_cache_in_which_make_cannot_work_is_refused(tree, machine, tmp_path, monkeypatch, cli):
    monkeypatch.setenv("DUMBBELL_CACHE", str(tmp_path / "my cache"))
    assert cli("kernel", "build", str(tree)).err == (
        f"error: {tmp_path}/my cache/kernels: Linux cannot be built in a directory whose path has "
        "spaces, `:`, `%`, `#` or `$`; set $DUMBBELL_CACHE to another\n"
    )


def test_a_cache_that_cannot_be_written_is_an_error(tree, machine, tmp_path, cli):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/kernels").write_text("a file")
    for words in (["build", str(tree)], ["list"]):
        error = cli("kernel", *words).err
        assert error == f"error: {tmp_path}/cache/kernels: cannot be read: not a directory\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_an_ended_build_ends_make_and_leaves_nothing(number, tree, machine, tmp_path):
    """What a killed one leaves, the next build removes."""
    started = tmp_path / "started"
    (tree / "wait").write_text(str(started))
    command = [sys.executable, "-m", "dumbbell", "kernel", "build", str(tree)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    await_that(started.exists)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    last = err.splitlines()[-1]
    if number == signal.SIGKILL:
        assert process.returncode == -number
    else:
        reason = "" if number == signal.SIGINT else f": {signal.strsignal(number)}"
        assert (process.returncode, last) == (130, f"error: interrupted{reason}")
        assert scratch(tmp_path) == []
    await_that(lambda: not of_tree(tmp_path))
    (tree / "wait").unlink()
    build(tree)
    assert scratch(tmp_path) == []


def of_tree(tmp_path: Path) -> list[str]:
    """Return the command lines of processes that work in the cache."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if any(str(tmp_path / "cache") in word for word in words):
            found.append(" ".join(words))
    return found


def await_that(is_so: Callable[[], object], timeout_s: float = 20) -> None:
    """Wait until something is so."""
    deadline_s = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


# ---- The real one ----


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.skipif(
    not REAL_BUILD, reason="a real build: in `make test-all`, or with DUMBBELL_TEST_KERNEL_BUILD"
)
def test_a_real_kernel_is_built_and_boots(tmp_path, monkeypatch):
    monkeypatch.setenv("DUMBBELL_CACHE", str(tmp_path / "cache"))
    kernel = build(REAL_BUILD)
    assert kernel.state == "ready"
    assert {"cubic", "reno", "bbr"} <= set(kernel.congestion_controls)
    booted = subprocess.run(
        ["setarch", "-R",  # noqa: S607
          str(kernel.path), "mem=256M", "time-travel=inf-cpu", "con=null",
         "ssl=null", "stderr=1", "panic=1", f"uml_dir={tmp_path}"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert f"Linux version {kernel.release}" in booted.stdout + booted.stderr
    again = build(REAL_BUILD)
    assert again.built_at == kernel.built_at
