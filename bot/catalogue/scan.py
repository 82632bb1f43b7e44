"""Scans a whole source with all cores, takes from the cache what is known already, and makes records of what it finds."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bot.catalogue.cache import ScanCache, digest, packed, raised_of
from bot.catalogue.derive import guard, handler, remedies
from bot.catalogue.scanners import Raised
from bot.catalogue.sources import SourceConfig, SourceFile
from bot.catalogue.workers import BATCH_BYTES, Foreign, Job, Offered, Result, Workers
from bot.model import RaiseSite, Record, SiteLines, Template, record_id

__all__ = ["BATCH_BYTES", "Listing", "Scan", "Skipped", "make_record", "scan", "survey", "to_records"]

MAX_CHAIN = 5
"""How often what a file wants may itself want something of other files."""

SAVED_TOGETHER = 200
"""Results that are written to the cache at a time: an interrupted scan loses no more."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was not scanned, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Scan:
    """What a source raises, in the order of paths and lines; the files left out; how many files were scanned."""

    raised: tuple[Raised, ...]
    skipped: tuple[Skipped, ...]
    files: int


@dataclass(frozen=True, slots=True)
class Listing:
    """What one release holds: for each path where something raises, the key of its sites in the cache; what was skipped.

    ``fresh`` counts the files that had to be scanned (those scanned twice count twice). ``passing`` says that a file failed
    for a reason that may be gone another time. ``instead`` is the kind of archive that was read, where it is not the one wanted.
    """

    sites: tuple[tuple[str, bytes], ...]
    skipped: tuple[Skipped, ...]
    files: int
    fresh: int = 0
    passing: bool = False
    instead: str = ""


@dataclass(frozen=True, slots=True)
class _Facts:
    """What scanning a file alone has told: why it cannot be scanned, where its sites are kept, its wants and offers; what its sites ask of
    other files that need not be scanned for, and where that is kept."""

    reason: str
    sites: bytes
    wants: tuple[str, ...]
    offers: tuple[Offered, ...]
    asks: tuple[str, ...]
    open: bytes


@dataclass(slots=True)
class Memory:
    """The facts of the files of the release before, so that those of unchanged files need not be read again."""

    facts: dict[bytes, _Facts] = field(default_factory=dict)


def scan(
    files: Iterable[SourceFile],
    progress: Progress | None = None,
    *,
    total: int | None = None,
    processes: int | None = None,
    cache: ScanCache | None = None,
) -> Scan:
    """Scan all files of a source.

    ``progress`` is called with the number of files done and of all (``total``, or else those seen so far). ``processes`` is the number of
    cores by default; 1 scans in this process. A file that cannot be scanned is skipped with its reason.
    """
    with cache or ScanCache() as kept_in, Workers(processes) as workers:
        listing = survey(files, kept_in, workers, progress, total=total)
        raised = tuple(raised_of(site, path) for path, key in listing.sites for site in kept_in.get(key) or ())
    return Scan(raised, listing.skipped, listing.files)


def survey(
    files: Iterable[SourceFile],
    cache: ScanCache,
    workers: Workers,
    progress: Progress | None = None,
    *,
    total: int | None = None,
    memory: Memory | None = None,
) -> Listing:
    """Scan all files of a source whose results are not in the cache, and say where the results of all are.

    A file is scanned alone first; when other files offer what it wants, once more with that, and when they only offer what it left open,
    that is settled. Both results are kept: the first under the file's content, the second also under what was known. Raises SourceError
    when the cache cannot be used.
    """
    return _Survey(cache, workers, progress, total or 0, memory or Memory()).run(files)


