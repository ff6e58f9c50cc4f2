"""Running the kernel's own build, and what it reports: progress, and the first error."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from dumbbell.base.errors import KernelError

__all__ = ["ABOUT_FILES", "check_tools", "compiler", "first_error", "make"]

#: The programs that a build starts, and the packages of Debian that have them.
TOOLS = {
    "gcc": "gcc",
    "ld": "binutils",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
}
#: A header of the C library, of which the half of UML that is a program is made.
HEADER, HEADERS_PACKAGE = "sys/ptrace.h", "libc6-dev"
#: About how many files a kernel is compiled of (measured: Linux 6.12).
ABOUT_FILES = 720
#: What others set, and would change what is built.
FOREIGN = re.compile(
    r"KBUILD_|KCONFIG_|MAKE|MFLAGS|LLVM|HOST|USER(C|LD)FLAGS|K[AC]FLAGS|KCPPFLAGS|LOCALVERSION"
    r"|([AC]|LD)FLAGS|(ARCH|SUBARCH|CROSS_COMPILE|CC|O|V|W|C)$"
)
#: Part of what the guest's random numbers follow from, so they are the same in every build.
FIXED = {
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan 1 00:00:00 UTC 1970",
    "KBUILD_BUILD_USER": "dumbbell",
    "KBUILD_BUILD_HOST": "dumbbell",
    "KBUILD_BUILD_VERSION": "1",
    "LC_ALL": "C",
}
#: A compiler's, a linker's or Kconfig's error, and make's.
COMPILER = re.compile(
    r"^(?P<file>[^\s:][^:]*):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<what>.*)"
)
LINKER = re.compile(r"^.*undefined reference to .*|^.*\bld: (?!.*(?:warning:|in function )).*")
KCONFIG = re.compile(r"^(?P<file>[\w./-]*Kconfig[\w.-]*):(?P<line>\d+): (?P<what>(?!warning).*)")
MAKE = re.compile(r"^.*\*\*\* (?!Waiting)(.*?)\.?(?:  Stop\.)?$")
NO_SPACE = "No space left on device"
#: The directory of the tree in a path that a compiler prints.
IN_TREE = re.compile(r"\S*?/making/tree/|(?:\.\./)+tree/")
#: How long make may take to end, s.
PATIENCE_S = 10


def check_tools() -> None:
    """Refuse a machine that lacks what a build needs, before it starts.

    Raises
    ------
    KernelError
        Something is missing.
    """
    machine = os.uname().machine
    if machine != "x86_64":
        raise KernelError(
            f"this machine is `{machine}`; kernels that run as a program exist for x86_64 only"
        )
    missing = {name: package for name, package in TOOLS.items() if shutil.which(name) is None}
    if "gcc" not in missing and not has_headers():
        missing[f"<{HEADER}>"] = HEADERS_PACKAGE
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        packages = " ".join(dict.fromkeys(missing.values()))
        raise KernelError(
            f"building a kernel needs {names}, not found here; on Debian and Ubuntu: "
            f"`sudo apt-get install {packages}`"
        )


def has_headers() -> bool:
    """Whether the C library's headers are installed."""
    done = subprocess.run(  # noqa: S603 -- the user's compiler
        ["gcc", "-E", "-x", "c", "-", "-o", os.devnull],  # noqa: S607
        input=f"#include <{HEADER}>\n".encode(),
        capture_output=True, check=False,
    )  # fmt: skip
    return done.returncode == 0


def compiler() -> str:
    """Return the compiler's name and version."""
    done = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=False)  # noqa: S607
    return done.stdout.partition("\n")[0]


def make(
    tree: Path,
    out: Path,
    targets: Sequence[str],
    shown: Callable[[str], str],
    on_line: Callable[[str], None] = lambda _: None,
) -> None:
    """Run `make` in a tree, with what it writes in another directory.

    Parameters
    ----------
    tree, out
        The two directories.
    targets
        What to make, and make's options.
    shown
        How a file of the tree is called in an error.
    on_line
        Is called with each line that it prints.

    Raises
    ------
    KernelError
        It fails; with the first error.
    """
    environment = {name: value for name, value in os.environ.items() if not FOREIGN.match(name)}
    command = ["make", "-C", str(tree), f"O={out}", "ARCH=um", *targets]
    lines: list[str] = []
    with started(command, environment | FIXED) as process:
        assert process.stdout is not None  # noqa: S101 -- it is a pipe
        for raw in process.stdout:
            line = raw.rstrip("\n")
            lines.append(line)
            on_line(line)
    if process.returncode:
        raise KernelError(first_error(lines, shown))


@contextmanager
def started(command: Sequence[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Start a program that ends with this process, and with the block."""
    parent = os.getpid()
    prctl = ctypes.CDLL(None).prctl

    def end_with_parent() -> None:
        prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(1)

    process = subprocess.Popen(  # noqa: S603 -- make
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", env=environment, process_group=0,
        preexec_fn=end_with_parent,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.poll() is None:
            end(process)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def end(process: subprocess.Popen[str]) -> None:
    """End what make has started too, unless it ends by itself: its output has ended."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(0.2)
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE_S)
            return


def first_error(lines: Sequence[str], shown: Callable[[str], str]) -> str:
    """Return what made a build fail, in a line.

    Parameters
    ----------
    lines
        What it printed.
    shown
        How a file of the tree is called.
    """
    if any(NO_SPACE in line for line in lines):
        return "no space left on device; set $DUMBBELL_CACHE to a directory with more"
    for pattern in (COMPILER, KCONFIG):
        for line in lines:
            if found := pattern.match(line):
                return described(found["file"], found["line"], found["what"], shown)
    for pattern in (LINKER, MAKE):
        for line in lines:
            if found := pattern.match(line):
                return f"the kernel does not build: {IN_TREE.sub('', found[0].strip())}"
    return f"the kernel does not build: {lines[-1] if lines else 'make printed nothing'}"


def described(file: str, line: str, what: str, shown: Callable[[str], str]) -> str:
    """Return an error at a line of a file."""
    inside = IN_TREE.sub("", file)
    at = f"{shown(inside)}:{line}: {what}"
    if "/dumbbell_" in inside:
        return f"dumbbell's driver does not fit this tree: {at}; use a tree of Linux 5.10 to 7.3"
    return f"the kernel does not build: {at}"
