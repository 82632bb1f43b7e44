"""Rare words of a text to the templates that hold them: at most 64 candidates for each message, whatever the size of the catalogue.

Measured (design notes, matching 2.4): an inverted index of words finds the right template among 64 for 95 to 98 % of messages at a
million templates in one to two milliseconds, where comparing with each template takes a second.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from bot.catalogue.catalogue import Entry
from bot.matching.background import background
from bot.matching.template import GLUE, Words, pattern
from bot.model import Template

CANDIDATES = 64
"""How many candidates are aligned; the design notes measured recall at this number."""

RAREST = 24
"""How many of a message's words are looked up, rarest first."""

MIN_PROOF = 14.0
"""Bits that an entry's words in a message must prove to be looked at; less is nothing even where a frame agrees."""

FORMAT = 2
"""Format of the stored index; another one is built anew."""


class Index:
    """Templates by their words.

    ``ids[n]`` is the record of entry n, ``facts[n]`` its kind, type, and whether it is a message (``text``) or an asserted line
    (``source``), ``patterns[n]`` its pieces, ``total[n]`` how rare its words are together, in bits. ``weights`` are what the words of all
    patterns prove (:mod:`bot.matching.background`), one after another, those of entry n from ``weight_starts[n]`` on. ``postings``
    lists for each word the entries that hold it, from ``starts[word]`` on, and ``proof`` what it proves in each.
    """

    def __init__(
        self,
        ids: list[str],
        facts: list[str],
        patterns: list[str],
        words: list[str],
        bits: NDArray[np.float32],
        starts: NDArray[np.int64],
        postings: NDArray[np.int32],
        total: NDArray[np.float32],
        proof: NDArray[np.float16],
        weights: NDArray[np.float16],
        weight_starts: NDArray[np.int64],
    ) -> None:
        self.ids, self.facts, self.patterns, self.total, self._proof = ids, facts, patterns, total, proof
        self._weights, self._weight_starts = weights, weight_starts
        self._words, self._bits, self._starts, self._postings = words, bits, starts, postings
        self._numbers = {word: number for number, word in enumerate(words)}

    def pieces(self, entry: int) -> tuple[str, ...]:
        """The pattern of an entry."""
        return tuple(self.patterns[entry].split(GLUE))

    def weights(self, entry: int) -> list[float]:
        """What each word of an entry's pattern proves, in bits."""
        weights: list[float] = self._weights[self._weight_starts[entry] : self._weight_starts[entry + 1]].tolist()
        return weights

    def candidates(self, message: Words) -> list[tuple[int, float]]:
        """Entries that may lie in the message, and the rarity in bits of the words they share with it.

        One half are those that share most, the other those of which most is shared. Left out are those whose shared words prove too
        little even if they stand in order.
        """
        known = {self._numbers[word] for word in message.list if word in self._numbers}
        if not known:
            return []
        rarest = sorted(known, key=lambda number: (-self._bits[number], number))[:RAREST]
        spans = [slice(self._starts[number], self._starts[number + 1]) for number in rarest]
        entries = np.concatenate([self._postings[span] for span in spans])
        rarity = np.repeat(self._bits[rarest], [span.stop - span.start for span in spans])
        shared = np.bincount(entries, weights=rarity, minlength=len(self.ids))
        proof = np.bincount(entries, weights=np.concatenate([self._proof[span] for span in spans]), minlength=len(self.ids))
        # Of a long message only the rarest words were looked up: the others may prove more.
        found = np.flatnonzero(proof >= (MIN_PROOF if len(known) <= RAREST else MIN_PROOF / 2))
        amount: NDArray[np.float64] = shared[found].astype(np.float64)
        share = amount / self.total[found]
        best: dict[int, float] = {}
        for rank in (amount, share * share * amount):
            best.update((int(found[n]), float(amount[n])) for n in _largest(rank, CANDIDATES // 2))
        return list(best.items())

    def to_bytes(self) -> bytes:
        """The index as one block of bytes, for the catalogue file."""
        out = io.BytesIO()
        np.savez(
            out,
            format=np.array([FORMAT]),
            ids=_pack(self.ids),
            facts=_pack(self.facts),
            patterns=_pack(self.patterns),
            words=_pack(self._words),
            bits=self._bits,
            starts=self._starts,
            postings=self._postings,
            total=self.total,
            proof=self._proof,
            weights=self._weights,
            weight_starts=self._weight_starts,
        )
        return out.getvalue()

    @classmethod
    def from_bytes(cls, block: bytes) -> Index | None:
        """The index that :meth:`to_bytes` wrote; None when it is of another format."""
        with np.load(io.BytesIO(block), allow_pickle=False) as stored:
            if int(stored["format"][0]) != FORMAT:
                return None
            ids, facts, patterns, words = (_unpack(stored[name]) for name in ("ids", "facts", "patterns", "words"))
            names = ("bits", "starts", "postings", "total", "proof", "weights", "weight_starts")
            return cls(ids, facts, patterns, words, *(stored[name] for name in names))


def _largest(amounts: NDArray[np.float64], count: int) -> list[int]:
    """The places of the largest amounts, largest first; of equal ones, the earlier."""
    if len(amounts) > count:
        bar = np.partition(amounts, len(amounts) - count)[len(amounts) - count]
        places = np.flatnonzero(amounts >= bar)
    else:
        places = np.arange(len(amounts))
    order: list[int] = places[np.argsort(-amounts[places], kind="stable")][:count].tolist()
    return order


def build(entries: Iterable[Entry]) -> Index:
    """Build the index over the templates of a catalogue; an assert is also known by its printed expression.

    A template without a word in its literals is left out: it would match every text.
    """
    ids: list[str] = []
    facts: list[str] = []
    patterns: list[str] = []
    counts: Counter[str] = Counter()
    for entry in entries:
        for source, pieces in _patterns(entry):
            if any(pieces):
                ids.append(entry.id)
                facts.append(f"{entry.kind} {entry.type} {source}")
                patterns.append(GLUE.join(pieces))
                counts.update(word for piece in pieces for word in piece.split())
    words = list(counts)
    bits = _rarity(counts)
    numbers = {word: number for number, word in enumerate(words)}
    lists: list[dict[int, float]] = [{} for _ in words]
    total = np.zeros(len(ids), dtype=np.float32)
    flat: list[float] = []
    weight_starts = np.zeros(len(ids) + 1, dtype=np.int64)
    for entry_number, text in enumerate(patterns):
        own = [numbers[word] for word in text.replace(GLUE, " ").split()]
        weights = background().weights(text.split(GLUE))
        total[entry_number] = bits[own].sum()
        for number, weight in zip(own, weights, strict=True):
            lists[number][entry_number] = lists[number].get(entry_number, 0.0) + weight
        flat.extend(weights)
        weight_starts[entry_number + 1] = len(flat)
    starts = np.concatenate([[0], np.cumsum([len(run) for run in lists])]).astype(np.int64)
    postings = np.fromiter((n for run in lists for n in run), dtype=np.int32, count=int(starts[-1]))
    proof = np.fromiter((weight for run in lists for weight in run.values()), dtype=np.float16, count=int(starts[-1]))
    return Index(ids, facts, patterns, words, bits, starts, postings, total, proof, np.array(flat, dtype=np.float16), weight_starts)


def _rarity(counts: Counter[str]) -> NDArray[np.float32]:
    """How rare each word is among the words of all templates, in bits: what it is worth for telling them apart."""
    frequency = np.fromiter(counts.values(), dtype=np.float64, count=len(counts))
    rarity: NDArray[np.float32] = np.log2((frequency.sum() + len(counts) + 1) / (frequency + 1.0)).astype(np.float32)
    return rarity


def _patterns(entry: Entry) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The patterns of an entry: its message as ``text``, and what a quoted assert statement reads as ``source``."""
    if entry.template.parts:
        yield "text", pattern(entry.template)
    if entry.expression:
        yield "source", pattern(Template.of(f"assert {entry.expression}"))


def _pack(texts: Sequence[str]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(text.replace("\n", " ") for text in texts).encode("utf-8", "surrogatepass"), dtype=np.uint8)


def _unpack(block: NDArray[np.uint8]) -> list[str]:
    text = block.tobytes().decode("utf-8", "surrogatepass")
    return text.split("\n") if text else []
