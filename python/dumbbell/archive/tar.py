"""A tar file compressed with zstd: the same bytes for the same files, and read with suspicion."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from io import BufferedReader
from pathlib import Path

import pyarrow as pa

from dumbbell.base.arrow_file import arrow_file
from dumbbell.base.documents import DocumentError, open_file
from dumbbell.base.errors import ResultError, os_reason
from dumbbell.base.quantities.pluralize import pluralize
from dumbbell.congestion_control.sources import is_plain_path

__all__ = ["check_member_name", "read_tar", "write_tar"]

BLOCK = tarfile.BLOCKSIZE
#: What a file compressed with zstd begins with (RFC 8878 §3.1.1).
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
#: A block of zstd's that is one byte, many times; the length of a frame's checksum.
REPEATED_BYTE, CHECKSUM_BYTES = 1, 4
#: Bytes read at a time.
CHUNK = 1 << 20
#: Most bytes of a member's extended header, which holds a long name.
MAX_EXTENDED_HEADER = 1 << 16


def write_tar(path: Path, members: Iterable[tuple[str, bytes]]) -> None:
    """Write members in the order given, without the time or the owner of any file."""
    with (
        arrow_file(path, "wb") as file,
        pa.CompressedOutputStream(file, "zstd") as stream,
        tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as tar,
    ):
        for name, content in members:
            info = tarfile.TarInfo(name)  # its time and owner are 0
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))


def check_member_name(name: str) -> str:
    """Refuse a name that could be outside the directory it is extracted to.

    Raises
    ------
    ResultError
        It is absolute, or has `..` in it, or is not written in the shortest way.
    """
    if not is_plain_path(name):
        raise ResultError(f"invalid member name `{name}`: must be a relative path without `..`")
    return name


def read_tar(path: Path, max_bytes: int) -> Iterator[tuple[str, int, Iterator[bytes]]]:
    """Yield the regular files of a tar: name, size and content in pieces.

    Python's `tarfile` is not used for reading: it holds extended headers of any size in memory.

    Parameters
    ----------
    path
        The file.
    max_bytes
        The most to decompress.

    Raises
    ------
    ResultError
        It is damaged, larger than allowed, or has members other than regular files.
    """
    check_frame(path)
    try:
        with arrow_file(path) as file, pa.CompressedInputStream(file, "zstd") as stream:
            yield from members_of(BoundedReader(stream, max_bytes))
    except (OSError, pa.ArrowException, tarfile.HeaderError, UnicodeDecodeError) as error:
        raise ResultError(f"cannot be read: {error}") from None


def check_frame(path: Path) -> None:
    """Refuse a file that is not compressed with zstd, or goes on behind what is."""
    try:
        with open_file(path) as file:
            magic = file.read(len(ZSTD_MAGIC))
            behind = os.fstat(file.fileno()).st_size - frame_end(file)
    except FileNotFoundError:
        raise ResultError("no such file") from None
    except OSError as error:
        raise ResultError(f"cannot be read: {os_reason(error)}") from None
    except DocumentError as error:
        raise ResultError(f"{error}; use a file that `dumbbell archive` wrote") from None
    if magic != ZSTD_MAGIC:
        raise ResultError("is not an archive; use a file that `dumbbell archive` wrote")
    if behind > 0:
        raise ResultError(f"damaged: has {pluralize(behind, 'byte')} behind its end")


def frame_end(file: BufferedReader) -> int:
    """Return where a zstd frame ends, whose magic number has been read (RFC 8878 §3.1.1).

    Decompressors pass over further frames that may hold anything.
    """
    descriptor = int.from_bytes(file.read(1))
    is_single = descriptor >> 5 & 1  # segment: no window, and a content size even if its flag is 0
    size_bytes = (is_single, 2, 4, 8)[descriptor >> 6]
    file.seek(1 - is_single + (0, 1, 2, 4)[descriptor & 3] + size_bytes, os.SEEK_CUR)
    is_last = 0
    while not is_last and len(header := file.read(3)) == 3:
        block = int.from_bytes(header, "little")
        is_last, kind, size = block & 1, block >> 1 & 3, block >> 3
        file.seek(1 if kind == REPEATED_BYTE else size, os.SEEK_CUR)
    return file.tell() + CHECKSUM_BYTES * (descriptor >> 2 & 1)


class BoundedReader:
    """A stream that gives exactly what is asked of it, up to a total.

    Parameters
    ----------
    stream
        Where the bytes come from.
    left
        How many it may give.
    """

    def __init__(self, stream: pa.NativeFile, left: int) -> None:
        self.stream = stream
        self.left = left

    def pieces(self, size: int) -> Iterator[bytes]:
        """Yield the next bytes in pieces."""
        while size:
            if self.left <= 0:
                raise ResultError("larger than allowed when decompressed; see `--max-size`")
            try:
                piece: bytes = self.stream.read(min(size, CHUNK, self.left))
            except OSError as error:
                raise ResultError(f"damaged: {error}") from None
            if not piece:
                raise ResultError("damaged: ends in the middle of a member")
            self.left -= len(piece)
            size -= len(piece)
            yield piece

    def read(self, size: int) -> bytes:
        """Return the next bytes."""
        return b"".join(self.pieces(size))

    def check_end(self) -> None:
        """Refuse anything but zeros up to the end, with which tar fills a record."""
        while rest := self.stream.read(CHUNK):
            self.left -= len(rest)
            if self.left < 0 or rest.strip(b"\0"):
                raise ResultError("damaged: goes on behind its last member")


def members_of(reader: BoundedReader) -> Iterator[tuple[str, int, Iterator[bytes]]]:
    """Yield the regular files of an uncompressed tar."""
    long_name = None
    while (block := reader.read(BLOCK)) != bytes(BLOCK):
        header = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        padding = -header.size % BLOCK
        if header.type == tarfile.XHDTYPE and 0 <= header.size <= MAX_EXTENDED_HEADER:
            long_name = path_in(reader.read(header.size))
        elif header.type == tarfile.REGTYPE and header.size >= 0:
            content = reader.pieces(header.size)
            yield check_member_name(long_name or header.name), header.size, content
            for _ in content:  # what was not taken of it
                pass
            long_name = None
        else:
            raise ResultError(f"member `{header.name}` is not a regular file")
        reader.read(padding)
    reader.check_end()


def path_in(extended_header: bytes) -> str | None:
    """Return the name in a pax header: a line ``<length> <key>=<value>`` each (POSIX)."""
    values: Mapping[str, str] = dict(
        record.partition(" ")[2].partition("=")[::2]
        for record in extended_header.decode().split("\n")
    )
    return values.get("path")
