"""Rare words of a text to the templates that hold them: at most 64 candidates for each message, whatever the size of the catalogue.

Measured (design notes, matching 2.4): an inverted index of words finds the right template among 64 for 95 to 98 % of messages at a
million templates in one to two milliseconds, where comparing with each template takes a second.
"""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from bot.catalogue.catalogue import Entry
from bot.matching.template import GLUE, Words, pattern
from bot.model import Template

CANDIDATES = 64
"""How many candidates are aligned; the design notes measured recall at this number."""

RAREST = 24
"""How many of a message's words are looked up, rarest first."""

WORD_CAP = 10.0
"""The most bits that one word may prove: a single odd word must never carry an answer."""

NUMBER_BITS = 3.0
"""What a number proves: numbers of templates (versions, sizes) stand in any text."""

FORMAT = 1
"""Format of the stored index; another one is built anew."""


class Index:
    """Templates by their words. ``ids[n]`` is the record of entry n, ``patterns[n]`` its pieces, ``total[n]`` its bits."""

    def __init__(self, ids: list[str], facts: list[str], patterns: list[str], counts: dict[str, int]) -> None:
        self.ids = ids
        self.facts = facts
        self.patterns = patterns
        self._numbers = {word: number for number, word in enumerate(counts)}
        frequency = np.fromiter(counts.values(), dtype=np.int64, count=len(counts))
        all_words = int(frequency.sum()) + len(counts) + 1
        self._bits: NDArray[np.float32] = np.minimum(np.log2(all_words / (frequency + 1.0)), WORD_CAP).astype(np.float32)
        self._unknown = min(math.log2(all_words), WORD_CAP)
        self._starts: NDArray[np.int64]
        self._postings: NDArray[np.int32]
        self.total: NDArray[np.float32]

    def bits(self, word: str) -> float:
        """The information of one literal word: the rarer among the words of all templates, the more, up to a cap."""
        if word.isdigit():
            return NUMBER_BITS
        number = self._numbers.get(word)
        return self._unknown if number is None else float(self._bits[number])

    def pieces(self, entry: int) -> tuple[str, ...]:
        """The pattern of an entry."""
        return tuple(self.patterns[entry].split(GLUE))

    def candidates(self, message: Words) -> list[int]:
        """Entries that share rare words with the message, best first: by shared information, and by share of the template."""
        known = {self._numbers[word] for word in message.list if word in self._numbers}
        if not known:
            return []
        rarest = sorted(known, key=lambda number: (-self._bits[number], number))[:RAREST]
        runs = [self._postings[self._starts[number] : self._starts[number + 1]] for number in rarest]
        weights = np.repeat(self._bits[rarest], [len(run) for run in runs])
        entries = np.concatenate(runs)
        found, inverse = np.unique(entries, return_inverse=True)
        shared = np.bincount(inverse, weights=weights)
        share = shared / self.total[found]
        best: dict[int, None] = {}
        half = CANDIDATES // 2
        for order in (np.argsort(-shared, kind="stable")[:half], np.argsort(-(share * share * shared), kind="stable")[:half]):
            best.update(dict.fromkeys(int(found[n]) for n in order))
        return list(best)

    def to_bytes(self) -> bytes:
        """The index as one block of bytes, for the catalogue file."""
        out = io.BytesIO()
        np.savez(
            out,
            format=np.array([FORMAT]),
            ids=_pack(self.ids),
            facts=_pack(self.facts),
            patterns=_pack(self.patterns),
            words=_pack(list(self._numbers)),
            bits=self._bits,
            unknown=np.array([self._unknown]),
            starts=self._starts,
            postings=self._postings,
            total=self.total,
        )
        return out.getvalue()

    @classmethod
    def from_bytes(cls, block: bytes) -> Index | None:
        """The index that :meth:`to_bytes` wrote; None when it is of another format."""
        with np.load(io.BytesIO(block), allow_pickle=False) as stored:
            if int(stored["format"][0]) != FORMAT:
                return None
            index = cls(_unpack(stored["ids"]), _unpack(stored["facts"]), _unpack(stored["patterns"]), {})
            index._numbers = {word: number for number, word in enumerate(_unpack(stored["words"]))}
            index._bits = stored["bits"]
            index._unknown = float(stored["unknown"][0])
            index._starts = stored["starts"]
            index._postings = stored["postings"]
            index.total = stored["total"]
            return index


def build(entries: Iterable[Entry]) -> Index:
    """Build the index over the templates of a catalogue; an assert without a message is known by its printed expression.

    A template without a word in its literals is left out: it would match every text.
    """
    ids: list[str] = []
    facts: list[str] = []
    patterns: list[str] = []
    counts: Counter[str] = Counter()
    for entry in entries:
        for number, pieces in enumerate(_patterns(entry)):
            if any(pieces):
                ids.append(entry.id)
                facts.append(f"{entry.kind} {entry.type} {'source' if number or not entry.template.parts else 'text'}")
                patterns.append(GLUE.join(pieces))
                counts.update(word for piece in pieces for word in piece.split())
    return _index(ids, facts, patterns, counts)


def _patterns(entry: Entry) -> list[tuple[str, ...]]:
    found = [pattern(entry.template)] if entry.template.parts else []
    if entry.expression:
        found.append(pattern(Template.of(f"assert {entry.expression}")))
    return found


def _index(ids: list[str], facts: list[str], patterns: list[str], counts: Counter[str]) -> Index:
    index = Index(ids, facts, patterns, dict(counts))
    lists: list[list[int]] = [[] for _ in counts]
    total = np.zeros(len(ids), dtype=np.float32)
    for number, text in enumerate(patterns):
        words = text.replace(GLUE, " ").split()
        total[number] = sum(index.bits(word) for word in words)
        for word in set(words):
            lists[index._numbers[word]].append(number)
    index.total = total
    index._starts = np.concatenate([[0], np.cumsum([len(run) for run in lists])]).astype(np.int64)
    index._postings = np.fromiter((n for run in lists for n in run), dtype=np.int32, count=int(index._starts[-1]))
    return index


def _pack(texts: Sequence[str]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(text.replace("\n", " ") for text in texts).encode("utf-8", "surrogatepass"), dtype=np.uint8)


def _unpack(block: NDArray[np.uint8]) -> list[str]:
    text = block.tobytes().decode("utf-8", "surrogatepass")
    return text.split("\n") if text else []
