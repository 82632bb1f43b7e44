"""Combine the evidence, abstain below the bar, put root causes before what follows from them, and keep the reasons.

The score of a match is a probability: the evidence in bits, less what a search over so many records and lines finds by chance, against
the other candidates and against "none of ours".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf, log2

from rapidfuzz import fuzz

from bot.catalogue.catalogue import Catalogue
from bot.matching import evidence, foreign, index
from bot.matching.evidence import Seen
from bot.matching.template import GLUE, Alignment, Words, align, captures, pattern, split_words
from bot.model import SILENT_KINDS, Decision, Match, Occurrence, Reading, Reason, Record, Span, Template, Verdict

ANSWER = 0.97
"""Probability from which a match is answered."""

CAUTIOUS = 0.70
"""Probability from which a match is offered as a question."""

MIN_TEXT_BITS, NEVER = 23.0, -4.0
"""Literal information that a text must hold to be answered without a frame: below it, 4 % of foreign messages fit (matching.md
2.3). With less, a record stays a candidate, and its evidence counts at most so much above what chance finds."""

QUESTION = 4.5
"""The most that a changed text counts above what chance finds: enough for a question, not for an answer."""

LOOSE_SHARE, LOOSE_BITS = 0.5, 100.0
"""An approximate alignment is tried where this share of a template's bits stands in the message in any order, or so many bits."""

MIN_LINES = 8
"""Lines that are counted as searched at the least: a text with one error has more lines that could have fitted."""

LIKENESS_CHARACTERS = 500
"""Characters of a message that are compared to tell texts of the same words apart."""

MIN_REPEATED = 3
"""Words that a title must share with the beginning of a printed message to be the same error."""

MAX_OCCURRENCES = 60
"""Errors of one text that are looked up, so that a log made of our own texts takes no more than a quarter of a second."""

SHOWN = 5
"""Candidates kept in a silent verdict, for ``/explain why``."""

INDEX_BLOB = "text index"
"""Name of the stored index in the catalogue file."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A record that may be what an occurrence shows, with all the evidence."""

    record: Record
    template: Template
    reasons: tuple[Reason, ...]
    seen: Seen | None
    found: Alignment | None = None
    most: float = inf

    @property
    def bits(self) -> float:
        """The sum of the evidence."""
        return sum(reason.weight for reason in self.reasons)

    def says(self, name: str) -> bool:
        """Whether there is evidence of this name."""
        return any(reason.name == name for reason in self.reasons)


