"""The corpus of bad inputs: each ends with one line, soon, in little memory, and writes nothing.

Then good files and values that are changed at random, from a fixed seed: what is refused is refused
in one line, by the errors that are meant for users.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from dumbbell import Group, Scenario, Sweep
from dumbbell.base.documents import MAX_TOML_BYTES, DocumentError, parse_toml
from dumbbell.base.errors import DumbbellError, GateError, ScenarioError
from dumbbell.congestion_control import describe
from dumbbell.gate.suite_file import read_suite
from dumbbell.runs.record_directory import MEASURES, PROVENANCE, file_digest
from dumbbell.scenario.fields import fields_of
from dumbbell.scenario.file import read_scenario
from tests.bad_inputs.command_lines import COMMAND_LINES
from tests.bad_inputs.scenarios import SCENARIOS
from tests.bad_inputs.suites import SUITES

ROOT = Path(__file__).parent.parent.parent
#: CPU time, which other work on the machine does not lengthen. Generous: most take milliseconds.
TIME_LIMIT_S = 20
#: Reading any of them adds this much at most; a good file of the largest size may.
MEMORY_LIMIT_KB = 400_000
#: A line of a message: what is known may be listed in it, but no value at its full length.
MAX_LINE = 1000


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory to be in, with files that are none."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "directory.toml").mkdir()
    for name in ("pipe.toml", "pipe.bpf.c"):
        os.mkfifo(tmp_path / name)
    for name in ("zero.toml", "zero.bpf.c"):
        (tmp_path / name).symlink_to("/dev/zero")
    for name in ("loop.toml", "loop.c"):
        (tmp_path / name).symlink_to(name)
    for name in ("huge.toml", "huge.bpf.c", "huge.py"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(1 << 30)
    return tmp_path


def refused(cli: Callable[..., Any], arguments: tuple[str, ...], says: str) -> None:
    """Check that a command ends with one line, soon, and leaves nothing."""
    before = sorted(Path().rglob("*"))
    start_s = time.process_time()
    outcome = cli(*arguments)
    assert time.process_time() - start_s < TIME_LIMIT_S
    assert (outcome.code, outcome.out) == (2, "")
    check_line(outcome.err.removesuffix("\n"))
    if says.endswith("…"):
        assert outcome.err.startswith(f"error: {says[:-1]}")
    else:
        assert outcome.err == f"error: {says}\n"
    assert sorted(Path().rglob("*")) == before


def check_line(line: str) -> None:
    """Check that a message is one line that a terminal shows as it is."""
    assert line.isprintable()
    assert 0 < len(line) <= MAX_LINE


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_is_refused_in_a_line(name, cli, place):
    content, says = SCENARIOS[name]
    path = place / "a.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(cli, ("run", "a.toml"), f"a.toml{says}")


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_is_refused_in_a_line(name, cli, place):
    content, says = SUITES[name]
    (place / "a.toml").write_text(content)
    refused(cli, ("gate", "a.toml", "--cc", "reno"), f"a.toml{says}")


@pytest.mark.parametrize(("arguments", "says"), COMMAND_LINES)
def test_a_command_line_is_refused_in_a_line(arguments, says, cli, place):
    refused(cli, arguments, says)


def test_the_corpus_is_as_large_as_it_says():
    assert len(SCENARIOS) >= 200
    assert len(COMMAND_LINES) >= 150
    assert len(SUITES) >= 50


def test_reading_them_takes_little_memory(tmp_path):
    """In a process of its own, whose peak is theirs; `a.a.a…` once took 3.5 GB."""
    code = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from dumbbell.base.errors import ScenarioError\n"
        "from dumbbell.scenario.file import read_scenario\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak()\n"
        "for path in Path(sys.argv[1]).iterdir():\n"
        "    try:\n"
        "        read_scenario(path)\n"
        "    except ScenarioError:\n"
        "        pass\n"
        "print(peak() - before)\n"
    )
    for name, (content, _) in SCENARIOS.items():
        text = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(text)
    for name, line in WORST.items():
        (tmp_path / name).write_text(line * (MAX_TOML_BYTES // len(line)))
    command = [sys.executable, "-c", code, str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(said.stdout) < MEMORY_LIMIT_KB


#: What repeats in files of the largest size that is read: parsers are slow and large there.
WORST = {"groups": '[[group]]\ncc="reno"\n', "lists": "[[[[[[", "quotes": '"', "escapes": '\\"',
         "dots": "a.", "comments": "#\n", "backslashes": "\\", "blanks": " \n", "tables": "{a="}  # fmt: skip


@pytest.mark.parametrize("line", WORST.values(), ids=WORST)
def test_the_largest_files_are_parsed_soon(line):
    start_s = time.process_time()
    for before in ("", 'a = "', "a = ["):
        try:
            parse_toml((before + line * (MAX_TOML_BYTES // len(line)))[:MAX_TOML_BYTES])
        except DocumentError as error:
            check_line(str(error))
    assert time.process_time() - start_s < 3 * TIME_LIMIT_S


BOM = b"\xef\xbb\xbf"


def test_a_byte_order_mark_is_accepted(tmp_path):
    scenario = tmp_path / "a.toml"
    scenario.write_bytes(BOM + b'time = "1s"\n[[group]]\ncc = "reno"\n')
    assert read_scenario(scenario).time.seconds == 1
    content, _ = SUITES["rate_without_unit"]
    suite = tmp_path / "suite.toml"
    suite.write_bytes(BOM + content.replace('"5"', '"5mbit"').encode())
    assert read_suite(suite).cases[0].words["rate"] == "5mbit"
    source = tmp_path / "mine.bpf.c"
    source.write_bytes(BOM + (ROOT / "cc" / "reno.bpf.c").read_bytes())
    assert describe(str(source)).name == describe("reno").name


NASTY: list[Any] = [
    None, True, False, 0, -1, 1, 2**63, 2**64, -(2**64), 10**5000, 1.5, float("nan"), float("inf"), -0.0, 1e300, "", " ", "0", "1", "-1", "nan",
    "inf", "1e999999", "1e-999999s", "9" * 5000, "9" * 5000 + "mbit", "0mbit", "-0ms", "1e-99s", "1e99bdp", "1e99pkt", "1.5pkt", "1..2bdp",
    "٥mbit", "５ms", "²", "5\x1bms", "5\nms", "\x00", "\udcff", "\u202e", "a" * 100_000, " " * 100_000, "," * 1000, ":" * 1000, "1s:" * 1000,
    "1s:5mbit," * 1000, "true", "reno:", "reno:=", "reno:a=b=c", "./", "..", "/", "/dev/zero", "linux/", "python/", "python/x", "./x.py#y", b"5mbit",
    [], [1], {}, {"a": 1}, (), object(), type, Scenario, Path("x"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("owner", "name"), [(owner, name) for owner in (Scenario, Group) for name in fields_of(owner)]
)
def test_no_value_of_a_field_is_a_traceback(owner, name):
    for value in NASTY:
        try:
            if owner is Group:
                Scenario([Group(**{"cc": "reno", name: value})]).to_json()
            else:
                Scenario(["reno"], **{name: value}).to_json()
        except DumbbellError as error:
            check_line(str(error))


def test_what_makes_too_many_runs_is_refused_in_python():
    base = Scenario(["reno"])
    makers: list[Callable[[], Sweep]] = [
        lambda: Sweep(base, {}, reps=10**9),
        lambda: Sweep(base, {}, reps=10**5000),
        lambda: Sweep(base, {}, until_ci="5%", max_reps=10**9),
        lambda: Sweep(base, {"flows": range(1, 10**9)}),
        lambda: Sweep(base, {"flows": count(1)}),  # type: ignore[dict-item]
        lambda: Sweep(base, {"buffer": "1..2bdp/100000000"}),
        lambda: Sweep(base, {"rate": "1..2gbit/1000", "rtt": "1..2ms/1000"}),
        lambda: Sweep(base.replace(seed=2**64 - 1), {}, reps=2),
    ]
    for make in makers:
        start_s = time.process_time()
        with pytest.raises(ScenarioError) as caught:
            make()
        assert time.process_time() - start_s < TIME_LIMIT_S
        check_line(str(caught.value))


TOKENS = ["", "[", "]", "[[", "{", "}", "=", ".", ",", '"', "'", '"""', "#", "\n", "\\", "\x00", "\ufeff", "é", "nan", "-inf", "1e999999",
          "9" * 400, "true", "2020-01-01", "[[group]]\n", "cc", "rate", "5mbit", "\u202e", "[" * 40, "a." * 40]  # fmt: skip


