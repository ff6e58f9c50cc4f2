"""`dumbbell emulate --virtual`: programs on a kernel in virtual time."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import dumbbell
from dumbbell.base.errors import EngineError
from dumbbell.kernels import find
from tests.python.emulated import EMULATE, PYTHON
from tests.python.guests import built
from tests.python.own_mounts import NOBODY, as_nobody
from tests.python.real_programs import needs

PROGRAMS = Path(__file__).parents[1] / "programs"
VIRTUAL = (*EMULATE, "--virtual", "--rate", "50mbit", "--rtt", "40ms")
#: How long a run may take, s: of a busy machine.
LONGEST_S = 120
#: Sends a file's bytes to who connects, and ends.
SERVER = """
import socket
with socket.create_server(("", 80)) as listener, listener.accept()[0] as connection:
    connection.sendall(b"x" * 1_000_000)
"""
#: Receives them, and says how long that took.
CLIENT = """
import socket, time
began = time.monotonic()
with socket.create_connection(("server", 80)) as connection:
    received = 0
    while got := connection.recv(1 << 16):
        received += len(got)
print(received, f"{time.monotonic() - began:.9f}")
"""


def emulated(
    *words: str,
    cwd: Path | None = None,
    stdin: str = "",
    user: int | None = None,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run `dumbbell emulate --virtual`."""
    return subprocess.run(
        [*VIRTUAL, *words], capture_output=True, text=True, input=stdin, cwd=cwd,
        timeout=LONGEST_S, check=False, env={**os.environ, **environment},
    )  # fmt: skip


def serving(code: str) -> tuple[str, ...]:
    """Return options for a server that is a Python program at port 80."""
    return "--serve", shlex.join([PYTHON, "-c", code]), "--ready", "tcp:80"


# ---- Without a kernel ----


@pytest.mark.parametrize("option", ["--live", "--interactive", "--internet", "--keep-awake"])
def test_what_needs_real_time_is_refused(option):
    done = emulated(option, "--", "true")
    assert done.returncode == 2
    assert done.stderr == (
        f"error: `{option}` needs real time, and cannot be combined with `--virtual`; omit one\n"
    )


