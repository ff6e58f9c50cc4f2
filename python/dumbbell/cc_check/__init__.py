"""`dumbbell cc check`: whether a file is a congestion control that can be trusted with a run.

| file | what |
|---|---|
| `check` | the steps, one after the other, and the verdict |
| `finding` | what a step has found, or why it was left out |
| `storm` | sends a file through storms and compares what they do |
| `storm_builder` | builds crates/cc/src/check/storm/storm.c with a file |
| `storm_output` | what the storm and its sanitizers say, in words |
"""

from dumbbell.cc_check.check import Check, check
from dumbbell.cc_check.finding import Finding, LeftOut

__all__ = ["Check", "Finding", "LeftOut", "check"]
