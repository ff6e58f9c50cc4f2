"""*Confirm on the kernel* on the page of `explore`: who may, what it shows, when it ends."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from dumbbell.base.errors import Cancelled
from dumbbell.explore import ExploreServer, window
from dumbbell.explore.laboratory import KERNEL_RUN
from dumbbell.run import engine as engines
from dumbbell.run import execute
from dumbbell.run.engine import KERNEL, SIMULATOR
from dumbbell.scenario import Scenario
from tests.python.browser import CHROMIUM, Browser
from tests.python.explore_server import ask, served

RENO = Path(__file__).parents[2] / "cc" / "reno.bpf.c"


@pytest.fixture
def serving() -> Iterator[ExploreServer]:
    with served(Scenario(["reno", "cubic"], time="2s")) as server:
        yield server


def simulated_as_kernel(scenario, control, engine=SIMULATOR):
    """The kernel's part, played by the simulator with another seed."""
    if engine == KERNEL:
        scenario = scenario.replace(seed=scenario.seed + 1)
    return execute(scenario, control)


def test_where_it_cannot_be_confirmed_the_reason_is_said(serving, monkeypatch):
    found = ask(serving, "kernel", changes=[("0.cc", "quic/quinn:cubic")])
    assert found[0]["kind"] == "error"
    assert "kernels have no QUIC" in found[0]["message"]
    monkeypatch.setattr(engines, "may_make_namespaces", lambda: False)
    found = ask(serving, "kernel")
    assert found[0]["kind"] == "error"
    assert "needs root's privileges" in found[0]["message"]


def test_a_moved_slider_ends_the_run_on_the_kernel(serving, monkeypatch):
    def waits(scenario, control, engine=SIMULATOR):
        if engine == SIMULATOR:
            return execute(scenario, control)
        while not request().is_over:
            time.sleep(0.01)
        raise Cancelled("the run was cancelled")

    def request() -> window.Request:
        found: window.Request = serving.laboratory.windows.requests.get(("w", KERNEL_RUN), over)
        return found

    over = window.Request()
    over.cancel()
    monkeypatch.setattr(window, "execute", waits)
    monkeypatch.setattr(engines, "may_make_namespaces", lambda: True)
    found: list[list[dict[str, Any]]] = []
    thread = threading.Thread(target=lambda: found.append(ask(serving, "kernel")))
    thread.start()
    while ("w", KERNEL_RUN) not in serving.laboratory.windows.requests:
        time.sleep(0.01)
    assert ask(serving, "show", changes=[("rtt", "9ms")])[-1]["kind"] == "end"
    thread.join()
    assert found[0][-1]["kind"] == "overtaken"


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium; apt install chromium")
def test_the_page_has_both_beside_each_other_until_a_slider_moves(serving, monkeypatch, tmp_path):
    monkeypatch.setattr(window, "execute", simulated_as_kernel)
    monkeypatch.setattr(engines, "may_make_namespaces", lambda: True)
    browser = Browser(tmp_path)
    browser.open(serving.url)
    browser.until("document.querySelector('#stage[aria-busy=false]')")
    browser.js("document.getElementById('kernel').click()")
    browser.until("!document.getElementById('confirmed').hidden")
    heads = "Array.from(document.querySelectorAll('#confirmed tbody th')).map(e => e.innerText)"
    assert browser.js(heads) == [
        "Reno, simulated", "Reno, on the kernel", "CUBIC, simulated", "CUBIC, on the kernel",
    ]  # fmt: skip
    browser.js(
        "const slider = document.getElementById('control-rtt'); slider.value = 3;"
        "slider.dispatchEvent(new Event('input', { bubbles: true }))"
    )
    browser.until("document.querySelector('#stage[aria-busy=false]')")
    assert browser.js("document.getElementById('confirmed').hidden")
    assert browser.errors == []
    browser.close()


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium; apt install chromium")
def test_a_saved_file_takes_away_what_the_kernel_said_of_the_older_one(
    serving, monkeypatch, tmp_path
):
    monkeypatch.setattr(window, "execute", simulated_as_kernel)
    monkeypatch.setattr(engines, "may_make_namespaces", lambda: True)
    file = tmp_path / "mine.bpf.c"
    shutil.copy(RENO, file)
    state = Scenario([str(file), "cubic"], time="2s").to_toml()
    browser = Browser(tmp_path / "profile")
    browser.open(f"{serving.url}#{quote(state)}")
    browser.until("document.querySelector('#side-b table')?.innerText.includes('mine')")
    browser.until("document.querySelector('#stage[aria-busy=false]')")
    browser.js("document.getElementById('kernel').click()")
    browser.until("!document.getElementById('confirmed').hidden")
    file.write_text(file.read_text() + "/* saved */\n", encoding="utf-8")
    browser.until("document.getElementById('confirmed').hidden")
    browser.until("document.querySelector('#side-b .legend').innerText.includes('before saving')")
    # A run of the new file is shown again.
    browser.until("document.querySelector('#stage[aria-busy=false]')")
    browser.js("document.getElementById('kernel').click()")
    browser.until("!document.getElementById('confirmed').hidden")
    assert browser.errors == []
    browser.close()


@pytest.mark.kernel
def test_the_kernel_confirms(serving, nothing_left):
    begin, found, end = ask(serving, "kernel", changes=[("rate", "10mbit")])
    assert (begin["kind"], begin["seconds"]) == ("begin", 2)
    assert (found["kind"], end["kind"]) == ("kernel", "end")
    assert [row["label"] for row in found["rows"]] == ["Reno", "CUBIC"]
    assert 5 < sum(row["goodput_mbps"] for row in found["rows"]) < 10
