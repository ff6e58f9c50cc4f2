"""What foreign code may not do, as root and as an ordinary user."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell.base.quantities.printable import printable
from dumbbell.congestion_control import describe, foreign_description
from dumbbell.congestion_control.isolation import foreign_process, protocol, stall_clock
from dumbbell.congestion_control.isolation.sandbox import UNSAFE

ROOT = Path(__file__).parents[2]
BASE = (ROOT / "tests/data/hostile/hostile.bpf.c").read_text()

#: System calls and the prototypes that the hostile files need; there is no libc to include.
SYSTEM_CALLS = """
static long system_call(long number, long a, long b, long c)
{
    long result;
    register long d __asm__("r10") = 0;
    register long e __asm__("r8") = 0;

    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(d), "r"(e)
             : "rcx", "r11", "memory");
    return result;
}
"""
needs_x86_64 = pytest.mark.skipif(
    os.uname().machine != "x86_64", reason="the hostile files make system calls of x86-64"
)


@pytest.fixture
def c_file(tmp_path: Path) -> Callable[..., str]:
    """Write a congestion control with code in its `cong_avoid`, and before it."""

    def write(inside: str = "", before: str = "") -> str:
        file = tmp_path / "mine.bpf.c"
        text = BASE.replace(
            'SEC("struct_ops")\nu32 BPF_PROG(hostile_ssthresh',
            f'{SYSTEM_CALLS}{before}\nSEC("struct_ops")\nu32 BPF_PROG(hostile_ssthresh',
            1,
        )
        text = text.replace(
            "	tcp_reno_cong_avoid(sk, ack, acked);",
            f"	tcp_reno_cong_avoid(sk, ack, acked);\n	{inside}",
            1,
        )
        file.write_text(text)
        return str(file)

    return write


@pytest.fixture
def py_file(tmp_path: Path) -> Callable[..., str]:
    """Write a congestion control in Python with code in its `cong_avoid`, and at the top level."""

    def write(inside: str = "pass", before: str = "") -> str:
        file = tmp_path / "mine.py"
        text = textwrap.dedent("""
            import os, sys, time
            import dumbbell
            {before}
            class Mine(dumbbell.CongestionControl):
                "Reno."
                def cong_avoid(self, sk, ack, acked):
            {inside}
                    if sk.in_slow_start:
                        acked = dumbbell.tcp_slow_start(sk, acked)
                    dumbbell.tcp_cong_avoid_ai(sk, sk.snd_cwnd, acked)
        """)
        inside = textwrap.indent(textwrap.dedent(inside), " " * 8)
        file.write_text(text.replace("{before}", before).replace("{inside}", inside))
        return str(file)

    return write


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign_process, "FUNCTION_LIMIT_S", 0.5)
    monkeypatch.setattr(foreign_process, "STALL_LIMIT_S", 2.0)
    monkeypatch.setattr(foreign_process, "LOADING_LIMIT_S", 2.0)


def failure(file: str) -> str:
    """Run a file; return the error, which is one line and names it."""
    with pytest.raises(dumbbell.CongestionControlError) as caught:
        dumbbell.run(dumbbell.Scenario([file], time="2s"))
    message = str(caught.value)
    assert "\n" not in message
    assert file in message
    return message


def fine(file: str) -> dumbbell.Run:
    return dumbbell.run(dumbbell.Scenario([file], time="1s"))


FORBIDDEN = {
    "socket": "system_call(41, 2, 1, 0)",
    "fork": "system_call(57, 0, 0, 0)",
    "kill": "system_call(62, 1, 0, 0)",
    "ptrace": "system_call(101, 0, 0, 0)",
    "execve": 'system_call(59, (long)"/bin/true", 0, 0)',
    "open": 'system_call(2, (long)"/etc/passwd", 0, 0)',
    "bpf": "system_call(321, 0, 0, 0)",
}


@needs_x86_64
@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_forbidden_system_call_is_named_with_its_place(name: str, c_file) -> None:
    message = failure(c_file(f"{FORBIDDEN[name]};"))
    assert f"made the forbidden system call `{name}` in `cong_avoid` (flow 0, at " in message


ENDINGS = {
    "system_call(231, 0, 0, 0);": "ended its process with exit status 0, by `exit`",
    "system_call(231, 7, 0, 0);": "ended its process with exit status 7, by `exit`",
    "for (int fd = 0; fd < 64; fd++) system_call(3, fd, 0, 0);": "closed the socket",
    "for (int fd = 0; fd < 64; fd++) system_call(3, fd, 0, 0); system_call(231, 7, 0, 0);": (
        "exit status 7"
    ),
    'system_call(1, 3, (long)"nonsense that is long enough", 28);': "what is not an answer",
    "{ static long pause[2] = {1000000}; system_call(35, (long)pause, 0, 0); }": "it sleeps",
}


@needs_x86_64
@pytest.mark.parametrize("code", ENDINGS)
@pytest.mark.usefixtures("impatient")
def test_what_ended_a_process_is_named(code: str, c_file, monkeypatch) -> None:
    # On a busy machine a process may end long after its socket was closed.
    monkeypatch.setattr(foreign_process, "CLOSED_S", 60)
    message = failure(c_file(code))
    assert ENDINGS[code] in message
    assert "memory" not in message


SIGNALS = {
    15: "was ended by SIGTERM, which it sent to itself or another program sent",
    19: "it is stopped (SIGSTOP)",
    9: "was killed (SIGKILL), perhaps for lack of memory",
}


@needs_x86_64
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.usefixtures("impatient")
def test_a_signal_to_itself_is_named(number: int, c_file) -> None:
    to_itself = "system_call(234, system_call(39, 0, 0, 0), system_call(186, 0, 0, 0), "
    assert SIGNALS[number] in failure(c_file(f"{to_itself}{number});"))


FORGED = {
    "an unknown word": {"nonsense": 1},
    "a wrong type": {"fault": 5},
    "a cancellation": {"cancelled": True},
    "an output that is none": {"done": [0, 1 << 40]},
    "an output in another form": {"done": {"a": "b"}},
    "a description of nothing": {"described": {}},
    "an unknown group": {"stuck": [77, "init", 0, True, 0]},
    "a signal that does not exist": {"crash": [4711, "0x0"]},
    "two words": {"at": 1, "done": 2},
    "a bomb": "[" * 200_000,
    "not a number": {"at": [float("nan"), [0, "init", 0, True, 0]]},
}


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_answer_is_the_runs_error(what: str, py_file) -> None:
    document = FORGED[what]
    data = protocol.frame(document if isinstance(document, dict) else {"at": 1})
    if isinstance(document, str):
        payload = document.encode()
        data = protocol.HEADER.pack(protocol.MAGIC, len(payload), zlib.crc32(payload)) + payload
    message = failure(py_file(f"os.write(3, {data!r})\ntime.sleep(1)"))
    assert "the process that ran" in message
    assert " sent " in message


@pytest.mark.parametrize(
    "code",
    [
        "os.ftruncate(4, 1 << 30)",
        "os.ftruncate(4, 0)",
        "os.write(4, b'x' * 4096)",
    ],
)
def test_a_forged_output_is_the_runs_error(code: str, py_file) -> None:
    data = protocol.frame({"done": [0, 1 << 20]})
    message = failure(py_file(f"{code}\nos.write(3, {data!r})\ntime.sleep(1)"))
    assert "the process that ran" in message


def test_descriptors_that_come_with_an_answer_are_dropped(py_file) -> None:
    code = """
    import socket
    with open("/dev/null") as null:
        for _ in range(300):
            socket.send_fds(socket.socket(fileno=os.dup(3)), [b"x"], [null.fileno()])
    """
    before = len(list(Path("/proc/self/fd").iterdir()))
    message = failure(py_file(code))
    assert "the process that ran" in message
    assert len(list(Path("/proc/self/fd").iterdir())) <= before + 1


def test_the_sweep_goes_on_after_a_broken_answer(py_file, tmp_path: Path) -> None:
    data = protocol.frame({"nonsense": 1})
    file = py_file(f"os.write(3, {data!r})")
    sweep = dumbbell.Sweep(
        dumbbell.Scenario([file], time="1s"), {"buffer": ["1bdp", "2bdp"]}, reps=1
    )
    result = sweep.run(out=tmp_path / "out", cache=None)
    assert len(result.failed) == 2


SILENT = {
    "at the top level": ("pass", "time.sleep(10000)", "was not loaded within 2 s; it sleeps"),
    "a loop at the top level": ("pass", "while True: pass", "not loaded within 2 s of CPU time: "),
    "in a hook": ("time.sleep(10000)", "", "has not returned from `cong_avoid`"),
}


@pytest.mark.parametrize("where", SILENT)
@pytest.mark.usefixtures("impatient")
def test_time_that_stands_still_in_python_is_noticed(where: str, py_file) -> None:
    inside, before, expected = SILENT[where]
    assert expected in failure(py_file(inside, before))


@pytest.mark.usefixtures("impatient")
def test_a_module_init_that_loops_is_ended(tmp_path) -> None:
    file = tmp_path / "tcp_mine.c"
    hollow = (ROOT / "crates/cc/tests/cc/module_hollow.c").read_text()
    file.write_text(hollow.replace("\treturn tcp_reg", "\tfor (;;) barrier();\n\treturn tcp_reg"))
    assert "was not loaded within 2 s of CPU time: look" in failure(str(file))
    with pytest.raises(dumbbell.CongestionControlError, match="was not loaded"):
        describe(str(file))


@pytest.mark.parametrize("what", ["constructor", "destructor"])
def test_constructors_and_destructors_do_not_run(what: str, c_file) -> None:
    loop = f"__attribute__(({what})) static void own(void) {{ for (;;) barrier(); }}"
    with pytest.raises(dumbbell.EngineError, match=f"has a {what} `own`"):
        fine(c_file(before=loop))


@pytest.mark.usefixtures("impatient")
def test_a_run_that_is_slow_but_advances_is_not_ended(py_file) -> None:
    run = dumbbell.run(dumbbell.Scenario([py_file("time.sleep(0.004)")], rate="2mbit", time="6s"))
    assert run.groups[0]["goodput_bps"] > 1e6


class Clock:
    """Time and a process's state, as a test sets them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s, self.state, self.cpu_s = 100.0, "R", 0.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now_s)
        monkeypatch.setattr(stall_clock, "read_state", lambda _: (self.state, self.cpu_s))
        self.clock = stall_clock.StallClock(1)

    def stalled_s(self, looks: int, each_s: float, cpu_s: float = 0.0) -> float:
        for _ in range(looks):
            self.now_s += each_s
            self.cpu_s += cpu_s
            self.clock.look()
        return self.clock.stalled_s


