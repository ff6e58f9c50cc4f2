"""Congestion controls written for others: BPF sources as they are, and Rust, on both engines.

Linux's own selftests are tried if `DUMBBELL_LINUX_TREE` says where a tree is.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell import EngineError, Scenario, ScenarioError
from dumbbell.congestion_control import CongestionControlChoice

ROOT = Path(__file__).parents[2]
OURS = ROOT / "crates/cc/tests/cc"
TREE = os.environ.get("DUMBBELL_LINUX_TREE")
SELFTESTS = Path(TREE or ".") / "tools/testing/selftests/bpf/progs"

needs_bpf = pytest.mark.kernel(bpf=True)
needs_tree = pytest.mark.skipif(
    TREE is None, reason="DUMBBELL_LINUX_TREE does not say where Linux's source is"
)
engines = pytest.mark.parametrize("engine", ["simulator", pytest.param("kernel", marks=needs_bpf)])

LINK_BPS = 20_000_000
#: What one of Linux's does alone on the link, as a share of it: one has a window that never grows.
SHARES = {
    "bpf_cubic.c": (0.9, 1.0),
    "bpf_dctcp.c": (0.85, 1.0),
    "tcp_ca_write_sk_pacing.c": (0.1, 0.2),
}


def run(*ccs: str, engine: str = "simulator", **words: Any) -> dumbbell.Run:
    scenario = Scenario(ccs, **{"rate": "20mbit", "rtt": "40ms", "time": "5s", **words})
    return dumbbell.run(scenario, engine=engine)


def goodput_share(group: Mapping[str, Any]) -> float:
    return float(group["goodput_bps"]) / LINK_BPS


@engines
@pytest.mark.parametrize("source", ["selftest_style.bpf.c", "calls_cubic.bpf.c"])
def test_a_source_in_the_style_of_the_selftests_fills_the_link(source, engine):
    alone = run(str(OURS / source), engine=engine)
    assert goodput_share(alone.groups[0]) > 0.8


@engines
def test_two_versions_of_one_source_in_one_run_are_two(tmp_path, engine):
    source = (ROOT / "cc/cubic.bpf.c").read_text()
    for version, beta in (("old", "717"), ("new", "300")):
        directory = tmp_path / version
        directory.mkdir()
        changed = source.replace("PARAM(u32, beta, 717", f"PARAM(u32, beta, {beta}")
        (directory / "mine.bpf.c").write_text(changed)
    names = [f"{tmp_path}/old/mine.bpf.c", f"{tmp_path}/new/mine.bpf.c:bic_scale=50"]
    groups = run(*names, engine=engine).groups
    assert [group["params"]["beta"] for group in groups] == [717, 300]
    assert [group["params"]["bic_scale"] for group in groups] == [41, 50]
    assert groups[0]["build"] != groups[1]["build"]


def test_a_table_of_several_is_named_behind_the_file(tmp_path):
    source = (ROOT / "cc/reno.bpf.c").read_text()
    start = source.index('SEC(".struct_ops")')
    other = source[start:].replace("reno = {", "other = {").replace('"reno"', '"other"')
    path = tmp_path / "two.bpf.c"
    path.write_text(source + other)
    assert dumbbell.describe(f"{path}#other").name == "other"
    assert CongestionControlChoice.parse(f"{path}#other").is_file
    with pytest.raises(EngineError, match=r"several .*\(other, reno\); append `#`"):
        dumbbell.describe(str(path))
    with pytest.raises(ScenarioError, match=r"nowhere\.c(#other)?`: no such file"):
        CongestionControlChoice.parse(f"{tmp_path}/nowhere.c#other")


def refused_by_this_kernel(path: Path) -> str | None:
    """Why a selftest of another version does not load here, if it does not."""
    text = path.read_text()
    if "no-sec-prefix" in text:
        return "is not struct_ops BPF program"  # libbpf took these up to 0.8
    release = tuple(map(int, re.findall(r"\d+", platform.release())[:2]))
    if "cwnd_event_tx_start" in text and release < (7, 2):
        return "cwnd_event_tx_start"
    return None


@needs_tree
@engines
@pytest.mark.parametrize("name", SHARES)
def test_linuxs_selftests_run_as_they_are(name, engine):
    path = SELFTESTS / name
    if not path.exists():
        pytest.skip(f"this tree has no {name}")
    if engine == "kernel" and (reason := refused_by_this_kernel(path)):
        with pytest.raises(EngineError, match=reason):
            run(str(path), engine=engine)
        return
    low, high = SHARES[name]
    # DCTCP needs a queue that marks.
    words = {"ecn_threshold": "20pkt"} if "dctcp" in name else {}
    share = goodput_share(run(str(path), engine=engine, **words).groups[0])
    # What the kernel engine measures depends on how busy this machine is: traffic is enough.
    assert low < share <= high if engine == "simulator" else share > 0.05


@needs_tree
@engines
def test_a_selftest_whose_reduction_passes_through_a_cwnd_of_0_continues(engine):
    path = SELFTESTS / "bpf_cc_cubic.c"
    if not path.exists():
        pytest.skip("this tree has no bpf_cc_cubic.c")
    if engine == "kernel" and (reason := refused_by_this_kernel(path)):
        with pytest.raises(EngineError, match=reason):
            run(str(path), engine=engine)
        return
    assert goodput_share(run(str(path), engine=engine).groups[0]) > 0.05


@needs_tree
@engines
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("bpf_tcp_nogpl.c", "declares the licence `X`"),
        ("bpf_dctcp_release.c", "has no `ssthresh`"),
        ("tcp_ca_incompl_cong_ops.c", "has no `cong_avoid` or `cong_control`"),
        ("tcp_ca_unsupp_cong_op.c", "implement `get_info`"),
        ("tcp_ca_update.c", "append `#` and the name of one"),
    ],
)
def test_what_the_kernel_refuses_is_refused_by_both_engines(name, reason, engine):
    path = SELFTESTS / name
    if not path.exists():
        pytest.skip(f"this tree has no {name}")
    with pytest.raises(EngineError, match=reason):
        run(str(path), engine=engine)