class Matcher:
    """A catalogue with its text index, ready to match. Safe to use from several threads: nothing changes after it is made."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        block = catalogue.blob(INDEX_BLOB)
        self.index = (index.Index.from_bytes(block) if block else None) or index.build(catalogue.entries())
        self._shares = _type_shares(self.index.facts)
        self._prior = log2(max(len(self.index.ids), 2))

    def match(self, reading: Reading) -> Verdict:
        """What to do with an issue that reads so: the matches (root cause first), the decision, and why."""
        found: list[Match] = []
        near: list[Match] = []
        search = self._prior + log2(max(len(reading.occurrences), MIN_LINES))
        for occurrence in _lend_frames(_worth_a_look(reading.occurrences)):
            for link in _chain(occurrence):
                ranked = self._rank(link, search)
                near.extend(ranked[:2])
                if ranked and ranked[0].score >= CAUTIOUS and not _is_mute(ranked[0].record):
                    found.append(ranked[0])
        return _decide(found, near, _release(reading, self.catalogue))

    def _rank(self, occurrence: Occurrence, search: float) -> list[Match]:
        """Candidates of one occurrence with their probabilities, best first."""
        seen = evidence.see_sites(occurrence, self.catalogue)
        candidates = self._by_text(occurrence, seen)
        known = {candidate.record.id for candidate in candidates}
        candidates += [c for c in self._by_frame(occurrence, seen) if c.record.id not in known]
        candidates = _outermost(candidates, search)
        if not candidates:
            return []
        bits = [min(c.bits, search + c.most) for c in candidates]
        top = max(search, *bits)
        odds = [2.0 ** (one - top) for one in bits]
        whole = 2.0 ** (search - top) + sum(odds)
        matches = []
        for alike in self._alike(candidates):
            best = max(alike, key=lambda n: _fit(candidates[n], occurrence))
            matches.append(self._as_match(occurrence, candidates[best], sum(odds[n] for n in alike) / whole))
        return sorted(matches, key=lambda match: -match.score)

    def _by_text(self, occurrence: Occurrence, seen: dict[str, Seen]) -> list[Candidate]:
        """Records whose text stands in the message, one candidate for each."""
        message = split_words(occurrence.message)
        if not len(message):
            return []
        others = foreign.find(message)
        best: dict[str, Candidate] = {}
        for entry, pieces, found in self._aligned(message):
            _, type_, source = self.index.facts[entry].split(" ")
            if source == "source" and not _quotes_assert(occurrence):
                continue
            if any(other.hides(found) for other in others):
                continue
            record = self.catalogue.get(self.index.ids[entry])
            if record is None:
                continue
            place = seen.get(record.id)
            reasons = evidence.weigh_text(found, pieces, occurrence, message)
            reasons += evidence.weigh_type(occurrence, type_, self._shares.get(type_, 1e-6))
            reasons += evidence.weigh_place(occurrence, record, place, self.catalogue)
            most = inf if place is not None and place.proven else _most(found, pieces, occurrence, message, reasons)
            candidate = Candidate(record, _template(record, pieces), tuple(reasons), place, found, most)
            if record.id not in best or best[record.id].bits < candidate.bits:
                best[record.id] = candidate
        return list(best.values())

    def _aligned(self, message: Words) -> Iterator[tuple[int, tuple[str, ...], Alignment]]:
        """Entries whose pattern lies in the message, with how."""
        for entry, shared in self.index.candidates(message):
            pieces = self.index.pieces(entry)
            loosely = shared >= min(LOOSE_SHARE * float(self.index.total[entry]), LOOSE_BITS)
            found = align(pieces, message, self.index.weights(entry), loosely)
            if found is not None:
                yield entry, pieces, found

    def _by_frame(self, occurrence: Occurrence, seen: dict[str, Seen]) -> list[Candidate]:
        """Records that only the frames name: the last one prints the raising line, and the message does not speak against it."""
        candidates = []
        for one in seen.values():
            if not (one.last and one.proven) or _contradicts(occurrence, one.record):
                continue
            reasons = list(one.reasons)
            reasons += evidence.weigh_type(occurrence, one.record.type, self._shares.get(one.record.type, 1e-6))
            candidates.append(Candidate(one.record, one.record.template, tuple(reasons), one))
        return candidates

    def _alike(self, candidates: list[Candidate]) -> list[list[int]]:
        """The numbers of the candidates, those together that say the same to a reader.

        These are a text that is logged and then raised, or raised as two types, texts of the same words, and the forms that one text
        had in the course of releases.
        """
        group_of: dict[str, list[int]] = {}
        for number, candidate in enumerate(candidates):
            newest = self._newest(candidate.record)
            template = candidate.template if newest is candidate.record else newest.template
            keys = [newest.id, GLUE.join(pattern(template)).strip(GLUE) or newest.id]
            group = sorted({n for key in keys for n in group_of.get(key, [])} | {number})
            for key in {*keys, *(key for key, known in group_of.items() if set(known) & set(group))}:
                group_of[key] = group
        return list({tuple(group): group for group in group_of.values()}.values())

    def _newest(self, record: Record) -> Record:
        """What the record's text became in the newest release that has it in any form."""
        return self.catalogue.successor(record) or record

    def _as_match(self, occurrence: Occurrence, candidate: Candidate, score: float) -> Match:
        found = captures(candidate.template, occurrence.message) if score >= CAUTIOUS else ()
        site = candidate.seen.site if candidate.seen is not None else None
        record = self._newest(candidate.record)
        return Match(record, occurrence, candidate.template, found, site, score, candidate.reasons)


