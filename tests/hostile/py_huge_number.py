# tries: sets cwnd to a number of a million digits
# stopped by: the checks of values
# says: raised OverflowError.* in `cong_avoid` \(flow 0, at [\d.]+ s\); fix it there$
import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        sk.snd_cwnd = 1 << 4_000_000
