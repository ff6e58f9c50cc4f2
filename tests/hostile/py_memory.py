# tries: fills memory
# stopped by: the limits of memory and CPU time
# says: has not returned from|MemoryError|was killed
import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        parts = []
        while True:
            parts.append(bytearray(256 << 20))
            if len(parts) > 400:
                raise ValueError("succeeded")
