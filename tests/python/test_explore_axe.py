"""axe-core finds nothing serious on the pages of `dumbbell explore`."""

from __future__ import annotations

import importlib.util
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from dumbbell.explore import ExploreServer, write_export
from dumbbell.explore.live_page import LivePage
from dumbbell.scenario import Scenario
from tests.python.browser import CHROMIUM, Browser
from tests.python.test_explore_live import look

#: Older versions of axe-core do not know `aria-description`, which is of ARIA 1.3.
RUN = """axe.run({ rules: { "aria-valid-attr": { enabled: false } } }).then(function (found) {
  return JSON.stringify(found.violations.filter(function (each) {
    return each.impact === "serious" || each.impact === "critical";
  }).map(function (each) { return [each.id, each.nodes[0].html, each.nodes[0].failureSummary]; }));
})"""


def axe_script() -> Path | None:
    """Return axe.min.js: that of `DUMBBELL_AXE`, or of the package axe-core-python."""
    if "DUMBBELL_AXE" in os.environ:
        return Path(os.environ["DUMBBELL_AXE"])
    package = importlib.util.find_spec("axe_core_python")
    return None if package is None else Path(str(package.origin)).with_name("axe.min.js")


AXE = axe_script()
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium; apt install chromium"),
    pytest.mark.skipif(AXE is None, reason="no axe-core; pip install axe-core-python"),
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[Browser]:
    found = Browser(tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


def findings(page: Browser) -> list[list[str]]:
    """Return what axe-core finds on a page with all of it unfolded."""
    assert AXE is not None
    page.js("document.querySelectorAll('details').forEach(function (e) { e.open = true; })")
    page.js(AXE.read_text(encoding="utf-8") + ";0")
    found: list[list[str]] = json.loads(page.js(RUN))
    return found


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_with_a_pinned_run_and_a_queue_s_parameters(browser, dark):
    scenario = Scenario(
        ["copa", "cubic"], time="2s", queue="fq_codel", impair="random_loss:loss=1%"
    )
    server = ExploreServer(scenario, language="en")
    thread = threading.Thread(target=server.serve)
    thread.start()
    browser.size(1280, 900, dark=dark)
    browser.open(server.url)
    browser.until("document.querySelector('#stage[aria-busy=false]')")
    browser.js("document.getElementById('pin').click()")
    browser.until("Number(document.getElementById('sweep-plot').dataset.points) > 10")
    assert findings(browser) == []
    browser.js("document.querySelector('[data-text=toml]').click()")
    assert findings(browser) == []
    server.http.shutdown()
    thread.join()


def test_axe_finds_what_is_wrong(browser, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<title>x</title><input><img src=x>", encoding="utf-8")
    browser.open(page.as_uri())
    assert {each[0] for each in findings(browser)} >= {"label", "image-alt"}


def test_an_exported_page_and_one_that_follows_a_run(browser, tmp_path):
    path = tmp_path / "page.html"
    write_export(Scenario(["copa", "cubic"], time="2s"), path, ["buffer=1..4bdp"], language="en")
    browser.open(path.as_uri())
    browser.until("document.querySelector('#stage[aria-busy=false]')")
    assert findings(browser) == []
    scenario = Scenario(["copa", "cubic"], rate="10mbit", rtt="40ms")
    with LivePage(scenario, lambda: look(1.0, [5, 6]), lambda **_: None, can_end=True) as page:
        browser.open(page.url)
        browser.until("document.querySelectorAll('.panel canvas').length === 3")
        assert findings(browser) == []
