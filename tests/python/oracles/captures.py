"""The captures that our analysis is checked on: each shows something that the others do not."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import dumbbell
from dumbbell import Group, Run, Scenario
from tests.python.oracles import real_transfer
from tests.python.oracles.pcap import read_pcap, write_pcap
from tests.python.oracles.reorder import delayed
from tests.python.oracles.tshark import to_classic_pcap

__all__ = ["CASES", "KERNEL_CASES", "RUN_CASES", "SIMULATED", "Captured", "build"]

#: Simulated, and why.
SIMULATED = {
    # 1 flow, no loss: the receive window is less than the path holds.
    "no-loss": Scenario(
        [Group("reno", rwnd="60kB", size="1MB")], rate="10mbit", rtt="40ms", buffer="4bdp",
        time="5s",
    ),
    "light-loss": Scenario(["cubic"], rate="20mbit", rtt="40ms", buffer="1bdp", time="10s"),
    "heavy-loss": Scenario(
        [Group("bbr", 2), Group("cubic", 2)], rate="20mbit", rtt="40ms", buffer="0.5bdp", time="8s"
    ),
    "timeouts": Scenario(
        [Group("reno", 12)], rate="2mbit", rtt="40ms", buffer="6pkt", time="15s"
    ),
    "128-flows": Scenario(
        [Group("cubic", 128)], rate="100mbit", rtt="40ms", buffer="0.5bdp", time="3s"
    ),
    # Handshake and close of many flows; the last segments are short of a full one.
    "sized": Scenario(
        [Group("copa", 10, size="150kB", jitter="2s")], rate="10mbit", rtt="20ms", buffer="0.5bdp",
        time="6s",
    ),
}  # fmt: skip


#: On the kernel: its own congestion controls, with and without losses.
KERNEL_CASES = {
    "kernel-light-loss": Scenario(
        ["linux/cubic"], rate="20mbit", rtt="20ms", buffer="1bdp", time="3s"
    ),
    "kernel-heavy-loss": Scenario(
        [Group("linux/cubic", 2), Group("linux/reno", 2)], rate="10mbit", rtt="20ms",
        buffer="0.5bdp", time="3s",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Captured:
    """A capture, and its points apart.

    Attributes
    ----------
    path
        As it was written.
    separate
        Returns classic pcaps of the points to be checked, by name.
    run
        The run that was captured, if it was one of ours.
    """

    path: Path
    separate: Callable[[], dict[str, Path]]
    run: Run | None = None

    @functools.cached_property
    def points(self) -> dict[str, Path]:
        """What `separate` returns; tshark takes half a second for a point."""
        return self.separate()


def of_run(scenario: Scenario, directory: Path, engine: str) -> Captured:
    """Run a scenario with a capture; checked are the senders' points and one receiver's."""
    path = directory / "capture.pcapng"
    run = dumbbell.run(scenario, engine=engine, capture=path)
    names = [f"sender-{group}" for group in range(len(scenario.groups))] + ["receiver-0"]

    def separate() -> dict[str, Path]:
        return {name: to_classic_pcap(path, name, directory / f"{name}.pcap") for name in names}

    return Captured(path, separate, run)


def simulated(name: str) -> Callable[[Path], Captured]:
    return lambda directory: of_run(SIMULATED[name], directory, "simulator")


def on_the_kernel(name: str) -> Callable[[Path], Captured]:
    return lambda directory: of_run(KERNEL_CASES[name], directory, "kernel")


def reordered(directory: Path) -> Captured:
    """The sender's point of the light loss, with every tenth data packet three places late."""
    captured = simulated("light-loss")(directory)
    records = delayed(read_pcap(captured.points["sender-0"]), bytes([10, 0, 0, 1]), 10, 3)
    path = write_pcap(directory / "reordered.pcap", records)
    return Captured(path, lambda: {"reordered": path})


def transferred(directory: Path) -> Captured:
    """A transfer by this machine's TCP, captured by tcpdump."""
    lacking = real_transfer.missing()
    if lacking:
        pytest.skip(f"a real transfer: {lacking}")
    path = real_transfer.transfer(directory / "tcpdump.pcap")
    return Captured(path, lambda: {"tcpdump": path})


BUILDERS: dict[str, Callable[[Path], Captured]] = {
    **{name: simulated(name) for name in SIMULATED},
    "reordered": reordered,
    **{name: on_the_kernel(name) for name in KERNEL_CASES},
    "tcpdump": transferred,
}
MARKS = {name: [pytest.mark.kernel] for name in KERNEL_CASES}

#: For `pytest.mark.parametrize`: all, and those that are of our own runs.
CASES = [pytest.param(name, marks=MARKS.get(name, [])) for name in BUILDERS]
RUN_CASES = [pytest.param(name, marks=MARKS.get(name, [])) for name in (*SIMULATED, *KERNEL_CASES)]


def build(name: str, directory: Path) -> Captured:
    """Make a capture in a directory of its own."""
    directory.mkdir(parents=True, exist_ok=True)
    return BUILDERS[name](directory)
