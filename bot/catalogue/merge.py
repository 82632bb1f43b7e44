"""A scan's records and people's records, joined into one catalogue.

The scan owns what stands in the source (texts, type, raise sites); people own what is said of it. Nothing that people wrote is
dropped: a text that was edited in the source is joined to its nearest successor (``changed``), one that is gone stays
(``obsolete``), because people run old releases. The rules are those by which gettext keeps translations (its "fuzzy" and
"obsolete" entries, https://www.gnu.org/software/gettext/manual/html_node/msgmerge-Invocation.html).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rapidfuzz import fuzz, process

from bot.model import RaiseSite, Record, Template

NEAR = 90.0
"""Likeness (rapidfuzz ratio, 0 to 100) from which an edited text counts as the same error."""

ROWS = 64
"""Texts compared with all others at a time: 64 with 20,000 make a table of five megabytes."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A written record as the catalogue shows it, and the ids of the scanned records that went into it."""

    record: Record
    claimed: tuple[str, ...]


def merge(scanned: Iterable[Record], written: Iterable[Record], newest: str | None = None) -> tuple[Record, ...]:
    """The written records in their order, each with what the scan found of it; then the scanned ones nobody wrote about.

    A written record claims the scanned ones of its type and one of its texts; failing that, those of one of its texts with any
    type; failing that, the nearest one of its type (:data:`NEAR`), and is then ``changed``; failing that, none, and is
    ``obsolete``. No scanned record is claimed twice: exact claims go first, then in the order of ``written``.

    ``newest`` is the newest release. A written record whose texts all stand in older ones only claims what they became there
    (``Record.successor``, or failing that the nearest) and is ``changed``; where nothing took their place it is ``obsolete``, and keeps
    its sites. Without ``newest`` every scanned record counts as current.
    """
    found = tuple(scanned)
    joined = join(found, tuple(written), newest)
    taken = {id for one in joined for id in one.claimed}
    return (*(one.record for one in joined), *(record for record in found if record.id not in taken))


def join(scanned: Sequence[Record], written: Sequence[Record], newest: str | None = None) -> tuple[Joined, ...]:
    """:func:`merge` without the records that nobody wrote about, and with what each written one claimed."""
    by_text: dict[str, list[Record]] = defaultdict(list)
    for record in scanned:
        for text in texts(record):
            by_text[text].append(record)
    free = {record.id: record for record in scanned}
    claims: list[list[Record]] = [[] for _ in written]

    def claim(at: int, candidates: Iterable[Record]) -> None:
        for candidate in candidates:
            if free.pop(candidate.id, None) is not None:
                claims[at].append(candidate)

    def is_gone(at: int) -> bool:
        return not any(stands(record, newest) for record in claims[at])

    for at, record in enumerate(written):
        claim(at, (found for text in texts(record) for found in by_text[text] if found.type == record.type))
    for at, record in enumerate(written):
        if not claims[at]:
            claim(at, (found for text in texts(record) for found in by_text[text]))
    edited = [bool(found) and is_gone(at) for at, found in enumerate(claims)]
    for at in range(len(written)):
        while is_gone(at) and claims[at] and claims[at][-1].successor in free:
            claim(at, [free[claims[at][-1].successor]])
    lost = [at for at in range(len(written)) if is_gone(at)]
    for at, successor in _successors(lost, written, [record for record in free.values() if stands(record, newest)]):
        if is_gone(at) and successor.id in free:
            claim(at, [successor])
            edited[at] = True
    changed = [edited[at] and not is_gone(at) for at in range(len(written))]
    return tuple(_joined(record, claims[at], changed[at], is_gone(at), newest) for at, record in enumerate(written))


def stands(record: Record, newest: str | None) -> bool:
    """Whether a scanned record's text is in the newest release (or was never followed through releases)."""
    return newest is None or not record.sites or any(site.latest.release == newest for site in record.sites)


