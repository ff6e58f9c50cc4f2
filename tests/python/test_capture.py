import shutil
import signal
import struct
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

import dumbbell
from dumbbell import Capture, EngineError, Run, Scenario, ScenarioError
from dumbbell.run.capture import pending_capture
from dumbbell.terminal.capture import tidying
from tests.python.endless import ENDLESS_S, FLOWS, RATE, running

SCENARIO = Scenario(["reno", "cubic"], rate="10mbit", buffer="0.5bdp", time="2s")
POINTS = ["sender-0", "receiver-0", "sender-1", "receiver-1", "bottleneck-in", "bottleneck-out"]
RUN = ["run", "reno", "--rate", "10mbit", "--time", "1s"]
TSHARK = shutil.which("tshark")
needs_tshark = pytest.mark.skipif(TSHARK is None, reason="no tshark; apt install tshark")

#: Types of pcapng blocks, and an option.
SECTION_HEADER, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
IF_NAME = 2


def packets_by_point(path: Path) -> Counter[str]:
    """Read by the format's rules and nothing of ours; the file ends with a whole block."""
    data = path.read_bytes()
    names: list[str] = []
    counts: Counter[str] = Counter()
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        body = data[at + 8 : at + length - 4]
        assert data[at + length - 4 : at + length] == struct.pack("<I", length)
        if kind == INTERFACE:
            code, size = struct.unpack_from("<HH", body, 8)
            assert code == IF_NAME
            names.append(body[12 : 12 + size].decode())
        elif kind == PACKET:
            counts[names[struct.unpack_from("<I", body)[0]]] += 1
        else:
            assert kind == SECTION_HEADER
            assert at == 0
        at += length
    return counts


@pytest.fixture(scope="module")
def captured(tmp_path_factory) -> Run:
    path = tmp_path_factory.mktemp("capture") / "run.pcapng"
    return dumbbell.run(SCENARIO, capture=path)


def test_has_an_interface_for_each_point(captured):
    assert captured.capture.name == "run.pcapng"
    counts = packets_by_point(captured.capture)
    assert list(counts) != []
    assert sorted(counts) == sorted(POINTS)
    bottleneck = captured.summary["bottleneck"]
    assert counts["bottleneck-in"] == bottleneck["offered_pkts"]
    assert counts["bottleneck-out"] == bottleneck["forwarded_pkts"]


def test_changes_nothing(captured):
    plain = dumbbell.run(SCENARIO)
    assert plain.capture is None
    assert plain.to_json() == captured.to_json()
    assert plain.flows.equals(captured.flows)


def test_is_the_same_every_time(captured, tmp_path):
    path = tmp_path / "again.pcapng"
    dumbbell.run(SCENARIO, capture=str(path))
    assert path.read_bytes() == captured.capture.read_bytes()


def test_points_and_snap_length_are_chosen(captured, tmp_path):
    def size(name: str, snap: str) -> float:
        capture = Capture(tmp_path / name, points=["sender"], snap=snap)
        dumbbell.run(SCENARIO, capture=capture)
        counts = packets_by_point(capture.path)
        assert sorted(counts) == ["sender-0", "sender-1"]
        return capture.path.stat().st_size / sum(counts.values())

    headers, some, whole = size("a", "headers"), size("b", "200B"), size("c", "full")
    assert headers < 110 < some < 250 < 800 < whole


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"points": ["sneder"]}, "unknown capture point `sneder`; did you mean `sender`?"),
        ({"points": []}, "no capture points; use some of `sender,receiver,link`"),
        (
            {"snap": "96"},
            "capture snap `96` has no unit; use e.g. `500kB`, `10MB` or `8MiB`, `headers`",
        ),
        (
            {"snap": "20B"},
            "capture snap `20B` is too small; use at least `54B`, `headers` or `full",
        ),
    ],
)
def test_refuses_invalid_settings(settings, says):
    with pytest.raises(ScenarioError) as refused:
        Capture("x.pcapng", **settings)
    assert str(refused.value).startswith(says)


