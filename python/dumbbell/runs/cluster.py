"""Runs on a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from dumbbell.base.errors import EngineError
from dumbbell.base.optional import optional

__all__ = ["cluster_executor", "lost_errors"]

#: Of a scheduler, by default.
DEFAULT_PORT = 8786
#: How long a scheduler may take to answer.
CONNECT_TIMEOUT_S = 10


@contextmanager
def cluster_executor(cluster: Any) -> Iterator[Executor]:
    """Connect to a cluster.

    Parameters
    ----------
    cluster
        Address of its scheduler (``tcp://10.0.0.1:8786``), a cluster of Dask's own like
        `distributed.LocalCluster`, or a `distributed.Client`, which stays open.

    Yields
    ------
    Executor
        Submits runs to its workers. Dask gives the run of a worker that dies to another one; after
        three workers it gives up and names the run.

    Raises
    ------
    EngineError
        Nothing answers at that address.
    MissingPackageError
        Dask is not installed.
    """
    connect = optional("distributed", extra="dask", purpose="a Dask cluster").Client
    if isinstance(cluster, connect):
        yield executor_of(cluster)
        return
    if isinstance(cluster, str):
        check_address(cluster)
    try:
        client: Any = connect(cluster, timeout=CONNECT_TIMEOUT_S, set_as_default=False)
    except (OSError, TimeoutError, TypeError, ValueError) as error:
        raise EngineError(
            f"cluster `{cluster}` cannot be reached: {reason(error)}; is its scheduler running?"
        ) from None
    with client:
        yield executor_of(client)


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


def lost_errors() -> tuple[type[Exception], ...]:
    """Return the errors by which Dask reports that workers died or the scheduler is gone."""
    from distributed.comm.core import CommClosedError
    from distributed.scheduler import KilledWorker

    return (KilledWorker, CommClosedError)


def executor_of(client: Any) -> Executor:
    """Return a client as an executor; equal jobs are run separately."""
    executor: Executor = client.get_executor(pure=False)
    return executor


def reason(error: Exception) -> str:
    """Return the reason of an error, in one line."""
    return (str(error).strip() or type(error).__name__).partition("\n")[0].rstrip(".")
