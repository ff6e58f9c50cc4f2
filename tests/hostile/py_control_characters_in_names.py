# tries: has control characters in its name, its series and their units
# stopped by: the checks of names
# says: the kernel cannot have the name `h\\x1b\[2J`
import dumbbell


class Hostile(dumbbell.CongestionControl):
    name = "h\x1b[2J"
    parameters = (dumbbell.Parameter("p\x1b[31m", "u\x07", "doc\x1b]0;owned\x07", 0, 9, 1),)
    series = (dumbbell.Series("s\x1b[31m", "u\x1b[2J", "doc\x07"),)

    def cong_avoid(self, sk, ack, acked):
        sk.snd_cwnd = 10
