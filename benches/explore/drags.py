"""Measure in headless Chromium how fast the page of `dumbbell explore` answers.

`make bench-explore` starts the command as a user does, opens its page several times, and drags its
sliders: each drag goes over some stops of a random slider, a frame apart, and ends at a random one.
What is measured is the time from the last event of a drag to the frame after the first picture of
what it asks for, which may be the beginning of the run, and after the picture of the whole run.
The run is of two flows and 30 s throughout. Exits with 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tests.python.browser import Browser  # noqa: E402

SCENARIO = ("copa", "cubic", "--time", "30s")
#: Sliders that are dragged; another number of flows or another time would be another run.
SLIDERS = ("rate", "rtt", "buffer", "loss", "0.rtt", "1.rtt", "0.start", "1.start")
#: Fastest link to which the rate is dragged, and latest start.
MAX_RATE_MBPS, MAX_START_S = 100, 10
#: Stops that a drag goes over, and the time between them, ms.
STOPS, FRAME_MS = 5, 16
#: The issue's goals: opening, the first picture of a drag, the whole run's; ms, 95th percentile.
GOALS_MS = {"page open to first picture": 1000, "drag to first picture": 100, "drag to whole": 300}

#: Before the page's own scripts: notes when pictures are seen, and what they are of.
NOTE = """
window.seen = [];
new MutationObserver(function () {
  const latest = document.documentElement.dataset.latest;
  requestAnimationFrame(function () { window.seen.push([performance.now(), latest]); });
}).observe(document, { attributes: true, attributeFilter: ["data-drawn"], subtree: true });
"""
#: Goes over stops of a slider; then waits for the whole run's picture.
DRAG = """(async function (name, stops, every_ms) {
  const slider = document.getElementById("control-" + name.replace(/[^\\w]/g, "_"));
  const wait = function (ms) { return new Promise(function (done) { setTimeout(done, ms); }); };
  for (const stop of stops.slice(0, -1)) {
    slider.value = stop;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    await wait(every_ms);
  }
  window.seen = [];
  const began = performance.now();
  slider.value = stops[stops.length - 1];
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  const timeout = began + 20000;
  while (!window.seen.some(function (each) { return each[1] === "whole"; })) {
    if (performance.now() > timeout || !document.getElementById("problem").hidden) { return null; }
    await wait(4);
  }
  const latest = window.seen.filter(function (each) { return each[1] !== ""; });
  const whole = latest.find(function (each) { return each[1] === "whole"; });
  return [latest[0][0] - began, whole[0] - began];
})"""
#: The values at which a slider stops, by its name.
STOPS_OF = "window.explore.controls.stops"


def percentile_95(values: Sequence[float]) -> float:
    """Return the 95th percentile: the value that 5 % of them exceed."""
    return sorted(values)[max(0, -(-95 * len(values) // 100) - 1)]


def allowed(name: str, stop: str) -> bool:
    """Whether a stop leaves the run what is measured."""
    if name == "rate":
        return stop.endswith("mbit") and 1 <= float(stop.removesuffix("mbit")) <= MAX_RATE_MBPS
    if name.endswith(".start"):
        return stop.endswith("ms") or float(stop.removesuffix("s")) <= MAX_START_S
    return True


def opened_ms(browser: Browser, url: str) -> float:
    """Open the page, and return when its first picture was seen."""
    browser.call("Page.navigate", url="about:blank")
    browser.open(url)
    browser.until("window.seen && window.seen.length")
    return float(browser.js("window.seen[0][0]"))


def drag(browser: Browser, draw: random.Random) -> tuple[float, float] | None:
    """Drag a random slider, and return when the first and the whole picture were seen, ms."""
    name = draw.choice(SLIDERS)
    steps: list[str] = browser.js(f"{STOPS_OF}({json.dumps(name)})")
    places = [at for at, stop in enumerate(steps) if allowed(name, stop)]
    begin, end = draw.choice(places), draw.choice(places)
    stops = [
        min(places, key=lambda at: abs(at - (begin + (end - begin) * step / (STOPS - 1))))
        for step in range(STOPS)
    ]
    found = browser.js(f"{DRAG}({json.dumps(name)}, {stops}, {FRAME_MS})")
    return None if found is None else (found[0], found[1])


def measure(drags: int, opens: int, seed: int) -> dict[str, list[float]]:
    """Start the command, and return what was measured, by what it is."""
    command = [sys.executable, "-m", "dumbbell", "explore", *SCENARIO, "--no-open"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    times: dict[str, list[float]] = {name: [] for name in GOALS_MS}
    opening, first, whole = times.values()
    draw = random.Random(seed)  # noqa: S311 -- no secret
    with (
        TemporaryDirectory() as profile,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server,
    ):
        url = next(iter(server.stdout or ())).split()[0]
        browser = Browser(Path(profile))
        try:
            browser.call("Page.addScriptToEvaluateOnNewDocument", source=NOTE)
            browser.size(1280, 900)
            opening.extend(opened_ms(browser, url) for _ in range(opens))
            failed = 0
            while len(whole) < drags:
                browser.until("document.querySelector('#stage[aria-busy=false]')")
                found = drag(browser, draw)
                if found is None:
                    failed += 1
                    if failed > drags:
                        raise SystemExit("error: the page draws nothing")
                    browser.js("document.getElementById('again').click()")
                    continue
                first.append(found[0])
                whole.append(found[1])
        finally:
            browser.close()
            server.terminate()
    print(f"{drags} drags, {failed} of places that cannot be run; seed {seed}")
    if browser.errors:
        raise SystemExit(f"error: {browser.errors[0]}")
    return times


def main() -> int:
    """Print what was measured; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--drags", type=int, default=200)
    parser.add_argument("--opens", type=int, default=20, help="the first is of a server that began")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    times = measure(asked.drags, asked.opens, asked.seed)
    print(f"{'ms':28}{'median':>8}{'95 %':>8}{'most':>8}{'goal':>8}")
    is_missed = False
    for name, values in times.items():
        high, goal = percentile_95(values), GOALS_MS[name]
        is_missed |= high > goal
        mark = "" if high <= goal else "  missed"
        print(
            f"{name:28}{statistics.median(values):8.0f}{high:8.0f}{max(values):8.0f}{goal:8}{mark}"
        )
    print(f"the first opening of all: {times['page open to first picture'][0]:.0f} ms")
    return int(is_missed)


if __name__ == "__main__":
    sys.exit(main())
