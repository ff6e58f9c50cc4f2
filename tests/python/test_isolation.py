"""Foreign congestion controls: what one does affects only its own run."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell.congestion_control.isolation import foreign_process, server_link
from dumbbell.congestion_control.isolation.crash import crash_message
from dumbbell.congestion_control.isolation.protocol import frame
from dumbbell.metrics import AllMetrics
from dumbbell.runs.cache import Cache
from dumbbell.runs.handler import PendingRun, RunHandler
from dumbbell.runs.key import run_key
from dumbbell.runs.record import Record
from tests.python.endless import endless

ROOT = Path(__file__).parents[2]
HOSTILE = ROOT / "tests/data/hostile/hostile.bpf.c"

DEEDS = {
    1: "divided by zero in `cong_avoid` (flow 1, at ",
    2: "used the bad address 0x40 in `cong_avoid` (flow 1, at ",
    3: "has not returned from `cong_avoid` (flow 1, at ",
    4: "left cwnd for a second at 0 in `cong_avoid` (flow 1, at ",
    5: "set cwnd to 4294967295 in `cong_avoid` (flow 1, at ",
    7: "used the bad address 0x7f",
}


#: Sources as people have reported them.
REPORTS = Path(__file__).parents[1] / "data/field-reports"


def scenario(*ccs: str, **words: Any) -> dumbbell.Scenario:
    return dumbbell.Scenario(ccs, **{"time": "3s", **words})


def hostile(deed: int, **params: int) -> str:
    words = {"deed": deed, **params}
    return f"{HOSTILE}:" + ",".join(f"{name}={value}" for name, value in words.items())


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign_process, "FUNCTION_LIMIT_S", 0.3)


@pytest.mark.parametrize("deed", DEEDS)
@pytest.mark.usefixtures("impatient")
def test_a_hostile_deed_ends_in_an_error_that_names_file_function_and_flow(deed: int) -> None:
    with pytest.raises(dumbbell.CongestionControlError) as caught:
        dumbbell.run(scenario("cubic", hostile(deed)))
    message = str(caught.value)
    assert message.startswith(f"congestion control `{HOSTILE}` ")
    assert DEEDS[deed] in message
    assert "\n" not in message


def test_a_signal_that_does_not_say_what_is_wrong_says_how_to_find_out() -> None:
    fields = [signal.SIGILL, "", 0, "ssthresh", 1, True, 320_110_000]
    message, _ = crash_message(fields, ["mine.bpf.c"], "mine.bpf.c")
    assert message.startswith("congestion control `mine.bpf.c` reached code that the compiler ")
    assert message.endswith("SIGILL; `dumbbell cc check` names the line")
    fields[0] = signal.SIGFPE
    assert crash_message(fields, ["mine.bpf.c"], "mine.bpf.c")[0].endswith("0.32011 s); SIGFPE")


@pytest.mark.parametrize("grows", ["snd_cwnd * 2", "snd_cwnd + (tcp_sk(sk)->snd_cwnd >> 3)"])
def test_a_cwnd_that_runs_away_is_an_error_that_names_it(tmp_path: Path, grows: str) -> None:
    """The receive window keeps it from filling the memory, so that it might go unnoticed."""
    file = tmp_path / "runaway.bpf.c"
    deed = f"if (tp->snd_cwnd < 1U << 29)\n\t\t\ttp->snd_cwnd = tcp_sk(sk)->{grows};"
    file.write_text(HOSTILE.read_text().replace("tp->snd_cwnd = ~0U;", deed), encoding="utf-8")
    words: dict[str, Any] = {"rate": "100mbit", "rtt": "40ms", "buffer": "1bdp"}
    with pytest.raises(dumbbell.CongestionControlError) as caught:
        dumbbell.run(scenario("cubic", f"{file}:deed=5", **words))
    message = str(caught.value)
    assert message.startswith(f"congestion control `{file}` let cwnd run away to ")
    assert "in `cong_avoid` (flow 1, at 0." in message
    # More than twice the 330 packets of the path and the 330 of the buffer, and at most the
    # window, which has four times the 1 MB of both.
    found = re.search(r"; (\d+) packets are in flight on a path that holds 660 with its", message)
    assert found
    assert 1320 < int(found[1]) <= 4_000_000 // 1448
    # With a window beyond it: 100 times what they hold.
    huge = dumbbell.Group(f"{file}:deed=5", rwnd="1000MiB")
    with pytest.raises(dumbbell.CongestionControlError, match="; 66000 packets are in flight"):
        dumbbell.run(dumbbell.Scenario([huge], time="3s", **words))
    # What is not in flight does no harm, whatever cwnd is.
    small = dumbbell.Group(f"{file}:deed=5", rwnd="1MB")
    limited = dumbbell.run(dumbbell.Scenario([small], time="3s", **words))
    assert max(limited.flows["cwnd_pkts"].to_pylist()) > 66_000


@pytest.mark.parametrize(
    ("cwnd_pkts", "words"),
    [
        # The most packets that are not above 2³⁰ bytes.
        (741_534, {}),
        # A window that is set is the user's word.
        (2_000_000, {"rwnd": "4MB"}),
    ],
)
def test_a_cwnd_that_a_window_holds_back_need_not_have_run_away(
    tmp_path: Path, cwnd_pkts: int, words: dict[str, Any]
) -> None:
    """Up to four times what the path holds are outstanding; what is dropped is sent again."""
    file = tmp_path / "large.bpf.c"
    deed = f"tp->snd_cwnd = {cwnd_pkts};"
    file.write_text(HOSTILE.read_text().replace("tp->snd_cwnd = ~0U;", deed), encoding="utf-8")
    group = dumbbell.Group(f"{file}:deed=5", **words)
    path: dict[str, Any] = {"rate": "100mbit", "rtt": "40ms", "buffer": "1bdp"}
    run = dumbbell.run(dumbbell.Scenario([group], time="3s", **path))
    assert max(run.flows["cwnd_pkts"].to_pylist()) == cwnd_pkts
    assert max(run.flows["outstanding_pkts"].to_pylist()) > 2 * 660
    assert run.bottleneck["dropped_pkts"] > run.bottleneck["forwarded_pkts"] / 4


def test_a_cwnd_of_a_packet_more_than_any_window_has_run_away(tmp_path: Path) -> None:
    file = tmp_path / "large.bpf.c"
    deed = "tp->snd_cwnd = 741535;"
    file.write_text(HOSTILE.read_text().replace("tp->snd_cwnd = ~0U;", deed), encoding="utf-8")
    path: dict[str, Any] = {"rate": "100mbit", "rtt": "40ms", "buffer": "1bdp"}
    with pytest.raises(dumbbell.CongestionControlError, match="let cwnd run away to 741535 pack"):
        dumbbell.run(scenario(f"{file}:deed=5", **path))


def test_the_process_that_forks_has_one_thread() -> None:
    """Python 3.12 and newer warn of others, and a fork may hang on what they hold."""
    dumbbell.run(scenario(str(ROOT / "cc/reno.bpf.c"), time="1s"))
    keeper = server_link.SERVER.process
    assert keeper is not None
    children = Path(f"/proc/{keeper.pid}/task/{keeper.pid}/children").read_text(encoding="ascii")
    (server,) = children.split()
    threads = Path(f"/proc/{server}/task").iterdir()
    assert [thread.name for thread in threads] == [server]


def test_a_good_file_gives_what_the_built_in_gives() -> None:
    ours = dumbbell.run(scenario("cubic", "bbr"))
    theirs = dumbbell.run(scenario(str(ROOT / "cc/cubic.bpf.c"), "bbr"))
    assert theirs.flows.equals(ours.flows)
    assert theirs.queue.equals(ours.queue)
    assert theirs.state(0).equals(ours.state(0))
    assert theirs.summary["flows"] == ours.summary["flows"]
    assert theirs.summary["bottleneck"] == ours.summary["bottleneck"]


def test_the_others_of_a_sweep_run_on() -> None:
    """A crash is one run's error; concurrent and later runs are not affected."""
    alone = dumbbell.run(scenario(hostile(0)))
    results: list[dumbbell.Run] = []
    beside = threading.Thread(target=lambda: results.append(dumbbell.run(scenario(hostile(0)))))
    beside.start()
    for _ in range(3):
        with pytest.raises(dumbbell.CongestionControlError):
            dumbbell.run(scenario(hostile(1)))
    beside.join()
    results.append(dumbbell.run(scenario(hostile(0))))
    for result in results:
        assert result.flows.equals(alone.flows)


