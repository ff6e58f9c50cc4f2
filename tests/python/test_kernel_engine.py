"""The real kernel engine, where this machine can: short runs, and nothing left behind.

No test asks for a good verdict, or for times and shares that a busy machine does not have: those
are in test_exact_times.py and test_uml_engine.py.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell import EngineError, Group, Scenario
from dumbbell.cli.machine import facts
from tests.python.own_mounts import as_nobody

pytestmark = pytest.mark.kernel
needs_bpf = pytest.mark.kernel(bpf=True)

LINK_BPS = 20_000_000


def scenario(*ccs: str | Group, **words: Any) -> Scenario:
    return Scenario(ccs, **{"rate": "20mbit", "rtt": "20ms", "time": "2s", **words})


def dumbbell_process(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "dumbbell", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_the_kernels_own(nothing_left):
    run = dumbbell.run(scenario("linux/cubic", "linux/reno"), engine="kernel")
    assert [flow["cc"] for flow in run.summary["flows"]] == ["linux/cubic", "linux/reno"]
    assert [group["build"] for group in run.groups] == [os.uname().release] * 2
    for flow in run.summary["flows"]:
        assert flow["received_bytes"] > 100_000
        assert flow["rtt_min_us"] >= 0.99 * 20_000
        ended = flow["dropped_pkts"] + flow["arrived_pkts"] + flow["on_path_pkts"]
        assert flow["sent_pkts"] == ended
    assert sum(group["goodput_bps"] for group in run.groups) < LINK_BPS
    assert not [r for r in run.verdict.reasons if r.check in ("conservation", "congestion_control")]


@pytest.mark.parametrize(("delayed_ack", "least", "most"), [(True, 0.4, 0.7), (False, 0.95, 1.2)])
def test_acks_are_delayed_or_not(tmp_path, delayed_ack, least, most):
    asked = scenario(Group("linux/cubic", delayed_ack=delayed_ack))
    dumbbell.run(asked, engine="kernel", capture=tmp_path / "run.pcapng")
    rows = dumbbell.analyze(tmp_path / "run.pcapng").connections.to_pandas()
    at_receiver = rows[rows["point"] == "receiver-0"]
    data_pkts, acks = at_receiver["data_pkts"].max(), at_receiver["pure_ack_pkts"].max()
    assert data_pkts > 1000
    assert least < acks / data_pkts < most


@needs_bpf
def test_dctcps_receivers_echo_each_mark(tmp_path):
    """RFC 8257 §3.2: an ACK with ECE is of marked packets; RFC 3168's goes on until CWR comes."""
    asked = scenario("dctcp", ecn_threshold="20pkt")
    dumbbell.run(asked, engine="kernel", capture=tmp_path / "run.pcapng")
    rows = dumbbell.analyze(tmp_path / "run.pcapng").connections.to_pandas()
    at_receiver = rows[rows["point"] == "receiver-0"]
    marked_pkts, echoes = at_receiver["ecn_ce_pkts"].max(), at_receiver["ece_pkts"].max()
    assert marked_pkts > 20
    assert 0.3 * marked_pkts < echoes <= marked_pkts


@pytest.mark.kernel(bpf=True, state=True)
def test_prague_is_an_l4s_sender(cli, tmp_path):
    """AccECN both ways, and ECT(1) from the relay: it has DualPI2's L4S queue to itself."""
    options = "--queue dualpi2 --rate 20mbit --rtt 20ms --time 4s --engine kernel"
    out = cli("run", "prague", "cubic", *options.split(), "--out", str(tmp_path / "run")).out
    assert "the relay turned ECT(0) of `prague` into ECT(1)" in out
    run = dumbbell.Run.load(tmp_path / "run")
    assert run.emulation is not None
    assert run.emulation["ect1_groups"] == [0]
    prague, cubic = run.summary["flows"]
    assert prague["marked_pkts"] > 20
    assert (prague["dropped_pkts"], cubic["marked_pkts"]) == (0, 0)
    assert prague["rtt_mean_us"] < 23_000 < cubic["rtt_mean_us"]
    states = run.tables["state-0-prague"].to_pandas()
    assert set(states["mode"]) == {"prague"}  # Reno without AccECN
    assert 0 < states["alpha"].max() < 0.6


