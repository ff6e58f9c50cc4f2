"""Programs in a group's hosts: their commands, what must listen first, and what they print."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.plain_value import check_printable
from dumbbell.scenario.kinds import Kind

__all__ = [
    "Command",
    "CommandLine",
    "Pattern",
    "Port",
    "Ports",
    "PortsOf",
    "RecordedCommand",
    "live_commands",
    "recorded_commands",
]

#: Fields of a group that are commands.
COMMANDS = ("client", "server")
#: Programs that run a script, which says more than they.
INTERPRETER = re.compile(r"(python|bash|sh|dash|perl|ruby|node|lua)[0-9.]*")
PROTOCOLS = ("tcp", "udp")
LARGEST_PORT = 65_535
#: Bytes of a word of a command that Linux takes (MAX_ARG_STRLEN, execve(2)), with its closing NUL.
MAX_WORD_BYTES = 131_071


class Command(tuple[str, ...]):
    """A command by its words."""

    __slots__ = ()

    def __str__(self) -> str:
        return shlex.join(self)

    @property
    def name(self) -> str:
        """The program's name: ``curl`` of ``/usr/bin/curl``."""
        return self[0].rpartition("/")[2] if self else ""

    @property
    def title(self) -> str:
        """What it is called in tables: its program, or the script of ``python3 send.py …``."""
        script = self[1].rpartition("/")[2] if len(self) > 1 else ""
        is_script = script and not script.startswith("-") and INTERPRETER.fullmatch(self.name)
        return script if is_script else self.name


class RecordedCommand(Command):
    """A command as a result names it: it describes what ran, and is not run again."""

    __slots__ = ()


class CommandLine(Kind[Command]):
    """A command: text is split as a shell splits words, a list is taken as it is. No shell runs."""

    metavar = "COMMAND"

    def parse(self, value: Any, what: str) -> Command:
        """Read a command; `what` names the field in an error."""
        if isinstance(value, RecordedCommand):
            return value
        if isinstance(value, str):
            words = self._split(value, what)
        elif isinstance(value, list | tuple) and all(isinstance(word, str) for word in value):
            words = list(value)
        else:
            message = f"{what} must be a command or the list of its words, not `{excerpt(value)}`"
            raise ScenarioError(message, key=what)
        if not words or not words[0]:
            raise ScenarioError(f'{what} has no command; write e.g. `{what} = "curl …"`', key=what)
        for word in words:
            # Newlines and tabs are usual in `sh -c`; other unprintable characters are a mistake.
            check_printable(re.sub(r"[\n\t]", " ", word), what)
            if len(word.encode()) > MAX_WORD_BYTES:
                message = f"a word of {what} has more than {MAX_WORD_BYTES:,} bytes; use a file"
                raise ScenarioError(message, key=what)
        return Command(words)

    def _split(self, text: str, what: str) -> list[str]:
        try:
            return shlex.split(text)
        except ValueError as error:
            reason = f"{error}".lower()
            message = f"{what} `{excerpt(text)}`: {reason}; quote it as in a shell"
            raise ScenarioError(message, key=what) from None


def recorded_commands(words: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result's words of a group, with its commands as those of a result."""
    found = {key: CommandLine().parse(words[key], key) for key in COMMANDS if words.get(key)}
    return {**words, **{key: RecordedCommand(command) for key, command in found.items()}}


def live_commands(group: Any) -> dict[str, Any]:
    """Return the commands of a group of a result, as ones that run."""
    found = {key: getattr(group, key) for key in COMMANDS}
    return {key: Command(command) for key, command in found.items() if command}


class Port(tuple[str, int]):
    """A port of a protocol: ``tcp:80``."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"{self[0]}:{self[1]}"


class Ports(tuple[Port, ...]):
    """Ports of protocols."""

    __slots__ = ()

    def __str__(self) -> str:
        return ",".join(map(str, self))

    def to_engine(self) -> list[dict[str, int]]:
        """Return them as the engine takes them."""
        return [{protocol: number} for protocol, number in self]


class PortsOf(Kind[Ports]):
    """Ports: ``tcp:80``, ``tcp:80,udp:443``, or a list."""

    metavar = "tcp|udp:PORT"

    def parse(self, value: Any, what: str) -> Ports:
        """Read ports; `what` names the field in an error."""
        if isinstance(value, Ports):
            return value
        parts = value.split(",") if isinstance(value, str) else value
        if isinstance(parts, list | tuple) and all(isinstance(part, str) for part in parts):
            return Ports(self._port(part.strip(), what) for part in parts)
        raise ScenarioError(f"{what} must be e.g. `tcp:80`, not `{excerpt(value)}`", key=what)

    def _port(self, text: str, what: str) -> Port:
        protocol, colon, number = text.partition(":")
        if not colon:
            raise ScenarioError(
                f"{what} `{excerpt(text)}`: expected a protocol and a port, e.g. `tcp:80`", key=what
            )
        if protocol not in PROTOCOLS:
            hint = nearest(protocol, PROTOCOLS)
            hint = hint if "did you mean" in hint else "; use `tcp` or `udp`"
            message = f"{what} `{excerpt(text)}`: unknown protocol `{excerpt(protocol)}`{hint}"
            raise ScenarioError(message, key=what)
        is_number = number.isascii() and number.isdecimal() and len(number) <= 5
        if not is_number or not 1 <= int(number) <= LARGEST_PORT:
            raise ScenarioError(
                f"{what} `{excerpt(text)}`: the port must be 1 to {LARGEST_PORT}", key=what
            )
        return Port((protocol, int(number)))


class Pattern(Kind[str]):
    """A regular expression of Python's `re` that finds a number in text."""

    metavar = "REGEX"

    def parse(self, value: Any, what: str) -> str:
        """Read a regular expression; `what` names the field in an error."""
        if not isinstance(value, str):
            message = f"{what} must be a regular expression, not `{excerpt(value)}`"
            raise ScenarioError(message, key=what)
        check_printable(value, what)
        try:
            groups = re.compile(value).groups
        except re.error as error:
            message = f"{what} `{excerpt(value)}` is not a regular expression: {error}"
            raise ScenarioError(message, key=what) from None
        if groups != 1:
            raise ScenarioError(
                f"{what} `{excerpt(value)}` has {groups} groups; put the number, and nothing else, "
                r"in one, e.g. `speed: (\S+)`",
                key=what,
            )
        return value
