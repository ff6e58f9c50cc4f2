"""The command `dumbbell explore`: what it takes, prints and opens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from dumbbell.base.errors import EngineError
from dumbbell.cli.explore import scenario_named
from dumbbell.explore import ExploreServer
from dumbbell.scenario import Scenario
from tests.python.explore_server import served

TEMPLATE = Path(__file__).parents[2] / "cc" / "reno.bpf.c"
#: A scenario of a real program.
PROGRAMS = '[[group]]\nclient = "curl http://{server}/"\nserver = "python3 -m http.server"\n'


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


def test_a_taken_port_is_one_line():
    with served(Scenario(["copa"], time="2s")) as server:
        port = server.http.server_port
        with pytest.raises(
            EngineError, match=f"port {port} is taken; choose another with `--port`"
        ):
            ExploreServer(Scenario(["copa"], time="2s"), port)


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
