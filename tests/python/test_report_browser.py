"""The report in a real browser: it draws when it is clicked, and fits a phone."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import dumbbell
from dumbbell.report.source import load_results
from dumbbell.report.sweep_page import render_sweep
from dumbbell.sweeps import Sweep

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium; apt install chromium")
#: Clicks the second cell, waits until it is drawn, clicks it again, and writes what is there into
#: the document.
CLICK = """
<script>
window.addEventListener("load", async function () {
  const errors = [];
  window.addEventListener("error", function (event) { errors.push(event.message); });
  const place = document.querySelector('.hit[data-cell="1"]');
  place.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  for (let i = 0; i < 100 && !document.querySelector(".card[data-drawn]"); i += 1) {
    await new Promise(function (done) { setTimeout(done, 50); });
  }
  document.activeElement.blur();
  place.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  await new Promise(function (done) { setTimeout(done, 50); });
  const told = document.createElement("pre");
  told.id = "told";
  told.textContent = JSON.stringify({
    focused: document.activeElement.id,
    cards: document.querySelectorAll("#cards > *").length,
    canvases: document.querySelectorAll("#cards canvas").length,
    name: document.querySelector(".card .name").textContent,
    said: document.querySelector(".card .side p").textContent,
    errors: errors,
  });
  document.body.append(told);
});
</script>
"""
#: Shows a page in a frame as wide as a phone and tells what sticks out of it.
PHONE = """<!doctype html><body><iframe id="phone" width="390" height="844"></iframe>
<script>
const phone = document.getElementById("phone");
phone.addEventListener("load", async function () {
  const page = phone.contentDocument.documentElement;
  const seen = function (each) { return getComputedStyle(each).visibility === "visible"; };
  const place = page.querySelector('.hit[data-cell="1"]');
  place.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  for (let i = 0; i < 100 && !page.querySelector(".card[data-drawn]"); i += 1) {
    await new Promise(function (done) { setTimeout(done, 50); });
  }
  const told = document.createElement("pre");
  told.id = "told";
  told.textContent = JSON.stringify({ wide: page.scrollWidth, seen: page.clientWidth,
    panels: page.querySelectorAll("figure svg.panel").length,
    lines: Array.from(page.querySelector(".u-legend").querySelectorAll(".u-series")).filter(seen)
      .map(function (each) { return each.textContent.trim(); }) });
  document.body.append(told);
});
phone.srcdoc = SOURCE;
</script>"""


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    directory = tmp_path_factory.mktemp("sweep") / "s"
    scenario = dumbbell.Scenario(["copa", "cubic"], time="2s")
    Sweep(scenario, {"buffer": "1..4bdp"}, reps=3).run(cache=False, out=directory)
    return render_sweep(load_results(directory))


def shown_in_browser(text: str, path: Path) -> str:
    """Return what the page wrote into `#told`, when its scripts have run."""
    path.write_text(text, encoding="utf-8")
    found = subprocess.run(
        [
            str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
            "--virtual-time-budget=20000", f"--user-data-dir={path.parent / 'profile'}",
            f"file://{path}",
        ],
        capture_output=True, text=True, check=True, timeout=110,
    )  # fmt: skip
    told = re.search(r'<pre id="told">(.*?)</pre>', found.stdout, re.DOTALL)
    assert told is not None, found.stdout[-500:]
    return html.unescape(told[1])


def test_a_click_draws_the_cell_over_time(page, tmp_path):
    told = shown_in_browser(page.replace("</body>", CLICK + "</body>"), tmp_path / "page.html")
    assert '"errors":[]' in told
    assert '"name":"buffer=2bdp"' in told
    assert '"said":"seed 1, OK"' in told
    assert '"focused":"card-1","cards":1' in told, "the second click goes to the card that is there"
    canvases = re.search(r'"canvases":(\d+)', told)
    assert canvases is not None
    assert int(canvases[1]) >= 8, "goodput, inflight, RTT, queue, and both controls' states"


def test_nothing_sticks_out_on_a_phone(page, tmp_path):
    source = json.dumps(page).replace("</", "<\\/")
    told = json.loads(shown_in_browser(PHONE.replace("SOURCE", source), tmp_path / "phone.html"))
    assert told["panels"] > 4
    assert told["wide"] <= told["seen"] <= 390
    assert told["lines"] == ["Copa", "CUBIC"]