@pytest.mark.parametrize("queue", ["codel:ecn=on", "fq_codel:perfect_hash=on"])
def test_queue_disciplines_run_as_in_the_simulator(queue, nothing_left):
    """CoDel drops what cannot be marked, at dequeue, and marks the rest."""
    groups = [Group("linux/cubic", ecn=True), Group("linux/reno")]
    asked = Scenario(groups, queue=queue, rate="20mbit", rtt="20ms", time="4s")
    ran = dumbbell.run(asked, engine="kernel")
    simulated = dumbbell.run(asked.replace(groups=[Group("cubic", ecn=True), "reno"]))
    links = [run.summary["bottleneck"] for run in (ran, simulated)]
    for link in links:
        assert link["queue"] == queue.partition(":")[0]
        assert link["marked_pkts"] > 0
    with_ecn, without = ran.summary["flows"]
    assert (with_ecn["dropped_pkts"], without["marked_pkts"]) == (0, 0)
    assert with_ecn["marked_pkts"] > 0
    assert without["dropped_pkts"] > 0
    checks = {reason.check for reason in ran.verdict.reasons}
    assert not checks & {"conservation", "ecn", "queue_delay"}


def test_cake_tells_hosts_and_codepoints_apart(nothing_left):
    """Groups have addresses of their own, and their DSCP is in their packets: CAKE reads both."""
    groups = [
        Group("linux/cubic", dscp="af41"),
        Group("linux/cubic", 4),
        Group("linux/reno", dscp="ef"),
    ]
    asked = Scenario(groups, queue="cake:rate=90%", rate="20mbit", rtt="20ms", time="5s")
    ran = dumbbell.run(asked, engine="kernel")
    link = ran.summary["bottleneck"]
    assert link["queue"] == "cake"
    counted = link["statistics"]
    # Voice has a tin of its own; AF41 is best effort among three tins.
    sent_pkts = [
        sum(f["sent_pkts"] for f in ran.summary["flows"] if f["group"] == g) for g in range(3)
    ]
    assert counted["tin2_pkts"] == pytest.approx(sent_pkts[2], rel=0.05)
    assert counted["tin0_pkts"] == pytest.approx(sent_pkts[0] + sent_pkts[1], rel=0.05)
    assert counted["tin1_pkts"] == 0
    assert link["dropped_pkts"] > 0
    checks = {reason.check for reason in ran.verdict.reasons}
    assert not checks & {"conservation", "order", "queue_delay"}


def test_tables_have_the_simulators_columns(tmp_path):
    asked = scenario("linux/cubic", "linux/reno")
    kernel = dumbbell.run(asked, engine="kernel")
    simulator = dumbbell.run(asked.replace(groups=["cubic", "reno"]))
    for name in ("flows", "queue", "queue_by_group"):
        assert kernel.tables[name].column_names == simulator.tables[name].column_names
        assert kernel.tables[name].num_rows > 100
    by_group = kernel.queue_by_group["backlog_bytes"].to_numpy().reshape(-1, 2)
    assert (by_group.sum(axis=1) == kernel.queue["backlog_bytes"].to_numpy()).all()
    assert (by_group.mean(axis=0) > 0).all()
    loaded = dumbbell.Run.load(kernel.save(tmp_path / "run"))
    assert loaded.to_json() == kernel.to_json()


