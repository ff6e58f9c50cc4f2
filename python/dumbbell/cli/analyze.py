"""`dumbbell analyze`: what the connections in a capture did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import typer
from rich.console import Console

from dumbbell.base.errors import CaptureError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.quantity import is_count
from dumbbell.base.writing import check_writable
from dumbbell.capture_analysis import Analysis, Match, analyze, match_captures, packet_log
from dumbbell.capture_analysis.analyze import STDIN
from dumbbell.capture_analysis.connection_table import (
    COLUMNS,
    connection_row,
    endpoint,
    scaled,
)
from dumbbell.capture_analysis.packet_log import check_format
from dumbbell.cli.capture_warnings import match_trouble, trouble
from dumbbell.terminal import options
from dumbbell.terminal.console import note_missing_figures, out, print_json, print_line
from dumbbell.terminal.out_directory import out_directory
from dumbbell.terminal.table import print_table

__all__ = ["analyze_command"]

#: What the help ends with.
EXAMPLES = (
    "dumbbell analyze capture.pcapng --out results/analysis",
    "dumbbell analyze results/run --match",
    "tcpdump -w - tcp | dumbbell analyze -",
)

#: What happened at a link.
LOG_COLUMNS = (
    "link", "enqueued\npkts", "sent\npkts", "dropped\npkts", "lost behind\npkts", "marked\npkts",
    "most in it\npkts",
)  # fmt: skip
#: More connections than these are a table too long to read; --json and --out have all.
MAX_ROWS = 64

Row = Mapping[str, Any]


class Source(NamedTuple):
    """A capture, or one of its points."""

    path: str
    point: str | None

    def __str__(self) -> str:
        return self.path if self.point is None else f"{self.path}:{self.point}"


def analyze_command(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE[:POINT]…",
            help="pcap or pcapng, plain, gzip or zstd; `-` is standard input; a run's directory "
            "stands for its capture. `:POINT` selects one capture point (interface).",
            show_default=False,
        ),
    ],
    match: Annotated[
        bool,
        typer.Option(
            "--match",
            help="Match two captures of the same traffic, packet by packet: delay, drops, "
            "reordering. A run's own capture alone: before and after the bottleneck, or the link "
            "in `DIR:LINK`.",
        ),
    ] = False,
    point: Annotated[
        str | None, typer.Option(help="Only this capture point.", show_default="all")
    ] = None,
    all_points: Annotated[
        bool,
        typer.Option(
            "--all-points", help="List every point that saw a connection, not only the best."
        ),
    ] = False,
    interval: Annotated[
        str | None,
        typer.Option(
            help="Bins of the time series, like `100ms`.", show_default="wider as it lasts longer"
        ),
    ] = None,
    segments: Annotated[
        str | None,
        typer.Option(
            metavar="N,…",
            help="Keep every packet of these connections and draw their time sequence.",
            show_default="with --out that with most payload",
        ),
    ] = None,
    log_file: Annotated[
        Path | None,
        typer.Option(
            "--packet-log",
            metavar="FILE",
            help="Write what happened to each packet at each link of a run's capture, and why, to "
            "this file instead: `.arrow`, `.parquet` or `.csv`.",
        ),
    ] = None,
    json: options.Json = False,
    out_dir: Annotated[
        Path | None,
        typer.Option(
            "--out",
            callback=out_directory,
            help="Directory for tables (Parquet) and figures (PNG and SVG); `report` makes a page.",
        ),
    ] = None,
) -> int:
    """Analyse TCP connections in packet captures.

    The table shows the direction that carries the data at the best point: the sender's, if the
    capture has it.
    """
    if log_file is not None:
        refuse_with(
            "--packet-log", match=match, point=point is not None, all_points=all_points,
            interval=interval is not None, segments=segments is not None,
            out=out_dir is not None,
        )  # fmt: skip
        return packet_log_command(files, log_file, json=json)
    sources = [source_of(name, point) for name in files]
    if out_dir is not None:
        check_writable(out_dir)
    if match:
        refuse_with(
            "--match", interval=interval is not None, segments=segments is not None,
            all_points=all_points,
        )  # fmt: skip
        return match_command(sources, json=json, out_dir=out_dir)
    numbers = None if segments is None else connection_numbers(segments)
    if out_dir is not None:
        note_missing_figures()
    analyses = [analyze_source(each, interval, numbers, out_dir is not None) for each in sources]
    places = [None] * len(sources) if out_dir is None else places_of(sources, out_dir)
    for result, place in zip(analyses, places, strict=True):
        if place is not None:
            result.save(place)
    if json:
        documents = [result.to_dict(all_points=all_points) for result in analyses]
        print_json(documents[0] if len(documents) == 1 else documents)
        return 0
    for source, result, place in zip(sources, analyses, places, strict=True):
        print_analysis(out(), source, result, all_points=all_points)
        if place is not None:
            print_line(f"saved in {place}")
    has_packets = any(result.reading["packets"] for result in analyses)
    return 1 if has_packets and not any(each.connection_count for each in analyses) else 0


def source_of(name: str, point: str | None) -> Source:
    """Read ``FILE:POINT``; a file of exactly that name takes precedence."""
    path, colon, named = name.rpartition(":")
    if not colon or not path or Path(name).exists() or not (path == STDIN or Path(path).exists()):
        return Source(name, point)
    if point is not None:
        raise CaptureError(f"`{name}` and --point both name a point; use one of them")
    return Source(path, named)


def refuse_with(option: str, **given: bool) -> None:
    """Refuse options that cannot be combined with one."""
    for name, is_given in given.items():
        if is_given:
            raise CaptureError(f"--{name.replace('_', '-')} cannot be combined with {option}")


def connection_numbers(text: str) -> list[int]:
    """Read numbers of connections, like ``0,3``."""
    words = [word.strip() for word in text.split(",")]
    if not all(is_count(word) for word in words):
        raise CaptureError(
            f"invalid --segments `{excerpt(text)}`: use numbers of connections, e.g. `0` or `0,3`"
        )
    return [int(word) for word in words]


def places_of(sources: Sequence[Source], out_dir: Path) -> list[Path]:
    """Return a directory for the results of each capture."""
    if len(sources) == 1:
        return [out_dir]
    stems = [Path(source.path).name.split(".")[0] or "stdin" for source in sources]
    return [
        out_dir / "-".join(part for part in (str(index), stem, source.point) if part)
        for index, (source, stem) in enumerate(zip(sources, stems, strict=True))
    ]


def analyze_source(
    source: Source,
    interval: str | None,
    segments: list[int] | None,
    has_figures: bool,
) -> Analysis:
    """Analyse one capture."""
    points = None if source.point is None else [source.point]
    result = analyze(source.path, interval=interval, segments=segments, points=points)
    for number in segments or ():
        result.row_of(number)  # refuses unknown numbers
    if segments is None and has_figures and source.path != STDIN and result.largest:
        # The largest connection is known only now; a pipe cannot be read again.
        largest = result.largest[:1]
        return analyze(source.path, interval=interval, segments=largest, points=points)
    return result


def print_analysis(console: Console, source: Source, result: Analysis, *, all_points: bool) -> None:
    """Print an analysis for a person."""
    console.print(reading_line(source, result), markup=False, soft_wrap=True)
    for line in trouble(result.reading):
        console.print(line, markup=False, soft_wrap=True)
    data = result.data
    if data.num_rows == 0:
        console.print(no_connection(result), markup=False, soft_wrap=True)
        return
    rows = result.data_at_all_points if all_points else data
    shown = pa.array(result.largest[:MAX_ROWS], type=pa.uint64())
    kept = rows.filter(pc.is_in(rows["connection"], value_set=shown))
    print_table(
        COLUMNS,
        [connection_row(result, row) for row in kept.to_pylist()],
        optional=("max in flight, kB\nby ACK / by SACK", "time\ns", "point"),
    )
    if data.num_rows > MAX_ROWS:
        console.print(
            f"the {MAX_ROWS} of {data.num_rows:,} connections with most payload; --json and --out "
            "have all",
            markup=False,
            soft_wrap=True,
        )
    for note in result.notes:
        who = "" if len(note.connections) == data.num_rows else f"{numbers(note.connections)}: "
        console.print(f"note: {who}{note.message}", markup=False, soft_wrap=True)


def no_connection(result: Analysis) -> str:
    """Write that there is no TCP connection, and where to look instead."""
    if not result.reading.get("unread", {}).get("UDP"):
        return "no TCP connection"
    return (
        "no TCP connection, and of UDP, like QUIC, only a run's capture says more: `dumbbell "
        "analyze DIR --packet-log FILE.csv` writes what happened to each packet at each link"
    )


def reading_line(source: Source, result: Analysis) -> str:
    """Write what was read in a line."""
    reading = result.reading
    count = result.connection_count
    points = f", at {', '.join(result.points)}" if len(result.points) > 1 else ""
    return (
        f"{source}: {reading['packets']:,} packets, {reading['tcp_pkts']:,} of TCP; "
        f"{count:,} connection{'' if count == 1 else 's'}{points}"
    )


def numbers(connections: Sequence[int]) -> str:
    """Write numbers of connections, the first few."""
    few = ", ".join(str(number) for number in connections[:8])
    more = f" and {len(connections) - 8:,} more" if len(connections) > 8 else ""
    return f"connection{'s' if len(connections) > 1 else ''} {few}{more}"


def match_command(sources: Sequence[Source], *, json: bool, out_dir: Path | None) -> int:
    """Match two captures, or both sides of a run's link."""
    if len(sources) > 2:
        raise CaptureError(
            "--match takes two captures, `A B` or `FILE:POINT FILE:POINT`, or one run's directory, "
            "`DIR` or `DIR:LINK`"
        )
    before, after = sources[0], sources[-1]
    if before.path == after.path == STDIN:
        raise CaptureError("--match reads two captures; only one of them can be standard input")
    if len(sources) == 1:
        result = match_captures(before.path, link=before.point)
    else:
        result = match_captures(
            before.path, after.path, before_point=before.point, after_point=after.point
        )
    if out_dir is not None:
        note_missing_figures()
        result.save(out_dir)
    if json:
        print_json(result.to_dict())
        return 0
    print_match(out(), result)
    if out_dir is not None:
        print_line(f"saved in {out_dir}")
    return 0


