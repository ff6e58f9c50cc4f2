# tries: raises an exception whose text cannot be made
# stopped by: its own process
# says: raised Unspeakable: <exception str\(\) failed>.* in `cong_avoid` \(flow 0, at [\d.]+ s\); fix it there$
import dumbbell


class Unspeakable(Exception):
    def __str__(self):
        raise self

    __repr__ = __str__


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        raise Unspeakable
