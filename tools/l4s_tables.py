"""Writes the tables of l4s.md: what L4S's RFCs and critics report, and what we measure.

``python tools/l4s_tables.py`` takes some minutes; with ``wait`` it makes that table.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from markdown_tables import markdown_table  # next to this file

import dumbbell
from dumbbell.metrics import Warmup

PAGE = Path(__file__).parents[1] / "docs" / "notes" / "l4s.md"
SEEDS = range(1, 4)
#: DualPI2's target for the classic queue, ms, and what a packet of L4S waits about.
CLASSIC_MS, L4S_MS = 15.0, 0.5
VIRTUAL_MS = 25.0
#: Reductions at random marks are a round and the time to the next mark apart: (1 + √3)/2.
RANDOM_MARKS = (1 + 3**0.5) / 2
CODEPOINTS = {"not_ect": "Not-ECT", "ect1": "ECT(1)"}


def main() -> None:
    """Replace what is between the markers of each table."""
    text = PAGE.read_text(encoding="utf-8")
    tables = {
        "balance": balance, "wait": wait, "pairs": pairs, "harm": harm,
        "fallback": fallback, "jitter": jitter, "video": video, "overload": overload,
    }  # fmt: skip
    for name in sys.argv[1:] or tables:
        table = tables[name]
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
        before, rest = text.split(begin)
        text = before + begin + "\n" + table() + "\n" + end + rest.split(end)[1]
        PAGE.write_text(text, encoding="utf-8")


def measured(
    groups: Sequence[Any], time: str = "60s", warmup: str | None = None, **fields: Any
) -> list[Any]:
    """Run a scenario with each seed; return each run's metrics, a row for each group."""
    sample = "100ms" if warmup else "0s"  # a warm-up needs time series
    scenario = dumbbell.Scenario(groups, time=time, sample=sample, **fields)
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda seed: dumbbell.run(scenario, seed=seed), SEEDS))
    skip = None if warmup is None else Warmup.parse(warmup)
    return [dumbbell.measure(run, skip) for run in runs]


def mean_of(measurements: Sequence[Any], metric: str, number: int) -> float:
    """Return the mean over the seeds of a group's metric."""
    values = [rows_of[number][metric] for rows_of in measurements]
    return float(sum(values) / len(values))


def group(cc: str, rtt: str = "", **fields: Any) -> Any:
    """Return a group of one flow that starts within the first second."""
    if rtt:
        fields["rtt"] = rtt
    return dumbbell.Group(cc, jitter="1s", **fields)


def mbit(measurements: Sequence[Any], number: int) -> float:
    """Return a group's goodput, Mbit/s."""
    return mean_of(measurements, "goodput_bps", number) / 1e6


def balance() -> str:
    """L2: an L4S flow next to a classic one by their base RTT."""
    body = []
    for rtt_ms in (5, 10, 20, 50, 100):
        classic_ms = rtt_ms + CLASSIC_MS
        plain = 0.82 * classic_ms / (rtt_ms + L4S_MS)
        virtual = 0.82 * classic_ms / max(rtt_ms + L4S_MS, VIRTUAL_MS)
        ours = []
        for pair in (("prague", "reno"), ("prague:rtt_indep=0", "reno"), ("prague", "cubic")):
            got = measured(
                [group(cc) for cc in pair],
                "120s", rate="50mbit", rtt=f"{rtt_ms}ms", queue="dualpi2",
            )  # fmt: skip
            ours.append(mbit(got, 0) / mbit(got, 1))
        body.append(
            [f"{rtt_ms} ms", f"{plain:.2f}", f"{virtual:.2f}", f"{RANDOM_MARKS * virtual:.2f}"]
            + [f"{ratio:.2f}" for ratio in (ours[0], ours[1], ours[2])]
        )
    header = (
        "base RTT", "RFC 9332 §C.2", "with 25 ms", "and random marks",
        "Prague:Reno", "without RTT independence", "Prague:CUBIC",
    )  # fmt: skip
    return markdown_table(header, body)


def wait() -> str:
    """L3: how long L4S waits next to CUBIC, by rate and RTT."""
    body = []
    for rate in (4, 12, 40, 120, 200):
        line = [f"{rate} Mbit/s"]
        for rtt_ms in (5, 10, 20, 50, 100):
            got = measured(
                [group("prague", delayed_ack=False), group("cubic")],
                rate=f"{rate}mbit", rtt=f"{rtt_ms}ms", queue="dualpi2",
            )  # fmt: skip
            on_wire_ms = 1514 * 8 / rate / 1e3
            mean_ms = mean_of(got, "rtt_inflation_mean_us", 0) / 1e3 - on_wire_ms
            p99_ms = mean_of(got, "rtt_inflation_p99_us", 0) / 1e3 - on_wire_ms
            line.append(f"{mean_ms:.1f}, {p99_ms:.1f}")
        body.append(line)
    return markdown_table(("link", "5 ms", "10 ms", "20 ms", "50 ms", "100 ms"), body)


