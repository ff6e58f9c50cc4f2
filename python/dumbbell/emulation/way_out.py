"""A way out of an emulated path: to the Internet, or into the path that this one is within.

The server's host becomes a gateway. A pair of devices joins it to the network in which dumbbell
runs, and nftables translates addresses at both ends of the pair. All of that ends with this
process, however it ends: the devices with the host, the table with `nft`, which owns it.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, ip_address
from pathlib import Path

from dumbbell.base.errors import EngineError

__all__ = ["PathAround", "WayOut", "path_around"]

HOSTS, RESOLVER = Path("/etc/hosts"), Path("/etc/resolv.conf")
#: The line that ends our names in `/etc/hosts` (`crates/emu/src/programs/names.rs`).
END_OF_NAMES = "# client and server: hosts of an emulated path of dumbbell"
#: What a client within a path calls that path's server: its own network has the same addresses.
#: Addresses of this block are for tests between networks (RFC 2544, appendix C.2.2).
SERVER_BEYOND = "198.18.0.1"
FIRST_PAIR = int(IPv4Address("198.18.0.4"))
#: Pairs of addresses in the block, four apart.
PAIRS = (1 << 15) - 1
FORWARDING = Path("/proc/sys/net/ipv4/ip_forward")
#: The devices of the gateway: to the path (`crates/emu/src/hosts/tun.rs`), and from it.
PATH, UPLINK = "tun0", "uplink"
#: What it takes, and the packages that have it.
TOOLS = {"ip": "iproute2", "nft": "nftables", "nsenter": "util-linux"}
#: Nothing of IPv6 leaves; programs are to hear that at once.
NO_IPV6 = """\
[ -d /proc/sys/net/ipv6 ] || exit 0
ip -6 route replace unreachable default metric 1
echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
"""


@dataclass(frozen=True)
class PathAround:
    """The path at whose client this process runs.

    Attributes
    ----------
    server
        The address of its server.
    """

    server: str


def path_around() -> PathAround | None:
    """Return the path at whose client this process runs, if it does."""
    with suppress(OSError, ValueError):
        names, end, _ = HOSTS.read_text(encoding="utf-8").partition(END_OF_NAMES)
        if end and is_own(address_of("client", names)):
            return PathAround(address_of("server", names))
    return None


def address_of(name: str, hosts: str) -> str:
    """Return the IPv4 address of a name in the text of a file like `/etc/hosts`."""
    for line in hosts.splitlines():
        address, *names = line.split() or [""]
        if name in names and "." in address:
            return address
    raise ValueError(name)


def is_own(address: str) -> bool:
    """Whether an address is one of this network's."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