def test_applications_run_on_sockets_of_their_own(nothing_left):
    def asked(prefix: str) -> Scenario:
        groups = [
            Group(f"{prefix}cubic", traffic="poisson:load=20%,size=20kB"),
            Group(f"{prefix}reno", flows=2, traffic="rpc:request=100B,response=10kB,think=50ms"),
            Group(f"{prefix}cubic", traffic="datagram:preset=voip"),
        ]
        return Scenario(groups, rate="20mbit", rtt="20ms", time="4s")

    ran = dumbbell.run(asked("linux/"), engine="kernel")
    simulated = dumbbell.run(asked(""))
    for name in ("flows", "queue", "transfers"):
        assert ran.tables[name].column_names == simulated.tables[name].column_names
    rows = ran.tables["transfers"].to_pandas()
    assert set(rows["group"]) == {0, 1}
    took_us = (rows["end_us"] - rows["start_us"]).dropna()
    # A request on a connection takes a round trip, a flow of more than the initial window three.
    assert took_us[rows["group"] == 1].min() >= 20_000
    assert took_us[rows["group"] == 0].min() >= 60_000
    for flow, same in zip(ran.summary["flows"], simulated.summary["flows"], strict=True):
        assert flow["sent_pkts"] == (
            flow["dropped_pkts"] + flow["arrived_pkts"] + flow["on_path_pkts"]
        )
        assert set(flow.get("application", {})) == set(same.get("application", {}))
        assert ("requests" in flow) == ("requests" in same)
    # The same flows begin in both: sizes and times are drawn from the same seed. 24 begin in a
    # second; on the kernel those of the last second are missing if the machine stands still then.
    offered = [run.summary["flows"][0]["application"] for run in (ran, simulated)]
    assert offered[0]["offered_bytes"] == pytest.approx(
        offered[1]["offered_bytes"], abs=24 * 20_000
    )
    voice = ran.summary["flows"][3]["application"]
    assert voice["one_way_delay_p50_us"] >= 10_000
    assert voice["sent_datagrams"] <= 200
    checks = {reason.check for reason in ran.verdict.reasons if reason.status == "INVALID"}
    assert "conservation" not in checks
    assert "host_drops" not in checks


@pytest.mark.parametrize("ecn", ["not_ect", "ect0", "ect1"])
def test_datagrams_have_the_codepoint_of_their_traffic(ecn, nothing_left):
    """A DSCP next to it stays as it is: the classic queue and that of L4S do not look at it."""
    traffic = f"datagram:rate=19mbit,size=1400B,ecn={ecn}"
    flood = Group("linux/cubic", traffic=traffic, dscp="cs1")
    asked = Scenario(["linux/cubic", flood], rate="20mbit", rtt="20ms", queue="dualpi2", time="4s")
    ran = dumbbell.run(asked, engine="kernel")
    flow = ran.summary["flows"][1]
    link = ran.summary["bottleneck"]
    assert flow["sent_pkts"] > 2_000
    assert (link["statistics"]["in_l_pkts"] >= flow["arrived_pkts"]) == (ecn == "ect1")
    assert (flow["marked_pkts"] > 0) == (ecn != "not_ect")
    checks = {reason.check for reason in ran.verdict.reasons}
    assert not checks & {"conservation", "order"}


@pytest.mark.kernel(bpf=True, state=True)
def test_our_own(nothing_left):
    asked = scenario("copa:mode_window_rtts=5", "bbr")
    run = dumbbell.run(asked, engine="kernel")
    simulated = dumbbell.run(asked)
    assert [flow["cc"] for flow in run.summary["flows"]] == ["copa", "bbr"]
    for group in (0, 1):
        assert run.groups[group]["params"] == simulated.groups[group]["params"]
        assert run.state(group).column_names == simulated.state(group).column_names
        assert run.state(group).num_rows > 100
    modes = set(run.state(0).to_pandas()["mode"])
    assert modes <= {"default", "competitive", "loss"}


@needs_bpf
def test_where_the_kernel_lets_no_state_be_read_ours_runs_without_series_of_it(nothing_left):
    run = dumbbell.run(scenario("copa"), engine="kernel")
    assert run.summary["flows"][0]["received_bytes"] > 100_000
    if next(fact for fact in facts() if fact.name == "BPF iterators").status == "ok":
        assert run.state(0).num_rows > 100
    else:
        with pytest.raises(KeyError, match="dumbbell doctor"):
            run.state(0)


def test_a_window_that_binds_is_found():
    groups = [Group("linux/cubic", rwnd="32KiB")]
    asked = Scenario(groups, rate="20mbit", rtt="20ms", time="2s")
    run = dumbbell.run(asked, engine="kernel")
    assert "rwnd" in [reason.check for reason in run.verdict.reasons]


def test_a_stolen_core_is_found():
    spin = "while True: pass"
    thieves = [subprocess.Popen([sys.executable, "-c", spin]) for _ in range(os.cpu_count() or 1)]
    try:
        run = dumbbell.run(scenario("linux/cubic"), engine="kernel")
    finally:
        for thief in thieves:
            thief.kill()
            thief.wait()
    assert "cpu" in [note.check for note in run.verdict.notes]