def match(reading: Reading, catalogue: Catalogue) -> Verdict:
    """Hold what was read against the catalogue."""
    return matcher(catalogue).match(reading)


@lru_cache(maxsize=16)
def matcher(catalogue: Catalogue) -> Matcher:
    """The matcher of a catalogue, made once."""
    return Matcher(catalogue)


def _type_shares(facts: list[str]) -> dict[str, float]:
    counts = Counter(fact.split(" ")[1] for fact in facts)
    return {type_: count / len(facts) for type_, count in counts.items()}


def _worth_a_look(occurrences: tuple[Occurrence, ...]) -> tuple[Occurrence, ...]:
    """At most MAX_OCCURRENCES of a text's errors, in their order: title and tracebacks first, then those nearest to its ends."""
    if len(occurrences) <= MAX_OCCURRENCES:
        return occurrences
    last = len(occurrences) - 1
    ranked = sorted(range(len(occurrences)), key=lambda n: (occurrences[n].dialect not in ("title", "traceback"), min(n, last - n)))
    return tuple(occurrences[n] for n in sorted(ranked[:MAX_OCCURRENCES]))


def _lend_frames(occurrences: tuple[Occurrence, ...]) -> Iterator[Occurrence]:
    """The occurrences, where one that a person quotes (the title, mostly) has the frames of the traceback whose error it repeats.

    Otherwise the title of an issue would be answered though its traceback shows that another project raised.
    """
    printed = [
        (split_words(text).joined, link.frames)
        for one in occurrences
        for link in _chain(one)
        for text in (link.message, f"{link.type}: {link.message}")
        if link.frames and link.message
    ]
    for occurrence in occurrences:
        words = split_words(occurrence.message)
        if occurrence.dialect in evidence.QUOTED and not occurrence.frames and len(words) >= MIN_REPEATED:
            frames = next((frames for joined, frames in printed if joined.startswith(words.joined.rstrip())), ())
            occurrence = replace(occurrence, frames=frames)
        yield occurrence


def _chain(occurrence: Occurrence) -> Iterator[Occurrence]:
    """The errors of a chain, first cause first; of a very long one, those nearest to the end."""
    links = [occurrence]
    while len(links) < MAX_OCCURRENCES and (earlier := links[-1].cause or links[-1].context) is not None:
        links.append(earlier)
    return reversed(links)


def _most(found: Alignment, pieces: tuple[str, ...], occurrence: Occurrence, message: Words, reasons: list[Reason]) -> float:
    """The most that a text may count above what chance finds, as no frame proves its site."""
    names = {reason.name for reason in reasons}
    if found.matched < MIN_TEXT_BITS or not names.isdisjoint(evidence.ELSEWHERE_FOR_SURE):
        return NEVER
    other_type = "other type" in names and found.matched < evidence.SURE_WORDS
    return QUESTION if other_type or evidence.is_changed(found, pieces, occurrence, message) else inf


def _outermost(candidates: list[Candidate], search: float) -> list[Candidate]:
    """Without those whose text stands in a hole of another one: it is the outer text that was printed.

    The outer one has to be sure enough by itself, or to begin the message and be of the type that is printed, which the inner one is not.
    A log line does not count as the outer one of an error that it announces, nor one that nobody explained as that of one that
    somebody did.
    """
    outer = []
    for one in candidates:
        if one.found is not None and one.found.exact:
            sure = min(one.bits, search + one.most) > search
            if sure or (one.found.first == 0 and one.says("type")):
                outer.append((one.found.first, one.found.last if pattern(one.template)[-1] else inf, one.record, sure))
    return [
        inner
        for inner in candidates
        if inner.found is None
        or not any(
            first < inner.found.first
            and inner.found.last <= last
            and (sure or inner.says("other type"))
            and (record.kind not in ("log", "warning") or inner.record.kind in ("log", "warning"))
            and (record.file or not inner.record.file)
            for first, last, record, sure in outer
        )
    ]


