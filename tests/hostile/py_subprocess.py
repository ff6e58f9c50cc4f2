# tries: starts a program while it is imported
# stopped by: seccomp
# says: raised PermissionError
import subprocess

import dumbbell

subprocess.run(["touch", "/tmp/owned-by-subprocess"], check=True)
raise ValueError("succeeded")
