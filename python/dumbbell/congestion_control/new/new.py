"""Writes the templates beside this file under a name."""

from __future__ import annotations

import keyword
import re
import shutil
from pathlib import Path

from dumbbell import _core
from dumbbell.congestion_control import congestion_controls
from dumbbell.congestion_control.linux_tree import LINUX_NAMES
from dumbbell.errors import EngineError, ResultError, ScenarioError, os_reason

__all__ = ["FILES", "new"]

#: What is written, and from which template; NAME in them is the congestion control's.
FILES = {
    "NAME.bpf.c": "template.bpf.c",
    "test_NAME.py": "template_test.txt",
    "scenario.toml": "template.toml",
}
#: Of the kernel's 15 letters; a C identifier, since functions are called by it.
NAME = re.compile(r"[a-z][a-z0-9_]{0,14}", re.ASCII)
#: Words that C has for itself; what the headers have given away, a compiler tells.
TAKEN = frozenset({
    "asm", "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else",
    "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register",
    "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef",
    "typeof", "union", "unsigned", "void", "volatile", "while",
})  # fmt: skip


def new(name: str, directory: Path) -> list[Path]:
    """Write a congestion control, its test and a scenario to ``directory/name``.

    Parameters
    ----------
    name
        What it shall be called: 1 to 15 small letters, digits and ``_``.
    directory
        Where its own directory is made.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    ScenarioError
        The name is none, or taken.
    ResultError
        There is such a directory, or it cannot be written.
    EngineError
        The compiler compiles nothing of ours.
    """
    if not NAME.fullmatch(name) or name in TAKEN or keyword.iskeyword(name):
        raise ScenarioError(
            f"invalid congestion-control name `{name}`: use 1–15 lower-case letters, digits or "
            "`_`, starting with a letter, and not a keyword of C or Python",
            key="cc",
        )
    if name in congestion_controls():
        raise ScenarioError(f"`{name}` is built in; choose another name", key="cc")
    if name in LINUX_NAMES:
        raise ScenarioError(f"`{name}` is one of Linux's own; choose another name", key="cc")
    place = directory / name
    if place.exists():
        raise ResultError(f"{place} already exists; remove it, or choose another name")
    written = []
    try:
        place.mkdir(parents=True)
        for file in FILES:
            path = place / file.replace("NAME", name)
            path.write_text(text_of(file, name), encoding="utf-8")
            written.append(path)
    except OSError as error:
        raise ResultError(f"{place}: cannot be written: {os_reason(error)}") from None
    if compile_error(written[0]) is not None:
        harmless = place / "harmless.bpf.c"
        harmless.write_text(text_of("NAME.bpf.c", "harmless"), encoding="utf-8")
        always = compile_error(harmless)
        shutil.rmtree(place)
        if always is not None:
            raise EngineError(always)
        raise ScenarioError(f"`{name}` is already a name in the headers; choose another", key="cc")
    return written


def text_of(file: str, name: str) -> str:
    """Return what is written to a file of a congestion control of some name."""
    template = Path(__file__).with_name(FILES[file]).read_text(encoding="utf-8")
    return template.replace("NAME", name)


def compile_error(source: Path) -> str | None:
    """Return why a source does not compile; None if it does, or there is no compiler to ask."""
    for build in (_core.precompile, _core.compile_for_kernel):
        try:
            build(str(source.resolve()))
        except _core.EngineError as error:
            if "does not compile" in str(error):
                return str(error)
    return None
