"""`dumbbell emulate` and `dumbbell.emulate`: real programs over an emulated path.

A path is never shorter or faster than it was asked for; that it is hardly longer or slower is in
test_exact_times.py, where no machine can make it late.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import dumbbell
from tests.python.emulated import EMULATE, PATH, PYTHON, python
from tests.python.own_mounts import as_nobody, in_own_mounts
from tests.python.real_programs import needs

pytestmark = pytest.mark.kernel


def emulate(*words: str, **settings: object) -> subprocess.CompletedProcess[str]:
    """Run the command line to its end."""
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        [*EMULATE, *words], capture_output=True, text=True, check=False, timeout=120, **settings
    )


@needs("ping")
def test_ping_sees_the_rtt():
    done = emulate(*PATH, "--", "ping", "-c", "20", "-i", "0.05", "server")
    assert done.returncode == 0, done.stderr
    found = re.search(r"= ([\d.]+)/([\d.]+)/", done.stdout)
    assert found is not None, done.stdout
    # Two packets of 98 bytes take 78 µs each on 10 Mbit/s. No machine is late for all 20.
    assert 40.15 <= float(found[1]) < 45
    assert float(found[1]) <= float(found[2])
    assert "20 received" in done.stdout
    assert re.search(r"^verdict (OK|WARN|INVALID)", done.stderr, re.MULTILINE), done.stderr


def test_output_and_exit_code_are_the_command_s_own(nothing_left):
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)"
    done = emulate(*PATH, "--", *python(code))
    assert done.returncode == 7
    assert done.stdout == "out\n"
    assert "err\n" in done.stderr
    assert "server → client  10mbit" in done.stderr


def test_standard_input_reaches_the_command():
    done = emulate(*PATH, "--quiet", "--", "cat", input="three words here")
    assert (done.returncode, done.stdout, done.stderr) == (0, "three words here", "")


@needs("curl")
def test_a_download_has_the_rate_of_the_path(tmp_path, nothing_left):
    (tmp_path / "5M").write_bytes(bytes(5_000_000))
    serve = f"{PYTHON} -m http.server --directory {tmp_path} 80"
    done = emulate(
        *PATH, "--serve", serve, "--ready", "tcp:80", "--json",
        "--", "curl", "-sSo", "/dev/null", "-w", "took %{time_total}", "http://server/5M",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["exit_code"] == 0
    down = next(link for link in document["links"] if link["name"] == "bottleneck")
    # Payload, its headers, and the ends of the connection.
    assert 5_000_000 < down["forwarded_bytes"] < 5_600_000
    took_s = float(re.search(r"took ([\d.]+)", done.stderr)[1])  # type: ignore[index]
    # 5 MB and headers take 4.2 s.
    assert took_s > 4.1


@needs("iperf3")
def test_competitors_take_their_share():
    done = emulate(
        *PATH, "--buffer", "2bdp", "--with", "linux/cubic:3", "--serve", "iperf3 -s", "--ready",
        "tcp:5201", "--json", "--", "iperf3", "-J", "-t", "5", "-R", "-C", "cubic", "-c", "server",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    groups = json.loads(done.stdout)["groups"]
    assert [group["flows"] for group in groups] == [1, 3]
    assert all(group["goodput_bps"] > 0 for group in groups)
    assert sum(group["share"] for group in groups) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--", "no-such-command"), "no-such-command"),
        ((), "no command; write it after `--`, or use `--interactive`"),
        (("--serve", "no-such-server", "--", "true"), "no-such-server"),
        (("--serve", "false", "--ready", "tcp:80", "--", "true"), "exit code 1"),
        (("--ready", "tcp:80", "--", "true"), "`--ready` waits for a server"),
        (
            ("--ready", "sctp:80", "--serve", "sleep 60", "--", "true"),
            "--ready `sctp:80`: unknown protocol `sctp`",
        ),
        (
            ("--ready", "tcp:80", "--ready-timeout", "0.5s", "--serve", "sleep 60", "--", "true"),
            "tcp:80",
        ),
        (("--rate", "12", "--", "true"), "12"),
        (("--with", "nothing:2", "--", "true"), "nothing"),
        (("--with", "bbr:two", "--", "true"), "`two` is not a number of flows; use e.g. `bbr:2`"),
        (("--with", "2:cubic", "--", "true"), "the number of flows comes last; use `cubic:2`"),
        (
            ("--rate", "none", "--queue", "fq_codel", "--", "true"),
            "queue `fq_codel` has nothing to hold with the rate `none`",
        ),
        (
            ("--up-rate", "none", "--up-buffer", "9pkt", "--", "true"),
            "up_buffer `9pkt` has nothing to hold with the rate `none`",
        ),
        (("--mtu", "20", "--", "true"), "mtu `20B` is too small; use 1280 to 65000 bytes"),
    ],
)
def test_what_cannot_be_is_a_line_and_exit_code_2(cli, words, said, nothing_left):
    outcome = cli("emulate", *words)
    assert outcome.code == 2, outcome.err
    assert outcome.err.startswith("error: ")
    assert said in outcome.err
    assert outcome.err.count("\n") == 1


def test_without_tun_the_error_says_how_to_get_it():
    mounts = "mount -t tmpfs -o mode=755 none /dev/net"
    done = in_own_mounts(mounts, *EMULATE, *PATH, "--", "true")
    assert done.returncode == 2
    assert done.stderr.startswith("error: the kernel engine needs /dev/net/tun; make it with")
    assert done.stderr.count("\n") == 1


@needs("ping", "curl")
def test_an_ordinary_user_emulates_in_a_user_namespace():
    serve = f"{PYTHON} -m http.server --directory /usr/share 80"
    done = as_nobody(
        *EMULATE[1:], *PATH, "--serve", serve, "--ready", "tcp:80", "--",
        "sh", "-c", "id -u; ping -c 10 -i 0.05 server && exec curl -sSI http://server/",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("0\n"), "root of its own namespace"
    found = re.search(r"= ([\d.]+)/", done.stdout)
    assert found is not None
    assert float(found[1]) > 40.15
    assert "200 OK" in done.stdout
    assert "\nverdict " in done.stderr


def test_what_a_server_printed_is_in_the_error():
    code = "print('no disk left', flush=True); import time; time.sleep(60)"
    done = emulate(
        "--ready", "tcp:80", "--ready-timeout", "1s",
        "--serve", f"{PYTHON} -c \"{code}\"", "--", "true",
    )  # fmt: skip
    assert done.returncode == 2
    assert "no disk left" in done.stderr


@needs("ping")
def test_a_path_changes_and_is_entered_from_another_terminal():
    code = (
        "import subprocess, sys, time\n"
        "def rtt():\n"
        "    out = subprocess.run(['ping', '-c3', '-i0.2', 'server'], capture_output=True,"
        " text=True).stdout\n"
        "    return float(out.split('= ')[1].split('/')[0])\n"
        "print('first', rtt(), flush=True)\n"
        "sys.stdin.readline()\n"
        "print('second', rtt(), flush=True)\n"
    )
    with subprocess.Popen(
        [*EMULATE, *PATH, "--", *python(code)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        first = float(process.stdout.readline().split()[1])
        dumbbell_ = (sys.executable, "-m", "dumbbell")
        pid = str(process.pid)
        changed = subprocess.run(
            [*dumbbell_, "emulate", "set", "--pid", pid, "rtt=100ms"],
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert changed.returncode == 0, changed.stderr
        entered = subprocess.run(
            [*dumbbell_, "emulate", "enter", "--pid", pid, "server", "--", "cat", "/etc/hosts"],
            capture_output=True, text=True, check=True, timeout=60,
        )  # fmt: skip
        refused = subprocess.run(
            [*dumbbell_, "emulate", "set", "--pid", pid, "mtu=9000"],
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        process.stdin.write("\n")
        process.stdin.flush()
        second = float(process.stdout.readline().split()[1])
        process.communicate(timeout=60)
    assert first > 40.15
    assert second > 100.15
    assert "client" in entered.stdout
    assert refused.returncode == 2
    assert "`mtu` cannot be changed" in refused.stderr


def test_an_entered_program_has_the_directory_and_environment_of_its_own_terminal(tmp_path):
    # More than a socket passes at once; a single variable may have 128 kB.
    big = {f"BIG{number}": "x" * 100_000 for number in range(4)}
    code = (
        "import os\n"
        "print(os.getcwd(), sum(name.startswith('BIG') for name in os.environ),"
        " os.getsid(0) == os.getpid())"
    )
    with subprocess.Popen(
        [*EMULATE, *PATH, "--", "sh", "-c", "echo ready; cat"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        entered = subprocess.run(
            [
                sys.executable, "-m", "dumbbell", "emulate", "enter", "--pid", str(process.pid),
                "client", "--", *python(code),
            ],
            capture_output=True, text=True, check=False, timeout=60,
            cwd=tmp_path, env={**os.environ, **big},
        )  # fmt: skip
        _, err = process.communicate("", timeout=60)
    assert entered.stderr == ""
    assert entered.stdout == f"{tmp_path} 4 True\n"
    assert "dropped 0 of 0 packets\n" in err


def test_packets_are_there_after_the_path():
    with dumbbell.emulate(rate="10mbit", rtt="20ms", keep_packets=True) as path:
        assert path.client.run("true").returncode == 0
        assert path.client.run([Path(PYTHON), "-c", "pass"]).returncode == 0
        with pytest.raises(dumbbell.ScenarioError, match="unknown protocol `sctp`"):
            path.server.wait_for("sctp:80")
        code = "import socket; socket.socket(2, 2).sendto(b'x', ('server', 9))"
        path.client.run([PYTHON, "-c", code], check=True)
        time.sleep(0.1)
    up = [row["event"] for row in path.packets().events.to_pylist() if row["link"] == "up"]
    assert up == ["enqueue", "dequeue"]


@needs("curl")
def test_from_python(tmp_path):
    (tmp_path / "page").write_bytes(bytes(200_000))
    with dumbbell.emulate(rate="10mbit", rtt="20ms", keep_packets=True) as path:
        with path.server.popen(
            [PYTHON, "-m", "http.server", "--directory", str(tmp_path), "80"],
            stderr=subprocess.DEVNULL,
        ) as server:
            path.server.wait_for("tcp:80")
            done = path.client.run(
                ["curl", "-sSo", "/dev/null", "-w", "%{size_download}", "http://server/page"],
                capture_output=True, text=True, check=True, timeout=30,
            )  # fmt: skip
            path.set(rate="1mbit")
            slow = path.client.run(
                ["curl", "-sSo", "/dev/null", "-w", "%{time_total}", "http://server/page"],
                capture_output=True, text=True, timeout=30,
            )  # fmt: skip
            stats = path.stats()
            server.kill()
        log = path.packets()
    assert done.stdout == "200000"
    # 1.6 Mbit and headers, of which a queue of 25 kB at the old rate is sent at the new one.
    assert float(slow.stdout) > 1.6
    assert {link["name"] for link in stats["links"]} == {"bottleneck", "up"}
    assert path.result.engine == "kernel"
    assert set(log.events["link"].to_pylist()) == {"bottleneck", "up"}
    sent = sum(row["event"] == "dequeue" for row in log.events.to_pylist())
    assert sent == sum(link["forwarded_pkts"] for link in path.result.links)


def test_a_cpu_that_is_only_kept_awake_is_idle():
    def awake() -> list[str]:
        names = [task.read_text().strip() for task in Path("/proc/self/task").glob("*/comm")]
        return [name for name in names if name.startswith("awake ")]

    with dumbbell.emulate(rate="10mbit", rtt="20ms", keep_awake=True) as path:
        assert path.client.run(["sleep", "1"]).returncode == 0
        spinning = awake()
    emulation = path.result.emulation
    assert emulation is not None
    assert emulation["own_cpu_cores"] < 0.5
    others = emulation["other_cpu_cores"] + emulation["stolen_cpu_cores"]
    assert emulation["idle_cpu_cores"] + others > len(os.sched_getaffinity(0)) - 0.7
    # A kernel that has an idle driver does it without threads of ours.
    driver = Path("/sys/devices/system/cpu/cpuidle/current_driver")
    if not driver.exists() or driver.read_text().strip() == "none":
        assert len(spinning) == len(os.sched_getaffinity(0))
    deadline = time.monotonic() + 30
    while awake():
        assert time.monotonic() < deadline, "threads go on after the path has ended"
        time.sleep(0.01)


def test_a_server_that_fails_later_is_in_the_verdict():
    code = "import socket, sys; kept = socket.create_server(('', 80)).accept(); sys.exit(3)"
    # Its end closes the connection.
    ask = "import socket, time; socket.create_connection(('server', 80)).recv(1); time.sleep(0.5)"
    done = emulate(
        *PATH, "--serve", f'{PYTHON} -c "{code}"', "--ready", "tcp:80", "--", *python(ask)
    )
    assert done.returncode == 0
    said = f"warn: the server {PYTHON} ended with exit code 3"
    assert said in done.stderr.splitlines()
    assert "verdict OK" not in done.stderr


def test_the_error_of_a_block_is_not_hidden_by_that_of_the_path(monkeypatch):
    class Broken:
        """A path that cannot be ended in order."""

        def snapshot(self):
            return '{"time_s": 0.0}'

        def stop(self):
            raise dumbbell._core.EngineError("the relay stopped in the middle of the run")

    path = dumbbell.emulate(rate="10mbit", rtt="20ms", keep_packets=True)
    monkeypatch.setattr(path, "_emulation", Broken())
    scratch = path._scratch
    assert scratch is not None
    with pytest.raises(dumbbell.EngineError, match="the relay stopped"):
        path.__exit__(None, None, None)
    assert not Path(scratch.name).exists()
    raised = KeyError("the user's")
    path.__exit__(KeyError, raised, None)
    assert "the relay stopped" in raised.__notes__[0]


def test_python_gets_exit_codes_and_errors():
    with dumbbell.emulate(rate="10mbit", rtt="20ms") as path:
        assert path.client.run(["false"]).returncode == 1
        with pytest.raises(subprocess.CalledProcessError):
            path.client.run(["false"], check=True)
        with pytest.raises(subprocess.TimeoutExpired):
            path.client.run(["sleep", "60"], timeout=0.3)
        with pytest.raises(dumbbell.EngineError, match="no-such-command"):
            path.client.run(["no-such-command"])
        with pytest.raises(dumbbell.ScenarioError, match="`queue` cannot be changed"):
            path.set(queue="fq_codel")
        echoed = path.client.run(["cat"], input="words", capture_output=True, text=True)
    assert echoed.stdout == "words"


def test_the_fixture_of_the_plugin(tmp_path):
    file = tmp_path / "test_mine.py"
    file.write_text(
        "def test_mine(dumbbell_path):\n"
        "    with dumbbell_path(rate='10mbit', rtt='20ms') as path:\n"
        "        assert path.client.run(['true']).returncode == 0\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)],
        capture_output=True, text=True, check=False, timeout=120, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_a_field_that_is_not_the_path_s_has_a_hint():
    with pytest.raises(dumbbell.ScenarioError, match="no field `rat`; did you mean `rate`"):
        dumbbell.emulate(rat="1mbit")


def test_set_says_what_it_changed_and_asks_for_the_pid_of_another_terminal_s():
    """Two terminals are two sessions; a path's own programs are in its own."""
    change = f"{PYTHON} -m dumbbell emulate set rate=5mbit"
    with subprocess.Popen(
        [*EMULATE, *PATH, "--quiet", "--", "sh", "-c", f"{change}; echo ready; cat"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "XDG_RUNTIME_DIR": tempfile.mkdtemp()}, start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        said = process.stdout.readline()
        assert process.stdout.readline() == "ready\n", said
        assert re.fullmatch(rf"rate 5mbit: the path of `sh -c .*`, process {process.pid}\n", said)
        directory = Path(f"/proc/{process.pid}/environ").read_bytes().split(b"XDG_RUNTIME_DIR=")[1]
        environment = {**os.environ, "XDG_RUNTIME_DIR": directory.split(b"\0")[0].decode()}
        words = [PYTHON, "-m", "dumbbell", "emulate", "set", "rate=1mbit"]
        refused, named = (
            subprocess.run(
                [*words, *pid], capture_output=True, text=True, check=False, timeout=60,
                env=environment,
            )
            for pid in ([], ["--pid", str(process.pid)])
        )  # fmt: skip
        process.communicate("", timeout=60)
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: the path of `sh -c ")
    assert f"was started in another terminal; use `--pid {process.pid}` to" in refused.stderr
    assert (named.returncode, named.stdout[:12]) == (0, "rate 1mbit: ")


def test_set_on_a_path_changes_that_path_and_no_other_one_beside_it():
    with subprocess.Popen(
        [*EMULATE, *PATH, "--quiet", "--", "sh", "-c", "echo ready; cat"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as other:  # fmt: skip
        assert other.stdout is not None
        assert other.stdout.readline() == "ready\n"
        done = emulate(
            *PATH, "--quiet", "--", PYTHON, "-m", "dumbbell", "emulate", "set", "rate=5mbit"
        )
        other.communicate("", timeout=60)
    assert done.returncode == 0, done.stderr
    assert "rate=5mbit`, process" in done.stdout
    assert f"process {other.pid}" not in done.stdout


def test_lines_of_servers_have_their_names(tmp_path):
    def serve(*lines: str) -> tuple[str, str]:
        printed = "".join(f"echo {line}; " for line in lines)
        return "--serve", f"sh -c '{printed}touch {tmp_path}/{lines[-1]}'"

    def after(*lines: str) -> list[str]:
        waits = "".join(
            f"while [ ! -e {tmp_path}/{line} ]; do sleep 0.05; done; " for line in lines
        )
        return ["sh", "-c", f"{waits}echo mine"]

    done = emulate(*PATH, "--quiet", *serve("one", "two"), "--", *after("two"))
    assert (done.returncode, done.stdout) == (0, "mine\n")
    assert done.stderr == "server | one\nserver | two\n"
    servers = (*serve("first"), *serve("second"))
    done = emulate(*PATH, "--quiet", *servers, "--", *after("first", "second"))
    assert sorted(done.stderr.splitlines()) == ["server 1 | first", "server 2 | second"]


@needs("ping")
def test_a_path_of_any_rate_has_delay_alone():
    done = emulate(
        "--rate", "none", "--rtt", "40ms", "--", "ping", "-c", "10", "-i", "0.1", "server"
    )
    found = re.search(r"= ([\d.]+)/", done.stdout)
    assert found is not None, done.stdout
    assert float(found[1]) >= 40
    assert "server → client  any rate; dropped 0 of 10 packets" in done.stderr
    assert "idle link carried" not in done.stderr
