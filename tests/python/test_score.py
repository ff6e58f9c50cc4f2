"""Scores: the rules on made-up values, a small board end to end, and what is worth nothing."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from dumbbell.base.errors import EngineError, GateError, PrivilegeError
from dumbbell.congestion_control import CongestionControlChoice, congestion_controls
from dumbbell.congestion_control.linux_tree import use_linux_tree
from dumbbell.run import Run
from dumbbell.run.verdict import INVALID, Reason, Verdict
from dumbbell.scenario import Scenario
from dumbbell.statistics import jackknife_interval, mean_interval
from dumbbell_studies.cli.score import default_controls
from dumbbell_studies.report.score_page import render_league
from dumbbell_studies.score import (
    Board,
    Bound,
    Category,
    ControlScore,
    League,
    ScoreCurve,
    find_board,
    read_board,
    score_board,
)
from dumbbell_studies.score.aggregate import category_score, overall_score
from dumbbell_studies.score.control import CellScore, MetricScore
from dumbbell_studies.score.draw import Range
from dumbbell_studies.score.league import Place, failed
from dumbbell_studies.score.oracle import oracle_of
from dumbbell_studies.score.text import limit_lines, mean_text
from tests.python.conftest import Outcome

HOSTILE = Path(__file__).parents[1] / "data/hostile/hostile.bpf.c"
SMALL = """\
title = "a small one"
rate = "10mbit"
time = "4s"
sample = "20ms"

[[category]]
name = "alone"
title = "Alone"
why = "Is the link full?"
warmup = "1s"
score = { utilization = { good = "95%", bad = "50%", why = "it is alone" } }
draw = { rate = "5mbit..20mbit", flows = "1..3" }

[[category.case]]
name = "buffers"
axes = { buffer = "1bdp,4bdp" }
score = { queue_delay_p95_us = { good = "5ms", bad = "80ms", scale = "log" } }

[[category.case.group]]
cc = "{cc}"

[[category]]
name = "beside"
weight = 2

[category.score]
fair_share_ratio = { good = "0.8..1.25", bad = "0.2..5", scale = "log" }

[[category.case]]
name = "cubic"
kernel = true

[[category.case.group]]
cc = "{cc}"
jitter = "0s"

