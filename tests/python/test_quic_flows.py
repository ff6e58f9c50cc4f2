"""QUIC stacks as flows: named, run, recorded and refused like TCP's."""

import struct
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell import Capture, Group, Link, Run, Scenario, _core, run_all
from dumbbell.base.errors import DumbbellError
from dumbbell.congestion_control import CongestionControlChoice, short_names
from dumbbell.runs.key import run_key

ROOT = Path(__file__).resolve().parents[2]
UDP = 17
MISTAKES = {
    "quic/quick:cubic": "unknown QUIC stack `quick`; there are `quic/quinn`, `quic/noq`",
    "quic/quinn@0.12:cubic": "has no version `0.12`; there are `0.11.19`, `0.11.14`",
    "quic/quinn:vegass": "has no algorithm `vegass`; of its own it has `reno`, `cubic`, `bbr`",
    "quic/noq:bbr33": "`reno`, `cubic`, `bbr3`; of dumbbell's: `bbr`, `bbr3`, `bbr_fca`, `copa`, "
    "`cubic`, `l3dr`, `ledbat`, `nagi`, `reno`, `vegas`\n",
    "quic/noq@1.1.0:brr3": "has no algorithm `brr3`; of its own it has `reno`, `cubic`, `bbr3`",
    "quic/noq": "names no algorithm; name one: `quic/noq:bbr3`",
    "quic/noq@1.1.0": "name one: `quic/noq@1.1.0:bbr3`",
    "quic/quinn@0.11.14": "name one: `quic/quinn@0.11.14:cubic`",
    "quic/quinn:copa": "of which rate samples are made; use `quic/noq`",
    "quic/quinn@0.11.14:bbr": "no run could be repeated; use `quic/quinn:bbr`",
    "quic/noq@1.1.0:copa": "does not learn there when cwnd limits sending; use `quic/noq`",
    "quic/noq:dctcp": "needs the count of marked packets",
    "quic/noq:bbr3:mtu=1400": "has no parameter `mtu`; known: `mtu_bytes`",
    "quic/noq:bbr3:mtu_bytes=100": "is out of range; use 0, or 1200 to 65527 bytes",
    "quic/noq:bbr3:gso_batch_pkts=0": "use 1 to 64 (packets)",
    "quic/noq:bbr3:timer_granularity_us=0": "use 1 to 1000000 (us)",
    "quic/noq:bbr3:paced=0": "no parameter `paced`, which only algorithms of dumbbell's have",
    "quic/quinn:cubic:paced=1": "no parameter `paced`, which only algorithms of dumbbell's have",
    "quic/noq:cubic:beta=819": "dumbbell's has: `quic/noq:dumbbell/cubic:beta=…`",
    "quic/noq:linux/cubic": "do not run in QUIC; dumbbell's do: `quic/noq:dumbbell/cubic`",
    "quic/quinn:linux/yeah": "do not run in QUIC; dumbbell's do: `quic/noq:dumbbell/cubic`",
    "quic/noq:copa:velocity=3": "did you mean `velocity_max`?",
    "quic/noq:./none.bpf.c": "no such file",
    "quic": "a QUIC flow is `quic/quinn:cubic` or `quic/noq:copa`",
    "quic:cubic": "a QUIC flow is `quic/quinn:cubic` or `quic/noq:copa`",
    "quinn:bbr": "unknown congestion control `quinn`, which is a QUIC stack; a flow of it is",
    "noq@1.1.0:bbr3": "a flow of it is `quic/noq:cubic`",
}


def scenario(*ccs: str, **fields: Any) -> Scenario:
    return Scenario(list(ccs), rate="20mbit", rtt="40ms", buffer="1bdp", time="4s", **fields)


@pytest.mark.parametrize("cc", MISTAKES)
def test_a_mistake_gets_one_line(cc, cli):
    outcome = cli("run", cc, "--time", "1s")
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert MISTAKES[cc] in outcome.err


@pytest.mark.parametrize("engine", ["kernel", "uml"])
def test_no_kernel_has_quic(engine, cli):
    outcome = cli("run", "quic/quinn:cubic", "--engine", engine, "--time", "1s")
    assert outcome.code == 2
    assert (
        "`quic/quinn:cubic` runs in the simulator only, because kernels have no QUIC" in outcome.err
    )


@pytest.mark.parametrize(
    "option", [("--mss", "1400B"), ("--traffic", "poisson:load=30%,size=30kB"), ("--rwnd", "1MiB")]
)
def test_what_is_of_tcp_hosts_is_refused(option, cli):
    outcome = cli("run", "quic/noq:bbr3", *option, "--time", "1s")
    assert outcome.code == 2
    assert "`quic/noq:bbr3`" in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_run_is_the_same_again_and_with_any_number_of_jobs():
    ccs = ("quic/quinn:bbr", "quic/noq:bbr3", "quic/noq:copa", "cubic")
    pairs = [(key, scenario(*ccs, seed=key % 2 + 1)) for key in range(4)]
    one = run_all(pairs, jobs=1)
    assert one[0].to_json() == one[2].to_json() != one[1].to_json()
    assert one[0].flows.equals(one[2].flows)
    several = run_all(pairs, jobs=4)
    assert [run.to_json() for run in several.values()] == [run.to_json() for run in one.values()]


