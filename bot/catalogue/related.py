"""Which errors are related: by what they share, each thing weighed by how few others share it.

Shared may be the function and the file that raise, the expressions that fill the holes, and the rare words of the texts. The weight is the
information in bits, as for the words of a search (inverse document frequency, Spärck Jones 1972): log2 of how many errors there are to how
many share it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from bot.catalogue.keys import clean, text_key
from bot.model import RaiseSite, Record

MOST_SHARED = 64
"""What more than one in so many errors have (as "must", or a hole "e") tells nothing: less than six bits."""

FEW = 8
"""So many may share a thing in any case: a small catalogue has no rare words."""

MAX_PLACES = 3
"""Places of an error whose functions and files are looked at."""

CANDIDATES = 200
"""Errors that share the most, of which those that are gone are left out."""

FAR = 10**9
"""Lines between two errors of different files."""

Rows = Callable[[str, tuple[object, ...]], list[Any]]
"""Asks a built catalogue: a query and its parameters."""

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]{2,60}")


def terms(record: Record) -> frozenset[str]:
    """The words of a record's texts in small letters, and its holes' expressions in braces; of an assert without a text, its names."""
    found: set[str] = set()
    for template in record.templates:
        for literal in template.literals:
            found.update(word.strip("_").lower() for word in _WORD.findall(literal))
        found.update(str(hole) for hole in template.holes if hole.expression != "...")
    if not found:
        found.update(word.strip("_").lower() for word in _WORD.findall(record.expression))
    return frozenset(found)


class Shared:
    """Gathers which records share which terms, for the built catalogue."""

    def __init__(self) -> None:
        self.records: dict[int, list[int]] = {}
        self.count = 0

    def add(self, n: int, record: Record) -> None:
        """Take up the record of a number; numbers come in order."""
        self.count += 1
        for key in {text_key(term) for term in terms(record)}:
            self.records.setdefault(key, []).append(n)

    def rows(self) -> Iterator[tuple[int, int]]:
        """Term and record, of those terms that some records share and not too many, in order."""
        most = max(FEW, self.count // MOST_SHARED)
        for key in sorted(self.records):
            if 1 < len(self.records[key]) <= most:
                yield from ((key, n) for n in self.records[key])


def places(record: Record) -> tuple[RaiseSite, ...]:
    """The first places of a record, one for each function."""
    return tuple({(site.path, site.function): site for site in reversed(record.sites[: 2 * MAX_PLACES])}.values())[-MAX_PLACES:][::-1]


def rank(groups: Iterable[Sequence[int]], count: int) -> list[tuple[float, int]]:
    """Bits and number of the records that share the most; ``groups`` are the records of each shared thing, ``count`` is that of all."""
    bits: dict[int, float] = {}
    for group in groups:
        weight = math.log2(max(count, 2) / max(len(group), 1))
        for n in group:
            bits[n] = bits.get(n, 0.0) + weight
    return sorted(((weight, n) for n, weight in bits.items()), key=lambda one: (-one[0], one[1]))[:CANDIDATES]


def sharing(record: Record, rows: Rows, count: int, newest: int | None) -> list[int]:
    """The numbers of records of a built catalogue that share something with this one, what shares most first, then what stands nearest.

    ``rows`` asks the catalogue, which has ``count`` records. With ``newest``, the number of a release, only those that stand in it.
    """
    groups: dict[object, list[int]] = {}
    keys = json.dumps(sorted(text_key(term) for term in terms(record)))
    for term, n in rows("SELECT term, record FROM term WHERE term IN (SELECT value FROM json_each(?))", (keys,)):
        groups.setdefault(term, []).append(n)
    away: dict[int, int] = {}
    for site in places(record):
        query = "SELECT record, function, line FROM place JOIN site ON place = p WHERE path = ?"
        for n, function, line in rows(query, (clean(site.path),)):
            away[n] = min(away.get(n, FAR), abs(line - site.latest.line))
            groups.setdefault(site.path, []).append(n)
            if function == clean(site.function):
                groups.setdefault((site.path, function), []).append(n)
    ranked = rank([list(dict.fromkeys(group)) for group in groups.values()], count)
    query = "SELECT n FROM record WHERE n IN (SELECT value FROM json_each(?)) AND last >= ?"
    standing = {n for (n,) in rows(query, (json.dumps([n for _, n in ranked]), -1 if newest is None else newest))}
    return [n for _, _, n in sorted((-bits, away.get(n, FAR), n) for bits, n in ranked if n in standing)]
