"""Sweeps on a real Dask cluster of worker processes on this machine."""

import logging
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dumbbell import EngineError, MissingPackageError, Scenario, Sweep
from dumbbell.runs import Progress
from dumbbell.runs.cluster import Cluster, ClusterRunner, check_address, without_errors_of_dask
from dumbbell.runs.handler import PendingRun, RunHandler
from tests.python.endless import ENDLESS_S, FLOWS, RATE, SAMPLE, running
from tests.python.test_sweeps_run import files

distributed = pytest.importorskip("distributed")


@pytest.mark.filterwarnings("default")
def test_a_worker_that_is_killed_takes_nothing_along(tmp_path: Path):
    sweep = Sweep(Scenario(["copa", "cubic"], time="20s"), {"buffer": "1..8bdp"}, reps=6)
    here = sweep.run(cache=False, out=tmp_path / "here")
    finished: list[int] = []
    killed: list[int] = []
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0",
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
            cache=False, cluster=cluster.scheduler_address, jobs=2, out=tmp_path / "there",
            on_progress=follow,
        )  # fmt: skip
    assert killed[0] in (3, 4)  # of 24; two at a time
    assert finished == sorted(finished)
    assert finished[-1] == 24  # each came back once
    assert there.rows.equals(here.rows)
    assert files(tmp_path / "there") == files(tmp_path / "here")


def test_a_cluster_without_workers_is_told_and_waited_for(cli, monkeypatch):
    monkeypatch.setattr("dumbbell.runs.cluster.ASK_S", 0.1)
    monkeypatch.setattr("dumbbell.runs.cluster.SAY_AFTER_S", 0.3)
    # A clock that each look at it advances: a busy machine would miss the moment of the note.
    clock = SimpleNamespace(monotonic=count(step=0.1).__next__)
    monkeypatch.setattr("dumbbell.runs.cluster.time", clock)
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0") as cluster:
        at = cluster.scheduler_address
        outcome = cli("sweep", "copa", "--cluster", at, "--worker-timeout", "1s")
    none = f"cluster `{at}` has no workers; start one, e.g. `dask worker {at}`; "
    assert outcome.code == 2
    assert outcome.err == (
        f"note: {none}waiting up to 1s\n"
        f"error: {none}waited 1s for one (`--worker-timeout`); finished runs are kept: run the "
        "command again\n"
    )


def test_what_is_done_is_kept_when_a_cluster_loses_its_workers(monkeypatch, tmp_path):
    monkeypatch.setattr("dumbbell.runs.cluster.ASK_S", 0.1)
    sweep = Sweep(Scenario(["copa"], time="1s"), {"buffer": "1..8bdp"}, reps=20)
    seen: list[Progress] = []
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:

        def follow(progress: Progress) -> None:
            seen.append(progress)
            if progress.finished >= 2:
                cluster.scale(0)
                while cluster.scheduler.workers:
                    time.sleep(0.01)

        with pytest.raises(EngineError, match=r"has no workers|lost with its worker"):
            sweep.run(
                cache=False, cluster=cluster, worker_timeout="1s", jobs=1, out=tmp_path,
                on_progress=follow,
            )  # fmt: skip
    finished = seen[-1].finished
    assert finished == 2
    assert len(list((tmp_path / "runs").iterdir())) == finished
    resumed = Sweep.resume(tmp_path).run(cache=False, out=tmp_path, on_progress=seen.append)
    assert seen[-1].cached == finished
    assert len(resumed.runs) == 80


@pytest.mark.parametrize(
    ("said", "kind"),
    [("cannot unpack non-iterable Record object", EngineError), ("another mistake", TypeError)],
)
def test_a_worker_that_dies_while_its_result_is_read_is_a_line(said, kind):
    """Dask's executor fails then: its future has a result, and no longer the state of one."""
    cluster = cast("Cluster", SimpleNamespace(executor=None))
    runner = ClusterRunner(cast("RunHandler[int, Any]", None), cluster, None)
    future: Future[Any] = Future()
    future.set_exception(TypeError(said))
    with pytest.raises(kind):
        runner.result(cast("PendingRun[int]", None), future)


