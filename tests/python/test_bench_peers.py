"""`make bench-peers`: how it reads both programs' output and ns-3's wheel; measures nothing."""

from pathlib import Path

import pytest

from benches.peers import compare

PEERS = Path(__file__).parents[2] / "benches/peers"


def test_reads_a_measurement():
    run = compare.Measurement.parse("80000 2000000000 20480 46400000\n")
    assert run.packets_per_s == 40_000
    assert (run.cpu_s, run.peak_mb, run.goodput_mbps) == (2.0, 20.0, 46.4)


@pytest.mark.parametrize("line", ["", "1 2 3", "1 2 3 x", "0 5 1 0", "5 0 1 0"])
def test_refuses_what_is_not_one(line):
    with pytest.raises(ValueError, match=r"expected four|nothing was simulated"):
        compare.Measurement.parse(line)


def test_a_ratio_is_of_neighbouring_runs():
    fast, slow = (compare.Measurement(100, cpu_s, 5, 46) for cpu_s in (1, 50))
    slower = compare.Measurement(100, 80, 30, 47)
    row = compare.Row(compare.CASES[0], [(fast, slow), (fast, slower), (slow, slower)], [])
    assert row.ratios == pytest.approx([1.6, 50, 80])
    assert row.cells()[3:] == ["50 (2..80)", "–", "5 / 30", "46.0 / 47.0"]
    assert compare.table([row]).count("\n") == 2
    near = compare.Row(compare.RENO_CASES[0], [(fast, fast), (slow, fast)], [])
    assert near.cells()[3] == "0.51 (0.02..1.00)"
    assert "htsim kpkt/CPU-s" in compare.table([near], "htsim").partition("\n")[0]


def test_loading_is_taken_off():
    """Half a second to load, and 1,000 packets a second."""
    long, short = compare.Measurement(9000, 9.5, 5, 46), compare.Measurement(1000, 1.5, 5, 40)
    net = long.less(short)
    assert net.packets_per_s == 1000
    assert net.goodput_mbps == 46
    with pytest.raises(ValueError, match="no longer"):
        short.less(long)


def test_both_programs_get_the_same_scenario():
    case = compare.Case("cubic:1,bbr:1", 50, 0.5, 30)
    assert case.arguments(3) == [
        "--groups=cubic:1,bbr:1", "--rate=50000000", "--rtt=40000000", "--buffer=125000",
        "--time=30", "--seed=3",
    ]  # fmt: skip
    assert case.options(3) == [
        "linux/cubic", "linux/bbr", "--set=0.flows=1", "--set=1.flows=1", "--rate", "50mbit",
        "--rtt", "40ms", "--buffer", "0.5bdp", "--time", "30s", "--seed", "3",
    ]  # fmt: skip
    for program in ("dumbbell.rs", "ns3_dumbbell.cc"):
        text = (PEERS / program).read_text(encoding="utf-8")
        for argument in case.arguments(1):
            assert f'"{argument[2:].split("=")[0]}"' in text


def test_compiles_with_the_definitions_of_ns3_s_core():
    targets = r"""
set_target_properties(ns3::antenna PROPERTIES
  INTERFACE_COMPILE_DEFINITIONS "NS3_OTHER"
)
set_target_properties(ns3::core PROPERTIES
  INTERFACE_COMPILE_DEFINITIONS "SOURCE=\"/b\";NS3_BUILD_PROFILE_RELEASE;HAVE_GSL;NS3_LOG_ENABLE"
)
"""
    assert compare.definitions_in(targets) == ("NS3_BUILD_PROFILE_RELEASE", "NS3_LOG_ENABLE")
    with pytest.raises(ValueError, match="does not say"):
        compare.definitions_in("")


def test_finds_the_program_in_cargo_s_messages():
    messages = """\
{"reason":"compiler-artifact","target":{"name":"dumbbell_sim"},"executable":null}
{"reason":"compiler-artifact","target":{"name":"peers"},"executable":"/t/peers-1"}
{"reason":"build-finished","success":true}
"""
    assert compare.executable_in(messages) == Path("/t/peers-1")
    with pytest.raises(ValueError, match="peers"):
        compare.executable_in('{"reason":"build-finished","success":true}')


def test_says_what_to_do_without_ns3(tmp_path):
    with pytest.raises(FileNotFoundError, match="make bench-peers"):
        compare.Ns3.find(tmp_path)
