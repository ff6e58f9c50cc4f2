"""Programs that people run, unchanged, over one emulated path, over IPv4 and IPv6.

How long they take at most is in test_exact_times.py, where no machine can make them late.

What is not installed is counted as skipped, with what is missing.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell.emulation.path import EmulatedPath
from tests.python.real_programs import needs, number

pytestmark = pytest.mark.kernel

PROGRAMS = Path(__file__).parents[1] / "programs"
#: What is built for the tests is kept from run to run.
BUILT = Path(__file__).parents[2] / "target" / "programs"
PYTHON = sys.executable
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
RATE_BPS = 20_000_000
RTT_MS = 20
#: Share of the link that is TCP's payload, over IPv6: 1428 of 1514 bytes.
PAYLOAD_SHARE = 0.94
#: A directory with quinn's `client` and `server`.
QUINN = os.environ.get("DUMBBELL_QUINN", "")
both_versions = pytest.mark.parametrize("version", [4, 6], ids=["IPv4", "IPv6"])


def needs_package(name: str) -> pytest.MarkDecorator:
    """Skip where a package of Python is missing."""
    is_missing = importlib.util.find_spec(name) is None
    return pytest.mark.skipif(is_missing, reason=f"not installed: {name}, of PyPI")


@pytest.fixture(scope="module")
def path() -> Iterator[EmulatedPath]:
    """The path that all of them share, one after the other."""
    words: dict[str, Any] = {"rate": "20mbit", "rtt": f"{RTT_MS}ms", "buffer": "2bdp"}
    with dumbbell.emulate(**words) as path:
        yield path


def address_of(path: EmulatedPath, version: int) -> str:
    """Return the server's address of a version of IP."""
    if len(path.server.addresses) < 2 and version == 6:
        pytest.skip("the kernel has no IPv6")
    return path.server.addresses[version == 6]


@contextmanager
def serving(path: EmulatedPath, words: list[str], *ports: str) -> Iterator[None]:
    """Run a server meanwhile."""
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with path.server.popen(words, stdin=subprocess.DEVNULL, **quiet) as server:
        try:
            path.server.wait_for(*ports)
            yield
        finally:
            server.kill()


def client(path: EmulatedPath, *words: str, timeout: float = 60, **settings: Any) -> str:
    """Run a client to its end and return what it printed; it must succeed."""
    done = path.client.run(words, capture_output=True, text=True, timeout=timeout, **settings)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return str(done.stdout)


def forwarded_bytes(path: EmulatedPath) -> dict[str, int]:
    """Return what crossed each link until now."""
    time.sleep(0.1)  # what is shown is up to 20 ms old
    return {link["name"]: link["forwarded_bytes"] for link in path.stats()["links"]}


@needs("ping")
@both_versions
def test_ping(path, version):
    printed = client(path, "ping", f"-{version}", "-c", "30", "-i", "0.02", "server")
    assert "30 received" in printed
    # A packet of 98 or 118 bytes takes 39 or 47 µs on each link.
    least_ms = RTT_MS + 0.08
    # The smallest of 30: no machine is late for all.
    assert least_ms <= number(r"= ([\d.]+)/", printed) < least_ms + 5


@needs("iperf3")
@both_versions
def test_iperf3_sends_both_ways(path, version):
    iperf3 = ("iperf3", f"-{version}", "--json", "--client", "server", "--time", "1")
    with serving(path, ["iperf3", "--server"], "tcp:5201"):
        for words, way, other in (((), "up", "bottleneck"), (("-R",), "bottleneck", "up")):
            before = forwarded_bytes(path)
            end = json.loads(client(path, *iperf3, *words))["end"]
            crossed = {
                name: of_link - before[name] for name, of_link in forwarded_bytes(path).items()
            }
            payload_bytes = end["sum_received"]["bytes"]
            assert 0 < 8 * payload_bytes / (PAYLOAD_SHARE * RATE_BPS) < 1.1
            # What arrived, its headers and some retransmissions; ACKs on the other link.
            assert payload_bytes < crossed[way] < 1.3 * payload_bytes
            assert crossed[other] < 0.1 * crossed[way]
        datagrams = json.loads(client(path, *iperf3, "-R", "-u", "-b", "5M"))["end"]["sum"]
    assert datagrams["bits_per_second"] < 5.1e6
    assert 0 <= datagrams["lost_packets"] < datagrams["packets"]


