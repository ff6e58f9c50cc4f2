"""Runs of a few simulated seconds that several tests look at, and the command line.

What is called fabricated was never measured: simulated runs in the kernel engine's clothes.
"""

from __future__ import annotations

import gc
import json
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import dumbbell
from dumbbell import _core
from dumbbell.cli import invoke
from dumbbell.cli.machine import abilities, facts
from dumbbell.kernels.built import kernels_place
from dumbbell.metrics import METRICS, metric
from dumbbell.run import engine
from dumbbell.terminal import console
from tests.python.emulated import traces

# A shell starts what it puts in the background with Ctrl-C ignored, and that is inherited: the
# programs that tests start would not hear it either.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # `nohup` has it ignored

# As the command line has it: a worker with thousands of tests spent a twentieth of its time looking
# for garbage.
gc.set_threshold(50_000, 20, 20)

FACTS = facts()
_, KERNEL, BPF, _ = abilities(FACTS)
BY_NAME = {fact.name: fact for fact in FACTS}
#: The kernel loads our algorithms and refuses root (EPERM) what reads their state. Any other fault
#: of the iterators is ours, and fails tests.
IS_REFUSED = (
    "BPF iterators" in BY_NAME
    and BY_NAME["struct_ops"].status == "ok"
    and "Operation not permitted" in BY_NAME["BPF iterators"].value
)

#: What a file with tests of the kernel engine says, by which `run_all.py` finds it.
KERNEL_MARK = "mark.kernel"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip `kernel` where the kernel engine cannot run, and `kernel(bpf=True)` without BPF.

    Where the state of our algorithms cannot be read, `kernel(state=True)`, which looks at it, is
    skipped.
    """
    closest = item.get_closest_marker("kernel")
    if closest is not None and IS_REFUSED and closest.kwargs.get("state"):
        pytest.skip(f"BPF iterators: {BY_NAME['BPF iterators'].value}")
    for mark in item.iter_markers("kernel"):
        for ability in [KERNEL, BPF] if mark.kwargs.get("bpf") else [KERNEL]:
            if not ability.is_there:
                pytest.skip(str(ability))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long: a worker that is done takes tests from another's end."""
    for path in {item.path for item in items if item.get_closest_marker("kernel")}:
        if KERNEL_MARK not in path.read_text(encoding="utf-8"):
            raise pytest.UsageError(f"{path} has tests of the kernel engine: say `{KERNEL_MARK}`")
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_collection_finish() -> None:
    """Keep the collected tests out of what is searched for garbage."""
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Let garbage be looked for in everything, as at any program's end."""
    gc.unfreeze()


@dataclass(frozen=True)
class Outcome:
    """What a command left."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the user's cache out of the tests, and theirs out of it."""
    with pytest.MonkeyPatch.context() as patch:
        cache, built = tmp_path_factory.mktemp("cache"), kernels_place()
        patch.setenv("DUMBBELL_CACHE", str(cache))
        if built.is_dir():
            (cache / "kernels").symlink_to(built)
        yield


@pytest.fixture
def nothing_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Assert that nothing has come to the host for good, and no process of the test's runs on."""
    # pytest puts the test's name into the environment, which what it starts inherits.
    test = f"PYTEST_CURRENT_TEST={request.node.nodeid} ("
    before = traces(test)
    yield
    # The kernel unregisters an algorithm a moment after its process is gone.
    deadline = time.monotonic() + 60
    while traces(test) - before and time.monotonic() < deadline:
        time.sleep(0.1)
    assert traces(test) - before == set()


@pytest.fixture(autouse=True)
def file_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print tables as into a file; pytest-xdist gives its workers a terminal's width."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(autouse=True)
def only_own_metrics() -> Iterator[None]:
    """Forget the metrics that a test registers."""
    before = set(METRICS)
    yield
    for name in set(METRICS) - before:
        del metric._METRICS[name]


@pytest.fixture
def cli(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Outcome]:
    """The command line, in this process; however slow it is, it does not say how long it takes."""
    monkeypatch.setattr(console, "LONG_S", math.inf)

    def call(*arguments: str) -> Outcome:
        code = invoke(arguments)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call


