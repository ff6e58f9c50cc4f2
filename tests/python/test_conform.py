"""`dumbbell conform`: an implementation against its reference, and what is said of the difference.

The runs here are of two paths and few repetitions; docs/notes/conform.md has whole grids.
"""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

from dumbbell import Group, Scenario
from dumbbell.base.errors import ScenarioError
from dumbbell.run import UML
from dumbbell_studies.conform import ALGORITHM, CHECKS, TRANSPORT, Cell, conform
from dumbbell_studies.conform.checks import compare_responses
from dumbbell_studies.conform.conform import RESAMPLES, SEED, interval_of
from dumbbell_studies.conform.envelope import (
    Envelope,
    conformance,
    deviation,
    hull,
    inside,
    kept_points,
)
from dumbbell_studies.conform.grid import grid_named
from dumbbell_studies.conform.responses import Series, epochs_of, growth, probing
from dumbbell_studies.conform.subject import subject_of
from dumbbell_studies.conform.transport_responses import packets_at_once, pause_rtts

ROOT = Path(__file__).resolve().parents[2]
CUBIC = ROOT / "cc/cubic.bpf.c"
FloatArray: TypeAlias = npt.NDArray[np.float64]
Values: TypeAlias = Sequence[float] | FloatArray
#: Responses of repetitions.
Runs: TypeAlias = list[dict[str, float | None]]
SQUARE = np.array([(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0)])
PATH = [Cell("1 BDP", Scenario(["reno"], rate="10mbit", rtt="50ms", buffer="1bdp", sample="50ms"))]


def test_a_hull_has_the_corners_and_its_edge_is_inside():
    points = np.array([*SQUARE, (2.0, 2.0), (2.0, 0.0), (4.0, 4.0)])
    assert {tuple(each) for each in hull(points)} == {tuple(each) for each in SQUARE}
    at = np.array([(2.0, 2.0), (4.0, 1.0), (0.0, 0.0), (4.01, 1.0), (-1.0, 5.0)])
    assert inside(at, hull(points)).tolist() == [True, True, True, False, False]


def test_a_hull_of_points_in_a_line_holds_what_is_between_them():
    line = hull(np.array([(0.0, 0.0), (1.0, 2.0), (2.0, 4.0)]))
    at = np.array([(0.5, 1.0), (1.0, 1.0), (3.0, 6.0)])
    assert inside(at, line).tolist() == [True, False, False]
    alone = hull(np.array([(3.0, 3.0), (3.0, 3.0)]))
    assert inside(np.array([(3.0, 3.0), (3.0, 3.1)]), alone).tolist() == [True, False]


def test_the_outliers_are_those_far_from_the_mean_in_either_unit():
    """Of 20 points one goes; delay in ms and throughput in Mbit/s count alike."""
    points = np.array([(float(n % 5), 1000.0 + n % 4) for n in range(19)] + [(9.0, 1001.0)])
    kept = kept_points(points)
    assert len(kept) == 19
    assert 9.0 not in kept[:, 0]


def test_conformance_counts_points_of_both_in_the_hull_of_the_other():
    """Two of four corners of each square lie in the other: 4 of 8."""
    square = Envelope.of(SQUARE)
    assert conformance(square, square) == 1.0
    right = Envelope.of(SQUARE * (1.0, 0.5) + (2.0, 1.0))
    assert conformance(square, right) == pytest.approx(2 / 8)
    assert conformance(square, Envelope.of(SQUARE + 100.0)) == 0.0
    assert deviation(SQUARE + np.array([1.0, -2.0]), SQUARE) == pytest.approx((1.0, -2.0))


def test_the_bootstrap_takes_the_mean_of_all_pairs_of_what_is_drawn():
    matches = np.random.default_rng(3).random((4, 4))
    rows, columns = np.random.default_rng(SEED).integers(0, 4, (2, RESAMPLES, 4))
    means = [matches[np.ix_(*each)].mean() for each in zip(rows, columns, strict=True)]
    found = interval_of(matches)
    assert (found.low, found.high) == pytest.approx(np.quantile(means, [0.025, 0.975]))
    assert found.mean == pytest.approx(matches.mean())


def test_a_thousand_repetitions_need_no_array_of_all_pairs_of_all_resamples():
    """That would be 80 GB; the draws are 160 MB, and nothing is larger."""
    matches = np.random.default_rng(3).random((1_000, 1_000))
    tracemalloc.start()
    found = interval_of(matches)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 1e9
    assert found.low < found.mean < found.high