class _Survey:
    def __init__(self, cache: ScanCache, workers: Workers, progress: Progress | None, total: int, memory: Memory) -> None:
        self.cache, self.workers, self.progress, self.total, self.memory = cache, workers, progress, total, memory
        self.keys: dict[str, bytes] = {}
        self.facts: dict[str, _Facts] = {}
        self.texts: dict[str, bytes] = {}
        self.skipped: dict[str, str] = {}
        self.unsaved: list[tuple[bytes, bytes]] = []
        self.seen = self.done = self.fresh = 0
        self.passing = False

    def run(self, files: Iterable[SourceFile]) -> Listing:
        for result in self.workers.run(self._first(files)):
            self._learn(result)
        self._save(0)
        self.memory.facts = {self.keys[path]: facts for path, facts in self.facts.items()}
        found = {path: facts.sites for path, facts in self.facts.items() if not facts.reason}
        found |= self._second(found)
        self.skipped |= {path: facts.reason for path, facts in self.facts.items() if facts.reason}
        return Listing(
            tuple((path, found[path]) for path in sorted(found) if found[path]),
            tuple(Skipped(path, self.skipped[path]) for path in sorted(self.skipped)),
            len(found),
            self.fresh,
            self.passing,
        )

    def _first(self, files: Iterable[SourceFile]) -> Iterator[Job]:
        """The files whose content was never scanned; of the others, the facts are taken from the cache."""
        for file in files:
            self.seen += 1
            if file.problem:
                self.skipped[file.path] = file.problem
                self._step()
                continue
            key = digest("file", file.path, hashlib.sha256(file.text).digest())
            self.keys[file.path] = key
            facts = self.memory.facts.get(key)
            if facts is None and (held := self.cache.get(key)) is not None:
                facts = _Facts(*held)
            if facts is None or facts.wants or facts.asks:
                self.texts[file.path] = file.text
            if facts is not None:
                self.facts[file.path] = facts
                self._step()
                continue
            self.fresh += 1
            yield Job(file)

    def _learn(self, result: Result) -> None:
        self._step()
        if result.passing:
            self.skipped[result.path] = result.reason
            self.passing = True
            return
        key = self.keys[result.path]
        sites = digest("sites", key) if result.sites else b""
        left = digest("open", key) if result.open else b""
        facts = _Facts(result.reason, sites, result.wants, result.offers, result.asks, left)
        self.facts[result.path] = facts
        if not (facts.wants or facts.asks):
            self.texts.pop(result.path, None)
        self.unsaved.append((key, packed((facts.reason, sites, facts.wants, facts.offers, facts.asks, left))))
        self.unsaved += [(at, data) for at, data in ((sites, result.sites), (left, result.open)) if at]
        self._save(SAVED_TOGETHER)

    def _second(self, found: dict[str, bytes]) -> dict[str, bytes]:
        """Where the sites of those files are that other files tell something about."""
        offers = _Offers((path, facts.offers) for path, facts in self.facts.items())
        told: dict[str, bytes] = {}
        again: set[str] = set()
        for path in found:
            facts = self.facts[path]
            scans, settles = offers.digest(path, facts.wants), offers.digest(path, facts.asks)
            if scans or settles:
                told[path] = digest("told", self.keys[path], scans, settles)
            if scans:
                again.add(path)
        held = self.cache.holds(told.values())
        keys: dict[str, bytes] = {}
        for path, key in told.items():
            if key in held:
                keys[path] = key
        jobs = (self._once_more(path, offers, path in again) for path in told if path not in keys)
        for result in self.workers.run(jobs):
            self.fresh += result.path in again
            if result.reason:  # what was found without the others stands
                self.passing |= result.passing
                continue
            keys[result.path] = told[result.path]
            self.unsaved.append((told[result.path], result.sites or packed(())))
            self._save(SAVED_TOGETHER)
        self._save(0)
        return keys

    def _once_more(self, path: str, offers: _Offers, scans: bool) -> Job:
        facts = self.facts[path]
        left = None if scans else (self.cache.data(facts.sites), self.cache.data(facts.open))
        return Job(SourceFile(path, self.texts[path]), offers.known((*facts.wants, *facts.asks)), left)

    def _save(self, waiting: int) -> None:
        if len(self.unsaved) > waiting:
            self.cache.put(self.unsaved)
            self.unsaved = []

    def _step(self) -> None:
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, max(self.total or self.seen, self.done))


