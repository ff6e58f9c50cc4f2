"""The gate: record, compare, fail on what became worse and on nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from junitparser import Error, Failure, JUnitXml, Skipped

from dumbbell.cli.gate import print_cases
from dumbbell.gate import (
    Change,
    SuiteResult,
    evaluate,
    find_suite,
    load_baseline,
    read_suite,
    run_suite,
    save_baseline,
)
from dumbbell.gate.baseline import moved_cc, shown_cc
from dumbbell.gate.case import Observed
from dumbbell.gate.markdown import plain
from dumbbell.gate.text import CHANGE_COLUMNS, outline
from tests.python import mutations
from tests.python.conftest import Outcome

Cli = Callable[..., Outcome]

QUICK = """\
reps = 5
rate = "20mbit"
rtt = "20ms"
time = "6s"
sample = "0s"

[judge]
goodput_bps = "5%"
"others.goodput_bps" = "5%"
queue_delay_mean_us = "5% + 1ms"
retransmission_rate = "5% + 0.001"

[[case]]
name = "alone"
axes = { buffer = "1bdp,4bdp" }
require = ["utilization >= 80%"]

[[case.group]]
cc = "{cc}"

[[case]]
name = "beside"
buffer = "2bdp"

[[case.group]]
cc = "{cc}"

[[case.group]]
cc = "reno"

