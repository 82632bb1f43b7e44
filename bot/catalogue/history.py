"""Scans all releases of a source: what is in the cache is not fetched again, and downloads go on while others are scanned.

An archive is removed when its files are scanned and kept, unless it is that of the newest release. So a history that was interrupted goes
on where it stopped, and needs no more room than a few archives.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bot.catalogue.cache import ScanCache, digest, packed
from bot.catalogue.checkout import checkout_files
from bot.catalogue.fetching import Listed, Unreachable, fetch
from bot.catalogue.scan import Listing, Memory, Skipped, survey
from bot.catalogue.scanners import suffixes
from bot.catalogue.source_config import SourceConfig, SourceError, archive_kind
from bot.catalogue.sources import SourceFile, files
from bot.catalogue.workers import Workers

DOWNLOADS = 2
"""Downloads at a time: pip spends as much time on itself as on the network."""

ARCHIVES_AHEAD = 4
"""Archives that may lie there before they are scanned."""

CUT_OFF = 3
"""After so many releases in a row that could not be fetched for want of a network, no more are tried."""


@dataclass(slots=True)
class Seconds:
    """Where the time went. Downloads overlap with each other and with the rest; ``waiting`` is the time when nothing else could be done."""

    download: float = 0.0
    waiting: float = 0.0
    scan: float = 0.0
    join: float = 0.0
    write: float = 0.0


@dataclass(slots=True)
class History:
    """What was found in each release, oldest first; the releases that could not be had and why; how many were in the cache already."""

    listings: list[tuple[str, Listing]] = field(default_factory=list)
    absent: list[tuple[str, str]] = field(default_factory=list)
    cut_off: str = ""
    from_cache: int = 0
    seconds: Seconds = field(default_factory=Seconds)

    @property
    def releases(self) -> tuple[str, ...]:
        """The releases that were found."""
        return tuple(release for release, _ in self.listings)

    def inputs(self) -> str:
        """A digest of all that a catalogue of these releases is made from."""
        return digest(*(part for release, listing in self.listings for part in (release, repr(listing.sites)))).hex()


Watch = Callable[[str, int, int, int, int], None]
"""Told of progress: the release, how many releases are done and how many there are, files of it that are done, and how many it has."""


def scan_archives(
    config: SourceConfig, releases: Sequence[str], cache: ScanCache, into: Path, workers: Workers, watch: Watch | None = None
) -> History:
    """Scan releases of the package index, oldest first; each that was not scanned before is downloaded to ``into``.

    A release that does not exist is noted in ``absent`` and the others go on. When the network is gone, what is there is
    scanned and kept, and ``cut_off`` says so. Raises SourceError when the disk is full or the cache cannot be used.
    """
    history = History()
    keys = {release: _key(config, config.archive, release) for release in releases}
    held = {release: found for release, key in keys.items() if (found := cache.get(key)) is not None}
    missing = [release for release in releases if release not in held]
    memory = Memory()
    failures = 0
    with _Downloads(config, missing, into, history.seconds) as downloads:
        for at, release in enumerate(releases):
            if watch is not None:
                watch(release, at, len(releases), 0, 0)
            if release in held:
                history.listings.append((release, _listing_in(held[release])))
                history.from_cache += 1
                continue
            try:
                archive = downloads.take(release)
                begun = time.monotonic()
                listing = _scan(files(archive, config), release, (at, len(releases)), cache, workers, memory, watch)
                history.seconds.scan += time.monotonic() - begun
                kind = archive_kind(archive) or ""
                listing = replace(listing, instead=kind if kind != config.archive else "")
            except Unreachable as error:
                failures += 1
                history.cut_off = history.cut_off or str(error)
                history.absent.append((release, str(error)))
                if failures >= CUT_OFF:
                    downloads.stop()
                continue
            except SourceError as error:
                if "disk is full" in str(error):
                    raise
                history.absent.append((release, str(error)))
                continue
            failures = 0
            history.listings.append((release, listing))
            if not listing.passing:
                cache.put([(keys[release], packed(_listing_out(listing)))])
            if release != releases[-1]:
                archive.unlink(missing_ok=True)
    return history


def scan_checkout(
    root: Path,
    config: SourceConfig,
    commits: Sequence[tuple[str, str]],
    cache: ScanCache,
    workers: Workers,
    watch: Watch | None = None,
) -> History:
    """Scan releases of a git checkout, each at its commit (:func:`bot.catalogue.checkout.checkout_releases`).

    A release without files to scan is noted in ``absent``. Raises SourceError when the cache cannot be used.
    """
    history = History()
    memory = Memory()
    begun = time.monotonic()
    for at, (release, commit) in enumerate(commits):
        key = _key(config, "commit", commit)
        if (found := cache.get(key)) is not None:
            history.listings.append((release, _listing_in(found)))
            history.from_cache += 1
            continue
        try:
            listing = _scan(checkout_files(root, config, commit), release, (at, len(commits)), cache, workers, memory, watch)
        except SourceError as error:
            history.absent.append((release, str(error)))
            continue
        history.listings.append((release, listing))
        if not listing.passing:
            cache.put([(key, packed(_listing_out(listing)))])
    history.seconds.scan = time.monotonic() - begun
    return history


def _scan(
    found: Iterable[SourceFile], release: str, at: tuple[int, int], cache: ScanCache, workers: Workers, memory: Memory, watch: Watch | None
) -> Listing:
    """Scan one release; all its files are read first, so that it is known how many there are, and that the archive is whole."""
    read = list(found)

    def step(done: int, total: int) -> None:
        if watch is not None and (done % 16 == 0 or done == total):
            watch(release, *at, done, total)

    return survey(read, cache, workers, step, total=len(read), memory=memory)


def _key(config: SourceConfig, kind: str, release: str) -> bytes:
    """Under what a release is kept: besides the scanners' version, its files depend on what of it is wanted; ``kind``: of its source."""
    wanted = json.dumps([sorted(config.path_prefix.items()), list(config.leave_out), list(suffixes())])
    return digest("release", kind, config.repository if kind == "commit" else config.package, release, wanted)


