"""Congestion control algorithms: what is built in, and how a user names one with its parameters."""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

from dumbbell import _core
from dumbbell.base.errors import EngineError, ScenarioError, nearest, os_reason
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.plain_value import check_printable
from dumbbell.base.quantities.quantity import MAX_DIGITS, is_count
from dumbbell.congestion_control.linux_tree import LINUX_NAMES, tree_in_use
from dumbbell.congestion_control.presets import preset_of, presets_of
from dumbbell.congestion_control.quic import (
    algorithm_of,
    is_quic,
    no_kernels_own,
    split_params,
    stack_of,
    where_parameter_is,
)
from dumbbell.congestion_control.unknown_name import what_is_meant

__all__ = [
    "CongestionControlChoice",
    "Description",
    "Parameter",
    "Series",
    "congestion_controls",
    "describe",
]

#: Prefix of a congestion control algorithm of the running kernel.
KERNELS_OWN = "linux/"
#: That which its sockets have unless they choose another: `net.ipv4.tcp_congestion_control`.
KERNELS_DEFAULT = f"{KERNELS_OWN}default"
#: Prefix of a Python class that the running program defines.
PYTHON_CLASS = "python/"
#: Suffix of the source file of a built-in one.
BUILT_IN = ".bpf.c"
#: Suffixes of source files.
SOURCES = (".c", ".py")
#: Files of which a result has one.
RESULTS = ("run.json", "sweep.json")
#: Most files of a directory that an error names.
MAX_FILES = 6
#: Most bytes of a source file; Linux's largest has 50 kB.
MAX_SOURCE_BYTES = 4 << 20
#: A unit that is a fraction: ``/1024``, ``10/1024``; and a number for it.
SCALE = re.compile(r"(\d*)/(\d+)")
DECIMAL = re.compile(r"\d*\.\d+", re.ASCII)
#: A name the kernel could have (TCP_CA_NAME_MAX is 16, with the closing NUL).
KERNEL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,15}", re.ASCII)


@dataclass(frozen=True)
class Parameter:
    """An integer that a congestion control algorithm lets its user set.

    Attributes
    ----------
    name, unit, doc
        As its source file declares them.
    min, max, default
        The range, both ends included, and the value when it is not set.
    """

    name: str
    unit: str
    doc: str
    min: int
    max: int
    default: int


@dataclass(frozen=True)
class Series:
    """A field of a congestion control algorithm's state that is recorded over time.

    Attributes
    ----------
    name
        Column of the `state` table, with its unit.
    unit, doc
        As its source file declares them.
    labels
        Names of the values 0, 1, … when the field is a state (``default``, ``competitive``).
    """

    name: str
    unit: str
    doc: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Description:
    """What a congestion control algorithm declares."""

    name: str
    title: str
    parameters: tuple[Parameter, ...]
    series: tuple[Series, ...]
    #: Names of its callbacks.
    ops: tuple[str, ...] = ()
    #: What distinguishes it from what a stock kernel would run: sentences without their subject.
    notes: tuple[str, ...] = ()
    #: Whether it needs ECN.
    needs_ecn: bool = False

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Description:
        """Read the engine's description."""
        params = tuple(
            Parameter(*(param[key] for key in ("name", "unit", "doc", "min", "max", "default")))
            for param in document["params"]
        )
        series = tuple(
            Series(entry["name"], entry["unit"], entry["doc"], tuple(entry["labels"]))
            for entry in document["series"]
        )
        notes = tuple(document.get("notes", ()))
        ops = tuple(document["ops"])
        needs_ecn = document.get("needs_ecn", False)
        return cls(document["name"], document["title"], params, series, ops, notes, needs_ecn)


class BuiltIns(Mapping[str, Description]):
    """The built-in congestion control algorithms by name, sorted.

    Each is loaded when its description is first used: all of them take longer than a short run.
    """

    def __init__(self) -> None:
        files = (path for path in _core.builtin_sources() if path.endswith(BUILT_IN))
        names = sorted(path.removesuffix(BUILT_IN) for path in files)
        self.known: dict[str, Description | None] = dict.fromkeys(names)

    def __getitem__(self, name: str) -> Description:
        found = self.known[name]
        if found is None:
            found = self.known[name] = described(name)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self.known

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


