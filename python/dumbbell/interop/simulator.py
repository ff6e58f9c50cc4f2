"""The running simulator: the path between two interfaces, and what the runner waits for."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from dumbbell import _core
from dumbbell.base.errors import EngineError, os_reason
from dumbbell.interop.plan import Plan
from dumbbell.run import Run
from dumbbell.run.execution import prepared, run_of_output

__all__ = ["CAPTURES", "READY_PORT", "Simulator"]

#: Endpoints wait until something listens here, TCP.
READY_PORT = 57832
#: Connections that no program accepts: the kernel does.
BACKLOG = 128
#: What is captured at the client's interface and at the server's; pcapng in spite of the names.
CAPTURES = ("trace_node_left.pcap", "trace_node_right.pcap")
#: What hosts need that interfaces do not.
NEEDS_OF_HOSTS = ("network namespace", "/dev/net/tun", "/proc/sys")
#: How often it is looked whether it has started, s.
LOOK_EVERY_S = 0.001
#: How often cross traffic is reported, s.
CROSS_TRAFFIC_EVERY_S = 5.0


class Simulator:
    """A path between the machines behind two interfaces; a context manager.

    Parameters
    ----------
    plan
        What it does.
    client, server
        The interfaces.
    logs
        The directory for captures; `None`: none.
    seed
        Of all that is random.
    """

    def __init__(self, plan: Plan, client: str, server: str, logs: Path | None, seed: int) -> None:
        self.plan = plan
        self._between: dict[str, Any] = {"client": client, "server": server, "rebind": plan.rebind}
        if logs is not None:
            self._between["captures"] = [str(logs / name) for name in CAPTURES]
        self._prepared = prepared(plan.scenario(seed))
        self._blackholes = list(plan.blackholes)
        self._cross_traffic = (0.0, 0)
        self._emulation: _core.Emulation | None = None
        self._listener: socket.socket | None = None

    def __enter__(self) -> Self:
        scenario = self._prepared.scenario.to_json()
        # First, so that a port in use is found before anything runs; it listens when all does.
        self._listener = bound(READY_PORT)
        try:
            self._emulation = _core.Emulation.between(scenario, json.dumps(self._between))
            # Threads are started with a little time before the start, so that none misses it.
            while self.time_s == 0.0:
                time.sleep(LOOK_EVERY_S)
            self._listener.listen(BACKLOG)
        except _core.EngineError as error:
            self._listener.close()
            raise EngineError(with_fix(str(error))) from None
        return self

    def __exit__(self, *_: object) -> None:
        if self._listener is not None:
            self._listener.close()
        self._emulation = None

    @property
    def time_s(self) -> float:
        """Time since the start."""
        return float(json.loads(self._running().snapshot())["time_s"])

    def events(self) -> Iterator[str]:
        """Return what has happened since this was last asked, a line each."""
        snapshot = json.loads(self._running().snapshot())
        time_s = snapshot["time_s"]
        while self._blackholes and self._blackholes[0][0] <= time_s:
            at_s, what = self._blackholes.pop(0)
            yield f"{at_s:.3f}s {what}"
        for each in json.loads(self._running().rebound())["rebound"]:
            at_s = each["at_ns"] / 1e9
            yield f"{at_s:.3f}s rebound {each['client']}: {each['before']} -> {each['after']}"
        before_s, before_bytes = self._cross_traffic
        if len(snapshot["flows"]) > 1 and time_s >= before_s + CROSS_TRAFFIC_EVERY_S:
            arrived_bytes = sum(flow["arrived_bytes"] for flow in snapshot["flows"][1:])
            rate_mbps = (arrived_bytes - before_bytes) * 8e-6 / (time_s - before_s)
            self._cross_traffic = (time_s, arrived_bytes)
            yield f"{time_s:.3f}s cross traffic {rate_mbps:.2f} Mbit/s"

    def stop(self) -> Run:
        """End it; return the run."""
        emulation = self._running()
        try:
            output = emulation.stop()
        except _core.EngineError as error:
            raise EngineError(str(error)) from None
        return run_of_output(self._prepared, output, None)

    def _running(self) -> _core.Emulation:
        if self._emulation is None:
            raise EngineError("the simulator does not run; use it within `with`")
        return self._emulation


def with_fix(message: str) -> str:
    """Return an error; where it is about cross traffic's hosts, with what a container needs."""
    if any(need in message for need in NEEDS_OF_HOSTS):
        return (
            "cross traffic has hosts of its own; as root, in a container with `--cap-add SYS_ADMIN "
            f"--device /dev/net/tun --security-opt systempaths=unconfined`: {message}"
        )
    return message


def bound(port: int) -> socket.socket:
    """Return a socket at a port of every address, IPv6 where there is some."""
    try:
        if socket.has_dualstack_ipv6():
            found = socket.socket(socket.AF_INET6)
            found.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        else:
            found = socket.socket(socket.AF_INET)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(("", port))
    except OSError as error:
        raise EngineError(
            f"TCP port {port}, on which endpoints wait for the simulator: {os_reason(error)}; end "
            "what listens there"
        ) from None
    return found
