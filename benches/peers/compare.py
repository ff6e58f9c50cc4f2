"""Measure dumbbell's simulator and others alternately, and print how many packets each simulates.

`make bench-peers` installs ns-3's wheel and calls this, which builds the programs. Each case runs
in turn in dumbbell and in the other, so that both see the same machine; a ratio is of two
neighbouring runs. The unit is packets that crossed the bottleneck per CPU-second of one process. A
run of `SHORT_S` is taken off each, and with it what a program does before it simulates. Linux in
virtual time runs too, if a kernel of it was built, and with `HTSIM=DIR`, a checkout of htsim, its
NewReno.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import statistics
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

HERE = Path(__file__).parent
BASE_RTT_NS = 40_000_000
#: In some runs ns-3 gets ever slower; after this it stops, and what it has simulated counts.
CPU_LIMIT_S = 120
#: The run that is taken off a longer one.
SHORT_S = 2
#: ns-3's libraries that the scenario uses, those that use others first.
LIBRARIES = (
    "applications", "internet", "point-to-point", "traffic-control", "bridge", "network", "stats",
    "core",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A scenario that both run."""

    groups: str
    rate_mbps: int
    buffer_bdp: float
    time_s: int

    @property
    def label(self) -> str:
        """What the table calls it."""
        flows = self.groups.replace(":", " × ").replace(",", ", ")
        return f"{flows}; {self.rate_mbps} Mbit/s, {self.buffer_bdp:g} BDP, {self.time_s} s"

    def arguments(self, seed: int) -> list[str]:
        """Return the arguments of either program."""
        bdp_bytes = self.rate_mbps * 1_000_000 // 8 * BASE_RTT_NS // 1_000_000_000
        return [
            f"--groups={self.groups}",
            f"--rate={self.rate_mbps * 1_000_000}",
            f"--rtt={BASE_RTT_NS}",
            f"--buffer={int(self.buffer_bdp * bdp_bytes)}",
            f"--time={self.time_s}",
            f"--seed={seed}",
        ]

    def options(self, seed: int) -> list[str]:
        """Return the same for dumbbell's command, with Linux's own algorithms."""
        groups = [group.split(":") for group in self.groups.split(",")]
        flows = [f"--set={number}.flows={count}" for number, (_, count) in enumerate(groups)]
        return [
            *(f"linux/{name}" for name, _ in groups), *flows, "--rate", f"{self.rate_mbps}mbit",
            "--rtt", f"{BASE_RTT_NS // 1_000_000}ms", "--buffer", f"{self.buffer_bdp:g}bdp",
            "--time", f"{self.time_s}s", "--seed", f"{seed}",
        ]  # fmt: skip


CASES = (
    Case("cubic:1,bbr:1", 50, 0.5, 60),
    Case("cubic:1,bbr:1", 50, 8, 60),
    Case("cubic:8,bbr:8", 100, 2, 30),
    Case("cubic:128", 1000, 1, 8),
    Case("bbr:128", 100, 1, 30),
)

#: Against htsim, which has no algorithm of these but NewReno.
RENO_CASES = (
    Case("reno:2", 50, 8, 60),
    Case("reno:16", 100, 2, 30),
    Case("reno:128", 1000, 1, 8),
)

DIFFERENCES = """\
What differs: the TCPs and algorithms are not the same code, so windows, losses and
retransmissions differ (see the goodputs). A packet has 1514 bytes on the wire in dumbbell
(Ethernet), 1502 in ns-3 (PPP), both with 1448 bytes of data. ns-3 is as its wheel has it, with the
definitions above: NS3_ASSERT_ENABLE and NS3_LOG_ENABLE cost time that a build of your own can save.
Its time is the event loop's alone, without tracing, and its socket buffers are as small as they can
be without limiting a flow, since it walks lists as long as those. A run of ns-3 ends after 120
CPU-seconds. dumbbell records time series every 10 ms. Linux in virtual time runs its own CUBIC and
BBR; its time is that of all processes of a command."""

HTSIM_DIFFERENCES = """\
htsim's NewReno has no SACK, no pacing, no delayed ACKs and no series; dumbbell has Linux's TCP and
time series every 10 ms. The time is the event loop's in htsim, and in dumbbell that of all but
starting the process."""


@dataclass(frozen=True)
class Measurement:
    """What one run of either program printed."""

    packets: int
    cpu_s: float
    peak_mb: float
    goodput_mbps: float

    @classmethod
    def parse(cls, line: str) -> Measurement:
        """Read `packets cpu_ns peak_kb goodput_bps`."""
        fields = line.split()
        if len(fields) != 4 or not all(field.isdigit() for field in fields):
            raise ValueError(f"expected four whole numbers, got `{line.strip()}`")
        packets, cpu_ns, peak_kb, goodput_bps = map(int, fields)
        if packets == 0 or cpu_ns == 0:
            raise ValueError(f"nothing was simulated: `{line.strip()}`")
        return cls(packets, cpu_ns / 1e9, peak_kb / 1024, goodput_bps / 1e6)

    def less(self, short: Measurement) -> Measurement:
        """Return it without what a short run of the same case needs."""
        packets, cpu_s = self.packets - short.packets, self.cpu_s - short.cpu_s
        if packets <= 0 or cpu_s <= 0:
            raise ValueError(f"{self} is no longer than {short}")
        return replace(self, packets=packets, cpu_s=cpu_s)

    @property
    def packets_per_s(self) -> float:
        """Packets per CPU-second."""
        return self.packets / self.cpu_s