def described(name: str) -> Description:
    """Load a built-in congestion control algorithm and read what it declares."""
    try:
        return Description.from_json(json.loads(_core.describe(name)))
    except _core.EngineError:
        pass  # as it is with one, it is with all, and the first of them is reported
    try:
        documents = json.loads(_core.congestion_controls())
    except _core.EngineError as error:  # they are loaded through a file in memory
        hint = "; raise `ulimit -f`" if "File too large" in str(error) else ""
        raise EngineError(f"{error}{hint}") from None
    return next(Description.from_json(each) for each in documents if each["name"] == name)


@functools.cache
def congestion_controls() -> Mapping[str, Description]:
    """Return every built-in congestion control algorithm by name, sorted."""
    return BuiltIns()


def describe(name_or_path: str) -> Description:
    """Return a congestion control algorithm's description.

    Parameters
    ----------
    name_or_path
        The name of a built-in one, or a source file.

    Returns
    -------
    Description
        Name, title, parameters and state series.

    Raises
    ------
    EngineError
        The file does not compile, or there is no such congestion control.
    ScenarioError
        It is the running kernel's own.
    """
    if is_kernels_own(name_or_path):
        raise ScenarioError(
            f"`{name_or_path}` is the running kernel's own and has no description; "
            "`dumbbell cc list` lists those that have one",
            key="cc",
        )
    if is_python_class(name_or_path):
        from dumbbell.congestion_control.python import describe_python  # it needs this module

        return describe_python(name_or_path)
    if name_or_path in congestion_controls():
        return congestion_controls()[name_or_path]
    if is_file(name_or_path):
        from dumbbell.congestion_control.foreign_description import describe_file  # as above

        return describe_file(name_or_path)
    return described_by_engine(name_or_path)


@functools.cache
def described_by_engine(name: str) -> Description:
    """Return what the engine says of a name that is of no file."""
    try:
        return Description.from_json(json.loads(_core.describe(name)))
    except _core.EngineError as error:
        raise EngineError(str(error)) from None


