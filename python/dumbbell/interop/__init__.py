"""The network simulator of the QUIC interop runner: its scenarios, and its contract.

`plan.py` turns the runner's `SCENARIO` into a path; `simulator.py` runs it on
`_core.Emulation.between`.
"""

from dumbbell.interop.plan import SCENARIOS, Plan, read_plan
from dumbbell.interop.simulator import Simulator

__all__ = ["SCENARIOS", "Plan", "Simulator", "read_plan"]
