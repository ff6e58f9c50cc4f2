# tries: connects to a service of this machine
# stopped by: seccomp
# says: raised PermissionError.* in `cong_avoid` \(flow 0, at [\d.]+ s\); fix it there$
import socket

import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        socket.create_connection(("127.0.0.1", 4747), timeout=5)
        raise ValueError("succeeded")
