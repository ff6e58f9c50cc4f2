# tries: imports a module next to it, which writes a file
# stopped by: Landlock
# says: raised ValueError: the neighbour wrote nothing.* in `cong_avoid` \(flow 0, at [\d.]+ s\); fix it there$
import neighbour

import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        raise ValueError(neighbour.DONE)