@pytest.fixture(scope="module")
def web(path, tmp_path_factory) -> Iterator[Path]:
    """The directory that nginx serves at the server."""
    if shutil.which("nginx") is None:
        pytest.skip("not installed: nginx")
    place = tmp_path_factory.mktemp("nginx")
    root = place / "root"
    root.mkdir()
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = " ".join(f"{kind}_temp_path {place}/{kind};" for kind in kinds)
    user = "user root;" if os.getuid() == 0 else ""
    (place / "nginx.conf").write_text(
        f"daemon off; pid {place}/pid; {user} events {{}}\n"
        f"http {{ access_log off; {temporary}\n"
        f"server {{ listen 80; listen [::]:80; root {root}; }} }}\n"
    )
    words = ["nginx", "-p", str(place), "-e", f"{place}/errors", "-c", f"{place}/nginx.conf"]
    with serving(path, words, "tcp:80"):
        yield root


@needs("curl", "nginx")
@both_versions
def test_curl_and_nginx(path, web, version):
    (web / "2M").write_bytes(bytes(2_000_000))
    format_ = "%{http_code} %{size_download} bytes in %{time_total} s from %{remote_ip}"
    words = ("curl", f"-{version}", "-sSo", "/dev/null", "-w", format_, "http://server/2M")
    printed = client(path, *words)
    assert printed.startswith("200 2000000 bytes")
    assert printed.endswith(f"from {address_of(path, version)}")
    # 0.85 s on the link, and slow start.
    assert number(r"in ([\d.]+) s", printed) > 0.85


@needs("ffmpeg", "nginx")
def test_ffmpeg_reads_dash(path, web):
    video = ("-f", "lavfi", "-i", "testsrc=duration=4:size=320x180:rate=25")
    coding = ("-c:v", "mpeg4", "-g", "25", "-seg_duration", "1", "-f", "dash")
    subprocess.run(
        ["ffmpeg", "-v", "error", *video, *coding, str(web / "video.mpd")], check=True, timeout=60
    )
    before = forwarded_bytes(path)["bottleneck"]
    words = ("ffmpeg", "-v", "error", "-i", "http://server/video.mpd")
    checksums = client(path, *words, "-f", "framecrc", "-")
    assert len([line for line in checksums.splitlines() if line[:1] != "#"]) == 4 * 25
    segments = sum(file.stat().st_size for file in web.glob("*.m4s"))
    assert forwarded_bytes(path)["bottleneck"] - before > segments


def certified(place: Path, *extension: str) -> tuple[Path, Path]:
    """Make a certificate of the host `server`, signed by itself, and its key."""
    certificate, key = place / "certificate.pem", place / "key.pem"
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-days", "2", "-subj", "/CN=server", "-addext", "subjectAltName=DNS:server",
            *extension, "-out", str(certificate), "-keyout", str(key),
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate, key


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> tuple[Path, Path]:
    if shutil.which("openssl") is None:
        pytest.skip("not installed: openssl")
    return certified(tmp_path_factory.mktemp("certificate"))


def check_load(printed: str, received_bytes: int, *, round_trips: int = 1) -> None:
    """Check what a client of QUIC says that it took."""
    assert f"{received_bytes} bytes in" in printed
    assert number(r"connected in ([\d.]+) ms", printed) > round_trips * RTT_MS
    assert number(r"bytes in ([\d.]+) s", printed) > 8 * received_bytes / RATE_BPS


@pytest.fixture(scope="module")
def http3(path, certificate) -> Iterator[None]:
    """aioquic's HTTP/3 at the server."""
    words = [PYTHON, str(PROGRAMS / "http3_server.py"), *map(str, certificate)]
    with serving(path, words, "udp:443"):
        yield


@needs_package("aioquic")
@both_versions
def test_aioquic(path, http3, certificate, version):
    words = (PYTHON, str(PROGRAMS / "http3_client.py"), str(certificate[0]))
    check_load(client(path, *words, address_of(path, version), "/bytes/1000000"), 1_000_000)


