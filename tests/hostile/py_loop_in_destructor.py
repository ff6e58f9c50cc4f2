# tries: never returns from its destructor
# stopped by: the limit of time for the end
# says: ^simulated time has not advanced for 1 s( of CPU time)?: .* hangs after `cong_avoid`
import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        sk.snd_cwnd = 10

    def __del__(self):
        while True:
            pass
