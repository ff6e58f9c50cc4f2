"""Congestion control algorithms written in Python, for the simulator: prototypes.

The hooks have the names of those of Linux's `tcp_congestion_ops`, and the socket's fields those of
`tcp_sock`. Fields that the kernel lets a BPF congestion control write can be set; the rest is
read-only. An exception in a hook ends the run with its file and line.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import inspect
import random
import sys
import sysconfig
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.congestion_control import Description, Parameter, Series
from dumbbell.congestion_control.isolation.sandbox import is_confined
from dumbbell.congestion_control.name_kinds import PYTHON_CLASS, file_of, table_of
from dumbbell.congestion_control.parameter_value import check_parameter

if TYPE_CHECKING:
    from dumbbell._core import Socket

__all__ = ["CongestionControl", "describe_python", "find", "tcp_cong_avoid_ai", "tcp_slow_start"]

#: The callbacks of `tcp_congestion_ops`; a class has those that it defines.
HOOKS = (
    "init", "release", "ssthresh", "cong_avoid", "set_state", "cwnd_event", "in_ack_event",
    "pkts_acked", "min_tso_segs", "cong_control", "undo_cwnd", "sndbuf_expand",
)  # fmt: skip
#: How the names of modules of files begin, as Python knows them.
FILES_MODULE = "dumbbell_user_"
#: TCP_CA_NAME_MAX with its closing NUL.
MAX_NAME = 15


class CongestionControl:
    """A congestion control algorithm; each flow has an object of its class.

    A subclass defines the hooks that it needs, with the kernel's arguments: ``init(sk)``,
    ``release(sk)``, ``ssthresh(sk) -> int``, ``cong_avoid(sk, ack, acked)``,
    ``set_state(sk, new_state)``, ``cwnd_event(sk, event)``, ``in_ack_event(sk, flags)``,
    ``pkts_acked(sk, sample)``, ``min_tso_segs(sk) -> int``, ``cong_control(sk, ack, flag, rs)``,
    ``undo_cwnd(sk) -> int`` and ``sndbuf_expand(sk) -> int``. It must have ``cong_avoid`` or
    ``cong_control``; ``ssthresh`` and ``undo_cwnd`` are Reno's unless it defines them.

    Attributes
    ----------
    name
        1 to 15 letters, digits, ``_`` or ``.``; by default the class's name in lower case.
    parameters
        Integers that a scenario may set (``./mine.py:beta_pct=70``): attributes of the object.
    series
        Attributes of the object that are recorded over time, as integers; `Series.labels` makes a
        state of one.
    random
        A generator seeded by the run, so that the same scenario gives the same result.

    Examples
    --------
    >>> import dumbbell
    >>> class Halving(dumbbell.CongestionControl):
    ...     "Adds a packet each round trip, halves on loss."
    ...     series = (dumbbell.Series("losses", "", "losses so far"),)
    ...
    ...     def init(self, sk):
    ...         self.losses = 0
    ...
    ...     def ssthresh(self, sk):
    ...         self.losses += 1
    ...         return max(sk.snd_cwnd // 2, 2)
    ...
    ...     def cong_avoid(self, sk, ack, acked):
    ...         if sk.in_slow_start:
    ...             acked = dumbbell.tcp_slow_start(sk, acked)
    ...         dumbbell.tcp_cong_avoid_ai(sk, sk.snd_cwnd, acked)
    >>> run = dumbbell.run(dumbbell.Scenario([Halving, "cubic"], time="2s"))
    >>> run.groups[0]["cc"], run.state(0).column_names
    ('halving', ['time_us', 'flow', 'losses'])
    """

    name: ClassVar[str] = ""
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    series: ClassVar[tuple[Series, ...]] = ()
    random: random.Random

    def ssthresh(self, sk: Socket) -> int:
        """Return the slow start threshold after a loss, packets: half of cwnd."""
        return max(sk.snd_cwnd >> 1, 2)

    def undo_cwnd(self, sk: Socket) -> int:
        """Return cwnd after a recovery that turned out to be spurious: what it was before."""
        return max(sk.snd_cwnd, sk.prior_cwnd)


def tcp_slow_start(sk: Socket, acked: int) -> int:
    """Grow cwnd by the packets acknowledged, up to ssthresh; return how many are left.

    The kernel's function of this name.
    """
    cwnd = min(sk.snd_cwnd + acked, sk.snd_ssthresh)
    acked -= cwnd - sk.snd_cwnd
    sk.snd_cwnd = min(cwnd, sk.snd_cwnd_clamp)
    return acked


def tcp_cong_avoid_ai(sk: Socket, w: int, acked: int) -> None:
    """Grow cwnd by one packet for every `w` acknowledged.

    The kernel's function of this name.
    """
    count = sk.snd_cwnd_cnt
    if count >= w:
        count = 0
        sk.snd_cwnd += 1
    count += acked
    if w and count >= w:
        sk.snd_cwnd += count // w
        count %= w
    sk.snd_cwnd_cnt = count
    sk.snd_cwnd = min(sk.snd_cwnd, sk.snd_cwnd_clamp)


@dataclass(frozen=True)
class LoadedSeries:
    """A series as the engine reads it."""

    attribute: str
    name: str
    unit: str
    doc: str
    labels: list[str]


@dataclass(frozen=True)
class Loaded:
    """A class as the engine hosts it.

    Attributes
    ----------
    name
        Its name in output.
    build
        A digest of its source.
    params
        All parameters, by name.
    parameters
        What it declares of them.
    series
        What to sample.
    hooks
        The hooks it has.
    new_flow
        Makes the object of a flow.
    """

    name: str
    build: str
    params: dict[str, int]
    parameters: list[Parameter]
    series: list[LoadedSeries]
    hooks: list[str]
    new_flow: Callable[[], CongestionControl]


def load(requested: str, params: Mapping[str, int], seed: int) -> Loaded:
    """Return a class ready to be hosted; the engine calls this.

    Parameters
    ----------
    requested
        ``./mine.py``, ``./mine.py#Class`` or ``python/Class``.
    params
        Parameters that differ from the defaults.
    seed
        Of its random numbers.
    """
    cls = find(requested)
    check_values(cls, requested, params)
    values = {parameter.name: parameter.default for parameter in cls.parameters} | dict(params)
    generator = random.Random(seed)  # noqa: S311 -- not for secrets

    def new_flow() -> CongestionControl:
        flow = cls()
        flow.random = random.Random(generator.getrandbits(64))  # noqa: S311
        for name, value in values.items():
            setattr(flow, name, value)
        return flow

    series = [
        LoadedSeries(entry.name, entry.name, entry.unit, entry.doc, list(entry.labels))
        for entry in cls.series
    ]
    return Loaded(
        name_of(cls), class_digest(cls), values, list(cls.parameters), series, hooks_of(cls),
        new_flow,
    )  # fmt: skip


def find(requested: str) -> type[CongestionControl]:
    """Return the class of ``./mine.py``, ``./mine.py#Class`` or ``python/Class``.

    Raises
    ------
    ScenarioError
        There is no class, or several, or it lacks a required hook.
    """
    if requested.startswith(PYTHON_CLASS):
        wanted = requested.removeprefix(PYTHON_CLASS)
        known = {cls.__name__: cls for cls in subclasses(CongestionControl)}
        if wanted not in known:
            raise ScenarioError(
                f"this program defines no class `{wanted}` of dumbbell.CongestionControl"
                f"{nearest(wanted, known)}; name its file, as in `./mine.py`",
                key="cc",
            )
        cls = known[wanted]
    else:
        cls = find_in_file(file_of(requested), table_of(requested))
    check(cls, requested)
    return cls


def subclasses(cls: type[CongestionControl]) -> list[type[CongestionControl]]:
    """Return all subclasses, the latest definition of a name last."""
    found = []
    for subclass in cls.__subclasses__():
        found += [subclass, *subclasses(subclass)]
    return found


def find_in_file(path: Path, wanted: str | None) -> type[CongestionControl]:
    """Run a file and return the class that it defines, or the named one of several."""
    # A unique module name, so that two files may have the same name.
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]
    name = f"{FILES_MODULE}{digest}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ScenarioError(f"congestion control `{path}`: not a Python file", key="cc")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    defined = {
        cls.__name__: cls
        for cls in vars(module).values()
        if inspect.isclass(cls) and issubclass(cls, CongestionControl) and cls.__module__ == name
    }
    if wanted is not None and wanted in defined:
        return defined[wanted]
    if wanted is not None or not defined:
        what = f"class `{wanted}`" if wanted else "class"
        raise ScenarioError(
            f"`{path}` defines no {what} of dumbbell.CongestionControl{nearest('', defined)}",
            key="cc",
        )
    if len(defined) > 1:
        raise ScenarioError(
            f"`{path}` defines several algorithms ({', '.join(defined)}); name one of "
            f"them after the file, as in `{path}#{next(iter(defined))}`",
            key="cc",
        )
    return next(iter(defined.values()))


def check(cls: type[CongestionControl], requested: str) -> None:
    """Refuse a class that cannot run."""
    name = name_of(cls)
    if not 1 <= len(name) <= MAX_NAME or not all(
        c.isascii() and (c.isalnum() or c in "_.") for c in name
    ):
        raise ScenarioError(
            f"`{requested}`: the kernel cannot have the name `{name}`; use 1 to {MAX_NAME} "
            "letters, digits, `_` or `.`",
            key="cc",
        )
    if not {"cong_avoid", "cong_control"} & set(hooks_of(cls)):
        raise ScenarioError(
            f"`{requested}` has neither `cong_avoid` nor `cong_control`; define one", key="cc"
        )


def name_of(cls: type[CongestionControl]) -> str:
    """Return the name that a class is shown by."""
    return cls.name or cls.__name__.lower()


def hooks_of(cls: type[CongestionControl]) -> list[str]:
    """Return the hooks that a class has."""
    return [hook for hook in HOOKS if callable(getattr(cls, hook, None))]


def class_digest(cls: type[CongestionControl]) -> str:
    """Return a digest of a class: of its module's text, or of its compiled functions."""
    try:
        text = Path(inspect.getfile(cls)).read_text(encoding="utf-8")
    except (OSError, TypeError):
        # Typed into an interpreter.
        text = repr(
            [
                (name, member.__code__.co_code, member.__code__.co_consts)
                for name, member in sorted(vars(cls).items())
                if inspect.isfunction(member)
            ]
        )
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def describe_here(requested: str) -> dict[str, object]:
    """Describe a class of a file as the answer of the process that may run it.

    The words are those of `dumbbell.congestion_control.isolation.worker`.
    """
    try:
        described = describe_python(requested)
    except ScenarioError as error:
        return {"invalid": str(error)}
    except BaseException as error:  # noqa: BLE001 -- anything that the file does
        return {"refused": f"congestion control `{requested}` {tell(error, error.__traceback__)}"}
    document = dataclasses.asdict(described)
    document["params"] = document.pop("parameters")
    return {"described": document | {"kind": "python"}}


def describe_python(requested: str) -> Description:
    """Return what a class declares; runs its file."""
    cls = find(requested)
    title = (inspect.getdoc(cls) or "").split("\n", 1)[0].rstrip(".")
    return Description(
        name_of(cls), title, tuple(cls.parameters), tuple(cls.series), tuple(hooks_of(cls))
    )


def check_parameters(requested: str, params: Mapping[str, int]) -> None:
    """Refuse parameters that a class does not have, or values out of their ranges."""
    check_values(find(requested), requested, params)


def check_values(cls: type[CongestionControl], requested: str, params: Mapping[str, int]) -> None:
    """Refuse what `check_parameters` does, without running the file."""
    known = {parameter.name: parameter for parameter in cls.parameters}
    for name, value in params.items():
        check_parameter(requested, known, name, value)


def tell(error: BaseException, trace: TracebackType | None) -> str:
    """Describe an exception and where it was raised, to follow the CCA's name."""
    if isinstance(error, ScenarioError):
        return f"cannot be loaded: {error}"
    own = Path(__file__).parents[1]
    frames = [
        frame
        for frame in traceback.extract_tb(trace)
        if own not in Path(frame.filename).parents and not frame.filename.startswith("<frozen")
    ]
    libraries = {Path(path) for path in sysconfig.get_paths().values()}
    users = [frame for frame in frames if not libraries & set(Path(frame.filename).parents)]
    message = " ".join(str(error).split())
    raised = f"raised {type(error).__name__}" + (f": {message}" if message else "")
    if isinstance(error, SyntaxError):
        return f"is not valid Python: {message}"
    if not frames:
        return raised
    if isinstance(error, PermissionError) and is_of_a_file(trace):
        raised += " (the sandbox forbids it; `dumbbell help security`)"
    at = (users or frames)[-1]
    return f"{raised} at {at.filename}:{at.lineno} (`{at.line}`)"


def is_of_a_file(trace: TracebackType | None) -> bool:
    """Whether an exception passed through a file that this process runs confined."""
    names = (frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(trace))
    return is_confined() and any(str(name).startswith(FILES_MODULE) for name in names)