@dataclass(frozen=True)
class Row:
    """A case's measurements: pairs of neighbouring runs, dumbbell's first; Linux's, if it ran."""

    case: Case
    pairs: list[tuple[Measurement, Measurement]]
    linux: list[Measurement]

    @property
    def ratios(self) -> list[float]:
        """Dumbbell's packets per CPU-second over the other's, of each pair, smallest first."""
        return sorted(ours.packets_per_s / theirs.packets_per_s for ours, theirs in self.pairs)

    def cells(self) -> list[str]:
        """Return the row of the table."""
        ours, theirs = ([pair[side] for pair in self.pairs] for side in (0, 1))
        ratios = self.ratios
        return [
            self.case.label,
            f"{spread([run.packets_per_s / 1e6 for run in ours], '.2f')}",
            f"{spread([run.packets_per_s / 1e3 for run in theirs], '.1f')}",
            spread(ratios, ".0f" if statistics.median(ratios) >= 10 else ".2f"),
            spread([run.packets_per_s / 1e3 for run in self.linux], ".0f") if self.linux else "–",
            f"{max(run.peak_mb for run in ours):.0f} / {max(run.peak_mb for run in theirs):.0f}",
            f"{statistics.median(run.goodput_mbps for run in ours):.1f} / "
            f"{statistics.median(run.goodput_mbps for run in theirs):.1f}",
        ]


def headers(peer: str) -> list[str]:
    """Return the head of the table of a peer."""
    return [
        "case (40 ms, drop-tail)",
        "dumbbell Mpkt/CPU-s",
        f"{peer} kpkt/CPU-s",
        "ratio (min..max)",
        "Linux, virtual time, kpkt/CPU-s",
        "peak MB",
        "goodput Mbit/s",
    ]


def spread(values: list[float], digits: str) -> str:
    """Return the median with the smallest and the largest."""
    return f"{statistics.median(values):{digits}} ({min(values):{digits}}..{max(values):{digits}})"


