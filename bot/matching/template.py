"""A message with holes, prepared for alignment: in-order alignment of words, captures, literal information in bits.

Words are what survives of a message when people quote it: punctuation, quotes, case, line breaks and markup get lost or changed on
the way, so a template is aligned word by word. There is no regular expression made from a template anywhere: a template with five
holes as ``.*?`` takes minutes on a text of 6 kB (design notes, threats 0.4); ``str.find`` takes microseconds.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import log2

from rapidfuzz.distance import LCSseq

from bot.model import Capture, Template

_WORD = re.compile(r"\w+")

GLUE = "\x1f"
"""Separates the pieces of a pattern in its written form; an empty first or last piece is a leading or trailing hole."""

MAX_WORDS = 600
"""Words of one message that are looked at; the longest template of any scanned project has under 300."""

MAX_LCS_WORDS = 160
"""Words of one message for the approximate alignment, which is quadratic."""

STRAY_BITS = 9.0
"""A word that stands alone counts in an approximate alignment from this information on."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text: folded and joined with single blanks (one before the first and one after the last), with their spans."""

    joined: str
    spans: tuple[tuple[int, int], ...]
    starts: tuple[int, ...]

    @property
    def list(self) -> list[str]:
        """The folded words."""
        return self.joined.split()

    def __len__(self) -> int:
        return len(self.spans)


def split_words(text: str) -> Words:
    """The words of a text, lower-cased, without the underscores that Markdown eats at their ends."""
    words, spans, starts, at = [], [], [], 0
    for found in _WORD.finditer(text):
        word = found.group().strip("_").lower()
        if word:
            words.append(word)
            spans.append(found.span())
            starts.append(at)
            at += len(word) + 1
            if len(words) == MAX_WORDS:
                break
    return Words(f" {' '.join(words)} " if words else " ", tuple(spans), tuple(starts))


@lru_cache(maxsize=8192)
def pattern(template: Template) -> tuple[str, ...]:
    """The literal pieces of a template as joined words, with empty strings at the ends where it starts or ends with a hole.

    A word that a hole touches without a separator (``tp{rank}``) is part of the hole: its printed form is another word.
    """
    pieces: list[str] = [""]
    for number, part in enumerate(template.parts):
        if not isinstance(part, str):
            if pieces[-1] or len(pieces) == 1:
                pieces.append("")
            continue
        text = part
        if number > 0:
            text = text[_head_of_word(text) :]
        if number < len(template.parts) - 1:
            text = text[: _tail_of_word(text)]
        words = split_words(text).joined.strip()
        pieces[-1] = f"{pieces[-1]} {words}".strip() if words else pieces[-1]
    return tuple(pieces)


def _head_of_word(text: str) -> int:
    """How many characters at the start of ``text`` belong to a word that began before it."""
    found = _WORD.match(text)
    return found.end() if found else 0


def _tail_of_word(text: str) -> int:
    """Where the word begins that runs on after the end of ``text``."""
    at = len(text)
    while at and (text[at - 1].isalnum() or text[at - 1] == "_"):
        at -= 1
    return at


@dataclass(frozen=True, slots=True)
class Alignment:
    """How a pattern lies in a message. Amounts are bits of literal information.

    ``matched`` of ``total`` were found in order; ``missing_inside`` were skipped before the last one found, ``missing_tail`` come after
    it. ``first`` and ``last`` are the word numbers of the message that the match spans (last inclusive). ``gaps`` is what the jumps over
    other words cost: a word found n words further on could have been any of n. ``intruders`` counts foreign words inside literal
    pieces. ``exact``: every piece stands there whole and in order. ``open_end``: what is missing comes after a hole, which may hold
    the rest of the message, or the message ends in the middle of the next word.
    """

    matched: float
    total: float
    missing_inside: float
    missing_tail: float
    first: int
    last: int
    gaps: float
    intruders: int
    exact: bool
    open_end: bool

    @property
    def coverage(self) -> float:
        """Share of the template's literal information that was found."""
        return self.matched / self.total if self.total else 0.0

    def hides(self, other: Alignment) -> bool:
        """Whether another alignment in the same message says no more than this one: it stands in it, or begins in the midst of it."""
        inside = self.first < other.first <= self.last
        return inside or (self.first <= other.first and self.matched >= other.matched)

    @property
    def worth(self) -> float:
        """What was found, less what speaks against it whatever the dialect."""
        return self.matched - self.missing_inside - self.gaps - 2.0 * self.intruders


