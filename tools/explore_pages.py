"""Pages of the guide with sliders that need no server: runs of every position lie in each.

``python tools/explore_pages.py`` writes them into docs/_generated/explore, which takes a
minute; runs of the cache are not run again. Names as arguments, like ``which-queue``, choose some.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from dumbbell import Group, Scenario
from dumbbell.explore import write_export
from dumbbell.guide import scenarios

__all__ = ["EXPLORED", "MAX_BYTES", "PAGES", "write"]

EXPLORED = Path(__file__).parents[1] / "docs" / "_generated" / "explore"
#: Of a page: what a phone loads in a few seconds.
MAX_BYTES = 1_500_000


@dataclass(frozen=True)
class Page:
    """A page: its title, what no slider changes, and its sliders with their values."""

    title: str
    scenario: Callable[[], Scenario]
    over: tuple[str, ...]


def papers_pair() -> Scenario:
    """Return Copa against CUBIC as ogino2021 has it, whose first figure is over the buffer."""
    groups = [Group(cc, rwnd="8MiB") for cc in ("copa", "cubic")]
    return Scenario(groups, rate="50mbit", rtt="40ms", time="120s")


def household() -> Scenario:
    """Return what a household does at once over one line."""
    return Scenario.from_toml(scenarios()["which-queue"])


PAGES: Mapping[str, Page] = {
    "who-wins": Page(
        "Who wins as the buffer grows?",
        papers_pair,
        ("buffer=0.5..64bdp", "1.cc=cubic,bbr,bbr3,reno", "flows=1,4"),
    ),
    "which-queue": Page(
        "Which queue should my router have?",
        household,
        (
            "link.down.queue+link.up.queue=bfifo,codel,fq_codel,pie,cake",
            "link.down.buffer+link.up.buffer=1bdp,2bdp,4bdp,8bdp",
            "rtt=20ms,40ms,80ms",
        ),
    ),
}


def write(name: str, directory: Path = EXPLORED) -> Path:
    """Write a page, and return its path."""
    page = PAGES[name]
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{name}.html"
    write_export(page.scenario(), path, page.over, title=page.title)
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise SystemExit(f"{path} has {size:,} bytes, more than {MAX_BYTES:,}")
    return path


if __name__ == "__main__":
    for each in sys.argv[1:] or PAGES:
        print(write(each))
