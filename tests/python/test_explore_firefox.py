"""The pages of `dumbbell explore` in Firefox, where it is installed."""

from __future__ import annotations

import threading

import pytest

from dumbbell.explore import ExploreServer, write_export
from dumbbell.scenario import Scenario
from tests.python.firefox import FIREFOX, Firefox

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(FIREFOX is None, reason="no Firefox; apt install firefox-esr"),
]
#: The picture is of what the controls say.
SETTLED = "document.querySelector('#stage[aria-busy=false]')"
MOVE = """(function () {
  const control = document.getElementById("control-buffer");
  control.value = 16;
  control.dispatchEvent(new Event("input", { bubbles: true }));
})()"""


@pytest.fixture
def firefox(tmp_path):
    found = Firefox(tmp_path)
    yield found
    found.close()


def test_a_slider_draws_another_run_and_a_page_without_a_server_opens(firefox, tmp_path):
    said = "document.getElementById('answer').innerText"
    server = ExploreServer(Scenario(["copa", "cubic"], time="2s"), language="en")
    thread = threading.Thread(target=server.serve)
    thread.start()
    firefox.open(server.url)
    firefox.until(SETTLED)
    before = firefox.js(said)
    firefox.js(MOVE)
    firefox.until(SETTLED)
    assert firefox.js(said) != before
    firefox.until("decodeURIComponent(location.hash).includes('buffer = \"48bdp\"')")
    firefox.until("Number(document.getElementById('sweep-plot').dataset.points) > 10")
    server.http.shutdown()
    thread.join()
    path = tmp_path / "page.html"
    write_export(Scenario(["copa", "cubic"], time="2s"), path, ["buffer=1..4bdp"], language="en")
    firefox.open(path.as_uri())
    firefox.until(SETTLED)
    assert "Packets wait" in firefox.js(said)
