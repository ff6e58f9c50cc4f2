"""Measure how long a newcomer waits in a bare Debian: from `pip install` to a dragged slider.

`make test-wheel` calls it (`tests/clean_root.sh`) with a root that has Python and no dumbbell. The
clock starts at `pip install`, in a new virtual environment. It stops when headless Chromium, which
is already open, shows the whole run of two flows and 30 s after a drag of the buffer. Nothing is
cached: pip's cache and the home directory are new. Needs root and the package registries; exits
with 1 if it took longer than the goal.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from benches.explore.drags import DRAG, FRAME_MS, NOTE, SCENARIO  # noqa: E402
from tests.python.browser import CHROMIUM, Browser  # noqa: E402

#: The issue's goal, s.
GOAL_S = 60
#: In the Debian root; removed before and after.
HOME = Path("/newcomer")
#: The buffer slider's stops that are dragged over: from its start, 1 BDP, to 8 BDP.
STOPS = (6, 7, 9, 10, 11)


def environment() -> dict[str, str]:
    """Return this machine's settings of pip's registry, and nothing else that is installed here."""
    left_out = ("VIRTUAL_ENV", "PYTHONPATH", "PIP_FIND_LINKS", "TMPDIR")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return {**kept, "HOME": str(HOME), "PATH": f"{HOME}/venv/bin:/usr/sbin:/usr/bin:/sbin:/bin"}


def spent_s() -> float:
    """Return how much of a processor ended commands took, s."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def measure(root: Path, wheel: str) -> dict[str, float]:
    """Install and drag, and return when each step was done, s."""
    inside = ["chroot", str(root)]
    home = root / HOME.relative_to("/")
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    done: dict[str, float] = {}
    with TemporaryDirectory() as profile:
        browser = Browser(Path(profile))
        try:
            browser.call("Page.addScriptToEvaluateOnNewDocument", source=NOTE)
            browser.size(1280, 900)
            make = [*inside, "python3", "-m", "venv", f"{HOME}/venv"]
            subprocess.run(make, env=environment(), check=True)
            before_s, began = spent_s(), time.monotonic()
            install = [*inside, "pip", "install", "--quiet", wheel]
            subprocess.run(install, env=environment(), check=True)
            done["installed"] = time.monotonic() - began
            print(f"`pip install` took {spent_s() - before_s:.1f} s of a processor")
            explore = [*inside, "dumbbell", "explore", *SCENARIO, "--no-open"]
            with subprocess.Popen(
                explore, env=environment(), stdout=subprocess.PIPE, text=True
            ) as server:
                try:
                    browser.open(next(iter(server.stdout or ())).split()[0])
                    browser.until("window.seen && window.seen.length")
                    done["first picture"] = time.monotonic() - began
                    if browser.js(f"{DRAG}('buffer', {list(STOPS)}, {FRAME_MS})") is None:
                        raise SystemExit("error: the page draws nothing")
                    done["dragged slider"] = time.monotonic() - began
                finally:
                    server.terminate()
        finally:
            browser.close()
            shutil.rmtree(home)
    if browser.errors:
        raise SystemExit(f"error: {browser.errors[0]}")
    return done


def main() -> int:
    """Print what was measured; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, help="a Debian with Python and no dumbbell")
    parser.add_argument("wheel", help="its path in there")
    asked = parser.parse_args()
    if CHROMIUM is None:
        print("SKIPPED the first slider: no Chromium")
        return 0
    done = measure(asked.root, asked.wheel)
    steps = ", ".join(f"{name} {at_s:.1f} s" for name, at_s in done.items())
    took_s = done["dragged slider"]
    load = os.getloadavg()[0]
    print(
        f"from `pip install` to the first slider in {took_s:.0f} s, goal {GOAL_S} s ({steps}; "
        f"load average {load:.1f})"
    )
    return int(took_s > GOAL_S)


if __name__ == "__main__":
    sys.exit(main())
