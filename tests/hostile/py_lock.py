# tries: holds Python's lock for ever, inside C
# stopped by: the watchdog in the parent, which needs no lock
# says: was not loaded within 1 s|has not returned from|has not advanced
import re

import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        re.match(r"(a*)*b", "a" * 60)
