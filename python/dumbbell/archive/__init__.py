"""Archives: the runs behind a paper in one file, and whether they come out the same again.

`write.py` and `verify.py` come first. `manifest.py` and `sources.py` have what an archive holds;
`tar.py` and `extract.py` read archives that are not trusted.
"""

from dumbbell.archive.verify import Verification, verify
from dumbbell.archive.write import Archived, archive

__all__ = ["Archived", "Verification", "archive", "verify"]
