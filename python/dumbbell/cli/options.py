"""Options that commands share, and the scenario they make."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from dumbbell.congestion_control.linux_tree import use_linux_tree
from dumbbell.errors import ScenarioError
from dumbbell.quantities.quantity import Time, expand
from dumbbell.scenario import Group, Scenario

__all__ = [
    "Buffer",
    "CacheFlag",
    "Ecn",
    "EcnThreshold",
    "Engine",
    "Flows",
    "Jitter",
    "Jobs",
    "Json",
    "LinuxTreeOption",
    "Loss",
    "Out",
    "Rate",
    "Rtt",
    "Rwnd",
    "Sample",
    "Seed",
    "Settings",
    "Show",
    "SimulatorCacheFlag",
    "Sndbuf",
    "Start",
    "TimeOption",
    "What",
    "base_scenario",
]


def _use_linux_tree(root: Path | None) -> Path | None:
    """Look names up in a tree from here on."""
    use_linux_tree(root)
    return root


What = Annotated[
    list[str],
    typer.Argument(
        metavar="CC… | FILE.toml",
        help="Congestion controls, one group each: `copa`, `copa:mode_window_rtts=5`, "
        "`./mine.bpf.c`, `linux/cubic` (the running kernel's own), `DIR/net/ipv4/tcp_vegas.c` "
        "(a source of Linux); or a scenario file.",
        show_default=False,
    ),
]
Rate = Annotated[str | None, typer.Option(help="Bottleneck's capacity.", show_default="50mbit")]
RateSteps = Annotated[
    str | None,
    typer.Option(help="Later capacities: `10s:5mbit, 20s:50mbit`.", show_default="none"),
]
RttSteps = Annotated[
    str | None,
    typer.Option(help="Later base RTTs: `20s:80ms, 40s:40ms`.", show_default="none"),
]
EcnThreshold = Annotated[
    str | None,
    typer.Option(
        help="Backlog above which ECN-capable packets are marked: `20pkt`, `0.2bdp`, `30kB`.",
        show_default="none",
    ),
]
Ecn = Annotated[
    bool | None,
    typer.Option(
        "--ecn/--no-ecn",
        help="Classic ECN (RFC 3168) on the flows; `dctcp` has ECN unasked.",
        show_default="no ECN",
    ),
]
Loss = Annotated[
    str | None,
    typer.Option(help="Random loss ahead of the bottleneck: `0.1%`.", show_default="none"),
]
Rtt = Annotated[str | None, typer.Option(help="Base RTT.", show_default="40ms")]
Buffer = Annotated[
    str | None,
    typer.Option(help="Drop-tail buffer: `2bdp`, `500kB`, `64pkt`.", show_default="1bdp"),
]
Flows = Annotated[int | None, typer.Option(help="Flows of each group.", show_default="1")]
TimeOption = Annotated[
    str | None,
    typer.Option("--time", help="How long; on the kernel, real time.", show_default="60s"),
]
Seed = Annotated[int | None, typer.Option(help="Seed of every random draw.", show_default="1")]
Start = Annotated[
    str | None,
    typer.Option(help="When flows start: one time, or one per group: `0s,10s`.", show_default="0s"),
]
Jitter = Annotated[
    str | None, typer.Option(help="Each flow starts this much later at most.", show_default="100ms")
]
Rwnd = Annotated[str | None, typer.Option(help="Receive window.", show_default="1GiB, never binds")]
Sndbuf = Annotated[str | None, typer.Option(help="Send buffer.", show_default="1GiB, never binds")]
Sample = Annotated[
    str | None, typer.Option(help="Interval of the time series; 0s: none.", show_default="10ms")
]
Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="simulator|kernel",
        help="What runs it: the simulator, or this machine's Linux TCP (`dumbbell doctor`).",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        min=1,
        help="Runs at a time. On the kernel they share the cores in real time: more than one only "
        "where the verdicts stay OK.",
        show_default="all cores; on the kernel 1",
    ),
]
CacheFlag = Annotated[
    bool | None,
    typer.Option(
        "--cache/--no-cache",
        help="Take runs that were done before from the cache, and keep new ones there; runs on "
        "the kernel are measurements, and are only with `--cache`.",
        show_default="the simulator's",
    ),
]
SimulatorCacheFlag = Annotated[
    bool,
    typer.Option(
        "--cache/--no-cache",
        help="Take the simulator's runs that were done before from the cache (`dumbbell cache`); "
        "runs on the kernel are measured each time.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Show = Annotated[
    bool, typer.Option("--show", help="Open the page in the browser, or print where it is.")
]
Out = Annotated[
    Path | None,
    typer.Option("--out", help="Save the run to this directory: run.json and Parquet tables."),
]
LinuxTreeOption = Annotated[
    Path | None,
    typer.Option(
        "--linux-tree",
        metavar="DIR",
        envvar="DUMBBELL_LINUX_TREE",
        help="Linux source tree: `vegas` and other names that are not built in are its "
        "`net/ipv4/tcp_vegas.c`.",
        callback=_use_linux_tree,
        is_eager=True,
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Settings:
    """What the command line sets; None leaves a file's word or the default."""

    rate: str | None = None
    rtt: str | None = None
    buffer: str | None = None
    flows: int | None = None
    time: str | None = None
    seed: int | None = None
    sample: str | None = None
    start: str | None = None
    jitter: str | None = None
    rwnd: str | None = None
    sndbuf: str | None = None
    rate_steps: str | None = None
    rtt_steps: str | None = None
    ecn_threshold: str | None = None
    ecn: bool | None = None
    loss: str | None = None

    def scenario_words(self) -> dict[str, Any]:
        """Return what is set of the scenario's own words."""
        return self._set(
            "rate", "rtt", "buffer", "time", "seed", "sample", "rate_steps", "rtt_steps",
            "ecn_threshold", "loss",
        )  # fmt: skip

    def group_words(self) -> dict[str, Any]:
        """Return what is set of the groups' words."""
        return self._set("flows", "jitter", "rwnd", "sndbuf", "ecn")

    def starts(self, groups: int) -> list[dict[str, Any]]:
        """Return what is set of each group's start."""
        if self.start is None:
            return [{}] * groups
        starts = expand(self.start, "start", Time.examples)
        if len(starts) not in (1, groups):
            raise ScenarioError(
                f"start `{self.start}` names {len(starts)} times for {groups} groups"
            )
        return [{"start": start} for start in (starts * groups)[:groups]]

    def _set(self, *names: str) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value is not None}


def base_scenario(what: list[str], settings: Settings) -> Scenario:
    """Build the scenario that arguments and options name.

    Parameters
    ----------
    what
        Congestion controls, or one scenario file.
    settings
        Options; they go before a file's words.
    """
    files = [word for word in what if word.endswith(".toml")]
    if not files:
        starts = settings.starts(len(what))
        groups = [
            Group(cc, **settings.group_words(), **start)
            for cc, start in zip(what, starts, strict=True)
        ]
        return Scenario(groups, **settings.scenario_words())
    if len(what) > 1:
        raise ScenarioError(f"`{files[0]}` is a whole scenario; name it alone")
    # Through the file's words, so that a setting replaces a value before it is checked against
    # the others.
    words = Scenario.from_toml(files[0]).to_dict()
    tables = words.pop("group")
    starts = settings.starts(len(tables))
    changed = [
        Group(**{**table, **settings.group_words(), **start})
        for table, start in zip(tables, starts, strict=True)
    ]
    return Scenario(changed, **{**words, **settings.scenario_words()})