def test_progress_and_parameters_come_through() -> None:
    seen: list[float] = []
    run = dumbbell.run(scenario(hostile(0, after_acks=7), time="60s"), on_progress=seen.append)
    assert run.groups[0]["params"]["after_acks"] == 7
    assert seen == sorted(seen)


def test_it_can_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    # Nothing else ends it.
    for limit in ("FUNCTION_LIMIT_S", "STALL_LIMIT_S"):
        monkeypatch.setattr(foreign_process, limit, 3600)
    control = dumbbell.Control()
    threading.Timer(0.5, control.cancel).start()
    with pytest.raises(dumbbell.Cancelled):
        dumbbell.run(scenario(hostile(3), time="600s"), control=control)


def test_it_can_be_cancelled_while_progress_keeps_coming(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign_process, "POLL_S", 3600)
    control = dumbbell.Control()

    def cancel(share: float) -> None:
        if share > 0:  # it is compiled and runs
            control.cancel()

    with pytest.raises(dumbbell.Cancelled):
        dumbbell.run(endless(hostile(0)), control=control, on_progress=cancel)


def test_a_refusal_is_the_engines() -> None:
    with pytest.raises(dumbbell.EngineError, match="has no parameter `nonsense`") as caught:
        dumbbell.run(scenario(f"{HOSTILE}:nonsense=1"))
    assert not isinstance(caught.value, dumbbell.CongestionControlError)