@dataclass(frozen=True, eq=False)
class CongestionControlChoice:
    """A CCA as a scenario names it: ``copa@paper``, ``copa:mode_window_rtts=5``.

    Attributes
    ----------
    name
        A built-in's name, the path of a source file (``./two.bpf.c#second`` where it has several
        congestion control algorithms), ``linux/cubic``: the running kernel's own, or
        ``quic/noq:bbr3``: one that a QUIC stack runs. After
        `use_linux_tree` also the name of one of Linux's, which becomes the path of its source.
    params
        Parameters that differ from the defaults, those of the preset included.
    preset
        The preset it is made from, ``paper`` of ``copa@paper``; empty: none. What `params` sets
        has precedence over it.
    path
        Where its file is, if that is not where the name says: the name is that of a result, and
        stays.

    Raises
    ------
    ScenarioError
        Unknown name or parameter, or a value out of its range.
    """

    name: str
    params: Mapping[str, int] = field(default_factory=dict)
    path: Path | None = None
    preset: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        check_printable(self.name, "congestion control", key="cc")
        if self.is_kernels_own:
            self._check_kernels_own()
            return
        if self.is_python_class:
            from dumbbell.congestion_control.python import check_parameters  # it needs this module

            check_parameters(self.name, self.params)
            return
        if is_quic(self.name) and is_kernels_own(algorithm_of(self.name)):
            raise ScenarioError(no_kernels_own(self.name, congestion_controls()), key="cc")
        if self.is_file:
            check_source(self.name, self.file)
            return  # its parameters are known once it is compiled, when the run starts
        if self.is_quic:
            self._check_quic()
            return
        known = congestion_controls()
        if not (self.name in known or self.preset or "," in self.name) and self._is_of_tree():
            return
        if self.name not in known:
            check_no_directory(self.name)
            hint = what_is_meant(self.name, known)
            message = f"unknown congestion control `{excerpt(self.name)}`{hint}"
            raise ScenarioError(message, key="cc")
        if self.preset:
            merged = {**preset_of(self.name, self.preset).params, **self.params}
            object.__setattr__(self, "params", merged)
        parameters = {parameter.name: parameter for parameter in known[self.name].parameters}
        for name, value in self.params.items():
            check_parameter(self.name, parameters, name, value)

    def _is_of_tree(self) -> bool:
        """Look a name that is not built in up in the Linux source tree in use, if there is one."""
        tree = tree_in_use()
        if tree is not None:
            object.__setattr__(self, "name", tree.source(self.name))
            return True
        stem = self.name.removeprefix("tcp_")
        if stem in congestion_controls():
            raise ScenarioError(
                f"unknown congestion control `{self.name}`; did you mean `{stem}`?", key="cc"
            )
        if stem in LINUX_NAMES:
            raise ScenarioError(
                f"`{self.name}` is not built in; with Linux's sources at hand use "
                f"`--linux-tree DIR`, or name the file: `DIR/net/ipv4/tcp_{stem}.c`",
                key="cc",
            )
        return False

    def _check_quic(self) -> None:
        """Refuse what the engine's stacks do not have."""
        if self.preset:
            merged = {**preset_of(algorithm_of(self.name), self.preset).params, **self.params}
            object.__setattr__(self, "params", merged)
        try:
            known = described_by_engine(self.name).parameters
        except EngineError as error:
            raise ScenarioError(str(error), key="cc") from None
        parameters = {parameter.name: parameter for parameter in known}
        for name, value in self.params.items():
            if name not in parameters and (
                hint := where_parameter_is(self.name, name, congestion_controls())
            ):
                message = f"`{self.name}` has no parameter `{excerpt(name)}`{hint}"
                raise ScenarioError(message, key="cc")
            check_parameter(self.name, parameters, name, value)

    def _check_kernels_own(self) -> None:
        """Refuse names that no kernel can have; the engine checks the rest when the run starts."""
        if not KERNEL_NAME.fullmatch(self.kernel_name):
            raise ScenarioError(
                f"`{excerpt(self.name)}`: no kernel congestion control can have this name; use one "
                "like `linux/cubic`",
                key="cc",
            )
        if self.params:
            raise ScenarioError(
                f"`{self}`: the kernel's own algorithms have no parameters; use `{self.name}`",
                key="cc",
            )

    def __eq__(self, other: object) -> bool:
        """Whether it is the same choice; where its file is does not matter."""
        if not isinstance(other, CongestionControlChoice):
            return NotImplemented
        ours = (self.name, self.preset, dict(self.params))
        return ours == (other.name, other.preset, dict(other.params))

    def __hash__(self) -> int:
        return hash(str(self))

    def with_param(self, name: str, value: int) -> Self:
        """Return it with a parameter set."""
        return replace(self, params={**self.params, name: value})

    def without_param(self, name: str) -> Self:
        """Return it with a parameter at its default."""
        return replace(self, params={key: self.params[key] for key in self.params if key != name})

    @property
    def file(self) -> Path:
        """Path of its file."""
        return file_of(self.name) if self.path is None else self.path

    @property
    def runs_from(self) -> str:
        """The name by which an engine finds it."""
        if self.path is None:
            return self.name
        table = table_of(self.name)
        file = f"{self.path}#{table}" if table else str(self.path)
        return stack_of(self.name) + file

    @property
    def is_kernels_own(self) -> bool:
        """Whether it is the running kernel's: ``linux/cubic``."""
        return is_kernels_own(self.name)

    @property
    def is_quic(self) -> bool:
        """Whether its flows are QUIC connections: ``quic/noq:bbr3``."""
        return is_quic(self.name)

    @property
    def kernel_name(self) -> str:
        """The kernel's name of one of its own: ``cubic`` of ``linux/cubic``."""
        return self.name.removeprefix(KERNELS_OWN)

    @property
    def is_file(self) -> bool:
        """Whether it is a user's source file, in C or Python."""
        return is_file(self.name)

    @property
    def is_python(self) -> bool:
        """Whether it is written in Python, which only the simulator runs."""
        return is_python(self.name)

    @property
    def is_python_class(self) -> bool:
        """Whether it is a Python class that the running program defines."""
        return is_python_class(self.name)

    @property
    def description(self) -> Description:
        """What it declares; a file is compiled for that."""
        return describe(self.runs_from)

    @property
    def series(self) -> tuple[Series, ...]:
        """The state series it declares; the running kernel's own declare none."""
        return () if self.is_kernels_own else self.description.series

    @classmethod
    def parse(cls, text: str | CongestionControlChoice | type) -> CongestionControlChoice:
        """Read ``name@preset:param=value,…``, ``./file.bpf.c:param=value`` or ``linux/name``.

        ``quic/stack@version:name:param=value`` names one over QUIC.

        Preset and parameters may each be left out; a parameter has precedence over the preset.

        A Python class (a subclass of `dumbbell.CongestionControl`) is accepted as well.
        """
        if isinstance(text, CongestionControlChoice):
            return text
        if isinstance(text, type):
            return cls(PYTHON_CLASS + text.__name__)
        if not isinstance(text, str) or not text.strip():
            raise ScenarioError(
                f"invalid congestion control `{excerpt(text)}`: use a name like `copa`", key="cc"
            )
        spelled, rest = split_params(text.strip())
        name, preset = split_preset(spelled)
        params: dict[str, int] = {}
        for part in filter(None, rest.split(",")):
            key, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals:
                cls(name, preset=preset)  # an unknown name says more than what follows it
            if not equals and key in congestion_controls():
                raise ScenarioError(
                    f"`{excerpt(text)}`: `{key}` is not a parameter; separate algorithms "
                    "with a space",
                    key="cc",
                )
            if is_count(key) and not equals:
                raise ScenarioError(
                    f"`{excerpt(text)}`: `{key}` is not a parameter; for {key} flows use "
                    f"`--set {excerpt(name)}.flows={key}`, or `flows = {key}` in a file",
                    key="cc",
                )
            if not equals:
                raise ScenarioError(
                    f"`{excerpt(text)}`: parameter `{excerpt(part)}` has no value: "
                    f"use `{excerpt(key)}=…`",
                    key="cc",
                )
            what = f"parameter `{excerpt(key)}` of `{excerpt(name)}`"
            if key in params:
                raise ScenarioError(
                    f"`{excerpt(text)}` sets parameter `{key}` twice; remove one", key="cc"
                )
            params[key] = parse_parameter(name, key, value, what)
        return cls(name, params, preset=preset)

    def __str__(self) -> str:
        name = f"{self.name}@{self.preset}" if self.preset else self.name
        known = presets_of(algorithm_of(self.name)).get(self.preset)
        implied = known.params if known else {}
        given = {key: value for key, value in self.params.items() if implied.get(key) != value}
        spelled = ",".join(f"{key}={value}" for key, value in given.items())
        return f"{name}:{spelled}" if spelled else name


