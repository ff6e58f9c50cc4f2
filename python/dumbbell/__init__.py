"""dumbbell: put any mix of TCP congestion controls on one bottleneck and see who gets what.

>>> import dumbbell
>>> run = dumbbell.run(dumbbell.Scenario(["copa", "cubic"], buffer="2bdp", time="2s"))
>>> [group["cc"] for group in run.groups]
['copa', 'cubic']
>>> run.flows.to_pandas().columns[:3].to_list()
['time_us', 'flow', 'cwnd_pkts']
"""

from dumbbell import engine_compat  # noqa: F401 -- ahead of all that needs the engine
from dumbbell._core import ENGINE_VERSION, Control
from dumbbell.capture_analysis import Analysis, Match, analyze, match_captures
from dumbbell.compare import compare
from dumbbell.compare.xval import CrossValidation, xval
from dumbbell.congestion_control import (
    CongestionControlChoice,
    Description,
    Parameter,
    Series,
    congestion_controls,
    describe,
)
from dumbbell.congestion_control.linux_tree import LinuxTree, use_linux_tree
from dumbbell.congestion_control.python import CongestionControl, tcp_cong_avoid_ai, tcp_slow_start
from dumbbell.errors import (
    Cancelled,
    CaptureError,
    CongestionControlError,
    DumbbellError,
    EngineError,
    PrivilegeError,
    ResultError,
    ScenarioError,
)
from dumbbell.metrics import measure
from dumbbell.quantities.quantity import Buffer, Rate, Size, Time
from dumbbell.run import Run, run
from dumbbell.run.capture import Capture
from dumbbell.runs import SweepInterrupted, run_all
from dumbbell.scenario import Group, Scenario
from dumbbell.statistics import jain
from dumbbell.sweeps import Sweep, SweepResult
from dumbbell.verdict import Reason, Verdict

__version__ = ENGINE_VERSION

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
    "EngineError",
    "Group",
    "LinuxTree",
    "Match",
    "Parameter",
    "PrivilegeError",
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
    "jain",
    "match_captures",
    "measure",
    "run",
    "run_all",
    "tcp_cong_avoid_ai",
    "tcp_slow_start",
    "use_linux_tree",
    "xval",
]
