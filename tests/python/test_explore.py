"""`dumbbell explore`: what the page asks of the server, and what it is answered."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

import dumbbell
from dumbbell.base.errors import EngineError, ScenarioError
from dumbbell.cli.explore import scenario_named
from dumbbell.explore import redirect
from dumbbell.explore.axis_sweep import sweep_lines
from dumbbell.explore.changes import changed
from dumbbell.explore.controls import controls_of, sections_of
from dumbbell.explore.laboratory import beginning_of
from dumbbell.explore.redirect import redirect_page
from dumbbell.explore.server import ExploreServer
from dumbbell.explore.words import as_command, as_python, scenario_of_toml
from dumbbell.guide import scenarios
from dumbbell.run.engine import default_workers
from dumbbell.runs import run_key
from dumbbell.scenario import Group, Scenario
from dumbbell.scenario.fields import fields_of

#: A file whose every second line of interest is right; the test breaks one.
TEMPLATE = Path(__file__).parents[2] / "cc" / "reno.bpf.c"
HOSTILE = Path(__file__).parents[1] / "hostile"
#: A scenario of a real program.
PROGRAMS = '[[group]]\nclient = "curl http://{server}/"\nserver = "python3 -m http.server"\n'


@pytest.fixture
def serving() -> Iterator[ExploreServer]:
    server = ExploreServer(Scenario(["copa", "cubic"], time="2s"))
    thread = threading.Thread(target=server.serve)
    thread.start()
    yield server
    server.http.shutdown()
    thread.join()


def ask(server: ExploreServer, path: str, **asked: Any) -> list[dict[str, Any]]:
    """Return the lines of an answer."""
    body = json.dumps({"window": "w", "slot": "b", **asked}).encode()
    with urllib.request.urlopen(server.url + path, body) as answer:  # noqa: S310 -- our own
        return [json.loads(line) for line in answer.read().splitlines()]


def status(
    server: ExploreServer, path: str, headers: Mapping[str, str], method: str = "POST"
) -> int:
    """Return the status of a request with headers of a stranger's."""
    there = urlsplit(server.url)
    connection = HTTPConnection(str(there.hostname), there.port)
    connection.request(method, path, b"{}", headers={"Content-Length": "2", **headers})
    code = connection.getresponse().status
    connection.close()
    return code


# ---- controls ----


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario(["copa", "bbr"], queue="fq_codel", impair="random_loss:loss=1%", time="2s"),
        scenario_of_toml(scenarios()["which-queue"].read_text(encoding="utf-8")),
    ],
    ids=["dumbbell", "links"],
)
def test_every_axis_of_a_sweep_has_a_control_and_every_control_is_one(scenario):
    names = controls_of(scenario)
    of_groups = [name for name, field in fields_of(Group).items() if field.is_axis]
    for index, group in enumerate(scenario.groups):
        for name in of_groups:
            assert name == "mtu" or f"{index}.{name}" in names  # no flow of ours has an MTU
        for parameter in group.cc.description.parameters:
            assert f"{index}.{parameter.name}" in names
    # What it shows can be set again, and changes nothing.
    same = {name: each.value for name, each in names.items() if each.value and not each.chosen}
    assert changed(scenario, list(same.items())).to_dict() == scenario.to_dict()


def test_a_slider_stops_at_values_that_a_command_takes():
    scenario = Scenario(["copa", "cubic"], time="2s")
    stops = controls_of(scenario)["buffer"].steps
    assert {"0.5bdp", "1bdp", "64bdp"} <= set(stops)
    for stop in stops:
        assert str(changed(scenario, [("buffer", stop)]).buffer) == stop


def test_the_value_of_a_field_is_among_the_stops_of_its_slider():
    scenario = Scenario(["cubic"], rate="31415kbit", buffer="77pkt", time="2s")
    found = controls_of(scenario)
    for name in ("rate", "buffer"):
        assert found[name].value in found[name].steps


def test_a_queue_s_parameters_appear_with_it_and_are_set():
    scenario = changed(Scenario(["cubic"], time="2s"), [("queue", "codel")])
    assert controls_of(scenario)["queue:target"].value == "5ms"
    scenario = changed(scenario, [("queue:target", "20ms")])
    assert str(scenario.queue) == "codel:target=20ms"
    assert "queue:target" not in controls_of(changed(scenario, [("queue", "")]))


def test_an_element_is_chosen_with_an_example_of_what_it_needs():
    scenario = changed(Scenario(["cubic"], time="2s"), [("0.traffic", "poisson")])
    assert controls_of(scenario)["0.traffic.load"].value == "30%"
    scenario = changed(scenario, [("impair", "policer+duplicate")])
    assert [each.name for each in scenario.impair] == ["policer", "duplicate"]
    again = changed(scenario, [("impair:0.rate", "7mbit")])
    assert "policer:rate=7mbit" in str(again.impair)


