"""The figures of the guide's pages of elements: a run of each, drawn.

``python tools/element_figures.py`` draws them into docs/_generated/figures, which takes half a
minute; kinds as arguments, like ``queues``, draw those only. matplotlib is needed.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import dumbbell
from dumbbell.figures.figure import Figure
from dumbbell.figures.style import UNKNOWN_COLOR
from dumbbell.plots.paper_figure import save_for_print
from dumbbell.plots.run_figures import draw_series
from dumbbell.terminal.field_options import OPTION_FIELDS
from dumbbell.terminal.scenario_options import base_scenario, single_values

__all__ = ["EXAMPLES", "FIGURES", "Example", "draw", "figure_name"]

FIGURES = Path(__file__).parents[1] / "docs" / "_generated" / "figures"
#: Points of a curve: more are closer than a pixel at the width of a page.
POINTS = 200
#: Numbers of an SVG that are coordinates in points, 1/72 inch: a hundredth of one is enough.
COORDINATES = re.compile(r'(?: d="[^"]*"| [xy]="[^"]*"|translate\([^)]*\))')
LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
#: matplotlib names a dozen fonts at each text.
FONTS = re.compile(r"font-family: ('[^']*'), [^;\"]*")


@dataclass(frozen=True)
class Example:
    """A run with an element, and what is drawn of it.

    Attributes
    ----------
    ccs
        Of the groups.
    options
        By field, as on the command line.
    series
        Of the run.
    without
        Options left out of a second run, whose curves are drawn in grey.
    note
        What is to be seen.
    """

    ccs: tuple[str, ...]
    options: Mapping[str, str] = field(hash=False)
    series: tuple[str, ...]
    without: tuple[str, ...] = ()
    note: str = ""

    @property
    def command(self) -> str:
        """The command line."""
        words = [f"{OPTION_FIELDS[name].option} {shlex.quote(value)}"
                 for name, value in self.options.items()]  # fmt: skip
        return f"dumbbell run {' '.join([*self.ccs, *words])}"

    def scenario(self, without: tuple[str, ...] = ()) -> dumbbell.Scenario:
        """The scenario of the command line, without some of its options."""
        options = {name: text for name, text in self.options.items() if name not in without}
        return base_scenario(list(self.ccs), single_values(options, "run"))


def through(queue: str, *ccs: str, note: str = "", **options: str) -> Example:
    """Return the example of a queue discipline, the same for all: a flow, then a second one."""
    fixed = {"queue": queue, "buffer": "4bdp", "rate": "20mbit", "start": "0s,10s", "time": "30s"}
    every = {name: text for name, text in {**fixed, **options}.items() if text}
    return Example(ccs or ("cubic", "bbr"), every, ("goodput", "rtt"), note=note)


def impaired(
    impair: str, *series: str, cc: str = "cubic", note: str = "", option: str = "impair",
    **options: str,
) -> Example:  # fmt: skip
    """Return the example of an impairment: a lone flow with it and without it."""
    fixed = {option: impair, **options, "rate": "20mbit", "time": "20s"}
    return Example((cc,), fixed, series or ("goodput", "cwnd"), (option,), note)


def over(rate: str = "", buffer: str = "2bdp", note: str = "", **medium: str) -> Example:
    """Return the example of a medium: CUBIC and BBR over it."""
    options = {**medium, **({"rate": rate} if rate else {})}
    fixed = {"buffer": buffer, "time": "60s", "sample": "200ms"}
    every = {name: text for name, text in {**options, **fixed}.items() if text}
    return Example(("cubic", "bbr"), every, ("goodput", "rtt"), note=note)


def sending(
    traffic: str, *series: str, ccs: tuple[str, ...] = ("cubic", "cubic"), **options: str
) -> Example:
    """Return the example of an application, next to bulk where there are two groups."""
    return Example(ccs, {"traffic": traffic, **(options or {"time": "30s"})}, series)


#: By kind, then by element.
EXAMPLES: dict[str, dict[str, Example]] = {
    "queues": {
        "bfifo": through(
            "bfifo",
            note="CUBIC fills all the room that there is: RTTs of 200 ms over a path of 40 ms, and "
            "BBR's packets wait as long.",
        ),
        "pfifo": through(
            "pfifo", note="The same as `bfifo`, where all packets have one size, as here."
        ),
        "step": through(
            "step:threshold=20pkt", "dctcp", "dctcp",
            note="Two flows of DCTCP keep the queue around the threshold, 20 packets or 12 ms, and "
            "share the link equally.",
        ),
        "dummynet": through(
            "dummynet", buffer="", impair="dummynet_pipe",
            note="The default of 50 slots, in a pipe with ticks of 1 ms. CUBIC fills them: 50 "
            "packets take 30 ms.",
        ),
        "fq": through(
            "fq",
            note="Both flows get half of the link, and each waits only in its own queue: CUBIC "
            "fills its own, the 100 packets of `flow_limit`; BBR's is short.",
        ),
        "sfq": through(
            "sfq",
            note="Both flows get half of the link, and each waits only in its own slot: CUBIC "
            "fills its own, the 127 packets of `depth`; BBR's is short.",
        ),
        "drr": through(
            "drr:quantum=1514B;4542B",
            note="Two classes with quanta of 1 to 3: CUBIC gets a quarter of the link, BBR three "
            "quarters.",
        ),
        "tbf": through(
            "tbf:rate=15mbit,burst=100kB",
            note="A shaper of 15 Mbit/s before a link of 20 Mbit/s: the flows see a drop-tail link "
            "of 15 Mbit/s.",
        ),
        "codel": through(
            "codel",
            note="The queue is short once BBR has started up. There is one for all: BBR, which "
            "hardly responds to CoDel's drops, takes most of the link.",
        ),
        "fq_codel": through(
            "fq_codel",
            note="Both flows get about half of the link. BBR, which hardly responds to CoDel's "
            "drops, makes only itself wait.",
        ),
        "pie": through(
            "pie",
            note="The queue is short once BBR has started up. There is one probability for all: "
            "BBR, which hardly responds to drops, takes most of the link.",
        ),
        "fq_pie": through(
            "fq_pie",
            note="Both flows get about half of the link. Each has a queue and a probability of its "
            "own.",
        ),
        "red": through(
            "red:adaptive=on",
            note="The average queue is mostly between `min`, here 13 ms, and `max`, 40 ms. There "
            "is one queue for all: BBR, which hardly responds to drops, takes most of the link.",
        ),
        "dualpi2": through(
            "dualpi2", "cubic", "prague",
            note="Prague instead of BBR, for the queue of L4S: its packets hardly wait, those of "
            "CUBIC wait in the classic queue, and both get about as much.",
        ),
        "cake": through(
            "cake:rate=95%",
            note="Shaped to 95 % of the link, so that the queue is here and not before another "
            "device. Both flows get about half, and BBR makes only itself wait.",
        ),
    },
    "impairments": {
        "random_loss": impaired(
            "random_loss:loss=0.1%",
            note="One packet in a thousand: CUBIC takes each loss for congestion, and its cwnd is "
            "mostly below the 66 packets that the path holds.",
        ),
        "gilbert_elliott": impaired(
            "gilbert_elliott:loss=0.1%,burst=5",
            note="The mean loss rate of `random_loss`'s figure, in bursts of five. CUBIC reduces "
            "its cwnd once for a burst, so less often.",
        ),
        "loss_state": impaired(
            "loss_state:p13=0.02%,p31=30%,p32=20%,p23=80%,p14=0.01%",
            note="Bursts and single losses: each reduces the cwnd once.",
        ),
        "bursts": impaired(
            "bursts:rate=0.02%,most=10",
            note="A burst begins at one packet in 5,000; each reduces the cwnd once.",
        ),
        "every": impaired(
            "every:n=2000",
            note="Losses at equal distances: the regular sawtooth that response functions assume.",
        ),
        "listed": impaired(
            "listed:packets=8000;8001;8002;20000",
            note="Three packets in a row reduce the cwnd once, and so does a single one.",
        ),
        "outage": impaired(
            "outage:at=8s,off=1s",
            note="Nothing passes for a second: a timeout, then slow start.",
        ),
        "corrupt": impaired(
            "corrupt:probability=0.1%",
            note="As random loss, but what is lost took its time on the link.",
        ),
        "policer": impaired(
            "policer:rate=10mbit,burst=50kB", "goodput", "rtt",
            note="What exceeds 10 Mbit/s is dropped and never delayed: there is no queue.",
        ),
        "duplicate": impaired(
            "duplicate:probability=10%", "goodput", "rtt",
            note="The receiver discards the copies; the flow loses nothing by them.",
        ),
        "jitter": impaired(
            "jitter:delay=5ms,normal=2ms", "goodput", "rtt", traffic="cbr:rate=10mbit",
            note="In order: a packet that is held back holds up those behind it, so that a dense "
            "flow sees the largest of the draws.",
        ),
        "reorder": impaired(
            "reorder:probability=1%,late=5ms", "goodput", "rtt", traffic="cbr:rate=10mbit",
            note="One packet that comes 5 ms late is retransmitted; from then on RACK waits a "
            "quarter of the RTT for late ones.",
        ),
        "route_change": impaired(
            "route_change:at=7s,late=30ms,until=14s", "goodput", "rtt", traffic="cbr:rate=10mbit",
            note="A route that is 30 ms longer, from 7 s to 14 s.",
        ),
        "ack_thinning": impaired(
            "ack_thinning:every=8", "goodput", "rtt", option="up_impair", up_rate="250kbit",
            note="The way back is too narrow for all ACKs, which wait there; one in eight fits.",
        ),
        "bleach": impaired(
            "bleach", "goodput", "rtt", cc="dctcp", queue="step:threshold=20pkt",
            note="No mark reaches DCTCP, which then responds to losses only: the queue fills "
            "instead of staying around the threshold.",
        ),
    },
    "media": {
        "slot": over(impair="slot:min=10ms"),
        "wifi": over(impair="wifi:stations=2,error=5%"),
        "docsis": over(impair="docsis"),
        "cellular": over(impair="cellular"),
        "mmwave": over(impair="mmwave", rate="200mbit"),
        "starlink": over(impair="starlink", rate="100mbit"),
        "tclink_htb": over(
            impair="tclink_htb", rate="50mbit", buffer="167pkt",
            note="167 packets are nominally a BDP; 83 of them are delayed, so that there is room "
            "for half of one: RTTs of 60 ms at most over a path of 40 ms.",
        ),
        "tclink_tbf": over(impair="tclink_tbf", rate="50mbit", buffer="167pkt"),
        "dummynet_pipe": over(
            impair="dummynet_pipe", rate="10mbit", queue="dummynet:limit=100kB", buffer=""
        ),
    },
    "traffic": {
        "bulk": sending("bulk", "goodput", "rtt", ccs=("cubic", "bbr")),
        "poisson": sending(
            "poisson:load=30%,size=lognormal(p5=4kB;p95=1MB),bulk", "fct", "slowdown",
            ccs=("cubic", "bbr"), buffer="2bdp", time="60s",
        ),
        "deterministic": sending(
            "deterministic:gap=500ms,size=100kB,bulk", "fct", "goodput", ccs=("cubic", "bbr"),
            buffer="2bdp", time="60s",
        ),
        "onoff": sending("onoff:on=2s,off=2s,bulk", "goodput", "cwnd", ccs=("cubic", "bbr")),
        "rpc": sending(
            "rpc:request=100B,response=10kB,think=exponential(50ms),bulk", "latency", "queue",
            buffer="2bdp", time="60s",
        ),
        "page": sending(
            "page:objects=50,object=10kB,reading=1s,bulk", "page-load-time", "goodput",
            buffer="2bdp", time="60s",
        ),
        "cbr": sending("cbr:rate=5mbit,bulk", "goodput", "rtt"),
        "datagram": sending("datagram:preset=hd_call,bulk", "goodput", "sojourn"),
        "video": sending(
            "video:preset=pensieve,bulk", "bitrate", "goodput", rate="6mbit", time="240s"
        ),
        "responsiveness": sending(
            "responsiveness:interval=1s", "latency", "queue", ccs=("cubic",), buffer="2bdp",
            time="30s",
        ),
    },
}  # fmt: skip
#: What the names of figures begin with.
PREFIXES = {"queues": "queue", "impairments": "impairment", "media": "media", "traffic": "traffic"}


def figure_name(kind: str, name: str) -> str:
    """Return the name of an element's figure, without suffix."""
    return f"{PREFIXES[kind]}-{name}"


