# tries: leaves by SystemExit while it is imported
# stopped by: its own process
# says: raised SystemExit: 0
import sys

import dumbbell

sys.exit(0)
