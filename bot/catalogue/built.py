"""The built catalogue file: its tables, how a record lies in them, and how the file is written.

One SQLite file for each repository. It is only ever read where it is used, and replaced as a whole: whoever has the old one open
goes on with it. The same records give the same bytes, in whatever order they come.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import sqlite3
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

from bot.catalogue import causes
from bot.catalogue.keys import clean, text_key
from bot.catalogue.merge import even, texts
from bot.catalogue.related import Shared
from bot.catalogue.sources import SourceConfig
from bot.model import (
    Condition,
    Example,
    Hole,
    PinnedSource,
    Provenance,
    RaiseSite,
    Record,
    Sample,
    SiteLines,
    Template,
    Translation,
)

VERSION = 4
"""Version of the tables; a file of another one is refused and has to be built again."""

APPLICATION = 0x65786231
"""SQLite's application id of these files ("exb1"): another SQLite file is not taken for one."""

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE record (
    n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, type TEXT NOT NULL, kind TEXT NOT NULL, expression TEXT NOT NULL,
    words TEXT NOT NULL, said TEXT NOT NULL, last INTEGER NOT NULL, sites BLOB NOT NULL
);
CREATE TABLE template (
    record INTEGER NOT NULL, position INTEGER NOT NULL, key INTEGER NOT NULL, size INTEGER NOT NULL, parts TEXT,
    PRIMARY KEY (record, position)
) WITHOUT ROWID;
CREATE INDEX template_key ON template (key);
CREATE TABLE place (
    p INTEGER PRIMARY KEY, path TEXT NOT NULL, file TEXT NOT NULL, function TEXT NOT NULL, tail TEXT NOT NULL, entry TEXT NOT NULL,
    led TEXT NOT NULL
);
CREATE TABLE site (
    place INTEGER NOT NULL, record INTEGER NOT NULL, position INTEGER NOT NULL, line INTEGER NOT NULL,
    PRIMARY KEY (place, record, position)
) WITHOUT ROWID;
CREATE TABLE tried (name TEXT NOT NULL, record INTEGER NOT NULL, PRIMARY KEY (name, record)) WITHOUT ROWID;
CREATE TABLE term (term INTEGER NOT NULL, record INTEGER NOT NULL, PRIMARY KEY (term, record)) WITHOUT ROWID;
CREATE TABLE blob (name TEXT PRIMARY KEY, written TEXT NOT NULL, data BLOB NOT NULL) WITHOUT ROWID;
"""

INDEXES = """
CREATE INDEX place_frame ON place (file, tail);
CREATE INDEX place_path ON place (path, function);
CREATE INDEX place_tail ON place (tail, function);
CREATE INDEX place_led ON place (led, entry);
"""


class CatalogueError(Exception):
    """A catalogue file that is not there or cannot be used; the message says what to run."""


def build(path: Path, config: SourceConfig, records: Iterable[Record], releases: Sequence[str], inputs: str = "") -> None:
    """Write the catalogue file of what a scan found; ``releases`` oldest first.

    The file appears at ``path`` when it is complete; until then, and after any error or crash, the old one stays. ``inputs`` is kept
    with it, to tell later what it was made from. Raises ValueError when two records have one id, or a site stands in a release that is
    not among ``releases``; OSError when the folder cannot be written.
    """
    write(path, config, sorted(records, key=lambda record: (record.type.lower(), record.heading.lower(), record.id)), releases, inputs)


def write(
    path: Path,
    config: SourceConfig,
    ordered: Iterable[Record],
    releases: Sequence[str],
    inputs: str = "",
    counts: tuple[int, int, int] = (0, 0, 0),
) -> None:
    """:func:`build` for records that come in the catalogue's order (type, then text), one at a time.

    ``counts`` are kept for reports: places, records that are gone, those of them with a successor.
    """
    numbers = {release: at for at, release in enumerate(releases)}
    places: dict[tuple[str, str], int] = {}
    with replacing(path) as unfinished, contextlib.closing(sqlite3.connect(unfinished)) as database:
        database.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {TABLES}")
        digest = hashlib.sha256()
        shared = Shared()
        for n, record in enumerate(ordered):
            shared.add(n, record)
            for table, row in _rows(n, record, numbers, places):
                digest.update(repr(row).encode())
                try:
                    database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608
                except sqlite3.IntegrityError as error:
                    raise ValueError(f"two records have the id {record.id}") from error
        database.executemany("INSERT INTO term VALUES (?, ?)", shared.rows())
        database.executescript(INDEXES)
        meta = {
            "repository": config.repository,
            "source": config.model_dump_json(),
            "releases": json.dumps(list(releases)),
            "records": str(shared.count),
            "inputs": inputs,
            "counts": json.dumps(counts),
        }
        digest.update(repr(sorted(meta.items())).encode())
        database.executemany("INSERT INTO meta VALUES (?, ?)", sorted((meta | {"digest": digest.hexdigest()}).items()))
        database.commit()
        database.executescript(f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new file in the folder of ``path``, which takes its place when the block ends well and is removed when it does not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        unfinished.chmod(0o644)
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


# ------------------------------------------------------------------------------------------------- records into rows


def _rows(n: int, record: Record, numbers: dict[str, int], places: dict[tuple[str, str], int]) -> Iterator[tuple[str, tuple[object, ...]]]:
    said = json.dumps(_said(record), separators=(",", ":"))
    last = max((_number(site, numbers) for site in record.sites), default=-1)
    row = (n, record.id, clean(record.type), record.kind, clean(record.expression), words(record), said, last)
    yield "record", (*row, _sites_out(record.sites, numbers))
    for position, template in enumerate(record.templates or (None,)):
        text = even(template) if template and template.parts else texts(record)[0]
        parts = None if template is None else _template_out(template)
        yield "template", (n, position, text_key(text), len(text), parts)
    for position, site in enumerate(record.sites):
        place = places.get((site.path, site.function))
        if place is None:
            place = places[site.path, site.function] = len(places)
            names = (site.path, site.path.rpartition("/")[2], site.function, bare_name(site.function), site.entry, bare_name(site.entry))
            yield "place", (place, *map(clean, names))
        yield "site", (place, n, position, site.latest.line)
    tried = {clean(causes.last_name(called)) for site in record.sites for called in site.tried}
    yield from (("tried", (name, n)) for name in sorted(tried))


def _number(site: RaiseSite, numbers: dict[str, int]) -> int:
    for at in site.lines:
        if at.release not in numbers:
            raise ValueError(f"{site.path}:{at.line} stands in release {at.release}, which is not among those given")
    return numbers[site.latest.release]


def bare_name(function: str) -> str:
    """The last part of a qualified name, of Python (``Class.method``) or C++ (``space::function``)."""
    return re.split(r"\.|::", function)[-1]


def words(record: Record) -> str:
    """What a search looks through, in small letters: heading first, then texts, expression, type, id."""
    parts = (record.heading, *map(str, record.templates), record.expression, record.type, record.id)
    return clean(" ".join(" ".join(dict.fromkeys(part for part in parts if part)).split())).lower()


_LISTS = ("remedies", "solutions", "related", "seen_in")
_PLAIN = ("status", "title", "meaning", "guard", "handler", "trigger", "situations", "symptom", "file", "successor")
_DEFAULTS = {field.name: field.default for field in fields(Record)}


def _said(record: Record) -> dict[str, object]:
    """What has no column of its own, where it is not empty."""
    said: dict[str, object] = {name: getattr(record, name) for name in (*_PLAIN, *_LISTS) if getattr(record, name) != _DEFAULTS[name]}
    parts = {"example": record.example, "source": record.source, "provenance": record.provenance}
    said |= {name: astuple(part) for name, part in parts.items() if part is not None}
    samples = {"samples": record.samples, "confusers": record.confusers}
    said |= {name: [astuple(sample) for sample in found] for name, found in samples.items() if found}
    return said | ({"translations": [astuple(told) for told in record.translations]} if record.translations else {})


def _template_out(template: Template) -> str:
    parts = [part if isinstance(part, str) else [part.expression, part.suffix] for part in template.parts]
    return json.dumps(parts, separators=(",", ":"))


def _sites_out(sites: Sequence[RaiseSite], numbers: dict[str, int]) -> bytes:
    """The sites of a record, compressed together: what one says, the next one often says as well."""
    return zlib.compress(json.dumps([_site_out(site, numbers) for site in sites], separators=(",", ":")).encode(), 9)


def _site_out(site: RaiseSite, numbers: dict[str, int]) -> list[object]:
    """A site; its lines as runs of releases in which it did not move: releases left out before, how many, lines moved by, lines long."""
    runs: list[int] = []
    end = line = 0
    first: tuple[int, int] | None = None
    count = 0
    for at in (*site.lines, None):
        number = numbers[at.release] if at else -1
        if first is not None and (at is None or (at.line, at.end_line) != first or number != end + count):
            runs += [count, first[0] - line, first[1] - first[0]]
            end, line, first = end + count, first[0], None
        if at is not None:
            if first is None:
                runs.append(number - end)
                end, first, count = number, (at.line, at.end_line), 0
            count += 1
    conditions = [part for condition in site.conditions for part in (condition.kind, condition.text)]
    more = [site.flags, site.entry, [part for pair in site.documented for part in pair], site.tried]
    return [site.path, site.function, runs, site.code, conditions, site.signature, site.through, *(more if any(more) else ())]


# ------------------------------------------------------------------------------------------------- rows into records

RECORD_COLUMNS = "n, id, type, kind, expression, said"


def template_in(parts: str) -> Template:
    """A template from the column ``parts``."""
    return Template(tuple(part if isinstance(part, str) else Hole(*part) for part in json.loads(parts)))


def sites_in(data: bytes, releases: Sequence[str]) -> tuple[RaiseSite, ...]:
    """The sites of a record from the column ``sites``."""
    return tuple(_site_in(site, releases) for site in json.loads(zlib.decompress(data)))


def _site_in(site: Sequence[Any], releases: Sequence[str]) -> RaiseSite:
    path, function, runs, code, conditions, signature, through, *more = site
    flags, entry, said, tried = more or ((), "", (), ())
    lines: list[SiteLines] = []
    at = line = 0
    for start in range(0, len(runs), 4):
        gap, count, moved, long = runs[start : start + 4]
        at, line = at + gap, line + moved
        lines += [SiteLines(release, line, line + long) for release in releases[at : at + count]]
        at += count
    pairs = zip(conditions[::2], conditions[1::2], strict=True)
    derived = (tuple(flags), entry, tuple(zip(said[::2], said[1::2], strict=True)), tuple(tried))
    return RaiseSite(path, function, tuple(lines), code, tuple(Condition(*pair) for pair in pairs), signature, through, *derived)


def record_in(
    row: tuple[int, str, str, str, str, str], templates: tuple[Template, ...], sites: tuple[RaiseSite, ...], repository: str
) -> Record:
    """A record from its columns (:data:`RECORD_COLUMNS`), its templates and its sites."""
    _, id, type, kind, expression, text = row
    said = json.loads(text)
    for name in _LISTS:
        if name in said:
            said[name] = tuple(said[name])
    for name in ("samples", "confusers"):
        said[name] = tuple(Sample(sample, tuple(map(tuple, captures))) for sample, captures in said.get(name, ()))
    told = said.get("translations", ())
    said["translations"] = tuple(Translation(language, title, means, tuple(todo)) for language, title, means, todo in told)
    made = {"example": Example, "source": PinnedSource, "provenance": Provenance}
    said |= {name: part(*said[name]) for name, part in made.items() if name in said}
    return Record(id, repository, type, templates, sites, kind, expression, **said)
