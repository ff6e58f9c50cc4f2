# tries: never returns from a hook
# stopped by: the watchdog for CPU time
# says: has not returned from `cong_avoid` \(flow 0, at [\d.]+ s\) within 0.5 s of CPU time; bound its loops$
import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        while True:
            pass