def test_sleep_and_computing_count_as_stalled(monkeypatch) -> None:
    clock = Clock(monkeypatch)
    clock.state = "S"
    assert 8.9 < clock.stalled_s(looks=200, each_s=0.05) <= 10
    clock = Clock(monkeypatch)
    assert 8.9 < clock.stalled_s(looks=200, each_s=0.05, cpu_s=0.05) <= 10
    clock.clock.advanced()
    assert clock.clock.look() == 0


def test_a_suspended_or_loaded_machine_does_not_count(monkeypatch) -> None:
    clock = Clock(monkeypatch)
    clock.state = "S"
    assert clock.stalled_s(looks=3, each_s=3600) <= 1.5
    clock = Clock(monkeypatch)
    assert clock.stalled_s(looks=20_000, each_s=0.05) == 0  # it waits for a CPU
    clock = Clock(monkeypatch)
    clock.state = "D"
    assert clock.stalled_s(looks=20_000, each_s=0.05) == 0  # it waits for a disk


def test_a_file_is_described_once_by_a_command(py_file, monkeypatch) -> None:
    asked: list[str] = []
    ask = foreign_description.ask

    def counted(name: str) -> Mapping[str, Any]:
        asked.append(name)
        return ask(name)

    monkeypatch.setattr(foreign_description, "ask", counted)
    file = py_file()
    for _ in range(3):
        describe(file)
    assert asked == [file]
    Path(file).write_text(Path(file).read_text() + "\n")
    describe(file)
    assert asked == [file, file]


