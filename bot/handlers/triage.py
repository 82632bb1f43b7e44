"""Sorting issues: the area that an error comes from, and which errors a whole backlog holds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from bot.catalogue.catalogue import Catalogue
from bot.config import RepoConfig
from bot.matching import match
from bot.model import Issue, Occurrence, RaiseSite, Record, Verdict
from bot.reading import read

MAX_KEY = 200
"""Characters of an unmatched error by which it is counted."""


@dataclass(frozen=True, slots=True)
class Known:
    """A record and the numbers of the issues that hold it, ascending."""

    record: Record
    issues: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """An error that the catalogue does not know: its type and message with numbers made alike, and where it was seen."""

    key: str
    issues: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Backlog:
    """What many issues hold: known errors and unknown ones, each most frequent first.

    ``total`` issues were read, ``silent`` of them held no error at all.
    """

    known: tuple[Known, ...]
    unknown: tuple[Unknown, ...]
    total: int
    silent: int


def area_labels(verdict: Verdict, catalogue: Catalogue, config: RepoConfig) -> tuple[str, ...]:
    """Labels of the area that the root cause is raised in; none when its site is not known and its sites lie in several areas."""
    if verdict.decision == "silent" or not verdict.matches:
        return ()
    root = verdict.matches[0]
    sites: tuple[RaiseSite, ...] = (root.site,) if root.site else root.record.sites
    patterns = (config.labels and config.labels.areas) or catalogue.source.areas
    areas = {_area(site.path, patterns) for site in sites}
    prefix = config.labels.prefix if config.labels else ""
    return tuple(f"{prefix}{area}" for area in areas if area) if len(areas) == 1 else ()


def backlog(issues: Iterable[Issue], catalogue: Catalogue) -> Backlog:
    """Count which errors these issues hold. Pull requests and what bots wrote are passed over."""
    known: dict[str, tuple[Record, set[int]]] = {}
    unknown: dict[str, set[int]] = {}
    total = silent = 0
    for issue in issues:
        if issue.is_pull_request or issue.by_bot:
            continue
        total += 1
        reading = read(issue.title, issue.body)
        verdict = match(reading, catalogue)
        if verdict.decision != "silent" and verdict.matches:
            for found in verdict.matches:
                known.setdefault(found.record.id, (found.record, set()))[1].add(issue.number)
        elif keys := {key for occurrence in reading.occurrences if (key := number_blind(occurrence))}:
            for key in keys:
                unknown.setdefault(key, set()).add(issue.number)
        else:
            silent += 1
    return Backlog(
        known=tuple(
            Known(record, tuple(sorted(numbers)))
            for record, numbers in sorted(known.values(), key=lambda pair: (-len(pair[1]), pair[0].id))
        ),
        unknown=tuple(Unknown(key, tuple(sorted(numbers))) for key, numbers in sorted(unknown.items(), key=lambda p: (-len(p[1]), p[0]))),
        total=total,
        silent=silent,
    )


def number_blind(occurrence: Occurrence) -> str:
    """An error's type and its message's first line, with numbers, addresses and what is quoted made alike; "" without a type."""
    if occurrence.type is None:
        return ""
    line = occurrence.message.strip().split("\n", 1)[0][: 4 * MAX_KEY]
    for pattern, instead in _BLIND:
        line = pattern.sub(instead, line)
    return f"{occurrence.type}: {line}"[:MAX_KEY].rstrip(" :")


_BLIND = (
    (re.compile(r"'[^'\n]{1,200}'"), "'…'"),
    (re.compile(r'"[^"\n]{1,200}"'), '"…"'),
    (re.compile(r"0x[0-9a-fA-F]+"), "#"),
    (re.compile(r"\d+"), "#"),
)


def _area(path: str, patterns: dict[str, str]) -> str | None:
    return next((area for pattern, area in patterns.items() if fnmatchcase(path, pattern)), None)