def pairs() -> str:
    """L4: pairs of flows at 50 Mbit/s."""
    body = []
    for first, second, published in (
        (("prague", "10ms"), ("cubic", "10ms"), "34.6 : 12.7"),
        (("prague", "20ms"), ("cubic", "20ms"), "32.4 : 14.9"),
        (("prague", "80ms"), ("cubic", "80ms"), "29.6 : 17.9"),
        (("prague", "10ms"), ("prague", "10ms"), "23.5 : 22.8"),
        (("prague", "10ms"), ("prague", "160ms"), "45.5 : 1.6"),
        (("cubic", "10ms"), ("cubic", "160ms"), "36.5 : 10.7"),
    ):
        got = measured(
            [group(*first), group(*second)], "120s", rate="50mbit", rtt=first[1], queue="dualpi2"
        )
        name = f"{first[0]} {first[1]} : {second[0]} {second[1]}"
        body.append([name, published, f"{mbit(got, 0):.1f} : {mbit(got, 1):.1f}"])
    return markdown_table(("pair", "published, Mbit/s", "ours, Mbit/s"), body)


#: Queues of RFC 3168, and what critics measured of Prague next to CUBIC and Reno in them.
CLASSIC = (
    ("fq_codel, one queue", "fq_codel:flows=1", "45.7 : 1.9", "42 : 1"),
    ("pie", "pie:ecn=on", "45.7 : 2.0", "60 : 1"),
    ("red, 150 kB", "red:limit=600kB,max=150kB,ecn=on", "45.9 : 1.7", "27 : 1"),
)


def harm() -> str:
    """L5: Prague in one queue of RFC 3168."""
    body = []
    for name, queue, against_cubic, against_reno in CLASSIC:
        line = [name]
        for cc, published in (("cubic", against_cubic), ("reno", against_reno)):
            first, second = in_classic_queue("prague", cc, queue)
            line += [published, f"{first:.1f} : {second:.1f} ({first / second:.0f} : 1)"]
        body.append(line)
    return markdown_table(("queue", "CUBIC, published", "ours", "Reno, published", "ours"), body)


def in_classic_queue(prague: str, cc: str, queue: str) -> tuple[float, float]:
    """Return the goodputs next to each other, Mbit/s."""
    got = measured(
        [group(prague), group(cc, ecn=True)], "120s", rate="50mbit", rtt="20ms", queue=queue
    )
    return mbit(got, 0), mbit(got, 1)


FALLBACK = "prague:classic_fallback=1"


def fallback() -> str:
    """Where the fallback finds a classic AQM: in queues of RFC 3168, and wrongly in DualPI2."""
    body = []
    for name, queue, _, _ in CLASSIC:
        line = [f"{name}, 20 ms"]
        for cc in ("cubic", "reno"):
            first, second = in_classic_queue(FALLBACK, cc, queue)
            line.append(f"{first:.1f} : {second:.1f} ({first / second:.1f} : 1)")
        body.append([*line, score([group(DETECT), group("cubic", ecn=True)], "20ms", queue=queue)])
    for rtt_ms in (5, 10, 20, 50, 100):
        rtt, line = f"{rtt_ms}ms", [f"dualpi2, {rtt_ms} ms"]
        for cc in ("cubic", "reno"):
            got = measured(
                [group(FALLBACK), group(cc)], "120s", rate="50mbit", rtt=rtt, queue="dualpi2"
            )
            first, second = mbit(got, 0), mbit(got, 1)
            line.append(f"{first:.1f} : {second:.1f} ({first / second:.1f} : 1)")
        body.append([*line, score([group(DETECT), group("cubic")], rtt, queue="dualpi2")])
    for rate in (4, 12):
        rates = {"rate": f"{rate}mbit", "queue": "dualpi2"}
        pair = [group(DETECT, delayed_ack=False), group("cubic")]
        body.append([f"dualpi2, {rate} Mbit/s, 20 ms", "", "", score(pair, "20ms", **rates)])
    return markdown_table(("queue, base RTT", "CUBIC", "Reno", "called classic, of the time"), body)


#: The score alone: the response stays that of L4S.
DETECT = "prague:classic_fallback=2"


def score(groups: Sequence[Any], rtt: str, **fields: Any) -> str:
    """Return how much of the time after 10 s the first flow's score is above 0."""
    fields = {"rate": "50mbit", **fields}
    scenario = dumbbell.Scenario(groups, rtt=rtt, time="120s", sample="100ms", **fields)
    shares = []
    for seed in SEEDS:
        state = dumbbell.run(scenario, seed=seed).state(0).to_pandas()
        scores = state["classic_score"][state["time_us"] >= 10e6]
        shares.append(float((scores > 0).mean()))
    return f"{100 * sum(shares) / len(shares):.0f} %"


