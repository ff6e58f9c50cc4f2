"""What an archive says of itself: `manifest.json`, its first member."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dumbbell.archive.tar import check_member_name
from dumbbell.base.errors import ResultError
from dumbbell.base.quantities.json_text import json_text
from dumbbell.records.check import Unexpected, check_value
from dumbbell.records.declared import TEXT

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
            manifest.check_shape()
            manifest.check_members()
        except Unexpected as unexpected:
            raise ResultError(f"{MANIFEST}: is damaged: {unexpected}") from None
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            if isinstance(error, ResultError):
                raise
            raise ResultError(f"{MANIFEST}: is damaged: {error}") from None
        return manifest

    def check_shape(self) -> None:
        """Refuse what it says of runs and congestion control algorithms in another form."""
        check_value(TEXT, self.kind, "kind")
        check_value({"map": TEXT}, self.versions, "versions")
        check_value({"list": "object"}, self.runs, "runs")
        for index, run in enumerate(self.runs):
            for key in ("path", "engine", "engine_build"):
                if key != "engine_build" or run[key] is not None:  # the first versions had none
                    check_value(TEXT, run[key], f"runs[{index}].{key}")
        for name, cc in self.congestion_controls.items():
            at = f"congestion_controls.{name}"
            check_value("object", cc, at)
            check_value(TEXT, cc["kind"], f"{at}.kind")
            if cc["main"] is not None:
                check_value(TEXT, cc["main"], f"{at}.main")
            check_value({"list": TEXT}, cc["sources"], f"{at}.sources")
            for engine, builds in cc["builds"].items():
                check_value({"list": TEXT}, builds, f"{at}.builds.{engine}")

    def check_members(self) -> None:
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