def align(pieces: Sequence[str], message: Words, weights: Sequence[float], loosely: bool = True) -> Alignment | None:
    """Lay a pattern over a message: exactly, else as far as it goes from its start, else by the longest common sequence of words.

    ``weights`` are the bits of the pattern's words, in order. The last, costly way is left out unless ``loosely``. None when nothing of
    it stands in the message.
    """
    if not weights:
        return None
    found = _align_forward(pieces, message, weights)
    if not loosely or (found is not None and (found.exact or found.coverage > 0.9)):
        return found
    other = _align_loosely(pieces, message, weights)
    if found is None or (other is not None and other.worth > found.worth):
        return other
    return found


def _align_forward(pieces: Sequence[str], message: Words, weights: Sequence[float]) -> Alignment | None:
    """Each piece in turn by ``str.find``; the piece that fails may stand there in its first words (a cut or quoted head)."""
    joined, at, gaps, used = message.joined, 0, 0.0, 0
    first = last = -1
    whole, open_end = True, True
    for piece in pieces:
        if not piece:
            continue
        head, found = piece, joined.find(f" {piece} ", at)
        if found < 0:
            whole = False
            head, found = _longest_head(piece, joined, at)
            if found < 0:
                break
        number = bisect_left(message.starts, found)
        gaps += log2(number - last) if first >= 0 else 0.0
        first = number if first < 0 else first
        length = head.count(" ") + 1
        used, last = used + length, number + length - 1
        if not whole:
            open_end = _is_cut_word(piece[len(head) + 1 :], message, last)
            break
        at = found + len(piece) + 1
    if first < 0:
        return None
    total, matched = sum(weights), sum(weights[:used])
    return Alignment(matched, total, 0.0, total - matched, first, last, gaps, 0, whole, open_end)


def _is_cut_word(rest: str, message: Words, last: int) -> bool:
    """Whether the message ends right after its word ``last``, in the middle of the first word of ``rest``."""
    return last == len(message) - 2 and rest.split(" ", 1)[0].startswith(message.joined[message.starts[-1] + 1 : -1])


def _longest_head(piece: str, joined: str, at: int) -> tuple[str, int]:
    """The longest run of first words of ``piece`` that stands in ``joined`` from ``at`` on, and where; ("", -1) when none does.

    Halves the search: when the first n words stand nowhere, no more of them do.
    """
    words = piece.split()
    low, high, best = 1, len(words) - 1, ("", -1)
    while low <= high:
        middle = (low + high) // 2
        head = " ".join(words[:middle])
        found = joined.find(f" {head} ", at)
        if found >= 0:
            best, low = (head, found), middle + 1
        else:
            high = middle - 1
    return best