class WayOut:
    """A way out of a path.

    Parameters
    ----------
    around
        The path to whose server it leads; None: to wherever this process gets.
    """

    def __init__(self, around: PathAround | None) -> None:
        self.around = around
        self.device = f"dumbbell{os.getpid() % 10**7}"  # at most 15 characters
        first = FIRST_PAIR + 4 * (os.getpid() % PAIRS)
        self.outer, self.inner = str(IPv4Address(first + 1)), str(IPv4Address(first + 2))
        self.name_servers = name_servers()

    def to_json(self) -> str:
        """Return what the engine has to know of it."""
        asked = [self.outer if ip_address(each).is_loopback else each for each in self.name_servers]
        lines = "".join(f"nameserver {each}\n" for each in dict.fromkeys(asked))
        return json.dumps({
            "server": None if self.around is None else SERVER_BEYOND,
            "resolver": lines or "# this machine has no name server\nnameserver 127.0.0.1\n",
        })  # fmt: skip

    @contextmanager
    def opened(self, gateway: int, clients: Sequence[str]) -> Iterator[None]:
        """Join a network, by its descriptor, to that in which this process runs.

        Parameters
        ----------
        gateway
            The descriptor of the network of the server's host.
        clients
            The client's addresses.

        Raises
        ------
        EngineError
            This machine cannot.
        """
        tools = {tool: found(tool, package) for tool, package in TOOLS.items()}
        self.let_forward()
        network = f"/proc/{os.getpid()}/fd/{gateway}"
        ours = ["dev", self.device]
        run_tool(
            "ip", "link", "add", self.device, "type", "veth", "peer", "name", UPLINK,
            "netns", network,
        )  # fmt: skip
        table = subprocess.Popen(  # noqa: S603 -- of ours
            [tools["nft"], "-i"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        try:
            run_tool("ip", "address", "add", f"{self.outer}/30", *ours)
            run_tool("ip", "link", "set", *ours, "up")
            Path(f"/proc/sys/net/ipv4/conf/{self.device}/forwarding").write_text("1", "ascii")
            self.translate(table)
            self.set_up(network, clients)
            yield
        finally:
            table.communicate()
            subprocess.run(  # noqa: S603 -- of ours
                [tools["ip"], "link", "delete", self.device], capture_output=True, check=False
            )

    def let_forward(self) -> None:
        """Refuse a machine that does not forward packets; let the client of a path do so."""
        if FORWARDING.read_text(encoding="ascii").strip() == "1":
            return
        if self.around is None:
            raise EngineError(
                "`--internet` needs a machine that forwards packets; let it, with "
                "`sysctl -w net.ipv4.ip_forward=1`"
            )
        FORWARDING.write_text("1", encoding="ascii")

    def translate(self, nft: subprocess.Popen[str]) -> None:
        """Let what comes out of the path have this network's address."""
        name = f"ip {self.device}"
        lines = [
            f"add table {name} {{ flags owner; }}",
            f"add chain {name} out {{ type nat hook postrouting priority srcnat; }}",
            f"add rule {name} out ip saddr {self.inner} masquerade",
        ]
        local = [each for each in self.name_servers if ip_address(each).is_loopback]
        arriving = f"add rule {name} in iifname {self.device}"
        lines.append(f"add chain {name} in {{ type nat hook prerouting priority dstnat; }}")
        if self.around is not None and self.around.server != SERVER_BEYOND:
            lines.append(f"{arriving} ip daddr {SERVER_BEYOND} dnat to {self.around.server}")
        if local:
            # Otherwise no packet from a device may reach a loopback address.
            routed = Path(f"/proc/sys/net/ipv4/conf/{self.device}/route_localnet")
            routed.write_text("1", encoding="ascii")
            lines += [
                f"{arriving} {protocol} dport 53 dnat to {local[0]}" for protocol in ("udp", "tcp")
            ]
        say, said = nft.stdin, nft.stdout
        if say is None or said is None:
            raise ValueError("`nft` has no pipes")
        say.write("".join(f"{line}\n" for line in [*lines, f"list table {name}"]))
        say.flush()
        for line in said:  # an error, or the table's beginning
            if line.startswith("table"):
                return
            raise EngineError(f"a way out of the path: `nft`: {line.strip()}")
        raise EngineError("a way out of the path: `nft` ended; see whether the kernel has nftables")

    def set_up(self, network: str, clients: Sequence[str]) -> None:
        """Let the gateway's network pass on what comes out of the path, and what returns."""
        rules = [
            "add table ip out",
            "add chain ip out source { type nat hook postrouting priority srcnat; }",
            f"add rule ip out source oifname {UPLINK} masquerade",
        ]
        inside = ("nsenter", f"--net={network}")
        run_tool(*inside, "ip", "address", "add", f"{self.inner}/30", "dev", UPLINK)
        run_tool(*inside, "ip", "link", "set", UPLINK, "up")
        for client in clients:
            run_tool(*inside, "ip", "route", "replace", client, "dev", PATH)
        run_tool(*inside, "ip", "route", "replace", "default", "via", self.outer, "dev", UPLINK)
        run_tool(*inside, "sh", "-c", f"echo 1 >{FORWARDING}")
        run_tool(*inside, "sh", "-c", NO_IPV6)
        run_tool(*inside, "nft", "; ".join(rules))


def found(tool: str, package: str) -> str:
    """Return where a program is."""
    place = shutil.which(tool)
    if place is None:
        raise EngineError(f"a way out of the path needs `{tool}`; install {package}")
    return place


def name_servers() -> list[str]:
    """Return the machine's name servers that IPv4 reaches."""
    found = []
    with suppress(OSError):
        for line in RESOLVER.read_text(encoding="utf-8", errors="replace").splitlines():
            words = line.split()
            if len(words) > 1 and words[0] == "nameserver" and is_v4(words[1]):
                found.append(words[1])
    return found


def is_v4(text: str) -> bool:
    """Whether a text is an address of IPv4."""
    try:
        return ip_address(text).version == 4
    except ValueError:
        return False


def run_tool(*words: str) -> None:
    """Run a program of this machine's.

    Raises
    ------
    EngineError
        It failed.
    """
    done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 -- of ours
    if done.returncode:
        why = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        hint = "; it needs root" if "not permitted" in why[0] else ""
        raise EngineError(f"a way out of the path: `{' '.join(words[:3])} …`: {why[0]}{hint}")
