"""The built catalogue file: its tables, how a record lies in them, and how the file is written.

One SQLite file for each repository. It is only ever read where it is used, and replaced as a whole: whoever has the old one open
goes on with it. The same records give the same bytes, in whatever order they come.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, fields
from pathlib import Path

from bot.catalogue.merge import even, texts
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
)

VERSION = 2
"""Version of the tables; a file of another one is refused and has to be built again."""

APPLICATION = 0x65786231
"""SQLite's application id of these files ("exb1"): another SQLite file is not taken for one."""

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE record (
    n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, type TEXT NOT NULL, kind TEXT NOT NULL, expression TEXT NOT NULL,
    words TEXT NOT NULL, said TEXT NOT NULL
);
CREATE TABLE template (
    record INTEGER NOT NULL, position INTEGER NOT NULL, key INTEGER NOT NULL, size INTEGER NOT NULL, parts TEXT,
    PRIMARY KEY (record, position)
) WITHOUT ROWID;
CREATE INDEX template_key ON template (key);
CREATE TABLE site (
    record INTEGER NOT NULL, position INTEGER NOT NULL, path TEXT NOT NULL, file TEXT NOT NULL, function TEXT NOT NULL,
    tail TEXT NOT NULL, line INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (record, position)
) WITHOUT ROWID;
CREATE INDEX site_frame ON site (file, tail);
CREATE INDEX site_path ON site (path, function);
CREATE TABLE blob (name TEXT PRIMARY KEY, written TEXT NOT NULL, data BLOB NOT NULL) WITHOUT ROWID;
"""


class CatalogueError(Exception):
    """A catalogue file that is not there or cannot be used; the message says what to run."""


def build(path: Path, config: SourceConfig, records: Iterable[Record], releases: Sequence[str]) -> None:
    """Write the catalogue file of what a scan found; ``releases`` oldest first.

    The file appears at ``path`` when it is complete; until then, and after any error or crash, the old one stays. Raises
    ValueError when two records have one id, or a site stands in a release that is not among ``releases``; OSError when the folder
    cannot be written.
    """
    ordered = sorted(records, key=lambda record: (record.type.lower(), record.heading.lower(), record.id))
    numbers = {release: at for at, release in enumerate(releases)}
    with replacing(path) as unfinished, contextlib.closing(sqlite3.connect(unfinished)) as database:
        database.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {TABLES}")
        digest = hashlib.sha256()
        for n, record in enumerate(ordered):
            for table, row in _rows(n, record, numbers):
                digest.update(repr(row).encode())
                try:
                    database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608
                except sqlite3.IntegrityError as error:
                    raise ValueError(f"two records have the id {record.id}") from error
        meta = {
            "repository": config.repository,
            "source": config.model_dump_json(),
            "releases": json.dumps(list(releases)),
            "records": str(len(ordered)),
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


def _rows(n: int, record: Record, numbers: dict[str, int]) -> Iterator[tuple[str, tuple[object, ...]]]:
    said = json.dumps(_said(record), separators=(",", ":"))
    yield "record", (n, record.id, clean(record.type), record.kind, clean(record.expression), words(record), said)
    for position, template in enumerate(record.templates or (None,)):
        text = even(template) if template and template.parts else texts(record)[0]
        parts = None if template is None else _template_out(template)
        yield "template", (n, position, text_key(text), len(text), parts)
    for position, site in enumerate(record.sites):
        file, tail = site.path.rpartition("/")[2], site.function.rpartition(".")[2]
        row = (site.path, file, site.function, tail)
        yield "site", (n, position, *map(clean, row), site.latest.line, _site_out(site, numbers))


def clean(text: str) -> str:
    """Text that SQLite can hold: it refuses lone surrogates, which a Python literal may hold, and its functions end at a NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", " ")


def text_key(text: str) -> int:
    """A number for a text, as SQLite holds it: 64 bits, signed."""
    data = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), signed=True)


def words(record: Record) -> str:
    """What a search looks through, in small letters: heading first, then texts, expression, type, id."""
    parts = (record.heading, *map(str, record.templates), record.expression, record.type, record.id)
    return clean(" ".join(" ".join(dict.fromkeys(part for part in parts if part)).split())).lower()


_LISTS = ("remedies", "solutions", "related")
_PLAIN = ("status", "title", "meaning", "guard", "handler", "trigger", "situations", "symptom", "file")
_DEFAULTS = {field.name: field.default for field in fields(Record)}


def _said(record: Record) -> dict[str, object]:
    """What has no column of its own, where it is not empty."""
    said: dict[str, object] = {
        name: getattr(record, name) for name in (*_PLAIN, *_LISTS) if getattr(record, name) != _DEFAULTS[name]
    }
    parts = {"example": record.example, "source": record.source, "provenance": record.provenance}
    said |= {name: astuple(part) for name, part in parts.items() if part is not None}
    samples = {"samples": record.samples, "confusers": record.confusers}
    return said | {name: [astuple(sample) for sample in found] for name, found in samples.items() if found}


def _template_out(template: Template) -> str:
    parts = [part if isinstance(part, str) else [part.expression, part.suffix] for part in template.parts]
    return json.dumps(parts, separators=(",", ":"))


def _site_out(site: RaiseSite, numbers: dict[str, int]) -> str:
    """A site's body; its lines as runs of releases in which it did not move: first release, how many, line, end line."""
    runs: list[list[int]] = []
    for at in site.lines:
        if at.release not in numbers:
            raise ValueError(f"{site.path}:{at.line} stands in release {at.release}, which is not among those given")
        number = numbers[at.release]
        if runs and runs[-1][0] + runs[-1][1] == number and runs[-1][2:] == [at.line, at.end_line]:
            runs[-1][1] += 1
        else:
            runs.append([number, 1, at.line, at.end_line])
    conditions = [[condition.kind, condition.text] for condition in site.conditions]
    return json.dumps([runs, site.code, conditions, site.signature, site.through], separators=(",", ":"))


# ------------------------------------------------------------------------------------------------- rows into records

RECORD_COLUMNS = "n, id, type, kind, expression, said"
SITE_COLUMNS = "path, function, body"


def template_in(parts: str) -> Template:
    """A template from the column ``parts``."""
    return Template(tuple(part if isinstance(part, str) else Hole(*part) for part in json.loads(parts)))


def site_in(row: tuple[str, str, str], releases: Sequence[str]) -> RaiseSite:
    """A site from its columns (:data:`SITE_COLUMNS`)."""
    path, function, body = row
    runs, code, conditions, signature, through = json.loads(body)
    lines = tuple(
        SiteLines(releases[number], line, end) for first, count, line, end in runs for number in range(first, first + count)
    )
    return RaiseSite(path, function, lines, code, tuple(Condition(*condition) for condition in conditions), signature, through)


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
    made = {"example": Example, "source": PinnedSource, "provenance": Provenance}
    said |= {name: part(*said[name]) for name, part in made.items() if name in said}
    return Record(id, repository, type, templates, sites, kind, expression, **said)
