"""Processes that scan files: batches of them at a time, and the death of one costs no more than the file it died of."""

from __future__ import annotations

import marshal
import multiprocessing
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from bot.catalogue.cache import MARSHAL, digest, full, kept, packed, plain, raised_of, unpacked
from bot.catalogue.scanners import Known, Offer, Open, Raised, Unreadable, scan_alone
from bot.catalogue.sources import SourceFile

BATCH_BYTES = 750_000
"""Source handed to a process at a time: about 0.2 seconds of work, so that all finish together and the progress moves."""

AHEAD = 3
"""Batches that wait for each process; more would only fill memory."""

Offered = tuple[str, bytes, tuple[str, ...], bytes]
"""What a file offers to others, as it is kept: key, digest (of value and path), which keys it needs itself, value."""

Foreign = tuple[tuple[str, tuple[tuple[str, bytes, tuple[str, ...]], ...]], ...]
"""What other files offer of what a file wants: key, and for each offer its path, value, and needs."""


@dataclass(frozen=True, slots=True)
class Result:
    """What was found in one file. ``sites`` and what they leave ``open`` are packed, empty when there are none; ``asks`` is what that
    wants.

    ``reason`` says why the file could not be scanned; ``passing`` that it might be another time.
    """

    path: str
    sites: bytes = b""
    wants: tuple[str, ...] = ()
    offers: tuple[Offered, ...] = ()
    asks: tuple[str, ...] = ()
    open: bytes = b""
    reason: str = ""
    passing: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """A file to scan, with what others offer of what it wants. To settle it instead, ``left`` holds its sites and what they leave open, as
    the first round packed them; only when they cannot be read, the file is scanned after all."""

    file: SourceFile
    foreign: Foreign = ()
    left: tuple[bytes, bytes] | None = None


def _scan_jobs(jobs: Sequence[Job]) -> list[Result]:
    """Scan some files; runs in a process of its own."""
    return list(map(_scan_job, jobs))


def _scan_job(job: Job) -> Result:
    file = job.file
    known: Known = {key: tuple(Offer(path, _value(data), frozenset(needs)) for path, data, needs in offers) for key, offers in job.foreign}
    try:
        if (held := _held(file.path, job.left)) is not None:
            return Result(file.path, _sites(held[1].settled(held[0], known)))
        scanned = scan_alone(file, known)
        sites = _sites(scanned.raised)
        if job.foreign:
            return Result(file.path, sites)
        offers = tuple(_offered(key, offer) for key, offer in scanned.offers)
        wants = tuple(sorted(scanned.wants))
        if scanned.open is None:
            return Result(file.path, sites, wants, offers)
        return Result(file.path, sites, wants, offers, tuple(sorted(scanned.open.wants)), packed(plain(scanned.open)))
    except Unreadable as error:
        return Result(file.path, reason=str(error))
    except RecursionError:
        return Result(file.path, reason="cannot be scanned: nested too deeply")
    except Exception as error:  # the fault of a scanner costs one file, never the scan
        return Result(file.path, reason=f"the scanner failed: {type(error).__name__}: {error}", passing=True)


def _sites(raised: Sequence[Raised]) -> bytes:
    return packed(tuple(map(kept, raised))) if raised else b""


def _held(path: str, left: tuple[bytes, bytes] | None) -> tuple[tuple[Raised, ...], Open] | None:
    try:
        return left and (tuple(raised_of(site, path) for site in unpacked(left[0])), cast(Open, full(unpacked(left[1]))))
    except ValueError:
        return None


def _offered(key: str, offer: Offer) -> Offered:
    data = marshal.dumps(plain(offer.value), MARSHAL)
    needs = tuple(sorted(offer.needs))
    return key, digest(offer.path, data, *needs), needs, data


@lru_cache(maxsize=20_000)
def _value(data: bytes) -> Any:
    return full(marshal.loads(data))  # noqa: S302


class Workers:
    """Processes for batches of files; this process itself where there can be no others, or ``count`` is 1."""

    def __init__(self, count: int | None = None) -> None:
        """``count`` is the number of cores by default."""
        self.count = count or _cores()
        self.pool: Executor | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        if self.pool is not None:
            self.pool.shutdown(cancel_futures=True)

    def _start(self) -> Executor | None:
        """New processes rather than copies of this one (``spawn``): a copy of a process that has threads may hang."""
        try:
            return ProcessPoolExecutor(self.count, mp_context=multiprocessing.get_context("spawn"))
        except (OSError, NotImplementedError, ImportError):  # no semaphores here: one process does it all
            self.count = 1
            return None

    def run(self, jobs: Iterable[Job]) -> Iterator[Result]:
        """Results of all jobs, in their order."""
        waiting: deque[tuple[list[Job], Future[list[Result]]]] = deque()
        for batch in _batches(jobs):
            if self.pool is None and self.count > 1:
                self.pool = self._start()
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

    def _finish(self, waiting: deque[tuple[list[Job], Future[list[Result]]]]) -> Iterator[Result]:
        batch, future = waiting.popleft()
        try:
            results = future.result()
        except (BrokenProcessPool, OSError):
            yield from self._rescue(waiting, batch, first=True)
        else:
            yield from results

    def _rescue(self, waiting: deque[tuple[list[Job], Future[list[Result]]]], batch: list[Job], first: bool = False) -> Iterator[Result]:
        """After a process died: scan what was waiting one file at a time, each in a process whose death costs only that file."""
        batches = [batch, *(waiting_batch for waiting_batch, _ in waiting)] if first else [*(b for b, _ in waiting), batch]
        waiting.clear()
        if self.pool is not None:
            self.pool.shutdown(wait=False, cancel_futures=True)
            self.pool = None
        alone: Executor | None = None
        for job in (job for batch in batches for job in batch):
            alone = alone or ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
            try:
                yield from alone.submit(_scan_jobs, [job]).result()
            except (BrokenProcessPool, OSError):
                alone = None
                yield Result(job.file.path, reason="the process that scanned it died", passing=True)
        if alone is not None:
            alone.shutdown()


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def _batches(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    batch: list[Job] = []
    size = 0
    for job in jobs:
        batch.append(job)
        size += len(job.file.text) if job.left is None else sum(map(len, job.left))
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
