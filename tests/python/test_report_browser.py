"""The report in a real browser: it draws, answers clicks, exports, prints and fits a phone."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

import dumbbell
from dumbbell.report.source import load_results
from dumbbell.report.sweep_page import render_sweep
from dumbbell.sweeps import Sweep

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium; apt install chromium"),
]
#: Waits for the first panel, clicks its second point, waits until that cell is drawn, clicks again,
#: saves the panel as SVG, and writes what is there to the console.
CLICK = """
<script>
window.addEventListener("load", async function () {
  const errors = [];
  window.addEventListener("error", function (event) { errors.push(event.message); });
  window.addEventListener("unhandledrejection", function (event) {
    errors.push(String(event.reason));
  });
  async function until(found) {
    for (let i = 0; i < 1000 && !found(); i += 1) {
      await new Promise(function (done) { setTimeout(done, 50); });
    }
  }
  let saved = null;
  URL.createObjectURL = function (blob) { saved = blob; return "#"; };
  await until(function () { return document.querySelector(".multiples .plot[data-drawn]"); });
  const panel = document.querySelector(".multiples .plot");
  const over = panel.querySelector(".u-over");
  function click() {
    const box = over.getBoundingClientRect();
    const at = { bubbles: true, clientX: box.left + 0.4 * box.width, clientY: box.top + 20 };
    ["mousemove", "mousedown", "mouseup", "click"].forEach(function (kind) {
      over.dispatchEvent(new MouseEvent(kind, at));
    });
  }
  click();
  await until(function () { return document.querySelector("#card-1[data-drawn]"); });
  document.activeElement.blur();
  click();
  await new Promise(function (done) { setTimeout(done, 50); });
  const legend = document.querySelector(".metric .legend");
  legend.querySelector("button").click();
  const off = legend.querySelectorAll('[aria-pressed="false"]').length;
  legend.querySelector("button").click();
  panel.parentElement.querySelector(".save button").click();
  await until(function () { return saved; });
  const svg = await saved.text();
  window.dispatchEvent(new Event("beforeprint"));
  await until(function () { return !document.querySelector(".plot > :not(svg)"); });
  const printed = document.querySelectorAll(".plot > svg").length;
  window.dispatchEvent(new Event("afterprint"));
  console.log("seen: " + JSON.stringify({
    focused: document.activeElement.id,
    cards: document.querySelectorAll("#cards > *").length,
    canvases: document.querySelectorAll("#card-1 canvas").length,
    name: document.querySelector("#card-1 .name").textContent,
    said: document.querySelector("#card-1 .side p").textContent,
    chosen: document.getElementById("cell").value,
    off: off, names: legend.children.length,
    svg: new DOMParser().parseFromString(svg, "image/svg+xml").documentElement.nodeName,
    texts: svg.match(/>[^<>]+<\\/text>/g).map(function (each) { return each.slice(1, -7); }),
    lines: (svg.match(/stroke="#0072b2"/g) || []).length,
    plots: document.querySelectorAll(".plot").length, printed: printed,
    drawnAgain: document.querySelectorAll(".plot canvas").length,
    errors: errors,
  }) + " :seen");
});
</script>
"""
#: Shows a page in a frame as wide as a phone and says what sticks out of it.
PHONE = """<!doctype html><body><iframe id="phone" width="390" height="844"></iframe>
<script>
const phone = document.getElementById("phone");
phone.addEventListener("load", async function () {
  const page = phone.contentDocument.documentElement;
  for (let i = 0; i < 1000 && !page.querySelector(".card[data-drawn] .legend button"); i += 1) {
    await new Promise(function (done) { setTimeout(done, 50); });
  }
  console.log("seen: " + JSON.stringify({ wide: page.scrollWidth, seen: page.clientWidth,
    panels: page.querySelectorAll("figure .plot").length,
    lines: Array.from(page.querySelectorAll(".card .legend")[0].children)
      .map(function (each) { return each.textContent.trim(); }) }) + " :seen");
});
phone.srcdoc = SOURCE;
</script>"""


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    directory = tmp_path_factory.mktemp("sweep") / "s"
    scenario = dumbbell.Scenario(["copa", "cubic"], time="2s")
    Sweep(scenario, {"buffer": "1..4bdp"}, reps=3).run(cache=False, out=directory)
    return render_sweep(load_results(directory))


def shown_in_browser(text: str, path: Path) -> Any:
    """Return what the page's script writes to the console between `seen: ` and ` :seen`.

    In real time: Chromium's virtual time runs out while a busy machine's other processes of
    the browser still work.
    """
    path.write_text(text, encoding="utf-8")
    browser = subprocess.Popen(
        [
            str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--enable-logging=stderr", f"--user-data-dir={path.parent / 'profile'}",
            f"file://{path}",
        ],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    out_of_time = Timer(250, browser.kill)
    out_of_time.start()
    lines: list[str] = []
    try:
        assert browser.stderr is not None
        for line in browser.stderr:
            lines.append(line)
            if "seen: " in line:
                return json.loads(line.split("seen: ", 1)[1].rsplit(" :seen", 1)[0])
    finally:
        out_of_time.cancel()
        browser.terminate()
        browser.communicate()
    raise AssertionError("the page wrote nothing within 250 s:\n" + "".join(lines[-20:]))


@pytest.fixture(scope="module")
def seen(page, tmp_path_factory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("clicked") / "page.html"
    found: dict[str, Any] = shown_in_browser(page.replace("</body>", CLICK + "</body>"), path)
    assert found["errors"] == []
    return found


def test_a_click_draws_the_cell_over_time(seen):
    assert seen["name"] == "buffer=2bdp"
    assert seen["said"] == "seed 1, OK"
    assert seen["cards"] == 2, "that of the first cell is there from the start"
    assert seen["focused"] == "card-1", "the second click goes to the card that is there"
    assert seen["chosen"] == "1", "and the list says so"
    assert seen["canvases"] >= 8, "goodput, cwnd, inflight, RTT, queue, and both controls' states"


def test_a_name_in_the_legend_hides_its_curve(seen):
    assert seen["names"] >= 2
    assert seen["off"] == 1


def test_a_panel_is_saved_as_svg_with_its_curves_and_names(seen):
    assert seen["svg"] == "svg"
    assert {"Copa", "CUBIC", "buffer (BDP)", "goodput per flow (Mbit/s)"} <= set(seen["texts"])
    assert seen["lines"] >= 2, "CUBIC's line and its name's"


def test_paper_gets_every_figure_as_lines(seen):
    assert seen["printed"] == seen["plots"] > 10
    assert seen["drawnAgain"] == seen["plots"], "and the screen has them back"


def test_nothing_sticks_out_on_a_phone(page, tmp_path):
    source = json.dumps(page).replace("</", "<\\/")
    seen = shown_in_browser(PHONE.replace("SOURCE", source), tmp_path / "phone.html")
    assert seen["panels"] > 4
    assert seen["wide"] <= seen["seen"] <= 390
    assert seen["lines"] == ["Copa", "CUBIC"]
