"""Commands of other packages: an entry point of the group `dumbbell.commands` declares them."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.terminal.console import note
from dumbbell.terminal.lazy_command import CommandGroup, LazyCommand

#: Ends the first panel of `dumbbell --help`.
LAST_OF_FIRST = "doctor"
#: Other names of commands.
ALIASES = {"xval": "validate"}
#: What was renamed for good; where a first word was added, the second alone is the old name.
RENAMED = {"interop-sim": "emulate interop"}

#: Programs that people measure with.
PROGRAMS = (
    "curl", "flent", "ip", "iperf", "iperf3", "nc", "netperf", "netserver", "ping", "qperf",
    "tcpdump", "wget",
)  # fmt: skip

__all__ = ["InstalledCommand", "RootGroup", "installed_commands"]

#: Each entry point of this group is a mapping of names to `InstalledCommand`.
GROUP = "dumbbell.commands"


class InstalledCommand(NamedTuple):
    """A command of another package.

    Attributes
    ----------
    help_line
        The first line of its help.
    package
        The package with its module, which `LazyCommand` loads.
    after
        The command that it follows in `dumbbell --help`; one of two words follows its first.
    """

    help_line: str
    package: str
    after: str


class RootGroup(CommandGroup):
    """The command `dumbbell`, which looks for commands of other packages only where it must.

    Reading the metadata of all installed packages takes longer than loading a command of its own.
    A command of two words (`emulate set`) is called by both, and listed by the help of the first.
    """

    def add_installed(self) -> None:
        """Add the commands of other packages, each behind the one that it follows."""
        names = list(self.commands)
        for name, each in installed_commands().items():
            if name not in self.commands:
                at = names.index(each.after) + 1 if each.after in names else len(names)
                names.insert(at, name)
                self.add_command(LazyCommand(name, each.help_line, each.package))
        self.commands = {name: self.commands[name] for name in names}

    def list_commands(self, ctx: Any) -> list[str]:
        """Return all names in the order of `dumbbell --help`."""
        self.add_installed()
        return [name for name in super().list_commands(ctx) if " " not in name]

    def panels(self, ctx: Any) -> dict[str, list[str]]:
        """Return the names by their panel of `dumbbell --help`."""
        names = self.list_commands(ctx)
        first = 1 + names.index(LAST_OF_FIRST)
        return {"Commands": names[:first], "More commands": names[first:]}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name; None if there is none."""
        if cmd_name not in self.commands:
            self.add_installed()
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that the arguments begin with."""
        if args[0] not in self.commands:
            self.add_installed()
            args = self.by_new_name(args, is_called=not ctx.resilient_parsing)
        two = " ".join(args[:2])
        if len(args) > 1 and two in self.commands:
            return two, self.commands[two], args[2:]
        self.check_program(args)
        return super().resolve_command(ctx, args)

    def check_program(self, words: Sequence[str]) -> None:
        """Refuse a program that is no command and is like none: it runs in `emulate`."""
        if words[0] in PROGRAMS and not shutil.which(words[0]):
            over_path = shlex.join(["dumbbell", "emulate", "--", *words])
            raise ScenarioError(
                f"no such command: `{words[0]}`, which is a program and not installed; where it "
                f"is, `{over_path}` runs it over a path"
            )
        is_like = "did you mean" in nearest(words[0], self.commands)
        if words[0] not in self.commands and not is_like and shutil.which(words[0]):
            over_path = shlex.join(["dumbbell", "emulate", "--", *words])
            raise ScenarioError(
                f"no such command: `{excerpt(words[0])}`; to run the program over a path use "
                f"`{over_path}`"
            )

    def by_new_name(self, args: list[str], *, is_called: bool) -> list[str]:
        """Return the arguments with the name that a command has now."""
        old = args[0]
        new = ALIASES.get(old) or RENAMED.get(old) or next(
            (name for name in self.commands if name.endswith(f" {old}")), None
        )  # fmt: skip
        if new is None:
            return args
        if old not in ALIASES and is_called:
            note(f"`dumbbell {old}` is `dumbbell {new}` now; the old name goes in the next release")
        return [*new.split(), *args[1:]]


def installed_commands() -> Mapping[str, InstalledCommand]:
    """Return the commands that installed packages declare, by name."""
    from importlib.metadata import entry_points  # slow to import

    found: dict[str, InstalledCommand] = {}
    for each in entry_points(group=GROUP):
        found.update(each.load())
    return found