def split_preset(spelled: str) -> tuple[str, str]:
    """Split ``copa@paper`` into its name and its preset; only built-in ones have presets."""
    if is_kernels_own(spelled) or is_python_class(spelled) or is_file(spelled):
        return spelled, ""
    stack = stack_of(spelled)
    if is_quic(spelled) and not stack:
        return spelled, ""
    name, at, preset = spelled.removeprefix(stack).partition("@")
    name = stack + name
    if at and not preset:
        there = ", ".join(f"`{name}@{each}`" for each in presets_of(algorithm_of(name)))
        raise ScenarioError(
            f"`{excerpt(spelled)}` has no preset after `@`; use {there or f'`{excerpt(name)}`'}",
            key="cc",
        )
    return name, preset


def is_python(name: str) -> bool:
    """Whether a name is of a CCA in Python: ``./mine.py`` or ``python/Mine``."""
    return file_of(name).suffix == ".py" or (
        name.startswith(PYTHON_CLASS) and file_of(name).suffix not in SOURCES
    )


@functools.cache
def is_python_class(name: str) -> bool:
    """Whether a name is of a class of the running program: ``python/Mine``."""
    return name.startswith(PYTHON_CLASS) and is_python(name)


@functools.cache
def is_file(name: str) -> bool:
    """Whether a name is of a source file, in C or Python: ``./mine.bpf.c``."""
    if is_kernels_own(name) or is_python_class(name):
        return False
    algorithm = algorithm_of(name)
    is_path = "/" in algorithm and (stack_of(name) != "" or not is_quic(name))
    return is_path or file_of(name).suffix in SOURCES


@functools.cache
def is_kernels_own(name: str) -> bool:
    """Whether a name is ``linux/…`` and not a file in a directory of that name."""
    return name.startswith(KERNELS_OWN) and file_of(name).suffix not in SOURCES


def file_of(name: str) -> Path:
    """Return the file of ``./two.bpf.c#second``: one that has several CCAs."""
    algorithm = algorithm_of(name)
    path, _, table = algorithm.rpartition("#")
    return Path(path if path and table.isidentifier() else algorithm)


def table_of(name: str) -> str | None:
    """Return ``second`` of ``./two.bpf.c#second``; None if none is named."""
    path, _, table = algorithm_of(name).rpartition("#")
    return table if path and table.isidentifier() else None


