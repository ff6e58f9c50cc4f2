# tries: is nested so deeply that parsing it takes too much stack
# stopped by: its own process
# says: raised (MemoryError|RecursionError)
import dumbbell

value = DEEP
