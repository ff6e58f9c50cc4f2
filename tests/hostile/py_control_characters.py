# tries: raises an exception with a terminal's control characters
# stopped by: escaping of messages
# says: raised ValueError: \\x1b\]0;owned\\x07\\x1b\[2J\\x9b31m\\u202eall is well
import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        raise ValueError("\x1b]0;owned\x07\x1b[2J\x9b31m\u202eall is well\r\x00\x7f")
