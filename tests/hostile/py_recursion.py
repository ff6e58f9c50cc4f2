# tries: calls itself without end, with the limit raised
# stopped by: its own process
# says: used the bad address|RecursionError
import sys

import dumbbell

sys.setrecursionlimit(1 << 30)


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        class Deep:
            def __repr__(self):
                return repr(self)

        repr(Deep())
