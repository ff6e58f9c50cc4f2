"""From a CCA that a result names to one that can run: its file is found again.

A result is data. To run its congestion control algorithms again, their files must be those that
ran, or the user must say that the source in the result is to be trusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dumbbell.base.errors import ResultError, ScenarioError
from dumbbell.congestion_control.choice import CongestionControlChoice
from dumbbell.congestion_control.recorded import RecordedCongestionControl
from dumbbell.congestion_control.source_store import StoredSources
from dumbbell.congestion_control.sources import sources_of_file

__all__ = ["SourceFiles", "live"]


@dataclass(frozen=True)
class SourceFiles:
    """Where the files of a result's congestion control algorithms may be taken from.

    Attributes
    ----------
    result
        The result's directory; None for a result in memory.
    files
        Files that the user named; each is used for the congestion control algorithm that it is the
        source of.
    trust
        Whether to run the source that the result carries.
    """

    result: Path | None = None
    files: Sequence[Path] = ()
    trust: bool = False

    def check(self, recorded: Sequence[CongestionControlChoice]) -> None:
        """Refuse a file that is not the source of any congestion control of the result.

        Raises
        ------
        ScenarioError
            The message names the file.
        """
        ours = [cc for cc in recorded if isinstance(cc, RecordedCongestionControl) and cc.is_file]
        for file in self.files:
            digest = digest_of(file)
            namesakes = [cc for cc in ours if cc.file.name == file.name]
            if any(cc.source is not None and cc.source.digest == digest for cc in ours):
                continue
            if any(cc.source is None for cc in namesakes):
                continue
            if namesakes and namesakes[0].source is not None:
                raise changed(namesakes[0], f"`{file}`", digest, self.result)
            names = ", ".join(f"`{cc.name}`" for cc in dict.fromkeys(ours)) or "none from a file"
            raise ScenarioError(
                f"`{file}` is not an algorithm of {self.result}, which has {names}",
                key="cc",
            )

    def find(self, cc: RecordedCongestionControl) -> Path | None:
        """Return where the file of a congestion control algorithm is; None for where its name says.

        Raises
        ------
        ScenarioError
            It is not known to be what ran.
        """
        for file in self.files:
            if cc.source is None and file.name == cc.file.name:
                return file
            if cc.source is not None and digest_of(file) == cc.source.digest:
                return file
        if self.trust and cc.source is not None:
            return self.carried(cc)
        here = cc.file
        if not here.is_file() or self.is_inside(here):
            raise missing(cc, self.result)
        if cc.source is None and self.result is None:
            return None
        if cc.source is None:
            raise unrecorded(cc, self.result)
        digest = digest_of(here)
        if digest != cc.source.digest:
            raise changed(cc, f"`{cc.name}`", digest, self.result)
        return None

    def carried(self, cc: RecordedCongestionControl) -> Path:
        """Return the source that the result carries, checked against its digest."""
        if self.result is not None and cc.source is not None:
            stored = StoredSources(self.result)
            place, sources = stored.place(cc.source.digest), stored.get(cc.source.digest)
            if place is not None and sources is not None and sources.is_whole:
                return (place / sources.main).absolute()
        raise ScenarioError(
            f"{self.result} does not carry the source of `{cc.name}`, so there is nothing to "
            "trust; name its file with `--cc FILE`",
            key="cc",
        )

    def is_inside(self, file: Path) -> bool:
        """Whether a file came with the result: then it is the result's code, not the user's."""
        return self.result is not None and file.resolve().is_relative_to(self.result.resolve())


def live(cc: CongestionControlChoice, files: SourceFiles | None = None) -> CongestionControlChoice:
    """Return a congestion control algorithm that can run.

    Parameters
    ----------
    cc
        One that a result names; any other is returned as it is.
    files
        Where its file may be.

    Raises
    ------
    ScenarioError
        Its file is missing or has changed, or this version does not have it.
    """
    if not isinstance(cc, RecordedCongestionControl):
        return cc
    path = (files or SourceFiles()).find(cc) if cc.is_file else None
    return CongestionControlChoice(cc.name, cc.params, path, preset=cc.preset)


def digest_of(file: Path) -> str:
    """Return the digest of a file's sources."""
    try:
        return sources_of_file(file).digest
    except ResultError as error:
        raise ScenarioError(str(error), key="cc") from None


def missing(cc: CongestionControlChoice, result: Path | None) -> ScenarioError:
    """Return the error for a file that is not here."""
    if result is None:
        return ScenarioError(
            f"`{cc.name}` is not here: a result names it, but results are not run as code; restore "
            "the file, or name it where it is now",
            key="cc",
        )
    return ScenarioError(
        f"{result} lacks runs or the source of `{cc.name}`, which is not here (runs of another "
        "build do not count); name its file with `--cc FILE`, "
        f"or run the source in `{result / 'sources'}` with `--trust`: it is code, so read it first",
        key="cc",
    )


def unrecorded(cc: CongestionControlChoice, result: Path | None) -> ScenarioError:
    """Return the error for a file that may be another one than what ran."""
    return ScenarioError(
        f"{result} does not say which source `{cc.name}` had (an earlier version wrote it); if "
        "it is the file here, say so with `--cc FILE`",
        key="cc",
    )


def changed(
    cc: RecordedCongestionControl, file: str, digest: str, result: Path | None
) -> ScenarioError:
    """Return the error for a file that is not what ran."""
    then = "" if cc.source is None else f" (SHA-256 {cc.source.digest[:12]}…, now {digest[:12]}…)"
    where = "it ran" if result is None else f"the runs in {result}"
    return ScenarioError(
        f"{file} has changed since {where}{then}; restore it, or name the original with "
        "`--cc FILE`, or repeat the first command to run everything with the new one",
        key="cc",
    )
