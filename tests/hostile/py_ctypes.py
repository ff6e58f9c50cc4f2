# tries: calls the C library: fork, kill, ptrace
# stopped by: seccomp
# says: raised ValueError: refused.* in `cong_avoid` \(flow 0, at [\d.]+ s\); fix it there$
import ctypes
import os

import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        library = ctypes.CDLL(None)
        if library.ptrace(16, os.getppid(), None, None) == 0:
            raise ValueError("succeeded")
        if library.kill(os.getppid(), 9) == 0:
            raise ValueError("succeeded")
        if (child := library.fork()) == 0:
            library.sleep(100000)
        raise ValueError("succeeded" if child > 0 else "refused")