def _listing_out(listing: Listing) -> tuple[object, ...]:
    return listing.sites, tuple((skipped.path, skipped.reason) for skipped in listing.skipped), listing.files, listing.instead


def _listing_in(found: Any) -> Listing:
    sites, skipped, count, instead = found
    return Listing(sites, tuple(Skipped(*one) for one in skipped), count, instead=instead)


class _Downloads:
    """Archives, fetched in order by threads, no further ahead than :data:`ARCHIVES_AHEAD`."""

    def __init__(self, config: SourceConfig, releases: Sequence[str], into: Path, seconds: Seconds) -> None:
        self.config, self.into, self.seconds = config, into, seconds
        self.room = threading.Semaphore(ARCHIVES_AHEAD)
        self.stopped = threading.Event()
        self.listed: Listed = {}
        self.pool = ThreadPoolExecutor(DOWNLOADS, thread_name_prefix="download")
        self.coming: dict[str, Future[Path]] = {release: self.pool.submit(self._fetch, release) for release in releases}

    def __enter__(self) -> _Downloads:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.pool.shutdown(cancel_futures=True)

    def stop(self) -> None:
        """Fetch no more."""
        self.stopped.set()
        for _ in range(DOWNLOADS):
            self.room.release()

    def take(self, release: str) -> Path:
        """The archive of a release. Raises what :func:`bot.catalogue.fetching.fetch` raises."""
        begun = time.monotonic()
        try:
            return self.coming[release].result()
        finally:
            self.seconds.waiting += time.monotonic() - begun
            self.room.release()

    def _fetch(self, release: str) -> Path:
        self.room.acquire()
        if self.stopped.is_set():
            self.room.release()
            raise Unreachable(f"{self.config.package} {release} was not fetched: the package index cannot be reached")
        begun = time.monotonic()
        try:
            return fetch(self.config, release, self.into, self.listed)
        finally:
            self.seconds.download += time.monotonic() - begun
