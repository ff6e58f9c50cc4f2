# tries: shows the environment, where secrets often are
# stopped by: Landlock
# says: raised PermissionError.* in `cong_avoid` \(flow 0, at [\d.]+ s\); fix it there$
import os

import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        raise ValueError(dict(os.environ), open("/proc/self/environ").read())
