"""The congestion control algorithms of a Linux source tree: ``net/ipv4/tcp_*.c``."""

from __future__ import annotations

import re
from contextvars import ContextVar
from pathlib import Path

from dumbbell.base.errors import ScenarioError, nearest

__all__ = ["LINUX_NAMES", "LinuxTree", "tree_in_use", "use_linux_tree"]

#: Where the sources are in a tree.
SOURCES = Path("net/ipv4")
#: A call that every source of a congestion control algorithm has, and no other file of the
#: directory.
REGISTERS = re.compile(r"\btcp_register_congestion_control\s*\(&")
#: Linux's congestion control algorithms, to distinguish their names from mistakes without a tree.
LINUX_NAMES = (
    "bbr", "bic", "cdg", "cubic", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp", "nv",
    "scalable", "vegas", "veno", "westwood", "yeah",
)  # fmt: skip


class LinuxTree:
    """A Linux source tree, of any version from 5.10 to 7.2.

    Parameters
    ----------
    root
        Its directory, the one with ``net/ipv4`` in it.

    Raises
    ------
    ScenarioError
        There is no such directory.

    Examples
    --------
    >>> tree = dumbbell.LinuxTree("/usr/src/linux-6.12")          # doctest: +SKIP
    >>> dumbbell.run(dumbbell.Scenario([tree.source("vegas"), "cubic"]))  # doctest: +SKIP
    """

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        if not (self.root / SOURCES).is_dir():
            raise ScenarioError(
                f"`{root}` is not a Linux source tree: it has no `{SOURCES}`; name the directory "
                "that has it, like `/usr/src/linux-6.12`"
            )

    def __repr__(self) -> str:
        return f"LinuxTree({str(self.root)!r})"

    def names(self) -> tuple[str, ...]:
        """Return the names of the tree's CCAs, sorted: ``("bbr", "bic", …)``."""
        files = sorted((self.root / SOURCES).glob("tcp_*.c"))
        return tuple(file.stem.removeprefix("tcp_") for file in files if registers(file))

    def source(self, name: str) -> str:
        """Return the path of a congestion control algorithm's source.

        Parameters
        ----------
        name
            ``vegas`` or ``tcp_vegas``.

        Raises
        ------
        ScenarioError
            The tree has no congestion control algorithm of that name.
        """
        stem = name.removeprefix("tcp_")
        path = self.root / SOURCES / f"tcp_{stem}.c"
        if not path.is_file() or not registers(path):
            hint = nearest(stem, self.names())
            raise ScenarioError(
                f"`{self.root / SOURCES}` has no congestion control `{stem}`{hint}", key="cc"
            )
        return str(path)


def registers(file: Path) -> bool:
    """Whether a source registers a congestion control algorithm that a user can choose."""
    return REGISTERS.search(file.read_text(encoding="utf-8", errors="replace")) is not None


_in_use: ContextVar[LinuxTree | None] = ContextVar("linux_tree", default=None)


def use_linux_tree(root: str | Path | None) -> LinuxTree | None:
    """Look names that are not built in up in a Linux source tree.

    Parameters
    ----------
    root
        The tree; None stops using one.

    Returns
    -------
    LinuxTree or None
        The tree.
    """
    tree = None if root is None else LinuxTree(root)
    _in_use.set(tree)
    return tree


def tree_in_use() -> LinuxTree | None:
    """Return the tree of `use_linux_tree`, if one was named."""
    return _in_use.get()
