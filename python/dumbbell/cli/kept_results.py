"""What `dumbbell emulate` writes when the path has ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dumbbell.base.writing import check_replacing
from dumbbell.capture_analysis.packet_log import check_format
from dumbbell.emulation.recorded_path import RecordedPath
from dumbbell.run.directory import check_place

__all__ = ["Kept"]


@dataclass(frozen=True)
class Kept:
    """What is written when the path has ended.

    Attributes
    ----------
    out_dir
        Where the run is saved.
    log
        Where what happened to each packet is.
    link_logs
        The same of each link, in mahimahi's format.
    """

    out_dir: Path | None
    log: Path | None
    link_logs: Mapping[str, Path | None]

    @property
    def needs_packets(self) -> bool:
        """Whether packets have to be kept."""
        return any((self.log, *self.link_logs.values()))

    def check(self) -> None:
        """Refuse places that cannot be written, before anything runs."""
        if self.log is not None:
            check_format(self.log)
        for file in filter(None, self.link_logs.values()):
            check_replacing(file, is_file=True)
        if self.out_dir is not None:
            check_place(self.out_dir)

    def save(self, path: RecordedPath) -> None:
        """Write all of it."""
        if self.out_dir is not None:
            path.result.save(self.out_dir)
        if self.log is not None:
            path.packets().save(self.log)
        for link, file in self.link_logs.items():
            if file is not None:
                path.save_mahimahi_log(file, link)
