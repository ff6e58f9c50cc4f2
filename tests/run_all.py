"""Runs every test of the project and closes with one line that counts them.

Arguments go to `cargo test`.
"""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The extension module cannot be linked as a test program; it is tested from Python.
RUST = ["cargo", "test", "--release", "--config", "tests/checked.toml", "--workspace"]
RUST += ["--exclude", "dumbbell-py", "--no-fail-fast"]
RUST += sys.argv[1:]
PYTHON = [sys.executable, "-m", "pytest"]

RUST_RESULT = re.compile(
    r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", re.MULTILINE
)
# A Rust test that this machine cannot do says so and passes; the harness knows no other way.
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


def main() -> int:
    """Run both halves whatever the first says, then sum up."""
    counts: Counter[str] = Counter()
    rust_code, rust_output = run(RUST)
    for passed, failed, ignored in RUST_RESULT.findall(rust_output):
        counts.update(passed=int(passed), failed=int(failed), skipped=int(ignored))
    skipped = RUST_SKIPPED.findall(rust_output)
    counts.update(passed=-len(skipped), skipped=len(skipped))
    python_code, python_output = run(PYTHON)
    summary = "".join(PYTEST_SUMMARY.findall(python_output)[-1:])
    for number, outcome in PYTEST_RESULT.findall(summary):
        counts["failed" if outcome == "error" else outcome] += int(number)
    # A half that broke before it could count is a failure too.
    counts["failed"] += sum(
        code != 0 and counts["failed"] == 0 for code in (rust_code, python_code)
    )
    print(*(f"\nskipped: {test}" for test in skipped), sep="")
    print(f"\n{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if rust_code or python_code or counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