class _Offers:
    """What all files of a source offer, and what of it a file gets to know."""

    def __init__(self, found: Iterable[tuple[str, tuple[Offered, ...]]]) -> None:
        self.offers: dict[str, list[tuple[str, bytes, tuple[str, ...], bytes]]] = {}
        for path, offers in sorted(found):
            for key, mark, needs, data in offers:
                self.offers.setdefault(key, []).append((path, mark, needs, data))
        self.reached: dict[str, tuple[bytes, frozenset[str]]] = {}

    def digest(self, path: str, wants: Iterable[str]) -> bytes:
        """A digest of all that a file gets to know; empty when there is nothing from elsewhere."""
        marks: list[bytes] = []
        paths: set[str] = set()
        for key in wants:
            if key in self.offers:
                if key not in self.reached:
                    self.reached[key] = self._reach(key)
                mark, found = self.reached[key]
                marks.append(mark)
                paths |= found
        return digest(*marks) if paths - {path} else b""

    def _reach(self, key: str) -> tuple[bytes, frozenset[str]]:
        """A digest of what is offered under a key and of what that needs, and the paths of it."""
        offers = [(found, offer) for found in self._keys((key,)) for offer in self.offers[found]]
        return digest(*(part for found, offer in offers for part in (found, offer[1]))), frozenset(offer[0] for _, offer in offers)

    def _keys(self, wants: Iterable[str]) -> list[str]:
        found: dict[str, None] = {}
        wanted = set(wants)
        for _ in range(MAX_CHAIN):
            more: set[str] = set()
            for key in sorted(key for key in wanted if key in self.offers and key not in found):
                found[key] = None
                more |= {need for _, _, needs, _ in self.offers[key] for need in needs}
            wanted = more
        return list(found)

    def known(self, wants: Iterable[str]) -> Foreign:
        """What a file gets to know, as it is handed to the process that scans it."""
        return tuple((key, tuple((path, data, needs) for path, _, needs, data in self.offers[key])) for key in self._keys(wants))


# -------------------------------------------------------------------------------------------------------- records


def to_records(scan: Scan, config: SourceConfig, release: str) -> tuple[Record, ...]:
    """Records of what a scan of one release found: one for each type and text, with all its places, ordered by the first of them."""
    grouped: dict[str, list[Raised]] = {}
    for raised in sorted(scan.raised, key=_place):
        id = record_id(config.repository, raised.type, raised.template, raised.expression)
        grouped.setdefault(id, []).append(raised)
    return tuple(_record(id, config, group, release) for id, group in grouped.items())


def _place(raised: Raised) -> tuple[str, int, int, str, str]:
    return raised.path, raised.line, raised.end_line, raised.type, str(raised.template)


def _record(id: str, config: SourceConfig, group: Sequence[Raised], release: str) -> Record:
    places = {(raised.path, raised.line, raised.function): raised for raised in reversed(group)}
    sites = tuple(_site(raised, release) for raised in sorted(places.values(), key=_place))
    return make_record(id, config, group, sites)


def make_record(
    id: str, config: SourceConfig, group: Sequence[Raised], sites: Sequence[RaiseSite], gone: Sequence[RaiseSite] = ()
) -> Record:
    """The record of all that is raised with one type and text, and what the code says of it.

    ``group`` gives type, spelling and kind, the first of it before the others; ``sites`` are the places, and ``gone`` those of older
    releases, which say nothing about the record any more.
    """
    first = group[0]
    templates = {template.skeleton: template for raised in reversed(group) for template in reversed((raised.template, *raised.also))}
    templates = {first.template.skeleton: first.template, **templates}
    kinds = {raised.kind for raised in group}
    is_raised = not kinds <= {"log", "warning"}
    current = tuple(sites)
    return Record(
        id=id,
        repository=config.repository,
        type=first.type,
        templates=tuple(template for template in templates.values() if template.parts),
        sites=(*current, *gone),
        kind="error" if "error" in kinds else first.kind,
        expression=first.expression,
        remedies=remedies(_as_said(first.template)) if kinds != {"warning"} else (),
        guard=guard(current) if is_raised else "",
        handler=handler(first.type, current, config) if is_raised else "",
    )


def _as_said(template: Template) -> str:
    """A message with its holes as they are written in f-strings, but with single braces in its literals."""
    return "".join(str(part) for part in template.parts)


def _site(raised: Raised, release: str) -> RaiseSite:
    return RaiseSite(
        path=raised.path,
        function=raised.function,
        lines=(SiteLines(release, raised.line, raised.end_line),),
        code=raised.code,
        conditions=raised.conditions,
        signature=raised.signature,
        through=raised.through,
        flags=raised.flags,
        entry=raised.entry,
        documented=raised.documented,
        tried=raised.tried,
    )
