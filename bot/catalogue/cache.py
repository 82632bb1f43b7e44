"""What scanners found, kept by content: a file that is the same in the next release, or in the next scan, is not scanned again.

One SQLite file in the cache folder. Keys are digests of what a result depends on: the file's bytes and path, what was known of other
files, the scanners' own text, and the version of Python. Values are plain tuples (:mod:`marshal`, compressed): to read them runs nothing,
and objects are made of the dataclasses of this program only.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib
import importlib.metadata
import marshal
import sqlite3
import sys
import threading
import zlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from bot.catalogue.scanners import Raised
from bot.catalogue.source_config import SourceError
from bot.model import Condition, Hole, Template

MARSHAL = 2
"""The last of marshal's formats without references, so that equal values give equal bytes."""

WRITERS = ("cache.py", "scan.py", "workers.py")
"""Modules beside the scanners that say what is kept, and how."""

APPLICATION = 0x65787331
"""SQLite's application id of this file ("exs1")."""

GRAMMARS = ("tree-sitter", "tree-sitter-cpp", "tree-sitter-python", "tree-sitter-rust")
"""Distributions on whose version results depend besides."""

BUSY_SECONDS = 60
"""How long to wait while another scan writes."""


@lru_cache(maxsize=1)
def scanner_version() -> str:
    """What results depend on besides the source: the text of the scanners and of what keeps them, their grammars, the minor version of
    Python.

    Made from the files themselves, so nobody has to remember to raise a number.
    """
    digest = hashlib.sha256(repr((MARSHAL, sys.version_info[:2])).encode())
    room = Path(__file__).parent
    for path in (*sorted((room / "scanners").rglob("*.py")), *map(room.joinpath, WRITERS), *sorted((room.parent / "model").glob("*.py"))):
        digest.update(path.relative_to(room.parent).as_posix().encode() + b"\0" + path.read_bytes())
    for name in GRAMMARS:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            digest.update(f"{name} {importlib.metadata.version(name)}".encode())
    return digest.hexdigest()


def digest(*parts: bytes | str) -> bytes:
    """A short digest of some parts, for a key; 16 bytes keep thousands of millions of them apart."""
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        found.update(len(data).to_bytes(8) + data)
    return found.digest()


