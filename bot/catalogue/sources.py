"""A project's source and its files: a wheel or source archive of a release, or a checkout.

Nothing of it is installed, built, imported or run: files are read out of the archive as bytes.
"""

from __future__ import annotations

import gzip
import io
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath

from bot.catalogue.source_config import SourceConfig, SourceError, archive_kind, load_source

__all__ = ["SourceConfig", "SourceError", "SourceFile", "files", "is_whole", "load_source"]

MAX_FILE_BYTES = 4_000_000
"""A larger file is left out and reported: the largest of 4,719 Python files of sglang 0.5.23 has 282 kB, while a generated table of
20 MB would take a gigabyte as a syntax tree."""

MAX_FILES = 200_000
"""No more files are read of one source, so that a hostile archive ends."""


MAX_SOURCE_BYTES = 500_000_000
"""No more bytes of wanted files are read of one source: sglang 0.5.23 has 60 million."""

MAX_UNPACKED_BYTES = 4_000_000_000
"""A source archive that unpacks to more is refused, wanted or not: to skip a file of a stream, it has to be unpacked."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file: its path in the repository and its bytes. ``problem`` says why it could not be read (then ``text`` is empty)."""

    path: str
    text: bytes
    problem: str = ""


def files(archive: Path, config: SourceConfig, suffixes: tuple[str, ...] | None = None) -> Iterator[SourceFile]:
    """The wanted files of a wheel, a source archive (``.tar.gz``, ``.zip``), or a checkout (a folder), in the order of the archive.

    Wanted is what some scanner reads (``suffixes``) and ``config`` does not leave out. A file that cannot be read, is too large, stands
    there twice, or whose path leaves the source is yielded without text, with its problem. Raises SourceError for an archive that is
    none, or that holds more than any source does.
    """
    endings = _scanned_suffixes() if suffixes is None else suffixes
    seen: set[str] = set()
    total = 0
    for count, (name, path, size, read) in enumerate(_entries(archive, config)):
        if count >= MAX_FILES:
            raise SourceError(f"{archive}: holds more than {MAX_FILES:,} files; is it the right one?")
        if not name.endswith(endings):
            continue
        if leaves_the_source(name):
            yield SourceFile(name, b"", "its path leaves the source")
            continue
        if path is None or not config.wants(path):
            continue
        if path in seen:
            yield SourceFile(path, b"", "stands in the archive twice, of which the first is read")
            continue
        seen.add(path)
        if size > MAX_FILE_BYTES:
            yield SourceFile(path, b"", f"has {size:,} bytes, more than {MAX_FILE_BYTES:,}")
            continue
        try:
            text = read()
        except (OSError, zipfile.BadZipFile, zlib.error, tarfile.TarError, EOFError, NotImplementedError, RuntimeError) as error:
            yield SourceFile(path, b"", f"cannot be read: {error}")
            continue
        total += len(text)
        if total > MAX_SOURCE_BYTES:
            raise SourceError(f"{archive}: holds more than {MAX_SOURCE_BYTES:,} bytes of source; is it the right one?")
        fits = len(text) <= MAX_FILE_BYTES  # an archive may say less than it holds
        yield SourceFile(path, text) if fits else SourceFile(path, b"", f"has more than {MAX_FILE_BYTES:,} bytes")


Entry = tuple[str, int, Callable[[], bytes]]
"""A file of a source: its name there, its size in bytes, and how to read it."""


def _scanned_suffixes() -> tuple[str, ...]:
    from bot.catalogue.scanners import suffixes  # the scanners are built on this module

    return suffixes()


def leaves_the_source(name: str) -> bool:
    """Whether a path leads out of the folder that it should lie in."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    return not parts or name.startswith(("/", "\\")) or ".." in parts or ":" in parts[0]


def _entries(archive: Path, config: SourceConfig) -> Iterator[tuple[str, str | None, int, Callable[[], bytes]]]:
    """What a source holds, with the path of each file in the repository; None for one that does not belong to it."""
    if archive.is_dir():
        for name, size, read in _folder(archive, config):
            yield name, name, size, read
        return
    if archive_kind(archive) != "sdist":
        for name, size, read in _zip(archive):
            yield name, config.repository_path(name), size, read
        return
    opened = _zip if zipfile.is_zipfile(archive) else _tarball
    folders = tuple(config.path_prefix.values())
    as_repository = any(_below(name).startswith(folders) for name, _, _ in islice(opened(archive), MAX_FILES))
    for name, size, read in opened(archive):
        path = _below(name)
        belongs = not as_repository or path.startswith(folders)
        yield path, (path if as_repository else config.repository_path(path)) if belongs else None, size, read


def _below(name: str) -> str:
    """The path of a file below the first folder of a source archive (``name-version/``), as
    https://packaging.python.org/en/latest/specifications/source-distribution-format/ lays down."""
    name = name.removeprefix("./")
    return name if name.startswith("/") else name.partition("/")[2] or name


