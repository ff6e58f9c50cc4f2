"""A line at the bottom of the terminal that says what an emulated path does now."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

from dumbbell.base.errors import DumbbellError
from dumbbell.cli.print_emulation import rate_words
from dumbbell.emulation.path import EmulatedPath
from dumbbell.scenario.link import BOTTLENECK, UP

__all__ = ["StatusLine", "status_text"]

#: How often it changes, s.
EVERY_S = 0.25
#: Control sequences (ECMA-48, DEC VT100): the region that scrolls, and where the cursor is.
SAVE, RESTORE = "\x1b7", "\x1b8"
ERASE, INVERSE, PLAIN = "\x1b[2K", "\x1b[7m", "\x1b[0m"


class StatusLine:
    """The last line of the terminal; what programs print scrolls above it.

    Parameters
    ----------
    path
        What it is about.
    is_wanted
        Show it, if stderr is a terminal.
    """

    def __init__(self, path: EmulatedPath, *, is_wanted: bool) -> None:
        self.path = path
        self.is_shown = is_wanted and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.size = os.terminal_size((0, 0))
        self.ended = Event()
        self.thread = Thread(target=self.refresh, daemon=True)

    def __enter__(self) -> Self:
        if self.is_shown:
            self.thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if self.is_shown:
            self.ended.set()
            self.thread.join()
            if self.size.lines:
                bottom = f"\x1b[{self.size.lines};1H"
                write(f"{SAVE}{bottom}{ERASE}\x1b[r{RESTORE}")

    def refresh(self) -> None:
        """Show it until the end."""
        earlier: Mapping[str, Any] | None = None
        while not self.ended.wait(EVERY_S):
            try:
                now = self.path.stats()
            except DumbbellError:
                return
            self.show(status_text(earlier, now))
            earlier = now

    def show(self, text: str) -> None:
        """Write a text into the last line."""
        size = os.get_terminal_size(sys.stderr.fileno())
        if size.lines < 2 or size.columns < 2:  # a terminal without a size
            return
        if size != self.size:
            self.size = size
            # A line more, so that what is in the last one scrolls up; then it no longer does.
            write(f"\n{SAVE}\x1b[1;{size.lines - 1}r{RESTORE}\x1b[1A")
        bottom = f"\x1b[{size.lines};1H"
        shown = text[: size.columns].ljust(size.columns)
        write(f"{SAVE}{bottom}{INVERSE}{shown}{PLAIN}{RESTORE}")


def status_text(earlier: Mapping[str, Any] | None, now: Mapping[str, Any]) -> str:
    """Write what happened between two looks at a path, or since its beginning."""
    before = {} if earlier is None else {link["name"]: link for link in earlier["links"]}
    elapsed_s = now["time_s"] - (0 if earlier is None else earlier["time_s"])
    parts = [f"{now['time_s']:.0f} s"]
    for link in now["links"]:
        name = {BOTTLENECK: "down", UP: "up"}.get(link["name"], link["name"])
        sent = link["forwarded_bytes"] - before.get(link["name"], {}).get("forwarded_bytes", 0)
        rate = 8 * sent / elapsed_s if elapsed_s > 0 else 0
        parts.append(
            f"{name} {rate / 1e6:.1f} of {rate_words(link['rate_bps'])}, queue "
            f"{link['backlog_bytes'] / 1e3:.0f} kB, {link['dropped_pkts']:,} dropped"
            + (f", {link['marked_pkts']:,} marked" if link.get("marked_pkts") else "")
        )
    rtts = [flow["rtt_us"] for flow in now["flows"] if flow.get("rtt_us")]
    if rtts:
        parts.append(f"RTT {max(rtts) / 1e3:.0f} ms")
    return " │ ".join(parts)


def write(text: str) -> None:
    """Write control sequences at once."""
    sys.stderr.write(text)
    sys.stderr.flush()
