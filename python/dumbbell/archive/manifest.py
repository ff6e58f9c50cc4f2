"""What an archive says of itself: `manifest.json`, its first member."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dumbbell.archive.tar import check_member_name
from dumbbell.base.errors import ResultError
from dumbbell.base.quantities.json_text import json_text

__all__ = ["FORMAT", "MANIFEST", "MAX_MANIFEST_BYTES", "RESULTS", "Manifest"]

#: Version of `manifest.json`.
FORMAT = 1
MANIFEST = "manifest.json"
MAX_MANIFEST_BYTES = 1 << 26
#: Directory of the runs in an archive.
RESULTS = "results"


@dataclass(frozen=True)
class Manifest:
    """An archive's members, runs and congestion control algorithms.

    Attributes
    ----------
    kind
        What was archived: ``run``, ``sweep``, ``reproduction`` or ``runs``.
    versions
        Of dumbbell, the engine's build, Python and pyarrow.
    runs
        Path, engine, seed, versions and congestion control algorithms of each run.
    congestion_controls
        Kind, source files and builds of each, by its name in the scenarios.
    members
        Size and SHA-256 of every other member, by its path.
    """

    kind: str
    versions: Mapping[str, str]
    runs: list[dict[str, Any]]
    congestion_controls: Mapping[str, dict[str, Any]]
    members: Mapping[str, dict[str, Any]] = field(default_factory=dict)

    def to_json(self) -> bytes:
        """Return the text of `manifest.json`; docs/archive.md describes it."""
        return (json_text({"format": FORMAT, **vars(self)}) + "\n").encode()

    @classmethod
    def from_json(cls, content: bytes) -> Manifest:
        """Read `manifest.json`.

        Raises
        ------
        ResultError
            It is damaged, or of another version.
        """
        try:
            document = json.loads(content)
            version = document.pop("format")
            if version != FORMAT:
                raise ResultError(f"{MANIFEST}: format {version}; this version reads {FORMAT}")
            manifest = cls(**document)
            manifest.check()
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            if isinstance(error, ResultError):
                raise
            raise ResultError(f"{MANIFEST}: is damaged: {error}") from None
        return manifest

    def check(self) -> None:
        """Refuse members that cannot be extracted, and files that are not members."""
        for name, member in self.members.items():
            check_member_name(name)
            if not isinstance(member["bytes"], int) or member["bytes"] < 0:
                raise ResultError(f"{MANIFEST}: size of `{name}` is {member['bytes']!r}")
            if not isinstance(member["sha256"], str):
                raise ResultError(f"{MANIFEST}: digest of `{name}` must be text")
        needed = [f"{run['path']}/run.json" for run in self.runs]
        for cc in self.congestion_controls.values():
            needed += [*cc["sources"], *([cc["main"]] if cc["sources"] else [])]
        for name in needed:
            if name not in self.members:
                raise ResultError(f"{MANIFEST}: `{name}` is not a member")
