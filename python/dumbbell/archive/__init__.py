"""Archives: the runs behind a paper in one file, and whether they come out the same again."""

from dumbbell.archive.verify import Verification, verify
from dumbbell.archive.write import Archived, archive

__all__ = ["Archived", "Verification", "archive", "verify"]
