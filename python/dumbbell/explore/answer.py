"""What a run shows, in a few sentences: who got what, what waited, and whether to believe it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell.base.quantities.significant import significant
from dumbbell.compare.answers import run_answers
from dumbbell.metrics import METRICS
from dumbbell.plots import group_labels
from dumbbell.report.language import japanese
from dumbbell.run import Run
from dumbbell.run.verdict import INVALID, OK

__all__ = ["answer_of"]

#: Goodputs per flow that differ by less than this factor are about equal.
ABOUT_EQUAL = 1.1
#: A factor above this is said as what is left of the other.
MOST_TIMES = 100


@dataclass(frozen=True)
class Got:
    """What a group got: its name, goodput of a flow in Mbit/s, its share, and its flows."""

    label: str
    mbps: float
    share: float | None
    flows: int


def answer_of(run: Run) -> dict[str, str]:
    """Say what a run shows, in English and in Japanese."""
    labels = group_labels(run.scenario)
    got = [
        Got(label, group["goodput_per_flow_bps"] / 1e6, group["share"], group["flows"])
        for label, group in zip(labels, run.groups, strict=True)
    ]
    is_contest = all(group.traffic.is_bulk and group.size is None for group in run.scenario.groups)
    is_contest &= run.scenario.is_dumbbell
    judged = judgements(run)
    sentences = [*distrust(run), *(judged or [who(got, is_contest=is_contest)]), waiting(run)]
    return {language: " ".join(each[language] for each in sentences) for language in ("en", "ja")}


def judgements(run: Run) -> list[dict[str, str]]:
    """Say how each group did by the metric that the scenario names for it; nothing without any."""
    found = []
    for answer in run_answers(run):
        title = METRICS[answer.metric].title
        translated = answer.text.replace(title, japanese().get(title, title))
        found.append(
            {"en": f"{answer.name}: {answer.text}.", "ja": f"{answer.name}：{translated}．"}
        )
    return found


def distrust(run: Run) -> list[dict[str, str]]:
    """Say that a run cannot be used, or what to know of it; nothing if it is OK."""
    verdict = run.verdict
    if verdict.status == OK:
        return []
    message = verdict.reasons[0].message
    if verdict.status == INVALID:
        return [
            {
                "en": f"Do not use this run: {message}.",
                "ja": f"この実行の結果は使えません：{message}．",
            }
        ]
    return [{"en": f"Mind: {message}.", "ja": f"注意：{message}．"}]


def who(got: Sequence[Got], *, is_contest: bool) -> dict[str, str]:
    """Say what each group got, and who got most if all of them wanted all they could get."""
    if len(got) == 1:
        only = got[0]
        each = (" for each flow", "（1 フローあたり）") if only.flows > 1 else ("", "")
        rate = significant(only.mbps)
        return {
            "en": f"{only.label} gets {rate} Mbit/s{each[0]}.",
            "ja": f"{only.label} のグッドプットは {rate} Mbit/s です{each[1]}．",
        }
    order = sorted(got, key=lambda each: -each.mbps)
    if not is_contest:
        rates = ", ".join(f"{each.label} {significant(each.mbps)}" for each in got)
        return {
            "en": f"Goodput per flow, Mbit/s: {rates}.",
            "ja": f"フローあたりのグッドプット（Mbit/s）：{rates}．",
        }
    first, last = order[0], order[-1]
    if first.mbps < ABOUT_EQUAL * last.mbps:
        rates = ", ".join(f"{each.label} {significant(each.mbps)}" for each in order)
        return {
            "en": f"They share about equally; Mbit/s per flow: {rates}.",
            "ja": f"ほぼ均等に分け合っています．フローあたり（Mbit/s）：{rates}．",
        }
    share = "" if first.share is None else f"{100 * first.share:.0f} %"
    times = "" if last.mbps * MOST_TIMES < first.mbps else significant(first.mbps / last.mbps, 2)
    rates = ", ".join(f"{each.label} {significant(each.mbps)}" for each in order)
    factor_en = (
        f", {times} times as much a flow as {last.label}" if times else f"; {last.label} starves"
    )
    factor_ja = (
        f"（1 フローあたり {last.label} の {times} 倍）"
        if times
        else f"（{last.label} はほとんど送れていません）"
    )
    return {
        "en": f"{first.label} wins: {share} of the goodput{factor_en}. Mbit/s per flow: {rates}.",
        "ja": f"{first.label} が優勢：グッドプットの {share}{factor_ja}．"
        f"フローあたり（Mbit/s）：{rates}．",
    }


def waiting(run: Run) -> dict[str, str]:
    """Say how long packets wait at the bottleneck, how many are dropped, and how full it is."""
    link: Any = run.bottleneck
    mean_ms, p95_ms = link["queue_delay_mean_us"] / 1e3, link["queue_delay_p95_us"] / 1e3
    dropped = 100 * link["dropped_pkts"] / link["offered_pkts"] if link["offered_pkts"] else 0.0
    used = 100 * link["utilization"]
    several = len(run.links) > 1
    at_en, at_ja = (f" at {link['name']}", f" {link['name']} の") if several else ("", "")
    wait, most = significant(mean_ms), significant(p95_ms)
    lost = f"{dropped:.2g}"
    return {
        "en": f"Packets wait {wait} ms in the queue{at_en} (95th percentile {most} ms), {lost} % "
        f"are dropped, and the link is {used:.0f} % used.",
        "ja": f"パケットは{at_ja}キューで平均 {wait} ms 待ち（95 パーセンタイル {most} ms），"
        f"{lost} % が廃棄され，リンク使用率は {used:.0f} % です．",
    }
