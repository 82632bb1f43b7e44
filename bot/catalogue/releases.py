"""Many releases joined into one catalogue: each text once, each place with the releases it stands in.

Releases are taken one after the other, oldest first, and of each only the files that differ from the release before. A place is the same in
two releases when record, path and function are the same, and how often that record was raised above it in that function.
"""

from __future__ import annotations

import marshal
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from packaging.version import InvalidVersion, Version

from bot.catalogue.cache import Kept, ScanCache, raised_of
from bot.catalogue.scan import Listing, make_record
from bot.catalogue.scanners import Raised
from bot.catalogue.source_config import SourceConfig
from bot.catalogue.successors import LATER, Place, follow, text_of
from bot.model import RaiseSite, Record, SiteLines, Template, record_id

__all__ = ["Joined", "Step", "join_releases", "release_order"]


def release_order(release: str) -> tuple[bool, Version, str]:
    """A key that puts releases oldest first, as https://packaging.python.org/en/latest/specifications/version-specifiers/ orders them.

    What is no version (a commit) comes last.
    """
    try:
        return False, Version(release), ""
    except InvalidVersion:
        return True, Version("0"), release


@dataclass(frozen=True, slots=True)
class Step:
    """What changed from one release to the next: files that differ, places that are gone and new, and what became of records.

    ``lost`` counts the records whose text is nowhere any more, ``followed`` those of them whose successor was found, ``later`` those lost
    in an older release whose successor stands in this one for the first time.
    """

    release: str
    files: int
    gone: int
    new: int
    lost: int
    followed: int
    later: int = 0


@dataclass(slots=True, eq=False)
class _Place:
    """A raise site over all releases. ``runs`` are (first release, end release, line, end line); the last may still be open (end None)."""

    record: int
    path: str
    function: str
    kept: Kept
    runs: list[tuple[int, int | None, int, int]] = field(default_factory=list)

    def stand(self, release: int, kept: Kept) -> None:
        """It stands in this release, at these lines."""
        self.kept = kept
        line, end_line = kept[4], kept[5]
        if self.runs and self.runs[-1][1] is None:
            if self.runs[-1][2:] == (line, end_line):
                return
            self.end(release)
        self.runs.append((release, None, line, end_line))

    def end(self, release: int) -> None:
        """It is not (or not at these lines) in this release any more."""
        first, _, line, end_line = self.runs[-1]
        self.runs[-1] = (first, release, line, end_line)


_Identity = tuple[int, str, int]
"""Record, function, how often the record was raised above in that function."""


class Joined:
    """The records of all releases. Iterating makes them one at a time, in the order in which a catalogue holds them."""

    def __init__(self, config: SourceConfig, releases: Sequence[str], records: Sequence[_Text], successors: dict[str, str]) -> None:
        self.config, self.releases = config, tuple(releases)
        self.steps: tuple[Step, ...] = ()
        self._records, self._successors = records, successors

    def __len__(self) -> int:
        return len(self._records)

    @property
    def gone(self) -> int:
        """How many records are not in the newest release."""
        return sum(text.live == 0 for text in self._records)

    @property
    def followed(self) -> int:
        """How many of those have a successor."""
        return len(self._successors)

    @property
    def places(self) -> int:
        """How many raise sites there are."""
        return sum(len(text.places) for text in self._records)

    def __iter__(self) -> Iterator[Record]:
        for text in sorted(self._records, key=_Text.order):
            yield self._record(text)

    def _record(self, text: _Text) -> Record:
        count = len(self.releases)
        last = max(_end(place, count) for place in text.places)
        places = sorted(text.places, key=lambda place: (-_end(place, count), place.path, place.kept[4], place.kept[5], place.function))
        standing = sum(_end(place, count) == last for place in places)
        found = [raised_of(place.kept, place.path) for place in places]
        sites = [self._site(place, raised) for place, raised in zip(places, found, strict=True)]
        record = make_record(text.id, self.config, found[:standing], sites[:standing], sites[standing:])
        successor = self._successors.get(text.id, "")
        return record if not successor else _with_successor(record, successor)

    def _site(self, place: _Place, raised: Raised) -> RaiseSite:
        lines = tuple(
            SiteLines(self.releases[at], line, end_line)
            for first, end, line, end_line in place.runs
            for at in range(first, len(self.releases) if end is None else end)
        )
        said = (raised.code, raised.conditions, raised.signature, raised.through)
        derived = (raised.flags, raised.entry, raised.documented, raised.tried)
        return RaiseSite(place.path, place.function, lines, *said, *derived)