def series_of(cwnd: Values, ssthresh: Values, rtt_s: float = 0.1) -> Series:
    """A flow sampled every base RTT, from the 10th second on; all it sends is forwarded."""
    size = len(cwnd)
    time_s = np.asarray(10.0 + rtt_s * np.arange(size), dtype=np.float64)
    sent = np.cumsum(np.asarray(cwnd, dtype=float))
    return Series(
        time_s, np.asarray(cwnd, dtype=float), np.asarray(ssthresh, dtype=float), sent, sent, rtt_s
    )


def test_decrease_and_growth_are_read_off_a_sawtooth():
    """A window that falls to 0.7, then grows by half a packet an RTT to 100: Reno's line."""
    teeth, floor = 6, 70.0
    tooth = floor + 0.5 * np.arange(61)
    series = series_of(np.tile(tooth, teeth), np.repeat(floor + 1e-6 * np.arange(teeth), 61))
    epochs = epochs_of(series)
    assert len(epochs) == teeth - 2
    assert all(each.is_full and not each.is_below for each in epochs)
    assert {round(each.ssthresh_pkts / each.before_pkts, 3) for each in epochs} == {0.7}
    per_rtt, power = growth(series, epochs)
    assert per_rtt == pytest.approx(0.5)
    assert power == pytest.approx(1.0, abs=1e-4)


def test_a_loss_before_the_window_has_come_back_is_told_apart():
    cwnd = [100.0, 70.0, 100.0, 70.0, 75.0, 52.5, 60.0]
    ssthresh = [90.0, 70.0, 70.0, 70.001, 70.001, 52.5, 52.5]
    first, second = epochs_of(series_of(cwnd, ssthresh))
    assert first.is_full
    assert second.is_below  # 75 of 100


def test_probes_are_rises_above_what_is_usual():
    """1.25 in one RTT of eight, as BBR; a flow that grows by a percent an RTT does not probe."""
    gains = np.tile([1.25, 0.75, 1, 1, 1, 1, 1, 1], 40)
    sent = np.cumsum(100.0 * np.concatenate([[1.0], gains]))
    forwarded = np.cumsum(np.full(sent.size, 100.0))
    time_s = np.asarray(10.0 + 0.1 * np.arange(sent.size), dtype=np.float64)
    none: FloatArray = np.full(sent.size, np.nan)
    gain, period_s = probing(Series(time_s, none, none, sent, forwarded, 0.1))
    assert gain == pytest.approx(1.25)
    assert period_s == pytest.approx(0.8)
    assert probing(series_of([100 * 1.01**n for n in range(200)], none[:200])) == (None, None)


def test_bursts_are_read_off_the_wait_at_the_sender():
    """Of four packets at once the n-th waits for n - 1: 1.5 on average, 12.112 µs each."""
    link = {"forwarded_pkts": 1000, "forwarded_bytes": 1_514_000}
    assert packets_at_once({**link, "queue_delay_mean_us": 1.5 * 12.112}) == pytest.approx(4)
    assert packets_at_once({**link, "queue_delay_mean_us": 0.0}) == 1
    assert packets_at_once({**link, "forwarded_pkts": 0}) is None


def test_a_pause_is_where_nothing_is_sent_in_the_round_trip_after_a_loss():
    """Eight samples a round trip; of those after the cut three have nothing."""
    sent = np.cumsum([2.0] * 10 + [0.0, 0.0, 0.0] + [2.0] * 20)
    time_s: FloatArray = 0.005 * np.arange(sent.size, dtype=np.float64)
    assert pause_rtts(time_s, sent, [9], 0.04) == pytest.approx(3 / 8)
    assert pause_rtts(time_s, sent, [15], 0.04) == 0
    assert pause_rtts(time_s, sent, [], 0.04) is None


def test_a_response_differs_only_if_it_is_large_and_sure():
    def runs(decrease: Values, **others: float) -> Runs:
        plain: dict[str, float | None] = dict.fromkeys(
            ("decrease_below", "growth", "growth_power", "growth_below", "probe_gain",
             "probe_period_s", "packets_at_once", "first_packets_rtts", "pause_rtts"),
        )  # fmt: skip
        return [{**plain, "packets_per_ack": 2.0, "decrease": each, **others} for each in decrease]

    def differing(test: Runs, reference: Runs) -> list[str]:
        return [each.check.name for each in compare_responses(test, reference) if each.differs]

    reference = runs([0.70, 0.70, 0.701])
    assert differing(runs([0.85, 0.851, 0.85]), reference) == ["decrease"]
    assert differing(runs([0.71, 0.71, 0.711]), reference) == []  # sure, and too small
    assert differing(runs([0.50, 0.95, 0.80]), reference) == []  # large, and chance
    assert differing(runs([0.70] * 3, probe_gain=1.25), reference) == ["probe_gain"]
    (found,) = [each for each in compare_responses(runs([0.85] * 3), reference) if each.differs]
    assert found.sentence == "window after a loss: 0.85 of before; reference 0.7"


