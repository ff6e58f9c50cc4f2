# tries: imports a symbolic link next to it that points to the user's SSH key, so that it may be read
# stopped by: the list of what is read, which has sources only
# says: raised (PermissionError|ModuleNotFoundError|ImportError)
from pathlib import Path

import dumbbell

try:
    import link_to_key
except SyntaxError as error:
    raise ValueError(error.text, Path("/tmp/home/.ssh/id_ed25519").read_text())
