"""The UML engine: Linux in virtual time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell import Scenario, _core
from dumbbell.base.errors import DumbbellError, EngineError, ScenarioError
from dumbbell.congestion_control.isolation.sandbox import UNSAFE
from dumbbell.run import guest
from dumbbell.run.engine import check_engine, default_workers
from dumbbell.runs.key import run_key
from tests.python.guests import built, kernel_with

ROOT = Path(__file__).parents[2]
RENO = ROOT / "cc" / "reno.bpf.c"

#: 2 s at 20 Mbit/s: some 3,300 packets.
SHORT: dict[str, Any] = {
    "rate": "20mbit",
    "rtt": "20ms",
    "buffer": "1bdp",
    "time": "2s",
    "sample": "100ms",
}


@dataclass(frozen=True)
class Pretended:
    """As much of a kernel as is looked at before it runs."""

    path: Path
    digest: str
    name: str = "pretended"
    congestion_controls: tuple[str, ...] = ("cubic", "reno")


@pytest.fixture
def pretended(monkeypatch, tmp_path):
    """Let a program that is no kernel stand for one; returns what makes it."""

    def make(text: str = "#!/bin/sh\nexit 3\n", digest: str = "0" * 32) -> None:
        path = tmp_path / "linux"
        path.write_text(text)
        path.chmod(0o755)
        kernel = Pretended(path, digest)
        monkeypatch.setattr("dumbbell.kernels.find", lambda _: kernel)

    make()
    return make


# ---- Without a kernel ----


@pytest.mark.parametrize("engine", ["umm", "kernel:6.12", "simulator:1"])
def test_other_engines_have_no_kernel_to_choose(engine):
    with pytest.raises(ScenarioError, match=f"unknown engine `{engine}`"):
        check_engine(engine, Scenario.of(["cubic"]))


def test_runs_in_virtual_time_share_all_cores():
    assert default_workers("uml:6.12") == default_workers("simulator") >= default_workers("kernel")


@pytest.mark.usefixtures("pretended")
@pytest.mark.parametrize(
    ("cc", "fields", "expected"),
    [
        ("linux/nope", {}, "the kernel pretended has no congestion control `nope`; it has cubic"),
        (
            str(RENO),
            {},
            "is a file, and guests have no sandbox; if you trust it, add `--unsafe-no-s",
        ),
    ],
)
def test_what_a_guest_does_not_run_is_refused(cc, fields, expected):
    scenario = Scenario.of([dumbbell.Group(cc, **fields)], **SHORT)
    with pytest.raises(EngineError) as error:
        check_engine("uml", scenario)
    assert expected in str(error.value)


def test_a_run_s_key_has_the_kernel_and_not_its_name(pretended):
    scenario = Scenario.of(["cubic"], **SHORT)
    key = run_key(scenario, "uml").digest
    assert run_key(scenario, "uml:other").digest == key
    assert run_key(scenario, "simulator").digest != key
    pretended(digest="1" * 32)
    assert run_key(scenario, "uml").digest != key


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("exit 3", "the guest's kernel ended with status 3 before the run was over"),
        ("echo boots; echo Kernel panic - oh; kill -9 $$", "ended by signal 9 before the run was "
         "over: Kernel panic - oh"),
        ("echo -n too old > error", "too old"),
        ("echo {} > summary.json; echo x > tables", "the guest's result cannot be read"),
    ],
)  # fmt: skip
def test_a_guest_without_a_result_is_one_line(pretended, program, expected, tmp_path, monkeypatch):
    pretended(f"#!/bin/sh\n{program}\n")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    with pytest.raises(EngineError) as error:
        dumbbell.run(["cubic"], engine="uml", **SHORT)
    assert expected in str(error.value)
    assert "\n" not in str(error.value)
    assert not list(scratch.iterdir()), "nothing is left"


def test_a_guest_is_stopped_when_its_run_is(pretended):
    pretended("#!/bin/sh\nexec sleep 600\n")
    control = _core.Control()
    control.cancel()
    with pytest.raises(DumbbellError, match="cancelled"):
        dumbbell.run(["cubic"], engine="uml", control=control, **SHORT)


def test_the_library_is_there():
    assert guest.guest_library().stat().st_size > 0
    assert len(guest.guest_build()) == 32


# ---- With a kernel ----


def bytes_of(path: Path) -> tuple[list[int], bytes]:
    run = dumbbell.run(["cubic", "linux/bbr"], engine="uml", capture=path, **SHORT)
    assert run.verdict.status == "OK"
    return run.tables["flows"]["cwnd_pkts"].to_pylist(), path.read_bytes()


@built
def test_one_seed_gives_the_same_bytes(tmp_path):
    first, second = (bytes_of(tmp_path / f"{number}.pcapng") for number in (1, 2))
    assert first == second


@built
def test_seeds_differ():
    runs = [dumbbell.run(["linux/bbr"], engine="uml", seed=seed, **SHORT) for seed in (1, 2)]
    assert runs[0].tables["flows"] != runs[1].tables["flows"]


@built
def test_nothing_is_late():
    run = dumbbell.run(["linux/cubic"], engine="uml", **SHORT)
    assert run.engine == "uml"
    assert run.emulation is not None
    assert run.emulation["lateness_p99_us"] < 0.1
    assert run.emulation["hosts_sent_pkts"] == run.emulation["path_entered_pkts"]
    assert run.verdict.status == "OK"
    assert not [reason for reason in run.verdict.notes if "CPU" in str(reason)]


@built
def test_cubic_alone_fills_the_link():
    run = dumbbell.run(["linux/cubic"], engine="uml", **{**SHORT, "time": "10s"})
    link = run.summary["links"][0]
    assert link["utilization"] > 0.98


@built
@pytest.mark.parametrize("cc", ["reno", "cubic", "bbr", "bbr3", "copa", "vegas", "dctcp", "ledbat"])
def test_our_algorithms_run_in_guests_and_report_their_state(cc):
    run = dumbbell.run([cc], engine="uml", **SHORT)
    simulated = dumbbell.run([cc], **SHORT)
    (flow,), (other,) = run.summary["flows"], simulated.summary["flows"]
    assert flow["cc"] == cc
    assert flow["goodput_bps"] == pytest.approx(other["goodput_bps"], rel=0.1)
    states = [name for name in run.tables if name.startswith("state-")]
    assert states == [name for name in simulated.tables if name.startswith("state-")]
    for name in states:
        assert run.tables[name].num_rows == run.tables["flows"].num_rows
        assert run.tables[name].column_names == simulated.tables[name].column_names


@built
def test_a_trusted_file_runs_in_guests_as_the_built_in_algorithm_does(tmp_path, monkeypatch):
    """The path is relative: the guest has a directory of its own."""
    monkeypatch.setenv(UNSAFE, "1")
    monkeypatch.chdir(tmp_path)
    Path("mine.bpf.c").write_bytes(RENO.read_bytes())
    mine = dumbbell.run(["./mine.bpf.c"], engine="uml", **SHORT)
    built_in = dumbbell.run(["reno"], engine="uml", **SHORT)
    assert (
        mine.summary["flows"][0]["received_bytes"]
        == (built_in.summary["flows"][0]["received_bytes"])
    )
    assert [each.check for each in mine.verdict.reasons] == ["sandbox"]


@built
def test_a_file_that_ends_its_guest_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv(UNSAFE, "1")
    crash = ROOT / "tests/hostile/abort.bpf.c"
    with pytest.raises(EngineError, match=r"ended by signal 6 .*abort\.bpf\.c` ran in it"):
        dumbbell.run([str(crash)], engine="uml", **SHORT)


@built
def test_ours_and_the_kernel_s_cubic_leave_slow_start_alike():
    """Of two flows: the second one's handshake is none of the first one's RTTs."""
    path: dict[str, Any] = {
        "rate": "50mbit",
        "rtt": "200ms",
        "buffer": "4bdp",
        "time": "4s",
        "sample": "100ms",
    }
    exits = [
        [flow["ssthresh_max_pkts"] for flow in run.summary["flows"]]
        for cc in ("cubic", "linux/cubic")
        for run in [dumbbell.run([dumbbell.Group(cc, flows=2)], engine="uml", **path)]
    ]
    assert exits[0] == pytest.approx(exits[1], rel=0.02)


@built
def test_flows_with_an_end_end(tmp_path):
    groups = [
        dumbbell.Group("linux/cubic", size="200kB"),
        dumbbell.Group("linux/reno", start="500ms", stop="1s"),
    ]
    run = dumbbell.run(groups, engine="uml", **SHORT)
    sized, stopped = run.summary["flows"]
    assert (sized["finished"], sized["received_bytes"]) == (True, 200_000)
    assert sized["end_us"] < 500_000
    assert stopped["finished"]
    assert 1_000_000 < stopped["end_us"] < 1_200_000
    again = dumbbell.Run.load(run.save(tmp_path / "saved"))
    assert json.dumps(again.to_dict()) == json.dumps(run.to_dict())


@built
def test_what_arrives_is_counted_while_it_is_being_written():
    """A flow writes 256 kB at once; of many flows none has sent that much."""
    run = dumbbell.run([dumbbell.Group("linux/cubic", flows=100)], engine="uml", **SHORT)
    received = [flow["received_bytes"] for flow in run.summary["flows"]]
    assert max(received) < 256 * 1024
    link = run.summary["links"][0]
    assert sum(received) == pytest.approx(20e6 / 8 * 2 * link["utilization"], rel=0.1)


@built
def test_sweeps_find_their_runs_again(tmp_path):
    sweep = dumbbell.Sweep(
        Scenario.of(["linux/cubic"], **SHORT), {"buffer": ["1bdp", "2bdp"]}, engine="uml"
    )
    first = sweep.run(cache=tmp_path)
    before = {path: path.stat().st_ino for path in tmp_path.rglob("*.jsonl")}
    assert len(before) == 2
    assert sweep.run(cache=tmp_path).rows.equals(first.rows)
    assert {path: path.stat().st_ino for path in before} == before


@built
@pytest.mark.parametrize(("delayed_ack", "least", "most"), [(True, 0.3, 0.7), (False, 0.95, 1.05)])
def test_every_packet_is_acknowledged_at_once_if_asked(delayed_ack, least, most):
    """RFC 5681 §4.2 wants an ACK for every second segment at least."""
    links = [dumbbell.Link("bottleneck", rate="20mbit"), dumbbell.Link("up", rate="100mbit")]
    group = dumbbell.Group(
        "linux/cubic", delayed_ack=delayed_ack, route=["bottleneck"], back=["up"]
    )
    words = {key: SHORT[key] for key in ("rtt", "time")}
    run = dumbbell.run([group], engine="uml", links=links, **words)
    found = {link["name"]: link for link in run.summary["links"]}
    acks, data = found["up"]["offered_pkts"], found["bottleneck"]["forwarded_pkts"]
    assert least < acks / data < most


# ---- Accurate ECN ----


#: The first release that has it.
ACCURATE = "6.18"
accurate = pytest.mark.skipif(
    kernel_with(least=ACCURATE) is None, reason=f"no kernel of Linux {ACCURATE} or later is built"
)


@pytest.mark.skipif(
    kernel_with(before=ACCURATE) is None, reason=f"no kernel before Linux {ACCURATE} is built"
)
@pytest.mark.parametrize(("cc", "ecn"), [("linux/cubic", "accecn"), ("prague", False)])
def test_a_kernel_without_accurate_ecn_is_named(cc, ecn):
    kernel = kernel_with(before=ACCURATE)
    assert kernel is not None
    with pytest.raises(EngineError) as error:
        # Before a kernel boots.
        check_engine(f"uml:{kernel.name}", Scenario.of([dumbbell.Group(cc, ecn=ecn)], **SHORT))
    assert f"`{cc}` needs Accurate ECN" in str(error.value)
    assert f"Linux {kernel.release}, does not" in str(error.value)


@accurate
@pytest.mark.parametrize(("option", "segment_bytes"), [(True, 1436), (False, 1448)])
def test_marks_are_counted_accurately(option, segment_bytes, tmp_path):
    """As simulated, but that Linux's data has the option too, which takes 12 bytes of a segment."""
    kernel = kernel_with(least=ACCURATE)
    assert kernel is not None
    group = dumbbell.Group("linux/cubic", ecn="accecn", accecn_option=option)
    words = {**SHORT, "time": "10s", "queue": "codel:ecn=on"}
    capture = tmp_path / "run.pcapng"
    run = dumbbell.run([group], engine=f"uml:{kernel.name}", capture=capture, **words)
    (flow,) = run.summary["flows"]
    (simulated,) = dumbbell.run([dumbbell.Group("cubic", ecn="accecn")], **words).summary["flows"]
    assert flow["marked_pkts"] > 5
    assert flow["marked_pkts"] == pytest.approx(simulated["marked_pkts"], abs=1)
    assert flow["dropped_pkts"] == 0
    rows = dumbbell.analyze(capture).connections.to_pandas()
    at_sender = rows[rows["point"] == "sender-0"]
    assert at_sender["largest_segment_bytes"].max() == segment_bytes
    assert 0 <= flow["marked_pkts"] - at_sender["accecn_ce_pkts"].max() <= 1


@accurate
def test_prague_is_an_l4s_sender_in_a_guest():
    """AccECN both ways, and ECT(1): it has DualPI2's L4S queue to itself."""
    kernel = kernel_with(least=ACCURATE)
    assert kernel is not None
    path: dict[str, Any] = {"rate": "20mbit", "rtt": "20ms", "time": "4s", "queue": "dualpi2"}
    run = dumbbell.run(["prague", "cubic"], engine=f"uml:{kernel.name}", **path)
    assert run.emulation is not None
    assert run.emulation["ect1_groups"] == [0]
    prague, cubic = run.summary["flows"]
    assert prague["marked_pkts"] > 20
    assert (prague["dropped_pkts"], cubic["marked_pkts"]) == (0, 0)
    assert prague["rtt_mean_us"] < 23_000 < cubic["rtt_mean_us"]
    assert set(run.tables["state-0-prague"]["mode"].to_pylist()) == {"prague"}
