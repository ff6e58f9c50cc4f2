"""What a power failure leaves: an image of a file system, copied while results are written to it.

Run as root, with mounts of its own: ``power_failure.py KIND DIRECTORY``. Prints, as JSON, how many
copies were made, and what of them is neither whole nor as new as what had been saved.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import dumbbell
from dumbbell.base.writing import Batch, write_file
from dumbbell.run import directory as run_directory

#: How a file system is made and mounted; what is written reaches the disk every second.
KINDS = {
    "ext4": (("mkfs.ext4", "-q"), 48, "loop,commit=1"),
    "xfs": (("mkfs.xfs", "-q"), 320, "loop"),
    "btrfs": (("mkfs.btrfs", "-q"), 128, "loop,commit=1"),
}
ROUNDS = 6
CELLS = 5
#: For the last of it to reach the disk without being synced.
LATER_S = 1.5
MOST_COPIES = 24
PAGE_BYTES = 100_000


def shell(*words: str | Path) -> str:
    """Run a command."""
    return subprocess.run(
        [str(word) for word in words], check=True, capture_output=True, text=True
    ).stdout.strip()


def digest_of(directory: Path) -> str:
    """Return a digest of the names and contents of all files."""
    found = hashlib.sha256()
    for path in sorted(each for each in directory.rglob("*") if each.is_file()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        found.update(f"{path.relative_to(directory)} {content}\n".encode())
    return found.hexdigest()


class Copies:
    """Copies of the image, each of a moment: nothing was written to it meanwhile.

    Parameters
    ----------
    image, device
        The file, and the device that it is mounted as.
    state
        Returns how many rounds have been saved, and how many have begun.
    """

    def __init__(self, image: Path, device: str, state: Callable[[], tuple[int, int]]) -> None:
        self.image, self.state = image, state
        self.counts = Path("/sys/block", Path(device).name, "stat")
        self.made: list[tuple[Path, int, int]] = []
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.copy_again_and_again)

    def writes(self) -> tuple[str, str]:
        """Return how many writes the device has finished, and how many are under way."""
        words = self.counts.read_text().split()
        return words[4], words[8]  # Documentation/block/stat.rst

    def copy_again_and_again(self) -> None:
        """Copy at random moments until the end, and once more then."""
        rng = random.Random(1)  # noqa: S311 -- moments
        while not self.ended.wait(rng.uniform(0, 0.15)):
            if len(self.made) < MOST_COPIES:
                _ = self.copy() or self.copy()
        while not self.copy():
            pass

    def copy(self) -> bool:
        """Copy the image; forget it if it changed meanwhile."""
        path = self.image.with_name(f"copy-{len(self.made)}")
        before, (saved, _) = self.writes(), self.state()
        shell("cp", "--sparse=always", self.image, path)
        _, begun = self.state()
        if before[1] != "0" or self.writes() != before:
            return False
        self.made.append((path, saved, begun))
        return True


def main(kind: str, scratch: Path) -> None:
    """Write and copy, then look at each copy."""
    image, disk = scratch / "image", scratch / "disk"
    make, size_mb, options = KINDS[kind]
    shell("truncate", "-s", f"{size_mb}M", image)
    shell(*make, image)
    disk.mkdir()
    shell("mount", "-o", options, image, disk)
    runs = [dumbbell.run(["cubic"], time="1s", seed=seed) for seed in (1, 2)]
    wholes = [digest_of(run.save(scratch / f"whole-{at}")) for at, run in enumerate(runs)]
    cell = scratch / "cell"
    run_directory.fill(cell, runs[0].to_json(), runs[0].tables)
    saved, begun = 0, 0

    def save(at: int) -> None:
        nonlocal saved, begun
        begun = at
        runs[at % 2].save(disk / "out")
        write_file(disk / "page.html", str(at) * PAGE_BYTES)
        with Batch(disk / "runs", every_s=0.05) as batch:
            for number in range(CELLS):
                with batch.new(f"{at}-{number}") as new:
                    shutil.copytree(cell, new)
                time.sleep(0.03)
        saved = at

    save(0)
    copies = Copies(image, shell("findmnt", "-no", "SOURCE", disk), lambda: (saved, begun))
    copies.thread.start()
    for at in range(1, ROUNDS):
        save(at)
        time.sleep(0.05)
    time.sleep(LATER_S)
    copies.ended.set()
    copies.thread.join()
    shell("umount", disk)
    faults = []
    for path, first, last in copies.made:
        shell("mount", "-o", "loop", path, disk)
        where = f"{path.name}, of round {first} to {last}"
        if digest_of(disk / "out") not in [wholes[at % 2] for at in range(first, last + 1)]:
            faults.append(f"{where}: out")
        page = disk / "page.html"
        text = page.read_text() if page.is_file() else ""
        if text not in [str(at) * PAGE_BYTES for at in range(first, last + 1)]:
            faults.append(f"{where}: page.html")
        cells = {each.name for each in (disk / "runs").glob("[!.]*")}
        faults += [f"{where}: {each}" for each in sorted(cells)
                   if digest_of(disk / "runs" / each) != digest_of(cell)]  # fmt: skip
        due = {f"{at}-{number}" for at in range(first + 1) for number in range(CELLS)}
        faults += [f"{where}: no {each}" for each in sorted(due - cells)]
        shell("umount", disk)
        path.unlink()
    sys.stdout.write(json.dumps({"copies": len(copies.made), "faults": faults}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
