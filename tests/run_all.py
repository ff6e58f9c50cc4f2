"""Run every test of the project, and end with one line that counts them.

Ahead of that line it says how long each part took. Rust's tests are compiled while Python's run.
Tests of the kernel engine measure time: they run last, and alone. With `--fast`: only what takes
little, without the kernel engine and a browser. With `--all`: also what a shorter test guards
already, and random tests from seeds of their own.
"""

import argparse
import os
import re
import subprocess
import sys
import time
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
# Tests of one file share what they prepare; a worker that is done takes over from another.
PYTEST_PARALLEL = [*PYTEST, f"--numprocesses={CORES}", "--dist=worksteal"]

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
    how_much = parser.add_mutually_exclusive_group()
    how_much.add_argument("--fast", action="store_true", help="only what takes little")
    how_much.add_argument("--all", action="store_true", help="leave nothing out")
    arguments = parser.parse_args()
    fast = arguments.fast
    if arguments.all:
        os.environ["DUMBBELL_TEST_ALL"] = "1"
    else:
        os.environ.setdefault("PROPTEST_RNG_SEED", "1")
    cargo = CARGO_FAST if fast else CARGO
    compilation = ["nice", *cargo, "--no-run", "--quiet"]
    start_s = time.monotonic()
    took_s: dict[str, float] = {}
    with subprocess.Popen(compilation, cwd=ROOT):
        left_out = [
            "kernel",
            *(["browser", "slow"] if fast else []),
            *([] if arguments.all else ["long"]),
        ]
        without = " and ".join(f"not {mark}" for mark in left_out)
        parts = [run_pytest([*PYTEST_PARALLEL, "-m", without])]
        took_s["Python's tests"] = time.monotonic() - start_s
    took_s["waiting for Rust's to compile"] = time.monotonic() - start_s - sum(took_s.values())
    parts.append(run_cargo(cargo))
    took_s["Rust's tests"] = time.monotonic() - start_s - sum(took_s.values())
    if not fast:
        parts.append(run_pytest([*PYTEST, "-m", "kernel"]))
        took_s["tests of the kernel engine"] = time.monotonic() - start_s - sum(took_s.values())
    counts: Counter[str] = Counter()
    for code, part in parts:
        counts.update(part)
        # A part that broke before it could count is a failure too.
        counts["failed"] += code != 0 and part["failed"] == 0
    print("\n", *(f"{took:6.0f} s  {part}\n" for part, took in took_s.items()), sep="")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
