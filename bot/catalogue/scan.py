"""Scans a whole source with all cores, and makes records of what it finds."""

from __future__ import annotations

import multiprocessing
import os
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass

from bot.catalogue.derive import guard, handler, remedies
from bot.catalogue.scanners import Known, Offer, Raised, Scanned, Unreadable, scan_alone
from bot.catalogue.sources import SourceConfig, SourceFile
from bot.model import RaiseSite, Record, SiteLines, Template, record_id

BATCH_BYTES = 750_000
"""Source handed to a process at a time: about 0.2 seconds of work, so that all finish together and the progress moves."""

AHEAD = 3
"""Batches that wait for each process; more would only fill memory."""

MAX_CHAIN = 5
"""How often what a file wants may itself want something of other files."""

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
class _Result:
    """What a process found in one file. ``text`` is the compressed source of a file that may have to be scanned once more."""

    path: str
    scanned: Scanned | None
    reason: str = ""
    text: bytes = b""


def scan(files: Iterable[SourceFile], progress: Progress | None = None, *, total: int | None = None, processes: int | None = None) -> Scan:
    """Scan all files of a source.

    ``progress`` is called with the number of files done and of all (``total``, or else those seen so far). ``processes`` is the number of
    cores by default; 1 scans in this process. A file that cannot be scanned is skipped with its reason.
    """
    count = processes or _cores()
    found: dict[str, _Result] = {}
    with _Workers(count) as workers:
        for result in workers.run((file, {}) for file in files):
            found[result.path] = result
            if progress is not None:
                progress(len(found), max(total or workers.seen, len(found)))
        offered = _offered(found.values())
        again = (
            (SourceFile(result.path, zlib.decompress(result.text)), known)
            for result in list(found.values())
            if result.scanned is not None and result.text and (known := _known_to(result, offered))
        )
        for result in workers.run(again):
            if result.scanned is not None:
                found[result.path] = result
    results = [found[path] for path in sorted(found)]
    return Scan(
        tuple(raised for result in results if result.scanned is not None for raised in result.scanned.raised),
        tuple(Skipped(result.path, result.reason) for result in results if result.scanned is None),
        sum(result.scanned is not None for result in results),
    )


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def _offered(results: Iterable[_Result]) -> dict[str, list[Offer]]:
    offered: dict[str, list[Offer]] = {}
    for result in results:
        for key, offer in result.scanned.offers if result.scanned is not None else ():
            offered.setdefault(key, []).append(offer)
    return offered


def _known_to(result: _Result, offered: dict[str, list[Offer]]) -> Known:
    """What other files offer of what a file wants, and of what that wants in turn; empty when there is nothing from elsewhere."""
    known: dict[str, tuple[Offer, ...]] = {}
    wanted = set(result.scanned.wants) if result.scanned is not None else set()
    for _ in range(MAX_CHAIN):
        more: set[str] = set()
        for key in wanted & offered.keys() - known.keys():
            known[key] = tuple(offered[key])
            more |= {need for offer in known[key] for need in offer.needs}
        wanted = more
    elsewhere = any(offer.path != result.path for offers in known.values() for offer in offers)
    return known if elsewhere else {}


# ------------------------------------------------------------------------------------------------------ processes

Job = tuple[SourceFile, Known]


def _scan_jobs(jobs: Sequence[Job]) -> list[_Result]:
    """Scan some files; runs in a process of its own."""
    return [_scan_job(file, known) for file, known in jobs]


def _scan_job(file: SourceFile, known: Known) -> _Result:
    try:
        scanned = scan_alone(file, known)
    except Unreadable as error:
        return _Result(file.path, None, str(error))
    except Exception as error:  # the fault of a scanner costs one file, never the scan
        return _Result(file.path, None, f"the scanner failed: {type(error).__name__}: {error}")
    return _Result(file.path, scanned, text=zlib.compress(file.text, 1) if scanned.wants and not known else b"")


class _Workers:
    """Processes that scan batches of files; this process itself where there can be no others."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.seen = 0
        self.pool: Executor | None = None

    def __enter__(self) -> _Workers:
        if self.count > 1:
            self.pool = self._start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.pool is not None:
            self.pool.shutdown(cancel_futures=True)

    def _start(self) -> Executor | None:
        """New processes rather than copies of this one (``spawn``): a copy of a process that has threads may hang."""
        try:
            return ProcessPoolExecutor(self.count, mp_context=multiprocessing.get_context("spawn"))
        except (OSError, NotImplementedError, ImportError):  # no semaphores here: one process does it all
            return None

    def run(self, jobs: Iterable[Job]) -> Iterator[_Result]:
        """Results of all jobs, in their order."""
        waiting: deque[tuple[list[Job], Future[list[_Result]]]] = deque()
        for batch in self._batches(jobs):
            if self.pool is None:
                yield from _scan_jobs(batch)
                continue
            try:
                waiting.append((batch, self.pool.submit(_scan_jobs, batch)))
            except (BrokenProcessPool, RuntimeError):
                yield from self._rescue(waiting, batch)
            while len(waiting) > self.count * AHEAD:
                yield from self._finish(waiting)
        while waiting:
            yield from self._finish(waiting)

    def _finish(self, waiting: deque[tuple[list[Job], Future[list[_Result]]]]) -> Iterator[_Result]:
        batch, future = waiting.popleft()
        try:
            results = future.result()
        except (BrokenProcessPool, OSError):
            yield from self._rescue(waiting, batch, first=True)
        else:
            yield from results

    def _rescue(self, waiting: deque[tuple[list[Job], Future[list[_Result]]]], batch: list[Job], first: bool = False) -> Iterator[_Result]:
        """After a process died: scan what was waiting one file at a time, each in a process whose death costs only that file."""
        batches = [batch, *(waiting_batch for waiting_batch, _ in waiting)] if first else [*(b for b, _ in waiting), batch]
        waiting.clear()
        if self.pool is not None:
            self.pool.shutdown(wait=False, cancel_futures=True)
        alone: Executor | None = None
        for job in (job for batch in batches for job in batch):
            alone = alone or ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
            try:
                yield from alone.submit(_scan_jobs, [job]).result()
            except (BrokenProcessPool, OSError):
                alone = None
                yield _Result(job[0].path, None, "the process that scanned it died")
        if alone is not None:
            alone.shutdown()
        self.pool = self._start()

    def _batches(self, jobs: Iterable[Job]) -> Iterator[list[Job]]:
        batch: list[Job] = []
        size = 0
        for job in jobs:
            self.seen += 1
            batch.append(job)
            size += len(job[0].text)
            if size >= BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch


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
    first = group[0]
    places = {(raised.path, raised.line, raised.function): raised for raised in reversed(group)}
    sites = tuple(_site(raised, release) for raised in sorted(places.values(), key=_place))
    templates = {template.skeleton: template for raised in reversed(group) for template in reversed((raised.template, *raised.also))}
    templates = {first.template.skeleton: first.template, **templates}
    kinds = {raised.kind for raised in group}
    is_raised = not kinds <= {"log", "warning"}
    return Record(
        id=id,
        repository=config.repository,
        type=first.type,
        templates=tuple(template for template in templates.values() if template.parts),
        sites=sites,
        kind="error" if "error" in kinds else first.kind,
        expression=first.expression,
        remedies=remedies(_as_said(first.template)) if kinds != {"warning"} else (),
        guard=guard(sites) if is_raised else "",
        handler=handler(first.type, sites, config) if is_raised else "",
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
    )
