"""The whole way of `dumbbell reproduce`, with the paper's runs cut short."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from dumbbell.archive import archive, verify
from dumbbell.figures import frame, save_all
from dumbbell_studies import papers
from dumbbell_studies.papers import PAPERS, reproduce
from dumbbell_studies.papers.conclusion import FindingAttribution
from dumbbell_studies.papers.screening import Screening
from dumbbell_studies.report import write_report, write_site
from tests.python.guests import built

pytestmark = pytest.mark.slow

FIGURES = ["2a", "2b", "3", "4", "5", "6a", "6b", "7", "8", "9", "10", "11", "12"]


@pytest.fixture(scope="module")
def short_paper() -> papers.Paper[Any, Any]:
    paper = PAPERS["ogino2021"]

    return replace(
        paper,
        scenario=lambda point, seed: paper.scenario(point, seed).replace(time="2s", sample="20ms"),
    )


@pytest.fixture
def _few_drawn(monkeypatch):
    """Draw few of the figures: each takes a fifth of a second."""

    def save_few(figures, directory):
        return save_all([each for each in figures if each.name.endswith(("-2a", "-3"))], directory)

    monkeypatch.setattr(sys.modules[reproduce.__module__], "save_all", save_few)


@pytest.fixture
def _no_png(monkeypatch):
    """Write figures as SVGs only, where their names are looked at."""
    whole = frame.write

    def write_svg(canvas, directory, name, formats, dpi):
        return whole(canvas, directory, name, ("svg",), dpi)

    monkeypatch.setattr(frame, "write", write_svg)


@pytest.fixture(scope="module")
def reproduced(short_paper, tmp_path_factory):
    out = tmp_path_factory.mktemp("ogino2021")
    result = reproduce(short_paper, out, seeds=(1,))
    write_report(result, out / "report.html")
    return result, out


def test_writes_runs_figures_and_report(reproduced):
    result, out = reproduced
    assert len(result.runs) == 32
    assert len(list((out / "runs").iterdir())) == 32
    names = sorted(path.name for path in (out / "figures").iterdir())
    assert names == sorted(f"figure-{f}.{suffix}" for f in FIGURES for suffix in ("png", "svg"))
    for path in (out / "figures").glob("*.svg"):
        assert ET.parse(path).getroot().tag.endswith("svg")  # noqa: S314 -- our own file
    for path in (out / "figures").glob("*.png"):
        assert path.read_bytes().startswith(b"\x89PNG")
    assert [figure.name for figure in result.figures] == [f"figure-{f}" for f in FIGURES]
    assert [len(figure.curves) for figure in result.figures if figure.x_ticks] == [2] * 4
    assert [len(figure.curves) for figure in result.figures if not figure.x_ticks] == [8] * 9


def test_findings_are_documented_json(reproduced):
    result, out = reproduced
    document = json.loads((out / "findings.json").read_text())
    assert document == json.loads(json.dumps(result.to_dict()))
    assert [finding["id"] for finding in document["findings"]] == [f"A{i}" for i in range(1, 8)]
    for finding in document["findings"]:
        assert {"id", "statement", "shown", "outcome", "shown_in", "of", "evidence"} <= set(finding)
        assert finding["shown"] is (finding["outcome"] == "shown")
        assert finding["of"] == 1
        assert finding["evidence"]
        for check in finding["checks"]:
            assert {"expected", "seen", "outcome", "held_in", "of"} == set(check)


class Page(HTMLParser):
    """Collects what a browser would fetch, and the plots' data."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.plots: list[str] = []
        self.in_json = False

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.fetched += [
            value
            for name, value in attrs
            if name in ("src", "href") and value and not value.startswith("#")
        ]
        self.in_json = tag == "script" and attributes.get("type") == "application/json"

    def handle_data(self, data):
        if self.in_json:
            self.plots.append(data)
            self.in_json = False


