"""Screenshots of the page of `dumbbell explore`, from the page itself in headless Chromium.

``python tools/explore_screenshots.py`` writes docs/figures/explore-*.webp. As root it follows a run
on this machine's kernel too; names as arguments, like ``drag``, choose some.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, chdir, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from dumbbell.explore import ExploreServer
from dumbbell.scenario import Scenario

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from tests.python.browser import Browser  # noqa: E402

__all__ = ["FIGURES", "MAX_BYTES", "SCREENSHOTS", "write"]

FIGURES = ROOT / "docs" / "figures"
#: Of a screenshot.
MAX_BYTES = 150_000
QUALITY = 80
#: Looks at a run on the kernel after this, s: it shows half a minute.
KERNEL_S = 28
#: Moves a slider or picker as a person does.
MOVE = """(function (name, value) {
  const control = document.getElementById("control-" + name);
  control.value = value;
  control.focus();
  control.dispatchEvent(new Event("input", { bubbles: true }));
  control.dispatchEvent(new Event("change", { bubbles: true }));
})"""


@contextmanager
def page(browser: Browser, scenario: Scenario, width: int, height: int) -> Iterator[None]:
    """Open the page of a scenario."""
    server = ExploreServer(scenario, language="en")
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        browser.size(width, height)
        browser.call("Page.navigate", url="about:blank")
        browser.open(server.url)
        settle(browser)
        yield
    finally:
        server.http.shutdown()
        thread.join()


def settle(browser: Browser) -> None:
    """Wait for the whole run's picture."""
    browser.until("document.documentElement.dataset.latest === 'whole'")
    browser.until("document.querySelector('#stage[aria-busy=false]')")


def move(browser: Browser, name: str, value: object) -> None:
    """Move a control, and wait for its picture."""
    browser.js("document.documentElement.dataset.latest = ''")
    browser.js(f"{MOVE}({json.dumps(name)}, {json.dumps(value)})")
    settle(browser)


def stop(browser: Browser, name: str, text: str) -> int:
    """Return the place of a slider's stop."""
    stops: list[str] = browser.js(f"window.explore.controls.stops({json.dumps(name)})")
    return stops.index(text)


def pair() -> Scenario:
    """Return Copa against CUBIC."""
    return Scenario(["copa", "cubic"], rate="20mbit", rtt="40ms", buffer="0.5bdp", time="30s")


@contextmanager
def drag(browser: Browser) -> Iterator[None]:
    """Drag the buffer, until the sweep below it is drawn."""
    with page(browser, pair(), 1800, 1160):
        move(browser, "buffer", stop(browser, "buffer", "8bdp"))
        browser.until("Number(document.getElementById('sweep-plot').dataset.points) > 17")
        browser.size(1800, 1160, scale=0.8)
        settle(browser)
        yield


@contextmanager
def pin(browser: Browser) -> Iterator[None]:
    """Pin a small buffer beside a large one."""
    with page(browser, pair(), 1440, 1000):
        browser.js("document.getElementById('pin').click()")
        move(browser, "buffer", stop(browser, "buffer", "8bdp"))
        yield


@contextmanager
def words(browser: Browser) -> Iterator[None]:
    """Point at a moment: its states, below the answer in words."""
    with page(browser, pair(), 1280, 640):
        move(browser, "buffer", stop(browser, "buffer", "8bdp"))
        box = browser.js(
            "(function (box) { return [box.left + 0.3 * box.width, box.top + box.height / 2]; })"
            "(document.querySelector('#side-b .panel .u-over').getBoundingClientRect())"
        )
        # A picture that is drawn again meanwhile takes the tip away.
        while browser.js("document.querySelector('.tip').hidden"):
            box[0] += 1
            browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])
            time.sleep(0.2)
        yield


@contextmanager
def reload(browser: Browser) -> Iterator[None]:
    """Save an algorithm's file: its curves of before are dashed."""
    with TemporaryDirectory() as directory, chdir(directory):
        new = [sys.executable, "-m", "dumbbell", "cc", "new", "mine"]
        subprocess.run(new, check=True, capture_output=True)  # noqa: S603 -- ours
        file = Path("mine", "mine.bpf.c")
        state = pair().replace(buffer="2bdp").to_dict()
        scenario = Scenario([str(file), "cubic"], **{
            name: state[name] for name in ("rate", "rtt", "buffer", "time")
        })  # fmt: skip
        with page(browser, scenario, 1280, 860):
            time.sleep(1)
            source = file.read_text(encoding="utf-8")
            file.write_text(source.replace("beta_pct, 50,", "beta_pct, 80,"), encoding="utf-8")
            browser.until("document.querySelector('#side-b .legend').innerText.includes('before')")
            settle(browser)
            yield


@contextmanager
def kernel(browser: Browser) -> Iterator[None]:
    """Follow a run on the kernel, on the page that `--live` opens."""
    with TemporaryDirectory() as directory:
        opener, seen = Path(directory, "browser"), Path(directory, "seen")
        opener.write_text(f'#!/bin/sh\necho "$1" >{seen}.part\nmv {seen}.part {seen}\n')
        opener.chmod(0o755)
        run = [sys.executable, "-m", "dumbbell", "run", "copa", "cubic", "--rate", "20mbit"]
        run += ["--buffer", "2bdp", "--time", "90s", "--engine", "kernel", "--live"]
        environment = {**os.environ, "BROWSER": str(opener), "TMPDIR": directory}
        with subprocess.Popen(  # noqa: S603 -- ours
            run, env=environment, stdout=subprocess.DEVNULL
        ) as running:
            while not seen.exists():
                if running.poll() is not None:
                    raise SystemExit("error: no run on the kernel")
                time.sleep(0.05)
            browser.size(1280, 560)
            browser.open(seen.read_text().strip())
            browser.until("document.getElementById('caption')")
            browser.until(f"Number(document.documentElement.dataset.drawn) > {KERNEL_S}")
            yield
            browser.js("document.getElementById('end').click()")


@contextmanager
def phone(browser: Browser) -> Iterator[None]:
    """Show the page on a phone, dark."""
    with page(browser, pair(), 390, 844):
        browser.size(390, 844, scale=1.25, dark=True)
        move(browser, "buffer", stop(browser, "buffer", "8bdp"))
        yield


SCREENSHOTS: Mapping[str, Callable[[Browser], AbstractContextManager[None]]] = {
    each.__name__: each for each in (drag, pin, words, reload, kernel, phone)
}


def write(browser: Browser, name: str, directory: Path = FIGURES) -> Path:
    """Write a screenshot, and return its path."""
    path = directory / f"explore-{name}.webp"
    with SCREENSHOTS[name](browser):
        taken = browser.call("Page.captureScreenshot", format="webp", quality=QUALITY)
    path.write_bytes(base64.b64decode(taken["data"]))
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise SystemExit(f"{path} has {size:,} bytes, more than {MAX_BYTES:,}")
    return path


if __name__ == "__main__":
    with TemporaryDirectory() as profile:
        chromium = Browser(Path(profile))
        try:
            for each in sys.argv[1:] or SCREENSHOTS:
                print(write(chromium, each))
        finally:
            chromium.close()