def _align_loosely(pieces: Sequence[str], message: Words, weights: Sequence[float]) -> Alignment | None:
    """By the longest common sequence of words: survives dropped, changed and added words."""
    wanted = [word for piece in pieces for word in piece.split()]
    piece_of = [number for number, piece in enumerate(pieces) for _ in piece.split()]
    have = message.list[:MAX_LCS_WORDS]
    pairs: list[tuple[int, int]] = []
    for block in LCSseq.opcodes(wanted, have):
        if block.tag == "equal":
            pairs.extend((block.src_start + i, block.dest_start + i) for i in range(block.src_end - block.src_start))
    pairs = _drop_strays(pairs, weights)
    if not pairs:
        return None
    total, matched = sum(weights), sum(weights[want] for want, _ in pairs)
    end, last = pairs[-1]
    tail = sum(weights[end + 1 :])
    gaps, intruders = 0.0, 0
    for (want_a, have_a), (want_b, have_b) in pairwise(pairs):
        jump = have_b - have_a - (want_b - want_a)
        if want_b - want_a > 1 or jump:
            gaps += 1.0 + log2(1 + abs(jump))
        if jump > 0 and piece_of[want_a] == piece_of[want_b]:
            intruders += min(jump, 8)
    open_end = end + 1 == len(wanted) or piece_of[end] != piece_of[end + 1]
    return Alignment(matched, total, max(total - matched - tail, 0.0), tail, pairs[0][1], last, gaps, intruders, False, open_end)


def _drop_strays(pairs: list[tuple[int, int]], weights: Sequence[float]) -> list[tuple[int, int]]:
    """Leave out single common words that were picked up far from their neighbours: they would pair with any text."""
    kept = []
    for number, (want, have) in enumerate(pairs):
        near = any(
            0 <= other < len(pairs) and abs(pairs[other][0] - want) <= 2 and abs(pairs[other][1] - have) <= 2
            for other in (number - 1, number + 1)
        )
        if near or weights[want] >= STRAY_BITS:
            kept.append((want, have))
    return kept


def captures(template: Template, message: str) -> tuple[Capture, ...]:
    """What fills the holes of ``template`` in ``message``, as far as its literals stand there in order.

    White space in literals matches any white space, case does not matter. A hole whose following literal is missing takes the rest
    of its line. Two holes without a literal between them share one value: it goes to the first.
    """
    folded, offsets = _fold(message)
    found: list[Capture] = []
    at: int | None = None
    open_hole: str | None = None
    for part in template.parts:
        if not isinstance(part, str):
            open_hole = open_hole or part.expression
            continue
        literal = _fold(part)[0]
        if not literal.strip():
            continue
        where = folded.find(literal, at or 0)
        if where < 0 and literal.strip() != literal:
            literal = literal.strip()
            where = folded.find(literal, at or 0)
        if where < 0:
            end = _find_head(literal, folded, at or 0)
            if open_hole is not None and end is not None:
                found.append(Capture(open_hole, message[offsets[at or 0] : offsets[end]]))
                open_hole = None
            break
        if open_hole is not None:
            begin = offsets[at] if at is not None else 0
            found.append(Capture(open_hole, message[begin : offsets[where]]))
            open_hole = None
        at = where + len(literal)
    if open_hole is not None and at is not None:
        rest = message[offsets[at] :] if at < len(offsets) else ""
        found.append(Capture(open_hole, rest.strip().split("\n")[0]))
    return tuple(Capture(c.expression, c.value.strip()) for c in found if c.value.strip())


def _find_head(literal: str, folded: str, at: int) -> int | None:
    """Where the first words of a literal stand that is not there whole (two words at least, or one long one); None when not even they."""
    words = literal.split(" ")
    for count in range(len(words) - 1, 0, -1):
        head = " ".join(words[:count])
        if len(head.strip()) < 6:
            break
        where = folded.find(head, at)
        if where >= 0:
            return where
    return None


_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u00a0": " "})


def _fold(text: str) -> tuple[str, list[int]]:
    """Lower case, plain quotes, white space collapsed; and for each character of the result its offset in ``text`` (plus the end)."""
    out: list[str] = []
    offsets: list[int] = []
    blank = False
    for at, char in enumerate(text):
        if char.isspace():
            if not blank:
                out.append(" ")
                offsets.append(at)
            blank = True
            continue
        blank = False
        lower = char.lower()
        out.append((lower if len(lower) == 1 else char).translate(_QUOTES))
        offsets.append(at)
    offsets.append(len(text))
    return "".join(out), offsets
