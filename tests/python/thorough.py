"""Whether `make test-all` runs, which leaves nothing out."""

import os

THOROUGH = os.environ.get("DUMBBELL_TEST_ALL") == "1"