def test_the_reference_conforms_to_itself_within_its_own_noise():
    result = conform("cubic", "cubic", cells=PATH, reps=3, cache=False)
    assert result.conforms
    assert result.conformance == result.floor
    assert 0 < result.floor.mean < 1  # other seeds: not the same runs
    assert result.differing == []


def test_with_an_invalid_run_nothing_conforms(cli, monkeypatch):
    result = conform("reno", "reno", cells=PATH, reps=3, cache=False)
    assert result.conforms
    invalid = replace(result, invalid_runs=2)
    monkeypatch.setattr("dumbbell_studies.cli.conform.conform", lambda *_, **__: invalid)
    outcome = cli("conform", "reno", "--to", "reno", "--no-cache")
    assert outcome.code == 1
    assert "reno is not shown to conform to reno: 2 runs INVALID" in " ".join(outcome.out.split())
    assert not invalid.to_dict()["conforms"]


def planted(directory: Path, beta: int) -> str:
    """Write CUBIC with another share of cwnd kept after a loss, of 1024."""
    text = CUBIC.read_text(encoding="utf-8").replace("beta, 717,", f"beta, {beta},")
    (directory / "mine.bpf.c").write_text(text, encoding="utf-8")
    return str(directory / "mine.bpf.c")


def test_a_planted_decrease_is_low_and_named(tmp_path, cli):
    outcome = cli("conform", planted(tmp_path, 870), "--to", "cubic", "--json", "--no-cache")
    assert outcome.code == 1, outcome.err
    found = json.loads(outcome.out)
    assert found["is_low"]
    assert not found["conforms"]
    assert found["shortfall"]["low"] > 0
    responses = {each["name"]: each for each in found["responses"]}
    decrease = responses["decrease"]
    assert decrease["differs"]
    assert decrease["of"] == ALGORITHM
    assert decrease["test"] == pytest.approx(870 / 1024, abs=0.01)
    assert decrease["reference"] == pytest.approx(717 / 1024, abs=0.01)
    assert not responses["packets_per_ack"]["differs"]


def test_what_quinn_changed_in_cubic_is_named():
    """quinn#2640: fast convergence reduced the window twice, 0.7 · (1 + 0.7) / 2 = 0.595.

    Since the correction its curve begins where it did, below the window, which therefore stands
    still until the curve has come up to it; RFC 9438 §4.2 has K from the window itself.
    """
    result = conform(
        "quic/quinn@0.11.14:cubic", "quic/quinn@0.11.19:cubic", cells=PATH, cache=False
    )
    by_name = {each.check.name: each for each in result.responses}
    assert by_name["decrease_below"].test == pytest.approx(0.595, abs=0.01)
    assert by_name["decrease_below"].reference == pytest.approx(0.70, abs=0.01)
    assert {each.check.name for each in result.differing} == {"decrease_below", "growth_below"}
    assert by_name["growth_below"].test > by_name["growth_below"].reference
    assert result.cause == "the algorithm differs"


def test_an_underflow_in_noq_s_bbr3_is_told_apart():
    """noq#785, corrected in 1.2.0: until then STARTUP ended in the first round trips.

    How often it probes afterwards depends on the run.
    """
    result = conform("quic/noq@1.1.0:bbr3", "quic/noq@1.2.0:bbr3", cells=PATH, cache=False)
    assert result.is_low
    by_name = {each.check.name: each for each in result.differing}
    assert by_name["first_packets_rtts"].test > by_name["first_packets_rtts"].reference + 3


def test_our_algorithm_responds_alike_in_another_transport():
    result = conform("quic/noq:dumbbell/cubic", "cubic", cells=PATH, cache=False)
    assert [each for each in result.differing if each.check.of == ALGORITHM] == []
    # noq paces the handshake and slow start, and its packets do not leave in TCP's bursts.
    by_name = {each.check.name: each for each in result.differing}
    assert {"packets_at_once", "first_packets_rtts"} <= set(by_name)
    assert by_name["packets_at_once"].test < by_name["packets_at_once"].reference
    assert by_name["first_packets_rtts"].test > by_name["first_packets_rtts"].reference + 1
    assert result.cause == "only responses of the transport differ"


