"""`dumbbell fit` and `what-if`: paths of simulated captures, found again.

docs/notes/fit.md has drawn paths on Linux, in virtual and in real time.
"""

from __future__ import annotations

import json
import random
import statistics
from pathlib import Path
from typing import Any

import pytest

from dumbbell import Capture, DumbbellError, Scenario, fit, identify, run, what_if
from dumbbell.base.errors import CaptureError, ScenarioError
from dumbbell.cli.what_if import algorithms_in
from dumbbell.fit import FittedPath, draw_prediction
from dumbbell.scenario import Group

#: A path that is cheap to simulate: 12 Mbit/s, 30 ms.
PATH: dict[str, Any] = {"rate": "12mbit", "rtt": "30ms", "time": "20s", "seed": 7}


@pytest.fixture(scope="module")
def captured(tmp_path_factory):
    """Return a function that captures a scenario at its senders, once each."""
    place = tmp_path_factory.mktemp("captures")
    made: dict[str, Path] = {}

    def capture(*groups: Any, **fields: Any) -> Path:
        name = repr((groups, fields))
        if name not in made:
            made[name] = place / f"{len(made)}.pcapng"
            scenario = Scenario(groups or ["cubic"], **{**PATH, **fields})
            run(scenario, capture=Capture(made[name], points=["sender"], snap="96B"))
        return made[name]

    return capture


def fitted(path: Path, **options: Any) -> FittedPath:
    return fit(path, points=["sender-0"], **options)


def test_a_lone_cubic_tells_rate_rtt_and_buffer(captured):
    found = fitted(captured(buffer="1.5bdp"))
    truth = {"rate_bps": 12e6, "base_rtt_s": 0.030, "buffer_bytes": 67_500}
    assert found.path.kind == "drop-tail"
    for name, value in truth.items():
        interval = found.intervals[name]
        assert interval.low <= value <= interval.high, name
        assert interval.high / interval.low < 1.06, name
    assert found.path.rate_bps == pytest.approx(12e6, rel=0.005)


@pytest.mark.parametrize("queue", ["fq_codel", "pie"])
def test_active_queue_management_is_told_from_a_short_buffer(captured, queue):
    found = fitted(captured(queue=queue))
    assert found.path.queue == queue
    assert "buffer_bytes" not in found.intervals
    assert any("the buffer: active queue management" in note for note in found.notes)


def test_random_loss_leaves_the_buffer_open(captured):
    found = fitted(captured(buffer="8bdp", impair="random_loss:loss=0.2%"))
    assert found.path.loss == pytest.approx(0.002, rel=0.5)
    low, high = found.intervals["loss"].low, found.intervals["loss"].high
    assert low <= 0.002 <= high
    assert "buffer_bytes" not in found.intervals
    assert any(note.startswith("the buffer: it was never filled") for note in found.notes)


def test_hidden_competition_is_seen_in_the_share(captured):
    found = fitted(captured("cubic", Group("cubic", flows=1), buffer="2bdp"))
    assert found.path.competitors > 0
    assert found.intervals["rate_bps"].low <= 12e6 <= found.intervals["rate_bps"].high


def test_constant_traffic_looks_like_a_slower_link_and_the_fit_says_so(captured):
    """CUBIC has what 4 Mbit/s of datagrams leave; they lie evenly between its packets."""
    cross = Group("cubic", traffic="datagram:rate=4mbit,size=1400B")
    found = fitted(captured("cubic", cross, buffer="2bdp"))
    assert found.path.rate_bps == pytest.approx(12e6 - 4e6, rel=0.03)
    assert "constant cross traffic: it may look like a slower link" in found.notes


def test_the_sender_is_identified(captured):
    found = fitted(captured("bbr", buffer="2bdp"))
    assert found.cc == "bbr"
    assert found.how_known.startswith("identified, ")
    assert found.path.rate_bps == pytest.approx(12e6, rel=0.01)


