"""Where a kernel's tree comes from: a Debian package, or a directory of the user's."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

from dumbbell.base.errors import KernelError, os_reason

__all__ = ["DebianSource", "Source", "TreeSource", "source_of"]

#: What names a release of Debian's; a directory of such a name is `./6.12`.
RELEASE = re.compile(r"\d+\.\d+")
#: Where Debian's packages of sources put them.
USR_SRC = Path("/usr/src")
#: What a build takes at most, bytes: of links or of files, and of object files.
FARM_BYTES, UNPACKED_BYTES = 600_000_000, 2_600_000_000
#: What a UML kernel without disks is not built of: it does not count as the tree's content, and is
#: not linked, except for what is read of every directory.
NOT_BUILT = frozenset({"Documentation", "LICENSES", "rust", "samples", "sound"})
READ_OF_ALL = ("Kconfig", "Makefile", "Kbuild")
ARCHITECTURES = frozenset({"um", "x86"})
DRIVERS = frozenset({"base", "char", "net", "pps", "ptp", "tty", "virtio"})
#: What an earlier build in the tree left; with it, building elsewhere is refused or goes wrong.
BUILT_SUFFIXES = (".a", ".cmd", ".ko", ".mod", ".o", ".order", ".s", ".symvers")
BUILT_DIRECTORIES = frozenset({"include/config", "include/generated", "arch/um/include/generated",
                               "arch/x86/include/generated"})  # fmt: skip


class Source(ABC):
    """A tree of Linux.

    Attributes
    ----------
    word
        What names it in a command.
    name
        Of the kernel, if the user gives none.
    origin
        For people: a package with its version, or a path.
    space_bytes
        What a build takes.
    """

    word: str
    name: str
    origin: str
    space_bytes: int

    @abstractmethod
    def identity(self) -> str:
        """Return what the tree contains, as a digest or a version."""

    @abstractmethod
    def provide(self, tree: Path) -> None:
        """Make a copy, or links to it, in a directory that does not exist yet."""

    @abstractmethod
    def shown(self, file: str) -> str:
        """Return how a file of the tree is called in an error."""


def source_of(word: str) -> Source:
    """Return the source that a user names: `6.12`, or a directory.

    Raises
    ------
    KernelError
        It is neither.
    """
    return DebianSource(word) if RELEASE.fullmatch(word) else TreeSource(word)


class DebianSource(Source):
    """A package `linux-source-*` that apt offers."""

    space_bytes = UNPACKED_BYTES

    def __init__(self, release: str) -> None:
        self.word = self.name = release
        self.package = f"linux-source-{release}"
        self.version = self._candidate()
        self.origin = f"{self.package} {self.version}"

    def _candidate(self) -> str:
        missing = [each for each in ("apt-cache", "apt-get", "dpkg-deb", "tar", "xz")
                   if shutil.which(each) is None]  # fmt: skip
        if missing:
            raise KernelError(
                f"`{self.word}` is Debian's package `{self.package}`, and `{missing[0]}` is not "
                "installed; download Linux from kernel.org, unpack it, and use "
                f"`dumbbell kernel build ./linux-{self.word}`"
            )
        policy = output_of(["apt-cache", "policy", self.package])
        found = re.search(r"^  Candidate: (\S+)$", policy, re.MULTILINE)
        if found is None or found[1] == "(none)":
            names = output_of(["apt-cache", "pkgnames", "linux-source-"]).split()
            releases = sorted(
                (name.removeprefix("linux-source-") for name in names), key=version_key
            )
            offers = [f"`{each}`" for each in releases if RELEASE.fullmatch(each)]
            offered = f"apt offers {' and '.join(offers)}" if offers else "it offers none"
            raise KernelError(
                f"apt offers no package `{self.package}`: {offered}; run `sudo apt-get update`, or "
                "name a directory with a Linux tree"
            )
        return found[1]

    def identity(self) -> str:
        """Return the package's version."""
        return f"debian {self.package} {self.version}"

    def provide(self, tree: Path) -> None:
        """Download and unpack it."""
        tarball = USR_SRC / f"{self.package}.tar.xz"
        query = ["dpkg-query", "-W", "-f", "${Version}", self.package]
        if not (tarball.is_file() and output_of(query) == self.version):
            tarball = self._download(tree.parent)
        tree.mkdir()
        command = ["tar", "-xf", str(tarball), "--strip-components=1", "-C", str(tree)]
        run_or_refuse(command, f"`{tarball.name}` cannot be unpacked")

    def _download(self, directory: Path) -> Path:
        download = ["apt-get", "download", f"{self.package}={self.version}"]
        run_or_refuse(download, f"`{self.package}` cannot be downloaded", cwd=directory)
        archive = next(directory.glob("*.deb"))
        contents = directory / "package"
        extract = ["dpkg-deb", "-x", str(archive), str(contents)]
        run_or_refuse(extract, f"`{archive.name}` cannot be unpacked")
        archive.unlink()
        return contents / USR_SRC.relative_to("/") / f"{self.package}.tar.xz"

    def shown(self, file: str) -> str:
        """Return its path in the package's tree."""
        return file


