"""The engines; compiled from crates/py."""

from pathlib import Path
from typing import Final, Protocol, final, type_check_only

__all__ = [
    "ENGINE_VERSION",
    "Cancelled",
    "CaptureError",
    "CongestionControlFault",
    "Control",
    "EngineError",
    "Output",
    "analyze",
    "congestion_controls",
    "describe",
    "machine",
    "match_captures",
    "precompile",
    "report_crashes",
    "run",
    "running_call",
]

class EngineError(ValueError):
    """The engine refuses the scenario; the message is for the user."""

class CongestionControlFault(EngineError):
    """A congestion control did what no TCP can go on with; the message is for the user."""

class Cancelled(Exception):
    """The run was cancelled through its `Control`."""

class CaptureError(ValueError):
    """A capture cannot be read, or has not what was asked of it; the message is for the user."""

@final
class Control:
    """The handle on a run under way: how far it is, and the way to stop it."""

    def __new__(cls) -> Control: ...
    def cancel(self) -> None:
        """Ask the run to stop; it raises `Cancelled` within milliseconds."""

    def is_cancelled(self) -> bool:
        """Whether it was asked to stop."""

    def progress(self) -> float:
        """Share of the run that has passed, 0 to 1."""

    def set_progress(self, share: float) -> None:
        """Say what share has passed: of a run that is in another process."""

@type_check_only
class ArrowRecordBatch:
    """Anything with the Arrow PyCapsule interface; `pyarrow.table()` takes it as it is."""

    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...

@final
class Output:
    """What a run left: its summary and its tables."""

    def summary(self) -> str:
        """The summary, as JSON."""

    def table_names(self) -> list[str]:
        """Names of the tables, in the order they were recorded."""

    def table(self, name: str) -> ArrowRecordBatch:
        """A table, shared with Python without a copy."""

@type_check_only
class CaptureConfig(Protocol):
    """What to capture, and where to."""

    @property
    def path(self) -> Path: ...
    @property
    def snap_bytes(self) -> int | None: ...
    @property
    def senders(self) -> bool: ...
    @property
    def receivers(self) -> bool: ...
    @property
    def bottleneck(self) -> bool: ...

def run(
    scenario_json: str,
    control: Control | None = None,
    engine: str = "simulator",
    capture: CaptureConfig | None = None,
) -> Output:
    """Run a scenario on an engine, `simulator` or `kernel`; other Python threads run meanwhile."""

def analyze(path: str, options_json: str) -> tuple[str, dict[str, list[ArrowRecordBatch]]]:
    """Analyse a capture, `-` for standard input: its reading as JSON, tables as batches."""

def match_captures(
    before: str, after: str, options_json: str
) -> tuple[str, dict[str, list[ArrowRecordBatch]]]:
    """Match two captures of the same traffic: their reading as JSON, tables as batches."""

def machine() -> str:
    """What this machine can do for the kernel engine, as JSON: a list of facts."""

def congestion_controls() -> str:
    """Every built-in congestion control with its parameters and state series, as JSON."""

def describe(name_or_path: str) -> str:
    """One congestion control, by name or by its source file, as JSON."""

def precompile(name_or_path: str) -> None:
    """Compile a congestion control's source for the simulator; nothing of it is run."""

def report_crashes(descriptor: int) -> None:
    """Report crashes of this process to a descriptor, in a line; the run must be in this thread."""

def running_call() -> tuple[int, str, int, bool, int] | None:
    """Return the latest call into a congestion control in a process that reports crashes.

    Group, op, flow, whether it is under way, simulated ns.
    """

ENGINE_VERSION: Final[str]