def _with_successor(record: Record, successor: str) -> Record:
    from dataclasses import replace

    return replace(record, successor=successor)


def _end(place: _Place, count: int) -> int:
    """The release after the last one in which it stands."""
    end = place.runs[-1][1]
    return count if end is None else end


@dataclass(slots=True, eq=False)
class _Text:
    """A record while releases are joined: its places, and how many of them stand in the release that was read last."""

    id: str
    type: str
    places: list[_Place] = field(default_factory=list)
    live: int = 0

    def order(self) -> tuple[str, str, str]:
        """Where it stands in the catalogue: by type, heading and id."""
        newest = max(self.places, key=lambda place: place.runs[-1][0])
        parts = marshal.loads(newest.kept[6])[0]  # noqa: S302
        text = "".join(part if isinstance(part, str) else "{}" for part in parts).strip() or f"assert {newest.kept[2]}"
        return self.type.lower(), text.lower(), self.id


Told = Callable[[Sequence[Place], Sequence[Place]], None]
"""Told, for each release but the first, of the places of records that are gone and of those that are new."""


def join_releases(config: SourceConfig, listings: Iterable[tuple[str, Listing]], cache: ScanCache, told: Told | None = None) -> Joined:
    """Join what was found in releases (oldest first); their sites are read from the cache, those of unchanged files never again.

    Raises SourceError when the cache cannot be used.
    """
    joining = _Joining(config, cache, told)
    for release, listing in listings:
        joining.add(release, listing)
    return joining.end()