def test_a_place_that_cannot_be_written_is_a_line(tmp_path):
    missing = tmp_path / "missing" / "run.pcapng"
    with pytest.raises(EngineError, match="cannot be written: No such file") as refused:
        dumbbell.run(SCENARIO, capture=missing)
    assert f"`{missing}`" in str(refused.value)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_a_line():
    with pytest.raises(EngineError, match="`/dev/full` cannot be written: No space left on device"):
        dumbbell.run(SCENARIO, capture="/dev/full")


def test_is_saved_with_its_run(captured, tmp_path):
    first = captured.save(tmp_path / "first")
    loaded = Run.load(first)
    assert loaded.capture == first / "capture.pcapng"
    second = loaded.save(tmp_path / "second")
    assert loaded.save(first) == first, "in its own place"
    for directory in (first, second):
        saved = Run.load(directory).capture
        assert saved is not None
        assert saved.read_bytes() == captured.capture.read_bytes()
    assert captured.capture.is_file(), "what the user named stays"


def test_a_run_without_one_loads(short_run, tmp_path):
    assert Run.load(short_run.save(tmp_path / "run")).capture is None


# The command line.


def test_goes_into_the_directory_of_the_run(cli, tmp_path):
    directory = tmp_path / "run"
    outcome = cli(*RUN, "--capture", "--out", str(directory))
    assert outcome.code == 0, outcome.err
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    counts = packets_by_point(directory / "capture.pcapng")
    assert sorted(counts) == sorted(["sender-0", "receiver-0", "bottleneck-in", "bottleneck-out"])
    # Again, over the old one, with less.
    outcome = cli(*RUN, "--capture", "--capture-points", "sender", "--out", str(directory))
    assert outcome.code == 0
    assert list(packets_by_point(directory / "capture.pcapng")) == ["sender-0"]
    # And without.
    assert cli(*RUN, "--out", str(directory)).code == 0
    assert not (directory / "capture.pcapng").exists()


def test_every_run_of_a_sweep_has_one(cli, tmp_path):
    sweep = ["sweep", *RUN[1:], "--buffer", "0.5bdp,1bdp", "--reps", "2", "--capture"]
    outcome = cli(*sweep, "--capture-snap", "96B", "--out", str(tmp_path))
    assert outcome.code == 0, outcome.err
    found = sorted(tmp_path.rglob("*.pcapng"))
    assert len(found) == 4
    assert {path.name for path in found} == {"capture.pcapng"}
    assert all((path.parent / "run.json").is_file() for path in found)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--capture"], "`--capture` needs a directory to write to; use `--out DIR`"),
        (["--capture-points", "sender"], "`--capture-points` has no effect without `--capture`"),
        (["--capture-snap", "full"], "`--capture-snap` has no effect without `--capture`"),
    ],
)
@pytest.mark.parametrize("command", ["run", "sweep"])
def test_options_that_conflict_are_an_error_of_one_line(cli, command, options, says):
    outcome = cli(command, *RUN[1:], *options)
    assert (outcome.code, outcome.err) == (2, f"error: {says}\n")


def test_a_refused_run_leaves_nothing(cli, tmp_path):
    broken = tmp_path / "broken.bpf.c"
    broken.write_text("no C")
    place = tmp_path / "place"
    place.mkdir()
    outcome = cli("run", str(broken), "--capture", "--out", str(place / "run"))
    assert outcome.code == 2
    assert list(place.iterdir()) == []


def test_a_failed_runs_capture_is_removed_and_an_interrupted_ones_named(tmp_path):
    def leave(problem: BaseException) -> None:
        with tidying([tmp_path / "run"]):
            pending_capture(tmp_path / "run").write_bytes(b"")
            raise problem

    with pytest.raises(EngineError):
        leave(EngineError("disk full"))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(KeyboardInterrupt, match=r"captured so far: .*run\.capture\.pcapng"):
        leave(KeyboardInterrupt())
    assert [path.name for path in tmp_path.iterdir()] == ["run.capture.pcapng"]


