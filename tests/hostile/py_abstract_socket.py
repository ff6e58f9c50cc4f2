# tries: connects to a service by an abstract Unix socket, which has no path
# stopped by: seccomp
# says: raised PermissionError.* in `cong_avoid` \(flow 0, at [\d.]+ s\); fix it there$
import socket

import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        socket.socket(socket.AF_UNIX).connect("\0hostile-test")
        raise ValueError("succeeded")
