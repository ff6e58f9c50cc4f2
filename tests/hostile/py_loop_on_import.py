# tries: never finishes importing
# stopped by: the limit of time for loading
# says: was not loaded within 1 s of CPU time: look at its constructors
import dumbbell

while True:
    pass
