"""The papers' apparatus: what elements and presets change in a scenario, and nothing else."""

from __future__ import annotations

import hashlib
import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from dumbbell.base.errors import ScenarioError
from dumbbell.scenario import Scenario
from dumbbell_studies.papers import PAPERS, coexistence
from dumbbell_studies.papers.apparatus import ELEMENTS, apply
from dumbbell_studies.papers.apparatus_element import ApparatusElement, Treatment, name_of
from dumbbell_studies.papers.ogino2021 import runs as ogino
from dumbbell_studies.papers.presets import PRESETS, kernel_part, preset_for, with_preset
from dumbbell_studies.papers.saito2022 import runs as saito
from dumbbell_studies.papers.starts import in_turn, later

#: Digests of every plain scenario of a paper with seed 1: presets change none of them.
PLAIN = {
    "ogino2021": "d48919ab6df1e9ff",
    "saito2022": "84f00bb55d356d0a",
    "kakenhi2024": "d44d9dc2afb46dd4",
    "coexistence": "c22955b938dde002",
}
#: Of a scenario under a preset, all that differs from the plain one, by paper.
CHANGES = Path(__file__).with_name("preset_changes.json")
POINTS = {
    "ogino2021": ogino.Point("bbr", 4, 2.0),
    "saito2022": saito.APPARATUS_POINTS[0],
    "coexistence": coexistence.Point(with_cubic=True, buffer_bdp=4.0),
}
ANY = ogino.scenario(ogino.Point("bbr", 1, 2.0), 1)


@pytest.mark.parametrize("name", PAPERS)
def test_the_plain_scenarios_are_what_they_were(name):
    text = "\n".join(scenario.to_json() for _, scenario in PAPERS[name].scenarios([1]))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == PLAIN[name]


def leaves(words: Any, at: str = "") -> dict[str, str]:
    """Return the values of nested words by where they are."""
    if isinstance(words, list):
        words = dict(enumerate(words))
    if not isinstance(words, dict):
        return {at: str(words)}
    found: dict[str, str] = {}
    for key, value in words.items():
        found |= leaves(value, f"{at}.{key}".lstrip("."))
    return found


def changes(name: str) -> dict[str, str]:
    """Return what a paper's preset changes in a scenario of it."""
    preset = preset_for(name)
    assert preset is not None
    paper = with_preset(PAPERS[name], preset.name)
    plain, with_it = (each.scenario(POINTS[name], 1).resolve() for each in (PAPERS[name], paper))
    # saito2022's one group becomes eight; the first two of them are compared with it.
    before = leaves({**plain, "groups": (2 * plain["groups"])[:2]})
    after = leaves({**with_it, "groups": with_it["groups"][:2]})
    keys = sorted(before | after)
    return {key: after.get(key, "–") for key in keys if before.get(key) != after.get(key)}


@pytest.mark.parametrize("name", POINTS)
def test_a_preset_changes_this_and_nothing_else(name):
    assert changes(name) == json.loads(CHANGES.read_text(encoding="utf-8"))[name]


@pytest.mark.parametrize("element", ELEMENTS.values(), ids=list(ELEMENTS))
def test_every_level_of_an_element_changes_some_scenario(element: ApparatusElement):
    assert re.fullmatch("[a-z0-9_]+", element.id)
    assert element.what.endswith(".")
    assert element.source
    assert element.findings
    names = [level.name for level in element.levels]
    assert len(names) == len(set(names))
    many = saito.scenario(saito.Point(64, "100ms"), 1)
    for name in names:
        setup = (Treatment(element.id, name),)
        assert any(apply(setup, plain) != plain for plain in (ANY, many)), name_of(setup)


def test_elements_are_added_in_one_order():
    one, two = Treatment("noise", "20us"), Treatment("rwnd", "16MiB")
    assert apply((one, two), ANY) == apply((two, one), ANY)
    assert apply((), ANY) == ANY
    assert name_of(()) == "plain"
    assert name_of((one, two)) == "noise: 20us + rwnd: 16MiB"


def starts(scenario: Scenario) -> list[tuple[int, str, str]]:
    return [(g.flows, str(g.start), str(g.jitter)) for g in scenario.groups]


