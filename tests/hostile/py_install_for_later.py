# tries: tries to leave code that later programs run: a .pth file and a compiled module
# stopped by: Landlock
# says: raised ValueError: tried every directory.* in `cong_avoid` \(flow 0, at [\d.]+ s\); fix it there$
import contextlib
import pathlib
import sys

import dumbbell

for directory in sys.path:
    with contextlib.suppress(OSError):
        pathlib.Path(directory, "owned.pth").write_text("import os")
    with contextlib.suppress(OSError):
        pathlib.Path(directory, "__pycache__").mkdir()
        pathlib.Path(directory, "__pycache__", "owned.pyc").write_text("owned")


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        raise ValueError("tried every directory")
