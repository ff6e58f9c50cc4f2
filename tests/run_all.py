"""Run every test of the project, and end with one line that counts them.

Ahead of that line it says how long each part took. Tests of the kernel engine wait in real time
more than they compute: one on each core, they go first. Beside them Python's other tests run, and
Rust's are compiled and run. A test of the kernel engine that fails beside other work runs again
alone, and that counts.
With `--fast`: only what takes little, without the kernel engine and a browser. With `--all`: also
what a shorter test guards already, and random tests from seeds of their own.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from subprocess import PIPE, STDOUT
from threading import Lock

ROOT = Path(__file__).resolve().parent.parent

# NumPy's threads, unused here, would spin for a seventh of a second in each of many processes.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The whole workspace, so that features of dependencies are those of the release build.
CARGO = ["cargo", "test", "--release", "--config", "tests/checked.toml", "--workspace"]
# Unit tests of the crates that do not run the kernel engine.
CARGO_FAST = [*CARGO, "--no-fail-fast", "--exclude", "dumbbell-emu", "--lib"]
COMPILE = [*CARGO, "--tests", "--no-run", "--quiet", "--message-format", "json-render-diagnostics"]
DOCUMENTATION = [*CARGO, "--doc", "--quiet"]
# The slowest are named at the end. What hangs ends; what takes a minute may take ten elsewhere.
PYTEST = [sys.executable, "-m", "pytest", "--durations=25", "--timeout=900"]
CORES = len(os.sched_getaffinity(0))
# Tests of one file share what they prepare; a worker that is done takes over from another.
SHARED = [*PYTEST, "--dist=worksteal"]
# One more than cores: some tests wait.
PYTEST_PARALLEL = [*SHARED, f"--numprocesses={CORES + 1}"]
# They measure time, so one on each core. It remembers its failures apart from pytest's beside it.
PYTEST_KERNEL = [*SHARED, f"--numprocesses={CORES}", "-o", "cache_dir=target/pytest-kernel"]
# The crate whose tests measure time, by its directory.
KERNEL_CRATE = "emu"
# What a file with tests of the kernel engine says; conftest.py refuses such tests elsewhere.
KERNEL_MARK = "mark.kernel"

RUST_RESULT = re.compile(
    r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", re.MULTILINE
)
RUST_FAILED = re.compile(r"^test (\S+) \.\.\. FAILED$", re.MULTILINE)
# A Rust test that this machine cannot run prints this and passes; the harness has no other way.
RUST_SKIPPED = re.compile(r"SKIPPED: (\w+: .+)$", re.MULTILINE)
PYTEST_SUMMARY = re.compile(r"^=+ (.*) in [\d.]+s.* =+$", re.MULTILINE)
PYTEST_RESULT = re.compile(r"(\d+) (passed|failed|skipped|error)")

#: Parts that run at the same time print one after the other.
TERMINAL = Lock()
#: How long each part took, s.
TOOK_S: defaultdict[str, float] = defaultdict(float)
#: What runs in sessions of its own, which Ctrl-C does not reach.
BESIDE: set[subprocess.Popen[str]] = set()


#: Who goes first, as niceness: what measures time, then what others wait for, then the rest.
FIRST, AWAITED, LAST = 0, 5, 19


def give_way(niceness: int) -> None:
    """Let what is less nice go first: for this process and what it starts."""
    os.nice(niceness)
    # Where the kernel groups processes by their sessions, `nice` counts only within a group.
    with suppress(OSError):
        os.setsid()
        Path("/proc/self/autogroup").write_text(str(niceness))


def execute(
    command: list[str],
    directory: Path = ROOT,
    *,
    niceness: int = LAST,
    stderr: int | None = STDOUT,
) -> tuple[int, str]:
    """Run a command; return its exit code and output."""
    with subprocess.Popen(
        command,
        cwd=directory,
        stdout=PIPE,
        stderr=stderr,
        text=True,
        errors="replace",
        preexec_fn=partial(give_way, niceness) if niceness else None,
    ) as process:
        if niceness:
            BESIDE.add(process)
        output, _ = process.communicate()
        BESIDE.discard(process)
    return process.returncode, output


def count_pytest(output: str) -> Counter[str]:
    """Count pytest's tests by outcome."""
    counts: Counter[str] = Counter()
    for number, outcome in PYTEST_RESULT.findall("".join(PYTEST_SUMMARY.findall(output)[-1:])):
        counts["failed" if outcome == "error" else outcome] += int(number)
    return counts


def count_rust(output: str) -> Counter[str]:
    """Count the tests of Rust programs by outcome."""
    counts: Counter[str] = Counter()
    for passed, failed, ignored in RUST_RESULT.findall(output):
        counts.update(passed=int(passed), failed=int(failed), skipped=int(ignored))
    skipped = len(RUST_SKIPPED.findall(output))
    counts.update(passed=-skipped, skipped=skipped)
    return counts


