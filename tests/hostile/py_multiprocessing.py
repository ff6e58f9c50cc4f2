# tries: makes a pool of processes
# stopped by: Landlock
# says: raised PermissionError.* in `cong_avoid` \(flow 0, at [\d.]+ s\); fix it there$
import multiprocessing

import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        with multiprocessing.get_context("fork").Pool(4) as pool:
            raise ValueError("succeeded", pool.map(abs, [1, 2, 3]))