def _fit(candidate: Candidate, occurrence: Occurrence) -> tuple[int, float, bool, int]:
    """How well one of several records of the same words fits: by evidence, then by punctuation; then a raise goes before a log line, and
    what is raised more often before the rest.
    """
    message = occurrence.message[:LIKENESS_CHARACTERS]
    at, literals = 0, 0
    for literal in candidate.template.literals:
        where = message.find(literal.strip(), at)
        if where >= 0:
            at, literals = where + len(literal.strip()), literals + 1
    likeness = literals / max(len(candidate.template.literals), 1) + fuzz.ratio(str(candidate.template), message) / 1000
    raised = candidate.record.kind not in ("log", "warning")
    return round(candidate.bits), round(likeness, 2), raised, len(candidate.record.sites)


def _is_mute(record: Record) -> bool:
    """Whether the record is of a kind that is never answered unless a person wrote of it."""
    return record.kind in SILENT_KINDS and not record.file


def _quotes_assert(occurrence: Occurrence) -> bool:
    return "assert" in occurrence.message.lower() or evidence.short_type(occurrence.type) == "AssertionError"


def _template(record: Record, pieces: tuple[str, ...]) -> Template:
    """The template of the record that has this pattern."""
    if len(record.templates) < 2:
        return record.template
    return next((one for one in record.templates if pattern(one) == pieces), record.template)


def _contradicts(occurrence: Occurrence, record: Record) -> bool:
    """Whether a printed message shows that it is not this record's: the record has text of its own, and it does not stand there."""
    if not occurrence.message:
        return False
    words = [word for one in record.templates for piece in pattern(one) for word in piece.split()]
    have = set(split_words(occurrence.message).list)
    return len(words) >= 3 and sum(word in have for word in words) < len(words) / 2


def _release(reading: Reading, catalogue: Catalogue) -> str | None:
    """The release that the reporter runs, when the catalogue knows it; the most specific statement wins."""
    for stated in reading.versions:
        version = stated.version.lstrip("v")
        if stated.package == catalogue.source.package.lower() and version in catalogue.releases:
            return version
    return None


def _rank_among_causes(match: Match) -> tuple[bool, bool, bool, int]:
    """Sure before unsure, raised before told, printed before quoted by a person, earlier in the text before later."""
    occurrence = match.occurrence
    return match.score < ANSWER, _is_told(match), occurrence.dialect in evidence.QUOTED, occurrence.span[0]


def _is_told(match: Match) -> bool:
    """Whether the text is only logged, or sent to a client, and not raised."""
    return match.record.kind == "log" or not match.record.type


def _holds_one(occurrence: Occurrence, spans: list[Span]) -> bool:
    return any(occurrence.span[0] <= start and end <= occurrence.span[1] for start, end in spans)


def _decide(found: list[Match], near: list[Match], release: str | None) -> Verdict:
    """One match for each record, causes before symptoms; silent when nothing but symptoms, or nothing, is sure enough."""
    best: dict[str, Match] = {}
    for one in found:
        known = best.get(one.record.id)
        if known is None or one.score > known.score:
            best[one.record.id] = one if known is None else replace(one, site=one.site or known.site)
    symptoms = [match.occurrence.span for match in best.values() if match.record.symptom]
    causes = [
        match for match in best.values() if not match.record.symptom and not (_is_told(match) and _holds_one(match.occurrence, symptoms))
    ]
    if not causes:
        nearest = tuple(sorted(near, key=lambda match: -match.score)[:SHOWN])
        why = "only symptoms of another error were found" if best else "nothing matches well enough"
        return Verdict("silent", nearest, release, why)
    order = sorted(causes, key=_rank_among_causes)
    decision: Decision = "answer" if order[0].score >= ANSWER else "cautious"
    return Verdict(decision, tuple(order), release, f"{order[0].record.type} matches with probability {order[0].score:.2f}")
