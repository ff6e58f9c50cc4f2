# tries: raises an exception of 100 MB
# stopped by: the limit of an answer
# says: sent an answer of 100,000,\d+ bytes; it has been ended$
import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        raise ValueError("o" * 100_000_000)
