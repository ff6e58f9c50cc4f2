"""A congestion control algorithm as a user names it, with its preset and parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from dumbbell.base.errors import EngineError, ScenarioError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.plain_value import check_printable
from dumbbell.base.quantities.quantity import is_count
from dumbbell.congestion_control.description import (
    Description,
    Series,
    congestion_controls,
    describe,
    described_by_engine,
)
from dumbbell.congestion_control.linux_tree import LINUX_NAMES, tree_in_use
from dumbbell.congestion_control.name_kinds import (
    KERNELS_OWN,
    PYTHON_CLASS,
    file_of,
    is_file,
    is_kernels_own,
    is_python,
    is_python_class,
    split_preset,
    table_of,
)
from dumbbell.congestion_control.parameter_value import check_parameter, parse_parameter
from dumbbell.congestion_control.presets import preset_of, presets_of
from dumbbell.congestion_control.quic import (
    algorithm_of,
    is_quic,
    no_kernels_own,
    split_params,
    stack_of,
    where_parameter_is,
)
from dumbbell.congestion_control.source_path import check_no_directory, check_source
from dumbbell.congestion_control.unknown_name import what_is_meant

__all__ = ["CongestionControlChoice"]

#: A name the kernel could have (TCP_CA_NAME_MAX is 16, with the closing NUL).
KERNEL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,15}", re.ASCII)


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
        if not self.params and not self.preset:
            return self.name
        name = f"{self.name}@{self.preset}" if self.preset else self.name
        known = presets_of(algorithm_of(self.name)).get(self.preset)
        implied = known.params if known else {}
        given = {key: value for key, value in self.params.items() if implied.get(key) != value}
        spelled = ",".join(f"{key}={value}" for key, value in given.items())
        return f"{name}:{spelled}" if spelled else name