def test_pacing_that_is_off_is_named():
    """Without noq's pacing, slow start takes one round trip less: the server's handshake stays."""
    paced = "quic/noq:dumbbell/cubic"
    result = conform(f"{paced}:paced=0", paced, cells=PATH, cache=False)
    found = {each.check.name: each for each in result.responses}
    assert found["first_packets_rtts"].test < found["first_packets_rtts"].reference - 0.5
    assert found["first_packets_rtts"].differs


def test_acks_are_of_the_transport():
    """A receiver that acknowledges ten packets at once makes no other algorithm."""
    result = conform(
        "quic/noq:dumbbell/reno:ack_every_pkts=10", "quic/noq:dumbbell/reno", cells=PATH, reps=3,
        cache=False,
    )  # fmt: skip
    acks = next(each for each in result.differing if each.check.name == "packets_per_ack")
    assert acks.check.of == TRANSPORT
    assert acks.test > 2 * acks.reference


def test_grids_are_those_of_the_suites():
    assert len(grid_named("quick")) == 2
    assert len(grid_named("quicbench")) == 16
    cells = grid_named("rfc9743")
    assert len({each.label for each in cells}) == len(cells)
    pair = cells[0].pair(partial(Group, "copa"), partial(Group, "cubic"), 7)
    assert [str(group.cc) for group in pair.groups] == ["copa", "cubic"]
    assert pair.seed == 7


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("cubbic", "--to", "cubic"), "cubbic"),
        (("reno",), "--to"),
        (("reno", "--to", "cubic", "--grid", "quickbench"), "did you mean `quicbench`?"),
        (("scenario.toml", "--to", "cubic"), "scenario.toml"),
        (("reno", "--to", "linux/cubic"), "use `--engine uml`, or `cubic`"),
        (("linux/dctcp2", "--to", "cubic"), "use `--engine uml`, or a file or a built-in one"),
        (("reno", "--to", "cubic", "--reps", "1"), "--reps"),
    ],
)
def test_a_mistake_gets_one_line(words, expected, cli):
    outcome = cli("conform", *words)
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1, outcome.err
    assert expected in outcome.err


PROGRAM = """
[[group]]
client = "curl -so /dev/null http://server/"
server = "python3 -m http.server 80"
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PROGRAM, "is a program, which the simulator does not run; use `--engine uml`"),
        ('[[group]]\ncc = "cubic"\n', "has 0 groups with a `client`"),
        (PROGRAM + PROGRAM, "has 2 groups with a `client`"),
    ],
)
def test_a_file_has_one_program_which_runs_on_linux(text, expected, tmp_path, cli):
    file = tmp_path / "mine.toml"
    file.write_text(text, encoding="utf-8")
    outcome = cli("conform", str(file), "--to", "cubic")
    assert outcome.code == 2
    assert expected in outcome.err


def test_of_a_program_only_packets_are_compared(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(PROGRAM, encoding="utf-8")
    subject = subject_of(str(file), UML)
    assert (subject.label, subject.is_program) == (str(file), True)
    scenario = PATH[0].pair(subject.group, partial(Group, "cubic"), 7)
    assert [bool(group.client) for group in scenario.groups] == [True, False]
    some: Runs = [{check.name: 1.0 for check in CHECKS} for _ in range(3)]
    seen = {each.check.name for each in compare_responses(some, some, of_packets=True)}
    assert "packets_at_once" in seen
    assert not seen & {"decrease", "decrease_below", "growth", "growth_below", "pause_rtts"}


def test_a_program_is_not_taken_for_what_has_its_name(tmp_path):
    labels = {subject_of("cubic", UML).label}
    for directory in ("a", "b"):
        file = tmp_path / directory / "cubic.toml"
        file.parent.mkdir()
        file.write_text(PROGRAM, encoding="utf-8")
        labels.add(subject_of(str(file), UML).label)
    assert len(labels) == 3


def test_a_flow_that_moves_nothing_is_named_with_its_path():
    dead = [Cell("dead", PATH[0].scenario.replace(loss="99.9999%"))]
    with pytest.raises(ScenarioError, match=r"^`reno` has no sample on dead: it moved nothing$"):
        conform("reno", "reno", cells=dead, reps=3, cache=False)


def test_the_envelopes_are_drawn(tmp_path, cli, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("dumbbell_studies.conform.grid.TIME", "20s")
    outcome = cli("conform", "reno", "--to", "reno", "--reps", "3", "--out", str(tmp_path))
    assert outcome.code == 0, outcome.err
    assert "reno conforms to reno" in outcome.out
    assert {each.name for each in tmp_path.iterdir()} >= {"conform.json", "envelope-0.svg"}
