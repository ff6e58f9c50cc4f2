"""Our queue disciplines against those of Linux in virtual time: `queue = "kernel:fq_codel"`."""

from __future__ import annotations

import math
import shutil
import statistics
import subprocess
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell import Scenario
from dumbbell.base.errors import EngineError, ScenarioError
from dumbbell.kernels import BuiltKernel, find
from dumbbell.run.guest import check_for_guest
from dumbbell.scenario.element import QueueChoice
from tests.python.guests import built, is_built, kernel_with

#: Two flows that fill a queue and lose packets: some 8,000 packets.
SHORT: dict[str, Any] = {"rate": "20mbit", "rtt": "20ms", "time": "5s", "sample": "100ms"}

#: Disciplines that draw no random numbers but those of a hash, and send whatever they may.
EXACT = [
    "bfifo:limit=60000B",
    "pfifo:limit=100pkt",
    "codel",
    "codel:target=10ms,interval=50ms",
    "fq_codel",
    "cake",
]
#: Those in which a timer of the kernel, or its arithmetic, decides about nanoseconds: a guest's
#: timers fire 1 ns late, tc(8) has buckets in ticks of 64 ns, and fq lets its timer be 10 µs late.
#: Without `maxrate` fq lets packets pass an empty queue, which ours does not.
CLOSE = [
    "tbf:rate=15mbit,burst=15kB,limit=60kB",
    "fq:maxrate=8mbit",
    "sfq:limit=200pkt",
    "fq_codel:target=10ms,quantum=300B",
    "cake:rate=15mbit,ack_filter=normal",
    "cake:rate=10mbit,tins=diffserv4,isolation=dual_srchost",
]
#: Those that draw random numbers, of which the kernel has others.
RANDOM = ["pie", "fq_pie", "red:limit=100kB"]
SEEDS = 6
#: The driver's configuration has it since December 2026.
WITH_DRR = kernel_with(option="NET_SCH_DRR=y")
DUALPI2_SEEDS = range(1, 13)


# ---- Without a kernel ----


def test_a_kernel_s_discipline_is_named_like_ours():
    choice = QueueChoice.parse("kernel:fq_codel:target=10ms")
    assert str(choice) == "kernel:fq_codel:target=10ms"
    assert choice != QueueChoice.parse("fq_codel:target=10ms")
    assert choice.declaration is QueueChoice.parse("fq_codel").declaration
    scenario = Scenario(["cubic"], queue=choice)
    assert scenario.to_toml().count('queue = "kernel:fq_codel:target=10ms"') == 1


@pytest.mark.parametrize("queue", ["kernel:nope", "kernel:kernel:fq", "kernel:", "kernel"])
def test_what_is_no_discipline_is_refused(queue):
    with pytest.raises(ScenarioError, match=r"queue"):
        QueueChoice.parse(queue)


@pytest.mark.parametrize("engine", ["simulator"])
def test_an_engine_without_guests_says_which_has_it(engine):
    expected = "`kernel:fq_codel` of `bottleneck` is of a guest's kernel; use `fq_codel`, or"
    with pytest.raises((EngineError, ScenarioError), match=expected):
        dumbbell.run(["cubic"], queue="kernel:fq_codel", time="1s", engine=engine)


def test_a_discipline_that_the_kernel_lacks_is_refused_before_it_boots():
    kernel = BuiltKernel(Path(), "6.12", release="6.12.117", missing=("NET_SCH_DUALPI2",))
    with pytest.raises(EngineError, match=r"Linux 6\.12\.117, has no `dualpi2`"):
        check_for_guest(kernel, [Scenario(["cubic"], queue="kernel:dualpi2")])


# ---- In a guest ----


#: What a link's summary says of its queue itself.
OF_QUEUE = ("queue", "statistics", "limit_bytes", "limit_pkts")


def outcome(queue: str, seed: int = 1, *, ecn: bool = False, engine: str = "uml") -> dict[str, Any]:
    """Run two flows through a queue in a guest; what does not say which it was."""
    groups = [dumbbell.Group(f"linux/{name}", ecn=ecn) for name in ("cubic", "reno")]
    run = dumbbell.run(groups, engine=engine, queue=queue, seed=seed, **SHORT)
    links = [
        {key: each[key] for key in each if key not in OF_QUEUE} for each in run.summary["links"]
    ]
    return {"flows": run.summary["flows"], "links": links}


@built
@pytest.mark.parametrize("queue", EXACT)
def test_the_same_packets_are_dropped_and_sent_at_the_same_times(queue):
    """To the nanosecond: another drop would change everything behind it."""
    ours = outcome(queue)
    assert ours["links"][0]["forwarded_pkts"] > 3000
    assert ours["links"][0]["dropped_pkts"] > 0
    assert outcome(f"kernel:{queue}") == ours


