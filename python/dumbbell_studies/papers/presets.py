"""Presets: the apparatus of a paper as a whole, as far as it is known."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from dumbbell.base.errors import EngineError, ScenarioError, nearest
from dumbbell.run import check_for_kernel
from dumbbell.scenario import Scenario
from dumbbell_studies.papers.apparatus import apply
from dumbbell_studies.papers.apparatus_element import Setup, Treatment
from dumbbell_studies.papers.paper import Paper

__all__ = ["PRESETS", "Preset", "kernel_part", "preset_for", "with_preset"]


@dataclass(frozen=True)
class Preset:
    """A paper's apparatus.

    Attributes
    ----------
    name
        On the command line: ``mininet-2021``.
    what
        What it is, in a sentence.
    papers
        The papers whose apparatus it is.
    setup
        Its elements. What is not known has the value that the source states as the nominal one.
    as_plain
        What of it the plain set-up has already.
    unknown
        What is not known, or not in dumbbell.
    """

    name: str
    what: str
    papers: tuple[str, ...]
    setup: Setup
    as_plain: tuple[str, ...]
    unknown: tuple[str, ...]


ALL = (
    Preset(
        "mininet-2021",
        "Mininet on Linux 4.15.18, with CCP's Copa, of ogino2021 and saito2022.",
        ("ogino2021", "saito2022"),
        (
            Treatment("rwnd", "8MiB"),
            Treatment("sndbuf", "16MiB, tuned"),
            Treatment("noise", "20us"),
            Treatment("starts", "50ms apart"),
            Treatment("tclink_htb", "delay apart"),
            Treatment("tcp_4_15", "whole"),
            Treatment("bbr_4_15", "whole"),
            Treatment("timer_lateness", "20us"),
            Treatment("copa_agent", "on"),
        ),
        (
            "rate, base RTT, buffers and time, as the papers state them",
            "delay apart from the queue's limit, and the limit in bytes",
            "one segment per entry of the queue (`gso` is the other possibility)",
            "no TCP Small Queues: 4.15 orphans packets between namespaces",
        ),
        (
            "starts: 50 ms from process to process is an estimate; Copa first, or BBR (`order`)",
            "noise and late pacing timers: 20 µs is the least of the estimated range",
            "a backlog of 5000 packets per CPU is never full here",
        ),
    ),
    Preset(
        "freebsd-dummynet-2017",
        "Linux 4.12.4 senders and a FreeBSD router with dummynet, of coexistence.",
        ("coexistence",),
        (
            Treatment("dummynet", "on"),
            Treatment("tcp_4_12", "whole"),
            Treatment("bbr_4_12", "with fq"),
            Treatment("receiver_freebsd", "on"),
        ),
        (
            "rate, base RTT, buffers and time, as the paper states them",
            "windows of 100 MB on both sides; only the sender's is stated",
            "segmentation offload at the senders and single packets at the router",
            "all flows start within 0.1 s",
            "an out-of-order limit of the receive buffer over the MSS, which is never reached",
        ),
        (
            "which host ran FreeBSD, and its release: router and receiver are inferred",
            "BBR without fq would be unpaced on 4.12",
            "TCP Small Queues, which hold back the senders there, are not in dumbbell",
        ),
    ),
)

#: Every preset by its name.
PRESETS: dict[str, Preset] = {preset.name: preset for preset in ALL}


def preset_for(paper: str) -> Preset | None:
    """Return the preset that is a paper's apparatus; None if nothing of it is known."""
    return next((preset for preset in ALL if paper in preset.papers), None)


def with_preset(paper: Paper[Any, Any], name: str) -> Paper[Any, Any]:
    """Return a paper with its runs under a preset.

    Raises
    ------
    ScenarioError
        There is no such preset, or it is of other papers.
    """
    if name not in PRESETS:
        raise ScenarioError(f"unknown apparatus `{name}`{nearest(name, PRESETS)}")
    preset = PRESETS[name]
    if paper.name not in preset.papers:
        papers = ", ".join(f"`{each}`" for each in preset.papers)
        own = preset_for(paper.name)
        remedy = "omit `--apparatus`" if own is None else f"use `--apparatus {own.name}`"
        raise ScenarioError(
            f"apparatus `{name}` is that of {papers}, not of `{paper.name}`; {remedy}"
        )
    for_kernel = kernel_part(preset.setup, paper.scenario(paper.points[0], 1))
    absent = ", ".join(f"`{each.element}`" for each in preset.setup if each not in for_kernel)
    on_kernel = f"On the kernel without {absent}, which only simulated hosts have."
    return dataclasses.replace(
        paper,
        apparatus=name,
        points=paper.apparatus_points or paper.points,
        quick_points=paper.apparatus_points or paper.quick_points,
        scenario=lambda point, seed: apply(preset.setup, paper.scenario(point, seed)),
        kernel_scenario=lambda point, seed: apply(for_kernel, paper.scenario(point, seed)),
        setup=(*paper.setup, ("Apparatus", f"{preset.name}: {describe(preset)}")),
        departures=(
            *paper.departures,
            *(f"Apparatus: {text}." for text in preset.unknown),
            *([on_kernel] if absent else []),
        ),
    )


def kernel_part(setup: Setup, plain: Scenario) -> Setup:
    """Return those elements of a set-up that the kernel engine can add to a scenario."""

    def is_possible(treatment: Treatment) -> bool:
        try:
            check_for_kernel(apply((treatment,), plain))
        except EngineError:
            return False
        return True

    return tuple(filter(is_possible, setup))


def describe(preset: Preset) -> str:
    """List what a preset adds to the plain set-up."""
    return "; ".join(map(str, preset.setup)) or "what dumbbell has of it is the plain set-up"
