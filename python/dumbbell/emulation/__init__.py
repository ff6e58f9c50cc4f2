"""Any program over an emulated path: two hosts, and the network between them.

`path.py` is the path, on `_core.Emulation`; `control_socket.py` serves `emulate enter` and `set`.
"""

from dumbbell.emulation.path import EmulatedPath, emulate
from dumbbell.emulation.process import Process

__all__ = ["EmulatedPath", "Process", "emulate"]
