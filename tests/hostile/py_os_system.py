# tries: runs a shell
# stopped by: seccomp
# says: raised ValueError: there is no shell.* in `cong_avoid` \(flow 0, at [\d.]+ s\); fix it there$
import os

import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        code = os.system("echo owned >/tmp/owned-by-system")
        raise ValueError("succeeded" if code == 0 else "there is no shell")