def test_report_needs_no_network_and_has_every_figure(reproduced):
    result, out = reproduced
    text = (out / "report.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    assert page.fetched == []
    assert len(page.plots) == len(FIGURES)
    for plot in page.plots:
        figure = json.loads(plot)
        for curve in figure["curves"]:
            assert len(curve.get("x", figure.get("x"))) == len(curve["y"]) <= 600
    for finding in result.findings:
        assert finding.id in text
    assert len(text) < 3_000_000


@pytest.mark.usefixtures("_few_drawn")
def test_same_seed_same_figures_and_report(short_paper, reproduced, tmp_path):
    result, out = reproduced
    again = reproduce(short_paper, tmp_path, seeds=(1,))
    write_report(again, tmp_path / "report.html")
    assert again.findings == result.findings
    for name in ("report.html", "findings.json", "figures/figure-2a.svg", "figures/figure-3.png"):
        assert (tmp_path / name).read_bytes() == (out / name).read_bytes(), name


@pytest.mark.usefixtures("_few_drawn")
def test_check_exits_with_1_when_a_finding_is_not_shown(
    cli, short_paper: papers.Paper[Any, Any], tmp_path, monkeypatch
):
    monkeypatch.setitem(PAPERS, "ogino2021", replace(short_paper, default_seeds=lambda _: 1))
    outcome = cli("reproduce", "ogino2021", "--out", str(tmp_path))
    assert outcome.code == 0
    for text in ("paper says", "we see", "findings shown", "report.html", "CUBIC (Mbit/s)"):
        assert text in outcome.out

    def with_findings(*, shown: bool) -> papers.Paper[Any, Any]:
        check = papers.ClauseResult("more than 0", "{:.0f}", (0.0,), holds=shown)
        finding = papers.Finding("A1", "something", ((check,),))
        return replace(
            short_paper,
            default_seeds=lambda _: 1,
            findings=lambda _: [finding],
            figures=lambda _: [],
        )

    monkeypatch.setitem(PAPERS, "ogino2021", with_findings(shown=False))
    outcome = cli("reproduce", "ogino2021", "--check", "--out", str(tmp_path))
    assert outcome.code == 1
    assert "expected more than 0; saw 0" in outcome.out
    monkeypatch.setitem(PAPERS, "ogino2021", with_findings(shown=True))
    outcome = cli("reproduce", "ogino2021", "--check", "--json", "--out", str(tmp_path))
    assert outcome.code == 0
    assert json.loads(outcome.out)["findings"][0]["shown"] is True


@pytest.mark.usefixtures("_few_drawn")
def test_seeds_give_means_with_ranges_and_the_first_keeps_its_time_series(short_paper, tmp_path):
    result = reproduce(short_paper, tmp_path / "results", seeds=(3, 4))
    assert len(result.runs) == 64
    assert "–" in result.tables[0].rows[0][1]
    curve = result.figures[0].curves[0]
    assert curve.low is not None
    assert curve.high is not None
    assert (curve.low <= curve.y).all()
    assert (curve.y <= curve.high).all()
    name = short_paper.run_name(short_paper.quick_points[0])
    assert result.runs[f"{name}-seed3"].flows.num_rows > 0
    assert list(result.runs[f"{name}-seed4"].tables) == []
    assert result.runs[f"{name}-seed4"].summary["flows"]
    archive(tmp_path / "results", tmp_path / "results.tar.zst")
    assert verify(tmp_path / "results.tar.zst").is_identical


@pytest.mark.usefixtures("_few_drawn")
def test_quick_runs_fewer_points_of_the_same_and_says_which_are_missing(short_paper, tmp_path):
    result = reproduce(short_paper, tmp_path, quick=True)
    write_report(result, tmp_path / "report.html")
    whole = dict(PAPERS["ogino2021"].scenarios([1]))
    quick = dict(PAPERS["ogino2021"].scenarios([1], quick=True))
    assert set(result.runs) == set(quick) < set(whole)
    assert all(scenario == whole[name] for name, scenario in quick.items())
    assert [finding.id for finding in result.findings] == [f"A{i}" for i in range(1, 8)]
    assert all(finding.checks for finding in result.findings)
    for text in ((tmp_path / "report.html").read_text(), (tmp_path / "findings.json").read_text()):
        assert "bbr n = 4: 1, 4, 8, 32 BDP" in text
    assert "reproduce ogino2021 --quick" in (tmp_path / "report.html").read_text()


@pytest.mark.usefixtures("_few_drawn")
def test_the_kernel_is_next_to_the_simulator(
    cli, short_paper, fabricated_kernel, tmp_path, monkeypatch
):
    monkeypatch.setitem(PAPERS, "ogino2021", short_paper)
    arguments = ("reproduce", "ogino2021", "--engine", "kernel", "--quick", "--out", str(tmp_path))
    outcome = cli(*arguments)
    assert outcome.code == 0, outcome.err
    assert (fabricated_kernel.runs, fabricated_kernel.most) == (17, 1)
    for text in (
        "simulator: ",
        "kernel: ",
        "of 7 findings shown",
        "n = 4: mean throughput per flow",
    ):
        assert text in outcome.out
    assert "17 runs in real time, 1 at a time, take about 1 min\n" in outcome.err
    assert "on the kernel" in outcome.out

    out = tmp_path / "ogino2021-quick"
    assert len(list((out / "runs").iterdir())) == len(list((out / "kernel-runs").iterdir())) == 17
    document = json.loads((out / "findings.json").read_text())
    assert (document["engine"], document["quick"]) == ("kernel", True)
    assert set(document["runs"]) == set(document["kernel_runs"])
    for finding in document["findings"]:
        assert set(finding["kernel"]) == set(finding) - {"id", "statement", "model", "kernel"}
    run = document["kernel_runs"]["copa-bbr-n1-2bdp-seed1"]
    assert (run["engine"], run["emulation"]["cpus"]) == ("kernel", 2)
    assert (out / "figures" / "kernel-figure-2a.svg").is_file()

    text = (out / "report.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    assert page.fetched == []
    assert len(page.plots) == 2 * len(FIGURES)
    assert "dumbbell reproduce ogino2021 --engine kernel --quick" in text


@built
@pytest.mark.usefixtures("_few_drawn")
def test_linux_in_virtual_time_is_next_to_the_simulator(cli, short_paper, tmp_path, monkeypatch):
    monkeypatch.setitem(PAPERS, "ogino2021", short_paper)
    arguments = ("reproduce", "ogino2021", "--engine", "uml", "--quick", "--out", str(tmp_path))
    outcome = cli(*arguments)
    assert outcome.code == 0, outcome.err
    assert "on Linux in virtual time" in outcome.out
    assert "real time" not in outcome.err
    out = tmp_path / "ogino2021-quick"
    document = json.loads((out / "findings.json").read_text())
    assert document["engine"] == "uml"
    assert set(document["runs"]) == set(document["uml_runs"])
    assert all("outcome" in finding["uml"] for finding in document["findings"])
    assert len(list((out / "uml-runs").iterdir())) == 17
    assert (out / "figures" / "uml-figure-2a.svg").is_file()


def test_bbr_on_the_kernel_is_the_papers_bbr():
    for _, scenario in PAPERS["ogino2021"].scenarios([1], quick=True):
        rival = scenario.groups[1].cc
        assert not rival.is_kernels_own
        assert (rival.params != {}) == (rival.name == "bbr")


def test_all_papers_make_one_site(reproduced, tmp_path):
    result, _ = reproduced
    path = write_site([result, result], "dumbbell reproduce", tmp_path / "index.html")
    text = path.read_text(encoding="utf-8")
    assert text.count('<article class="page"') == 3, "the front page and a page per paper"
    assert 'id="front"' in text
    assert 'id="ogino2021-figure-2a"' in text, "anchors of two papers cannot clash"
    assert text.count("/*! https://github.com/leeoniya/uPlot") == 1, "the library is in it once"
    assert "Copyright (c) 2022 Leon Sorokin" in text, "with its licence"
    assert '<span lang="ja">知見</span>' in text
    shown = sum(finding.shown for finding in result.findings)
    assert f"<strong>{2 * shown} / 14</strong>" in text


OVER_TIME = ["3", "4", "5", "7", "8", "9", "10", "11", "12"]


@pytest.mark.usefixtures("_no_png")
def test_capture_draws_the_figures_over_time_from_captures_too_which_agree(
    cli, short_paper, tmp_path, monkeypatch
):
    monkeypatch.setitem(PAPERS, "ogino2021", short_paper)
    results = []

    def keep(*arguments, **options):
        results.append(reproduce(*arguments, **options))
        return results[-1]

    monkeypatch.setattr("dumbbell_studies.cli.reproduce.reproduce", keep)
    outcome = cli("reproduce", "ogino2021", "--capture", "--quick", "--out", str(tmp_path))
    assert outcome.code == 0, outcome.err
    out = tmp_path / "ogino2021-quick"
    assert "from captures at the senders: in " in outcome.out
    drawn = {path.stem for path in (out / "figures").glob("*.svg")}
    assert drawn == {
        *(f"figure-{number}" for number in FIGURES),
        *(f"capture-figure-{number}" for number in OVER_TIME),
        "capture-a5",
    }
    captured = {path.parent.name for path in (out / "runs").glob("*/capture.pcapng")}
    assert captured == {
        name for name, _ in short_paper.scenarios([1], quick=True) if "cubic-n4" not in name
    }
    assert list((out / "runs").glob("*.pcapng")) == []
    text = (out / "report.html").read_text(encoding="utf-8")
    assert "dumbbell reproduce ogino2021 --quick --capture" in text
    document = json.loads((out / "findings.json").read_text())
    assert document["capture"] is True

    figures = results[0].figures
    names = [figure.name for figure in figures]
    for number in OVER_TIME:
        place = names.index(f"figure-{number}")
        assert names[place + 1] == f"capture-figure-{number}"
        engine, capture = figures[place], figures[place + 1]
        assert [curve.label for curve in capture.curves] == [c.label for c in engine.curves]
        if number in ("5", "9", "12"):
            continue
        for ours, own in zip(capture.curves, engine.curves, strict=True):
            # In flight, averaged over the run from its first tenth of a second on.
            mean, its = (float(np.mean(curve.y[curve.x > 0.2])) for curve in (ours, own))
            assert mean == pytest.approx(its, rel=0.05), f"{number} {ours.label}"


def test_without_capture_there_is_none(reproduced):
    result, out = reproduced
    assert list(out.glob("runs/*/capture.pcapng")) == []
    assert not any(figure.name.startswith("capture") for figure in result.figures)
    assert "captures" not in result.findings[4].evidence


def test_the_page_shows_figure_and_answer_before_the_findings_fold(reproduced):
    result, out = reproduced
    text = (out / "report.html").read_text(encoding="utf-8")
    answer = f"<strong>{result.results[0].outcomes['shown']} / 7</strong>"
    places = [text.index(part) for part in (answer, 'id="figure-2a"', '<details class="finding">')]
    assert places == sorted(places)
    assert text.count('<details class="finding">') == 7
    assert text.count('id="figure-2a"') == 1
    assert "One seed, so there are no error bars" in text
    assert '<th><span lang="en">expected</span>' in text


@pytest.mark.long
def test_attribution_says_what_findings_depend_on(cli, tmp_path, monkeypatch):
    paper = PAPERS["coexistence"]
    short = replace(paper, scenario=lambda p, seed: paper.scenario(p, seed).replace(time="2s"))
    monkeypatch.setitem(PAPERS, "coexistence", short)
    outcome = cli("reproduce", "coexistence", "--attribute", "--out", str(tmp_path))
    assert outcome.code == 0, outcome.err
    first = outcome.out.splitlines()[:8]
    assert first[0].startswith("What each finding depends on (3 findings")
    assert any("BBR alone fills the link, whatever the buffer." in line for line in first)
    document = json.loads((tmp_path / "attribution.json").read_text())
    (one,) = document
    assert (one["paper"], one["preset"]) == ("coexistence", "freebsd-dummynet-2017")
    assert [each["finding"] for each in one["findings"]] == ["D1", "D2", "D3"]
    assert {each["id"] for each in one["predictions"]} >= {"D3.small", "D3.timeouts"}
    page = (tmp_path / "attribution.html").read_text()
    for text in ("What each finding depends on", "ooo_limit: 48", "D3.timeouts", "--attribute"):
        assert text in page


@pytest.mark.long
def test_an_interrupted_attribution_is_written_and_continued(cli, tmp_path, monkeypatch):
    """Ctrl-C while D2 is tried: D1 is there, and none of its runs is run again."""
    paper = PAPERS["coexistence"]
    short = replace(paper, scenario=lambda p, seed: paper.scenario(p, seed).replace(time="1s"))
    monkeypatch.setitem(PAPERS, "coexistence", short)
    attribute, known = Screening.attribute, []

    def until_d2(self, finding, on_kernel):
        if finding.id == "D2":
            known.append((self.trials.executed, self.trials.found))
            raise KeyboardInterrupt
        return attribute(self, finding, on_kernel)

    monkeypatch.setattr(Screening, "attribute", until_d2)
    for _ in range(2):
        outcome = cli("reproduce", "coexistence", "--attribute", "--out", str(tmp_path))
        assert outcome.code == 130
        said = " ".join(outcome.err.split())
        assert f"1 findings are in {tmp_path / 'attribution'}.html, the rest is missing" in said
        (one,) = json.loads((tmp_path / "attribution.json").read_text())
        assert [each["finding"] for each in one["findings"]] == ["D1"]
        assert one["unfinished"] == ["D2", "D3"]
        assert "</span> D2, D3</p>" in (tmp_path / "attribution.html").read_text()
    # The preset's, at each of D1's points.
    runs = 10 * len(paper.points)
    assert known == [(runs, 0), (0, runs)]


def test_the_command_writes_what_was_attributed(reproduced, cli, tmp_path, monkeypatch):
    """Without runs of its own; the two tests above, in `make test-all`, have them."""
    result, _ = reproduced
    monkeypatch.setattr("dumbbell_studies.cli.reproduce.reproduce_paper", lambda *_: result)
    interrupted = ["A2"]

    def attribute(_self, finding, on_kernel):
        if finding.id in interrupted:
            raise KeyboardInterrupt
        return FindingAttribution(finding, on_kernel=on_kernel)

    monkeypatch.setattr(Screening, "attribute", attribute)
    command = ("reproduce", "ogino2021", "--attribute", "--out", str(tmp_path))
    outcome = cli(*command)
    assert outcome.code == 130
    said = " ".join(outcome.err.split())
    assert f"1 findings are in {tmp_path / 'attribution'}.html, the rest is missing" in said
    (one,) = json.loads((tmp_path / "attribution.json").read_text())
    assert [each["finding"] for each in one["findings"]] == ["A1"]
    assert one["unfinished"][0] == "A2"
    interrupted.clear()
    outcome = cli(*command)
    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith(f"What each finding depends on ({len(result.findings)} findings")
    (one,) = json.loads((tmp_path / "attribution.json").read_text())
    assert [each["finding"] for each in one["findings"]] == [each.id for each in result.findings]
    assert "What each finding depends on" in (tmp_path / "attribution.html").read_text()


def test_attribution_leaves_out_what_decides_nothing():
    points = PAPERS["saito2022"].deciding.points
    assert {(point.spread, point.flows) for point in points} == {
        (spread, flows) for spread in ("100ms", "400ms") for flows in (16, 32, 64, 128)
    }
    for name in ("ogino2021", "kakenhi2024", "coexistence"):
        assert PAPERS[name].deciding.points == PAPERS[name].points


def test_attribution_is_of_the_whole_plain_set_up(cli, tmp_path):
    for other in (("--quick",), ("--apparatus", "mininet-2021")):
        outcome = cli("reproduce", "ogino2021", "--attribute", *other, "--out", str(tmp_path))
        assert outcome.code == 2
        assert f"`--attribute` cannot be combined with `{other[0]}`" in outcome.err


def test_attribution_needs_ten_seeds(cli, tmp_path):
    """Nine of ten is what its conclusions are made of."""
    for count in ("1", "9"):
        outcome = cli("reproduce", "--attribute", "--seeds", count, "--out", str(tmp_path))
        assert outcome.code == 2
        assert f"`--attribute` needs 10 seeds or more, not {count}" in " ".join(outcome.err.split())