@pytest.mark.parametrize("answer_chars", [10, 1 << 16, 300_000])
def test_an_answer_of_the_server_is_heard_however_long_it_is(answer_chars: int) -> None:
    # What takes many reads is still on its way when the server closes the process's socket.
    status, servers = socket.socketpair()
    answers, workers = socket.socketpair()
    printed, prints = os.pipe()
    workers.close()
    os.close(prints)
    channels = server_link.Channels(status, answers, printed)
    process = foreign_process.ForeignProcess(channels, ["mine"], ["mine.bpf.c"])
    text = "mine.bpf.c: an error\n" + "x" * answer_chars

    def report() -> None:
        with servers:
            servers.sendall(frame({"refused": text}))

    server = threading.Thread(target=report)
    server.start()
    with pytest.raises(dumbbell.EngineError, match=r"mine\.bpf\.c: an error"):
        process.follow()
    server.join()


def test_a_compiler_that_says_much_is_quoted() -> None:
    for _ in range(4):
        with pytest.raises(dumbbell.EngineError, match=r"undeclared|u0"):
            dumbbell.run(scenario(str(REPORTS / "long_compile_error.bpf.c")))


def test_an_edited_source_is_built_again(tmp_path: Path) -> None:
    """The server keeps builds; a build is of the text as it is, included files too."""
    file = tmp_path / "mine.bpf.c"
    file.write_text(HOSTILE.read_text().replace("tcp_sk(sk)->snd_cwnd >> 1", "KEPT"))
    kept = "#define KEPT tcp_sk(sk)->snd_cwnd >> 1"
    runs = []
    for text in (kept, kept, "#define KEPT tcp_sk(sk)->snd_cwnd >> 2", kept):
        (tmp_path / "kept.h").write_text(text)
        if '"kept.h"' not in file.read_text():
            file.write_text(f'#include "kept.h"\n{file.read_text()}')
        runs.append(dumbbell.run(scenario(str(file), buffer="0.5bdp", time="5s")).flows)
    assert runs[0].equals(runs[1])
    assert not runs[0].equals(runs[2])
    assert runs[0].equals(runs[3])


def test_the_server_is_started_again_when_it_was_killed() -> None:
    first = dumbbell.run(scenario(hostile(0)))
    process = server_link.SERVER.process
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert dumbbell.run(scenario(hostile(0))).flows.equals(first.flows)