def table(rows: list[Row], peer: str = "ns-3") -> str:
    """Return the rows as a table of text in Markdown's form."""
    lines = [headers(peer), *(row.cells() for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = [
        "| "
        + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        + " |"
        for line in lines
    ]
    texts.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(texts)


@dataclass(frozen=True)
class Ns3:
    """An installed wheel of ns-3."""

    version: str
    definitions: tuple[str, ...]
    root: Path

    @classmethod
    def find(cls, directory: Path) -> Ns3:
        """Find what `pip install --target DIRECTORY ns3` has installed."""
        root = directory / "ns3"
        targets = root / "lib64/cmake/ns3/ns3Targets.cmake"
        core = next(root.glob("lib64/libns3.*-core.so"), None)
        if core is None or not targets.exists():
            raise FileNotFoundError(f"no ns-3 in `{directory}`; run `make bench-peers`")
        version = core.name.removeprefix("libns").removesuffix("-core.so")
        return cls(version, definitions_in(targets.read_text(encoding="utf-8")), root)

    def compile(self, source: Path, program: Path, compiler: str) -> None:
        """Compile a program against the wheel, with the wheel's own definitions."""
        command = [
            compiler, "-std=c++20", "-O3", "-w", *(f"-D{name}" for name in self.definitions),
            f"-I{self.root / 'include'}", str(source), "-o", str(program),
            f"-L{self.root / 'lib64'}", f"-Wl,-rpath,{self.root / 'lib64'}",
            *(f"-lns{self.version}-{library}" for library in LIBRARIES),
        ]  # fmt: skip
        subprocess.run(command, check=True)


def definitions_in(targets: str) -> tuple[str, ...]:
    """Return what ns-3's own CMake file says its core was compiled with.

    They change the layout of classes (a queue has a log component or not), so what is compiled
    against the wheel needs the same.
    """
    found = re.search(
        r"set_target_properties\(ns3::core PROPERTIES.*?"
        r"INTERFACE_COMPILE_DEFINITIONS \"((?:[^\"\\]|\\.)*)\"",
        targets,
        re.DOTALL,
    )
    if found is None:
        raise ValueError("ns3Targets.cmake does not say what ns-3's core was compiled with")
    # Those of other libraries that it uses (`HAVE_GSL`) would ask for their headers.
    return tuple(name for name in found[1].split(";") if name.startswith("NS3_"))


def build_htsim(directory: Path, compiler: str) -> Path:
    """Compile htsim's library as its own Makefile does, and the scenario with it; return that."""
    sources, program = directory / "sim", directory / "htsim_dumbbell"
    subprocess.run(["make", "-C", str(sources), "libhtsim.a"], check=True, stdout=sys.stderr)
    command = [
        compiler, "-std=c++17", "-O3", "-w", f"-I{sources}", str(HERE / "htsim_dumbbell.cc"),
        str(sources / "libhtsim.a"), "-o", str(program),
    ]  # fmt: skip
    subprocess.run(command, check=True)
    return program


def build_dumbbell() -> Path:
    """Compile dumbbell's side with cargo, and return the program."""
    command = ["cargo", "bench", "--package", "dumbbell-sim", "--bench", "peers", "--no-run"]
    done = subprocess.run(
        [*command, "--message-format=json"], check=True, stdout=subprocess.PIPE, text=True
    )
    return executable_in(done.stdout)


def executable_in(messages: str) -> Path:
    """Return the program that cargo's messages name, one JSON object a line."""
    for message in map(json.loads, messages.splitlines()):
        if message.get("executable") and message["target"]["name"] == "peers":
            return Path(message["executable"])
    raise ValueError("cargo did not name the bench target `peers`")


def measure(program: Path, case: Case, seed: int, *more: str) -> Measurement:
    """Run a case once, and a short run of it."""

    def once(case: Case) -> Measurement:
        command = [str(program), *case.arguments(seed), *more]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        return Measurement.parse(done.stdout)

    return once(case).less(once(replace(case, time_s=SHORT_S)))


def measure_linux(case: Case, seed: int) -> Measurement:
    """Run a case once in virtual time, and a short run of it."""

    def once(case: Case) -> Measurement:
        command = [sys.executable, "-m", "dumbbell", "run", *case.options(seed), "--engine", "uml"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([*command, "--json"], check=True, stdout=subprocess.PIPE, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        summary = json.loads(done.stdout)
        cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        goodput_bps = sum(flow["goodput_bps"] for flow in summary["flows"])
        packets = summary["links"][0]["forwarded_pkts"]
        return Measurement(packets, cpu_s, after.ru_maxrss / 1024, goodput_bps / 1e6)

    return once(case).less(once(replace(case, time_s=SHORT_S)))


def has_kernel() -> bool:
    """Whether a kernel for virtual time was built."""
    from dumbbell.kernels import kernels

    return any(kernel.is_ready for kernel in kernels())


def alternate(
    cases: Iterable[Case],
    programs: tuple[Path, Path],
    repeat: int,
    *more: str,
    with_linux: bool = False,
) -> list[Row]:
    """Run cases in dumbbell and another program in turn; `more` is for the other."""
    rows = []
    for case in cases:
        pairs: list[tuple[Measurement, Measurement]] = []
        linux: list[Measurement] = []
        for seed in range(1, repeat + 1):
            print(f"{case.label}: {seed} of {repeat}", file=sys.stderr, flush=True)
            ours = measure(programs[0], case, seed)
            pairs.append((ours, measure(programs[1], case, seed, *more)))
            if with_linux:
                linux.append(measure_linux(case, seed))
        rows.append(Row(case, pairs, linux))
    return rows


def main() -> None:
    """Build the programs, alternate, print."""
    parser = argparse.ArgumentParser(description="Measure dumbbell and its peers alternately.")
    parser.add_argument("--ns3", type=Path, help="where pip installed the wheel")
    parser.add_argument("--htsim", type=Path, help="a checkout of htsim")
    parser.add_argument("--compiler", default="c++", help="of C++20")
    parser.add_argument("--repeat", type=int, default=5, help="alternations of each case")
    options = parser.parse_args()

    dumbbell = build_dumbbell()
    if options.ns3:
        ns3 = Ns3.find(options.ns3)
        program = options.ns3 / "ns3_dumbbell"
        ns3.compile(HERE / "ns3_dumbbell.cc", program, options.compiler)
        definitions = ", ".join(ns3.definitions)
        print(f"ns-{ns3.version} from its wheel, built with {definitions}\n", flush=True)
        limit = f"--limit={CPU_LIMIT_S}"
        programs = (dumbbell, program)
        rows = alternate(CASES, programs, options.repeat, limit, with_linux=has_kernel())
        print(f"{table(rows)}\n\n{DIFFERENCES}\n")
    if options.htsim:
        programs = (dumbbell, build_htsim(options.htsim.resolve(), options.compiler))
        rows = alternate(RENO_CASES, programs, options.repeat)
        print(f"{table(rows, 'htsim')}\n\n{HTSIM_DIFFERENCES}\n")
    print(f"Median, smallest and largest of {options.repeat} alternations.")


if __name__ == "__main__":
    main()
