"""`emulate --internet`, and a path within a path. No packet leaves the namespaces made here."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from ipaddress import IPv4Address, ip_address, ip_network
from pathlib import Path

import pytest

from dumbbell.emulation import way_out
from dumbbell.emulation.way_out import PathAround, WayOut, address_of, path_around
from tests.python.emulated import EMULATE, PYTHON
from tests.python.real_programs import needs

PATH = ("--rate", "10mbit", "--buffer", "1bdp", "--quiet")
#: Addresses for documentation (RFC 5737): the machine's network, and a host beyond it.
MACHINE, ROUTER, BEYOND = "203.0.113.2", "203.0.113.1", "198.51.100.7"


def test_an_ordinary_process_has_no_path_around_it() -> None:
    assert path_around() is None


def test_names_of_a_path_around_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = tmp_path / "hosts"
    monkeypatch.setattr(way_out, "HOSTS", hosts)
    monkeypatch.setattr(way_out, "is_own", lambda address: address == "10.0.0.2")
    names = "fd64::1\tserver server0\n10.0.0.1\tserver server0\n10.0.0.2\tclient client0\n"
    hosts.write_text(f"{names}{way_out.END_OF_NAMES}\n127.0.0.1 machine\n")
    assert path_around() == PathAround("10.0.0.1")
    hosts.write_text(names)  # somebody's own file
    assert path_around() is None
    # At the server, which is not the client.
    hosts.write_text(f"{names.replace('0.2', '0.3')}{way_out.END_OF_NAMES}\n")
    assert path_around() is None
    with pytest.raises(ValueError, match="nobody"):
        address_of("nobody", names)


@pytest.mark.parametrize("resolver", ["nameserver 127.0.0.53\n", "nameserver 192.0.2.9\n", ""])
def test_name_servers_are_reached_from_the_hosts(
    resolver: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "resolv.conf"
    file.write_text(f"search example\n{resolver}nameserver ::1\n")
    monkeypatch.setattr(way_out, "RESOLVER", file)
    way = WayOut(None)
    asked = re.findall(r"^nameserver (.+)$", json.loads(way.to_json())["resolver"], re.MULTILINE)
    # A loopback address is another machine's in another network: there it is our end's.
    expected = {"": "127.0.0.1", "nameserver 127.0.0.53\n": way.outer}
    assert asked == [expected.get(resolver, "192.0.2.9")]
    assert int(IPv4Address(way.inner)) - int(IPv4Address(way.outer)) == 1
    assert ip_address(way.outer) in ip_network("198.18.0.0/15")


#: It forwards packets.
FORWARDS = "sysctl -qw net.ipv4.ip_forward=1\n"
#: A machine with a network of its own: its router has an address beyond, at which a server is.
MACHINE_OF_ITS_OWN = f"""\
set -e
ip link set lo up
unshare -n sleep 300 & beyond=$!
trap 'kill $beyond $server 2>/dev/null' EXIT
while [ "$(readlink /proc/$beyond/ns/net)" = "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done
ip link add eth0 type veth peer name eth1 netns $beyond
ip address add {MACHINE}/24 dev eth0
ip link set eth0 up
ip route add default via {ROUTER}
inside="nsenter --net=/proc/$beyond/ns/net"
$inside ip address add {ROUTER}/24 dev eth1
$inside ip address add {BEYOND}/32 dev eth1
$inside ip link set eth1 up
$inside {PYTHON} -c "
import socket
s = socket.create_server(('{BEYOND}', 80))
while True:
    c, far = s.accept()
    c.sendall(far[0].encode())
    c.close()
" & server=$!
"""
ASK = f"import socket; print(socket.create_connection(('{BEYOND}', 80), 5).recv(99).decode())"


def on_machine(script: str) -> subprocess.CompletedProcess[str]:
    """Run a script on a machine with a network of its own."""
    return subprocess.run(
        ["/usr/bin/env", "unshare", "-n", "sh", "-c", MACHINE_OF_ITS_OWN + script],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def words(*parts: str) -> str:
    """Return a command line of `emulate`."""
    return shlex.join([*EMULATE, *PATH, *parts])


@needs("ping", "nft", "ip", "nsenter")
@pytest.mark.kernel
def test_the_client_reaches_what_the_machine_reaches(nothing_left: None) -> None:
    command = f'{PYTHON} -c "{ASK}"; ping -c 5 -i 0.1 {BEYOND}'
    done = on_machine(
        FORWARDS
        + words("--rtt", "40ms", "--internet", "--", "sh", "-c", command)
        + "\nnft list ruleset; ip -brief link"
    )
    assert done.returncode == 0, done.stderr
    # Others see the machine's address; what crosses the path is as late as the path is long.
    assert done.stdout.startswith(f"{MACHINE}\n")
    rtt = re.search(r"= ([\d.]+)/", done.stdout)
    assert rtt is not None, done.stdout
    assert 40 < float(rtt[1]) < 45
    # Neither a rule nor a device is left.
    left = done.stdout[done.stdout.index("rtt min") :].splitlines()[1:]
    assert [line.split()[0].split("@")[0] for line in left] == ["lo", "eth0"]


@needs("ping")
@pytest.mark.kernel
def test_without_the_option_nothing_leaves() -> None:
    done = on_machine(
        FORWARDS + words("--rtt", "40ms", "--", "ping", "-c", "1", "-W", "1", BEYOND) + " || true"
    )
    assert "0 received" in done.stdout + done.stderr


@needs("nft", "ip", "nsenter")
@pytest.mark.kernel
def test_a_machine_that_does_not_forward_is_told_how() -> None:
    done = on_machine(words("--internet", "--", "true"))
    assert done.returncode == 2
    assert done.stderr == (
        "error: `--internet` needs a machine that forwards packets; let it, with "
        "`sysctl -w net.ipv4.ip_forward=1`\n"
    )


@needs("nft", "ip", "nsenter")
@pytest.mark.kernel
def test_killed_it_leaves_no_rule_and_no_device(tmp_path: Path) -> None:
    said = tmp_path / "said"
    done = on_machine(
        FORWARDS
        + words("--internet", "--", "sh", "-c", "echo ready; sleep 60")
        + f" >{said} & running=$!\n"
        f"while [ ! -s {said} ]; do sleep 0.1; done\n"
        "nft list tables; kill -9 $running; wait $running || true\n"
        # The kernel removes what was in its namespaces a moment later.
        "for look in $(seq 300); do\n"
        "    { nft list tables; ip -brief link; } | grep -q dumbbell || break; sleep 0.2\n"
        "done\n"
        "echo then; nft list tables; ip -brief link"
    )
    before, _, after = done.stdout.partition("then\n")
    assert before.startswith("table ip dumbbell"), done.stderr
    assert after.split()[0] == "lo"
    assert "dumbbell" not in after


@needs("ping", "nft", "ip", "nsenter")
@pytest.mark.kernel
def test_paths_within_paths_add_up(nothing_left: None) -> None:
    inner = [*EMULATE, "--rate", "none", "--quiet", "--rtt"]
    done = subprocess.run(
        [
            *inner, "100ms", "--", *inner, "20ms", "--", *inner, "5ms", "--",
            "ping", "-c", "5", "-i", "0.2", "server",
        ],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rtt = re.search(r"= ([\d.]+)/", done.stdout)
    assert rtt is not None, done.stdout
    assert 125 < float(rtt[1]) < 130


@needs("nft", "ip", "nsenter")
@pytest.mark.kernel
def test_a_server_of_the_outer_path_is_the_inner_client_s(nothing_left: None) -> None:
    serve = "import socket; socket.create_server(('', 80)).accept()[0].sendall(b'outer')"
    ask = "import socket; print(socket.create_connection(('server', 80), 5).recv(9).decode())"
    done = subprocess.run(
        [
            *EMULATE, *PATH, "--serve", f'{PYTHON} -c "{serve}"', "--ready", "tcp:80", "--",
            *EMULATE, *PATH, "--", PYTHON, "-c", ask,
        ],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "outer\n"), done.stderr


@pytest.mark.kernel
def test_a_server_of_its_own_keeps_the_inner_path_apart() -> None:
    serve = "import socket; socket.create_server(('', 80)).accept()[0].sendall(b'inner')"
    ask = "import socket; print(socket.create_connection(('server', 80), 5).recv(9).decode())"
    done = subprocess.run(
        [
            *EMULATE, *PATH, "--", *EMULATE, *PATH, "--serve", f'{PYTHON} -c "{serve}"',
            "--ready", "tcp:80", "--", PYTHON, "-c", ask,
        ],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "inner\n"), done.stderr
    assert "the path around this one is not crossed" in done.stderr
