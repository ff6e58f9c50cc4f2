"""Writes a new congestion control from the templates in this directory."""

from __future__ import annotations

import keyword
import re
from pathlib import Path
from typing import Literal, get_args

from dumbbell import _core
from dumbbell.base.errors import EngineError, ResultError, ScenarioError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.writing import replacing
from dumbbell.congestion_control import congestion_controls
from dumbbell.congestion_control.linux_tree import LINUX_NAMES

__all__ = ["FILES", "KINDS", "Kind", "new"]

#: What a congestion control algorithm goes by.
Kind = Literal["loss", "delay", "rate"]
KINDS: tuple[Kind, ...] = get_args(Kind)
#: The files that are written, and their templates; NAME in them is the congestion control
#: algorithm's name, KIND in the templates' names its kind.
FILES = {
    "NAME.bpf.c": "KIND.bpf.c",
    "test_NAME.py": "KIND_test.txt",
    "scenario.toml": "scenario.toml",
}
#: At most the kernel's 15 letters, and a C identifier, because functions are named after it.
NAME = re.compile(r"[a-z][a-z0-9_]{0,14}", re.ASCII)
#: Keywords of C; the compiler reports names that the headers have taken.
TAKEN = frozenset({
    "asm", "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else",
    "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register",
    "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef",
    "typeof", "union", "unsigned", "void", "volatile", "while",
})  # fmt: skip


def new(name: str, directory: Path, kind: Kind = "loss") -> list[Path]:
    """Write a congestion control algorithm, its test and a scenario to ``directory/name``.

    Parameters
    ----------
    name
        Its name: 1 to 15 lower-case letters, digits and ``_``.
    directory
        Where its directory is made.
    kind
        ``loss``: cong_avoid() and ssthresh(), as Reno; ``delay``: a window by the RTT of each
        round; ``rate``: pacing by measured rates.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    ScenarioError
        The name is invalid or taken.
    ResultError
        The directory exists, or cannot be written.
    EngineError
        The compiler cannot compile any of our sources.
    """
    if not NAME.fullmatch(name) or name in TAKEN or keyword.iskeyword(name):
        valid = re.sub(r"\W+", "_", name.lower(), flags=re.ASCII)
        like = f", like `{valid}`" if NAME.fullmatch(valid) and valid not in TAKEN else ""
        raise ScenarioError(
            f"invalid congestion-control name `{excerpt(name)}`: use 1–15 lower-case letters, "
            f"digits or `_`, starting with a letter, and not a keyword of C or Python{like}",
            key="cc",
        )
    if name in congestion_controls():
        raise ScenarioError(f"`{name}` is built in; choose another name", key="cc")
    if name in LINUX_NAMES:
        raise ScenarioError(f"`{name}` is one of Linux's own; choose another name", key="cc")
    place = directory / name
    if place.exists():
        raise ResultError(f"{place} already exists; remove it, or choose another name")
    texts = {file.replace("NAME", name): text_of(file, name, kind) for file in FILES}
    with replacing(place) as new:
        new.mkdir()
        for file, text in texts.items():
            (new / file).write_text(text, encoding="utf-8")
        check_name(new, name, kind)
    return [place / file for file in texts]


def check_name(new: Path, name: str, kind: Kind) -> None:
    """Refuse a name with which the new source does not compile."""
    if compile_error(new / f"{name}.bpf.c") is not None:
        text = text_of("NAME.bpf.c", "harmless", kind)
        (new / "harmless.bpf.c").write_text(text, encoding="utf-8")
        always = compile_error(new / "harmless.bpf.c")
        if always is not None:
            raise EngineError(always)
        raise ScenarioError(f"`{name}` is already a name in the headers; choose another", key="cc")


def text_of(file: str, name: str, kind: Kind) -> str:
    """Return the text of a file for a congestion control algorithm's name and kind."""
    place = Path(__file__).with_name(FILES[file].replace("KIND", kind))
    template = place.read_text(encoding="utf-8")
    return template.replace("NAME", name)


def compile_error(source: Path) -> str | None:
    """Return why a source does not compile; None if it compiles, or there is no compiler."""
    for build in (_core.precompile, _core.compile_for_kernel):
        try:
            build(str(source.resolve()))
        except _core.EngineError as error:
            if "does not compile" in str(error):
                return str(error)
    return None