def test_an_ordinary_user_s_files_are_safe_too(py_file, tmp_path) -> None:
    """Root tests itself above; this is a user without capabilities, in a namespace."""
    notes = tmp_path / "notes.txt"
    notes.write_text("kept")
    file = py_file(f"open({str(notes)!r}, 'w')")
    words = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
    if subprocess.run([*words, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine lets nobody make a user namespace")
    done = subprocess.run(
        [*words, sys.executable, "-m", "dumbbell", "run", file, "--time", "1s"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "PermissionError" in done.stderr
    assert notes.read_text() == "kept"


def test_a_file_runs_confined_and_the_run_says_so(py_file, c_file) -> None:
    for run in (fine(py_file()), fine(c_file())):
        assert run.to_dict()["sandbox"]["confined"] is True
        checks = [reason.check for reason in run.verdict.reasons]
        assert ("sandbox" in checks) == bool(run.to_dict()["sandbox"]["missing"])
    assert "sandbox" not in dumbbell.run(["reno"], time="1s").to_dict()


def test_without_the_sandbox_the_verdict_warns(py_file, tmp_path, monkeypatch) -> None:
    secret = tmp_path / "secret"
    secret.write_text("")
    reads = py_file(f"open({str(secret)!r}).close()")
    with pytest.raises(dumbbell.CongestionControlError, match="PermissionError"):
        fine(reads)
    monkeypatch.setenv(UNSAFE, "1")
    run = fine(reads)
    assert run.verdict.status == "WARN"
    assert "without the sandbox" in str(run.verdict.reasons[0])
    saved = dumbbell.Run.load(run.save(tmp_path / "run"))
    assert saved.to_dict()["sandbox"] == {"confined": False, "missing": []}


@pytest.mark.parametrize("mode", ["r", "w", "x"])
def test_no_file_of_the_users_is_read_or_written(mode, py_file, tmp_path) -> None:
    notes = tmp_path / ("new.txt" if mode == "x" else "notes.txt")
    if mode != "x":
        notes.write_text("kept")
    opens = f"open({str(notes)!r}, {mode!r})"
    for code in ((opens, ""), ("pass", opens)):
        with pytest.raises(dumbbell.EngineError, match="PermissionError"):
            fine(py_file(*code))
    assert [path.read_text() for path in tmp_path.glob("*.txt")] == ["kept"] * (mode != "x")


def test_confinement_comes_back_when_it_is_no_longer_turned_off(
    py_file, tmp_path, monkeypatch
) -> None:
    """The server must not keep the setting of an earlier request."""
    notes = tmp_path / "notes.txt"
    notes.write_text("kept")
    reads = py_file(f"open({str(notes)!r})")
    with monkeypatch.context() as unsafe:
        unsafe.setenv(UNSAFE, "1")
        assert fine(reads).to_dict()["sandbox"]["confined"] is False
    with pytest.raises(dumbbell.CongestionControlError, match="PermissionError"):
        fine(reads)


def test_modules_that_a_file_imports_by_name_work_and_others_do_not(py_file, tmp_path) -> None:
    (tmp_path / "helper.py").write_text("import inner.part\nshare = inner.part.share\n")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner/__init__.py").write_text("")
    (tmp_path / "inner/part.py").write_text("share = 2\n")
    (tmp_path / "hidden.py").write_text("share = 3\n")
    fine(py_file("assert helper.share == 2", "import helper, json, statistics"))
    with pytest.raises(dumbbell.CongestionControlError, match=r"PermissionError|NotFoundError"):
        fine(py_file('__import__("hid" + "den")'))


def test_nothing_of_a_file_runs_in_this_process(py_file, c_file, tmp_path) -> None:
    mark = f"dumbbell_ran_in_{os.getpid()}"
    file = py_file(before=f"import builtins; builtins.{mark} = os.getpid()")
    describe(file)
    choice = dumbbell.Scenario([f"{file}:"]).groups[0].cc
    assert choice.series == ()
    fine(file)
    import builtins

    assert not hasattr(builtins, mark)
    described = describe(c_file())
    assert described.name == "hostile"
    assert not [line for line in Path("/proc/self/maps").read_text().splitlines()
                if "dumbbell-cc" in line and "hostile" in line]  # fmt: skip


def test_a_description_is_escaped_and_checked(py_file) -> None:
    file = py_file(before='P = dumbbell.Parameter("x", "\\x1b[31m", "\\u202edoc", 0, 9, 1)')
    text = Path(file).read_text().replace('"Reno."', '"\\x1b[2JReno."\n    parameters = (P,)')
    Path(file).write_text(text)
    described = describe(file)
    assert described.title == "\\x1b[2JReno"
    assert described.parameters[0].unit == "\\x1b[31m"
    assert described.parameters[0].doc == "\\u202edoc"


def test_what_a_file_prints_is_named_escaped_and_cut(py_file, capsys) -> None:
    fine(py_file(before="print('\\x1b[2J' + 'x' * 100_000, file=sys.stderr)"))
    err = capsys.readouterr().err
    assert "printed: \\x1b[2Jxxx" in err
    assert "mine.py` printed" in err
    assert "\x1b" not in err
    assert len(err) < 2400


def test_an_error_of_a_file_is_escaped(py_file) -> None:
    with pytest.raises(dumbbell.CongestionControlError) as caught:
        fine(py_file("raise ValueError('\\x1b[2Jowned\\u202e' + 'y' * 9000)"))
    assert "\\x1b[2Jowned\\u202e" in str(caught.value)
    assert len(str(caught.value)) < 2400


def test_printable() -> None:
    assert printable("µs, 日本語") == "µs, 日本語"
    assert printable(b"\xff\x9b1m") == "\\xff\\x9b1m"
    assert printable("a\nb", lines=True) == "a\nb"
    assert printable("a\nb\u2066") == "a\\nb\\u2066"
    assert printable("x" * 3000).startswith("x" * 2048 + " … (cut")


def test_a_capture_is_the_only_file_that_is_written(c_file, tmp_path) -> None:
    capture = tmp_path / "captures/run.pcapng"
    capture.parent.mkdir()
    dumbbell.run(dumbbell.Scenario([c_file()], time="1s"), capture=capture)
    assert capture.stat().st_size > 100_000
    with pytest.raises(dumbbell.EngineError, match="cannot be written"):
        dumbbell.run(dumbbell.Scenario([c_file()], time="1s"), capture=tmp_path / "no/run.pcapng")


def processes_of(mark: str) -> list[int]:
    """Return the processes with an environment variable, which children inherit."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if mark.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


@pytest.fixture
def mark(tmp_path: Path) -> Iterator[str]:
    value = f"dumbbell-test-{os.getpid()}-{tmp_path.name}"
    yield value
    for pid in processes_of(value):
        os.kill(pid, 9)


class Below:
    """The processes below one, by /proc: foreign code's environment and memory are hidden there."""

    def __init__(self, pid: int) -> None:
        self.states: dict[int, str] = {}
        self.parents: dict[int, int] = {}
        for process in Path("/proc").iterdir():
            if not process.name.isdigit():
                continue
            with suppress(OSError):  # it may end meanwhile
                stat = (process / "stat").read_text(errors="replace")
                number, _, rest = stat.partition(" ")
                state, parent = rest.rpartition(")")[2].split()[:2]
                self.states[int(number)], self.parents[int(number)] = state, int(parent)
        self.depths = {number: self.depth_of(number, pid) for number in self.parents}

    def depth_of(self, number: int, pid: int) -> int:
        """Return how many processes are above one, up to the given one; 0 if it is not below."""
        depth = 0
        while number in self.parents and number != pid:
            number, depth = self.parents[number], depth + 1
        return depth if number == pid else 0

    def foreign(self) -> list[str]:
        """Return the states of processes of foreign code: below the server's, without any below."""
        return [
            self.states[number]
            for number, depth in self.depths.items()
            if depth >= 3 and number not in self.parents.values()
        ]

    def compiles(self) -> bool:
        """Whether a compiler works on the file."""
        for number in (number for number, depth in self.depths.items() if depth):
            with suppress(OSError):
                if b"mine.bpf.c" in Path(f"/proc/{number}/cmdline").read_bytes():
                    return True
        return False


def wait_until(
    process: subprocess.Popen[str], is_so: Callable[[Below], bool], looks: int = 1
) -> None:
    """Wait until it is so for some looks in a row, however long the machine takes."""
    in_a_row = 0
    while in_a_row < looks:
        assert process.poll() is None
        in_a_row = in_a_row + 1 if is_so(Below(process.pid)) else 0
        time.sleep(0.01)


def sleeps(below: Below) -> bool:
    return set(below.foreign()) == {"S"}


MOMENTS = ("starting", "compiling", "loading", "running", "hanging up", "describing", "checking")


@pytest.mark.parametrize("moment", MOMENTS)
def test_nothing_survives_when_the_command_line_is_killed(
    moment: str, mark: str, tmp_path: Path, py_file, c_file
) -> None:
    if moment == "compiling":
        # More numbers than a compiler can read in the time until it is killed.
        blow_up = "\n".join(
            [f"#define D{n + 1} D{n}, D{n}, D{n}, D{n}" for n in range(14)]
            + ["#define D0 1", "static const int table[] = { D14 };"]
        )
        file = c_file(before=blow_up)
    elif moment in ("loading", "describing"):
        file = py_file(before="time.sleep(10000)")
    else:
        file = py_file("time.sleep(10000)")
    words = ["run", file, "--time", "1s"]
    if moment == "describing":
        words = ["cc", "check", file]
    elif moment == "checking":
        words = ["cc", "check", c_file(), "--storms", "1000"]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "dumbbell", *words],
        env={**os.environ, "DUMBBELL_TEST_MARK": mark, "TMPDIR": str(scratch)},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        process_group=0,
        text=True,
    )
    assert process.stderr is not None
    if moment == "starting":
        wait_until(process, lambda below: any(below.depths.values()))
    elif moment == "compiling":
        wait_until(process, Below.compiles)
    elif moment == "checking":
        assert any("1000 storms" in line for line in process.stderr)
        wait_until(process, lambda below: bool(below.foreign()))
    else:
        wait_until(process, sleeps, looks=10)
    if moment == "hanging up":
        os.killpg(process.pid, signal.SIGHUP)
    else:
        process.kill()
    process.wait()
    process.stderr.close()
    until_s = time.monotonic() + 60
    while (processes_of(mark) or any(scratch.iterdir())) and time.monotonic() < until_s:
        time.sleep(0.05)
    assert processes_of(mark) == []
    assert list(scratch.iterdir()) == []


def test_a_server_whose_command_line_was_killed_while_it_started_ends(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as killed:
        pass
    server = Path(dumbbell.__file__).parent / "congestion_control/isolation/server.py"
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        done = subprocess.run(
            [sys.executable, "-P", server, str(killed.pid)],
            env={**os.environ, "TMPDIR": str(tmp_path)},
            stdin=theirs.fileno(),
            timeout=120,
            check=False,
        )
    assert done.returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_what_a_described_file_prints_does_not_go_into_the_json(py_file) -> None:
    file = py_file(before="print('{\"forged\": 1}')")
    done = subprocess.run(
        [sys.executable, "-m", "dumbbell", "run", file, "--time", "1s", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["groups"][0]["cc"] == "mine"
    assert re.search(r"printed: \{\"forged\"", done.stderr)
