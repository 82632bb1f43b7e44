"""From ``source.yaml`` to the catalogue file: releases are resolved, scanned, joined, written; what is known is not done again."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from bot.catalogue import built
from bot.catalogue.cache import ScanCache, digest, scanner_version
from bot.catalogue.catalogue import Catalogue, CatalogueError, catalogue_path
from bot.catalogue.checkout import checkout_releases
from bot.catalogue.fetching import Unreachable, resolve
from bot.catalogue.history import History, Watch, scan_archives, scan_checkout
from bot.catalogue.releases import Step, join_releases
from bot.catalogue.source_config import SourceConfig, SourceError
from bot.catalogue.workers import Workers

Phase = Callable[[str], None]
"""Told what is done next: ``list``, ``scan``, ``join``, ``write``."""


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What was built: ``history`` says what was found; ``records``, ``places`` and ``gone`` count the catalogue; ``steps`` are what changed
    from release to release. ``unchanged`` says that the catalogue that was there was made of the same (then there are no ``steps``)."""

    config: SourceConfig
    path: Path
    history: History
    records: int
    places: int
    gone: int
    followed: int
    steps: tuple[Step, ...]
    unchanged: bool = False


def refresh(
    config: SourceConfig,
    cache_dir: Path,
    *,
    releases: tuple[str, ...] = (),
    checkout: Path | None = None,
    tags: str | None = None,
    phase: Phase | None = None,
    watch: Watch | None = None,
) -> Refreshed:
    """Build the catalogue of a repository, or take note that the one that is there is made of the same.

    ``releases`` (or patterns) are meant in place of those of source.yaml; ``checkout`` is a git checkout to take them from. What is
    scanned is kept in ``cache_dir``, so that an interrupted run goes on where it stopped; the catalogue that was there stays until the new
    one is whole. Raises Unreachable when the network is gone before all releases were fetched, and SourceError when none can be had.
    """
    tell = phase or (lambda _: None)
    path = catalogue_path(cache_dir, config.repository)
    tell("list")
    with ScanCache(cache_dir / "scans.sqlite") as cache, Workers() as workers:
        if checkout is not None:
            commits = checkout_releases(checkout, config, tags)
            tell("scan")
            history = scan_checkout(checkout, config, commits, cache, workers, watch)
        else:
            wanted = resolve(config.model_copy(update={"releases": releases}) if releases else config)
            tell("scan")
            history = scan_archives(config, wanted, cache, cache_dir / "sources", workers, watch)
        if history.cut_off:
            done = len(history.listings)
            raise Unreachable(f"{done} of {done + len(history.absent)} releases are scanned and kept. {history.cut_off}")
        if not history.listings:
            raise SourceError("\n".join(reason for _, reason in history.absent[:5]) or f"{config.repository} has no release")
        inputs = digest(history.inputs(), config.model_dump_json(), _maker()).hex()
        if (same := _made_of(path, inputs)) is not None:
            return Refreshed(config, path, history, *same, (), unchanged=True)
        tell("join")
        begun = time.monotonic()
        joined = join_releases(config, history.listings, cache)
        history.seconds.join = time.monotonic() - begun
        tell("write")
        begun = time.monotonic()
        built.write(path, config, joined, joined.releases, inputs, (joined.places, joined.gone, joined.followed))
        history.seconds.write = time.monotonic() - begun
    return Refreshed(config, path, history, len(joined), joined.places, joined.gone, joined.followed, joined.steps)


def _made_of(path: Path, inputs: str) -> tuple[int, int, int, int] | None:
    """Counts of the catalogue at ``path`` when it is made of the same; None when it is not, or there is none."""
    try:
        with Catalogue.open(path) as catalogue:
            return (len(catalogue), *catalogue.counts) if catalogue.inputs == inputs else None
    except CatalogueError:
        return None


@lru_cache(maxsize=1)
def _maker() -> str:
    """What a catalogue depends on besides its source: the text of the modules that make it."""
    found = hashlib.sha256(scanner_version().encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        found.update(path.name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()