@dataclass(frozen=True)
class Part:
    """Tests that one command runs."""

    name: str
    command: list[str]
    count: Callable[[str], Counter[str]]
    directory: Path = ROOT
    niceness: int = LAST

    def run(self) -> tuple[Counter[str], str]:
        """Run it, and print its output at the end; return counts by outcome, and the output."""
        with TERMINAL:
            print(f"{self.name}: {' '.join(self.command)}", flush=True)
        start_s = time.monotonic()
        code, output = execute(self.command, self.directory, niceness=self.niceness)
        TOOK_S[self.name] += time.monotonic() - start_s
        with TERMINAL:
            print("$", " ".join(self.command))
            print(output, flush=True)
        counts = self.count(output)
        # A part that broke before it could count is a failure too.
        counts["failed"] += code != 0 and counts["failed"] == 0
        return counts, output

    def again(self, output: str) -> Part:
        """Return the part that runs, alone, what failed by `output`; all if that does not say."""
        is_parallel = ("--numprocesses", "--dist")
        command = [word for word in self.command if not word.startswith(is_parallel)]
        if self.count is count_pytest:
            command += ["--last-failed"]
        else:
            command += ["--exact", *RUST_FAILED.findall(output)]
        return replace(self, name=f"{self.name}, again", command=command)


#: Programs of Rust's tests, each with the directory of its crate.
Programs = list[tuple[Path, Path]]


def compile_rust() -> Programs:
    """Compile Rust's tests; return no programs if that fails."""
    start_s = time.monotonic()
    code, output = execute(COMPILE, niceness=AWAITED, stderr=None)
    TOOK_S["compiling Rust's tests"] += time.monotonic() - start_s
    messages = [json.loads(line) for line in output.splitlines()] if code == 0 else []
    return [
        (Path(message["executable"]), Path(message["manifest_path"]).parent)
        for message in messages
        if message.get("executable") and message["profile"]["test"]
    ]


def run_rust(programs: Future[Programs]) -> Counter[str]:
    """Run the programs of Rust's tests that measure no time."""
    counts = Counter(failed=int(not programs.result()))
    commands = [
        ([str(program)], crate)
        for program, crate in programs.result()
        if crate.name != KERNEL_CRATE
    ]
    for command, directory in [*commands, (DOCUMENTATION, ROOT)]:
        counts.update(Part("Rust's tests", command, count_rust, directory).run()[0])
    return counts


def run_kernel(part: Part) -> tuple[Counter[str], list[Part]]:
    """Run tests of the kernel engine; return counts, and what is to run again."""
    counts, output = part.run()
    again = [part.again(output)] if counts.pop("failed", 0) else []
    return counts, again


def run_kernel_rust(programs: Future[Programs]) -> tuple[Counter[str], list[Part]]:
    """Run the tests of the kernel engine's crate when they are compiled."""
    for program, crate in programs.result():
        if crate.name == KERNEL_CRATE:
            name = "the kernel engine's crate's tests"
            return run_kernel(Part(name, [str(program)], count_rust, crate, FIRST))
    return Counter(), []


def kernel_files() -> list[str]:
    """Return the files with tests of the kernel engine: a worker need not read the others."""
    files = sorted((ROOT / "tests/python").rglob("test_*.py"))
    return [str(file.relative_to(ROOT)) for file in files if KERNEL_MARK in file.read_text()]


def run_others(marks: str) -> Counter[str]:
    """Run Python's tests that are not of the kernel engine."""
    # Once, not once a worker: pytest's rewriting of the tests and the packages' bytecode are kept.
    start_s = time.monotonic()
    execute([*PYTEST, "--collect-only", "--quiet"], niceness=AWAITED)
    TOOK_S["compiling Python's tests"] += time.monotonic() - start_s
    others = [*PYTEST_PARALLEL, "-m", f"not kernel{marks}"]
    return Part("Python's tests", others, count_pytest).run()[0]


def run_fast() -> Counter[str]:
    """Run what takes little."""
    marks = "not kernel and not browser and not slow and not long"
    python = Part("Python's tests", [*PYTEST_PARALLEL, "-m", marks], count_pytest)
    return python.run()[0] + Part("Rust's tests", CARGO_FAST, count_rust).run()[0]


def run_everything(marks: str) -> Counter[str]:
    """Run all parts, whatever the first ones say; `marks` are those of Python's tests."""
    kernel = [*PYTEST_KERNEL, "-m", f"kernel{marks}", *kernel_files()]
    counts: Counter[str] = Counter()
    again: list[Part] = []
    with ThreadPoolExecutor() as pool:
        programs = pool.submit(compile_rust)
        beside = [
            pool.submit(run_rust, programs),
            pool.submit(run_others, marks),
        ]
        rust = pool.submit(run_kernel_rust, programs)
        python = Part("the kernel engine's tests", kernel, count_pytest, niceness=FIRST)
        try:
            for found, failed in (run_kernel(python), rust.result()):
                counts.update(found)
                again.extend(failed)
        except BaseException:
            for process in list(BESIDE):
                process.terminate()
            raise
        for each in beside:
            counts.update(each.result())
    for part in again:
        counts.update(part.run()[0])
    return counts


def main() -> int:
    """Run the tests and say how many passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    how_much = parser.add_mutually_exclusive_group()
    how_much.add_argument("--fast", action="store_true", help="only what takes little")
    how_much.add_argument("--all", action="store_true", help="leave nothing out")
    arguments = parser.parse_args()
    if arguments.all:
        os.environ["DUMBBELL_TEST_ALL"] = "1"
    else:
        os.environ.setdefault("PROPTEST_RNG_SEED", "1")
    start_s = time.monotonic()
    if arguments.fast:
        counts = run_fast()
    else:
        counts = run_everything("" if arguments.all else " and not long")
    TOOK_S["all, of which some beside others"] = time.monotonic() - start_s
    print(*(f"{took_s:6.0f} s  {part}\n" for part, took_s in TOOK_S.items()), sep="")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
