# tries: reads the user's SSH key in a hook
# stopped by: Landlock
# says: raised PermissionError.* in `cong_avoid` \(flow 0, at [\d.]+ s\); fix it there$
from pathlib import Path

import dumbbell


class Hostile(dumbbell.CongestionControl):
    def cong_avoid(self, sk, ack, acked):
        raise ValueError(Path("/tmp/home/.ssh/id_ed25519").read_text())
