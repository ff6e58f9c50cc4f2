# tries: sleeps while it is imported
# stopped by: the limit of time for loading
# says: was not loaded within 1 s; it sleeps, or waits for something
import time

import dumbbell

time.sleep(100000)