[[case]]
name = "lossy"
needs = "reordering on the path"
"""


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of three cells and one that cannot be run."""
    path = tmp_path_factory.mktemp("suite") / "quick.toml"
    path.write_text(QUICK, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def recorded(quick: Path) -> SuiteResult:
    return run_suite(read_suite(quick), "cubic")


@pytest.fixture
def baseline(recorded: SuiteResult, tmp_path: Path) -> Path:
    save_baseline(recorded, tmp_path / "baseline")
    return tmp_path / "baseline"


def test_an_unchanged_one_gives_the_same_results(cli: Cli, quick: Path, tmp_path: Path) -> None:
    stored = tmp_path / "baseline"
    outcome = cli("gate", str(quick), "--cc", "cubic", "--record", str(stored))
    assert outcome.code == 0, outcome.out
    outcome = cli("gate", str(stored))
    assert outcome.code == 0
    assert "the same results" in outcome.out
    assert "skipped lossy: needs reordering on the path" in outcome.out


def test_without_a_baseline_and_criteria_it_says_that_nothing_is_compared(
    cli: Cli, tmp_path: Path
) -> None:
    path = tmp_path / "plain.toml"
    path.write_text(QUICK.replace('require = ["utilization >= 80%"]\n', ""), encoding="utf-8")
    outcome = cli("gate", str(path), "--cc", "cubic")
    assert outcome.code == 0
    assert "gate compared nothing: `cubic` in suite `plain`\n" in outcome.out
    assert "suite `plain` has no criteria: record a baseline with `--record DIR`, " in outcome.out
    stored = str(tmp_path / "baseline")
    recorded = cli("gate", str(path), "--cc", "cubic", "--record", stored).out
    assert recorded.endswith(f"recorded in {stored}; compare with it by `dumbbell gate {stored}`\n")
    assert "has no criteria" not in recorded
    assert "compared nothing" not in recorded
    assert "gate passed: `cubic`" in cli("gate", stored).out


def test_a_field_is_set_in_every_case(cli: Cli, quick: Path, tmp_path: Path) -> None:
    stored = tmp_path / "baseline"
    fields = ("--time", "3s", "--mss", "1000B", "--seed", "9", "--record", str(stored))
    cli("gate", str(quick), "--cc", "cubic", *fields)
    suite = load_baseline(stored).suite
    cells = [scenario for case in suite.cases[:2] for _, scenario in case.cells("reno")]
    assert {(str(scenario.time), scenario.groups[0].mss) for scenario in cells} == {("3s", 1000)}
    assert cli("gate", str(stored)).code == 0
    plain = read_suite(quick)
    assert plain.with_fields({}) == plain


def test_what_became_worse_is_in_every_output(cli: Cli, baseline: Path, tmp_path: Path) -> None:
    junit, markdown = tmp_path / "out" / "gate.xml", tmp_path / "out" / "gate.md"
    outcome = cli(
        "gate", str(baseline), "--cc", "cubic:beta=900",
        "--junit", str(junit), "--markdown", str(markdown),
    )  # fmt: skip
    assert outcome.code == 1
    assert "gate failed: `cubic:beta=900` in suite `quick` compared with `cubic`" in outcome.out
    (suite,) = JUnitXml.fromfile(str(junit))
    results = {case.name: case.result for case in suite}
    assert list(results) == ["alone[buffer=1bdp]", "alone[buffer=4bdp]", "beside", "lossy"]
    (failure,) = results["alone[buffer=1bdp]"]
    assert isinstance(failure, Failure)
    assert failure.text is not None
    assert "queueing delay is worse" in failure.text
    assert str(failure.message).startswith(failure.text.splitlines()[0])
    assert isinstance(results["lossy"][0], Skipped)
    assert not any(isinstance(r, Error) for entries in results.values() for r in entries)
    assert suite.failures == sum(isinstance(r, Failure) for e in results.values() for r in e)
    text = markdown.read_text(encoding="utf-8")
    assert text.startswith("### gate failed")
    assert "| alone\\[buffer=1bdp\\] | mean queueing delay |" in text


@pytest.mark.parametrize("width", [80, 120])
def test_names_of_cases_are_whole_in_the_table(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    names = ["beside-general-purpose", "[buffer=0.5bdp,1.cc=cubic]"]
    row = (
        "".join(names), "mean queueing delay (tested)", "12.3 ms", "45.6 ms",
        "+33.3 ms (+31.2 to +35.4)", "5% + 1ms", "worse",
    )  # fmt: skip
    print_cases(CHANGE_COLUMNS, [row])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if "beside" in line or "buffer" in line] == names
    assert max(map(len, lines)) <= width


def test_markdown_reads_no_marks_into_a_text_and_code_stays_code() -> None:
    assert plain("a_b | [c]\n<d>") == r"a\_b \| \[c\] \<d\>"
    assert plain("`my_cc|2` is_so") == r"`my_cc\|2` is\_so"
    assert plain("one ` and_that") == r"one \` and\_that"


def test_json_is_the_whole_of_it(cli: Cli, baseline: Path) -> None:
    outcome = cli("gate", str(baseline), "--cc", "cubic:beta=900", "--json")
    document = json.loads(outcome.out)
    assert outcome.code == 1
    assert not document["passed"]
    worse = [c for c in document["comparisons"] if c["change"] == "worse"]
    assert {c["metric"] for c in worse} >= {"queue_delay_mean_us"}
    assert all(c["p_worse"] <= document["level"] for c in worse)
    assert document["skipped"] == [{"case": "lossy", "needs": "reordering on the path"}]


def test_a_tolerance_on_the_command_line_replaces_the_suites(cli: Cli, baseline: Path) -> None:
    everything = ("--tolerance", "queue_delay_mean_us=500%", "--tolerance", "1000%")
    assert cli("gate", str(baseline), "--cc", "cubic:beta=900", *everything).code == 0
    outcome = cli("gate", str(baseline), "--tolerance", "queue_delay_mean=5%")
    assert outcome.code == 2
    assert "did you mean `queue_delay_mean_us`" in outcome.err


def test_only_some_cases(cli: Cli, baseline: Path) -> None:
    outcome = cli("gate", str(baseline), "--case", "beside", "--json")
    assert {c["cell"] for c in json.loads(outcome.out)["comparisons"]} == {"beside"}
    outcome = cli("gate", str(baseline), "--case", "aside")
    assert (outcome.code, "no case `aside`" in outcome.err) == (2, True)


def test_what_is_not_run_is_said_before_anything_runs(cli: Cli, baseline: Path) -> None:
    outcome = cli("gate", str(baseline), "--cc", "cubic:beta=900", "--json")
    assert "case `lossy` is skipped: it needs reordering on the path" in outcome.err
    outcome = cli("gate", str(baseline), "--case", "lossy")
    needs = "case `lossy` needs reordering on the path, which this version does not have"
    assert (outcome.code, needs in outcome.err) == (2, True)


def test_a_missed_criterion_fails_without_a_baseline_and_not_with_one_that_missed_it(
    cli: Cli, quick: Path, tmp_path: Path
) -> None:
    suite = tmp_path / "strict.toml"
    suite.write_text(
        quick.read_text(encoding="utf-8").replace(
            "utilization >= 80%", "queue_delay_mean_us <= 1ms"
        ),
        encoding="utf-8",
    )
    stored = str(tmp_path / "base")
    outcome = cli("gate", str(suite), "--cc", "cubic", "--record", stored)
    assert outcome.code == 1
    assert "missed" in outcome.out
    outcome = cli("gate", stored)
    assert outcome.code == 0
    assert "missed before as well" in outcome.out


def test_wrong_use_is_reported_in_one_line(
    cli: Cli, quick: Path, baseline: Path, tmp_path: Path
) -> None:
    for arguments, says in (
        ((), "`dumbbell gate --list`"),
        ((str(quick),), "`--cc ./mine.bpf.c`"),
        ((str(quick), "--cc", "cubik"), "did you mean `cubic`"),
        ((str(quick), "--cc", "cubic", "--tolerance", "5%"), "`--record DIR` first"),
        ((str(quick), "--cc", "cubic", "--reps", "2"), "at least 3"),
        ((str(baseline), "--record", str(tmp_path / "x")), "is a baseline already"),
        ((str(baseline), "--time", "3s"), "gate quick.toml --cc cubic --time 3s --record"),
        ((str(quick), "--cc", "cubic", "--buffer", "2bdp"), "case `alone` varies it"),
        ((str(quick), "--cc", "cubic", "--rate", "1,2mbit"), "lists 2 values, but `dumbbell gate`"),
        (
            (str(baseline), "--reps", "3"),
            "`dumbbell gate quick.toml --cc cubic --reps 3",
        ),
        ((str(quick.with_suffix(".tml")),), "no such file; did you mean `quick.toml`?"),
        ((str(baseline), "--seed", "3"), "`--seed 6` or higher"),
        ((str(quick), "--cc", "cubic", "--record", str(quick.parent)), "holds no baseline"),
    ):
        outcome = cli("gate", *arguments)
        lines = [line for line in outcome.err.splitlines() if not line.startswith("note:")]
        assert (outcome.code, len(lines)) == (2, 1), arguments
        assert says in lines[0]


@pytest.mark.parametrize("text", ["", "[]", '{"format": 99}', '{"format": 1}', '{"format": 1, "s'])
def test_a_damaged_baseline_is_reported(cli: Cli, baseline: Path, text: str) -> None:
    (baseline / "baseline.json").write_text(text, encoding="utf-8")
    outcome = cli("gate", str(baseline))
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert "record it again" in outcome.err


def test_a_source_file_is_found_from_wherever_the_gate_is_run(
    cli: Cli, quick: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutations.unchanged(tmp_path / "repo", "reno.bpf.c")
    monkeypatch.chdir(tmp_path / "repo")
    arguments = ("--cc", "./reno.bpf.c", "--case", "alone", "--record", "base")
    assert cli("gate", str(quick), *arguments).code == 0
    assert json.loads(Path("base/baseline.json").read_text())["cc"] == "../reno.bpf.c"
    monkeypatch.chdir(tmp_path)
    assert cli("gate", "repo/base").code == 0


def test_invalid_runs_are_not_compared(recorded: SuiteResult) -> None:
    cell = recorded.cells[0]
    disturbed = replace(cell, verdicts=("INVALID", *cell.verdicts[1:]), reasons=("it was",))
    after = replace(recorded, cells=(disturbed, *recorded.cells[1:]))
    gate = evaluate(after, recorded)
    assert not gate.passed
    assert [str(entry) for entry in gate.not_evaluated] == ["1 of 5 runs are INVALID: it was"]
    # On the kernel a run may be disturbed; what is left is enough.
    gate = evaluate(replace(after, engine="kernel"), recorded)
    assert gate.passed
    assert len(gate.comparisons[0].sides.a) == 4


def test_says_how_many_repetitions_settle_what_is_unclear(recorded: SuiteResult) -> None:
    cell, delay = recorded.cells[0], Observed("", "queue_delay_mean_us")
    before = [value or 0.0 for value in cell.values[delay]]
    # Beyond the tolerance of 5 % + 1 ms by 0.5 ms on average, and by 1 ms more or less.
    beyond_us = (1500.0, -500.0, 1000.0, 0.0, 500.0)
    after = tuple(1.05 * x + 1000 + us for x, us in zip(before, beyond_us, strict=True))
    values = {**cell.values, delay: after}
    now = replace(recorded, cells=(replace(cell, values=values), *recorded.cells[1:]))
    gate = evaluate(now, recorded)
    (unclear,) = gate.changed(Change.UNCLEAR)
    reps = unclear.reps_to_settle
    assert reps is not None
    assert 20 < reps < 100
    said = (
        f"1 unclear: {reps} repetitions would probably settle it; record the baseline again with "
        f"`--reps {reps}`"
    )
    assert said in outline(gate)
    assert gate.to_dict()["comparisons"][gate.comparisons.index(unclear)]["reps_to_settle"] == reps
    assert not any(
        "would probably settle" in line for line in outline(evaluate(recorded, recorded))
    )


# What the gate is for, on the shipped suite's cases of one flow; docs/gate.md has the whole suite's
# figures.


def regressions(source: str, folder: Path, plant: Callable[[Path], Path]) -> set[str]:
    """Return what a planted change makes worse, against the untouched congestion control."""
    suite = find_suite("regression").of_cases(["alone"]).with_reps(5)
    before = run_suite(suite, source)
    gate = evaluate(run_suite(suite, str(plant(folder))), before)
    return {comparison.observed.metric for comparison in gate.changed(Change.WORSE)}


def test_cubic_that_gives_up_less_is_found(tmp_path: Path) -> None:
    assert "queue_delay_mean_us" in regressions("cubic", tmp_path, mutations.cubic_with_beta_08)


def test_bbr_that_does_not_drain_is_found(tmp_path: Path) -> None:
    assert "queue_delay_p95_us" in regressions("bbr", tmp_path, mutations.bbr_without_drain)


def test_the_same_source_in_another_place_is_the_same(tmp_path: Path) -> None:
    suite = find_suite("regression").of_cases(["alone"]).with_reps(3)
    copy = mutations.unchanged(tmp_path, "cubic.bpf.c")
    gate = evaluate(run_suite(suite, str(copy)), run_suite(suite, "cubic"))
    assert gate.passed
    assert {comparison.change for comparison in gate.comparisons} == {Change.IDENTICAL}


def test_unchanged_ones_pass_with_other_seeds(quick: Path) -> None:
    """Eleven times the same congestion control with other starts: 55 gates, none fails."""
    suite = read_suite(quick)
    results = [run_suite(suite, "cubic", seed=1 + 5 * at) for at in range(11)]
    gates = [evaluate(after, before) for before, after in combinations(results, 2)]
    assert len(gates) == 55
    assert [c for gate in gates for c in gate.worse] == []
    # They do differ, so that passing means something.
    changes = {c.change for gate in gates for c in gate.comparisons}
    assert changes & {Change.WITHIN, Change.UNCLEAR}


def test_a_baseline_reads_back_the_same(baseline: Path, recorded: SuiteResult) -> None:
    loaded = load_baseline(baseline)
    assert loaded.cells == recorded.cells
    assert loaded.suite.document == recorded.suite.document


@pytest.mark.parametrize(
    ("cc", "moved"),
    [
        ("mine.bpf.c", "../mine.bpf.c"),
        ("mine.py:gain=2", "../mine.py:gain=2"),
        ("./two.bpf.c#second", "../two.bpf.c#second"),
        ("linux/cubic", "linux/cubic"),
        ("cubic:beta=819", "cubic:beta=819"),
    ],
)
def test_a_file_of_a_baseline_is_named_from_its_directory(tmp_path, cc, moved):
    assert moved_cc(cc, tmp_path, tmp_path / "base") == moved


def test_measurements_need_not_be_the_same(cli, fabricated_kernel, tmp_path):
    suite = tmp_path / "s.toml"
    suite.write_text(
        'time = "2s"\nreps = 3\njudge = { goodput_bps = "99%" }\n'
        '[[case]]\nname = "alone"\n[[case.group]]\ncc = "{cc}"\n'
    )
    base = str(tmp_path / "base")
    recorded = cli("gate", str(suite), "--cc", "cubic", "--engine", "kernel", "--record", base)
    assert recorded.code == 0, recorded.err
    outcome = cli("gate", base)
    assert outcome.code == 0
    assert "engine kernel" in outcome.out
    assert "the same" not in outcome.out
    assert fabricated_kernel.runs == 6


def test_a_file_is_shown_by_the_shorter_way(tmp_path, monkeypatch):
    below, far = tmp_path / "below", tmp_path / "/".join("a" * 80)
    far.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert shown_cc(f"{below}/mine.bpf.c:gain=2") == "below/mine.bpf.c:gain=2"
    monkeypatch.chdir(far)
    assert shown_cc("../" * 80 + "below/mine.bpf.c") == f"{below}/mine.bpf.c"
    assert shown_cc("cubic:beta=819") == "cubic:beta=819"
