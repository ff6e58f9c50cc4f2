"""Make a wheel of a kernel that `dumbbell kernel build` has built: `make kernel-wheel`.

Linux is under the GPL, version 2. The wheel has its licence, the driver, edits and configuration
that dumbbell added, and says where the rest of the source is and offers it in writing (section 3).

    python tools/kernel_wheel.py 6.12 dist
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from dumbbell._core import ENGINE_VERSION
from dumbbell.kernels import BuiltKernel, edits, find
from dumbbell.kernels.built import INSTALLED, kernels_place
from dumbbell.kernels.recipe import FRAGMENT
from dumbbell.kernels.sources import RELEASE

#: The licence's text, which Debian has on every machine.
GPL = Path("/usr/share/common-licenses/GPL-2")
SOURCE = """\
This package has a Linux kernel, {release}, as a program. Linux is under the GPL, version 2
(COPYING).

Its source is that of {origin} (https://snapshot.debian.org for a Debian package), with what stands
in `changes`: the driver, the edits of the tree and the configuration. This builds it again:

    pip install dumbbell=={version}
    {command}

The distributor of this package offers, for at least three years, to give anyone the complete
corresponding source, for no more than the cost of the copy: write to where it came from.
"""


def main(name: str, place: Path) -> Path:
    """Write the wheel of a kernel to a directory, and return its path."""
    kernel = find(name)
    if kernel.directory.parent != kernels_place():
        sys.exit(f"kernel `{name}` comes from a package already")
    if not RELEASE.fullmatch(kernel.source):
        sys.exit(
            f"kernel `{name}` was built from {kernel.source}; a package offers its source, so "
            "build it from a release: `dumbbell kernel build 6.12`"
        )
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch, "root")
        inside = root / INSTALLED / kernel.name
        shutil.copytree(kernel.directory, inside)
        write_source(kernel, inside)
        write_metadata(kernel, root)
        place.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "wheel", "pack", str(root), "--dest-dir", str(place)]
        subprocess.run(command, check=True)  # noqa: S603
    return max(place.glob(f"{distribution(kernel)}-*.whl"), key=lambda path: path.stat().st_mtime)


def write_source(kernel: BuiltKernel, inside: Path) -> None:
    """Write the licence, the changes, and where the rest of the source is."""
    changes = inside / "changes"
    changes.mkdir()
    for file in (FRAGMENT, Path(edits.__file__), *sorted(edits.DRIVER.glob("*.[ch]"))):
        shutil.copy(file, changes)
    shutil.copy(GPL, inside / "COPYING")
    said = SOURCE.format(
        release=kernel.release,
        origin=kernel.origin,
        version=ENGINE_VERSION,
        command=kernel.build_command,
    )
    (inside / "SOURCE").write_text(said, encoding="utf-8")


def write_metadata(kernel: BuiltKernel, root: Path) -> None:
    """Write what pip reads."""
    place = root / f"{distribution(kernel)}-{kernel.release}.dist-info"
    place.mkdir()
    (place / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: dumbbell-kernel-{kernel.name}\nVersion: {kernel.release}\n"
        f"Summary: Linux {kernel.release} in virtual time, for dumbbell's engine `uml`\n"
        "License: GPL-2.0-only\n",
        encoding="utf-8",
    )
    (place / "WHEEL").write_text(
        "Wheel-Version: 1.0\nGenerator: dumbbell\nRoot-Is-Purelib: false\n"
        f"Tag: py3-none-{platform_of(kernel.path)}\n",
        encoding="utf-8",
    )


def distribution(kernel: BuiltKernel) -> str:
    """Return the package's name as a wheel's has it."""
    return re.sub(r"[-_.]+", "_", f"dumbbell-kernel-{kernel.name}").lower()


def platform_of(program: Path) -> str:
    """Return the tag of the oldest glibc that a program runs with, which is the newest it names."""
    named = re.findall(rb"GLIBC_2\.(\d+)\0", program.read_bytes())
    return f"manylinux_2_{max(map(int, named), default=17)}_x86_64"


if __name__ == "__main__":
    print(main(sys.argv[1], Path(sys.argv[2])))