def mutants(texts: list[str], number: int) -> Iterator[str]:
    """Change good files at random: cut, double, replace, insert; from a fixed seed."""
    draw = random.Random(15)  # noqa: S311 -- no secret
    for _ in range(number):
        text = draw.choice(texts)
        for _ in range(draw.randint(1, 3)):
            at, to = sorted(draw.randrange(len(text) + 1) for _ in range(2))
            to = min(to, at + draw.choice([1, 1, 5, 40]))
            text = draw.choice(
                [text[:at] + text[to:], text[:to] + text[at:], text[:at] + draw.choice(TOKENS) + text[to:]]
            )  # fmt: skip
        yield text


def message_of(error: type[DumbbellError], read: Callable[[], object]) -> str | None:
    """Return what a reader refuses with; None if it reads."""
    try:
        read()
    except error as refusal:
        return str(refusal)
    return None


def test_mutated_scenarios_are_read_or_refused_in_a_line(tmp_path):
    texts = [path.read_text() for path in sorted((ROOT / "scenarios").glob("*.toml"))]
    path, messages = tmp_path / "a.toml", set()
    for text in mutants(texts, 1500):
        path.write_text(text)
        messages.add(message_of(ScenarioError, lambda: read_scenario(path)))
    assert None in messages
    for message in messages - {None}:
        assert message is not None
        assert message.startswith(str(path))
        check_line(message)