def test_changes_that_follow_a_pick_are_of_what_was_picked():
    scenario = Scenario(["cubic"], time="2s")
    picked = changed(scenario, [("rtt", "9ms"), ("0.traffic", "video"), ("0.traffic.chunks", "3")])
    assert (str(picked.rtt), str(picked.groups[0].traffic)) == ("9ms", "video:chunks=3")
    with pytest.raises(ScenarioError, match="no parameter `chunks`"):
        changed(picked, [("0.traffic", "page"), ("0.traffic.chunks", "3")])
    with pytest.raises(ScenarioError, match="neither a group's field nor a parameter of `reno`"):
        changed(scenario, [("0.cc", "reno"), ("0.beta", "500")])


def test_groups_come_and_go():
    scenario = Scenario(["copa", "cubic"], time="2s")
    three = changed(scenario, [("+group", "bbr")])
    assert [group.cc.name for group in three.groups] == ["copa", "cubic", "bbr"]
    assert [group.cc.name for group in changed(three, [("-group", "0")]).groups] == ["cubic", "bbr"]
    with pytest.raises(ScenarioError, match="needs a group"):
        changed(Scenario(["copa"], time="2s"), [("-group", "0")])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("rate", "50"), "no unit"),
        (("nosuch", "1"), "not a field"),
        (("queue:target", "1ms"), "choose a queue first"),
        (("impair:0.loss", "1%"), "no impairment"),
        (("-group", "7"), "no group"),
        (("0.mode_window_rtts", "99"), "use 1 to 30"),
    ],
)
def test_what_cannot_be_set_is_refused_in_words(change, message):
    with pytest.raises(ScenarioError, match=message):
        changed(Scenario(["copa"], time="2s"), [change])


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
    found = ask(serving, "show", changes=changes)
    assert [line["kind"] for line in found] == ["scenario", "picture", "end"]
    asked = {"window": "w", "toml": found[0]["toml"]}
    body = json.dumps(asked).encode()
    with urllib.request.urlopen(serving.url + "json", body) as answer:  # noqa: S310 -- our own
        document = answer.read().decode()
    command = shlex.split(found[0]["command"])
    assert command[:2] == ["dumbbell", "run"]
    assert cli(*command[1:], "--json").out == document
    rows = found[1]["rows"]
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
    assert json.loads(run.getresponse().readline())["kind"] == "scenario"
    requests = serving.laboratory.windows.requests
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
    states = ask(serving, "show")[1]["states"]
    copa = next(each for each in states if each["label"] == "Copa")
    assert copa["names"][0] in ("default", "competitive", "slow start", "loss")
    assert copa["times"] == sorted(copa["times"])
    assert len(copa["times"]) == len(copa["names"])


def test_the_answer_says_who_wins_in_both_languages(serving):
    answer = ask(serving, "show", changes=[("buffer", "16bdp"), ("time", "20s")])[-2]["answer"]
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


# ---- who may ask ----


def test_only_the_page_itself_is_answered(serving):
    own = urlsplit(serving.url).path + "show"
    host = f"127.0.0.1:{serving.http.server_port}"
    assert status(serving, own, {"Host": host}) == 200
    assert status(serving, own, {"Host": host, "Origin": f"http://{host}"}) == 200
    assert status(serving, own, {"Host": host, "Origin": "http://example.org"}) == 403
    assert status(serving, own, {"Host": host, "Origin": "null"}) == 403
    assert status(serving, own, {"Host": host, "Sec-Fetch-Site": "cross-site"}) == 403
    # Names of headers have no case.
    assert status(serving, own, {"host": host, "origin": f"http://{host}"}) == 200
    assert status(serving, own, {"host": host, "origin": "http://example.org"}) == 403
    assert status(serving, own, {"host": host, "sec-fetch-site": "cross-site"}) == 403
    # DNS rebinding: a name of the web's that leads here.
    rebound = f"example.org:{serving.http.server_port}"
    assert status(serving, own, {"Host": rebound, "Origin": f"http://{rebound}"}) == 403
    assert status(serving, "/show", {"Host": host}) == 403
    assert status(serving, "/wrong-token/show", {"Host": host}) == 403
    assert status(serving, own + "/other", {"Host": host}) == 404


