# tries: starts threads that sleep on
# stopped by: seccomp
# says: raised RuntimeError: can't start new thread.* in `cong_avoid` \(flow 0, at [\d.]+ s\); fix it there$
import threading
import time

import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        for _ in range(200):
            threading.Thread(target=time.sleep, args=(1000,)).start()
        raise ValueError("started threads")
