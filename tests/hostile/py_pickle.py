# tries: loads a pickle that runs a shell, and gives a series that is one
# stopped by: seccomp
# says: nothing
import os
import pickle

import dumbbell


class Shell:
    def __reduce__(self):
        return os.system, ("echo owned >/tmp/owned-by-pickle",)


class Hostile(dumbbell.CongestionControl):
    series = (dumbbell.Series("shell", "", "an object that runs a shell"),)

    def init(self, sk):
        self.shell = Shell()

    def cong_avoid(self, sk, ack, acked):
        pickle.loads(pickle.dumps(Shell()))