@pytest.fixture(scope="session")
def short_run() -> dumbbell.Run:
    """Copa against two CUBIC flows for two seconds."""
    scenario = dumbbell.Scenario(
        ["copa", dumbbell.Group("cubic", 2, jitter="10ms")], buffer="2bdp", time="2s", name="short"
    )
    return dumbbell.run(scenario)


#: What the kernel engine says of itself after a run with nothing amiss; the numbers are made up.
FABRICATED_EMULATION: dict[str, Any] = {
    "kernel_release": "0.0.0-fabricated", "cpus": 2, "realtime": True,
    "calibrated_link_rate_bps": 50e6,
    "calibration": [{"group": 0, "base_rtt_us": 40_000.0, "measured_rtt_us": 40_031.0}],
    "lateness_p50_us": 12.0, "lateness_p99_us": 80.0, "lateness_max_us": 900.0,
    "written_pkts": 100_000, "late_pkts": 0,
    "sample_jitter_p50_us": 20.0, "sample_jitter_p99_us": 200.0, "sample_jitter_max_us": 2000.0,
    "missed_samples": 0,
    "relay_cpu_share": 0.2, "own_cpu_cores": 0.8, "other_cpu_cores": 0.02,
    "stolen_cpu_cores": 0.0, "idle_cpu_cores": 1.18,
    "host_dropped_pkts": 0, "hosts_sent_pkts": 100_000, "path_entered_pkts": 100_000,
    "captured_pkts": None, "capture_lost_pkts": None, "ect1_groups": [],
}  # fmt: skip
#: What the kernel engine may not know of a flow.
UNKNOWN = (
    "lost_pkts", "duplicate_pkts", "fast_recovery_count", "spurious_recovery_count", "rto_count",
    "spurious_rto_count", "tlp_count", "rto_stall_max_us", "rto_stall_us", "syn_retransmits",
)  # fmt: skip


def fabricate(summary: dict[str, Any]) -> dict[str, Any]:
    """Dress a simulator's summary as the kernel engine's."""
    flows = [{**flow, **dict.fromkeys(UNKNOWN)} for flow in summary["flows"]]
    return {**summary, "engine": "kernel", "flows": flows, "emulation": FABRICATED_EMULATION}


class FabricatedOutput:
    """A simulator's output in the kernel engine's clothes."""

    def __init__(self, output: Any) -> None:
        self.output = output
        self.table_names, self.table = output.table_names, output.table

    def summary(self) -> str:
        return json.dumps(fabricate(json.loads(self.output.summary())))


class FabricatedKernel:
    """A kernel engine that simulates; knows the most runs that it had at a time."""

    def __init__(self) -> None:
        self.run_simulator = _core.run
        self.lock = threading.Lock()
        self.running = self.most = self.runs = 0
        #: Where a run waits for others; without one it takes a moment, in which another may begin.
        self.meeting: threading.Barrier | None = None

    def run(
        self,
        scenario_json: str,
        control: Any = None,
        engine: str = "simulator",
        capture: Any = None,
    ) -> Any:
        if engine == "simulator":
            return self.run_simulator(scenario_json, control, engine, capture)
        scenario = json.loads(scenario_json)
        # Another seed's draws stand for another engine; the kernel's own run as ours.
        scenario["seed"] += 1000
        for group in scenario["groups"]:
            group["cc"]["name"] = group["cc"]["name"].removeprefix("linux/")
        with self.lock:
            self.running, self.runs = self.running + 1, self.runs + 1
            self.most = max(self.most, self.running)
        if self.meeting is None:
            time.sleep(0.01)
        else:
            self.meeting.wait(60)
        output = self.run_simulator(json.dumps(scenario), control, "simulator", capture)
        with self.lock:
            self.running -= 1
        return FabricatedOutput(output)


@pytest.fixture
def fabricated_kernel(monkeypatch: pytest.MonkeyPatch) -> FabricatedKernel:
    """Put a fabricated kernel engine in the place of the real one."""
    kernel = FabricatedKernel()
    monkeypatch.setattr(_core, "run", kernel.run)
    monkeypatch.setattr(engine, "has_capabilities", lambda *_bits: True)
    return kernel


@pytest.fixture
def fabricated_emulation() -> dict[str, Any]:
    """What the kernel engine says of itself after a run with nothing amiss."""
    return dict(FABRICATED_EMULATION)
