# tries: catches whatever is raised to stop it
# stopped by: the watchdog for time that stands still
# says: ^simulated time has not advanced for 1 s: .* has not returned from `cong_avoid` \(flow 0, at [\d.]+ s\); it sleeps, or waits
import time

import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        while True:
            try:
                time.sleep(1)
            except BaseException:
                pass