class ScanCache:
    """Results by key. Used from one thread at a time; several processes may use one file."""

    def __init__(self, path: Path | None = None) -> None:
        """Open the file, which is made when missing, and emptied when other scanners wrote it; None keeps all in memory.

        Raises SourceError when it cannot be opened.
        """
        self.path = path
        self._lock = threading.Lock()
        try:
            self._database = self._open()
        except sqlite3.DatabaseError:
            if path is None:
                raise
            try:  # no database, or a broken one: all of it can be found again
                for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
                    path.with_name(name).unlink(missing_ok=True)
                self._database = self._open()
            except (sqlite3.Error, OSError) as error:
                raise SourceError(f"{path}: the scan cache cannot be used ({error}): remove it and run this again") from error

    def _open(self) -> sqlite3.Connection:
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        name = ":memory:" if self.path is None else str(self.path)
        database = sqlite3.connect(name, timeout=BUSY_SECONDS, check_same_thread=False)
        try:
            database.executescript(
                f"PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA application_id = {APPLICATION};"
                "CREATE TABLE IF NOT EXISTS entry (key BLOB PRIMARY KEY, data BLOB NOT NULL);"
            )
            mark = scanner_version().encode()
            held = database.execute("SELECT data FROM entry WHERE key = x''").fetchone()
            if held != (mark,):
                database.execute("DELETE FROM entry")
                database.execute("INSERT INTO entry VALUES (x'', ?)", (mark,))
                database.commit()
                database.execute("VACUUM")
        except BaseException:
            database.close()
            raise
        return database

    def get(self, key: bytes) -> Any:
        """What was kept under a key; None when nothing was, or when it cannot be read."""
        data = self.data(key)
        try:
            return unpacked(data) if data else None
        except ValueError:
            return None

    def data(self, key: bytes) -> bytes:
        """What was kept under a key, as it was packed; empty when nothing was."""
        with self._lock, self._told():
            row = self._database.execute("SELECT data FROM entry WHERE key = ?", (key,)).fetchone()
        return row[0] if row is not None else b""

    def holds(self, keys: Iterable[bytes]) -> set[bytes]:
        """Those of the keys under which something is kept."""
        asked = list(dict.fromkeys(keys))
        found: set[bytes] = set()
        with self._lock, self._told():
            for start in range(0, len(asked), 500):
                some = asked[start : start + 500]
                marks = ",".join("?" * len(some))
                found |= {row[0] for row in self._database.execute(f"SELECT key FROM entry WHERE key IN ({marks})", some)}  # noqa: S608
        return found

    def put(self, entries: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep packed values (:func:`packed`) under their keys; they are on disk when this returns."""
        with self._lock, self._told():
            self._database.executemany("INSERT OR IGNORE INTO entry VALUES (?, ?)", entries)
            self._database.commit()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise SourceError(f"{self.path}: the scan cache cannot be used ({error}): remove it and run this again") from error

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> ScanCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# ------------------------------------------------------------------------------------------------------- plain values


def packed(value: Any) -> bytes:
    """A plain value as it is kept."""
    return zlib.compress(marshal.dumps(value, MARSHAL), 1)


def unpacked(data: bytes) -> Any:
    """The inverse of :func:`packed`. Raises ValueError for what is nothing of the kind."""
    try:
        return marshal.loads(zlib.decompress(data))  # noqa: S302 - our own folder
    except (zlib.error, EOFError, TypeError) as error:
        raise ValueError(f"what was kept cannot be read: {error}") from error


def plain(value: Any) -> Any:
    """A value of dataclasses, tuples and sets as plain values: a dataclass is a list of its name and fields, a set a dict."""
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kind = type(value)
        names = _fields(kind)
        return [f"{kind.__module__}:{kind.__qualname__}", *(plain(getattr(value, name)) for name in names)]
    if isinstance(value, frozenset):
        return {"": tuple(sorted(map(plain, value), key=repr))}
    if value is None or isinstance(value, str | int | float | bytes):
        return value
    raise TypeError(f"a scanner offers a {type(value).__name__}: only frozen dataclasses, tuples, frozen sets and texts can be kept")


def full(value: Any) -> Any:
    """The inverse of :func:`plain`. Raises ValueError for a dataclass that is none of this program's."""
    if isinstance(value, tuple):
        return tuple(map(full, value))
    if isinstance(value, list):
        return _kind(value[0])(*map(full, value[1:]))
    if isinstance(value, dict):
        return frozenset(map(full, value[""]))
    return value


@lru_cache(maxsize=1000)
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


@lru_cache(maxsize=1000)
def _kind(name: str) -> type:
    module, _, attribute = name.partition(":")
    if not module.startswith(("bot.model.", "bot.catalogue.scanners.")):
        raise ValueError(f"{name} is no value of a scanner")
    kind = getattr(importlib.import_module(module), attribute)
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        raise ValueError(f"{name} is no value of a scanner")
    return kind


# --------------------------------------------------------------------------------------------------------- raise sites

Kept = tuple[str, str, str, str, int, int, bytes]
"""A raise site as it is kept: skeleton, type, expression, function, first and last line; and the rest, packed once more, which most readers
never open."""


def kept(raised: Raised) -> Kept:
    """A raise site as it is kept."""
    rest: Any = (
        _parts_out(raised.template),
        raised.kind,
        raised.code,
        tuple((condition.kind, condition.text) for condition in raised.conditions),
        raised.signature,
        raised.through,
        tuple(map(_parts_out, raised.also)),
        raised.flags,
        raised.entry,
        raised.documented,
        raised.tried,
    )
    at = (raised.function, raised.line, raised.end_line)
    return raised.template.skeleton, raised.type, raised.expression, *at, marshal.dumps(rest, MARSHAL)


def raised_of(site: Kept, path: str) -> Raised:
    """The inverse of :func:`kept`."""
    _, type, expression, function, line, end_line, data = site
    parts, kind, code, conditions, signature, through, also, flags, entry, documented, tried = marshal.loads(data)  # noqa: S302
    return Raised(
        type,
        _template(parts),
        kind,
        expression,
        path,
        line,
        end_line,
        function,
        code,
        tuple(Condition(*condition) for condition in conditions),
        signature,
        through,
        tuple(map(_template, also)),
        flags,
        entry,
        documented,
        tried,
    )


def _parts_out(template: Template) -> tuple[object, ...]:
    return tuple(part if isinstance(part, str) else (part.expression, part.suffix) for part in template.parts)


def _template(parts: tuple[object, ...]) -> Template:
    return Template(tuple(part if isinstance(part, str) else Hole(*cast(tuple[str, str], part)) for part in parts))
