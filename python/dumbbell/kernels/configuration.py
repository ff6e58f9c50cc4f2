"""The configuration of a kernel: tinyconfig, the fragment, and every algorithm of the tree."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dumbbell.base.errors import KernelError
from dumbbell.kernels.edits import text_of

__all__ = ["Fragment", "congestion_controls_of", "missing_options", "read_fragment", "wanted_text"]

#: A line each. What is before the first is set, and not looked for afterwards.
REQUIRED, WANTED = "\n## required\n", "\n## wanted\n"
#: A line of a configuration.
SET = re.compile(r"^(CONFIG_\w+)=(.*)$")
UNSET = re.compile(r"^# (CONFIG_\w+) is not set$")
#: An option of an algorithm in Kconfig; its source in the Makefile; its name in the source.
OPTION = re.compile(r"^config (TCP_CONG_\w+)\n\s+(?:tristate|bool)\b", re.MULTILINE)
OBJECT = re.compile(r"^obj-\$\(CONFIG_(TCP_CONG_\w+)\)\s*\+=\s*(.+)$", re.MULTILINE)
NAME = re.compile(r"\.name\s*=\s*\"(\w+)\"")
#: Of these the tree says more in Kconfig, and no algorithm comes with it.
NO_ALGORITHM = {"TCP_CONG_ADVANCED"}
SOURCES = "net/ipv4"


@dataclass(frozen=True)
class Fragment:
    """Options and their values; those that are not set have the value ``n``.

    Attributes
    ----------
    required
        Without one of these the engine does not work.
    wanted
        What a tree may lack.
    """

    required: Mapping[str, str]
    wanted: Mapping[str, str]


def read_fragment(text: str) -> Fragment:
    """Read a fragment with its two parts."""
    before, _, wanted = text.partition(WANTED)
    return Fragment(options_of(before.partition(REQUIRED)[2]), options_of(wanted))


def options_of(text: str) -> dict[str, str]:
    """Return the options of a configuration, without ``CONFIG_``."""
    found = {}
    for line in text.splitlines():
        if match := SET.match(line):
            found[match[1].removeprefix("CONFIG_")] = match[2]
        elif match := UNSET.match(line):
            found[match[1].removeprefix("CONFIG_")] = "n"
    return found


def wanted_text(tree: Path, fragment: str) -> str:
    """Return what is appended to tinyconfig: the fragment, and the tree's algorithms."""
    own = OPTION.findall(text_of(tree / SOURCES / "Kconfig"))
    return fragment + "".join(f"CONFIG_{each}=y\n" for each in own if each not in NO_ALGORITHM)


def missing_options(wanted: Fragment, hz: int, config: str, release: str) -> list[str]:
    """Return the options that a tree lacks, in a configuration that was made from the fragment.

    Raises
    ------
    KernelError
        A required one is among them.
    """
    options = options_of(config)
    required = {**wanted.required, "HZ": str(hz)}
    absent = [each for each, value in required.items() if options.get(each, "n") != value]
    if absent:
        shown = ", ".join(f"`{each}={required[each]}`" for each in absent)
        raise KernelError(
            f"Linux {release} cannot be configured with {shown}, which dumbbell needs; use "
            "a tree of Linux 5.10 or later, or restore these in it"
        )
    return [each for each, value in wanted.wanted.items() if options.get(each, "n") != value]


def congestion_controls_of(tree: Path, config: str) -> list[str]:
    """Return the names of the algorithms that a configured tree builds in, sorted."""
    options = options_of(config)
    names = {"reno"}
    for option, objects in OBJECT.findall(text_of(tree / SOURCES / "Makefile")):
        if options.get(option) != "y":
            continue
        for each in objects.split():
            source = tree / SOURCES / f"{each.removesuffix('.o')}.c"
            names |= set(NAME.findall(text_of(source)))
    return sorted(names)