def test_late_timers_leave_the_rest_of_tcp():
    """They can be added to any release of Linux, whose other rules stay."""
    late = Treatment("timer_lateness", "50us")
    for setup, tcp in (
        ((late,), "6.18:pacing=timer"),
        ((late, Treatment("tcp_4_15", "whole")), "4.15"),
        ((late, Treatment("tcp_4_12", "whole")), "4.12:pacing=timer"),
    ):
        groups = apply(setup, ANY).groups
        assert {(str(g.tcp), str(g.timer_lateness)) for g in groups} == {(tcp, "50us")}


def test_either_kind_may_start_first():
    setup = (Treatment("order", "BBR first, in turn 50ms apart"),)
    assert [(group.cc.name, str(group.start)) for group in apply(setup, ANY).groups] == [
        ("copa", "50ms"), ("bbr", "0s"),
    ]  # fmt: skip


def test_processes_start_in_turn():
    many = saito.scenario(saito.Point(64, "100ms"), 1)
    assert starts(in_turn(many, "50ms"))[:3] == [
        (8, "0s", "5ms"), (8, "50ms", "5ms"), (8, "100ms", "5ms"),
    ]  # fmt: skip
    assert len(in_turn(many, "50ms").groups) == 8
    assert starts(in_turn(ANY, "50ms")) == [(1, "0s", "5ms"), (1, "50ms", "5ms")]


def test_iperf3_connects_first_and_knows_the_path():
    many = saito.scenario(saito.Point(128, "100ms"), 1)
    last = in_turn(many, "50ms", iperf3=True).groups[-1]
    # 16 flows connect in 16 round trips of 40 ms.
    assert (str(last.start), str(last.cc)) == ("990ms", "copa:rtt_min_known_us=40000")


def test_one_kind_starts_later():
    assert starts(later(ANY, "bbr", "1s")) == [(1, "0s", "100ms"), (1, "1s", "100ms")]


def test_a_preset_is_of_certain_papers():
    with pytest.raises(ScenarioError, match="is that of `coexistence`, not of `ogino2021`"):
        with_preset(PAPERS["ogino2021"], "freebsd-dummynet-2017")
    with pytest.raises(ScenarioError, match="unknown apparatus `mininet`; did you mean"):
        with_preset(PAPERS["ogino2021"], "mininet")
    assert preset_for("kakenhi2024") is None


def test_the_command_line_takes_a_preset(cli, tmp_path):
    outcome = cli("reproduce", "kakenhi2024", "--apparatus", "mininet-2021", "--out", str(tmp_path))
    assert outcome.code == 2
    assert "`mininet-2021` is that of `ogino2021`, `saito2022`" in outcome.err


def test_the_kernel_has_part_of_a_preset():
    """What belongs to a host's TCP and memory is this machine's; links, starts and CCs are not."""
    plain = ogino.scenario(ogino.Point("bbr", 1, 1.0), 1)
    preset = PRESETS["mininet-2021"]
    possible = kernel_part(preset.setup, plain)
    absent = {each.element for each in preset.setup if each not in possible}
    assert absent == {"sndbuf", "tcp_4_15", "timer_lateness"}
    paper = with_preset(PAPERS["ogino2021"], preset.name)
    name = f"{paper.run_name(ogino.Point('bbr', 1, 1.0))}-seed1"
    on_kernel = dict(paper.scenarios([1], engine="kernel"))[name]
    assert on_kernel == apply(possible, plain).replace(name=name)
    assert on_kernel != dict(paper.scenarios([1]))[name]
    assert "without `sndbuf`, `tcp_4_15`, `timer_lateness`" in paper.departures[-1]


def test_the_page_has_every_element_and_preset():
    """`python tools/apparatus_tables.py` writes them."""
    root = Path(__file__).parents[2]
    page = (root / "docs" / "notes" / "apparatus.md").read_text(encoding="utf-8")
    assert page == runpy.run_path(str(root / "tools" / "apparatus_tables.py"))["with_tables"](page)
    for name in (*ELEMENTS, *PRESETS):
        assert f"`{name}`" in page
