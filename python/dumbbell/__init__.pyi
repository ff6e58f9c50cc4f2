"""The names of `dumbbell`, each with the module that it is loaded from when it is first used."""

from ._core import Control
from .base.errors import (
    Cancelled,
    CaptureError,
    CongestionControlError,
    DumbbellError,
    EngineError,
    MissingPackageError,
    PrivilegeError,
    ResultError,
    ScenarioError,
)
from .base.quantities.quantity import Buffer, Rate, Size, Time
from .capture_analysis import Analysis, Match, PacketLog, analyze, match_captures, packet_log
from .compare import compare
from .compare.xval import CrossValidation, xval
from .congestion_control import (
    CongestionControlChoice,
    Description,
    Parameter,
    Series,
    congestion_controls,
    describe,
)
from .congestion_control.linux_tree import LinuxTree, use_linux_tree
from .congestion_control.python import CongestionControl, tcp_cong_avoid_ai, tcp_slow_start
from .emulation import EmulatedPath, Process, emulate
from .fit import FittedPath, Prediction, fit, what_if
from .identify import Identification, Identified, identify
from .metrics import measure
from .run import Run, run
from .run.capture import Capture
from .run.verdict import Reason, Verdict
from .runs import SweepInterrupted, run_all
from .scenario import Group, Link, Scenario
from .statistics import jain
from .sweeps import Sweep, SweepResult

__version__: str

__all__ = [
    "Analysis",
    "Buffer",
    "Cancelled",
    "Capture",
    "CaptureError",
    "CongestionControl",
    "CongestionControlChoice",
    "CongestionControlError",
    "Control",
    "CrossValidation",
    "Description",
    "DumbbellError",
    "EmulatedPath",
    "EngineError",
    "FittedPath",
    "Group",
    "Identification",
    "Identified",
    "Link",
    "LinuxTree",
    "Match",
    "MissingPackageError",
    "PacketLog",
    "Parameter",
    "Prediction",
    "PrivilegeError",
    "Process",
    "Rate",
    "Reason",
    "ResultError",
    "Run",
    "Scenario",
    "ScenarioError",
    "Series",
    "Size",
    "Sweep",
    "SweepInterrupted",
    "SweepResult",
    "Time",
    "Verdict",
    "analyze",
    "compare",
    "congestion_controls",
    "describe",
    "emulate",
    "fit",
    "identify",
    "jain",
    "match_captures",
    "measure",
    "packet_log",
    "run",
    "run_all",
    "tcp_cong_avoid_ai",
    "tcp_slow_start",
    "use_linux_tree",
    "what_if",
    "xval",
]
