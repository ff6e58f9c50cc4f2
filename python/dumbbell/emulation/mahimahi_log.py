"""Logs of a link as mahimahi's `mm-link` writes them, which `mm-throughput-graph` reads.

A line is an event, with its time in whole ms: ``5 + 1504``, a packet arrives; ``7 - 1504 2``, it
leaves, 2 ms later; ``7 # 1504``, the link could carry this much then. Bytes are those of the IP
packet and four more, as on mahimahi's TUN devices. Lines that begin with ``#`` are comments to its
programs, and some versions know no drops: a drop is such a line.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, pairwise
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc

from dumbbell._core import ENGINE_VERSION
from dumbbell.base.quantities.quantity import Rate
from dumbbell.base.writing import replacing
from dumbbell.capture_analysis.packet_log import PacketLog
from dumbbell.run import Run
from dumbbell.scenario.link import UNLIMITED
from dumbbell.scenario.trace import OPPORTUNITY_BYTES, Trace

__all__ = ["write_mahimahi_log"]

#: From a packet's bytes on our links, with Ethernet's header, to those on mahimahi's devices.
LESS_BYTES = 14 - 4
#: At one time, what the link offers comes before what it carries.
ORDER = {"#": 0, "+": 1, "-": 2, "d": 3}

#: A line: time in ms, event, and what follows.
Line = tuple[int, str, str]


def write_mahimahi_log(place: Path, run: Run, packets: PacketLog, link: str, began_ns: int) -> None:
    """Write what happened at a link of a run.

    Parameters
    ----------
    place
        The file.
    run, packets
        The run, and what happened to its packets.
    link
        The link's name.
    began_ns
        When the run began, ns since 1970.

    Raises
    ------
    ResultError
        The file cannot be written.
    """
    offset_us = (int(packets.reading["first_ns"] or began_ns) - began_ns) / 1000
    rows = packets.events.filter(pc.equal(packets.events["link"].cast(pa.string()), link))
    lines = [*events_of(rows, offset_us), *opportunities(run, link)]
    lines.sort(key=lambda line: (line[0], ORDER[line[1]]))
    with replacing(place) as new, new.open("w", encoding="utf-8") as file:
        write_lines(file, run, link, lines)


def write_lines(file: IO[str], run: Run, link: str, lines: list[Line]) -> None:
    """Write the head and the events."""
    client = run.scenario.groups[0].client or ()
    file.write(f"# mahimahi mm-link ({link}) [dumbbell {ENGINE_VERSION}]\n")
    file.write(f"# command line: {' '.join(shlex.join(client).split())}\n")
    file.write("# init timestamp: 0\n# base timestamp: 0\n")
    for at_ms, event, rest in lines:
        is_drop = event == "d"
        file.write(f"{'# ' if is_drop else ''}{at_ms} {event} {rest}\n")


def events_of(rows: pa.Table, offset_us: float) -> Iterator[Line]:
    """Yield what happened to packets."""
    columns = (
        rows["time_us"].to_pylist(), rows["event"].cast(pa.string()).to_pylist(),
        rows["wire_bytes"].to_pylist(), rows["in_link_us"].to_pylist(),
    )  # fmt: skip
    for time_us, event, wire_bytes, in_link_us in zip(*columns, strict=True):
        at_us = time_us + offset_us
        at_ms, bytes_ = max(int(at_us // 1000), 0), wire_bytes - LESS_BYTES
        if event == "enqueue":
            yield at_ms, "+", f"{bytes_}"
        elif event == "dequeue":
            arrived_ms = max(int((at_us - (in_link_us or 0)) // 1000), 0)
            yield at_ms, "-", f"{bytes_} {at_ms - arrived_ms}"
        elif event == "drop":
            yield at_ms, "d", f"1 {bytes_}"


def opportunities(run: Run, link: str) -> Iterator[Line]:
    """Yield when the link could carry how much; nothing of a link of any rate, or of a medium."""
    end_ms = run.summary["duration_ns"] // 1_000_000
    asked = run.scenario.link(link)
    if asked.trace is not None:
        times = trace_times(asked.trace, end_ms)
    elif asked.has_medium:
        return
    else:
        times = rate_times(run, link, end_ms)
    for at_ms in times:
        yield at_ms, "#", f"{OPPORTUNITY_BYTES}"


def trace_times(trace: Trace, end_ms: int) -> Iterator[int]:
    """Yield a trace's times, ms, again and again until the end."""
    at_ms = 0
    for since_ms, count in trace.runs if trace.once else cycle(trace.runs):
        at_ms += since_ms
        if at_ms > end_ms:
            return
        for _ in range(count):
            yield at_ms


def rate_times(run: Run, link: str, end_ms: int) -> Iterator[int]:
    """Yield a time, ms, whenever a link of this rate has had time for another full packet."""
    changes = [(0, int(run.scenario.link(link).rate))]
    changes += [
        (int(at) // 1_000_000, int(rate)) for at, rate in run.scenario.link(link).rate_steps
    ]
    facts = run.emulation
    made_: Sequence[Mapping[str, Any]] = facts.get("changes", ()) if facts is not None else ()
    changes += [
        (made["at_us"] // 1000, int(made["link_rate_bps"]))
        for made in made_
        if made["kind"] == "rate" and made["link"] == link
    ]
    had_bits = 0.0
    for (begin_ms, rate_bps), (until_ms, _) in pairwise([*sorted(changes), (end_ms, 0)]):
        if Rate(rate_bps) >= UNLIMITED:
            continue
        for at_ms in range(begin_ms, until_ms):
            had_bits += rate_bps / 1000
            for _ in range(int(had_bits // (8 * OPPORTUNITY_BYTES))):
                yield at_ms
            had_bits %= 8 * OPPORTUNITY_BYTES