def test_mutated_suites_are_read_or_refused_in_a_line(tmp_path):
    text, _ = SUITES["reps_zero"]
    texts = [text.replace("reps = 0", "reps = 3\ntime = '5s'\naxes = {buffer = '1,2bdp'}")]
    path, messages = tmp_path / "a.toml", set()
    for mutant in mutants(texts, 400):
        path.write_text(mutant)
        messages.add(message_of(GateError, lambda: read_suite(path)))
    assert None in messages
    for message in messages - {None}:
        assert message is not None
        assert message.startswith(str(path))
        check_line(message)


SWEEP = ("sweep", "reno", "--time", "1s")


def replace_in_entry(entry: Path, name: str, content: bytes) -> None:
    """Put a file into a cache's entry, with the digest that it should have."""
    provenance = json.loads((entry / PROVENANCE).read_text())
    provenance["files"][name] = file_digest(content)
    (entry / name).write_bytes(content)
    (entry / PROVENANCE).write_text(json.dumps(provenance))


def link_in_entry(entry: Path, name: str, target: str) -> None:
    """Put a link into a cache's entry in the place of a file."""
    (entry / name).unlink()
    (entry / name).symlink_to(target)


def pipe_in_entry(entry: Path, name: str) -> None:
    """Put a named pipe into a cache's entry in the place of a file."""
    (entry / name).unlink()
    os.mkfifo(entry / name)


def replace_by_file(entry: Path) -> None:
    """Put a file into the place of a cache's entry."""
    shutil.rmtree(entry)
    entry.write_text("x")


def replace_by_directory(entry: Path) -> None:
    """Put a directory into the place of a cache's entry."""
    entry.unlink()
    entry.mkdir()


def replace_by_link(entry: Path) -> None:
    """Put a link to a device into the place of a cache's entry."""
    entry.unlink()
    entry.symlink_to("/dev/zero")


def replace_by_pipe(entry: Path) -> None:
    """Put a named pipe into the place of a cache's entry."""
    entry.unlink()
    os.mkfifo(entry)


def replace_line(entry: Path, line: int, name: str, content: bytes) -> None:
    """Put a line into a cache's entry, with the digest that it should have."""
    lines = entry.read_bytes().split(b"\n")
    provenance = json.loads(lines[0])
    provenance["files"][name] = file_digest(content)
    lines[0], lines[line] = json.dumps(provenance).encode(), content
    entry.write_bytes(b"\n".join(lines))


