"""`dumbbell identify`: which algorithm sent what a capture has."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from dumbbell.base.errors import CaptureError, EngineError
from dumbbell.base.writing import check_writable
from dumbbell.capture_analysis.analyze import STDIN
from dumbbell.capture_analysis.connection_table import endpoint, scaled
from dumbbell.cli.capture_warnings import trouble
from dumbbell.figures.style import cc_label
from dumbbell.identify import Identification, Identified, identify, probe, save_identification
from dumbbell.terminal import options
from dumbbell.terminal.console import note_missing_figures, print_json, print_line
from dumbbell.terminal.out_directory import out_directory
from dumbbell.terminal.table import print_table

__all__ = ["identify_command"]

#: What the help ends with.
EXAMPLES = (
    "dumbbell identify capture.pcapng",
    "dumbbell identify results/run --out results/identified",
    "dumbbell identify --probe 'curl -so /dev/null https://example.org/large'",
)
#: More connections than these are a table too long to read; --json and --out have all.
MAX_ROWS = 32
#: A connection with less than this share of the largest's payload is not worth a refusal.
SMALL_SHARE = 0.01
COLUMNS = ("connection", "time\ns", "algorithm", "probability\n%", "why")


def identify_command(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE…",
            help="pcap or pcapng, plain, gzip or zstd; a run's directory stands for its capture.",
            show_default=False,
        ),
    ] = None,
    point: Annotated[
        str | None,
        typer.Option(help="Only this capture point (interface).", show_default="the best"),
    ] = None,
    command: Annotated[
        str | None,
        typer.Option(
            "--probe",
            metavar="COMMAND",
            help="Run this client over an emulated path on which algorithms differ, and identify "
            "who sends to it. It should download for 30 s.",
        ),
    ] = None,
    serve: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COMMAND",
            help="With --probe: run this at a host `server` of the path; without it the client "
            "reaches the Internet.",
        ),
    ] = None,
    ready: Annotated[
        list[str] | None,
        typer.Option(metavar="tcp|udp:PORT", help="With --serve: wait until something listens."),
    ] = None,
    virtual: Annotated[
        bool, typer.Option("--virtual", help="With --serve: in virtual time.")
    ] = False,
    json: options.Json = False,
    out_dir: Annotated[
        Path | None,
        typer.Option(
            "--out",
            callback=out_directory,
            help="Directory for the document and the pictures (PNG and SVG).",
        ),
    ] = None,
) -> int:
    """Identify the congestion control algorithms in captures.

    Bulk transfers of 30 s, captured at the sender, are best. What is none of the known
    algorithms is `unknown`. Exits with 1 if no connection has an answer.
    """
    client = Client(command, tuple(serve or ()), tuple(ready or ()), virtual)
    check_choice(files or [], client)
    if out_dir is not None:
        check_writable(out_dir)
        note_missing_figures()
    points = None if point is None else [point]
    with tempfile.TemporaryDirectory() as scratch:
        names = files or [probed(client, Path(scratch if out_dir is None else out_dir))]
        found = [identify(name, points=points) for name in names]
    if out_dir is not None:
        for number, each in enumerate(found):
            place = out_dir if len(found) == 1 else out_dir / str(number)
            save_identification(each, place)
    if json:
        documents = [each.to_dict() for each in found]
        print_json(documents[0] if len(documents) == 1 else documents)
    else:
        for each in found:
            print_identification(each)
        if out_dir is not None:
            print_line(f"saved in {out_dir}")
    return 0 if any(each.hindrance is None for one in found for each in one.connections) else 1


class Client(NamedTuple):
    """What `--probe` runs, and what it runs against."""

    command: str | None
    serve: tuple[str, ...]
    ready: tuple[str, ...]
    virtual: bool


def check_choice(files: Sequence[str], client: Client) -> None:
    """Refuse captures and a probe together, or neither."""
    if STDIN in files:
        raise CaptureError("`-`: identify reads a capture twice; write it to a file first")
    if bool(files) == (client.command is not None):
        raise CaptureError("identify takes captures, or --probe COMMAND; use one of them")
    if client.command is None and (client.serve or client.ready or client.virtual):
        raise CaptureError("`--serve`, `--ready` and `--virtual` need `--probe COMMAND`")


def probed(client: Client, directory: Path) -> str:
    """Run the probe, and return the name of its capture."""
    command = client.command or ""
    directory.mkdir(parents=True, exist_ok=True)
    capture = directory / "probe.pcapng"
    code = probe(command, capture, serve=client.serve, ready=client.ready, virtual=client.virtual)
    if code:
        raise EngineError(f"`{command}` ended with exit code {code}; nothing is identified")
    return str(capture)


def print_identification(found: Identification) -> None:
    """Print what was found for a person."""
    count = len(found.connections)
    print_line(
        f"{found.path}: {found.reading['packets']:,} packets; {count:,} "
        f"connection{'' if count == 1 else 's'} with data"
    )
    for line in trouble(found.reading):
        print_line(line)
    large = shown_of(found)
    shown = large[:MAX_ROWS]
    if shown:
        print_table(
            COLUMNS, [row_of(each) for each in shown], left=(0, 2, 4), optional=("time\ns",)
        )
    if len(large) < count:
        print_line(f"{count - len(large):,} small connections without an answer are left out")
    if len(large) > MAX_ROWS:
        names = Counter(each.verdict for each in found.connections)
        listed = ", ".join(f"{name} {number:,}" for name, number in names.most_common())
        print_line(f"the {MAX_ROWS} with most payload of {len(large):,}; all: {listed}")
    printed: Counter[str] = Counter()
    for each in shown:
        for line in notes_of(each):
            printed[line] += 1
            if printed[line] == 1:
                print_line(f"note: {each.connection}: {line}")


def shown_of(found: Identification) -> list[Identified]:
    """Return the connections to print: without those that are small and have no answer."""
    most = max((each.payload_bytes for each in found.connections), default=0)
    return [
        each
        for each in found.connections
        if each.hindrance is None or each.payload_bytes >= SMALL_SHARE * most
    ]


def row_of(each: Identified) -> tuple[str, ...]:
    """Write a connection's cells."""
    source = endpoint(each.source, each.source_port)
    destination = endpoint(each.destination, each.destination_port)
    lasted = None if each.trace is None else each.trace.duration_s
    return (
        f"{each.connection} {source}\n→ {destination}",
        scaled(lasted, 1.0, 1),
        each.verdict if each.algorithm is None else cc_label(each.algorithm),
        "–" if each.probability is None else f"{100 * each.probability:.0f}",
        each.reason,
    )


def notes_of(each: Identified) -> list[str]:
    """Return what to know about an answer, or how to get one."""
    if each.hindrance is not None:
        return [each.hindrance.advice]
    others = [
        f"{cc_label(name)} {100 * chance:.0f} %"
        for name, chance in each.candidates
        if name != each.algorithm and chance >= 0.05
    ]
    word = "otherwise" if each.algorithm is not None else "nearest"
    return ([f"{word} {', '.join(others[:3])}"] if others else []) + list(each.doubts)