@pytest.mark.parametrize("restarts", [False, True])
def test_a_scheduler_that_ends_is_a_line(restarts, tmp_path):
    """In processes of their own: Dask would print its tracebacks first."""
    with scheduler() as (process, address), worker(address):
        command = ["sweep", "copa", "--rate", RATE, "--flows", f"{FLOWS}", "--sample", SAMPLE]
        command += ["--time", f"1s,{ENDLESS_S}", "--no-cache", "--out", str(tmp_path)]
        with running(*command, "--cluster", address) as sweep:
            # Not what is being written, which is in a hidden directory.
            while not list(tmp_path.glob("runs/[!.]*/run.json")) and sweep.poll() is None:
                time.sleep(0.05)
            process.kill()
            process.wait()
            with scheduler(address) if restarts else nullcontext():
                said = sweep.communicate()[1]
    assert sweep.returncode == 2
    assert [line for line in said.splitlines() if not line.startswith("note: about")] == [
        "error: a run was lost with its worker: it was cancelled, as by a cluster whose scheduler "
        "ended; finished runs are kept: run the command again"
    ]


@contextmanager
def scheduler(address: str = "tcp://127.0.0.1:0") -> Iterator[Any]:
    program = "distributed.cli.dask_scheduler"
    with dask(program, "--host", address, "--no-dashboard") as process:
        for line in process.stderr:
            if found := re.search(r"tcp://127.0.0.1:\d+", line):
                yield process, found[0]
                return


def worker(address: str) -> AbstractContextManager[Any]:
    return dask("distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard")


@contextmanager
def dask(*arguments: str) -> Iterator[Any]:
    command = [sys.executable, "-m", *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # and what a worker's nanny started
        process.communicate()


def test_a_cluster_that_does_not_answer_is_a_line(cli, monkeypatch):
    monkeypatch.setattr("dumbbell.runs.cluster.CONNECT_TIMEOUT_S", 1)
    outcome = cli("sweep", "copa", "--time", "1s", "--cluster", "tcp://127.0.0.1:9")
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert "cluster `tcp://127.0.0.1:9` cannot be reached" in outcome.err
    outcome = cli("sweep", "copa", "--time", "1s", "--cluster", "nonsense://x:9")
    assert outcome.code == 2
    assert "cannot be reached" in outcome.err


def test_an_address_without_a_port_is_a_line():
    """All in a process of their own: what Dask would leave complains at its end."""
    said = {
        "host": "tcp://host:8786", "tcp://10.0.0.1": "tcp://10.0.0.1:8786",
        "tls://host:": "tls://host:8786", "host:many": "tcp://host:8786",
        "tcp://[fe80::1]": "tcp://[fe80::1]:8786", "fe80::1": "tcp://[fe80::1]:8786",
    }  # fmt: skip
    code = (
        "import sys; from dumbbell.cli import invoke\n"
        "words = ['sweep', 'copa', '--time', '1s', '--cluster']\n"
        "print([invoke([*words, address]) for address in sys.argv[1:]])"
    )
    command = [sys.executable, "-c", code, *said]
    outcome = subprocess.run(command, capture_output=True, text=True, check=True)
    assert outcome.stdout == f"{[2] * len(said)}\n"
    assert outcome.stderr == "".join(
        f"error: cluster `{address}` has no port; use `{right}`\n"
        for address, right in said.items()
    )


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
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        swept = Sweep(Scenario(["reno"], time="1s"), {}).run(cache=False, cluster=cluster)
    assert swept.rows["verdict"].to_pylist() == ["OK"]


def test_without_dask_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'dumbbell\[dask\]'"):
        Sweep(Scenario(["copa"], time="1s"), {}).run(cluster="tcp://127.0.0.1:9")


def test_tracebacks_of_dask_are_not_shown(caplog):
    with without_errors_of_dask(), caplog.at_level(logging.INFO):
        batched = logging.getLogger("distributed.batched")
        batched.info("Batched Comm Closed", exc_info=OSError("closed"))
        batched.info("connected")
        logging.getLogger("distributed.core").error("cannot go on")
    assert caplog.messages == ["connected"]
