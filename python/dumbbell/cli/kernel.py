"""`dumbbell kernel`: Linux kernels that run as programs, in virtual time."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Annotated, NoReturn

import typer

from dumbbell.cli.cache import size
from dumbbell.kernels import HZ, BuildProgress, BuiltKernel, build, kernels, remove
from dumbbell.terminal import options
from dumbbell.terminal.console import (
    ProgressBar,
    duration,
    note,
    print_json,
    print_line,
    progress_bar,
)
from dumbbell.terminal.lazy_command import CommandGroup, examples
from dumbbell.terminal.table import print_table

__all__ = ["kernel_app"]

#: What ends a build as Ctrl-C does.
ENDINGS = (signal.SIGTERM, signal.SIGHUP)
#: How often a line says how far a build is, where there is no terminal, s.
EVERY_S = 60

kernel_app = typer.Typer(
    cls=CommandGroup,
    add_completion=False,
    help="Build, list and remove Linux kernels that run in virtual time.",
    no_args_is_help=True,
)


@kernel_app.command(
    "build",
    epilog=examples(
        "dumbbell kernel build 6.12", "dumbbell kernel build ./linux-bbr3 --name bbr3 --hz 250"
    ),
)
def build_command(
    tree: Annotated[
        str,
        typer.Argument(
            metavar="RELEASE|TREE",
            help="A release of Debian's packages `linux-source-*`, like `6.12`; or the directory "
            "of a Linux tree, 5.3 or later, which is only read.",
            show_default=False,
        ),
    ],
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What the kernel is called.",
            show_default="the release, or the directory",
        ),
    ] = None,
    hz: Annotated[int, typer.Option(metavar="|".join(map(str, HZ)), help="Ticks a second.")] = HZ[
        0
    ],
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Files compiled at a time.", show_default="all cores"
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """Build a kernel from a Linux tree; takes minutes, once.

    Needs gcc, make, flex, bison and bc; no privileges.
    """
    began_s = time.monotonic()
    with ending_as_interrupt(), progress_bar("reading the tree") as bar:
        display = BuildDisplay(bar)
        built = build(tree, name=name, hz=hz, jobs=jobs, on_progress=display.show)
    if json:
        print_json(built.to_dict())
        return 0
    took = f"in {duration(time.monotonic() - began_s)}" if display.has_begun else "already built"
    print_line(f"kernel {built.name}: {described(built)}, {took}")
    if built.missing:
        print_line(f"not in this tree: {', '.join(built.missing)}")
    return 0


@kernel_app.command("list", epilog=examples("dumbbell kernel list", "dumbbell kernel list --json"))
def list_command(json: options.Json = False) -> int:
    """List the kernels that were built, the newest release first."""
    every = kernels()
    if json:
        print_json([each.to_dict() for each in every])
    elif not every:
        print_line("no kernel is built; build one with `dumbbell kernel build 6.12`")
    else:
        print_table(
            ("name", "release", "HZ", "size", "algorithms", "state"),
            [row(each) for each in every],
            left=(0, 1, 4, 5),
        )
    return 0


@kernel_app.command("remove", epilog=examples("dumbbell kernel remove 6.12"))
def remove_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As `dumbbell kernel list` has it.")],
) -> int:
    """Remove a kernel."""
    removed = remove(name)
    print_line(f"removed kernel {removed.name}")
    return 0


def row(kernel: BuiltKernel) -> tuple[str, ...]:
    """Return a kernel's row in the table."""
    return (
        kernel.name,
        kernel.release or "–",
        str(kernel.hz) if kernel.hz else "–",
        size(kernel.size_bytes) if kernel.size_bytes else "–",
        ", ".join(kernel.congestion_controls) or "–",
        kernel.state,
    )


def described(kernel: BuiltKernel) -> str:
    """Return what a kernel is."""
    count = len(kernel.congestion_controls)
    return f"Linux {kernel.release}, {kernel.hz} Hz, {count} algorithms, {size(kernel.size_bytes)}"


class BuildDisplay:
    """How far a build is: one line on a terminal, elsewhere a line for each stage and minute.

    Parameters
    ----------
    bar
        The line on a terminal.
    """

    def __init__(self, bar: ProgressBar) -> None:
        self.bar = bar
        self.began_s = self.said_s = time.monotonic()
        self.stage = ""

    @property
    def has_begun(self) -> bool:
        """Whether anything had to be built."""
        return bool(self.stage)

    def show(self, progress: BuildProgress) -> None:
        """Show how far it is, if there is something new to say."""
        now_s = time.monotonic()
        text = progress.stage
        if progress.compiled:
            text += f" file {progress.compiled} of about {progress.about}"
        if now_s - self.began_s >= 1:
            text += f", {duration(now_s - self.began_s)}"
        is_due = progress.stage != self.stage or now_s - self.said_s >= EVERY_S
        self.stage = progress.stage
        if self.bar.bar is not None:
            self.bar.at(progress.compiled / progress.about, text, has_pace=progress.compiled > 0)
        elif is_due:
            self.said_s = now_s
            note(text)


@contextmanager
def ending_as_interrupt() -> Iterator[None]:
    """Let what ends a program end it as Ctrl-C does, so that nothing is left behind."""

    def interrupt(number: int, _: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt(signal.strsignal(number) or f"signal {number}")

    # `nohup` has one of them ignored.
    replaced = [each for each in ENDINGS if signal.getsignal(each) is signal.SIG_DFL]
    for number in replaced:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in replaced:
            signal.signal(number, signal.SIG_DFL)