DEEP = b"[" * 100_000
DAMAGES: dict[str, Callable[[Path], object]] = {
    "provenance_nests": lambda entry: (entry / PROVENANCE).write_bytes(DEEP),
    "provenance_is_a_device": lambda entry: link_in_entry(entry, PROVENANCE, "/dev/zero"),
    "provenance_is_a_pipe": lambda entry: pipe_in_entry(entry, PROVENANCE),
    "provenance_has_a_large_number": lambda entry: (entry / PROVENANCE).write_bytes(b"9" * 5000),
    "run_is_a_device": lambda entry: link_in_entry(entry, "run.json", "/dev/zero"),
    "run_is_a_pipe": lambda entry: pipe_in_entry(entry, "run.json"),
    "run_nests": lambda entry: replace_in_entry(entry, "run.json", DEEP),
    "measures_nest": lambda entry: replace_in_entry(entry, MEASURES, DEEP),
    "measures_are_a_list": lambda entry: replace_in_entry(entry, MEASURES, b"[]"),
    "measures_are_a_device": lambda entry: link_in_entry(entry, MEASURES, "/dev/zero"),
    "entry_is_a_file": lambda entry: replace_by_file(entry),
}


DAMAGES_OF_A_FILE: dict[str, Callable[[Path], object]] = {
    "file_is_cut": lambda entry: entry.write_bytes(entry.read_bytes()[:-9]),
    "file_is_empty": lambda entry: entry.write_bytes(b""),
    "file_lacks_a_line": lambda entry: entry.write_bytes(entry.read_bytes().partition(b"\n")[2]),
    "first_line_nests": lambda entry: entry.write_bytes(DEEP + b"\n\n"),
    "first_line_is_of_another_version": lambda entry: entry.write_bytes(b'{"format":99}\n\n'),
    "measures_line_nests": lambda entry: replace_line(entry, 1, MEASURES, DEEP),
    "measures_line_is_a_list": lambda entry: replace_line(entry, 1, MEASURES, b"[]"),
    "file_is_a_directory": replace_by_directory,
    "file_is_a_device": replace_by_link,
    "file_is_a_pipe": replace_by_pipe,
}


@pytest.mark.parametrize("name", [*DAMAGES, *DAMAGES_OF_A_FILE])
def test_a_damaged_cache_costs_a_run_and_no_more(name, cli, tmp_path, monkeypatch):
    monkeypatch.setenv("DUMBBELL_CACHE", str(tmp_path / "cache"))
    if name in DAMAGES:  # time series are kept in a directory
        cli(*SWEEP, "--out", str(tmp_path / "out"))
    first = cli(*SWEEP)
    (entry,) = (tmp_path / "cache").glob("v*/*")
    (DAMAGES | DAMAGES_OF_A_FILE)[name](entry)
    start_s = time.process_time()
    again, verified = cli(*SWEEP), cli("cache", "verify", "--remove")
    assert time.process_time() - start_s < TIME_LIMIT_S
    assert (again.code, again.out) == (0, first.out)
    assert again.err.count("\n") <= 1
    assert verified.code in (0, 1)
    assert cli("cache").code == 0