@needs_package("aioquic")
@needs("openssl")
@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="not installed: chromium")
def test_chromium_loads_a_page_over_http3(path, http3, certificate, tmp_path):
    public = subprocess.run(
        ["openssl", "x509", "-in", str(certificate[0]), "-pubkey", "-noout"],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    der = base64.b64decode("".join(public.splitlines()[1:-1]))
    pin = base64.b64encode(hashlib.sha256(der).digest()).decode()
    page = client(
        path, str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu",
        f"--user-data-dir={tmp_path}", "--origin-to-force-quic-on=server:443",
        f"--ignore-certificate-errors-spki-list={pin}", "--dump-dom", "https://server/",
    )  # fmt: skip
    found = re.search(r'data-seen="([^"]*)"', page)
    assert found is not None, page
    seen = json.loads(html.unescape(found[1]))
    assert seen["protocols"] == ["h3"] * 6
    # Two round trips and 200 kB.
    assert seen["load_ms"] > 2 * RTT_MS + 8 * 200_000 / RATE_BPS * 1e3


@functools.cache
def built_quic_go() -> Path:
    """Build the client and server of quic-go."""
    BUILT.mkdir(parents=True, exist_ok=True)
    program = BUILT / "quic-go"
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false"}
    for words in (["mod", "download"], ["build", "-o", str(program), "."]):
        done = subprocess.run(
            ["go", *words], cwd=PROGRAMS / "quic-go", env=environment,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if words[0] == "mod" and done.returncode:
            pytest.skip(f"quic-go cannot be downloaded: {done.stderr.strip()[-200:]}")
        assert done.returncode == 0, done.stderr
    return program


@pytest.mark.long  # compiling it takes half a minute; ngtcp2 is a real QUIC too
@needs("go")
@both_versions
def test_quic_go(path, version):
    program, address = str(built_quic_go()), address_of(path, version)
    at = f"[{address}]:4433" if version == 6 else f"{address}:4433"
    with serving(path, [program, "server", at, "1000000"], "udp:4433"):
        check_load(client(path, program, "client", at), 1_000_000)


@pytest.mark.skipif(not QUINN, reason="DUMBBELL_QUINN does not say where quinn's programs are")
@needs("openssl")
def test_quinn(path, tmp_path):
    """Its examples, compiled as docs/emulate.md says; the server listens to both versions of IP."""
    (tmp_path / "file").write_bytes(os.urandom(1_000_000))
    public, key = map(str, certified(tmp_path, "-addext", "basicConstraints=critical,CA:FALSE"))
    authority = str(tmp_path / "certificate.der")
    command = ["openssl", "x509", "-in", public, "-outform", "der", "-out", authority]
    subprocess.run(command, check=True)
    server = [f"{QUINN}/server", "--cert", public, "--key", key, "--listen", "[::]:4433"]
    with serving(path, [*server, str(tmp_path)], "udp:4433"):
        words = [f"{QUINN}/client", "--ca", authority, "https://server:4433/file"]
        done = path.client.run(words, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (tmp_path / "file").read_bytes()


@needs("gtlsclient", "gtlsserver")
@both_versions
def test_ngtcp2(path, certificate, tmp_path, version):
    (tmp_path / "file").write_bytes(os.urandom(1_000_000))
    address, to = address_of(path, version), tmp_path / "downloaded"
    to.mkdir()
    public, key = map(str, certificate)
    server = ["gtlsserver", "--quiet", "-d", str(tmp_path), address, "4433", key, public]
    with serving(path, server, "udp:4433"):
        client(
            path, "gtlsclient", "--quiet", "--exit-on-all-streams-close", "--download", str(to),
            address, "4433", "https://server:4433/file",
        )  # fmt: skip
    assert (to / "file").read_bytes() == (tmp_path / "file").read_bytes()


@needs_package("aiortc")
def test_a_call_of_aiortc(path):
    call = [PYTHON, str(PROGRAMS / "webrtc_call.py")]
    with serving(path, [*call, "server"], "tcp:8000"):
        printed = client(path, *call, "client", "server")
    assert number(r"(\d+) frames", printed) > 0
    assert number(r"(\d+) messages", printed) > 0
    assert number(r"smallest RTT ([\d.]+) ms", printed) > RTT_MS


@needs("flent", "irtt", "ping")
@pytest.mark.parametrize(("test", "figure"), [("ping", "Ping (ms) UDP"), ("voip", "VoIP::rtt")])
def test_flent(path, tmp_path, test, figure):
    """Those of its tests that need no netperf, but irtt."""
    with serving(path, ["irtt", "server"], "udp:2112"):
        printed = client(
            path, "flent", test, "--host", "server", "--length", "2", "--step-size", "0.1",
            "--data-dir", str(tmp_path), "--format", "summary",
        )  # fmt: skip
    # Mean and median.
    median_ms = number(rf"{re.escape(figure)}\s*:\s+[\d.]+\s+([\d.]+)", printed)
    assert median_ms > RTT_MS, printed
