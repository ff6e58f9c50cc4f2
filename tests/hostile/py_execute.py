# tries: replaces the process by a shell
# stopped by: seccomp
# says: raised PermissionError.* in `cong_avoid` \(flow 0, at [\d.]+ s\); fix it there$
import os

import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        os.execv("/bin/sh", ["sh", "-c", "echo owned >/tmp/owned-by-exec"])
