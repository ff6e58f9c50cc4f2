"""`dumbbell cc`: the congestion control algorithms, and one's own."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from dumbbell.base.errors import EngineError, ScenarioError, nearest
from dumbbell.cc_check import Check, check
from dumbbell.congestion_control import Description, congestion_controls, describe
from dumbbell.congestion_control.linux_tree import tree_in_use
from dumbbell.congestion_control.new import Kind, new
from dumbbell.congestion_control.presets import presets_of
from dumbbell.congestion_control.quic import names_of_stacks
from dumbbell.congestion_control.source_path import check_no_directory
from dumbbell.terminal import options
from dumbbell.terminal.completion import complete_what
from dumbbell.terminal.console import err, note, print_json, print_line
from dumbbell.terminal.lazy_command import CommandGroup, examples
from dumbbell.terminal.table import print_table

__all__ = ["cc_app"]

cc_app = typer.Typer(
    cls=CommandGroup,
    add_completion=False,
    help="List congestion control algorithms; check or start your own.",
    no_args_is_help=True,
)


@cc_app.command(
    "list",
    epilog=examples("dumbbell cc list", "dumbbell cc list copa", "dumbbell cc list ./mine.py"),
)
def list_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME…]",
            help="These, with their parameters and state series.",
            show_default=False,
            autocompletion=complete_what,
        ),
    ] = None,
    linux_tree: options.LinuxTreeOption = None,  # noqa: ARG001 -- its callback acts on it
    unsafe: options.UnsafeNoSandbox = False,  # noqa: ARG001 -- its callback acts on it
    json: options.Json = False,
) -> int:
    """List the built-in CCAs, or a Linux tree's; with names, all about each."""
    known = known_names() if names else known_names(names_of_stacks())
    known |= {name: name for name in names or () if "/" in name}
    chosen = []
    for name in [one_of(known, name) for name in names or known]:
        try:
            chosen.append(dataclasses.replace(describe(known[name]), name=name))
        except EngineError as error:
            if names:
                raise
            note(f"{name} cannot be hosted: {first_reason(str(error))}")
    if json:
        print_json(to_documents(chosen))
    elif names:
        for at, description in enumerate(chosen):
            if at:
                print_line("")
            print_description(description)
    else:
        width = max((len(description.name) for description in chosen), default=0)
        for description in chosen:
            print_line(f"{description.name:{width}}  {description.title}")
        print_line("those of dumbbell run in QUIC too: `quic/noq:copa`")
        print_line("`dumbbell cc list NAME` for parameters and state series")
    return 0


@cc_app.command("check", epilog=examples("dumbbell cc check ./mine.bpf.c --storms 10"))
def check_command(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="An algorithm: mine.bpf.c or mine.py.")
    ],
    storms: Annotated[int, typer.Option(min=1, max=1000, help="How many random storms.")] = 3,
    linux_tree: options.LinuxTreeOption = None,  # noqa: ARG001 -- its callback acts on it
    unsafe: options.UnsafeNoSandbox = False,  # noqa: ARG001 -- its callback acts on it
    json: options.Json = False,
) -> int:
    """Check a congestion control algorithm of your own: build, sanitizers, storms, verifier, a run.

    Exit code 1 if it fails.
    """
    if "." not in file and "/" not in file:
        known = known_names()
        if file not in known:
            check_no_directory(file)
        file = known[one_of(known, file)]
    elif "/" not in file:
        file = f"./{file}"
    checked = check(file, storms=storms, on_step=print_step)
    if json:
        print_json(checked.to_dict())
    else:
        print_check(checked)
    return 1 if checked.verdict == "FAILED" else 0


@cc_app.command("new", epilog=examples("dumbbell cc new mine", "dumbbell cc new calm --kind delay"))
def new_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Small letters, digits and `_`.")],
    directory: Annotated[
        Path, typer.Option("--in", metavar="DIR", help="Where its directory is made.")
    ] = Path(),
    kind: Annotated[
        Kind, typer.Option(help="What it goes by: losses, the RTT, or delivery rates.")
    ] = "loss",
) -> int:
    """Write a congestion control algorithm that works, its test and a scenario, to be changed."""
    for path in new(name, directory, kind):
        print_line(str(path))
    print_line(f"next: cd {directory / name} && dumbbell run scenario.toml")
    print_line("choose its licence; the kernel accepts GPL-compatible ones only")
    return 0


