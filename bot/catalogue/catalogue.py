"""The catalogue of a repository: what the scan found and what people wrote, by id, by frame and by text.

``explainbot scan`` builds the file (:mod:`bot.catalogue.built`); record files are read and joined to it when it is opened, so an
edited record needs no new scan.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import shutil
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rapidfuzz import fuzz, process

from bot.catalogue import built, causes, related
from bot.catalogue.built import CatalogueError, build
from bot.catalogue.keys import clean, text_key
from bot.catalogue.merge import Joined, even, join, near, texts
from bot.catalogue.records import Fault, load_records, split_repository
from bot.catalogue.sources import SourceConfig
from bot.model import RaiseSite, Record, Template

__all__ = ["Catalogue", "CatalogueError", "Entry", "build", "catalogue_path"]

CHUNK = 2000
"""Records read at a time while all are streamed: about a megabyte."""

MAX_WORDS = 16
"""Words of a search that count; each is one pass over all texts."""

MAX_PER_PAGE = 100
"""Records on one page of a search."""

MAX_RELATED = 5
"""Related records shown: the number that a reader looks through."""

MAX_WRAPPED = 8
"""Errors named that another one is raised in place of."""

MAX_WRAPPERS = 200
"""Errors looked at for one that is raised in place of another: a name that more of them call says too little."""

RECENT = 2000
"""Records kept in memory once they were read: about four megabytes."""

SAME_HEADING = 90.0
"""Likeness from which a related error's text names a record, though its words were edited since."""

COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
"""A commit's full name (SHA-1 or SHA-256)."""