def packet_log_command(files: Sequence[str], path: Path, *, json: bool) -> int:
    """Write the log of a capture's packets at links."""
    if len(files) != 1:
        raise CaptureError("--packet-log takes one capture, or one run's directory")
    check_format(path)
    log = packet_log(files[0])
    log.save(path)
    document = log.to_dict()
    if json:
        print_json(document)
        return 0
    for line in trouble(log.reading):
        print_line(line)
    print_table(
        LOG_COLUMNS,
        [
            (
                row["link"],
                *(f"{row[f'{event}_count']:,}" for event in ("enqueue", "dequeue", "drop", "loss")),
                f"{row['marked_pkts']:,}",
                f"{row['backlog_max_pkts']:,}",
            )
            for row in document["links"]
        ],
    )
    if missing := log.reading["dropped_rows"]:
        print_line(f"note: {missing:,} further events are not in the file for lack of memory")
    print_line(f"{log.events.num_rows:,} events in {path}")
    return 0


def print_match(console: Console, result: Match) -> None:
    """Print a match for a person."""
    is_one_file = result.before[0] == result.after[0]
    for line in match_trouble(result.reading, is_one_file=is_one_file):
        console.print(line, markup=False, soft_wrap=True)
    rows = result.connections.to_pylist()
    columns = (
        "connection", "matched\npkts", "dropped\npkts", "undecided\npkts", "only\nafter",
        "reordered\npkts", "delay min\nms", "mean\nms", "p95\nms", "max\nms", "above min\nmean ms",
    )  # fmt: skip
    cells = [
        match_row(row)
        for row in rows
        if row["matched_pkts"] + row["dropped_pkts"] + row["undecided_pkts"] > 0
    ]
    print_table(
        columns,
        cells[:MAX_ROWS],
        optional=(
            "max\nms",
            "undecided\npkts",
            "only\nafter",
            "p95\nms",
            "delay min\nms",
            "reordered\npkts",
        ),
    )
    if len(cells) > MAX_ROWS:
        console.print(f"the first {MAX_ROWS} of {len(cells):,}; --json and --out have all")
    # Connections in only one of the captures differ too, without offload.
    in_both = [row for row in rows if row["before_pkts"] and row["after_pkts"]]
    offloaded = sorted({row["connection"] for row in in_both if row["offload"]})
    if offloaded:
        console.print(
            f"note: {numbers(offloaded)}: the largest packets before and after differ: a network "
            "card cut or joined some between the captures (segmentation offload); those cannot be "
            "paired, and may count as dropped and as only after",
            markup=False,
            soft_wrap=True,
        )
    console.print(
        "note: clocks are not aligned: between two machines the delay holds their offset; the "
        "delay above the smallest does not",
        markup=False,
        soft_wrap=True,
    )


def match_row(row: Row) -> tuple[str, ...]:
    """Write a connection's and direction's cells."""
    source = endpoint(row["source"], row["source_port"])
    destination = endpoint(row["destination"], row["destination_port"])
    seen, dropped = row["matched_pkts"] + row["dropped_pkts"], row["dropped_pkts"]
    share = f" ({100 * dropped / seen:.2f} %)" if dropped else ""
    return (
        f"{row['connection']} {source}\n→ {destination}",
        f"{row['matched_pkts']:,}",
        f"{dropped:,}{share}",
        f"{row['undecided_pkts']:,}",
        f"{row['only_after_pkts']:,}",
        f"{row['reordered_pkts']:,}",
        *(scaled(row[f"delay_{which}_us"], 1e3, 2) for which in ("min", "mean", "p95", "max")),
        scaled(row["sojourn_mean_us"], 1e3, 2),
    )
