# tries: forks a process that stays
# stopped by: seccomp
# says: raised PermissionError.* in `cong_avoid` \(flow 0, at [\d.]+ s\); fix it there$
import os
import time

import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        if os.fork() == 0:
            os.setsid()
            while True:
                time.sleep(1000)
        raise ValueError("succeeded")
