"""A path in real time that any program can use, and what it did."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from dumbbell import _core
from dumbbell.base.errors import DumbbellError, EngineError, ResultError
from dumbbell.emulation.changes import changes_of
from dumbbell.emulation.process import PIPE, Args, Process
from dumbbell.emulation.recorded_path import RecordedPath
from dumbbell.emulation.scenario import emulated_scenario
from dumbbell.emulation.way_out import WayOut, path_around
from dumbbell.run import Run
from dumbbell.run.capture import Capture, as_capture
from dumbbell.run.engine import KERNEL, check_engine
from dumbbell.run.execution import prepared
from dumbbell.scenario import Group, Scenario
from dumbbell.scenario.program import PortsOf

__all__ = ["EmulatedPath", "Host", "emulate"]

#: How long a server may take until it listens, s.
READY_TIMEOUT_S = 30.0


class Host:
    """One end of an emulated path.

    Attributes
    ----------
    name
        ``client`` or ``server``: under it the other end finds this one.
    addresses
        IPv4 and IPv6.
    """

    def __init__(self, emulation: _core.Emulation, name: str, addresses: Sequence[str]) -> None:
        self._emulation = emulation
        self.name = name
        self.addresses = tuple(addresses)

    def __repr__(self) -> str:
        return f"<Host {self.name}, {', '.join(self.addresses)}>"

    def popen(self, args: Args, **settings: Any) -> Process:
        """Start a program here.

        Parameters
        ----------
        args
            The words of the command, or only its name; no shell.
        settings
            ``stdin``, ``stdout``, ``stderr``, ``text``, ``env``, ``cwd`` as of `subprocess.Popen`;
            ``new_session``: Ctrl-C at the terminal is not for it.

        Raises
        ------
        EngineError
            There is no such command.
        """
        return Process(self._emulation, self.name, args, **settings)

    def run(
        self,
        args: Args,
        *,
        input: Any = None,  # noqa: A002 -- as subprocess.run
        capture_output: bool = False,
        timeout: float | None = None,
        check: bool = False,
        **settings: Any,
    ) -> subprocess.CompletedProcess[Any]:
        """Run a program here to its end, as `subprocess.run` does.

        Raises
        ------
        EngineError
            There is no such command.
        subprocess.CalledProcessError
            With `check`: its exit code is not 0.
        subprocess.TimeoutExpired
            It runs longer than `timeout` s; it is ended.
        """
        if capture_output:
            settings |= {"stdout": PIPE, "stderr": PIPE}
        if input is not None:
            settings["stdin"] = PIPE
        process = self.popen(args, **settings)
        try:
            out, err = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            process.wait()
            raise
        code = process.wait()
        if check and code:
            raise subprocess.CalledProcessError(code, process.args, out, err)
        return subprocess.CompletedProcess(process.args, code, out, err)

    def wait_for(self, *ports: str, timeout: float = READY_TIMEOUT_S) -> None:
        """Wait until something listens at ports of this host, like ``tcp:80``.

        Raises
        ------
        ScenarioError
            Not a port.
        EngineError
            Nothing does within `timeout` s.
        """
        wanted = [str(port) for port in PortsOf().parse(ports, "port")]
        try:
            self._emulation.wait_ready(0, wanted, timeout)
        except _core.EngineError as error:
            raise EngineError(str(error)) from None


class EmulatedPath(RecordedPath):
    """An emulated path; a context manager, in which its hosts run programs.

    Parameters
    ----------
    scenario
        As `emulated_scenario` builds it.
    capture
        Where packets are captured, if they are.
    keeps_packets
        Keep what `packets` needs.
    keeps_awake
        Keep idle CPUs from sleeping.
    way_out
        Where what the client sends to others than the server goes.

    Attributes
    ----------
    client, server
        The hosts.
    """

    client: Host
    server: Host

    def __init__(
        self,
        scenario: Scenario,
        capture: Capture | None = None,
        *,
        keeps_packets: bool = False,
        keeps_awake: bool = False,
        way_out: WayOut | None = None,
    ) -> None:
        check_engine(KERNEL, scenario)
        super().__init__(scenario, capture, keeps_packets=keeps_packets)
        self._keeps_awake = keeps_awake
        self._way_out = way_out
        self._open = ExitStack()
        self._awake: _core.KeptAwake | None = None
        self._emulation: _core.Emulation | None = None

    def __enter__(self) -> Self:
        self._prepared = prepared(self.scenario)
        try:
            if self._keeps_awake:
                self._awake = _core.KeptAwake()
            asked = (self._prepared.scenario.to_json(), None, self._capture)
            if self._way_out is None:
                self._emulation = _core.Emulation(*asked)
            else:
                self._emulation = _core.Emulation(*asked, self._way_out.to_json())
        except _core.EngineError as error:
            self._let_sleep()
            raise EngineError(str(error)) from None
        addresses = json.loads(self._emulation.addresses(0))
        self.client, self.server = (
            Host(self._emulation, name, addresses[name]) for name in ("client", "server")
        )
        if self._way_out is not None:
            try:
                gateway = self._emulation.network(0, "server")
                opened = self._way_out.opened(gateway, self.client.addresses)
                self._open.enter_context(opened)
            except BaseException as error:
                self.__exit__(type(error), error, None)
                raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, _: object
    ) -> None:
        try:
            self._open.close()
            self.stop()
            if self._scratch is not None and kind is None:
                self.packets()  # read before the file is removed
        except DumbbellError as error:
            # What failed first is what is reported.
            if raised is None:
                raise
            raised.add_note(f"the emulated path could not be ended in order: {error}")
        finally:
            self._let_sleep()
            self._remove_scratch()

    def _let_sleep(self) -> None:
        if self._awake is not None:
            self._awake.end()
            self._awake = None

    def stop(self) -> Run:
        """End all programs and the path; return the run."""
        if self._result is None:
            emulation = self._running()
            try:
                ran_ns = int(1e9 * json.loads(emulation.snapshot())["time_s"])
                self._began_ns = time.time_ns() - ran_ns
                output = emulation.stop()
            except _core.EngineError as error:
                raise EngineError(str(error)) from None
            self._record(self._prepared, output)
        return self.result

    def set(self, **fields: Any) -> None:
        """Change the path now: ``rate``, ``loss``, ``delay``, with ``up_`` too, and ``rtt``.

        Raises
        ------
        ScenarioError
            There is no such field, or it cannot change.
        """
        for change in changes_of(fields):
            try:
                self._running().change(json.dumps(change))
            except _core.EngineError as error:
                raise EngineError(str(error)) from None

    def stats(self) -> Mapping[str, Any]:
        """Return what the path does now: by link and flow, since it began."""
        stats: Mapping[str, Any] = json.loads(self._running().snapshot())
        return stats

    def _running(self) -> _core.Emulation:
        if self._emulation is None or self._result is not None:
            raise ResultError("the emulated path is not there; use it within `with`")
        return self._emulation


def emulate(
    *,
    cc: str | None = None,
    mtu: str | int | None = None,
    competitors: Iterable[str | Group] = (),
    competitors_up: Iterable[str | Group] = (),
    capture: Capture | str | Path | None = None,
    keep_packets: bool = False,
    keep_awake: bool = False,
    internet: bool = False,
    **fields: Any,
) -> EmulatedPath:
    """Emulate a path between two hosts for any programs.

    Parameters
    ----------
    cc
        Congestion control of the hosts' sockets; by default the kernel's.
    mtu
        Of the hosts' devices: bytes, or with another unit.
    competitors
        Flows of ours from the server's side to the client's: ``cubic``, ``bbr:2``.
    competitors_up
        The same from the client's side to the server's.
    capture
        A pcapng file to write, or a `Capture`.
    keep_packets
        Keep what `EmulatedPath.packets` needs.
    keep_awake
        Keep idle CPUs from sleeping, so that packets on an idle path are 0.1 ms less late; takes
        all time that nothing else wants.
    internet
        Let the client reach what this machine reaches over IPv4.
    fields
        Of the path: ``rate="12mbit"``, ``rtt``, ``buffer``, ``queue``, ``loss``…; with ``up_``
        those of the way from client to server, whose rate, buffer and queue are otherwise the same.

    Returns
    -------
    EmulatedPath
        For a `with` statement; needs root, or a user namespace.

    Raises
    ------
    ScenarioError
        A field is unknown or invalid.
    """
    scenario = emulated_scenario(
        fields, client=["python"], cc=cc, mtu=mtu,
        competitors=competitors, competitors_up=competitors_up,
    )  # fmt: skip
    return EmulatedPath(
        scenario, as_capture(capture), keeps_packets=keep_packets, keeps_awake=keep_awake,
        way_out=WayOut(path_around()) if internet else None,
    )  # fmt: skip