def draw(kind: str, name: str, directory: Path = FIGURES) -> Path:
    """Run an element's example and draw it; return the file."""
    example = EXAMPLES[kind][name]
    figures = draw_series(dumbbell.run(example.scenario()), example.series, POINTS)
    if example.without:
        plain = dumbbell.run(example.scenario(example.without))
        of_plain = draw_series(plain, example.series, POINTS)
        figures = [both(*pair, name) for pair in zip(figures, of_plain, strict=True)]
    (path,) = save_for_print(figures, directory, figure_name(kind, name), formats=("svg",),
                             size="2col", style="report")  # fmt: skip
    path.write_text(compact(path.read_text(encoding="utf-8")), encoding="utf-8")
    return path


def both(figure: Figure, plain: Figure, name: str) -> Figure:
    """Return a figure with another's curves in grey behind its own."""
    grey = [replace(each, label=f"{each.label} without it", color=UNKNOWN_COLOR)
            for each in plain.curves]  # fmt: skip
    own = [replace(each, label=f"{each.label} with {name}") for each in figure.curves]
    return replace(figure, curves=(*grey, *own))


def compact(svg: str) -> str:
    """Return an SVG with its coordinates rounded and two fonts to choose from."""

    def rounded(found: re.Match[str]) -> str:
        return LONG_NUMBER.sub(lambda number: f"{float(number[0]):.2f}", found[0])

    return FONTS.sub(r"font-family: \1, sans-serif", COORDINATES.sub(rounded, svg))


if __name__ == "__main__":
    for chosen in sys.argv[1:] or EXAMPLES:
        for known in EXAMPLES[chosen]:
            draw(chosen, known)
