"""What identification is made of: laws, rounds, trees, calibration, the shipped models."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dumbbell
from dumbbell.base.errors import ResultError
from dumbbell.identify import (
    FEATURES,
    SURPRISES,
    Forest,
    Model,
    NamingRule,
    features_of,
    rounds_of,
    trace_of,
)
from dumbbell.identify.laws import LAWS
from dumbbell.identify.model import SHIPPED, shipped_model
from dumbbell.identify.trace import Trace
from dumbbell_studies.identification.algorithms import (
    DEVELOPED_ON,
    NEVER_SHOWN,
    copied,
    drawn_cc,
    switched_cc,
)
from dumbbell_studies.identification.boosting import Boosting, boost
from dumbbell_studies.identification.calibration import LabelledFeatures, train
from dumbbell_studies.identification.expectation import expected_of
from dumbbell_studies.identification.novelty import with_novelty
from dumbbell_studies.identification.outcome import outcome_of
from dumbbell_studies.identification.path import draw_path, scenario_of
from dumbbell_studies.identification.samples import labelled_flows

RTT_S, STEP_S = 0.05, 0.01


def sawtooth(kept: float, per_rtt: float, seconds: float = 40.0) -> Trace:
    """A flow whose window grows evenly to 200 packets and is then cut: no queue, no slow start."""
    count = round(seconds / STEP_S)
    window, windows, lost = 150.0, [], np.zeros(count)
    for at in range(count):
        if window >= 200:
            lost[at] = 1
            window *= kept
        window += per_rtt * STEP_S / RTT_S
        windows.append(window)
    inflight = np.array(windows)
    sent = inflight * 1448 * STEP_S / RTT_S
    return Trace(
        vantage="sender", step_s=STEP_S, time_s=np.arange(count, dtype=np.float64) * STEP_S,
        inflight_pkts=inflight,
        rtt_s=np.full(count, RTT_S), base_rtt_s=RTT_S, sent_bytes=sent, delivered_bytes=sent,
        lost_pkts=lost, mss_bytes=1448.0, ect_share=0.0, ce_share=0.0,
        window_bytes=np.zeros(count), is_estimated=False,
    )  # fmt: skip


def measured(trace: Trace) -> dict[str, float]:
    rounds = rounds_of(trace)
    assert rounds is not None
    values = features_of(trace, rounds, is_from_start=False)
    return dict(zip(FEATURES, values.tolist(), strict=True))


def test_what_is_left_after_a_loss_and_the_growth_are_measured():
    found = measured(sawtooth(0.5, 1.0))
    # Two rounds after the loss the window has grown by about three packets.
    assert found["keeps_q50"] == pytest.approx(0.5, abs=0.03)
    assert found["grows_q50"] == pytest.approx(1.0, abs=0.05)
    assert found["ratio_reno"] == pytest.approx(0.0, abs=0.06)
    assert found["error_reno"] < 0.03
    assert found["error_scalable"] > 3 * found["error_reno"]


def test_a_faster_sawtooth_is_not_renos():
    found = measured(sawtooth(0.7, 3.0))
    assert found["keeps_q50"] == pytest.approx(0.7, abs=0.04)
    # ln 3
    assert found["ratio_reno"] == pytest.approx(1.10, abs=0.06)


def test_a_recovery_that_goes_on_is_one_loss_and_growth_begins_when_it_ends():
    # Every packet leaves after the RTT, so rounds have five steps. A loss, and what it lost again
    # three rounds later; the window falls for two more.
    trace = sawtooth(1.0, 1.0, seconds=20.0)
    trace.lost_pkts[:] = 0
    trace.lost_pkts[[1000, 1015]] = 1
    grows = np.arange(1000) * STEP_S / RTT_S
    trace.inflight_pkts[:1000] = 200 + grows
    trace.inflight_pkts[1000:1025] = 400
    trace.inflight_pkts[1025:1030] = 300
    trace.inflight_pkts[1030:1035] = 220
    trace.inflight_pkts[1035:] = 200 + grows[:965]
    rounds = rounds_of(trace)
    assert rounds is not None
    first, last = rounds.losses[0]
    assert len(rounds.losses) == 1
    assert last - first == 3
    epoch = rounds.epochs[-1]
    assert epoch.after_pkts == pytest.approx(200, abs=2)
    assert measured(trace)["ratio_reno"] == pytest.approx(0.0, abs=0.06)


def test_the_shape_of_growth_tells_a_share_of_the_window_from_a_constant():
    constant, share = measured(sawtooth(0.7, 1.0)), sawtooth(0.7, 1.0)
    # The same losses, but from 140 to 200 packets by the same share in each round.
    teeth = share.inflight_pkts - 140
    share.inflight_pkts[:] = 140 * (200 / 140) ** (teeth / 60)
    by_share = measured(share)
    assert constant["growth_by_window"] == pytest.approx(0.0, abs=0.2)
    assert by_share["growth_by_window"] == pytest.approx(1.0, abs=0.3)
    assert by_share["growth_of_part_5"] > by_share["growth_of_part_0"] + 0.15


def test_falls_without_a_loss_and_slow_start_after_one_are_measured():
    trace = sawtooth(0.65, 2.0)
    trace.lost_pkts[:] = 0
    found = measured(trace)
    assert found["fall_keeps_q50"] == pytest.approx(0.65, abs=0.03)
    assert "recovery_growth" not in found or np.isnan(found["recovery_growth"])
    # After each loss a window of 8 packets doubles until it is half of what it was.
    again = sawtooth(0.5, 1.0)
    for start in np.flatnonzero(again.lost_pkts > 0)[1:]:
        for step in range(20):
            at = slice(start + 2 * step, start + 2 * step + 2)
            again.inflight_pkts[at] = np.minimum(again.inflight_pkts[at], 8 * 2 ** (0.4 * step))
    assert measured(again)["recovery_growth"] == pytest.approx(2.0, abs=0.4)
    assert measured(again)["recovery_least"] < 0.15
    assert measured(sawtooth(0.5, 1.0))["recovery_growth"] < 1.1


def test_every_law_is_of_an_algorithm_that_the_model_knows():
    assert set(LAWS) <= set(shipped_model().classes)


def test_trees_add_what_their_leaves_say():
    # One tree a class, of depth 2: features 0 > 1 and 1 > 5, a missing value counts as yes.
    forest = Forest(
        features=np.array([[0, 1], [1, 0]], dtype=np.uint8),
        thresholds=np.array([[1, 5], [5, 1]], dtype=np.float32),
        missing=np.array([[True, True], [False, False]]),
        values=np.array([[1, 2, 3, 4], [10, 20, 30, 40]], dtype=np.float16),
        classes=2,
    )
    rows = np.array([[0.0, 0.0], [2.0, 6.0], [np.nan, 0.0]])
    assert forest.scores(rows).tolist() == [[1, 10], [4, 40], [3, 10]]


def test_trees_learn_what_a_threshold_tells():
    chance = np.random.default_rng(3)
    features = chance.normal(size=(600, 5))
    classes = (features[:, 2] > 0.3).astype(np.int64) + 2 * (features[:, 4] > 0).astype(np.int64)
    features[::7, 1] = np.nan
    forest = boost(features[:400], classes[:400], 4, Boosting(rounds=25, depth=3))
    right = forest.scores(features[400:]).argmax(axis=1) == classes[400:]
    assert right.mean() > 0.95


def test_what_looks_like_no_class_is_unknown():
    chance = np.random.default_rng(4)
    centres = {"a": -3.0, "b": 3.0}
    features, labels = [], []
    for name, centre in centres.items():
        rows = np.zeros((300, len(FEATURES)))
        rows[:, :6] = chance.normal(centre, 1.0, size=(300, 6))
        features.append(rows[:, :])
        labels += [name] * 300
    known = LabelledFeatures(np.concatenate(features), labels, list(range(600)), [True] * 600)
    known.features[:, FEATURES.index("vantage")] = 0
    model = train(known, Boosting(rounds=30, depth=3)).model
    between = np.zeros((50, len(FEATURES)))
    between[:, 1:6] = chance.normal(0, 0.2, size=(50, 5)) * np.array([1, -1, 1, -1, 1])
    unknown = [opinion.algorithm is None for opinion in model.opinions(between)]
    assert np.mean(unknown) > 0.6
    own = model.opinions(known.features[:100])
    assert np.mean([opinion.algorithm == "a" for opinion in own]) > 0.85


def test_what_only_others_do_is_novel_although_no_class_differs_in_it():
    chance = np.random.default_rng(5)
    which = np.repeat([0, 1, 2], 200)
    rows = np.zeros((600, len(FEATURES)))
    rows[:, 1:6] = chance.normal(3.0 * which[:, None] - 3, 1.0, size=(600, 5))
    rows[:, 10] = chance.normal(0, 1.0, size=600)
    labels = ["abc"[each] for each in which]
    known = LabelledFeatures(rows, labels, list(range(600)), [True] * 600)
    # Others are as class b, but for a value in which the classes are equal.
    alien = np.concatenate([rows[200:400]] * 2)
    alien[:, 10] += 5
    others = LabelledFeatures(alien[:200], ["other"] * 200, list(range(1000, 1200)), [True] * 200)
    trained = train(known, Boosting(rounds=30, depth=3))
    plain = trained.model
    model, novelty = with_novelty(trained, known, others, Boosting(rounds=30, depth=3))

    def named(each: Model, of: np.ndarray) -> float:
        return float(np.mean([opinion.algorithm is not None for opinion in each.opinions(of)]))

    assert named(plain, alien[200:]) > 0.8
    assert named(model, alien[200:]) < 0.1
    assert named(model, rows) > 0.8
    assert len(novelty) == 800
    assert novelty[600:].mean() > novelty[:600].mean()


def test_an_unfamiliar_flow_needs_more_for_a_name():
    rule = NamingRule((0.7, 0.7), (0.05, 0.1), (2.0, 2.0), (0.0, 0.0), (0.98, 0.95), (0.2, 0.15))
    assert rule.allows(0, 0.8, 0.1, -1.0)
    assert not rule.allows(0, 0.8, 0.1, 1.0)
    assert rule.allows(0, 0.99, 0.3, 1.0)
    assert not rule.allows(0, 1.0, 1.0, 3.0)
    assert not rule.allows(1, 0.8, 0.07, -1.0)


def test_drawn_algorithms_are_the_same_again_and_none_is_reno(tmp_path):
    source = copied("drawn", tmp_path)
    texts = {drawn_cc(seed, source) for seed in range(200)}
    assert len(texts) == 200
    assert drawn_cc(7, source) == drawn_cc(7, source)
    own = [text for text in texts if ":law=0," in text]
    assert own
    gains = [int(re.search(r"gain_milli=(\d+)", text)[1]) for text in own]  # type: ignore[index]
    assert all(gain < 600 or gain > 1700 for gain in gains)


def test_what_a_class_does_on_such_paths_is_no_surprise():
    chance = np.random.default_rng(6)
    rows = np.full((240, len(FEATURES)), np.nan)
    rtt_ms = chance.uniform(20, 200, size=240)
    rows[:, FEATURES.index("base_rtt_ms")] = rtt_ms
    # One class's epochs are longer on a longer path, the other's are not.
    which = np.repeat([0, 1], 120)
    epoch = np.where(which == 0, rtt_ms / 10, 8.0) * chance.normal(1, 0.02, size=240)
    rows[:, FEATURES.index("epoch_s")] = epoch
    expected = expected_of(rows, which, 2)
    found = expected.surprises(rows, which)
    swapped = expected.surprises(rows, 1 - which)
    assert found.shape == (240, SURPRISES)
    assert np.median(swapped[:, 0]) > 2 * np.median(found[:, 0])


def test_a_receiver_sees_the_losses_that_its_sender_repairs(tmp_path):
    capture = tmp_path / "lossy.pcapng"
    dumbbell.run(scenario_of(draw_path(1015), "bbr"), capture=capture)
    losses = {}
    for each in labelled_flows(capture):
        trace = trace_of(each.flow.row, each.flow.ack_row, each.flow.bins)
        assert trace is not None
        losses[each.flow.row["point"].split("-")[0]] = measured(trace)["losses"]
    assert losses["sender"] > 20
    assert losses["receiver"] == pytest.approx(losses["sender"], abs=2)


def test_switched_algorithms_are_the_same_again(tmp_path):
    source = copied("drawn", tmp_path)
    texts = {switched_cc(seed, source) for seed in range(200)}
    assert len(texts) == 200
    assert switched_cc(7, source) == switched_cc(7, source)


@pytest.mark.parametrize("name", ["drawn", *DEVELOPED_ON, *NEVER_SHOWN])
def test_every_source_of_the_study_runs(name, tmp_path):
    source = copied(name, tmp_path)
    run = dumbbell.run([str(source)], rate="10mbit", rtt="40ms", buffer="1bdp", time="15s")
    assert run.groups[0]["goodput_bps"] > 5e6


def test_outcomes_are_counted_and_probabilities_compared_with_what_was_right():
    model = shipped_model()
    rows = np.full((3, len(FEATURES)), np.nan)
    opinions = model.opinions(rows)
    outcome = outcome_of(["cubic", "reno", "cubic"], opinions)
    assert outcome.right + outcome.unknown + outcome.wrong == outcome.flows == 3
    assert sum(count for _, _, count, _, _ in outcome.reliability) == 3


@pytest.mark.parametrize("protocol", ["tcp", "quic"])
def test_the_shipped_models_are_small_and_of_these_features(protocol):
    model = shipped_model(protocol)
    assert {"reno", "cubic", "bbr"} <= set(model.classes)
    assert model.reference.shape[:2] == (2, len(model.classes))
    assert (SHIPPED / f"model-{protocol}.npz").stat().st_size < 1_000_000


def test_a_model_that_learned_from_fewer_features_is_read_and_one_of_more_is_not(tmp_path):
    path = tmp_path / "model.npz"
    shipped_model("quic").save(path)
    data = dict(np.load(path))
    last = f', "{FEATURES[-1]}"'.encode()
    for name, change in (("fewer", (last, b"")), ("more", (last, last + b', "another"'))):
        about = data["about"].tobytes().replace(*change)
        np.savez(path, **{**data, "about": np.frombuffer(about, dtype=np.uint8)})
        if name == "fewer":
            assert Model.load(path).classes == shipped_model("quic").classes
            continue
        with pytest.raises(ResultError, match="another version"):
            Model.load(path)


def test_a_model_of_other_features_is_refused(tmp_path):
    path = tmp_path / "model.npz"
    path.write_bytes(b"PK nothing")
    with pytest.raises(ResultError, match="is not a model"):
        Model.load(path)
    shipped_model().save(path)
    data = dict(np.load(path))
    about = data["about"].tobytes().replace(b"duration_s", b"duration_x")
    np.savez(path, **{**data, "about": np.frombuffer(about, dtype=np.uint8)})
    with pytest.raises(ResultError, match=re.escape("is of another version of dumbbell")):
        Model.load(path)


def test_paths_are_drawn_within_their_ranges_and_the_same_again():
    for seed in range(40):
        path = draw_path(seed, "telling")
        assert path == draw_path(seed, "telling")
        assert 35 <= path.rtt_ms <= 120
        assert (path.queue, path.neighbour, path.loss_percent) == ("bfifo", "", 0.0)
        assert path.rate_mbit * path.rtt_ms / 12 >= 79
    assert len(scenario_of(draw_path(1), "cubic").links) == 2