def jitter() -> str:
    """False positives: one flow in DualPI2 behind a path whose delay varies."""
    body = []
    for delay_ms, normal_ms in ((0, 0), (2, 1), (4, 2), (10, 5)):
        impair = f"jitter:delay={delay_ms}ms,normal={normal_ms}ms" if delay_ms else ""
        path = {"rate": "50mbit", "queue": "dualpi2", "impair": impair}
        line = [f"{delay_ms} ± {normal_ms} ms" if delay_ms else "none"]
        for cc in ("prague", FALLBACK):
            got = measured([group(cc)], rtt="80ms", **path)
            line.append(f"{mbit(got, 0):.1f}")
        body.append([*line, score([group(DETECT)], "80ms", **path)])
    head = ("jitter", "Prague, Mbit/s", "with fallback", "called classic, of the time")
    return markdown_table(head, body)


def video() -> str:
    """L6: one flow alone, and next to bursts of video in each of the queues."""
    body = []
    # 2.3 Mbit/s in 30 frames per second: 7 packets of 1369 bytes at once.
    in_c, in_l = (
        dumbbell.Group(
            "reno", rtt="160ms", traffic=f"datagram:rate=2.3mbit,size=1369B,burst=7,ecn={ecn}"
        )
        for ecn in ("not_ect", "ect1")
    )
    for cc, published in (("prague", "18.3, 12.6, 2.3"), ("cubic", "16.2, 14.5, 13.4")):
        values = []
        for groups in ([group(cc)], [group(cc), in_c], [group(cc), in_l]):
            got = measured(groups, "180s", "60s", rate="20mbit", rtt="160ms", queue="dualpi2")
            values.append(f"{mbit(got, 0):.1f}")
        body.append([cc, published, ", ".join(values)])
    return markdown_table(("", "published: alone, with video in C, in L", "ours, Mbit/s"), body)


def overload() -> str:
    """L7: CUBIC next to datagrams that respond to nothing, of either kind."""
    body = []
    loads = [(load, ecn, 10) for ecn in ("not_ect", "ect1") for load in (0.5, 0.9, 1.2)]
    loads += [(1.2, "ect1", protection) for protection in (0, 25)]
    for load, ecn, protection in loads:
        rate_mbit = 50 * load * 1448 / 1490  # payload; UDP has 42 bytes of headers
        flood = dumbbell.Group(
            "reno", traffic=f"datagram:rate={rate_mbit:.2f}mbit,size=1448B,ecn={ecn}"
        )
        scenario = dumbbell.Scenario(
            [group("cubic"), flood], time="60s", rate="50mbit", rtt="20ms",
            queue=f"dualpi2:classic_protection={protection}",
        )  # fmt: skip
        runs = [dumbbell.run(scenario, seed=seed) for seed in SEEDS]
        flows: list[Sequence[Mapping[str, Any]]] = [run.summary["flows"] for run in runs]
        sent = sum(both[1]["sent_pkts"] for both in flows)
        dropped, marked = (
            sum(both[1][f"{fate}_pkts"] for both in flows) / sent for fate in ("dropped", "marked")
        )
        app = [both[1]["application"] for both in flows]
        wait_ms = [
            sum(each[f"one_way_delay_{p}_us"] for each in app) / len(app) / 1e3 - 10
            for p in ("p50", "p99")
        ]
        # The controller has settled after some seconds.
        prob = [settled(run, "prob_ppb") / 1e9 for run in runs]
        body.append(
            [f"{load:g} of the link, {CODEPOINTS[ecn]}", f"{protection} %"]
            + [f"{sum(both[n]['goodput_bps'] for both in flows) / len(flows) / 1e6:.1f}"
               for n in (0, 1)]
            + [f"{100 * dropped:.1f} %", f"{100 * marked:.1f} %"]
            + [f"{wait_ms[0]:.1f}, {wait_ms[1]:.1f}", f"{100 * sum(prob) / len(prob):.1f} %"]
        )  # fmt: skip
    header = (
        "datagrams", "classic protection", "CUBIC, Mbit/s", "datagrams, Mbit/s", "dropped",
        "marked", "they wait, ms (p50, p99)", "p'",
    )  # fmt: skip
    return markdown_table(header, body)


def settled(run: Any, column: str) -> float:
    """Return the mean of a column of the queue after ten seconds."""
    table = run.tables["queue"].to_pandas()
    return float(table.loc[table["time_us"] > 10e6, column].mean())


if __name__ == "__main__":
    main()