def test_relative_files_and_captures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dumbbell.run(scenario("cubic", hostile(0)))  # the server knows another directory
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.bpf.c").write_text(HOSTILE.read_text())
    run = dumbbell.run(scenario("./mine.bpf.c", time="1s"), capture="run.pcapng")
    assert run.summary["congestion_controls"][0]["cc"] == "hostile"
    assert (tmp_path / "run.pcapng").stat().st_size > 100_000


PYTHON = """import dumbbell
class Mine(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        pass
"""


@pytest.mark.parametrize(
    ("name", "first_line"),
    [
        (sysconfig._get_sysconfigdata_name(), ""),  # type: ignore[attr-defined]
        # The parser imports the codec, and this what it needs.
        ("stringprep", "# coding: idna\n"),
    ],
)
def test_no_module_next_to_a_file_runs_before_its_process_is_confined(
    name: str, first_line: str, tmp_path: Path
) -> None:
    place = tmp_path / "theirs"
    place.mkdir()
    owned = tmp_path / "owned"
    (place / f"{name}.py").write_text(f"open({str(owned)!r}, 'w').close()\n")
    (place / "mine.py").write_text(first_line + PYTHON)
    # The next server has imported neither.
    before = server_link.SERVER.process
    server_link.SERVER.forget()
    if before is not None:
        before.wait()
    with contextlib.suppress(dumbbell.DumbbellError):
        dumbbell.run(scenario(str(place / "mine.py")))
    assert not owned.exists()


def test_a_module_of_a_package_finds_what_is_next_to_the_file(tmp_path: Path) -> None:
    for name, text in {
        "mine.py": "import package.inner\n" + PYTHON,
        "package/__init__.py": "",
        "package/inner.py": "import helper\n",
        "package/helper.py": "raise AssertionError('not this one')\n",
        "helper.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    one = scenario(str(tmp_path / "mine.py"))
    before = run_key(one, "simulator").digest
    assert dumbbell.run(one).summary["flows"][0]["sent_pkts"] > 0
    (tmp_path / "helper.py").write_text("changed = True\n")
    assert run_key(one, "simulator").digest != before


def test_a_file_edited_before_its_run_is_not_kept_under_its_old_key(tmp_path: Path) -> None:
    mine = tmp_path / "mine.bpf.c"
    text = (ROOT / "cc/reno.bpf.c").read_text()
    mine.write_text(text)
    cache = Cache(tmp_path / "cache")
    handler: RunHandler[int, Any] = RunHandler(
        "simulator",
        cache,
        lambda _, record: record,
        series=False,
        measuring=lambda _: AllMetrics(),
    )
    case = PendingRun(0, scenario(str(mine)))
    assert handler.find(case) is None
    mine.write_text(text + "/* edited */\n")
    [failed, done] = handler.perform_all([case, PendingRun(1, scenario(str(mine)))])
    assert isinstance(failed, dumbbell.CongestionControlError)
    assert "changed before its run began" in str(failed)
    assert cache.get(case.key_of("simulator"), series=False) is None
    assert isinstance(done, Record)
    assert done.measured


@pytest.mark.parametrize(("files", "says"), [(64, ""), (12, "cannot be started: too many open")])
def test_a_limit_of_open_files_is_enough_or_named(files: int, says: str, tmp_path: Path) -> None:
    source = tmp_path / "mine.bpf.c"
    source.write_text((ROOT / "cc/reno.bpf.c").read_text().replace('"reno"', '"mine"'))
    words = [sys.executable, "-m", "dumbbell", "run", str(source), "--time", "1s"]
    outcome = subprocess.run(
        words, capture_output=True, text=True, check=False, timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)),
    )  # fmt: skip
    assert outcome.returncode == (2 if says else 0)
    assert outcome.stderr.count("\n") == (1 if says else 0)
    assert says in outcome.stderr


def test_python_has_nothing_to_warn_of_when_it_leaves(tmp_path: Path) -> None:
    source = tmp_path / "mine.bpf.c"
    source.write_text((ROOT / "cc/reno.bpf.c").read_text().replace('"reno"', '"mine"'))
    script = f"import dumbbell; dumbbell.run([{str(source)!r}], time='1s')"
    outcome = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONWARNINGS": "error"}, timeout=120,
    )  # fmt: skip
    assert (outcome.returncode, outcome.stderr) == (0, "")