def first_reason(message: str) -> str:
    """Return an error in one line: with the first error that the compiler reports."""
    head, *lines = message.splitlines()
    first = next((line for line in lines if "error:" in line), next(iter(lines), ""))
    return f"{head.rstrip(':')}: {first.strip()}" if first else head


def known_names(of_stacks: Sequence[str] = ()) -> dict[str, str]:
    """Return the built-in CCAs, those of QUIC stacks, and ``tcp_vegas`` and so on of the tree used.

    The value is what the engine knows it by.
    """
    known = {name: name for name in (*congestion_controls(), *of_stacks)}
    tree = tree_in_use()
    linuxs = {f"tcp_{name}": tree.source(name) for name in tree.names()} if tree else {}
    return known | linuxs


def one_of(known: Mapping[str, str], name: str) -> str:
    """Find a name as `run` does: ``westwood`` is the tree's ``tcp_westwood``."""
    for candidate in (name, f"tcp_{name}"):
        if candidate in known:
            return candidate
    raise ScenarioError(f"unknown congestion control `{name}`{nearest(name, known)}")


def print_step(step: str) -> None:
    """Print to stderr what is being done."""
    err().print(f"{step} …", markup=False, highlight=False, soft_wrap=True)


def print_check(checked: Check) -> None:
    """Print a check for a person."""
    if checked.description is not None:
        print_description(checked.description)
        print_line(f"ops         {', '.join(checked.description.ops)}")
    if checked.storm is not None and checked.storm.calls:
        calls = sum(checked.storm.calls.values())
        found = checked.storm.sanitizers.replace(",", " and ") or "no"
        ends = checked.storm.settings
        at_ends = f", {ends} at the ends of parameters' ranges" if ends else ""
        print_line(
            f"storm       {checked.storm.seeds} × {calls:,} calls{at_ends}, {found} sanitizers",
        )
    if checked.verifier is not None:
        print_line(f"verifier    {'accepts it' if checked.verifier else 'rejects it'}")
    if checked.sanity is not None:
        shares = ", ".join(
            f"{label} {group['goodput_bps'] / 1e6:.1f} Mbit/s"
            for label, group in zip(
                checked.sanity.scenario.group_labels, checked.sanity.groups, strict=True
            )
        )
        print_line(f"two flows   {shares}")
    for left_out in checked.left_out:
        print_line(f"not checked {left_out.step}: {left_out.why}")
    for finding in checked.findings:
        print_line(f"{finding.level:11} {finding.step}: {finding.message}")
    if checked.took_s:
        steps = ", ".join(f"{step} {took_s:.1f} s" for step, took_s in checked.took_s.items())
        print_line(f"time        {steps}")
    print_line(f"verdict     {checked.verdict}")


def print_description(description: Description) -> None:
    """Print a congestion control algorithm for a person."""
    print_line(f"{description.name}  {description.title}")
    if description.parameters:
        rows = [
            (p.name, f"{p.default}", f"{p.min} to {p.max}", p.unit, p.doc)
            for p in description.parameters
        ]
        columns = ("parameter", "default", "range", "unit", "what it does")
        print_table(columns, rows, left=range(5), optional=("unit", "default"))
    presets = presets_of(description.name)
    if presets:
        named = [
            (f"{description.name}@{name}", f"{p.doc} ({p.source})") for name, p in presets.items()
        ]
        print_table(("preset", "what it is"), named, left=range(2), apart=True)
    if description.series:
        series = [(s.name, " ".join(s.labels) or s.unit, s.doc) for s in description.series]
        heads = ("state series", "unit or values", "what it is")
        print_table(heads, series, left=range(3), apart=True)
    for remark in description.notes:
        print_line(f"note        {description.name} {remark}")


def to_documents(descriptions: Iterable[Description]) -> list[dict[str, object]]:
    """Return descriptions as JSON has them."""
    return [
        {
            "name": description.name,
            "title": description.title,
            "params": [vars(parameter) for parameter in description.parameters],
            "presets": [
                {"name": name, **vars(preset)}
                for name, preset in presets_of(description.name).items()
            ],
            "series": [vars(series) for series in description.series],
            "notes": list(description.notes),
        }
        for description in descriptions
    ]
