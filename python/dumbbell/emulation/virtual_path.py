"""A path in virtual time: programs run on a kernel that is a program itself, to their end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell import _core
from dumbbell.base.errors import Cancelled, EngineError
from dumbbell.emulation.recorded_path import RecordedPath
from dumbbell.run.capture import Capture
from dumbbell.run.engine import check_engine
from dumbbell.run.execution import in_a_thread, prepared
from dumbbell.run.guest import UML, guest_kernel, guest_library
from dumbbell.run.programs import client_of
from dumbbell.scenario import Scenario

__all__ = ["Started", "VirtualPath"]

#: Exit codes of what a signal ended are this and its number, as in a shell.
BY_SIGNAL = 128


@dataclass(frozen=True)
class Started:
    """A program that is started in a host.

    Attributes
    ----------
    words
        The command.
    streams
        Descriptors of its standard input, output and errors.
    """

    words: Sequence[str]
    streams: tuple[int, int, int] = (0, 1, 2)


class VirtualPath(RecordedPath):
    """A path on which programs run in virtual time.

    Parameters
    ----------
    scenario
        As `emulated_scenario` builds it.
    kernel
        Name of the kernel; None for the newest that is built.
    capture
        Where packets are captured, if they are.
    keeps_packets
        Keep what `packets` needs.

    Raises
    ------
    EngineError
        No kernel is built, or it cannot run the scenario.
    """

    def __init__(
        self,
        scenario: Scenario,
        kernel: str | None = None,
        capture: Capture | None = None,
        *,
        keeps_packets: bool = False,
    ) -> None:
        self._engine = UML if kernel is None else f"{UML}:{kernel}"
        check_engine(self._engine, scenario)
        super().__init__(scenario, capture, keeps_packets=keeps_packets)

    def run(
        self,
        client: Started,
        servers: Sequence[Started] = (),
        *,
        ready: Sequence[str] = (),
        ready_timeout_s: float,
        control: _core.Control | None = None,
    ) -> int:
        """Run programs until the client has ended, and return its exit code as a shell would.

        Parameters
        ----------
        client
            The program at the client.
        servers
            Programs at the server, which start before.
        ready
            Ports like ``tcp:80`` at which they must listen before the client starts.
        ready_timeout_s
            How long that may take, in virtual time.
        control
            To send the client a signal, or to end the run, from another thread.

        Raises
        ------
        EngineError
            A program cannot be started, a server does not listen, or time stands still.
        Cancelled
            It was stopped.
        """
        kernel = guest_kernel(self._engine)
        ready_of = [()] * (len(servers) - 1) + [tuple(ready)]
        programs = [
            (0, "server", list(server.words), server.streams, list(ports), ready_timeout_s)
            for server, ports in zip(servers, ready_of, strict=False)
        ]
        programs.append((0, "client", list(client.words), client.streams, [], 0.0))
        ready_scenario = prepared(self.scenario)

        def work(control: _core.Control) -> _core.Output:
            return _core.run_in_guest(
                ready_scenario.scenario.to_json(), kernel.path, guest_library(), control,
                self._capture, programs,
            )  # fmt: skip

        try:
            output = in_a_thread(work, control=control)
        except _core.EngineError as error:
            raise EngineError(str(error)) from None
        except _core.Cancelled:
            raise Cancelled("the run was cancelled") from None
        run = self._record(ready_scenario, output)
        self._began_ns = run.summary["emulation"].get("began_ns", 0)
        return exit_code_of(run.summary)

    def close(self) -> None:
        """Remove what was kept for `packets` alone."""
        self._remove_scratch()


def exit_code_of(summary: Any) -> int:
    """Return the exit code of the client."""
    client = client_of(summary, 0)
    if client is None:
        return 0
    code, signal = client["exit_code"], client["signal"]
    return code if code is not None else BY_SIGNAL + (signal or 0)
