"""Congestion controls in Python: Linux's hooks, in a class or in a file."""

# ruff: noqa: ARG002 -- hooks have the kernel's arguments

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

import dumbbell
from dumbbell import CongestionControl, Parameter, Scenario, Series
from dumbbell.congestion_control.isolation import foreign_process

FILE = """
import dumbbell


class Mine(dumbbell.CongestionControl):
    '''Half of Reno.'''

    parameters = (dumbbell.Parameter("divisor", "", "of cwnd on loss", 1, 10, 2),)
    series = (dumbbell.Series("phase", "", "what it does", ("start", "avoid")),)

    def init(self, sk):
        self.phase = 0

    def ssthresh(self, sk):
        return max(sk.snd_cwnd // self.divisor, 2)

    def cong_avoid(self, sk, ack, acked):
        if sk.in_slow_start:
            acked = dumbbell.tcp_slow_start(sk, acked)
        self.phase = int(not sk.in_slow_start)
        dumbbell.tcp_cong_avoid_ai(sk, sk.snd_cwnd, acked)
"""


class Reno(CongestionControl):
    """Reno, by the kernel's functions."""

    name = "python_reno"

    def cong_avoid(self, sk, ack, acked):
        if not sk.is_cwnd_limited and not (
            sk.in_slow_start and sk.snd_cwnd < 2 * sk.max_packets_out
        ):
            return
        if sk.in_slow_start:
            acked = dumbbell.tcp_slow_start(sk, acked)
            if not acked:
                return
        dumbbell.tcp_cong_avoid_ai(sk, sk.snd_cwnd, acked)


class Rated(CongestionControl):
    """Paces at 10 Mbit/s, whatever happens."""

    series = (Series("rtt_us", "us", "of the last ACK"),)

    def init(self, sk):
        self.rtt_us = 0
        sk.sk_pacing_status = 1
        sk.sk_pacing_rate = 10_000_000 // 8
        sk.snd_cwnd = 1000

    def cong_control(self, sk, ack, flag, rs):
        self.rtt_us = rs.rtt_us
        sk.snd_cwnd = 1000


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    return path


def test_reno_in_python_is_reno() -> None:
    ours = dumbbell.run(Scenario(["reno"], time="20s", buffer="0.5bdp"))
    theirs = dumbbell.run(Scenario([Reno], time="20s", buffer="0.5bdp"))
    assert theirs.flows.equals(ours.flows)
    assert theirs.groups[0]["cc"] == "python_reno"
    assert theirs.verdict.status == "OK"


def test_pacing_and_rate_samples() -> None:
    run = dumbbell.run(Scenario([Rated], time="5s"))
    assert run.groups[0]["goodput_bps"] == pytest.approx(10e6, rel=0.05)
    last = run.state(0).to_pandas()["rtt_us"].iloc[-1]
    assert 40_000 <= last < 42_000


def test_a_file_has_parameters_and_states(mine: Path) -> None:
    described = dumbbell.describe(str(mine))
    assert (described.name, described.title) == ("mine", "Half of Reno")
    run = dumbbell.run(Scenario([f"{mine}:divisor=4", "cubic"], time="5s"))
    assert run.groups[0]["params"] == {"divisor": 4}
    phases = run.state(0).to_pandas()["phase"]
    assert set(phases) == {"start", "avoid"}


def test_the_same_scenario_gives_the_same_run(mine: Path) -> None:
    first, second = (dumbbell.run(Scenario([str(mine)], time="5s")) for _ in range(2))
    assert first.flows.equals(second.flows)
    assert first.groups[0]["build"] == second.groups[0]["build"]
    mine.write_text(FILE + "\n# changed\n")
    third = dumbbell.run(Scenario([str(mine)], time="5s"))
    assert third.groups[0]["build"] != first.groups[0]["build"]


