# tries: prints 100 MB
# stopped by: the limit of what is shown
# says: nothing
import sys

import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        for _ in range(50):
            print("o" * 1_000_000)
            print("\x1b[31m" * 200_000, file=sys.stderr)
