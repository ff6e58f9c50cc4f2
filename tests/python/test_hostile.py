"""The hostile corpus: files that try what a stranger's congestion control could.

Each file in `tests/hostile/` begins with three lines: what it tries, what stops it, and what the
user is told, as a regular expression (`nothing` if the run goes on without it). All of them are
values of one axis of one sweep, between good files, so that the sweep must go on. It runs in a cell
(`cell.py`) in which every effect outside a run's own process is found: as an ordinary user, and as
root, of which `make test` takes every eighth file and `make test-all` takes all.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.python.thorough import THOROUGH

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = ROOT / "tests/hostile"
HEADER = re.compile(
    r"(?://|#) tries: (?P<tries>.+)\n(?://|#) stopped by: (?P<limit>.+)\n"
    r"(?://|#) says: (?P<says>.+)\n"
)
#: Of the user in the cell.
HOME = "/tmp/home"
GOOD = "./good.bpf.c"
#: Like `good.bpf.c`, under names that a shell or a command would act on.
NAMES = ("-rf.bpf.c", "a b'$(touch x).bpf.c")
USERS = ("root", "ordinary")
#: The whole sweep takes this long at most, s, on two cores that others use, too.
SWEEP_S = 1200
#: Of everything that the hostile files write, this much reaches the user at most, bytes.
OUTPUT_BYTES = 1 << 20
#: The address to which a deed writes that has succeeded (`tests/hostile/syscalls.h`).
SUCCESS = "0x5cce55"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


@dataclass(frozen=True)
class Deed:
    """One hostile file."""

    name: str
    tries: str
    limit: str
    says: str

    @classmethod
    def of(cls, path: Path) -> Deed | None:
        match = HEADER.search(path.read_text()[:2000])
        return match and cls(path.name, match["tries"], match["limit"], match["says"])


DEEDS = [deed for deed in map(Deed.of, sorted(HOSTILE.glob("*.*"))) if deed is not None]
#: What each user does.
DEEDS_OF = {"ordinary": DEEDS, "root": DEEDS if THOROUGH else DEEDS[::8]}


def owned_library(directory: Path) -> bytes:
    """Compile the library that some files try to load."""
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    command = [compiler] if compiler else [sys.executable, "-m", "ziglang", "cc"]
    output = directory / "libowned.so"
    flags = ["-shared", "-nostdlib", "-fPIC", "-O2", "-w"]
    subprocess.run([*command, *flags, HOSTILE / "libowned.c", "-o", output], check=True)
    return output.read_bytes()


@cache
def unshare(user: str) -> list[str]:
    """Return what starts a program in namespaces of its own."""
    if shutil.which("unshare") is None:
        pytest.skip("no unshare; apt install util-linux")
    command = ["unshare", "--fork", "--kill-child", "--pid", "--mount", "--net", "--ipc", "--uts"]
    if os.geteuid() != 0:
        if user == "root":
            pytest.skip("needs root")
        command += ["--user", "--map-root-user"]
    probe = subprocess.run([*command, "mount", "-t", "proc", "proc", "/proc"], capture_output=True)
    if probe.returncode:
        pytest.skip(f"no namespaces for the cell: {probe.stderr.decode().strip()}")
    return command


def in_cell(
    user: str, command: list[str], planted: dict[str, bytes], limit_s: float = SWEEP_S
) -> dict[str, Any]:
    """Run Python with these arguments in a cell; return what `cell.py` found."""
    job = {
        "project": str(ROOT),
        "venv": sys.prefix,
        "base": str(Path(sys.base_prefix).resolve()),
        "user": user,
        "is_root": os.geteuid() == 0,
        "command": command,
        "environment": {"DUMBBELL_COMPILER_LIMIT_S": "15"},
        "planted": {name: text.hex() for name, text in planted.items()},
        "limit_s": limit_s,
    }
    cell = subprocess.run(
        [*unshare(user), sys.executable, Path(__file__).with_name("cell.py")],
        input=json.dumps(job), capture_output=True, text=True, timeout=limit_s + 60,
    )  # fmt: skip
    assert cell.returncode == 0, cell.stderr
    found: dict[str, Any] = json.loads(cell.stdout)
    return found


#: The command line, with the limits of time shortened and without figures.
IMPATIENT = """
import importlib, sys
from dumbbell.congestion_control.isolation import foreign_process
foreign_process.FUNCTION_LIMIT_S = 0.5
foreign_process.LOADING_LIMIT_S = foreign_process.STALL_LIMIT_S = 1.0
foreign_process.FINISHING_LIMIT_S = 1.0
importlib.import_module("dumbbell.cli.show_sweep").draw_figures = lambda *_: None
from dumbbell.cli import main
sys.exit(main())
"""


@dataclass(frozen=True)
class Outcome:
    """What the sweep over all hostile files did, for one user."""

    found: dict[str, Any]
    runs: list[str]

    @property
    def failed(self) -> dict[str, str]:
        """Why runs failed, by file; those that are not here ran to their end."""
        return {self.runs[entry["cell"]]: entry["error"] for entry in self.found["sweep"]["failed"]}


def sweep_in_cell(user: str, planted: dict[str, bytes]) -> Outcome:
    """Run a sweep over all hostile files."""
    deeds = [f"./{deed.name}" for deed in DEEDS_OF[user]]
    runs = [GOOD, *deeds, *(f"./{name}" for name in NAMES), f"{GOOD}#reno", "reno"]
    words = ["sweep", GOOD, "cubic", "--axis", f"0.cc={','.join(runs)}", "--out", f"{HOME}/out"]
    words += ["--rate", "10mbit", "--time", "1s"]
    return Outcome(in_cell(user, ["-c", IMPATIENT, *words], planted), runs)


@cache
def outcomes(directory: Path) -> dict[str, Future[Outcome]]:
    """Start a sweep as each user, at the same time: most of one is waiting."""
    good = (ROOT / "cc/reno.bpf.c").read_bytes()
    planted = {"libowned.so": owned_library(directory), **dict.fromkeys((*NAMES, GOOD), good)}
    with ThreadPoolExecutor(len(USERS)) as pool:
        return {user: pool.submit(sweep_in_cell, user, planted) for user in USERS}


@pytest.fixture(params=USERS)
def outcome(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    user: str = request.param
    unshare(user)  # skips what this user cannot do
    return outcomes(tmp_path_factory.getbasetemp())[user].result()


pytestmark = [pytest.mark.slow, pytest.mark.timeout(2 * SWEEP_S)]


def test_there_are_enough_files_and_each_says_what_it_tries() -> None:
    assert len(DEEDS) >= 60
    assert [deed.name for deed in DEEDS if "TODO" in deed.limit + deed.says] == []


def test_nothing_outside_a_run_is_read_written_or_left(outcome: Outcome) -> None:
    found = outcome.found
    assert found["leaks"] == []
    assert found["opened_secrets"] == 0
    assert found["changed"] == []
    results = (f"{HOME}/out", f"{HOME}/cache")
    assert [path for path in found["files"] if not path.startswith(results)] == []
    assert [path for path in found["files"] if Path(path).name.startswith("owned")] == []
    assert found["left_processes"] == []
    assert found["calls"] == []
    assert found["ipc"] == []
    assert found["host_name"] != "owned"


def test_the_sweep_goes_on_and_says_what_failed(outcome: Outcome) -> None:
    found = outcome.found
    assert (found["code"], found["seconds"] < SWEEP_S) == (1, True), found["err"][-3000:]
    own = [line for line in found["err"].splitlines() if " printed: " not in line]
    assert [line for line in own if "Traceback" in line] == []
    succeeded = set(outcome.runs) - set(outcome.failed)
    assert {GOOD, f"{GOOD}#reno", "reno", *(f"./{name}" for name in NAMES)} <= succeeded


def test_the_user_s_output_stays_readable(outcome: Outcome) -> None:
    found = outcome.found
    assert found["output_bytes"] < OUTPUT_BYTES
    assert not found["output_spoilt"]
    assert CONTROL.findall(found["out"] + found["err"]) == []


@pytest.mark.parametrize(
    ("outcome", "deed"),
    [
        pytest.param(user, deed, id=f"{user}-{deed.name}")
        for user in USERS
        for deed in DEEDS_OF[user]
    ],
    indirect=["outcome"],
)
def test_the_user_is_told_in_one_line(outcome: Outcome, deed: Deed) -> None:
    message = outcome.failed.get(f"./{deed.name}", "nothing")
    assert "\n" not in message
    assert len(message) < 3000
    assert CONTROL.findall(message) == []
    if not deed.limit.startswith("nothing:"):
        assert SUCCESS not in message, f"{deed.tries}: it succeeded"
    says = "^nothing$" if deed.says == "nothing" else deed.says
    assert re.search(says, message), f"{deed.tries}: {message}"


#: `cc check` of some, in one process.
CHECK = """
import sys
from dumbbell.cli import invoke
sys.exit(sum(invoke(["cc", "check", f"./{name}", "--storms", "1"]) for name in sys.argv[1:]))
"""


def test_checking_one_is_confined_too() -> None:
    names = ["kill_parent.bpf.c", "tcp_hostile_init.c", "py_read_ssh_key.py", "incbin_key.bpf.c"]
    found = in_cell("ordinary", ["-c", CHECK, *names], {})
    assert found["code"] == len(names), found["err"]
    assert (found["leaks"], found["opened_secrets"], found["changed"]) == ([], 0, [])
    assert (found["left_processes"], found["calls"]) == ([], [])
    assert [path for path in found["files"] if not path.startswith(f"{HOME}/.cache")] == []
