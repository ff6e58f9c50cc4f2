# tries: ignores every signal, then writes through a wild pointer
# stopped by: its own process
# says: was ended by SIGSEGV
import contextlib
import ctypes
import signal

import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        for number in range(1, 65):
            with contextlib.suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_IGN)
        ctypes.memset(0x40, 0, 64)
