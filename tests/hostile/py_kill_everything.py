# tries: kills every process that the user may kill, on import
# stopped by: seccomp
# says: raised PermissionError
import os
import signal

import dumbbell

os.kill(-1, signal.SIGKILL)
raise ValueError("succeeded")