def texts(record: Record) -> tuple[str, ...]:
    """What a record is found by: the skeletons of its templates, white space evened out.

    The expression for an assert without a message.
    """
    found = tuple(even(template) for template in record.templates if template.parts)
    return found or (f"\0{' '.join(record.expression.split())}",)


def even(template: Template) -> str:
    """A template's skeleton with white space evened out: an edited line break makes no new error."""
    return " ".join(template.skeleton.split())


def near(texts: Sequence[str], choices: Sequence[str]) -> Iterator[tuple[float, int, int]]:
    """Likeness, index of a text and index of a choice, for each pair that is near enough to be the same text edited.

    An expression is no sentence: one changed name is another assertion, so there is none near it.
    """
    for start in range(0, len(texts) if choices else 0, ROWS):
        scores = process.cdist(texts[start : start + ROWS], choices, scorer=fuzz.ratio, score_cutoff=NEAR)
        for row, column in zip(*scores.nonzero(), strict=True):
            if texts[start + row] and not texts[start + row].startswith("\0"):
                yield float(scores[row, column]), start + int(row), int(column)


def _successors(lost: Iterable[int], written: Sequence[Record], free: Sequence[Record]) -> Iterator[tuple[int, Record]]:
    """Pairs of a written record that found nothing and a scanned one that is near, the likest pairs first.

    Of two that are equally like, the one in the file that the author looked at goes first.
    """
    by_type: dict[str, tuple[list[tuple[int, str]], list[tuple[Record, str]]]] = defaultdict(lambda: ([], []))
    for at in lost:
        by_type[written[at].type][0].extend((at, text) for text in texts(written[at]))
    for record in free:
        if record.type in by_type:
            by_type[record.type][1].extend((record, text) for text in texts(record))
    pairs = []
    for old, new in by_type.values():
        for score, row, column in near([text for _, text in old], [text for _, text in new]):
            at, successor = old[row][0], new[column][0]
            pinned = written[at].source
            elsewhere = pinned is None or all(site.path != pinned.path for site in successor.sites)
            pairs.append((-score, elsewhere, at, successor.id, successor))
    pairs.sort(key=lambda pair: pair[:-1])
    return ((at, successor) for _, _, at, _, successor in pairs)


def _joined(written: Record, claimed: Sequence[Record], changed: bool, gone: bool, newest: str | None) -> Joined:
    """The written record with what the scan owns: each text as the source spells it now.

    Those that the source has besides, sites.
    """
    if not claimed:
        return Joined(replace(written, status="obsolete", sites=()), ())
    current = {even(template): template for record in reversed(claimed) for template in record.templates}
    kept = {even(template): current.get(even(template), template) for template in written.templates}
    types = {record.type for record in claimed}
    latest = claimed[::-1] if changed else claimed
    record = replace(
        written,
        type=types.pop() if len(types) == 1 else latest[0].type if changed else written.type,
        templates=tuple((current | kept if changed else kept | current).values()),
        kind=latest[0].kind,
        expression=latest[0].expression,
        sites=_union(claimed, newest),
        remedies=tuple(dict.fromkeys(remedy for record in latest for remedy in record.remedies)),
        guard=written.guard or next((record.guard for record in latest if record.guard), ""),
        handler=written.handler or next((record.handler for record in latest if record.handler), ""),
        trigger=written.trigger or next((record.trigger for record in latest if record.trigger), ""),
        status="changed" if changed else "obsolete" if gone else written.status,
        successor=claimed[-1].successor if gone else "",
    )
    return Joined(record, tuple(record.id for record in claimed))


def _union(claimed: Sequence[Record], newest: str | None) -> tuple[RaiseSite, ...]:
    """All sites, those of the newest release first, by path and line; one statement that raises several of the texts stands once."""
    sites = {(site.path, site.function, site.lines): site for record in reversed(claimed) for site in record.sites}

    def place(site: RaiseSite) -> tuple[bool, str, int, int, str]:
        return newest is not None and site.latest.release != newest, site.path, site.latest.line, site.latest.end_line, site.function

    return tuple(sorted(sites.values(), key=place))
