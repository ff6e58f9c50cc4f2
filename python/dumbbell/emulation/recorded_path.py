"""What is left of a path that programs used: its run, and what happened to its packets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from dumbbell import _core
from dumbbell.base.errors import ResultError
from dumbbell.base.quantities.quantity import Time
from dumbbell.capture_analysis.packet_log import PacketLog, packet_log
from dumbbell.run import Run
from dumbbell.run.capture import Capture
from dumbbell.run.execution import Prepared, run_of_output
from dumbbell.run.programs import TIME_IS_MEASURED
from dumbbell.scenario import Scenario

__all__ = ["RecordedPath"]

#: The file in which packets are kept for `RecordedPath.packets`.
KEPT_PACKETS = "packets.pcapng"


class RecordedPath:
    """A path between two hosts, and what it did.

    Parameters
    ----------
    scenario
        As `emulated_scenario` builds it.
    capture
        Where packets are captured, if they are.
    keeps_packets
        Keep what `packets` needs.
    """

    def __init__(
        self, scenario: Scenario, capture: Capture | None = None, *, keeps_packets: bool = False
    ) -> None:
        self.scenario = scenario
        self._scratch: TemporaryDirectory[str] | None = None
        if keeps_packets and capture is None:
            self._scratch = TemporaryDirectory(prefix="dumbbell-")
            capture = Capture(Path(self._scratch.name, KEPT_PACKETS), points=["link"])
        self._packets: PacketLog | None = None
        self._capture = capture
        self._result: Run | None = None
        self._began_ns = 0

    @property
    def capture_path(self) -> Path:
        """Where its packets are captured.

        Raises
        ------
        ResultError
            They are not.
        """
        if self._capture is None:
            raise ResultError("packets are not captured; use `emulate(…, capture=FILE)`")
        return self._capture.path

    @property
    def result(self) -> Run:
        """The run: flows, links, time series, and a verdict on whether to believe it.

        Raises
        ------
        ResultError
            The path is still there.
        """
        if self._result is None:
            raise ResultError("an emulated path has a result when it has ended")
        return self._result

    def stop(self) -> Run:
        """End the path if it is still there; return the run."""
        return self.result

    def packets(self) -> PacketLog:
        """End the path if it is still there; return what happened to every packet at every link.

        Raises
        ------
        ResultError
            They were not kept.
        """
        if self._packets is None:
            if self._capture is None or "link" not in self._capture.points:
                raise ResultError("packets were not kept; use `emulate(…, keep_packets=True)`")
            self.stop()
            self._packets = packet_log(self._capture.path)
        return self._packets

    def save_mahimahi_log(self, place: str | Path, link: str) -> Path:
        """End the path if it is still there; write what happened at a link as mahimahi does.

        Parameters
        ----------
        place
            The file, which `mm-throughput-graph` reads.
        link
            ``bottleneck``, which leads to the client, or ``up``.

        Raises
        ------
        ResultError
            Packets were not kept, or the file cannot be written.
        """
        from dumbbell.emulation.mahimahi_log import write_mahimahi_log

        packets = self.packets()
        write_mahimahi_log(Path(place), self.result, packets, link, self._began_ns)
        return Path(place)

    def _record(self, prepared: Prepared, output: _core.Output) -> Run:
        """Keep what the engine has measured."""
        # What is kept for `packets` alone goes with the path.
        was_asked_for = self._capture is not None and self._scratch is None
        path = self._capture.path if self._capture and was_asked_for else None
        result = run_of_output(prepared, output, path)
        # It had no time of its own, only the longest that is measured; flows start within it.
        starts = (int(group.start) + int(group.jitter) for group in result.scenario.groups)
        took = max(result.summary["duration_ns"], max(starts) + 1)
        result.scenario = replace(result.scenario, time=Time(took))
        result.summary = {**result.summary, TIME_IS_MEASURED: True}
        self._result = result
        return result

    def _remove_scratch(self) -> None:
        if self._scratch is not None:
            self._scratch.cleanup()
