# tries: raises KeyboardInterrupt, as Ctrl-C does
# stopped by: its own process
# says: raised KeyboardInterrupt.* in `cong_avoid` \(flow 0, at [\d.]+ s\); fix it there$
import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        raise KeyboardInterrupt
