# tries: writes through a wild pointer
# stopped by: its own process
# says: used the bad address 0x[0-9a-f]+ in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSEGV$
import ctypes

import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        ctypes.memset(0x40, 0, 4096)
