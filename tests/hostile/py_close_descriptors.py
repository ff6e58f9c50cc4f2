# tries: closes every descriptor
# stopped by: its own process
# says: (ended its process with exit status|closed the socket on which its run answers)
import os

import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        os.closerange(0, 1 << 16)