def test_what_a_hook_raises_ends_the_run_with_file_and_line(mine: Path) -> None:
    mine.write_text(FILE.replace("self.phase = int(", "self.phase = 1 // (acked - acked) + int("))
    with pytest.raises(dumbbell.CongestionControlError) as caught:
        dumbbell.run(Scenario([str(mine)], time="5s"))
    message = str(caught.value)
    line = 1 + FILE[: FILE.index("self.phase = int(")].count("\n")
    assert "raised ZeroDivisionError: integer division or modulo by zero at" in message
    assert f"{mine}:{line} (`self.phase = 1 // " in message
    assert "in `cong_avoid` (flow 0, at " in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("sk.snd_cwnd = 0; return", "left cwnd for a second at 0"),
        ("sk.snd_cwnd = 1 << 32", "raised OverflowError"),
        ("sk.mss_cache = 1", "'mss_cache' of 'dumbbell._core.Socket' objects is not writable"),
        ("while True: pass", "has not returned from `cong_avoid` (flow 0"),
    ],
)
def test_what_the_kernel_would_not_have(
    mine: Path, line: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign_process, "FUNCTION_LIMIT_S", 0.5)
    mine.write_text(FILE.replace("self.phase = int(not sk.in_slow_start)", line))
    with pytest.raises(dumbbell.CongestionControlError, match=r"(?s).*") as caught:
        dumbbell.run(Scenario([str(mine)], time="5s"))
    assert problem in str(caught.value)


def test_what_cannot_be_loaded_says_why(mine: Path) -> None:
    mine.write_text(FILE + "\n    def")
    with pytest.raises(dumbbell.EngineError, match="is not valid Python: invalid syntax"):
        dumbbell.run(Scenario([str(mine)], time="1s"))
    mine.write_text(FILE.replace("cong_avoid(", "cong_avoided("))
    with pytest.raises(dumbbell.EngineError, match="neither `cong_avoid` nor `cong_control`"):
        dumbbell.run(Scenario([str(mine)], time="1s"))
    mine.write_text(
        FILE
        + textwrap.dedent("""
        class Second(Mine):
            pass
    """)
    )
    with pytest.raises(dumbbell.EngineError, match="several algorithms"):
        dumbbell.run(Scenario([str(mine)], time="1s"))
    assert dumbbell.run(Scenario([f"{mine}#Second"], time="1s")).groups[0]["cc"] == "second"


def test_parameters_of_a_class_are_checked() -> None:
    class Tunable(Reno):
        name = "tunable"
        parameters = (Parameter("beta_pct", "%", "what is left on loss", 10, 90, 50),)
        beta_pct: int

        def ssthresh(self, sk):
            return max(sk.snd_cwnd * self.beta_pct // 100, 2)

    run = dumbbell.run(Scenario(["python/Tunable:beta_pct=80"], time="2s"))
    assert run.groups[0]["params"] == {"beta_pct": 80}
    with pytest.raises(dumbbell.ScenarioError, match="beta_pct` of `python/Tunable` is 5; use 10"):
        Scenario(["python/Tunable:beta_pct=5"])
    with pytest.raises(dumbbell.ScenarioError, match=r"no class `Tuneable`.*did you mean"):
        Scenario(["python/Tuneable"])
    assert Tunable is not Reno


def test_it_does_not_run_on_the_kernel() -> None:
    with pytest.raises(dumbbell.ScenarioError, match="written in Python"):
        dumbbell.run(Scenario([Reno], time="1s"), engine="kernel")


def test_a_class_and_a_file_of_c_do_not_mix(mine: Path) -> None:
    with pytest.raises(dumbbell.ScenarioError, match="put the class in a file"):
        dumbbell.run(Scenario([Reno, str(mine)], time="1s"))


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ("divisr=4", "has no parameter `divisr`; did you mean `divisor`?"),
        ("divisor=11", "parameter `divisor` of `{mine}` is 11; use 1 to 10"),
    ],
)
def test_parameters_of_a_file_are_checked(mine: Path, params: str, problem: str) -> None:
    with pytest.raises(dumbbell.EngineError) as caught:
        dumbbell.run(Scenario([f"{mine}:{params}"], time="1s"))
    assert problem.format(mine=mine) in str(caught.value)


def test_what_the_sandbox_forbids_is_named_at_the_line_of_the_file(mine: Path) -> None:
    line = 1 + FILE[: FILE.index("self.phase = int(")].count("\n")
    mine.write_text(FILE.replace("self.phase = int(", "__import__('socket').socket(); int("))
    with pytest.raises(dumbbell.CongestionControlError) as caught:
        dumbbell.run(Scenario([str(mine)], time="5s"))
    assert "(the sandbox forbids it; `dumbbell help security`) at " in str(caught.value)
    assert f"{mine}:{line} (`__import__('socket').socket(); int(" in str(caught.value)


def test_a_file_is_listed_with_its_parameters(mine: Path, cli) -> None:
    outcome = cli("cc", "list", str(mine))
    assert outcome.code == 0
    assert "divisor" in outcome.out
    assert "of cwnd on loss" in outcome.out