def test_what_bbr_would_have_got_is_not_what_cubic_got(captured):
    """CUBIC fills the buffer of 4 BDP; BBR keeps the RTT low on the same path."""
    truth = run(Scenario(["bbr"], **PATH, buffer="4bdp")).summary["flows"][0]
    bbr = what_if(fitted(captured(buffer="4bdp")), ["bbr"])[0]
    delay, goodput = bbr.interval("rtt_p95_s"), bbr.interval("goodput_bps")
    assert delay.value == pytest.approx(truth["rtt_p95_us"] / 1e6, rel=0.1)
    assert goodput.value == pytest.approx(truth["goodput_bps"], rel=0.03)
    cubic = run(Scenario(["cubic"], **PATH, buffer="4bdp")).summary["flows"][0]
    assert cubic["rtt_p95_us"] / 1e6 > 1.5 * delay.high


def test_the_written_path_runs_as_the_capture_did(captured, cli, tmp_path):
    path = captured(buffer="1.5bdp")
    written = tmp_path / "path.toml"
    result = cli("fit", str(path), "--point", "sender-0", "-o", str(written))
    assert result.code == 0
    assert "queue      drop-tail" in result.out
    again = run(written).summary["flows"][0]
    first = run(Scenario(["cubic"], **PATH, buffer="1.5bdp")).summary["flows"][0]
    assert again["goodput_bps"] == pytest.approx(first["goodput_bps"], rel=0.01)
    assert again["rtt_p95_us"] == pytest.approx(first["rtt_p95_us"], rel=0.02)


def test_what_if_writes_numbers_page_and_path(captured, cli, tmp_path):
    place = tmp_path / "out"
    path = str(captured(buffer="1.5bdp"))
    result = cli("what-if", path, "--point", "sender-0", "--cc", "bbr", "--out", str(place))
    assert result.code == 0
    assert "bbr, predicted" in result.out
    document = json.loads((place / "what-if.json").read_text(encoding="utf-8"))
    assert [each["cc"] for each in document["predictions"]] == ["cubic", "bbr"]
    low, value, high = document["predictions"][1]["goodput_bps"]
    assert low <= value <= high
    page = (place / "what-if.html").read_text(encoding="utf-8")
    assert "bbr, " in page
    assert "予測" in page
    assert (place / "path.toml").is_file()


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"time": "2s"}, "lasted 2.0 s; a fit needs 3 s or more"),
        ({"groups": [Group("cubic", rwnd="15kB")]}, "the receiver's window of 15,000 bytes"),
        ({"groups": [Group("cubic", traffic="onoff")]}, "was limited by its application"),
        ({"groups": [Group("cubic", traffic="cbr:rate=4mbit")]}, "its application, not the path"),
    ],
    ids=["short", "window", "pauses", "constant rate"],
)
def test_a_capture_that_tells_no_path_is_refused(captured, fields, reason):
    groups = fields.pop("groups", ["cubic"])
    with pytest.raises(CaptureError) as refusal:
        fitted(captured(*groups, **fields))
    assert reason in str(refusal.value)


def test_a_capture_at_the_receiver_is_refused_with_how_to_make_one(tmp_path):
    path = tmp_path / "receiver.pcapng"
    run(Scenario(["cubic"], **PATH), capture=Capture(path, points=["receiver"]))
    with pytest.raises(CaptureError, match=r"captured at the receiver.*tcpdump -i any -s 96"):
        fit(path)


