"""Linux in virtual time by runs that are kept; with a kernel built, they are run again."""

from __future__ import annotations

from statistics import mean

import pytest

from dumbbell import Run, run
from tests.python import virtual_runs
from tests.python.virtual_runs import CELLS, KEPT, RUNS, SEEDS, kept

#: Goals of docs/notes/accuracy.md, points of share.
MEAN_POINTS, MOST_POINTS = 1.5, 5.0
#: Three runs each of another set-up: UML with plain `tbf` and `netem`, senders and receivers as
#: programs, 100 ticks a second.
INDEPENDENT = {
    "0.5bdp": [0.116, 0.113, 0.111], "1bdp": [0.132, 0.140, 0.126], "2bdp": [0.451, 0.453, 0.450],
    "4bdp": [0.646, 0.648, 0.640], "8bdp": [0.761, 0.748, 0.717],
}  # fmt: skip
KERNEL = virtual_runs.built_kernel()
same_kernel = pytest.mark.skipif(
    KERNEL is None, reason="no kernel like that of the kept runs is built"
)


def points_apart(others: dict[str, list[float]]) -> list[float]:
    """Return by how many points of share the means differ in each cell."""
    return [100 * abs(mean(others[cell]) - mean(kept("shares")[cell])) for cell in CELLS]


def test_simulated_shares_are_linux_s_within_the_goals():
    """CUBIC next to BBR; three seeds of Linux, ten of the simulator."""
    apart = points_apart(virtual_runs.shares_of("simulator", "", range(1, 11)))
    assert mean(apart) <= MEAN_POINTS, apart
    assert max(apart) <= MOST_POINTS, apart


def test_another_set_up_of_linux_has_these_shares():
    apart = points_apart(INDEPENDENT)
    assert max(apart) <= MOST_POINTS, apart


def test_seeds_differ_and_shares_grow_with_the_buffer():
    shares = kept("shares")
    assert [len(set(shares[cell])) for cell in CELLS] == [len(SEEDS)] * len(CELLS)
    for of_seed in zip(*(shares[cell] for cell in CELLS), strict=True):
        assert list(of_seed) == sorted(of_seed)


@pytest.mark.parametrize("name", RUNS)
def test_a_kept_run_can_be_trusted(name):
    one = Run.load(KEPT / name)
    assert (one.engine, one.verdict.status, one.verdict.reasons) == ("uml", "OK", ())
    emulation = one.emulation
    assert emulation is not None
    assert emulation["kernel_release"] == kept("provenance")["kernel"]["release"]
    assert emulation["lateness_max_us"] < 1
    assert emulation["late_pkts"] == emulation["missed_samples"] == 0
    assert emulation["hosts_sent_pkts"] == emulation["path_entered_pkts"] > 0
    assert emulation["capture_lost_pkts"] == 0


def test_states_are_in_the_tables():
    for name, states in {
        "linux-cubic-linux-bbr": ["state-1-linux-bbr"],
        "copa-cubic": ["state-0-copa", "state-1-cubic"],
    }.items():
        tables = Run.load(KEPT / name).tables
        assert sorted(each for each in tables if each.startswith("state-")) == states
        for state in states:
            assert 2 * tables[state].num_rows == tables["flows"].num_rows > 0


def test_the_kernel_s_queue_marks_where_ecn_is_on_and_drops_where_not():
    one = Run.load(KEPT / "kernel-fq_codel")
    with_ecn, without = one.summary["flows"]
    assert (with_ecn["marked_pkts"] > 0, with_ecn["dropped_pkts"]) == (True, 0)
    assert (without["marked_pkts"], without["dropped_pkts"] > 0) == (0, True)


def test_what_is_kept_is_small():
    assert sum(path.stat().st_size for path in KEPT.rglob("*") if path.is_file()) < 100_000


# ---- With the kernel ----


@same_kernel
@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_the_same_again(name):
    assert KERNEL is not None
    made, capture = virtual_runs.made_again(name, KERNEL)
    assert virtual_runs.what_runs(made) == virtual_runs.what_runs(Run.load(KEPT / name))
    assert capture == kept("provenance")["captures_sha256"][name]


@same_kernel
def test_a_share_is_the_same_again():
    assert KERNEL is not None
    made = run(virtual_runs.pair("1bdp", 1), engine=f"uml:{KERNEL.name}")
    assert made.groups[0]["share"] == kept("shares")["1bdp"][0]
