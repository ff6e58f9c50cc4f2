# tries: kills its parent
# stopped by: seccomp
# says: raised PermissionError.* in `cong_avoid` \(flow 0, at [\d.]+ s\); fix it there$
import os
import signal

import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        os.kill(os.getppid(), signal.SIGKILL)
        raise ValueError("succeeded")
