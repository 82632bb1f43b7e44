"""What the words of a template prove: how unusual they are in the error messages of other projects, each after the word before it.

"must be less than or equal to" stands in messages of every project and proves nothing, however rare its words are; "capture cuda graph"
does. So a word's information is taken from messages of many packages, given the word before it. ``background.tsv`` holds how often each
word and each pair of words occurs in them (``tests/bench/background.py`` counts them anew).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import log2

WORD_CAP = 10.0
"""The most bits that one word may prove: a single odd word must never carry an answer."""

NUMBER_BITS = 3.0
"""What a number proves: numbers of templates (versions, sizes) stand in any text."""

PAIRS_WEIGHT = 8.0
"""How many sightings of the first word of a pair it takes until the pair's own count rules over the single word's."""


@dataclass(frozen=True)
class Background:
    """Counts of words and of pairs (``"first second"``) in the messages of other projects."""

    words: dict[str, int]
    pairs: dict[str, int]
    total: int

    def information(self, words: Sequence[str]) -> list[float]:
        """Bits of each word of one literal piece, given the word before it."""
        found = []
        before: str | None = None
        for word in words:
            single = (self.words.get(word, 0) + 0.5) / (self.total + 1.0)
            if before is None:
                chance = single
            else:
                seen = self.words.get(before, 0)
                chance = (self.pairs.get(f"{before} {word}", 0) + PAIRS_WEIGHT * single) / (seen + PAIRS_WEIGHT)
            found.append(min(-log2(chance), NUMBER_BITS if word.isdigit() else WORD_CAP))
            before = word
        return found

    def weights(self, pieces: Iterable[str]) -> list[float]:
        """Bits of all words of a pattern, in order."""
        return [bits for piece in pieces if piece for bits in self.information(piece.split())]


@cache
def background() -> Background:
    """The counts that are shipped with the program."""
    words: dict[str, int] = {}
    pairs: dict[str, int] = {}
    for line in files("bot.matching").joinpath("background.tsv").read_text("utf-8").splitlines():
        text, _, count = line.partition("\t")
        (pairs if " " in text else words)[text] = int(count)
    return Background(words, pairs, sum(words.values()))
