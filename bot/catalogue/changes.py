"""What a new catalogue says that the one before it did not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bot.catalogue.catalogue import Catalogue
from bot.catalogue.successors import Place, follow, text_of
from bot.model import Record


@dataclass(frozen=True, slots=True)
class Changes:
    """Texts of the newest release that were not in the newest before (``new``), and the other way round: those that were edited, with what
    they became (``changed``), and those that nothing took the place of (``obsolete``)."""

    new: tuple[Record, ...]
    changed: tuple[tuple[Record, Record], ...]
    obsolete: tuple[Record, ...]


def compare(before: Catalogue, after: Catalogue) -> Changes:
    """What changed between two catalogues of one repository; both are best opened without record files."""
    old, new = before.standing(), after.standing()
    added = _records(after, new - old)
    removed = _records(before, old - new)
    edited: dict[str, Record] = {}
    for record in removed:
        known = after.get(record.id)
        successor = after.successor(known) if known is not None else None
        if successor is not None:
            edited[record.id] = successor
    by_id = {record.id: record for record in added}
    # A catalogue of one release knows no successors: what is gone is held against what is new.
    unknown = [record for record in removed if record.id not in edited]
    for id, (choice, _) in follow(_places(unknown), list(_places(added))).items():
        edited[id] = by_id[choice]
    taken = {record.id for record in edited.values()}
    return Changes(
        tuple(record for record in added if record.id not in taken),
        tuple((record, edited[record.id]) for record in removed if record.id in edited),
        tuple(record for record in removed if record.id not in edited),
    )


def _records(catalogue: Catalogue, ids: Iterable[str]) -> list[Record]:
    found = [record for id in sorted(ids) if (record := catalogue.get(id)) is not None]
    return sorted(found, key=lambda record: (record.type.lower(), record.heading.lower(), record.id))


def _places(records: Iterable[Record]) -> Iterator[Place]:
    for record in records:
        text = text_of(record.template.skeleton, record.expression)
        for site in record.sites:
            yield Place(record.id, record.type, text, site.path, site.function, site.conditions)
