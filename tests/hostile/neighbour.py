"""Next to `py_neighbour.py`, which imports it."""

from contextlib import suppress

DONE = "the neighbour wrote nothing"
for path in ("/tmp/owned-by-neighbour", "/tmp/home/owned-by-neighbour"):
    with suppress(OSError), open(path, "w"):
        DONE = "succeeded"
