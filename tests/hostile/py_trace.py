# tries: traces every function of the worker, and never returns from one
# stopped by: the watchdog for CPU time
# says: has not returned from `cong_avoid` \(flow 0, at [\d.]+ s\) within 0.5 s of CPU time; bound its loops$
import sys
import threading

import dumbbell


def loop(*_):
    while True:
        pass


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        threading.settrace(loop)
        sys.setprofile(loop)
        sys.settrace(loop)
        len([])