def check_no_directory(name: str) -> None:
    """Refuse a directory, and name what in it can be run."""
    if not os.path.isdir(name):  # noqa: PTH112 -- a name may be longer than any path
        return
    here = Path(name)
    if any((here / each).is_file() for each in RESULTS):
        remedy = f"it holds a result: `dumbbell report {name}`"
    else:
        files = sorted(each for each in here.iterdir() if each.suffix in (".toml", *SOURCES))
        shown = [f"`{each}`" for each in files[:MAX_FILES]]
        more = [f"{len(files) - len(shown)} more"] if len(files) > len(shown) else []
        named = f"use {shown[0]}" if len(files) == 1 else f"in it: {', '.join(shown + more)}"
        remedy = named if files else "no file in it can be run"
    raise ScenarioError(f"`{excerpt(name)}` is a directory; {remedy}", key="cc")


def elsewhere(path: Path) -> str:
    """Say where a file that is not there may be: in a directory of its name, with its ending."""
    here = path.parent
    with suppress(OSError):
        stem = path.name.partition(".")[0]
        places = [here, *(each for each in (here / stem, here / "cc") if each.is_dir())]
        found = sorted(
            each
            for place in places
            for each in place.iterdir()
            if each.suffix in SOURCES and each.name.partition(".")[0] == stem
        )
        if found:
            return f"; did you mean `{found[0]}`?"
    return "; use a built-in name (`dumbbell cc list`) or the path of a file"


def check_source(name: str, path: Path) -> None:
    """Refuse what is not a source file of a kind and size that can be a CCA."""
    reason = ""
    try:
        status = path.stat()
    except FileNotFoundError:
        reason = f"no such file{elsewhere(path)}"
    except OSError as error:
        reason = os_reason(error)
    else:
        check_no_directory(name)
        if not path.is_file():
            reason = "is not a regular file; name a source file"
        elif path.suffix not in SOURCES:
            reason = "its name ends in neither `.c` nor `.py`"
        elif status.st_size > MAX_SOURCE_BYTES:
            size = f"{status.st_size:,} bytes"
            reason = f"has {size}; a source file may have at most {MAX_SOURCE_BYTES:,}"
    if reason:
        raise ScenarioError(f"congestion control `{excerpt(name)}`: {reason}", key="cc")


def parse_parameter(cc: str, name: str, text: str, what: str) -> int:
    """Read a parameter's value; of a built-in CCA, whose parameters are known, with its unit."""
    known = congestion_controls().get(algorithm_of(cc))
    if known is None or is_quic(cc):
        return parse_integer(text, what)
    parameters = {each.name: each for each in known.parameters}
    if name not in parameters:
        raise no_parameter(cc, parameters, name)
    return parse_integer(text, what, parameters[name].unit, f"; use {range_of(parameters[name])}")


def parse_integer(text: str, what: str, unit: str = "", hint: str = "") -> int:
    """Read a parameter's value: ``5``, ``-1``, ``0x10``; ``0.8`` where the unit is ``/1024``."""
    if len(text) > MAX_DIGITS:
        message = f"{what} is `{excerpt(text)}`, which is out of range: it has {len(text):,} digits"
        raise ScenarioError(message, key="cc")
    try:
        # Only ASCII digits; Python accepts those of every script.
        return int(text.encode("ascii"), 0)
    except ValueError:
        scale = SCALE.match(unit)
        if scale is None or not DECIMAL.fullmatch(text):
            raise ScenarioError(
                f"{what} is `{excerpt(text)}`, which is not a whole number{hint}", key="cc"
            ) from None
    return round(Fraction(text) * int(scale[2]) / int(scale[1] or 1))


def check_parameter(cc: str, parameters: Mapping[str, Parameter], name: str, value: int) -> None:
    """Refuse a parameter that `cc` does not have, or a value out of its range."""
    parameter = parameters.get(name)
    if parameter is None:
        raise no_parameter(cc, parameters, name)
    if not parameter.min <= value <= parameter.max:
        raise ScenarioError(
            f"parameter `{name}` of `{cc}` is {excerpt(value)}; use {range_of(parameter)}",
            key="cc",
        )


def range_of(parameter: Parameter) -> str:
    """Write what a parameter may be: ``1 to 64 (packets)``."""
    return f"{parameter.min} to {parameter.max} ({parameter.unit or 'no unit'})"


def no_parameter(cc: str, parameters: Mapping[str, Parameter], name: str) -> ScenarioError:
    """Return the error about a parameter that a CCA does not have."""
    inverse = [each for each in parameters if each.endswith(f"inv_{name}")]
    hint = nearest(name, parameters) if parameters else "; it has none"
    hint = f"; `{inverse[0]}` is 1/{name}" if inverse else hint
    return ScenarioError(f"`{cc}` has no parameter `{excerpt(name)}`{hint}", key="cc")
