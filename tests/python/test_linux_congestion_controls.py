"""Linux's own congestion controls from a source tree: resolved, run, and as they are known.

Tests that need a tree take it from DUMBBELL_LINUX_TREE, and count as skipped without one.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import dumbbell
from dumbbell import Group, LinuxTree, Scenario, ScenarioError, use_linux_tree
from dumbbell.congestion_control.linux_tree import LINUX_NAMES
from tests.python.conftest import Outcome
from tests.python.linux.causes import CAUSES, Cause, either_trace_pct
from tests.python.linux.ours_and_linux import COMPARISONS, Comparison
from tests.python.linux.signatures import SIGNATURES, Signature

TREE = os.environ.get("DUMBBELL_LINUX_TREE")
needs_tree = pytest.mark.skipif(
    TREE is None, reason="no Linux source tree; set DUMBBELL_LINUX_TREE to one"
)
MODULES = Path(__file__).parents[2] / "crates/cc/tests/cc"
AIMD = str(MODULES / "module_aimd.c")
PATCHED = str(MODULES / "module_patched.c")
WITNESS = str(MODULES / "module_witness.c")


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Path]:
    """A tree with one congestion control of our own, and a file that is none."""
    sources = tmp_path / "net/ipv4"
    sources.mkdir(parents=True)
    (sources / "tcp_vegas.c").write_text((MODULES / "module_aimd.c").read_text())
    (sources / "tcp_mine.c").write_text((MODULES / "module_aimd.c").read_text())
    (sources / "tcp_input.c").write_text("void tcp_ack(void);\n")
    yield tmp_path
    use_linux_tree(None)


@pytest.mark.parametrize(("loss", "buffer"), [("0.1%", "2bdp"), ("1%", "0.5bdp"), ("0.5%", "8bdp")])
def test_what_patched_kernels_report_is_consistent_in_a_run(loss: str, buffer: str) -> None:
    """The module stops the run where two reports contradict each other."""
    run = dumbbell.run(Scenario([WITNESS], loss=loss, buffer=buffer, time="20s"))
    assert run.summary["bottleneck"]["dropped_pkts"] >= 10
    assert run.verdict.status == "OK"


def test_a_run_and_cc_check_say_what_a_stock_kernel_would_not_build(
    cli: Callable[..., Outcome],
) -> None:
    run = dumbbell.run(Scenario([PATCHED], time="1s"))
    said = "keeps 200 bytes of state per socket; Linux has 104"
    (reason,) = run.verdict.reasons
    assert (reason.check, reason.status) == ("stock-kernel", "WARN")
    assert said in reason.message
    checked = cli("cc", "check", PATCHED, "--storms", "1")
    assert said in checked.out, checked.out
    checked = cli("cc", "check", PATCHED, "--storms", "1", "--json")
    assert said in json.loads(checked.out)["notes"][0]


@needs_tree
@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda signature: signature.name)
def test_signature(signature: Signature) -> None:
    finding = signature.measure(LinuxTree(str(TREE)).source(signature.name))
    assert finding.holds, finding.figures


@needs_tree
@pytest.mark.parametrize("comparison", COMPARISONS, ids=str)
def test_ours_is_linuxs(comparison: Comparison) -> None:
    difference = comparison.measure(LinuxTree(str(TREE)))
    assert difference.is_small, difference.figures


@needs_tree
@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.name)
def test_without_the_known_differences_there_is_none(cause: Cause, tmp_path: Path) -> None:
    differences = cause.differences_pct(LinuxTree(str(TREE)), tmp_path)
    assert max(differences.values()) <= cause.left_pct, differences


def test_a_trace_that_is_missing_is_not_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    reno = dumbbell.run(Scenario(["reno"], time="1s"))
    assert either_trace_pct(reno, reno) == 0
    monkeypatch.setattr("tests.python.linux.causes.trace_difference_pct", lambda *_: None)
    with pytest.raises(AssertionError, match="no cwnd"):
        either_trace_pct(reno, reno)


@needs_tree
def test_the_tree_has_all_of_linuxs() -> None:
    assert set(LINUX_NAMES) <= set(LinuxTree(str(TREE)).names())


def test_every_one_of_linuxs_has_a_signature() -> None:
    assert [signature.name for signature in SIGNATURES] == list(LINUX_NAMES)


def test_a_module_runs_by_the_name_its_tree_gives_it(
    tree: Path, cli: Callable[..., Outcome]
) -> None:
    short = ("--time", "2s", "--rate", "10mbit")
    done = cli("run", "mine:increase_pkts=2", "cubic", "--linux-tree", str(tree), *short)
    assert done.code == 0, done.err
    assert "tcp_mine:increase_pkts=2" in done.out


def test_cc_lists_and_checks_a_trees_by_name(tree: Path, cli: Callable[..., Outcome]) -> None:
    listed = cli("cc", "list", "--linux-tree", str(tree), "--json")
    names = [entry["name"] for entry in json.loads(listed.out)]
    assert names[-2:] == ["tcp_mine", "tcp_vegas"]
    assert "vegas" in names
    assert "increase_pkts" in cli("cc", "list", "tcp_mine", "--linux-tree", str(tree)).out
    refused = cli("cc", "list", "tcp_mien", "--linux-tree", str(tree))
    assert refused.code == 2
    assert "did you mean `tcp_mine`" in refused.err
    checked = cli("cc", "check", "tcp_mine", "--linux-tree", str(tree))
    assert checked.code == 0, checked.err
    assert "two flows   tcp_mine " in checked.out


def test_cc_lists_the_others_where_one_cannot_be_hosted(
    tree: Path, cli: Callable[..., Outcome]
) -> None:
    source = (MODULES / "module_aimd.c").read_text()
    broken = source + "#error not here\n"
    (tree / "net/ipv4/tcp_broken.c").write_text(broken)
    listed = cli("cc", "list", "--linux-tree", str(tree), "--json")
    assert listed.code == 0, listed.err
    names = [entry["name"] for entry in json.loads(listed.out)]
    assert names[-2:] == ["tcp_mine", "tcp_vegas"]
    assert "tcp_broken" not in names
    reason = r"note: tcp_broken cannot be hosted: .* does not compile \(.+\): .*error:.*not here"
    assert re.fullmatch(reason, listed.err.removesuffix("\n"))
    asked = cli("cc", "list", "tcp_broken", "--linux-tree", str(tree))
    assert asked.code == 2
    assert asked.err.startswith("error: ")


def test_one_congestion_control_has_one_name_in_tables_and_verdict(
    tree: Path, cli: Callable[..., Outcome]
) -> None:
    # A window so small that the verdict has to speak of the flows.
    shown = cli("run", "mine", "cubic", "--linux-tree", str(tree), "--rwnd", "20kB", "--time", "2s")
    assert "flow 0 (tcp_mine): " in shown.out
    assert "aimd" not in shown.out


def test_what_is_built_in_stays_ours_and_the_trees_goes_by_its_files_name(tree: Path) -> None:
    use_linux_tree(tree)
    scenario = Scenario(["cubic", "tcp_mine"])
    assert [group.cc.name for group in scenario.groups] == [
        "cubic",
        str(tree / "net/ipv4/tcp_mine.c"),
    ]
    assert LinuxTree(tree).names() == ("mine", "vegas")


def test_mistakes_name_the_tree_and_the_remedy(tree: Path, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"`hybla` is not built in.*`--linux-tree DIR`"):
        Scenario(["hybla"])
    with pytest.raises(ScenarioError, match="it has no `net/ipv4`"):
        use_linux_tree(tmp_path / "net")
    use_linux_tree(tree)
    with pytest.raises(ScenarioError, match=r"no congestion control `mien`; did you mean `mine`"):
        Scenario(["mien"])
    with pytest.raises(ScenarioError, match=r"no congestion control `input`; known: `mine`"):
        Scenario(["tcp_input"])


def test_two_versions_of_one_source_have_two_names(tmp_path: Path) -> None:
    paths = [tmp_path / where / "tcp_mine.c" for where in ("a/net", "b/net")]
    for path in paths:
        path.parent.mkdir(parents=True)
        path.write_text((MODULES / "module_aimd.c").read_text())
    run = dumbbell.run(Scenario([*map(str, paths), AIMD], time="1s", rate="10mbit"))
    assert run.scenario.group_labels == ("tcp_mine (a)", "tcp_mine (b)", "module_aimd")


@pytest.mark.parametrize(
    ("groups", "labels"),
    [
        (["copa", "cubic"], ("copa", "cubic")),
        (["cubic", "cubic"], ("cubic #0", "cubic #1")),
        (["copa:mode_window_rtts=5", "copa"], ("copa:mode_window_rtts=5", "copa")),
        (
            [Group("cubic", rtt="20ms"), Group("cubic")],
            ("cubic (rtt 20ms)", "cubic (rtt 40ms)"),
        ),
        (
            [Group("cubic", start="1s", flows=2), Group("cubic", start="1s"), "copa"],
            ("cubic ×2", "cubic", "copa"),
        ),
        (["linux/cubic", "cubic"], ("linux/cubic", "cubic")),
    ],
)
def test_no_two_groups_have_one_label(groups: list[str | Group], labels: tuple[str, ...]) -> None:
    assert Scenario(groups).group_labels == labels


def test_random_loss_is_the_seeds(cli: Callable[..., Outcome]) -> None:
    def lost(seed: int) -> tuple[int, int]:
        run = dumbbell.run(Scenario(["reno"], loss="1%", time="20s", seed=seed))
        assert run.verdict.status == "OK", run.verdict
        link = run.summary["bottleneck"]
        return link["random_loss_pkts"], link["offered_pkts"]

    (first, offered), again, other = lost(1), lost(1), lost(2)
    assert (first, offered) == again != other
    assert 0.005 < first / offered < 0.015
    assert "lost at random" in cli("run", "reno", "--loss", "1%", "--time", "2s").out
    assert Scenario.from_dict(Scenario(["reno"], loss="0.25%").to_dict()).loss == 2_500_000
    for loss, most in (("200%", "99.9999%"), ("1000000ppm", "999999ppm")):
        with pytest.raises(
            ScenarioError, match=f"loss `{loss}` is too large; use at most `{most}`"
        ):
            Scenario(["reno"], loss=loss)