def test_damaged_captures_are_fitted_or_refused(captured, tmp_path):
    """Bytes change, and the end is missing: there is always an answer in one line."""
    data = captured(rate="1mbit", time="4s").read_bytes()
    chance, answers = random.Random(5), []  # noqa: S311 -- a test's
    for number in range(12):
        damaged = bytearray(data)
        for _ in range(10 ** (number % 4)):
            damaged[chance.randrange(400, len(damaged))] = chance.randrange(256)
        path = tmp_path / f"{number}.pcapng"
        path.write_bytes(damaged[: len(damaged) if number % 3 else len(damaged) // 2])
        try:
            answers.append(fit(path).path.rate_bps > 0)
        except CaptureError as error:
            answers.append(str(error).startswith(str(path)))
    assert all(answers)


def test_a_file_s_name_writes_no_toml(captured, cli, tmp_path):
    """It stands in comments."""
    path = tmp_path / "a\n[[link]]\x1b.pcapng"
    path.write_bytes(captured(buffer="1.5bdp").read_bytes())
    written = tmp_path / "path.toml"
    assert cli("fit", str(path), "--sender", "cubic", "-o", str(written)).code == 0
    assert Scenario.from_toml(written).is_dumbbell


def test_the_capture_of_a_run_compiles_no_file_of_it(tmp_path):
    """A stranger's run may name any."""
    place = tmp_path / "run"
    run(Scenario(["cubic"], **PATH), capture=Capture(tmp_path / "c.pcapng")).save(place)
    document = (place / "run.json").read_text(encoding="utf-8")
    (place / "run.json").write_text(document.replace('"cubic"', '"./evil.bpf.c"'), "utf-8")
    with pytest.raises(CaptureError, match=r"evil\.bpf\.c`, which is not built in"):
        fit(place)


def test_both_figures_name_their_own_quantity(captured):
    found = fitted(captured(buffer="1.5bdp"))
    figures = draw_prediction(found, what_if(found, ["bbr"]))
    assert [figure.y_label for figure in figures] == ["arrived (Mbit/s)", "RTT (ms)"]


@pytest.mark.parametrize(
    ("text", "algorithms"),
    [
        ("bbr, copa", ["bbr", "copa"]),
        ("copa:mode_window_rtts=5,default_inv_delta=3,bbr,bbr", None),
    ],
)
def test_parameters_stay_with_their_algorithm(text, algorithms):
    found = algorithms_in(text)
    assert found == (algorithms or [text.rpartition(",bbr,bbr")[0], "bbr"])


def test_what_if_takes_algorithms_of_tcp(captured, cli):
    found = fitted(captured(buffer="1.5bdp"))
    with pytest.raises(ScenarioError, match="is QUIC"):
        what_if(found, ["quic/noq:cubic"])
    result = cli("what-if", str(captured(buffer="1.5bdp")), "--cc", "nope")
    assert result.code == 2
    assert "unknown congestion control `nope`" in result.err


def width(found: FittedPath, name: str) -> float:
    return found.intervals[name].high / found.intervals[name].low


def test_two_captures_of_a_path_say_more_than_one(captured):
    fields = {"buffer": "2bdp", "impair": "random_loss:loss=0.05%"}
    paths = [captured("cubic", **fields), captured("reno", seed=8, **fields)]
    alone, both = fitted(paths[0]), fit(paths, points=["sender-0"])
    assert both.path.kind == "drop-tail, random loss"
    assert width(both, "loss") < 0.85 * width(alone, "loss")
    assert both.intervals["loss"].low <= 0.0005 <= both.intervals["loss"].high
    assert both.path.rate_bps == pytest.approx(12e6, rel=0.005)
    assert both.warning == ""
    assert both.capture.count(".pcapng") == 2


def test_captures_of_two_paths_do_not_agree(captured):
    found = fit([captured(buffer="1.5bdp"), captured(buffer="1.5bdp", rate="9mbit")])
    assert "do not agree on the rate" in found.warning


def test_the_capture_s_other_connections_are_competitors_that_are_known(captured):
    """Connection 1 began 3 s later, and connection 2 is there for half of the time."""
    groups = [Group("cubic"), Group("cubic", start="3s"), Group("reno", start="5s", stop="15s")]
    found = fit(captured(*groups, buffer="2bdp"), connection=1)
    assert [each.connection for each in found.path.known] == [0, 2]
    assert [each.cc for each in found.path.known] == ["cubic", "reno"]
    assert found.path.known[0].start_s == pytest.approx(-3, abs=0.1)
    assert found.path.known[1].stop_s == pytest.approx(12, abs=0.5)
    assert found.intervals["rate_bps"].low <= 12e6 <= found.intervals["rate_bps"].high
    assert not any("the fit does not look at them" in note for note in found.notes)


def test_next_to_known_competitors_it_would_get_again_what_it_got(captured):
    """On average: single captures of 20 s are up to 16 % off, either way."""
    groups = [Group("cubic"), Group("cubic", start="3s"), Group("reno", start="5s", stop="15s")]
    ratios = []
    for seed in range(1, 5):
        found = fit(captured(*groups, buffer="2bdp", seed=seed), connection=1)
        again = what_if(found, "cubic")[0].interval("goodput_bps").value
        ratios.append(again / found.seen.series.goodput_bps)
    assert statistics.mean(ratios) == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize("jitter_ms", [0.5, 2.0])
def test_jitter_is_found_with_its_path(captured, jitter_ms):
    path = captured(buffer="1.5bdp", impair=f"jitter:normal={jitter_ms}ms")
    found = fitted(path, sender="cubic")
    assert found.path.kind == "drop-tail, jitter"
    interval = found.intervals["jitter_s"]
    assert interval.low <= jitter_ms / 1e3 <= interval.high
    assert interval.value == pytest.approx(jitter_ms / 1e3, rel=0.15)
    assert found.path.rate_bps == pytest.approx(12e6, rel=0.02)
    assert any(note.startswith("how jitter is distributed") for note in found.notes)


def test_a_path_without_jitter_has_none(captured):
    found = fitted(captured(buffer="1.5bdp"))
    assert found.path.jitter_s == 0
    assert "jitter_s" not in found.intervals


def test_a_rate_that_changes_is_found_with_its_times(captured, tmp_path):
    found = fitted(captured(buffer="60kB", rate_steps="7s:6mbit,13s:18mbit"))
    assert found.path.kind == "drop-tail, changing rate"
    assert found.path.rate_bps == pytest.approx(12e6, rel=0.01)
    (first_s, first_bps), (second_s, second_bps) = found.path.rate_steps
    assert [first_s, second_s] == pytest.approx([7, 13], abs=0.05)
    assert [first_bps, second_bps] == pytest.approx([6e6, 18e6], rel=0.01)
    assert found.path.buffer_bytes == pytest.approx(60_000, rel=0.1)
    found.save(tmp_path / "path.toml")
    assert len(Scenario.from_toml(tmp_path / "path.toml").links[0].rate_steps) == 2


def test_competition_is_not_a_rate_that_changes(captured):
    assert fitted(captured("cubic", Group("bbr", start="4s"), buffer="1bdp")).seen.changes == ()


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        ("what-if a.pcap --cc bbr copa", "separate algorithms with commas: `--cc bbr,copa`"),
        ("fit a.pcap --engine uml", "then `dumbbell run path.toml --engine uml`"),
        ("what-if a.pcap --cc bbr --engine uml", "`dumbbell fit CAPTURE -o path.toml`"),
        ("fit a.pcap --cc bbr", "`--sender CC` says who sent the capture"),
        ("fit a.pcap -o path", "whose name ends in `.toml`; use `-o path.toml`"),
        ("fit a.pcap -o .", "is a directory; use `-o path.toml`"),
    ],
)
def test_an_error_says_what_to_write(cli, words, advice):
    result = cli(*words.split())
    assert result.code == 2
    assert advice in " ".join(result.err.split())


def test_a_missing_connection_or_measure_is_an_error_with_names(captured):
    path = captured(buffer="1.5bdp")
    with pytest.raises(DumbbellError, match="no connection 7 with data"):
        identify(path).connection(7)
    (bbr,) = what_if(path, "bbr")
    assert bbr.interval("goodput_bps").value > 0
    with pytest.raises(ScenarioError, match="did you mean `goodput_bps`"):
        bbr.interval("goodput")
