"""Records over all catalogues that are at hand: by id, and by search."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil

import structlog

from bot.catalogue.catalogue import Catalogue, CatalogueError
from bot.model import Record

PER_PAGE = 25
"""Records on one page of a search."""

MAX_QUERY = 200
"""Characters of a search that are looked at."""

MAX_PAGE = 100_000

log = structlog.get_logger(__name__)

_ID = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Found:
    """A record and the catalogue that holds it."""

    record: Record
    catalogue: Catalogue


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a search: ``number`` counts from 1, ``total`` are the records on all pages."""

    found: tuple[Found, ...]
    number: int
    pages: int
    total: int


@dataclass(frozen=True, slots=True)
class Lookup:
    """Where records are found. ``open`` and ``repositories`` may be called again and again: what they give may change."""

    open: Callable[[str], Catalogue | None]
    repositories: Callable[[], tuple[str, ...]]

    def catalogues(self) -> Iterator[Catalogue]:
        """The catalogues that can be used, in the order of their names; one that is broken does not hide the others."""
        for repository in sorted(self.repositories()):
            try:
                catalogue = self.open(repository)
            except CatalogueError as error:
                log.error("catalogue cannot be opened", repository=repository, problem=str(error))
                continue
            if catalogue is not None:
                yield catalogue

    def get(self, id: str) -> Found | None:
        """The record with this id, or None. Anything but 16 hex digits is no id."""
        if not _ID.fullmatch(id):
            return None
        for catalogue in self.catalogues():
            if (record := catalogue.get(id)) is not None:
                return Found(record, catalogue)
        return None

    def search(self, q: str, type: str, repository: str, number: int) -> Page:
        """One page of the records that hold ``q``; the catalogues follow each other, each beginning a page of its own."""
        q, type = q.strip()[:MAX_QUERY], type.strip()[:MAX_QUERY]
        found: tuple[Found, ...] = ()
        before = total = 0
        for catalogue in self.catalogues():
            if repository and catalogue.repository.lower() != repository.lower():
                continue
            wanted = number - before
            records, matching = catalogue.search(q, type, max(wanted, 1), PER_PAGE)
            pages = ceil(matching / PER_PAGE)
            if 1 <= wanted <= pages:
                found = tuple(Found(record, catalogue) for record in records)
            before += pages
            total += matching
        return Page(found, number, before, total)


def page_number(text: str) -> int | None:
    """A page number from a query string: 1 when none is given, None when it is not one."""
    if not text:
        return 1
    if not (text.isascii() and text.isdigit() and len(text) <= 6):
        return None
    return int(text) if 1 <= int(text) <= MAX_PAGE else None