[[category.case.group]]
cc = "cubic"
jitter = "0s"
"""

#: How `SMALL` draws cells.
DRAW = 'draw = { rate = "5mbit..20mbit", flows = "1..3" }'


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


# --- the rules, on made-up values


def test_a_score_falls_from_its_bound_to_its_bad_end():
    utilization = Bound.parse("utilization", {"good": "99%", "bad": "80%"}).scale
    assert [utilization.score(x) for x in (1.0, 0.99, 0.895, 0.80, 0.1)] == [
        1, 1, pytest.approx(0.5), 0, 0,
    ]  # fmt: skip
    delay = Bound.parse("queue_delay_mean_us", {"good": "5ms", "bad": "80ms", "scale": "log"})
    assert [delay.scale.score(ms * 1e3) for ms in (0, 5, 10, 20, 80, 900)] == [
        1, 1, pytest.approx(0.75), pytest.approx(0.5), pytest.approx(0, abs=1e-12), 0,
    ]  # fmt: skip


def test_a_share_may_be_too_small_and_too_large():
    share = Bound.parse("fair_share_ratio", {"good": "0.8..1.25", "bad": "0.2..5", "scale": "log"})
    assert [share.scale.score(x) for x in (0, 0.2, 0.8, 1, 1.25, 5, 50)] == [
        0, pytest.approx(0, abs=1e-12), 1, 1, 1, pytest.approx(0, abs=1e-12), 0,
    ]  # fmt: skip
    assert share.scale.score(0.4) == pytest.approx(share.scale.score(2.5)) == pytest.approx(0.5)
    assert share.words == "0.8 to 1.25, 0 from 0.2 and 5"


def test_what_has_no_value_scores_nothing():
    assert ScoreCurve.one_sided(3.0, 38.0).score(None) == 0
    assert ScoreCurve.one_sided(3.0, 38.0).score(float("nan")) == 0


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"good": "5ms"}, "the bound has no `bad`"),
        ({"good": "5ms", "bad": "80ms", "scale": "root"}, "unknown scale `root`"),
        ({"good": "5ms", "bad": "5ms"}, "use different ends"),
        ({"good": "1ms..2ms", "bad": "80ms"}, "must both have one end, or both two"),
        ({"good": "1ms..9ms", "bad": "2ms..8ms"}, "outside of the good ones"),
        ({"good": "0ms", "bad": "80ms", "scale": "log"}, "a logarithmic scale has no 0"),
        ({"good": "5bdp", "bad": "80ms"}, "5bdp"),
        ({"good": True, "bad": "80ms"}, "is not a value"),
        ({"good": "5ms", "bad": "80ms", "weight": 2}, "unknown key `weight` in a bound"),
    ],
)
def test_a_mistake_in_a_bound_is_said(table: dict[str, object], message: str):
    with pytest.raises(GateError, match=message):
        Bound.parse("queue_delay_mean_us", table)


def test_delay_cannot_buy_throughput_and_no_cell_can_be_given_up():
    assert category_score([1, 1, 1, 0.2], [1, 1, 1, 1], worst_share=0.5) == pytest.approx(0.5)
    assert category_score([1, 0.2], [3, 1], worst_share=0) == pytest.approx(0.8)
    # A hopeless category is worth the floor, and cannot be averaged away.
    assert overall_score([1, 1, 1, 0], [1, 1, 1, 1], floor=0.02) == pytest.approx(0.02**0.25)
    assert overall_score([1, 0.25], [1, 3], floor=0.02) == pytest.approx(0.25**0.75)


def cell(*per_metric: tuple[float | None, ...], problems: tuple[str, ...] | None = None):
    """A cell of two metrics: a link's use, 1 at 100 % and 0 at 0 %, and Jain's index."""
    case = find_board("ideal").categories[0].cases[0]
    names = ("utilization", "jain")
    metrics = tuple(
        MetricScore(Bound.parse(name, {"good": 1, "bad": 0}), values)
        for name, values in zip(names, per_metric, strict=False)
    )
    return CellScore(case, "all", metrics, problems or ("",) * len(per_metric[0]))


def test_a_cell_scores_what_its_worst_metric_does_in_each_seed():
    found = cell((1.0, 0.4), (0.2, 1.0))
    assert found.scores == (0.2, 0.4)
    assert found.score == pytest.approx(0.3)
    assert found.limited_by is found.metrics[1]
    assert cell((1.0, 1.0), (1.0, 1.0)).limited_by is None


def test_a_run_that_is_worth_nothing_scores_nothing_and_says_why():
    found = cell((1.0, 1.0), (1.0, None), problems=("", "failed: divided by zero"))
    assert found.scores == (1.0, 0.0)
    assert found.problem == "1 of 2 runs: failed: divided by zero"


def control_of(scores: dict[str, list[tuple[float, ...]]], **named: str) -> ControlScore:
    """A control with made-up scores of each cell and seed, by category."""
    case = find_board("ideal").categories[0].cases[0]
    categories = tuple(Category(name, name, "", (case,) * len(of)) for name, of in scores.items())
    board = Board("made-up", "", "", categories, floor=0.02, worst_share=0.5)
    cells = {name: tuple(cell(values) for values in of) for name, of in scores.items()}
    return ControlScore(board, named.get("cc", "reno"), "", cells, named.get("disqualified", ""))


def test_seeds_are_averaged_before_the_worst_cell_is_looked_for():
    control = control_of({"a": [(1.0, 0.0), (0.0, 1.0)], "b": [(1.0, 1.0)]})
    assert control.categories == {"a": 0.5, "b": 1.0}
    assert control.overall == pytest.approx(0.5**0.5)


def test_an_interval_is_of_the_seeds_and_within_0_and_1():
    alike = control_of({"a": [(0.5, 0.5, 0.5)]})
    assert alike.interval.half_width == 0
    differing = control_of({"a": [(0.9, 0.5, 0.1)], "b": [(1.0, 1.0, 1.0)]})
    assert 0 <= differing.interval.low < differing.overall < differing.interval.high <= 1
    assert not control_of({"a": [(0.5,)]}).interval.bounded


def test_the_jackknife_of_a_mean_is_students_interval():
    values = [0.3, 0.5, 0.45, 0.7]
    found = jackknife_interval(lambda at: sum(values[i] for i in at) / len(at), len(values))
    expected = mean_interval(values)
    assert found.low == pytest.approx(expected.low)
    assert found.high == pytest.approx(expected.high)
    assert not jackknife_interval(lambda _: 1.0, 1).bounded
    assert jackknife_interval(lambda _: 1.0, 3).half_width == 0


def test_what_limits_a_control_is_said_in_words():
    control = control_of({"a": [(1.0, 1.0), (0.25, 0.25)], "b": [(1.0, 1.0)]})
    assert limit_lines(control) == ["a 0.44 (100mbit: utilisation is 25 %)"]
    assert limit_lines(control_of({"b": [(1.0,)]})) == ["nothing: every bound is met"]


def test_a_mean_says_how_many_values_are_missing():
    metric = cell((0.5, None, None)).metrics[0]
    assert mean_text(metric) == "50 % (2 of 3 without a value)"
    assert mean_text(cell((None,)).metrics[0]) == "–"


def test_an_oracle_is_not_ranked():
    assert "rtt_min_known_us=40000" in oracle_of(
        CongestionControlChoice.parse("copa:rtt_min_known_us=40000")
    )
    assert not oracle_of(CongestionControlChoice.parse("copa"))
    honest = control_of({"a": [(0.1,)]}, cc="reno")
    oracle = control_of({"a": [(1.0,)]}, cc="copa", disqualified="it knows")
    league = League(honest.board, (oracle, honest), (1,), "simulator")
    assert [each.cc for each in league.ranking] == ["reno", "copa"]
    assert oracle.overall == 0


# --- a small board, end to end


def test_a_small_board_is_scored_and_written(
    cli: Callable[..., Outcome], small: Path, tmp_path: Path
):
    options = ("score", "cubic", "reno", "--board", str(small), "--seeds", "2")
    outcome = cli(*options, "--out", str(tmp_path / "first"))
    assert outcome.code == 0, outcome.err
    for text in ("overall", "alone", "beside", "3 cells in 2 categories, 2 seeds from 1"):
        assert text in outcome.out
    document = json.loads((tmp_path / "first/score.json").read_text())
    by_name = {each["cc"]: each for each in document["controls"]}
    assert set(by_name) == {"cubic", "reno"}
    cubic = by_name["cubic"]
    assert cubic["categories"]["beside"]["score"] == 1.0
    assert [each["cell"] for each in cubic["cells"]] == ["buffer=1bdp", "buffer=4bdp", "all"]
    for found in cubic["cells"]:
        scores = [metric["score"] for metric in found["metrics"]]
        assert found["score"] <= min(scores) + 1e-12
    # CUBIC fills four times as deep a buffer: its delay limits it there.
    assert cubic["cells"][1]["limited_by"] == "queue_delay_p95_us"
    assert cubic["cells"][1]["score"] < cubic["cells"][0]["score"]
    page = (tmp_path / "first/report.html").read_text()
    for text in ("it is alone", "Is the link full?", "cubic", "reno", "&lt;= 5 ms, 0 from 80 ms"):
        assert text in page


def test_the_same_bytes_come_again_from_the_cache_without_it_and_on_one_core(
    cli: Callable[..., Outcome], small: Path, tmp_path: Path
):
    options = ("score", "cubic", "reno", "--board", str(small), "--seeds", "2")
    ways = {"cache": (), "again": (), "fresh": ("--no-cache",), "one": ("--jobs", "1")}
    for name, extra in ways.items():
        assert cli(*options, *extra, "--out", str(tmp_path / name)).code == 0
    for file in ("score.json", "report.html"):
        assert len({(tmp_path / name / file).read_bytes() for name in ways}) == 1


def test_a_second_call_takes_every_run_from_the_cache(small: Path, tmp_path: Path):
    found = []
    for _ in range(2):
        score_board(
            read_board(small), ["reno"], seeds=[1], cache=tmp_path / "cache",
            on_progress=lambda progress: found.append(progress.cached),
        )  # fmt: skip
    assert found[-1] == 3


def test_a_run_that_fails_or_is_invalid_scores_0_with_its_reason(
    small: Path, monkeypatch: pytest.MonkeyPatch
):
    board = read_board(small)
    league = score_board(board, [f"{HOSTILE}:deed=1", "reno"], seeds=[1], cache=False)
    crashed, reno = league.controls
    for cells in crashed.cells.values():
        for found in cells:
            assert found.score == 0
            assert "divided by zero" in found.problem
    assert crashed.overall == pytest.approx(0.02)
    assert reno.overall > crashed.overall
    (line,) = limit_lines(crashed)
    assert line.startswith("no category has a good run (")
    assert "divided by zero" in render_league(league)

    bad = Verdict((Reason(INVALID, "conservation", "a packet is gone"),))
    monkeypatch.setattr(Run, "verdict", bad)
    (invalid,) = score_board(board, ["reno"], seeds=[1], cache=False).controls
    assert invalid.overall == pytest.approx(0.02)
    assert invalid.cells["alone"][0].problem == "1 of 1 runs: INVALID: a packet is gone"


def test_a_missing_privilege_is_no_score():
    """The command line enters a user namespace then, and begins again."""
    place = Place("reno", "alone", "buffers", "all", 1)
    assert failed(place, EngineError("it crashed")).problem == "failed: it crashed"
    with pytest.raises(PrivilegeError):
        failed(place, PrivilegeError("needs root"))


def test_what_is_no_congestion_control_is_an_error_and_not_a_score(
    cli: Callable[..., Outcome], small: Path
):
    outcome = cli("score", "cubik", "--board", str(small))
    assert outcome.code == 2
    assert "did you mean `cubic`?" in outcome.err


def test_drawn_cells_depend_on_their_seed_alone(small: Path):
    board = read_board(small)

    def labels(count: int, seed: int) -> list[str]:
        drawn = board.with_drawn_cells(count, seed)
        assert [each.name for each in drawn.categories] == ["alone"]
        return [label for case in drawn.categories[0].cases for label, _ in case.cells("reno")]

    assert labels(5, 1) == labels(5, 1)
    assert labels(3, 1) == labels(5, 1)[:3]
    assert labels(5, 1) != labels(5, 2)
    for case in board.with_drawn_cells(50, 1).categories[0].cases:
        ((_, scenario),) = case.cells("reno")
        assert 5e6 <= int(scenario.links[0].rate) <= 20e6
        assert 1 <= scenario.groups[0].flows <= 3


def test_drawn_cells_are_scored_and_said(cli: Callable[..., Outcome], small: Path):
    outcome = cli("score", "reno", "--board", str(small), "--seeds", "1", "--draw", "2",
                  "--draw-seed", "7", "--json")  # fmt: skip
    assert outcome.code == 0, outcome.err
    document = json.loads(outcome.out)
    assert document["board"]["drawn"] == {"count": 2, "seed": 7}
    assert [each["case"] for each in document["controls"][0]["cells"]] == ["drawn-1", "drawn-2"]


def drawn_scenarios(
    small: Path, draw: str, count: int, seed: int = 1
) -> list[tuple[str, Scenario]]:
    """The drawn cells of a board whose category `alone` has another draw."""
    assert SMALL.count(DRAW) == 1
    small.write_text(SMALL.replace(DRAW, draw), encoding="utf-8")
    drawn = read_board(small).with_drawn_cells(count, seed)
    return [(case.name, case.cells("reno")[0][1]) for case in drawn.categories[0].cases]


def test_ranges_within_a_text_are_drawn_and_repeated_by_name(small: Path):
    jitter = 'impair = "jitter:delay={half=10ms..40ms},uniform={half}", rtt = "{half}"'
    steps = 'rate_steps = "1s:{2mbit..4mbit}, 2s:8mbit"'
    scenarios = drawn_scenarios(small, f"draw = {{ {jitter}, {steps} }}", 20)
    halves = set()
    for _, scenario in scenarios:
        half = str(scenario.rtt)
        assert str(scenario.links[0].impair) == f"jitter:delay={half},uniform={half}"
        assert 10_000_000 <= int(scenario.rtt) <= 40_000_000
        first, second = str(scenario.links[0].rate_steps).split(", ")
        assert 2 <= float(first.removeprefix("1s:").removesuffix("mbit")) <= 4
        assert second == "2s:8mbit"
        halves.add(half)
    assert len(halves) > 10


def test_several_draws_take_turns_and_are_named(small: Path):
    draws = """draw = [{ flows = "2..3" }, { name = "more", flows = "5..6" }]"""
    first, second, third = drawn_scenarios(small, draws, 3)
    assert {first[0], second[0]} in ({"drawn-1-buffers", "drawn-2-more"},
                                     {"drawn-1-more", "drawn-2-buffers"})  # fmt: skip
    assert third[0] == first[0].replace("1", "3")
    for name, scenario in (first, second, third):
        assert scenario.groups[0].flows in ((5, 6) if name.endswith("more") else (2, 3))
    begin = {drawn_scenarios(small, draws, 1, seed)[0][0] for seed in range(20)}
    assert begin == {"drawn-1-buffers", "drawn-1-more"}


def test_a_drawn_series_is_listed_but_not_in_the_label(cli: Callable[..., Outcome], small: Path):
    steps = ", ".join(f"{n * 100}ms:{{5mbit..20mbit}}" for n in range(1, 20))
    draw = f'draw = {{ rate_steps = "{steps}", flows = "1..3" }}'
    ((_, scenario),) = drawn_scenarios(small, draw, 1)
    outcome = cli("score", "--list", "--draw", "1", "--board", str(small))
    assert f"drawn-1 [flows={scenario.groups[0].flows}]\n    rate_steps = 100ms:" in outcome.out


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        ('rtt = "{late}"', "`rtt` repeats `{late}`, which is not drawn before"),
        ('rtt = "{1ms..2ms"', "`rtt` has a brace without its range"),
        ('rtt = "{2ms..1ms}"', "the first end of `2ms..1ms` must be above 0 and below"),
        ('rtt = "{1ms..2s}"', "both ends of `1ms..2s` need the same unit"),
        ('case = "bufers", rtt = "1ms..2ms"', "no case `bufers`; did you mean `buffers`"),
        ('"0.jitter" = "{1ms..2ms}' + 60 * " " + '"', "only a field of the scenario or of a link"),
    ],
)
def test_a_mistake_in_a_draw_is_said(small: Path, draw: str, message: str):
    small.write_text(SMALL.replace(DRAW, f"draw = {{ {draw} }}"), encoding="utf-8")
    with pytest.raises(GateError, match=re.escape(message)):
        read_board(small)


def test_all_built_in_ones_are_scored_by_default_and_those_of_a_tree(tmp_path: Path):
    assert default_controls("simulator") == list(congestion_controls())
    sources = tmp_path / "net/ipv4"
    sources.mkdir(parents=True)
    (sources / "tcp_mine.c").write_text("tcp_register_congestion_control(&mine);")
    use_linux_tree(tmp_path)
    try:
        named = default_controls("simulator")
    finally:
        use_linux_tree(None)
    assert named == [*congestion_controls(), str(sources / "tcp_mine.c")]


# --- boards as files


@pytest.mark.parametrize(
    ("before", "after", "at", "message"),
    [
        ("weight = 2", "weight = 0", "weight = 0", "weight is 0; use one above 0"),
        ('name = "beside"', 'name = "alone"', None, "two are named `alone`"),
        ("fair_share_ratio", "fair_shares", "fair_shares", "unknown metric `fair_shares`"),
        ("kernel = true", "kernel = 3", "kernel", "kernel must be true, or a table of axes"),
        ('"5mbit..20mbit"', '"5mbit"', "draw", "`rate` cannot be drawn from `5mbit`"),
        ('bad = "0.2..5"', 'bad = "5"', "fair_share", "good and bad must both have one end"),
        ('warmup = "1s"', 'warmup = "9s"', "time =", "leaves nothing of a run of"),
        (
            'cc = "{cc}"\njitter',
            'cc = "reno"\njitter',
            '[[category.case]]\nname = "cubic"',
            "no group",
        ),
    ],
)
def test_a_mistake_in_a_board_names_its_line(
    small: Path, before: str, after: str, at: str | None, message: str
):
    assert SMALL.count(before) == 1
    text = SMALL.replace(before, after)
    small.write_text(text, encoding="utf-8")
    with pytest.raises(GateError) as raised:
        read_board(small)
    assert message in str(raised.value)
    # A key is on its line; what has none is said of its category or case.
    start = text.index(at) if at else text.rindex("[[category", 0, SMALL.index(before))
    line = text[:start].count("\n") + 1
    if "two are" in message:
        line += 1  # its name is
    assert str(raised.value).startswith(f"{small}:{line}: ")


def test_categories_and_cases_are_chosen_by_name(small: Path):
    board = read_board(small)
    assert [each.name for each in board.only(["beside"]).categories] == ["beside"]
    assert [each.name for each in board.of_cases("buff").categories] == ["alone"]
    assert [each.name for each in board.on_the_kernel().categories] == ["beside"]
    with pytest.raises(GateError, match="no category `besid`; did you mean `beside`"):
        board.only(["besid"])
    with pytest.raises(GateError, match="no case `x`"):
        board.of_cases("x")
    undrawable = replace(board.only(["beside"]))
    with pytest.raises(GateError, match="no cells can be drawn of `beside`"):
        undrawable.with_drawn_cells(1, 1)


def test_the_ideal_board_gives_a_reason_for_every_bound_and_takes_anything():
    board = find_board("ideal")
    assert len(board.categories) == 20
    for category in board.categories:
        assert category.title
        assert category.why
        for case in category.cases:
            for bound in case.bounds:
                assert bound.why, f"{category.name} {case.name}: {bound.measure}"
            for _, scenario in case.cells("copa:mode_window_rtts=5"):
                assert any(group.cc.name == "copa" for group in scenario.groups)
    core = board.only(["core"])
    assert [each.name for each in core.categories] == [
        "own", "shallow", "cubic", "bbr", "late", "rtt", "loss", "change", "return", "start",
        "short",
    ]  # fmt: skip
    assert core.cell_count == 66
    assert {each.name for each in board.on_the_kernel().categories} == {
        "own", "cubic", "bbr", "late", "rtt",
    }  # fmt: skip


def test_every_category_of_the_ideal_board_can_be_drawn_within_its_ranges():
    board = find_board("ideal")
    for seed in range(10):
        drawn = board.with_drawn_cells(5, seed)
        assert [each.name for each in drawn.categories] == [each.name for each in board.categories]
        assert drawn.with_drawn_cells(5, seed) == drawn
        for category in drawn.categories:
            for case in category.cases:
                case.check()
                assert case.bounds, case.name
    ranges = {
        (category.name, name): each
        for category in board.categories
        for draw in category.draws
        for name, each in draw.fields.items()
        if isinstance(each, Range)
    }
    assert len(ranges) > 40
    chance = Random(1)  # noqa: S311 -- no secret
    for each in ranges.values():
        for _ in range(50):
            value = each.value(chance).removesuffix(each.unit)
            # Three digits may round an end of a range outwards.
            assert each.low * 0.995 <= float(value) <= each.high * 1.005


@pytest.mark.slow
def test_every_bound_of_the_ideal_board_measures_something():
    """A metric without a value would score everybody 0: only what never happens has none."""
    (cubic,) = score_board(find_board("ideal"), ["cubic"], seeds=[1], cache=False).controls
    missing = {
        f"{cell.case.category} {metric.bound.measure.metric.name}"
        for cells in cubic.cells.values()
        for cell in cells
        for metric in cell.metrics
        if metric.mean is None
    }
    # CUBIC's queue does not return, and four beside four do not converge within the run.
    assert missing <= {
        "return queue_return_time_s", "guests queue_return_time_s", "late convergence_time_s",
    }  # fmt: skip


# --- the page of the guide


def test_the_guide_has_a_table_of_the_board():
    root = Path(__file__).parents[2]
    page = (root / "docs" / "score.md").read_text(encoding="utf-8")
    assert "{include} _generated/tables/board_ideal.md" in page
    names = runpy.run_path(str(root / "tools" / "score_tables.py"))
    table = names["board_table"]("ideal")
    assert table.count("\n| `") == len(find_board("ideal").categories)


def test_the_example_of_a_board_in_the_guide_is_one(tmp_path: Path):
    docs = Path(__file__).parents[2] / "docs"
    page = (docs / "score.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    path = tmp_path / "guide.toml"
    path.write_text(text, encoding="utf-8")
    board = read_board(path)
    assert board.cell_count == 3
    beside = board.categories[0].cases[1]
    assert [bound.measure.metric.name for bound in beside.bounds] == [
        "utilization", "queue_return_time_s", "fair_share_ratio",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["league", "drawn"])
def test_a_table_of_scores_in_the_notes_is_that_of_its_data(name: str):
    """`python tools/score_tables.py` makes it so."""
    root = Path(__file__).parents[2]
    names = runpy.run_path(str(root / "tools" / "score_tables.py"))
    file, table = names["TABLES"][name]
    page = (root / "docs" / "notes" / file).read_text(encoding="utf-8")
    written = table(names["load"](name))
    assert names["with_table"](page, name, written) == page
    assert written in page
    assert written.count("\n| `") == 20
