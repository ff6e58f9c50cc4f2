"""`dumbbell explore`: what the page asks of the server, and what it is answered."""

from __future__ import annotations

import json
import shlex
import threading
import time
import urllib.request
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import dumbbell
from dumbbell.explore import ExploreServer
from dumbbell.explore.axis_sweep import sweep_lines
from dumbbell.explore.laboratory import beginning_of
from dumbbell.explore.words import as_command, as_python, scenario_of_toml
from dumbbell.guide import scenarios
from dumbbell.run.engine import default_workers
from dumbbell.runs import run_key
from dumbbell.scenario import Scenario
from tests.python.explore_server import ask, served

#: A file whose every second line of interest is right; the test breaks one.
TEMPLATE = Path(__file__).parents[2] / "cc" / "reno.bpf.c"
HOSTILE = Path(__file__).parents[1] / "hostile"


@pytest.fixture
def serving() -> Iterator[ExploreServer]:
    with served(Scenario(["copa", "cubic"], time="2s")) as server:
        yield server


# ---- words ----


@pytest.mark.parametrize("name", scenarios())
def test_texts_to_take_away_are_the_same_scenario(name):
    scenario = Scenario.from_toml(scenarios()[name])
    assert scenario_of_toml(scenario.to_toml()).to_dict() == scenario.to_dict()
    program = as_python(scenario).partition("run = ")[0]
    found: dict[str, Any] = {}
    exec(program, found)  # noqa: S102 -- what the page gives away
    assert found["scenario"].to_dict() == scenario.to_dict()


def test_the_numbers_of_the_page_are_those_of_the_command(serving, cli):
    changes = [("buffer", "4bdp"), ("1.flows", "2"), ("0.mode_window_rtts", "5"), ("rtt", "20ms")]
    picture, scenario, end = ask(serving, "show", changes=changes)
    assert [line["kind"] for line in (picture, scenario, end)] == ["picture", "scenario", "end"]
    assert picture["toml"] == scenario["toml"]
    asked = {"window": "w", "toml": picture["toml"]}
    body = json.dumps(asked).encode()
    with urllib.request.urlopen(serving.url + "json", body) as answer:  # noqa: S310 -- our own
        document = answer.read().decode()
    command = shlex.split(scenario["command"])
    assert command[:2] == ["dumbbell", "run"]
    assert cli(*command[1:], "--json").out == document
    rows = picture["rows"]
    groups = json.loads(document)["groups"]
    assert [row["goodput_mbps"] for row in rows] == [g["goodput_bps"] / 1e6 for g in groups]


def test_a_permalink_reproduces_the_run(serving):
    state = ask(serving, "show", changes=[("queue", "codel")])[0]["toml"]
    again = scenario_of_toml(state)
    whole = Scenario(["copa", "cubic"], time="2s", queue="codel")
    assert run_key(again, "simulator").digest == run_key(whole, "simulator").digest


def test_what_a_command_cannot_say_goes_into_its_file():
    scenario = Scenario.from_toml(scenarios()["which-queue"])
    assert as_command(scenario).startswith("cat >scenario.toml <<'END'\n")


# ---- pictures ----


def test_a_long_run_is_shown_by_its_beginning_first(serving):
    serving.laboratory.packets_per_s = 1e4  # as on a slow machine
    found = ask(serving, "show", changes=[("time", "20s")])
    parts = [line for line in found if line["kind"] == "picture"]
    assert [line["part"] for line in parts] == ["beginning", "whole"]
    assert parts[0]["seconds"] < parts[1]["seconds"] == 20
    # Both are drawn over the same time.
    assert parts[0]["figures"][0]["x_range"] == parts[1]["figures"][0]["x_range"] == [0, 20]


def test_the_run_of_the_beginning_is_the_beginning_of_the_run():
    scenario = Scenario(["copa", "cubic"], time="8s")
    begins = beginning_of(scenario, 0.25)
    assert begins is not None
    first, whole = dumbbell.run(begins).flows, dumbbell.run(scenario).flows
    assert whole.slice(0, first.num_rows - 2).equals(first.slice(0, first.num_rows - 2))


def test_a_request_ends_the_one_before(serving):
    serving.laboratory.packets_per_s = 1e12
    slow: list[list[dict[str, Any]]] = []
    changes = [("time", "300s"), ("rate", "1gbit")]
    thread = threading.Thread(target=lambda: slow.append(ask(serving, "show", changes=changes)))
    thread.start()
    while ("w", "b") not in serving.laboratory.windows.requests:
        time.sleep(0.01)
    began = serving.laboratory.windows.requests["w", "b"]
    quick = ask(serving, "show")
    thread.join()
    assert quick[-1]["kind"] == "end"
    assert slow[0][-1]["kind"] == "overtaken"
    assert began.is_over


def test_a_closed_window_stops_what_it_asked_for(serving):
    serving.laboratory.packets_per_s = 1e12  # it sends nothing before the whole run
    there = urlsplit(serving.url)
    events, run = (HTTPConnection(str(there.hostname), there.port) for _ in range(2))
    events.request("GET", f"{there.path}events?window=w")
    assert events.getresponse().readline() == b": here\n"
    changes = [["time", "300s"], ["rate", "1gbit"]]
    run.request("POST", f"{there.path}show", json.dumps({"window": "w", "changes": changes}))
    assert run.getresponse().status == 200
    requests = serving.laboratory.windows.requests
    while ("w", "") not in requests:
        time.sleep(0.01)
    events.close()
    run.close()
    while ("w", "") in requests:
        time.sleep(0.01)
    # The run has ended too: its turn is another's.
    for _ in range(default_workers("simulator")):
        assert serving.laboratory.turn.acquire(timeout=60)