def test_what_this_kernel_does_not_have_is_one_line(cli):
    outcome = cli("run", "linux/not_here", "--engine", "kernel", "--time", "1s")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("\n") == 1
    assert "not_here" in outcome.err


@needs_bpf
def test_what_does_not_compile_is_an_error(tmp_path, nothing_left):
    broken = tmp_path / "broken.bpf.c"
    broken.write_text("this is no C;\n")
    with pytest.raises(EngineError, match="does not compile"):
        dumbbell.run(scenario(str(broken)), engine="kernel")


def wait_for_flows(process: subprocess.Popen[str]) -> None:
    """Wait until a run samples its flows, in a thread with that name."""
    names: set[str] = set()
    while "sampler" not in names:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
        names = set()
        for comm in Path(f"/proc/{process.pid}/task").glob("*/comm"):
            with suppress(OSError):
                names.add(comm.read_text().strip())


def test_ctrl_c_stops_a_run_and_leaves_nothing(nothing_left):
    process = dumbbell_process("run", "linux/cubic", "--engine", "kernel", "--time", "100s")
    wait_for_flows(process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)  # of the 100 s
    assert (process.returncode, out, err) == (130, "", "error: interrupted\n")


@pytest.mark.parametrize("cc", ["linux/cubic", pytest.param("copa", marks=needs_bpf)])
def test_kill_leaves_nothing(cc, nothing_left):
    process = dumbbell_process("run", cc, "--engine", "kernel", "--time", "100s")
    wait_for_flows(process)
    process.kill()
    process.communicate()


def test_two_at_a_time_do_not_meet(nothing_left):
    arguments = ("run", "linux/cubic", "--engine", "kernel", "--time", "3s", "--json")
    processes = [dumbbell_process(*arguments) for _ in range(2)]
    for process in processes:
        out, err = process.communicate(timeout=60)
        assert err == ""
        (flow,) = json.loads(out)["flows"]
        assert flow["received_bytes"] > 100_000


def test_the_user_nobody_runs_the_kernel_s_own_and_gets_an_error_for_ours():
    command = ("-m", "dumbbell", "run", "--engine", "kernel", "--time", "1s")
    result = as_nobody(*command, "linux/cubic", "--json")
    assert result.returncode in (0, 1), result.stderr  # 1: INVALID, on a busy machine
    assert json.loads(result.stdout)["engine"] == "kernel"
    result = as_nobody(*command, "copa")
    assert (result.returncode, result.stdout) == (2, "")
    assert "needs root's privileges" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "path",
    [{"trace": "cellular:rate=10mbit,length=10s"}, {"impair": "wifi:stations=1", "rate": "20mbit"}],
    ids=["trace", "wifi"],
)
def test_the_relay_carries_packets_by_media(path):
    """No faster than the medium is, which is slower than the link."""
    run = dumbbell.run(Scenario(["linux/cubic"], rtt="40ms", time="8s", **path), engine="kernel")
    (flow,) = run.summary["flows"]
    assert 0 < flow["goodput_bps"] < 14e6
    assert flow["rtt_min_us"] >= 40_000
    assert not any(reason.check == "rate" for reason in run.verdict.reasons)


@needs_bpf
def test_accurate_ecn_where_the_kernel_has_it_only_for_those_that_need_it(tmp_path):
    """Linux 6.18 refuses ``tcp_ecn = 3``; ours are registered as needing it: its SYN has AE."""
    asked = scenario(Group("cubic", ecn="accecn"), queue="codel:ecn=on")
    ran = dumbbell.run(asked, engine="kernel", capture=tmp_path / "run.pcapng")
    flow = ran.summary["flows"][0]
    assert (flow["dropped_pkts"], flow["marked_pkts"] > 0) == (0, True)
    rows = dumbbell.analyze(tmp_path / "run.pcapng").connections.to_pandas()
    # Pure ACKs are ECN-capable with Accurate ECN only (RFC 3168 §6.1.4).
    assert (rows["ecn_ect_pkts"] > 0).all()
