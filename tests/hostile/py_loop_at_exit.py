# tries: never finishes what it registered to run at the end
# stopped by: what is registered for the end is not run
# says: nothing
import atexit

import dumbbell


def loop():
    while True:
        pass


atexit.register(loop)


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        sk.snd_cwnd = 10
