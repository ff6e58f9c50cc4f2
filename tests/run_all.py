"""Run every test of the project, and end with one line that counts them.

Rust's tests are compiled while Python's run. Tests of the kernel engine measure time: they run
last, and alone. With `--fast`: only what takes little, without the kernel engine and a browser.
"""

import argparse
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# NumPy's threads, unused here, would spin for a seventh of a second in each of many processes.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The whole workspace, so that features of dependencies are those of the release build.
CARGO = ["cargo", "test", "--release", "--config", "tests/checked.toml", "--workspace"]
CARGO += ["--no-fail-fast"]
# Unit tests of the crates that do not run the kernel engine.
CARGO_FAST = [*CARGO, "--exclude", "dumbbell-emu", "--lib"]
# The slowest are named at the end.
PYTEST = [sys.executable, "-m", "pytest", "--durations=40", "--timeout=120"]
CORES = len(os.sched_getaffinity(0))
# Tests of one file share what they prepare.
PYTEST_PARALLEL = [*PYTEST, f"--numprocesses={CORES}", "--dist=loadfile"]

RUST_RESULT = re.compile(
    r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", re.MULTILINE
)
# A Rust test that this machine cannot run prints this and passes; the harness has no other way.
RUST_SKIPPED = re.compile(r"SKIPPED: (\w+: .+)$", re.MULTILINE)
PYTEST_SUMMARY = re.compile(r"^=+ (.*) in [\d.]+s.* =+$", re.MULTILINE)
PYTEST_RESULT = re.compile(r"(\d+) (passed|failed|skipped|error)")


def run(command: list[str]) -> tuple[int, str]:
    """Run a command, showing its output as it comes; return its exit code and output."""
    print("$", " ".join(command), flush=True)
    lines = []
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    return process.returncode, "".join(lines)


def run_pytest(command: list[str]) -> tuple[int, Counter[str]]:
    """Run pytest; return its exit code and how many tests had which outcome."""
    code, output = run(command)
    counts: Counter[str] = Counter()
    summary = "".join(PYTEST_SUMMARY.findall(output)[-1:])
    for number, outcome in PYTEST_RESULT.findall(summary):
        counts["failed" if outcome == "error" else outcome] += int(number)
    return code, counts


def run_cargo(command: list[str]) -> tuple[int, Counter[str]]:
    """Run `cargo test`; return its exit code and how many tests had which outcome."""
    code, output = run(command)
    counts: Counter[str] = Counter()
    for passed, failed, ignored in RUST_RESULT.findall(output):
        counts.update(passed=int(passed), failed=int(failed), skipped=int(ignored))
    skipped = RUST_SKIPPED.findall(output)
    counts.update(passed=-len(skipped), skipped=len(skipped))
    print(*(f"\nskipped: {test}" for test in skipped), sep="")
    return code, counts


def main() -> int:
    """Run all parts, whatever the first ones say, and add up their counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fast", action="store_true", help="only what takes little")
    fast = parser.parse_args().fast
    cargo = CARGO_FAST if fast else CARGO
    compilation = ["nice", *cargo, "--no-run", "--quiet"]
    with subprocess.Popen(compilation, cwd=ROOT):
        without = "not kernel and not browser and not slow" if fast else "not kernel"
        parts = [run_pytest([*PYTEST_PARALLEL, "-m", without])]
    parts.append(run_cargo(cargo))
    if not fast:
        parts.append(run_pytest([*PYTEST, "-m", "kernel"]))
    counts: Counter[str] = Counter()
    for code, part in parts:
        counts.update(part)
        # A part that broke before it could count is a failure too.
        counts["failed"] += code != 0 and part["failed"] == 0
    print(f"\n{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