def test_a_link_with_the_token_is_followed_from_anywhere_and_nothing_else_is_asked(serving):
    host = f"127.0.0.1:{serving.http.server_port}"
    link = {"Host": host, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    page = {**link, "Sec-Fetch-Dest": "document"}
    own = urlsplit(serving.url).path
    assert status(serving, own, page, method="GET") == 200
    assert status(serving, "/wrong-token/", page, method="GET") == 403
    assert status(serving, own, {**link, "Sec-Fetch-Dest": "iframe"}, method="GET") == 403
    # A form of another page's.
    assert status(serving, own + "show", {**page, "Origin": "null"}) == 403


def test_the_file_that_leads_to_the_page_is_private_and_removed():
    with redirect_page("http://127.0.0.1:1/token/") as address:
        path = Path(urlsplit(address).path)
        assert "url=http://127.0.0.1:1/token/" in path.read_text(encoding="utf-8")
        assert [each.stat().st_mode & 0o777 for each in (path, path.parent)] == [0o600, 0o700]
        assert "token" not in address
    assert not path.parent.exists()


def test_browsers_of_snaps_are_led_from_the_home_directory(tmp_path, monkeypatch):
    monkeypatch.setattr(redirect, "SNAPS", tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    with redirect_page("http://127.0.0.1:1/token/") as address:
        path = Path(urlsplit(address).path)
        assert path.parent.parent == tmp_path
        assert not path.parent.name.startswith(".")


@pytest.mark.parametrize("unsafe", [(), ("--unsafe-no-sandbox",)])
def test_the_token_is_on_no_command_line(unsafe, tmp_path):
    browser, seen = tmp_path / "browser", tmp_path / "seen"
    browser.write_text(f'#!/bin/sh\necho "$1" >{seen}.part\nmv {seen}.part {seen}\n')
    browser.chmod(0o755)
    command = [sys.executable, "-m", "dumbbell", "explore", "reno", "--time", "2s", *unsafe]
    environment = {**os.environ, "BROWSER": str(browser), "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[0]
        while not seen.exists():
            assert process.poll() is None
            time.sleep(0.01)
        opened = seen.read_text().strip()
        assert opened.startswith(f"file://{tmp_path}/")
        assert url in Path(urlsplit(opened).path).read_text(encoding="utf-8")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    assert not Path(urlsplit(opened).path).exists()


def test_it_listens_on_the_loopback_interface_alone(serving):
    assert serving.http.server_address[0] == "127.0.0.1"


def test_a_taken_port_is_one_line(serving):
    port = serving.http.server_port
    with pytest.raises(EngineError, match=f"port {port} is taken; choose another with `--port`"):
        ExploreServer(Scenario(["copa"], time="2s"), port)


def test_nonsense_is_refused(serving):
    for body in (b"", b"[]", b"{", b'{"changes": 7}', b'{"changes": [["a"]]}', b'{"toml": "x"}'):
        request = urllib.request.Request(serving.url + "sweep", body)  # noqa: S310 -- our own
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request)  # noqa: S310 -- our own
        assert refused.value.code == 400
        refused.value.close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nosuch"], "unknown congestion control `nosuch`"),
        (["@nosuch"], "unknown scenario `@nosuch`"),
        (["--engine", "kernel"], "`explore` runs in the simulator"),
        (
            ["linux/cubic"],
            "`linux/cubic` runs on a kernel only, and explore simulates; use `cubic`",
        ),
        (
            ["linux/cubic", "--engine", "kernel"],
            "`linux/cubic` runs on a kernel only, and explore simulates; use `cubic`",
        ),
        (
            ["programs.toml"],
            "is a real program, which runs on a kernel only, and explore simulates; follow it with",
        ),
        (["--queue", "kernel:fq_codel"], "queue `kernel:fq_codel` runs on a kernel only"),
        (["http://127.0.0.1:1/t/"], "the link has no scenario"),
        (["https://example.org/who-wins.html#3,0"], "this link is of a page without a server"),
        (["file:///tmp/buffer.html#3"], "this link is of a page without a server"),
        (["--over", "rtt=1ms"], "`--over` is of `--export`"),
        (["--export", "x.html", "--over", "nosuch=1"], "`nosuch` is not a field"),
        (
            ["--export", "x.html", "--over", "0.flows=1..4", "--over", "seed=1..4"],
            "`seed` cannot be an axis",
        ),
    ],
)
def test_a_naive_user_s_mistakes_are_one_line(arguments, message, cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "programs.toml").write_text(PROGRAMS, encoding="utf-8")
    outcome = cli("explore", *arguments)
    assert outcome.code == 2
    assert message in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_the_command_prints_its_address_and_ends_with_ctrl_c():
    command = [sys.executable, "-m", "dumbbell", "explore", "reno", "--time", "2s", "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[0]
        with urllib.request.urlopen(url) as page:  # noqa: S310 -- our own
            assert page.status == 200
            policy = page.headers["Content-Security-Policy"]
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    assert "default-src 'none'" in policy
    assert "'unsafe-inline'" not in policy.partition("style-src")[0]


def test_a_file_alone_runs_beside_cubic(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.bpf.c").write_text(TEMPLATE.read_text(encoding="utf-8"))
    found = scenario_named(["mine.bpf.c"], {}, None, None, None)
    assert [str(group.cc) for group in found.groups] == ["mine.bpf.c", "cubic"]


@pytest.mark.parametrize("start", ["http://127.0.0.1:1/t/", "https://example.org/", "file:///x"])
def test_a_link_opens_its_scenario(start):
    whole = Scenario(["reno"], time="2s", rtt="7ms")
    found = scenario_named([f"{start}#{quote(whole.to_toml())}"], {}, None, None, None)
    assert found.to_dict() == whole.to_dict()


def test_sections_are_named_like_the_groups():
    titles = [section.title for section in sections_of(Scenario(["copa", "cubic"], time="2s"))]
    assert titles == ["the path", "Copa", "CUBIC"]