def test_verifying_a_cache_reads_no_device(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("DUMBBELL_CACHE", str(tmp_path / "cache"))
    cli(*SWEEP, "--out", str(tmp_path / "out"))
    (entry,) = (tmp_path / "cache").glob("v*/*")
    table = next(entry.glob("*.parquet"))
    link_in_entry(entry, table.name, "/dev/zero")
    outcome = cli("cache", "verify")
    assert (outcome.code, outcome.err) == (
        1,
        f"error: {table}: is not a regular file but a device\n",
    )


@pytest.mark.parametrize(
    ("cache", "says"),
    [
        ("/dev/null", "not a directory"),
        ("/dev/null/x", "not a directory"),
        ("/proc/x", "no such file or directory"),
        ("/" + "a" * 300, "file name too long"),
    ],
)
def test_a_sweep_goes_on_without_a_cache(cache, says, cli, monkeypatch):
    monkeypatch.setenv("DUMBBELL_CACHE", cache)
    outcome = cli(*SWEEP)
    assert outcome.code == 0
    assert "the cache cannot be written" in outcome.err or "cannot be read" in outcome.err
    assert says in outcome.err
    listed = cli("cache")
    assert listed.code in (0, 2)
    assert listed.err.count("\n") <= 1


def test_a_cache_of_no_user_is_refused(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DUMBBELL_CACHE", "~nobody-has-this-name/x")
    refused(
        cli,
        SWEEP,
        "~nobody-has-this-name/x: no home directory; set $DUMBBELL_CACHE to a directory, or use "
        "`--no-cache`",
    )


def in_shell(command: str, *, environment: dict[str, str] | None = None) -> tuple[int, str, str]:
    """Run a shell command with `$D` as dumbbell: exit code, stdout, stderr."""
    result = subprocess.run(
        ["/bin/sh", "-c", f'D="{sys.executable} -m dumbbell"; {command}'],
        env={**os.environ, **(environment or {})}, capture_output=True, check=False,
        timeout=6 * TIME_LIMIT_S,
    )  # fmt: skip
    return result.returncode, result.stdout.decode(), result.stderr.decode()


CLOSED = "error: stdout: cannot be read or written: bad file descriptor\n"


@pytest.mark.parametrize(
    ("command", "code", "err"),
    [
        ("$D run reno --time 1s >&-", 2, CLOSED),
        ("$D cc list --json >&-", 2, CLOSED),
        ("$D run cubik 2>&-", 2, ""),
        ("$D run cubik 2>/dev/full", 2, ""),
        ("$D run cubik <&- >&- 2>&-", 2, ""),
        ("$D --help >/dev/full", 2, "error: stdout: cannot be read or written: no space left on device\n"),
        ("$D cc list --json | :", 0, ""),
        (
            "ulimit -f 0; $D run reno --time 1s",
            2,
            "error: cannot load congestion control `bbr`: memfd: File too large (os error 27); raise "
            "`ulimit -f`\n",
        ),
        ("PYTHONIOENCODING=ascii $D cc list copa --json >/dev/null", 0, ""),
    ],
)  # fmt: skip
def test_streams_that_take_nothing(command, code, err):
    said = in_shell(command)
    assert (said[0], said[2]) == (code, err)


def test_closed_streams_are_no_ones_files(tmp_path):
    """With `>&-` the next file that is opened would be stdout, and tables would be printed to it."""
    in_shell(f"$D run reno --time 1s --out {tmp_path / 'run'} >&-")
    assert not any(
        b"verdict      OK" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()
    )


def test_a_file_is_not_blamed_for_what_the_process_may_not_open(tmp_path):
    """It was said not to compile: `Too many open files`."""
    file = tmp_path / "own.bpf.c"
    file.write_bytes((ROOT / "cc" / "reno.bpf.c").read_bytes())
    answers = [in_shell(f"ulimit -n {limit}; $D run {file} --time 1s") for limit in range(14, 19)]
    assert any(code == 2 for code, _, _ in answers)
    for code, _, err in answers:
        assert code == 0 or "allow more (`ulimit -n`)" in err
        assert "does not compile" not in err


def test_a_mix_may_be_longer_than_a_path(cli):
    mix = "+".join(["reno"] * 900)
    assert len(mix) > os.pathconf("/", "PC_PATH_MAX")
    assert cli("run", mix, "--time", "200ms", "--sample", "0s").code == 0


def test_names_that_are_not_utf_8(tmp_path):
    place = os.fsencode(tmp_path) + b"/\xff"
    command: list[str | bytes] = [
        sys.executable,
        "-m",
        "dumbbell",
        "run",
        "reno",
        "--time",
        "1s",
        "--out",
        place,
    ]
    saved = subprocess.run(command, capture_output=True, check=True)
    assert saved.stdout.endswith(rb"/\udcff" + b"\n")
    assert saved.stderr == b""
    command = [*command[:-1], place + b"2", "--json"]
    as_json = subprocess.run(command, capture_output=True, check=True)
    assert json.loads(as_json.stdout)["engine"] == "simulator"
    source = place + b".bpf.c"
    Path(os.fsdecode(source)).write_text("int x;")
    refusal = subprocess.run([*command[:4], source], capture_output=True, check=False)
    assert refusal.returncode == 2
    assert refusal.stderr.endswith(rb".bpf.c` is not UTF-8; use printable text" + b"\n")


def test_this_process_stayed_small():
    """All of the above together, in the process that ran them."""
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2_000_000
