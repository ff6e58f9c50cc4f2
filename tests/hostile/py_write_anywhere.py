# tries: writes wherever it can
# stopped by: Landlock
# says: raised PermissionError: nowhere.* in `cong_avoid` \(flow 0, at [\d.]+ s\); fix it there$
import contextlib

import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        for directory in ("/tmp", "/tmp/home", "/tmp/home/cache", "/dev/shm", ".", "/var/tmp"):
            with contextlib.suppress(PermissionError), open(f"{directory}/owned", "w") as file:
                file.write("owned")
                raise ValueError("succeeded in " + directory)
        raise PermissionError("nowhere")