class TreeSource(Source):
    """A directory with a Linux tree, which is only read."""

    space_bytes = FARM_BYTES

    def __init__(self, word: str) -> None:
        root = Path(word).expanduser()
        if not root.is_dir():
            is_word = "/" not in word
            reason = "is not a directory" if root.exists() else "does not exist"
            hint = "name a Linux tree, or a release of Debian's `linux-source-*` like `6.12`"
            raise KernelError(
                f"`{word}`: {reason}; {hint}" if is_word else f"{word}: {reason}; {hint}"
            )
        self.root = root.resolve()
        for file in ("Makefile", "arch/um/Kconfig", "net/ipv4/Kconfig"):
            if not (self.root / file).is_file():
                raise KernelError(
                    f"`{word}` is not a whole Linux tree: it has no `{file}`; name the directory "
                    "that has it, like `./linux-6.12`"
                )
        self.word = self.origin = str(self.root)
        self.name = self.root.name

    def identity(self) -> str:
        """Return a digest of the files that a kernel is built of."""
        digest = hashlib.sha256()
        for file in sorted(files_of(self.root)):
            if is_built_of(file):
                content = content_of(self.root / file)
                digest.update(
                    f"{len(file)} {file} {len(content)} ".encode(errors="surrogateescape")
                )
                digest.update(content)
        return f"tree {digest.hexdigest()}"

    def provide(self, tree: Path) -> None:
        """Make a directory of links to its files."""
        made: set[str] = set()
        for file in files_of(self.root):
            parent, _, name = file.rpartition("/")
            if not (is_built_of(file) or name.startswith(READ_OF_ALL)):
                continue
            if parent not in made:
                (tree / parent).mkdir(parents=True, exist_ok=True)
                made.add(parent)
            os.symlink(f"{self.root}/{file}", f"{tree}/{file}")  # noqa: PTH211

    def shown(self, file: str) -> str:
        """Return its path in the user's tree."""
        return str(self.root / file)


def files_of(root: Path) -> Iterator[str]:
    """Yield the paths of a tree's files, relative to it, without what was built in it."""

    def refuse(error: OSError) -> None:
        raise KernelError(f"{error.filename}: cannot be read: {os_reason(error)}") from None

    for at, directories, files in os.walk(root, onerror=refuse):
        place = os.path.relpath(at, root)
        prefix = "" if place == "." else f"{place}/"
        links = [name for name in directories if os.path.islink(f"{at}/{name}")]  # noqa: PTH114
        directories[:] = [
            name
            for name in directories
            if not name.startswith(".") and f"{prefix}{name}" not in BUILT_DIRECTORIES
            and name not in links
        ]  # fmt: skip
        for name in (*files, *links):
            if not name.startswith(".") and not name.endswith(BUILT_SUFFIXES):
                yield prefix + name


def is_built_of(file: str) -> bool:
    """Whether a UML kernel may contain what is in a file of a tree."""
    first, *rest = file.split("/")
    if first == "tools":
        return rest[:1] == ["include"]
    if first == "drivers" and rest:
        # Of network devices those that are no hardware.
        return rest[0] in DRIVERS and not (rest[0] == "net" and len(rest) > 2)
    if first == "arch" and len(rest) > 1:
        return rest[0] in ARCHITECTURES
    return first not in NOT_BUILT


def content_of(path: Path) -> bytes:
    """Return what a file contains, or where a link leads that is no file."""
    try:
        return path.read_bytes()
    except OSError as error:
        if path.is_symlink():
            return os.fsencode(path.readlink())
        raise KernelError(f"{path}: cannot be read: {os_reason(error)}") from None


def version_key(release: str) -> tuple[int, ...]:
    """Return what releases are sorted by: 6.9 is before 6.12."""
    return tuple(int(part) for part in re.findall(r"\d+", release))


def output_of(command: list[str]) -> str:
    """Return what a program prints; nothing if it cannot run."""
    try:
        done = subprocess.run(  # noqa: S603 -- apt and dpkg
            command, capture_output=True, text=True, check=False, env=os.environ | {"LC_ALL": "C"}
        )
    except OSError:
        return ""
    return done.stdout


def run_or_refuse(command: list[str], what: str, cwd: Path | None = None) -> None:
    """Run a program; an error says what cannot be done, and why.

    Raises
    ------
    KernelError
        It fails.
    """
    done = subprocess.run(  # noqa: S603 -- apt, dpkg and tar
        command, capture_output=True, text=True, errors="replace", check=False, cwd=cwd,
        env=os.environ | {"LC_ALL": "C"},
    )  # fmt: skip
    if done.returncode:
        lines = [line.removeprefix("E: ") for line in done.stderr.splitlines() if line.strip()]
        notes = [line for line in lines if not line.startswith("W:")]
        raise KernelError(f"{what}: {(notes or ['it failed'])[0]}; see `{' '.join(command[:2])}`")
