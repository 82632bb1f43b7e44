"""A project's source and its files: a wheel or source archive from the package index, or a checkout.

Nothing of it is installed, built, imported or run: files are read out of the archive as bytes.
"""

from __future__ import annotations

import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from bot.catalogue.fetching import fetch
from bot.catalogue.source_config import SourceConfig, SourceError, load_source

__all__ = ["SourceConfig", "SourceError", "SourceFile", "fetch", "files", "load_source"]

MAX_FILE_BYTES = 4_000_000
"""A larger file is left out and reported: the largest of 4,719 Python files of sglang 0.5.23 has 282 kB, while a generated table of
20 MB would take a gigabyte as a syntax tree."""

MAX_FILES = 200_000
"""No more files are read of one source, so that a hostile archive ends."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file: its path in the repository and its bytes. ``problem`` says why it could not be read (then ``text`` is empty)."""

    path: str
    text: bytes
    problem: str = ""


def files(archive: Path, config: SourceConfig, suffixes: tuple[str, ...] | None = None) -> Iterator[SourceFile]:
    """The wanted files of a wheel, a source archive (``.tar.gz``), or a checkout (a folder), in the order of their paths there.

    Wanted is what some scanner reads (``suffixes``) and ``config`` does not leave out. A file that cannot be read, is too large, or whose
    path leaves the source is yielded without text, with its problem. Raises SourceError for an archive that is none.
    """
    endings = _scanned_suffixes() if suffixes is None else suffixes
    opened = _folder if archive.is_dir() else _wheel if zipfile.is_zipfile(archive) else _tarball
    for count, (name, size, read) in enumerate(opened(archive, config)):
        if count >= MAX_FILES:
            raise SourceError(f"{archive}: holds more than {MAX_FILES:,} files; is it the right one?")
        if not name.endswith(endings):
            continue
        if leaves_the_source(name):
            yield SourceFile(name, b"", "its path leaves the source")
            continue
        path = config.repository_path(name) if opened is not _folder else name
        if path is None or not config.wants(path):
            continue
        if size > MAX_FILE_BYTES:
            yield SourceFile(path, b"", f"has {size:,} bytes, more than {MAX_FILE_BYTES:,}")
            continue
        try:
            text = read()
        except (OSError, zipfile.BadZipFile, zlib.error, tarfile.TarError, EOFError, NotImplementedError, RuntimeError) as error:
            yield SourceFile(path, b"", f"cannot be read: {error}")
        else:
            fits = len(text) <= MAX_FILE_BYTES  # an archive may say less than it holds
            yield SourceFile(path, text) if fits else SourceFile(path, b"", f"has more than {MAX_FILE_BYTES:,} bytes")


Entry = tuple[str, int, Callable[[], bytes]]
"""A file of an archive: its name there, its size in bytes, and how to read it."""


def _scanned_suffixes() -> tuple[str, ...]:
    from bot.catalogue.scanners import suffixes  # the scanners are built on this module

    return suffixes()


def leaves_the_source(name: str) -> bool:
    """Whether a path leads out of the folder that it should lie in."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    return not parts or name.startswith(("/", "\\")) or ".." in parts or ":" in parts[0]


def _wheel(archive: Path, config: SourceConfig) -> Iterator[Entry]:
    try:
        with zipfile.ZipFile(archive) as opened:
            for info in sorted(opened.infolist(), key=lambda info: info.filename):
                if not info.is_dir():
                    yield info.filename, info.file_size, lambda info=info: opened.open(info).read(MAX_FILE_BYTES + 1)  # type: ignore[misc]
    except zipfile.BadZipFile as error:
        raise SourceError(f"{archive}: no readable archive ({error}); remove it and fetch it again") from error


def _tarball(archive: Path, config: SourceConfig) -> Iterator[Entry]:
    """A source archive; its first folder (``name-version/``) is dropped. A file of it must be read before the next one."""
    try:
        with tarfile.open(archive, "r|*") as opened:
            for info in opened:
                member = opened.extractfile(info) if info.isreg() else None
                if member is not None:
                    yield info.name.partition("/")[2] or info.name, info.size, member.read
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise SourceError(f"{archive}: no readable archive ({error}); give a wheel, a .tar.gz, or a folder") from error


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
