# tries: writes forged answers into every descriptor
# stopped by: the checks of answers
# says: sent what is not an answer; it has been ended$
import contextlib
import os

import dumbbell

FORGED = [
    b"\xff" * 64,
    b'\n{"done": {"summary": [0, 2], "tables": []}}\n',
    b'\n{"pid": 1}\n',
    b"\ncrash 11 0x0 0 0 1 0 \x1b[31mowned\n",
    b"\n" + b"[" * 100_000 + b"\n",
]


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        for forged in FORGED:
            for descriptor in range(64):
                with contextlib.suppress(OSError):
                    os.write(descriptor, forged)