def test_a_kernel_is_chosen_for_virtual_time_only():
    done = subprocess.run(
        [*EMULATE, "--kernel", "6.12", "--", "true"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "`--kernel` chooses a kernel for virtual time; add `--virtual`" in done.stderr


def test_without_a_kernel_it_is_said_how_to_build_one(tmp_path):
    done = emulated("--", "true", DUMBBELL_CACHE=str(tmp_path))
    assert done.returncode == 2
    assert done.stderr == (
        "error: no kernel is built; build one with `dumbbell kernel build 6.12`\n"
    )


# ---- The path ----


@built
@needs("ping")
def test_a_round_trip_is_exact():
    done = emulated("--rate", "none", "--", "ping", "-c", "5", "server")
    assert done.returncode == 0, done.stderr
    assert "rtt min/avg/max/mdev = 40.000/40.000/40.000/0.000 ms" in done.stdout
    assert "5 received, 0% packet loss, time 400" in done.stdout
    assert "verdict OK; packets were 0 µs late at p99" in done.stderr


@built
def test_a_download_takes_what_its_packets_take(tmp_path):
    words = [
        *serving(SERVER),
        "--json",
        "--out",
        "saved",
        "--log",
        "log.csv",
        "--",
        PYTHON,
        "-c",
        CLIENT,
    ]
    done = emulated(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    received, took_s = re.findall(r"^(\d+) ([\d.]+)$", done.stderr, re.MULTILINE)[0]
    assert received == "1000000"
    # Three round trips at least, and the bytes at the link's rate.
    assert 0.16 + 0.12 < float(took_s) < 1
    flow, link = result["flows"][0], result["links"][0]
    assert flow["received_bytes"] == pytest.approx(1_000_000, rel=0.001)
    assert link["forwarded_pkts"] > 1_000_000 // 1448
    assert result["exit_code"] == 0
    assert result["engine"] == "uml"
    # It lasted as long as the command, of which the connection is most.
    assert float(took_s) < result["duration_ns"] / 1e9 < float(took_s) + 0.2
    assert dumbbell.Run.load(tmp_path / "saved").summary["duration_ns"] == result["duration_ns"]
    assert len((tmp_path / "log.csv").read_text().splitlines()) > 2 * link["forwarded_pkts"]


@built
def test_both_versions_of_ip_cross_the_path(tmp_path):
    for family, address in (("AF_INET", "10.0.0.1"), ("AF_INET6", "fd64:756d:6262::a00:1")):
        server = (
            f"import socket; s = socket.socket(socket.{family}, socket.SOCK_DGRAM); "
            "s.bind(('', 80)); s.sendto(*s.recvfrom(9))"
        )
        client = (
            f"import socket; s = socket.socket(socket.{family}, socket.SOCK_DGRAM); "
            f"s.sendto(b'hello', ('{address}', 80)); print(s.recv(9))"
        )
        words = ["--serve", shlex.join([PYTHON, "-c", server]), "--ready", "udp:80"]
        done = emulated(*words, "--", PYTHON, "-c", client)
        assert done.stdout == "b'hello'\n", done.stderr


@built
@pytest.mark.parametrize("cc", ["linux/bbr", "copa"])
def test_cc_is_that_of_the_programs_sockets(cc):
    code = "import socket; print(socket.socket().getsockopt(6, 13, 16).rstrip(b'\\0').decode())"
    done = emulated("--cc", cc, "--", PYTHON, "-c", code)
    # Ours have names of their own in the kernel.
    assert done.stdout.strip() == ("bbr" if cc == "linux/bbr" else "dumbbell0"), done.stderr


@built
def test_competitors_take_their_share():
    words = [*serving(SERVER), "--with", "cubic:2", "--json", "--", PYTHON, "-c", CLIENT]
    done = emulated(*words)
    assert done.returncode == 0, done.stderr
    groups = json.loads(done.stdout)["groups"]
    assert [group["flows"] for group in groups] == [1, 2]
    assert all(group["goodput_bps"] > 1e6 for group in groups)


# ---- The same again ----


def download(capture: Path) -> tuple[str, ...]:
    """Return the words of a captured download beside a flow of BBR."""
    return (
        *serving(SERVER),
        "--with",
        "bbr",
        "--capture",
        str(capture),
        "--",
        PYTHON,
        "-c",
        CLIENT,
    )


def bytes_of(capture: Path) -> tuple[str, str, bytes]:
    """Run it; return all that came out of it."""
    done = emulated(*download(capture), cwd=Path("/"))
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr, capture.read_bytes()


@built
def test_two_runs_are_the_same_bytes(tmp_path):
    first, second = (bytes_of(tmp_path / f"{name}.pcapng") for name in "ab")
    assert len(first[2]) > 100_000
    assert first == second


@built
def test_a_user_without_privileges_gets_the_same_bytes():
    with TemporaryDirectory(prefix="dumbbell-nobody-") as scratch:
        place = Path(scratch)
        # Root's cache is not for others.
        shutil.copytree(find(None).directory, place / "kernels" / "same")
        for each in (place, place / "kernels", place / "kernels" / "same"):
            each.chmod(0o777)
        results = []
        for user in (NOBODY, ()):
            capture = place / "c.pcapng"
            words = ["-m", *VIRTUAL[2:], *download(capture)]
            done = as_nobody(*words, user=user, DUMBBELL_CACHE=scratch, TMPDIR=scratch)
            assert done.returncode == 0, done.stderr
            results.append((done.stdout, done.stderr, capture.read_bytes()))
            assert capture.stat().st_uid == (65534 if user else 0)
            capture.unlink()
        assert results[0] == results[1]


@built
def test_seeds_give_programs_other_random_numbers():
    code = "import os; print(os.urandom(8).hex())"
    drawn = [emulated("--seed", seed, "--", PYTHON, "-c", code).stdout for seed in ("1", "1", "2")]
    assert drawn[0] == drawn[1] != drawn[2]


# ---- Programs ----


@built
def test_time_jumps_to_when_something_happens():
    began = time.monotonic()
    done = emulated("--", "sh", "-c", "date +%s; sleep 10000; date +%s")
    before, after = map(int, done.stdout.split())
    assert after - before == 10_000
    assert time.monotonic() - began < LONGEST_S / 2
    assert datetime.fromtimestamp(before, UTC).date().isoformat() == "2023-11-14"
    said = emulated("--", "date", "+%s", SOURCE_DATE_EPOCH="1800000000")
    assert 0 <= int(said.stdout) - 1_800_000_000 < 60


@built
@pytest.mark.parametrize(("command", "code"), [("exit 7", 7), ("kill -9 $$", 137), ("true", 0)])
def test_the_exit_code_is_the_command_s(command, code):
    assert emulated("--", "sh", "-c", command).returncode == code


@built
def test_the_streams_are_the_command_s():
    done = emulated("--quiet", "--", "sh", "-c", "cat; echo oh >&2", stdin="one\ntwo\n")
    assert (done.stdout, done.stderr) == ("one\ntwo\n", "oh\n")


@built
def test_time_stands_still_while_a_stream_is_waited_for():
    command = "date +%s%N; read line; date +%s%N; head -c 300000 /dev/zero; date +%s%N"
    with subprocess.Popen(
        [*VIRTUAL, "--quiet", "--", "sh", "-c", command],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(1)
        print("line", file=process.stdin, flush=True)
        time.sleep(1)
        rest = process.stdout.read()
    zeros = rest.count("\0")
    second, third = rest.replace("\0", "").split()
    assert zeros == 300_000
    assert int(third) - int(first) < 10e6
    assert int(first) < int(second) < int(third)


@built
def test_only_what_is_written_to_the_directory_stays(tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    command = f"echo kept >here; echo gone >{outside}; cat {outside}"
    done = emulated("--", "sh", "-c", command, cwd=inside)
    assert done.stdout == "gone\n"
    assert (inside / "here").read_text() == "kept\n"
    assert not outside.exists()


@built
def test_a_program_that_cannot_start_is_one_line(tmp_path):
    (tmp_path / "bad").write_text("no program")
    (tmp_path / "bad").chmod(0o755)
    done = emulated("--", "./bad", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: cannot start `./bad`: Exec format error")
    assert emulated("--", "no-such-program").stderr == (
        "error: cannot start `no-such-program`: command not found; install it, or give its path\n"
    )


@built
def test_a_server_that_does_not_listen_is_an_error():
    done = emulated(
        "--serve", "sleep 100", "--ready", "tcp:80", "--ready-timeout", "5s", "--", "true"
    )
    assert done.returncode == 2
    assert "nothing listens at `tcp:80` of the server after 5s" in done.stderr
    done = emulated("--serve", "sh -c 'echo oh; exit 3'", "--", "true")
    assert done.returncode == 2
    assert "server | oh\n" in done.stderr
    assert "error: the server `sh` ended with code 3 before the run began\n" in done.stderr


@built
def test_servers_are_asked_to_end_and_print_what_they_have_to(tmp_path):
    command = "trap 'echo bye; exit 0' TERM; echo hello; while :; do sleep 1; done"
    done = emulated("--serve", shlex.join(["sh", "-c", command]), "--", "sleep", "3")
    lines = [line for line in done.stderr.splitlines() if line.startswith("server |")]
    assert (lines[0], lines[-1]) == ("server | hello", "server | bye")


@built
def test_a_signal_is_the_command_s():
    command = "trap 'echo got it; exit 5' INT; echo ready; while :; do sleep 1; done"
    with subprocess.Popen(
        [*VIRTUAL, "--", "sh", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == "got it\n"
        assert process.wait(LONGEST_S) == 5


@built
def test_a_second_signal_ends_the_run():
    command = "trap '' TERM; echo ready; while :; do sleep 1; done"
    with subprocess.Popen(
        [*VIRTUAL, "--", "sh", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        for _ in range(2):
            process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
        assert process.wait(LONGEST_S) == 128 + signal.SIGTERM


@built
@pytest.mark.long  # a minute, which is how long a program may compute
def test_a_program_that_never_waits_is_named():
    done = emulated("--", "sh", "-c", "while :; do :; done")
    assert done.returncode == 2
    assert done.stderr.startswith("error: `sh` computed for 60 s without a pause")


@built
def test_programs_of_a_scenario_run_too():
    asked: dict[str, Any] = {"rate": "20mbit", "rtt": "40ms", "time": "5s"}
    groups = [
        dumbbell.Group(
            client=[PYTHON, "-c", CLIENT], server=[PYTHON, "-c", SERVER], ready="tcp:80",
            measure=r"^1000000 (\S+)",
        ),
        dumbbell.Group("linux/cubic", flows=2),
    ]  # fmt: skip
    runs = [dumbbell.run(groups, engine="uml", **asked) for _ in range(2)]
    assert json.dumps(runs[0].to_dict()) == json.dumps(runs[1].to_dict())
    server, client = runs[0].summary["programs"]
    assert (server["exit_code"], client["exit_code"]) == (0, 0)
    assert 0.4 < client["measured"] < 5
    # What arrives of the program is sampled beside what Linux says of the other flows.
    samples = [row for row in runs[0].flows.to_pylist() if row["flow"] == 0]
    assert {row["cwnd_pkts"] for row in samples} == {None}
    bits = sum(row["goodput_bps"] for row in samples) * int(runs[0].scenario.sample) / 1e9
    assert bits / 8 == pytest.approx(1e6, rel=0.05)
    # All clients have ended.
    assert runs[0].summary["duration_ns"] < 5e9
    assert runs[0].verdict.status == "OK"
    with pytest.raises(EngineError, match="cannot start `nope`: command not found"):
        dumbbell.run([dumbbell.Group(client="nope")], engine="uml", **asked)


# ---- What people run ----


@pytest.fixture
def site(tmp_path):
    """A directory with a file of a megabyte, a certificate and its key."""
    (tmp_path / "file").write_bytes(os.urandom(1_000_000))
    words = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=server "
        "-addext subjectAltName=DNS:server -out cert.pem -keyout key.pem"
    )
    subprocess.run(words.split(), check=True, capture_output=True, cwd=tmp_path)
    return tmp_path


@built
@needs("iperf3")
@pytest.mark.parametrize("way", [(), ("-R",)])
def test_iperf3(way):
    words = ["--serve", "iperf3 -s -1", "--ready", "tcp:5201", "--", "iperf3", "-c", "server"]
    done = emulated(*words, "-t", "2", "-J", *way)
    assert done.returncode == 0, done.stderr
    received = json.loads(done.stdout)["end"]["sum_received"]
    assert received["bits_per_second"] == pytest.approx(43e6, rel=0.1)


@built
@needs("curl", "nginx", "openssl")
def test_curl_and_nginx(site):
    (site / "nginx.conf").write_text(
        "error_log stderr;\npid /run/nginx.pid;\ndaemon off;\nevents {}\n"
        f"http {{ access_log off; server {{ listen 80; listen [::]:80; root {site}; }} }}\n"
    )
    for parent in (site, *site.parents):  # nginx's workers are another user's
        if parent.stat().st_uid == os.getuid():
            parent.chmod(parent.stat().st_mode | 0o055)
    done = emulated("--serve", f"nginx -c {site}/nginx.conf", "--ready", "tcp:80", "--",
                    "curl", "-sS", "-o", "got", "http://server/file", cwd=site)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (site / "got").read_bytes() == (site / "file").read_bytes()


@built
@needs("gtlsclient", "gtlsserver", "openssl")
def test_ngtcp2(site):
    (site / "got").mkdir()
    server = f"gtlsserver -q -d {site} :: 4433 key.pem cert.pem"
    client = "gtlsclient -q --exit-on-all-streams-close --download got server 4433"
    words = ["--serve", server, "--ready", "udp:4433", "--", *client.split(), "https://server/file"]
    done = emulated(*words, cwd=site)
    assert done.returncode == 0, done.stderr
    assert (site / "got" / "file").read_bytes() == (site / "file").read_bytes()


@built
@needs("openssl")
def test_aioquic(site):
    pytest.importorskip("aioquic")
    server = [PYTHON, str(PROGRAMS / "http3_server.py"), "cert.pem", "key.pem"]
    client = [PYTHON, str(PROGRAMS / "http3_client.py"), "cert.pem", "server", "/bytes/1000000"]
    words = ["--serve", shlex.join(server), "--ready", "udp:443", "--", *client]
    # It verifies the certificate, which is of today.
    done = emulated(*words, cwd=site, SOURCE_DATE_EPOCH=str(int(time.time())))
    assert done.returncode == 0, done.stderr
    assert "1000000 bytes" in done.stdout
    assert "Certificate is not valid yet" in emulated(*words, cwd=site).stderr