def test_what_impairments_garble_stops_no_version():
    """Each version parses both ways what is delivered with a byte changed, and the same again."""
    versions = [name for name in _core.quic_algorithms() if name.endswith(":cubic")]
    assert len(versions) == 5
    path = {"rate": "20mbit", "delay": "20ms", "impair": "corrupt:probability=2%,delivered=on"}
    links = [Link("there", **path), Link("back", **path)]
    pairs = [
        (cc, Scenario([Group(cc, route=["there"], back=["back"])], links=links, time="4s"))
        for cc in (*versions, "quic/noq:copa", "quic/noq@1.2.0:dumbbell/bbr3")
    ]
    runs, again = run_all(pairs, jobs=1), run_all(pairs, jobs=4)
    for cc, run in runs.items():
        flow = run.to_dict()["flows"][0]
        assert flow["received_bytes"] > 100_000, cc
        assert flow["lost_pkts"] > flow["dropped_pkts"], cc
        assert run.to_json() == again[cc].to_json(), cc


def test_versions_and_parameters_are_in_the_key():
    names = [
        "quic/noq:bbr3",
        "quic/noq@1.2.0:bbr3",
        "quic/noq@1.1.0:bbr3",
        "quic/noq:bbr3:mtu_bytes=1400",
        "quic/noq:dumbbell/bbr3",
        "bbr3",
    ]
    keys = [run_key(scenario(name), "simulator").digest for name in names]
    assert len(set(keys)) == len(names)


def test_how_much_a_stack_hands_down_at_once_reaches_it():
    """The calls follow at one time: the goodput differs by less than 1 %, but not by nothing."""
    one, many = (
        dumbbell.run(scenario(f"quic/quinn:cubic:gso_batch_pkts={pkts}")).groups[0]
        for pkts in (1, 64)
    )
    assert one["goodput_bps"] != many["goodput_bps"]
    assert one["goodput_bps"] == pytest.approx(many["goodput_bps"], rel=0.01)


def test_a_name_is_written_as_it_was_read():
    for name in (
        "quic/noq@1.1.0:bbr3:mtu_bytes=1400",
        "quic/noq:copa@paper",
        "quic/noq:dumbbell/cubic:window_bytes=100000",
    ):
        assert str(CongestionControlChoice.parse(name)) == name
    names = ["quic/noq:./own/mine.bpf.c", "cubic", "quic/quinn:cubic"]
    assert list(short_names(names).values()) == ["quic/noq:mine", "cubic", "quic/quinn:cubic"]


def test_a_run_records_what_a_tcp_flow_records(tmp_path):
    run = dumbbell.run(scenario("quic/quinn:cubic", "quic/noq:copa", "cubic"))
    run.save(tmp_path / "run")
    read = Run.load(tmp_path / "run")
    assert read.to_dict() == run.to_dict()
    stack, ours, tcp = read.to_dict()["flows"]
    assert [flow["cc"] for flow in (stack, ours)] == ["quic/quinn:cubic", "quic/noq:copa"]
    assert stack.keys() >= tcp.keys() - {"cwnd_zero_max_us"}
    assert stack["goodput_bps"] > 1e6
    assert stack["rtt_min_us"] >= 40_000
    flows = read.tables["flows"].to_pydict()
    assert {0, 1, 2} == set(flows["flow"])
    assert min(flows["cwnd_pkts"]) > 0
    assert {"state-0-cubic", "state-1-copa"} <= set(read.tables)
    assert min(read.tables["state-0-cubic"]["cwnd_bytes"].to_pylist()) > 0
    controls = read.summary["congestion_controls"]
    assert [series["name"] for series in controls[0]["declared"]["series"]] == [
        "cwnd_bytes",
        "ssthresh_bytes",
        "congestion_events",
    ]
    assert "noq-proto 1.4.0" in controls[1]["build"]
    assert controls[0]["build"] == "quinn-proto 0.11.19"


def test_a_file_of_ones_own_runs_in_quic(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.bpf.c").write_text((ROOT / "cc/copa.bpf.c").read_text(encoding="utf-8"))
    built_in, own = (
        dumbbell.run(scenario(name)).to_dict()["flows"][0]
        for name in ("quic/noq:copa", "quic/noq:./mine.bpf.c")
    )
    assert own["goodput_bps"] == built_in["goodput_bps"]
    with pytest.raises(DumbbellError, match="gives its controller no packet numbers"):
        dumbbell.run(scenario("quic/quinn:./mine.bpf.c"))


def test_a_capture_has_udp_packets(tmp_path):
    path = tmp_path / "quic.pcapng"
    dumbbell.run(scenario("quic/noq:cubic"), capture=Capture(path))
    data = path.read_bytes()
    protocols, place = set(), 0
    while place < len(data):
        kind, length = struct.unpack_from("<II", data, place)
        if kind == 6:  # an enhanced packet block
            protocols.add(data[place + 28 + 14 + 9])
        place += length
    assert protocols == {UDP}


def test_a_connection_that_its_stack_ends_makes_no_result():
    """quinn's receiver gives up at 1,024 gaps: a window of 64 MiB, and slow start into 16 BDP."""
    wide = scenario("quic/quinn:cubic:window_bytes=67108864", "cubic").replace(
        rate="50mbit", buffer="16bdp"
    )
    run = dumbbell.run(wide)
    (reason,) = run.verdict.reasons
    assert (reason.status, reason.check) == ("INVALID", "connection")
    assert "too many gaps in stream buffer" in reason.message
    ended, other = run.summary["flows"]
    assert ended["failure"].startswith("at 2.")
    assert "failure" not in other