def _zip(archive: Path) -> Iterator[Entry]:
    """The files of a wheel or of a source archive that is a zip; links are left out."""
    try:
        with zipfile.ZipFile(archive) as opened:
            for info in sorted(opened.infolist(), key=lambda info: info.filename):
                if not info.is_dir() and not stat.S_ISLNK(info.external_attr >> 16):
                    yield info.filename, info.file_size, lambda info=info: opened.open(info).read(MAX_FILE_BYTES + 1)  # type: ignore[misc]
    except zipfile.BadZipFile as error:
        raise SourceError(f"{archive}: no readable archive ({error}); remove it and fetch it again") from error


class _Unpacked(gzip.GzipFile):
    """A compressed file that is read from its beginning on, up to a limit, and never much at once: a header may claim any length."""

    def read(self, size: int | None = -1) -> bytes:
        self._check(self.tell() + 1)
        if size is None or not 0 <= size <= 2 * MAX_FILE_BYTES:
            raise SourceError(f"{self.name}: has a header of more than {2 * MAX_FILE_BYTES:,} bytes; is it the right one?")
        return super().read(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._check(offset)
        return super().seek(offset, whence)

    def _check(self, offset: int) -> None:
        if offset > MAX_UNPACKED_BYTES:
            raise SourceError(f"{self.name}: unpacks to more than {MAX_UNPACKED_BYTES:,} bytes; is it the right one?")


def _tarball(archive: Path) -> Iterator[Entry]:
    """The files of a source archive, links left out. One must be read before the next, or not at all."""
    try:
        with _Unpacked(archive) as stream, tarfile.open(fileobj=stream, mode="r:") as opened:
            for info in opened:
                member = opened.extractfile(info) if info.isreg() else None
                if member is not None:
                    yield info.name, info.size, lambda member=member: member.read(MAX_FILE_BYTES + 1)  # type: ignore[misc]
                opened.members.clear()  # type: ignore[attr-defined]  # the names of all that was read are not kept
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise SourceError(f"{archive}: no readable archive ({error}); remove it and fetch it again") from error


def is_whole(archive: Path) -> bool:
    """Whether a downloaded archive can be read to its end; an unreadable member of a zip is not looked for."""
    if zipfile.is_zipfile(archive):
        return True
    try:
        with gzip.open(archive) as stream:
            while stream.tell() < MAX_UNPACKED_BYTES and stream.read(1 << 20):
                pass
    except (EOFError, zlib.error, OSError):
        return False
    return True


def _folder(root: Path, config: SourceConfig) -> Iterator[Entry]:
    """A checkout, links not followed. Only the folders are read that a release would hold, so that both give the same catalogue."""
    targets = [folder for folder in config.path_prefix.values() if (root / folder).is_dir()]
    if not targets and any((root / folder).is_dir() for folder in config.path_prefix):
        yield from (  # a folder as a release is installed
            (mapped, size, read)
            for folder in config.path_prefix
            for name, size, read in _walk(root, folder)
            if (mapped := config.repository_path(name)) is not None
        )
        return
    if config.path_prefix and not targets:
        raise SourceError(f"{root}: holds none of {', '.join(config.path_prefix.values())}; give the root of a checkout")
    for folder in targets or [""]:
        yield from _walk(root, folder)


def _walk(root: Path, folder: str) -> Iterator[Entry]:
    for at, folders, names in os.walk(root / folder, followlinks=False):
        folders[:] = sorted(name for name in folders if name not in (".git", "__pycache__", "node_modules", ".venv"))
        for name in sorted(names):
            path = Path(at, name)
            if path.is_file() and not path.is_symlink():
                yield path.relative_to(root).as_posix(), path.stat().st_size, path.read_bytes
