# tries: ends the process as if all were well
# stopped by: its own process
# says: ended its process with exit status 0
import os

import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        os._exit(0)
