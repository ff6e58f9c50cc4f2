"""Runs on a Dask cluster."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

from dumbbell.base.errors import EngineError
from dumbbell.base.optional import optional
from dumbbell.base.quantities.quantity import Time
from dumbbell.runs.executor import RemoteRunner, lost_run
from dumbbell.runs.handler import PendingRun, RunHandler
from dumbbell.runs.record import Record

__all__ = ["WORKER_TIMEOUT", "Cluster", "ClusterRunner", "connected"]

K = TypeVar("K")
R = TypeVar("R")

#: Of a scheduler, by default.
DEFAULT_PORT = 8786
#: How long a scheduler may take to answer.
CONNECT_TIMEOUT_S = 10
#: How long a cluster may have no workers, by default.
WORKER_TIMEOUT = "600s"
#: Dask's complaint where a worker dies between a result and the question of how it ended.
UNEXPECTED_RESULT = f"cannot unpack non-iterable {Record.__name__}"
#: What prints tracebacks of Dask's before an error of ours.
LOGGERS = (
    "asyncio", "distributed.batched", "distributed.client", "distributed.core",
    "tornado.application",
)  # fmt: skip
#: How often a cluster that finishes nothing is asked for its workers, and after how long without
#: any that is said, s.
ASK_S, SAY_AFTER_S = 2, 4


class Cluster:
    """A cluster that runs are submitted to.

    Parameters
    ----------
    client
        Dask's connection to its scheduler.
    name
        What messages call it.
    worker_timeout
        How long it may have no workers.
    """

    def __init__(self, client: Any, name: str, worker_timeout: Time) -> None:
        self.client, self.name, self.worker_timeout = client, name, worker_timeout
        # Equal jobs are run separately.
        self.executor: Executor = client.get_executor(pure=False)
        self.asked_s = self.had_workers_s = time.monotonic()

    def waits_for(self) -> str:
        """Return what its runs wait for; nothing while it has workers.

        Raises
        ------
        EngineError
            It has had no workers for too long.
        """
        now_s = time.monotonic()
        # A client that lost its scheduler cancels the runs, and would wait for it here.
        if now_s - self.asked_s >= ASK_S and self.client.status == "running":
            self.asked_s = now_s
            if self.client.nthreads():
                self.had_workers_s = now_s
        without_s = now_s - self.had_workers_s
        none = f"cluster `{self.name}` has no workers; start one, e.g. `dask worker {self.name}`"
        if without_s > self.worker_timeout.seconds:
            raise EngineError(
                f"{none}; waited {self.worker_timeout} for one (`--worker-timeout`); finished runs "
                "are kept: run the command again"
            )
        return f"{none}; waiting up to {self.worker_timeout}" if without_s >= SAY_AFTER_S else ""


class ClusterRunner(RemoteRunner[K, R]):
    """The workers of a cluster.

    Parameters
    ----------
    handler, window
        As `RemoteRunner` has them.
    cluster
        The cluster.
    """

    def __init__(self, handler: RunHandler[K, R], cluster: Cluster, window: int | None) -> None:
        from distributed.comm.core import CommClosedError
        from distributed.scheduler import KilledWorker

        super().__init__(handler, cluster.executor, window, (KilledWorker, CommClosedError))
        self.cluster = cluster

    def waits_for(self) -> str:
        """Return what all runs wait for; nothing if they go on."""
        return self.cluster.waits_for()

    def result(self, case: PendingRun[K], future: Future[Any]) -> R:
        """Return the result of a finished run, or raise its error."""
        try:
            return super().result(case, future)
        except TypeError as error:
            # Of Dask's executor, which finds a result where it looks for an error.
            if UNEXPECTED_RESULT not in str(error):
                raise
            raise lost_run(EngineError("it died while its result was read")) from None


@contextmanager
def connected(cluster: Any, worker_timeout: str = WORKER_TIMEOUT) -> Iterator[Cluster]:
    """Connect to a cluster.

    Parameters
    ----------
    cluster
        Address of its scheduler (``tcp://10.0.0.1:8786``), a cluster of Dask's own like
        `distributed.LocalCluster`, or a `distributed.Client`, which stays open.
    worker_timeout
        How long it may have no workers.

    Yields
    ------
    Cluster
        Its executor submits runs to its workers. Dask gives the run of a worker that dies to
        another one; after three workers it gives up and names the run.

    Raises
    ------
    EngineError
        Nothing answers at that address.
    MissingPackageError
        Dask is not installed.
    """
    limit = Time.parse(worker_timeout, "worker timeout", minimum=1)
    connect = optional("distributed", extra="dask", purpose="a Dask cluster").Client
    if isinstance(cluster, connect):
        yield Cluster(cluster, cluster.scheduler.address, limit)
        return
    if isinstance(cluster, str):
        check_address(cluster)
    with without_errors_of_dask():
        try:
            client: Any = connect(cluster, timeout=CONNECT_TIMEOUT_S, set_as_default=False)
        except (OSError, TimeoutError, TypeError, ValueError) as error:
            raise EngineError(
                f"cluster `{cluster}` cannot be reached: {reason(error)}; is its scheduler running?"
            ) from None
        with client:
            yield Cluster(client, client.scheduler.address, limit)


@contextmanager
def without_errors_of_dask() -> Iterator[None]:
    """Keep tracebacks of Dask's from stderr: what fails is an error of ours."""
    loggers = [logging.getLogger(name) for name in LOGGERS]

    def is_no_error(record: logging.LogRecord) -> bool:
        return record.levelno < logging.ERROR and not record.exc_info

    for logger in loggers:
        logger.addFilter(is_no_error)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(is_no_error)


def check_address(address: str) -> None:
    """Refuse an address without a port: Dask would leave threads that complain at the end.

    Other protocols (``ws://``, ``gateway://…``) have their own rules.
    """
    scheme, _, host = address.rpartition("://")
    if scheme not in ("", "tcp", "tls"):
        return
    if host.count(":") > 1 and "[" not in host:
        host = f"[{host}]"  # IPv6
    try:
        parts = urlsplit(f"//{host}")
        if parts.port is not None:
            return
    except ValueError:  # the port is not a number, or the brackets are not a pair
        parts = urlsplit(f"//{host.partition(':')[0].strip('[]')}")
    name = parts.hostname or "10.0.0.1"
    name = f"[{name}]" if ":" in name else name
    said = f"{scheme or 'tcp'}://{name}:{DEFAULT_PORT}"
    raise EngineError(f"cluster `{address}` has no port; use `{said}`")


def reason(error: Exception) -> str:
    """Return the reason of an error, in one line."""
    return (str(error).strip() or type(error).__name__).partition("\n")[0].rstrip(".")
