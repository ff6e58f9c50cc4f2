# tries: reads the user's SSH key while it is imported
# stopped by: Landlock
# says: raised PermissionError
import dumbbell

with open("/tmp/home/.ssh/id_ed25519") as key:
    raise ValueError(key.read())