def test_lines_that_nobody_reads_stop_and_keep_no_turn(serving):
    laboratory = serving.laboratory
    laboratory.turn, laboratory.packets_per_s = threading.Semaphore(1), 1e4
    shown = laboratory.show({"window": "w", "slot": "b", "changes": [["time", "20s"]]})
    assert [json.loads(next(shown))["kind"] for _ in range(2)] == ["scenario", "picture"]
    assert laboratory.turn.acquire(blocking=False), "a reader that is slow keeps others waiting"
    request = laboratory.windows.requests["w", "b"]
    assert not request.is_over
    shown.close()
    assert request.is_over
    asked = laboratory.windows.begin("w", "sweep")
    points = sweep_lines(laboratory.start, {"axis": "buffer"}, asked)
    assert [json.loads(next(points))["kind"] for _ in range(2)] == ["axes", "point"]
    points.close()
    assert asked.is_over


def test_the_states_of_an_algorithm_have_their_times(serving):
    states = ask(serving, "show")[0]["states"]
    copa = next(each for each in states if each["label"] == "Copa")
    assert copa["names"][0] in ("default", "competitive", "slow start", "loss")
    assert copa["times"] == sorted(copa["times"])
    assert len(copa["times"]) == len(copa["names"])


def test_the_answer_says_who_wins_in_both_languages(serving):
    answer = ask(serving, "show", changes=[("buffer", "16bdp"), ("time", "20s")])[0]["answer"]
    assert answer["en"].startswith("CUBIC wins: ")
    assert answer["ja"].startswith("CUBIC が優勢")


def test_the_points_of_a_sweep_are_the_runs_of_its_values(serving):
    found = ask(serving, "sweep", axis="buffer", metric="goodput_per_flow_bps")
    axes = found[0]
    assert "1bdp" in axes["values"] or "0.1bdp" in axes["values"]
    points = {line["at"]: line["values"] for line in found if line["kind"] == "point"}
    assert sorted(points) == list(range(len(axes["values"])))
    at = axes["values"].index("2bdp")
    run = dumbbell.run(["copa", "cubic"], time="2s", buffer="2bdp")
    expected = [group["goodput_per_flow_bps"] / 1e6 for group in run.groups]
    assert points[at] == pytest.approx(expected, rel=1e-9)


def test_a_sweep_over_algorithms_has_a_point_for_each(serving):
    found = ask(serving, "sweep", axis="1.cc")
    assert {"bbr", "cubic"} <= set(found[0]["values"])
    assert {line["kind"] for line in found} == {"axes", "point", "end"}


def test_a_run_is_saved(serving, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (saved,) = ask(serving, "save")
    run = dumbbell.Run.load(tmp_path / saved["path"])
    assert [group.cc.name for group in run.scenario.groups] == ["copa", "cubic"]


# ---- an own algorithm ----


def test_a_file_that_does_not_compile_says_the_line_and_runs_when_it_is_right_again(
    serving, tmp_path
):
    file = tmp_path / "mine.bpf.c"
    text = TEMPLATE.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if line.startswith("u32 BPF_PROG("))
    file.write_text("".join([*lines[:at], "u33" + lines[at][3:], *lines[at + 1 :]]))
    broken = ask(serving, "show", changes=[("0.cc", str(file))])
    assert broken[-1]["kind"] == "error"
    assert f"mine.bpf.c:{at + 1}:" in broken[-1]["message"]
    file.write_text(text)
    whole = ask(serving, "show", changes=[("0.cc", str(file))])
    assert [line["kind"] for line in whole] == ["scenario", "picture", "end"]


def test_a_saved_file_is_an_event(serving, tmp_path):
    file = tmp_path / "mine.bpf.c"
    file.write_text(TEMPLATE.read_text(encoding="utf-8"))
    ask(serving, "show", changes=[("0.cc", str(file))])
    with urllib.request.urlopen(serving.url + "events?window=w") as events:  # noqa: S310 -- our own
        assert events.readline() == b": here\n"
        time.sleep(0.3)
        file.write_text(file.read_text() + "/* saved */\n")
        while (line := events.readline()) != b"event: saved\n":
            assert line, "the stream ended without the event"


def test_a_file_that_crashes_is_said_and_one_that_hangs_is_overtaken(serving):
    crashed = ask(serving, "show", changes=[("0.cc", str(HOSTILE / "abort.bpf.c"))])
    assert crashed[-1]["kind"] == "error"
    assert "abort.bpf.c" in crashed[-1]["message"]
    hung: list[list[dict[str, Any]]] = []
    changes = [("0.cc", str(HOSTILE / "loop.bpf.c"))]
    thread = threading.Thread(target=lambda: hung.append(ask(serving, "show", changes=changes)))
    before = serving.laboratory.windows.requests.get(("w", "b"))
    thread.start()
    while serving.laboratory.windows.requests.get(("w", "b")) is before:
        time.sleep(0.01)
    assert ask(serving, "show")[-1]["kind"] == "end"
    thread.join()
    assert hung[0][-1]["kind"] in ("overtaken", "error")