_ID = re.compile("[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Entry:
    """One text of one record, for an index over all texts."""

    id: str
    type: str
    kind: str
    template: Template
    expression: str


def catalogue_path(cache_dir: Path, repository: str) -> Path:
    """Where the catalogue of a repository lies. GitHub's names know no case, some file systems do: small letters.

    Raises ValueError when ``repository`` is not ``owner/name``.
    """
    owner, name = split_repository(repository.lower())
    return cache_dir / "catalogues" / owner / f"{name}.sqlite"


class Catalogue:
    """A repository's records. Open it with :meth:`open`; it can be read from several threads."""

    def __init__(self, path: Path, database: sqlite3.Connection, errors_dir: Path | None) -> None:
        self.path = path
        self._database = database
        self._lock = threading.Lock()
        meta = dict(self._rows("SELECT key, value FROM meta"))
        self.repository: str = meta["repository"]
        self.releases: tuple[str, ...] = tuple(json.loads(meta["releases"]))
        self.source = SourceConfig.model_validate_json(meta["source"])
        self._order = {release: at for at, release in enumerate(self.releases)}
        self._recent: dict[int, Record] = {}
        self._digest: str = meta["digest"]
        self.inputs: str = meta["inputs"]
        self.counts: tuple[int, int, int] = tuple(json.loads(meta["counts"]))
        self.faults: tuple[Fault, ...] = ()
        joined: tuple[Joined, ...] = ()
        if errors_dir is not None:
            written, self.faults = load_records(errors_dir, self.repository)
            joined = self._join(written)
        self._written = tuple(one.record for one in joined)
        self._by_id = {id: one.record for one in joined for id in one.claimed}
        self._by_id |= {record.id: record for record in self._written}
        self._by_number = {n: self._by_id[id] for n, id in self._numbers(id for one in joined for id in one.claimed)}
        self._hidden = json.dumps(sorted(self._by_number))
        self._count = int(meta["records"]) - len(self._by_number) + len(self._written)
        seen = [(r.id, r.type, r.kind, [str(t) for t in r.templates], r.expression) for r in self._written]
        self._overlay = hashlib.sha256(repr((seen, [one.claimed for one in joined])).encode("utf-8", "replace")).hexdigest()

    @classmethod
    def open(cls, path: Path, errors_dir: Path | None = None) -> Catalogue:
        """Open a built catalogue and lay over it what people wrote below ``errors_dir``.

        Mistakes in record files are kept in :attr:`faults`. Raises CatalogueError when the file is missing, broken, or of another
        version of the program.
        """
        named = f"{path.parent.name}/{path.stem}" if path.suffix == ".sqlite" else "OWNER/NAME"
        if not path.is_file():
            raise CatalogueError(f"there is no catalogue of {named}: run `explainbot scan {named}`")
        # Nobody writes to the file while it stands there, so SQLite needs no locks (https://sqlite.org/uri.html#uriimmutable).
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        database = sqlite3.connect(uri, uri=True, check_same_thread=False)
        try:
            (application,) = database.execute("PRAGMA application_id").fetchone()
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if application == built.APPLICATION and version == built.VERSION:
                return cls(path, database, errors_dir)
            problem = f"{path} was built by another version of explainbot"
        except (sqlite3.Error, KeyError, ValueError, CatalogueError) as error:
            problem = f"{path} is broken ({error})"
        except BaseException:
            database.close()
            raise
        database.close()
        raise CatalogueError(f"{problem}: run `explainbot scan {named}`")

    def close(self) -> None:
        """Close the file; the catalogue cannot be used afterwards."""
        with self._lock:
            self._database.close()

    def __enter__(self) -> Catalogue:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self._count

    # ------------------------------------------------------------------------------------------------ looking up

    def get(self, id: str) -> Record | None:
        """The record of that id, or of an id that went into it; None when there is none."""
        if not _ID.fullmatch(id):
            return None
        if id in self._by_id:
            return self._by_id[id]
        return next(self._load(n for n, _ in self._numbers([id])), None)

    def entries(self) -> Iterator[Entry]:
        """Every text of every record, those that people wrote first."""
        for record in self._written:
            for template in record.templates or (Template(()),):
                yield Entry(record.id, record.type, record.kind, template, record.expression)
        last, end = -1, self._rows("SELECT coalesce(max(n), -1) FROM record")[0][0]
        while last < end:
            rows = self._rows(
                "SELECT n, id, type, kind, expression, parts FROM record JOIN template ON record = n"
                " WHERE n > ? AND n <= ? ORDER BY n, position",
                (last, last + CHUNK),
            )
            for n, id, type, kind, expression, parts in rows:
                if n not in self._by_number:
                    yield Entry(id, type, kind, built.template_in(parts or "[]"), expression)
            last += CHUNK

    def by_frame(self, path: str, function: str) -> tuple[tuple[Record, RaiseSite], ...]:
        """The sites in functions of this name in files of this name, with their records.

        Only the last part of ``path`` and of ``function`` counts: a traceback prints an installation's path and the bare name.
        """
        file, tail = re.split(r"[/\\]", path)[-1], built.bare_name(function)
        rows = self._rows(
            "SELECT record, position FROM place JOIN site ON place = p WHERE file = ? AND tail = ? ORDER BY record, position",
            (clean(file), clean(tail)),
        )
        found: dict[object, tuple[Record, RaiseSite]] = {}
        for n, position in rows:
            scanned, record = self._scanned(n), self._by_number.get(n) or self._scanned(n)
            site = scanned.sites[position]
            same = (other for other in record.sites if record is not scanned and _place(other) == _place(site))
            found.setdefault((record.id, _place(site)), (record, next(same, site)))
        return tuple(found.values())

    def standing(self) -> frozenset[str]:
        """The ids of the scanned records whose text is in the newest release."""
        return frozenset(id for (id,) in self._rows("SELECT id FROM record WHERE last = ?", (len(self.releases) - 1,)))

    @property
    def written(self) -> tuple[Record, ...]:
        """The records that people wrote, joined with what the scan found."""
        return self._written

    def first_release(self, record: Record) -> str | None:
        """The oldest release of the catalogue in which the record's text stands; None when it stands in the oldest of all, or in none."""
        numbers = [self._order[at.release] for site in record.sites for at in site.lines[:1] if at.release in self._order]
        return self.releases[min(numbers)] if numbers and min(numbers) > 0 else None

    def last_release(self, record: Record) -> str | None:
        """The newest release in which the record's text stands; None when that is the newest of all, or there is none."""
        numbers = [self._order[site.latest.release] for site in record.sites if site.latest.release in self._order]
        return self.releases[max(numbers)] if numbers and max(numbers) < len(self.releases) - 1 else None

    def successor(self, record: Record) -> Record | None:
        """What the record's text is now, followed through all releases; None when nothing is known to have taken its place."""
        seen, at = {record.id}, record
        while at.successor and (later := self.get(at.successor)) is not None and later.id not in seen:
            seen.add(later.id)
            at = later
        return at if at.id != record.id else None

    def search(self, q: str = "", type: str = "", page: int = 1, per_page: int = 20) -> tuple[tuple[Record, ...], int]:
        """One page (from 1) of the records that hold every word of ``q`` and are of ``type``, and how many there are in all.

        Records that people wrote come first, then the others by type and heading. An empty ``q`` or ``type`` asks for nothing.
        """
        wanted = clean(q).lower().split()[:MAX_WORDS]
        per_page = min(max(per_page, 1), MAX_PER_PAGE)
        start = (min(max(page, 1), 10**9) - 1) * per_page
        written = [
            record
            for record in self._written
            if (not type or record.type.lower() == type.lower()) and all(word in built.words(record) for word in wanted)
        ]
        where = " AND ".join(
            [
                "n NOT IN (SELECT value FROM json_each(?))",
                *(["lower(type) = ?"] if type else []),
                *["instr(words, ?)"] * len(wanted),
            ]
        )
        parameters = [self._hidden, *([clean(type).lower()] if type else []), *wanted]
        total = len(written) + self._rows(f"SELECT count(*) FROM record WHERE {where}", parameters)[0][0]  # noqa: S608
        shown = written[start : start + per_page]
        rest = [per_page - len(shown), max(start - len(written), 0)]
        rows = self._rows(f"SELECT n FROM record WHERE {where} ORDER BY n LIMIT ? OFFSET ?", parameters + rest)  # noqa: S608
        return (*shown, *self._load(row[0] for row in rows)), total

    def related(self, record: Record) -> tuple[Record, ...]:
        """Up to five others: those that the record names, those that it wraps, then those with which it shares the most
        (:mod:`bot.catalogue.related`), of equal ones the nearest in its file. Texts that are gone are not shown of one that stands."""
        found: dict[str, Record] = {record.id: record}
        for text in record.related:
            if (other := self._named(text)) is not None:
                found.setdefault(other.id, other)
        found |= {other.id: other for other in self.wrapped(record) if other.id not in found}
        if len(found) <= MAX_RELATED:
            newest = len(self.releases) - 1 if record.status != "obsolete" and self.last_release(record) is None else None
            for n in related.sharing(record, self._rows, len(self), newest):
                other = next(self._load([n]))
                found.setdefault(other.id, other)
                if len(found) > MAX_RELATED:
                    break
        return tuple(found.values())[1 : MAX_RELATED + 1]

    def wrapped(self, record: Record) -> tuple[Record, ...]:
        """The errors that this one is raised in place of: those of the functions that were tried, or of private ones that these call, of a
        type that was caught."""
        found: dict[str, Record] = {}
        for site in record.sites[:MAX_RELATED]:
            types = causes.caught(site.conditions)[1]
            for called in site.tried:
                name = clean(causes.function_of(called))
                test = "tail = ?2 OR led = ?2" if "." not in name else "tail = ?2 AND function = ?1 OR led = ?2 AND entry = ?1"
                query = f"SELECT DISTINCT record, path, function, entry FROM place JOIN site ON place = p WHERE {test} ORDER BY record"  # noqa: S608
                rows = [(n, path, place) for n, path, *both in self._rows(query, (name, built.bare_name(name))) for place in both if place]
                meant = causes.resolve(called, site, ((path, place) for _, path, place in rows))
                for other in self._load(n for n, *place in rows if tuple(place) == meant):
                    says = other.template.parts or other.expression
                    if says and other.id != record.id and other.kind in ("error", "assert") and causes.catches(types, other.type):
                        found.setdefault(other.id, other)
        return tuple(found.values())[:MAX_WRAPPED]

    def wrapped_by(self, record: Record) -> tuple[Record, ...]:
        """The errors that are raised in place of this one, of whatever file."""
        names = json.dumps(sorted({clean(name) for site in record.sites[:MAX_RELATED] for name in causes.names_of(site)}))
        query = "SELECT DISTINCT record FROM tried WHERE name IN (SELECT value FROM json_each(?)) ORDER BY record LIMIT ?"
        rows = self._rows(query, (names, MAX_WRAPPERS))
        found = {other.id: other for other in self._load(n for (n,) in rows) if any(one.id == record.id for one in self.wrapped(other))}
        return tuple(found.values())[:MAX_WRAPPED]

    # ------------------------------------------------------------------------------------------------- addresses

    def source_url(self, site: RaiseSite, release: str | None = None) -> str:
        """The permalink of a site, in that release when it stands there, else in the newest that has it."""
        at = site.in_release(release)
        lines = f"L{at.line}" if at.end_line <= at.line else f"L{at.line}-L{at.end_line}"
        # Where a state without a tag was scanned, the commit stands in place of the release.
        tag = at.release if COMMIT.fullmatch(at.release) else self.source.tag_of(at.release)
        return self._address(tag, site.path, lines)

    def pinned_url(self, record: Record) -> str:
        """The permalink of the line that a record's author looked at; empty when the record names none."""
        pin = record.source
        return self._address(pin.commit, pin.path, f"L{pin.line}") if pin else ""

    def areas(self, record: Record) -> tuple[str, ...]:
        """The areas of ``source.yaml`` of the record's sites (or of its pinned line, when it has none), in that file's order."""
        paths = [site.path for site in record.sites] or ([record.source.path] if record.source else [])
        firsts = {next((area for mask, area in self.source.areas.items() if fnmatchcase(path, mask)), None) for path in paths}
        return tuple(area for area in dict.fromkeys(self.source.areas.values()) if area in firsts)

    def _address(self, commit: str, path: str, lines: str) -> str:
        return f"https://github.com/{self.repository}/blob/{quote(commit, safe='')}/{quote(path)}#{lines}"

    # ------------------------------------------------------------------------------------------------------ blobs

    def blob(self, name: str) -> bytes | None:
        """What was saved under this name, None when nothing was or when record files have changed their texts since."""
        rows = self._rows("SELECT data FROM blob WHERE name = ? AND written = ?", (name, self._overlay))
        return rows[0][0] if rows else None

    def save_blob(self, name: str, data: bytes) -> None:
        """Keep bytes with the catalogue, such as an index over its texts; only for the program that builds it.

        The file is replaced by one that holds them. Raises CatalogueError when another process built it anew meanwhile.
        """
        with built.replacing(self.path) as unfinished:
            shutil.copyfile(self.path, unfinished)
            with contextlib.closing(sqlite3.connect(unfinished)) as database:
                database.execute("PRAGMA journal_mode = OFF")
                if database.execute("SELECT value FROM meta WHERE key = 'digest'").fetchone() != (self._digest,):
                    raise CatalogueError(f"{self.path} was built anew meanwhile: open it again")
                database.execute("INSERT OR REPLACE INTO blob VALUES (?, ?, ?)", (name, self._overlay, data))
                database.commit()
        uri = f"{self.path.absolute().as_uri()}?mode=ro&immutable=1"
        with self._lock:
            self._database.close()
            self._database = sqlite3.connect(uri, uri=True, check_same_thread=False)

    # ---------------------------------------------------------------------------------------------------- reading

    def _rows(self, query: str, parameters: Iterable[Any] = ()) -> list[Any]:
        with self._lock:
            try:
                return self._database.execute(query, tuple(parameters)).fetchall()
            except sqlite3.Error as error:
                raise CatalogueError(f"{self.path} cannot be read ({error}): run `explainbot scan` for it again") from error

    def _numbers(self, ids: Iterable[str]) -> list[tuple[int, str]]:
        return self._rows("SELECT n, id FROM record WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),))

    def _load(self, numbers: Iterable[int], scanned: bool = False) -> Iterator[Record]:
        """The records of these numbers, in this order; in place of a claimed one the written one, unless ``scanned``."""
        for n in numbers:
            yield self._by_number[n] if not scanned and n in self._by_number else self._scanned(n)

    def _scanned(self, n: int) -> Record:
        """The record of this number as it was scanned. The last ones are kept: a frame's function asks for the same ones again."""
        if (record := self._recent.get(n)) is None:
            row = self._rows(f"SELECT {built.RECORD_COLUMNS}, sites FROM record WHERE n = ?", (n,))[0]  # noqa: S608
            templates = self._rows("SELECT parts FROM template WHERE record = ? AND parts NOT NULL ORDER BY position", (n,))
            texts = tuple(built.template_in(parts) for (parts,) in templates)
            record = built.record_in(row[:-1], texts, built.sites_in(row[-1], self.releases), self.repository)
            with self._lock:
                while len(self._recent) >= RECENT:
                    self._recent.pop(next(iter(self._recent)))
                self._recent[n] = record
        return record

    def _join(self, written: tuple[Record, ...]) -> tuple[Joined, ...]:
        """Written records joined with the scanned ones, of which only those are read that :func:`join` can choose."""
        newest = self.releases[-1] if self.releases else None
        keys = json.dumps([text_key(text) for record in written for text in texts(record)])
        rows = self._rows("SELECT DISTINCT record FROM template WHERE key IN (SELECT value FROM json_each(?))", (keys,))
        chosen = {row[0] for row in rows}
        more = chosen
        while more:
            followed = [record.successor for record in self._load(sorted(more), scanned=True) if record.successor]
            more = {n for n, _ in self._numbers(followed)} - chosen
            chosen |= more
        joined = join(tuple(self._load(sorted(chosen), scanned=True)), written, newest)
        lost: dict[str, list[str]] = {}
        for record, one in zip(written, joined, strict=True):
            if one.record.status == "obsolete":
                lost.setdefault(record.type, []).extend(texts(record))
        for type, old in lost.items():
            # Likeness is at most twice the shorter length over both: texts of much other length need not be read.
            sizes = sorted(map(len, old))
            rows = self._rows(
                "SELECT record, parts FROM template JOIN record ON n = record"
                " WHERE type = ? AND parts != '[]' AND size BETWEEN ? AND ? AND last IN (-1, ?)",
                (type, int(sizes[0] * 0.8), int(sizes[-1] * 1.25) + 1, len(self.releases) - 1),
            )
            current = [even(built.template_in(parts)) for _, parts in rows]
            chosen |= {rows[at][0] for _, _, at in near(old, current)}
        return join(tuple(self._load(sorted(chosen), scanned=True)), written, newest) if lost else joined

    def _named(self, text: str) -> Record | None:
        """The record that a list of related errors means: by its id, by a part of its text, or by a text that is near."""
        if (found := self.get(text)) is not None:
            return found
        needle = " ".join(clean(text).lower().split())
        if not needle:
            return None
        for record in self._written:
            if needle in built.words(record):
                return record
        rows = self._rows("SELECT n FROM record WHERE instr(words, ?) ORDER BY length(words), n LIMIT 1", (needle,))
        if not rows:
            heads = self._rows("SELECT n, substr(words, 1, ?) FROM record ORDER BY n", (len(needle),))
            best = process.extractOne(needle, [head for _, head in heads], scorer=fuzz.ratio, score_cutoff=SAME_HEADING)
            rows = [heads[best[2]]] if best else []
        return next(self._load(row[0] for row in rows), None)


def _place(site: RaiseSite) -> object:
    return site.path, site.function, site.lines