def test_ctrl_c_leaves_what_was_captured(tmp_path):
    beside = tmp_path / "run.capture.pcapng"
    command = ["run", "reno", "--rate", RATE, "--flows", f"{FLOWS}", "--time", ENDLESS_S,
               "--sample", "0s", "--capture", "--capture-points", "sender"]  # fmt: skip
    with running(*command, "--out", str(tmp_path / "run")) as process:
        while not beside.exists() or beside.stat().st_size < 5_000_000:
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130
    assert err.endswith(f"error: interrupted: captured so far: {beside}\n")
    assert packets_by_point(beside)["sender-0"] > 10_000
    assert [path.name for path in tmp_path.iterdir()] == [beside.name]


# What others make of it.


def tshark(path: Path, *arguments: str) -> str:
    command = [str(TSHARK), "-r", str(path), "-o", "tcp.check_checksum:TRUE"]
    command += ["-o", "ip.check_checksum:TRUE", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@needs_tshark
@pytest.mark.parametrize("snap", ["headers", "full"])
def test_tshark_finds_no_malformed_packet_and_no_bad_checksum(snap, tmp_path):
    capture = Capture(tmp_path / "run.pcapng", snap=snap)
    # A close on data, one alone, and one after a stop.
    groups = [
        dumbbell.Group("cubic", size="300kB"),
        dumbbell.Group("reno", size="4kB"),
        dumbbell.Group("copa", stop="1s"),
    ]
    dumbbell.run(Scenario(groups, rate="10mbit", buffer="0.5bdp", time="3s"), capture=capture)
    total = sum(packets_by_point(capture.path).values())
    fields = ["-T", "fields", "-e", "tcp.checksum.status", "-e", "ip.checksum.status"]
    status = tshark(capture.path, *fields).splitlines()
    # 1: good. Without its payload a packet's TCP checksum cannot be looked at: 2.
    assert len(status) == total
    assert set(status) == ({"1\t1"} if snap == "full" else {"1\t1", "2\t1"})
    assert tshark(capture.path, "-Y", "_ws.malformed") == ""
    if snap == "full":
        assert tshark(capture.path, "-Y", "_ws.expert.severity == error") == ""


@needs_tshark
def test_tshark_sees_handshake_and_close_at_the_sender(tmp_path):
    scenario = Scenario([dumbbell.Group("reno", size="4kB")], rate="10mbit", time="2s")
    path = tmp_path / "run.pcapng"
    dumbbell.run(scenario, capture=Capture(path, points=["sender"]))
    fields = ["-T", "fields", "-e", "tcp.srcport", "-e", "tcp.flags.str", "-e", "tcp.len"]
    lines = [line.split("\t") for line in tshark(path, *fields).splitlines()]
    packets = [(port, flags.replace("·", ""), int(size)) for port, flags, size in lines]
    assert packets[:3] == [("10000", "S", 0), ("5001", "AS", 0), ("10000", "A", 0)]
    assert packets[-2:] == [("5001", "AF", 0), ("10000", "A", 0)]
    assert [packet for packet in packets if packet[2]] == [
        ("10000", "A", 1448),
        ("10000", "AP", 1448),  # the end of a burst of two
        ("10000", "AP", 1104),
    ]
    analysis = tshark(path, "-q", "-z", "expert")
    assert "suspected" not in analysis, "no retransmission, nothing out of order"


@pytest.mark.kernel
def test_the_kernel_engine_writes_one_too(tmp_path):
    scenario = Scenario(["linux/cubic"], rate="10mbit", buffer="0.5bdp", time="1s")
    path = tmp_path / "run.pcapng"
    run = dumbbell.run(scenario, engine="kernel", capture=path)
    counts = packets_by_point(path)
    assert sorted(counts) == sorted(["sender-0", "receiver-0", "bottleneck-in", "bottleneck-out"])
    assert run.emulation is not None
    assert run.emulation["captured_pkts"] == sum(counts.values())


def test_the_older_name_of_the_links_points_is_taken():
    assert Capture("x.pcapng", points=["bottleneck"]).points == ("link",)
    assert Capture("x.pcapng", points=["bottleneck"]).links
