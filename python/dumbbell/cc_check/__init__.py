"""`dumbbell cc check`: whether a file is a CCA that can be trusted with a run.

| file | purpose |
|---|---|
| `check` | the steps, one after the other, and the verdict |
| `diagnostic` | a step's finding, or why it was left out |
| `storm` | sends a file through storms and compares the results |
| `storm_builder` | builds crates/cc/src/check/storm/storm.c with a file |
| `storm_output` | reads the output of the storm and its sanitizers |
"""

from dumbbell.cc_check.check import Check, check
from dumbbell.cc_check.diagnostic import Diagnostic, LeftOut

__all__ = ["Check", "Diagnostic", "LeftOut", "check"]