class _Joining:
    def __init__(self, config: SourceConfig, cache: ScanCache, told: Told | None) -> None:
        self.config, self.cache, self.told = config, cache, told
        self.releases: list[str] = []
        self.texts: list[_Text] = []
        self.numbers: dict[tuple[str, str, str], int] = {}
        self.by_id: dict[str, int] = {}
        self.strings: dict[str, str] = {}
        self.keys: dict[str, bytes] = {}
        self.live: dict[str, dict[_Identity, _Place]] = {}
        self.asleep: dict[tuple[str, _Identity], _Place] = {}
        self.successors: dict[str, str] = {}
        self.waiting: dict[int, list[Place]] = {}
        self.steps: list[Step] = []

    def add(self, release: str, listing: Listing) -> None:
        """Take the next release."""
        at = len(self.releases)
        self.releases.append(release)
        keys = dict(listing.sites)
        changed = [path for path in sorted(self.keys.keys() | keys.keys()) if self.keys.get(path) != keys.get(path)]
        gone: list[_Place] = []
        new: list[_Place] = []
        before: set[tuple[str, str, int]] = set()
        for path in changed:
            old = self.live.pop(path, {})
            before |= {(path, function, record) for record, function, _ in old}
            found = self._places(keys[path], path) if path in keys else {}
            for identity, place in old.items():
                if identity not in found:
                    place.end(at)
                    self.texts[place.record].live -= 1
                    self.asleep[path, identity] = place
                    gone.append(place)
            live: dict[_Identity, _Place] = {}
            for identity, kept in found.items():
                known = old.get(identity)
                if known is None:
                    known = self.asleep.pop((path, identity), None) or self._place(identity, path, kept)
                    self.texts[known.record].live += 1
                    new.append(known)
                known.stand(at, kept)
                live[identity] = known
            if live:
                self.live[path] = live
        self.keys = keys
        self._step(release, changed, gone, [place for place in new if (place.path, place.function, place.record) not in before])

    def _places(self, key: bytes, path: str) -> dict[_Identity, Kept]:
        """What is raised in a file, in the order of its lines; a statement that raises a text in several ways does so once."""
        found: dict[_Identity, Kept] = {}
        seen: set[tuple[int, str, int]] = set()
        counts: dict[tuple[int, str], int] = defaultdict(int)
        for kept in sorted(self.cache.get(key) or (), key=lambda kept: (kept[4], kept[5], kept[1], kept[0])):
            record, function, line = self._number(kept), self._one(kept[3]), kept[4]
            if (record, function, line) not in seen:
                seen.add((record, function, line))
                found[record, function, counts[record, function]] = (*map(self._one, kept[:4]), *kept[4:])
                counts[record, function] += 1
        return found

    def _place(self, identity: _Identity, path: str, kept: Kept) -> _Place:
        record, function, _ = identity
        place = _Place(record, self._one(path), function, kept)
        self.texts[record].places.append(place)
        return place

    def _number(self, kept: Kept) -> int:
        """The number of the record that a text belongs to."""
        skeleton, type, expression = kept[:3]
        number = self.numbers.get((skeleton, type, expression))
        if number is None:
            template = _template_of(kept)
            id = record_id(self.config.repository, type, template, expression)
            # Texts that differ in nothing but the expression of a message that has one are one record.
            number = self.by_id.setdefault(id, len(self.texts))
            if number == len(self.texts):
                self.texts.append(_Text(id, self._one(type)))
            self.numbers[skeleton, type, expression] = number
        return number

    def _one(self, text: str) -> str:
        """The same object for equal texts."""
        return self.strings.setdefault(text, text)

    def _step(self, release: str, changed: Sequence[str], gone: Sequence[_Place], new: Sequence[_Place]) -> None:
        if len(self.releases) == 1:
            self.steps.append(Step(release, len(changed), 0, len(new), 0, 0))
            return
        lost = {place.record for place in gone if not self.texts[place.record].live}
        left, came = ([self._described(place) for place in places] for places in ((p for p in gone if p.record in lost), new))
        self.waiting = {record: places for record, places in self.waiting.items() if not self.texts[record].live}
        later = follow((place for places in self.waiting.values() for place in places), came, LATER)
        found = follow(left, came)
        if self.told is not None:
            self.told(left, came)
        for record in lost:
            self.successors.pop(self.texts[record].id, None)
        self.successors |= {id: successor for id, (successor, _) in (found | later).items()}
        for place in left:
            if place.record not in found:
                self.waiting.setdefault(self.by_id[place.record], []).append(place)
        self.waiting = {record: places for record, places in self.waiting.items() if self.texts[record].id not in later}
        self.steps.append(Step(release, len(changed), len(gone), len(new), len(lost), len(found), len(later)))

    def _described(self, place: _Place) -> Place:
        skeleton, type, expression = place.kept[:3]
        conditions = marshal.loads(place.kept[6])[3]  # noqa: S302
        text = text_of(skeleton, expression)
        return Place(self.texts[place.record].id, type, text, place.path, place.function, conditions)

    def end(self) -> Joined:
        """All releases were taken."""
        gone = {text.id for text in self.texts if not text.live}
        followed = {id: successor for id, successor in self.successors.items() if id in gone}
        joined = Joined(self.config, self.releases, self.texts, _without_rings(followed))
        joined.steps = tuple(self.steps)
        return joined


def _template_of(kept: Kept) -> Template:
    return raised_of(kept, "").template


def _without_rings(successors: dict[str, str]) -> dict[str, str]:
    """Successors that lead on to a record with none: a text that came back may have been followed in a ring, which leads nowhere."""
    kept = {}
    for id, successor in successors.items():
        seen, at = {id}, successor
        while at in successors and at not in seen:
            seen.add(at)
            at = successors[at]
        if at not in seen:
            kept[id] = successor
    return kept
