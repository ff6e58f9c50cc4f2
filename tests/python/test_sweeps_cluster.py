"""Sweeps on a real Dask cluster of worker processes on this machine."""

import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dumbbell import MissingPackageError, Scenario, Sweep
from dumbbell.runs import Progress
from dumbbell.runs.cluster import check_address
from tests.python.test_sweeps_run import files

distributed = pytest.importorskip("distributed")


@pytest.mark.filterwarnings("default")
def test_a_worker_that_is_killed_takes_nothing_along(tmp_path: Path):
    sweep = Sweep(Scenario(["copa", "cubic"], time="60s"), {"buffer": "1..8bdp"}, reps=6)
    here = sweep.run(cache=False, out=tmp_path / "here")
    finished: list[int] = []
    killed: list[int] = []
    with (
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):  # fmt: skip
        pids = list(client.run(os.getpid).values())

        def follow(progress: Progress) -> None:
            finished.append(progress.finished)
            if progress.finished >= 3 and not killed:
                os.kill(pids[0], signal.SIGKILL)
                killed.append(progress.finished)

        there = sweep.run(
            cache=False, cluster=cluster.scheduler_address, out=tmp_path / "there",
            on_progress=follow,
        )  # fmt: skip
    assert killed[0] < 24
    assert finished == sorted(finished)
    assert finished[-1] == 24  # each came back once
    assert there.rows.equals(here.rows)
    assert files(tmp_path / "there") == files(tmp_path / "here")


def test_a_cluster_that_does_not_answer_is_a_line(cli, monkeypatch):
    monkeypatch.setattr("dumbbell.runs.cluster.CONNECT_TIMEOUT_S", 1)
    outcome = cli("sweep", "copa", "--time", "1s", "--cluster", "tcp://127.0.0.1:9")
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert "cluster `tcp://127.0.0.1:9` cannot be reached" in outcome.err
    outcome = cli("sweep", "copa", "--time", "1s", "--cluster", "nonsense://x:9")
    assert outcome.code == 2
    assert "cannot be reached" in outcome.err


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("host", "tcp://host:8786"), ("tcp://10.0.0.1", "tcp://10.0.0.1:8786"),
        ("tls://host:", "tls://host:8786"), ("host:many", "tcp://host:8786"),
        ("tcp://[fe80::1]", "tcp://[fe80::1]:8786"), ("fe80::1", "tcp://[fe80::1]:8786"),
    ],
)  # fmt: skip
def test_an_address_without_a_port_is_a_line(address, said):
    """In a process of its own: what Dask would leave complains at its end."""
    command = [
        sys.executable,
        "-m",
        "dumbbell",
        "sweep",
        "copa",
        "--time",
        "1s",
        "--cluster",
        address,
    ]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    assert outcome.returncode == 2
    assert outcome.stderr == f"error: cluster `{address}` has no port; use `{said}`\n"


@pytest.mark.parametrize(
    "address",
    [
        "host:9",
        "tcp://[::1]:9",
        "tls://host:9/",
        "ws://host",
        "gateway://host/one",
        "inproc://1/2/3",
    ],
)
def test_what_dask_takes_is_given_to_it(address):
    check_address(address)


def test_a_cluster_of_dask_s_is_one():
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        swept = Sweep(Scenario(["reno"], time="1s"), {}).run(cache=False, cluster=cluster)
    assert swept.rows["verdict"].to_pylist() == ["OK"]


def test_without_dask_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'dumbbell\[dask\]'"):
        Sweep(Scenario(["copa"], time="1s"), {}).run(cluster="tcp://127.0.0.1:9")