@built
@pytest.mark.parametrize("queue", ["codel:ecn=on", "fq_codel", "cake"])
def test_the_same_packets_are_marked(queue):
    ours = outcome(queue, ecn=True)
    assert ours["links"][0]["marked_pkts"] > 0
    assert outcome(f"kernel:{queue}", ecn=True) == ours


@pytest.mark.skipif(
    WITH_DRR is None, reason="no kernel is built with DRR; `dumbbell kernel build` builds one"
)
@pytest.mark.parametrize("settings", ["", ",classes=16,perfect_hash=off", ",quantum=300B"])
def test_drr_with_a_class_of_each_flow_drops_and_sends_the_same(settings):
    assert WITH_DRR is not None
    engine = f"uml:{WITH_DRR.name}"
    ours, theirs = (
        outcome(f"{name}:limit=50pkt{settings}", engine=engine) for name in ("drr", "kernel:drr")
    )
    assert ours["links"][0]["dropped_pkts"] > 0
    # A kernel does not say why it drops.
    assert theirs["links"][0].pop("aqm_dropped_pkts") == ours["links"][0]["dropped_pkts"]
    assert theirs == ours


@built
@pytest.mark.parametrize("queue", CLOSE)
def test_nearly_the_same_packets_pass_where_nanoseconds_differ(queue):
    ours, theirs = outcome(queue)["links"][0], outcome(f"kernel:{queue}")["links"][0]
    assert theirs["dropped_pkts"] > 0
    for measured in ("forwarded_pkts", "dropped_pkts", "queue_delay_mean_us"):
        assert theirs[measured] == pytest.approx(ours[measured], rel=0.01), measured


@built
@pytest.mark.parametrize("queue", RANDOM)
def test_as_many_packets_are_dropped_where_chance_decides(queue):
    """Means of delay and drops differ by no more than five standard errors of the difference."""
    for measured in ("queue_delay_mean_us", "dropped_pkts"):
        means, errors = [], []
        for name in (queue, f"kernel:{queue}"):
            runs = [outcome(name, seed)["links"][0][measured] for seed in range(1, SEEDS + 1)]
            means.append(statistics.mean(runs))
            errors.append(statistics.stdev(runs) / math.sqrt(SEEDS))
        assert abs(means[0] - means[1]) < 5 * math.hypot(*errors), measured


def has_dualpi2() -> bool:
    """Whether the kernel and `tc` have DualPI2: Linux from 6.17, iproute2 from 6.17."""
    tc = shutil.which("tc", path="/usr/sbin:/sbin")  # as guests look for it
    if tc is None or not is_built() or "NET_SCH_DUALPI2" in find(None).missing:
        return False
    words = [tc, "qdisc", "add", "dev", "lo", "root", "dualpi2", "help"]
    return "coupling_factor" in subprocess.run(words, capture_output=True, text=True).stderr


@pytest.mark.skipif(not has_dualpi2(), reason="the kernel that is built, or `tc`, has no DualPI2")
@pytest.mark.parametrize("ecn", [False, True])
@pytest.mark.parametrize("settings", ["", ":any_ect=on", ":target=5ms,alpha=80,beta=1600"])
def test_dualpi2_delays_drops_and_marks_as_linux_s(settings, ecn):
    """Means differ by no more than five standard errors of the difference."""
    for measured in ("queue_delay_mean_us", "dropped_pkts", "marked_pkts"):
        both = [
            [
                outcome(name + settings, seed, ecn=ecn)["links"][0][measured]
                for seed in DUALPI2_SEEDS
            ]
            for name in ("dualpi2", "kernel:dualpi2")
        ]
        errors = [statistics.stdev(runs) / math.sqrt(len(DUALPI2_SEEDS)) for runs in both]
        apart = abs(statistics.mean(both[0]) - statistics.mean(both[1]))
        assert apart <= 5 * math.hypot(*errors), measured


@built
def test_each_link_has_a_discipline_of_its_own():
    links = [
        dumbbell.Link("first", rate="20mbit", queue="kernel:fq_codel"),
        dumbbell.Link("second", rate="15mbit", queue="kernel:sfq"),
    ]
    words = {key: SHORT[key] for key in ("rtt", "time")}
    group = dumbbell.Group("linux/cubic", route=["first", "second"])
    run = dumbbell.run([group], links=links, engine="uml", **words)
    assert [link["forwarded_pkts"] > 3000 for link in run.summary["links"]] == [True, True]


@built
@pytest.mark.parametrize(
    ("queue", "expected"),
    [
        ("kernel:drr:classes=65536", "at most 65535 `classes`; use `drr`, which is ours"),
        ("kernel:dummynet", "Linux has no discipline `dummynet`"),
        ("kernel:fq_codel:perfect_hash=on", "Linux's hash is not perfect"),
    ],
)
def test_what_linux_does_not_make_is_refused(queue, expected):
    with pytest.raises(EngineError, match=expected):
        dumbbell.run(["linux/cubic"], engine="uml", queue=queue, time="1s")
