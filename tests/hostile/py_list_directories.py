# tries: lists the home
# stopped by: Landlock
# says: raised PermissionError.* in `cong_avoid` \(flow 0, at [\d.]+ s\); fix it there$
import os

import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        raise ValueError("succeeded", os.listdir("/tmp/home"))
