"""What became of a text that is gone: the record that stands in its place in the same release, or in another one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rapidfuzz import fuzz

LIKE = 60.0
"""Likeness (rapidfuzz ratio) from which a text that is new in the same function is what the old one became.

Measured by `tests/bench/releases.py` on all neighbouring releases of sglang; its figures stand in the output there."""

LIKE_ELSEWHERE = 75.0
"""The same for a text that is new in another function or file, where more of them could be alike by chance."""

LIKE_ANYWHERE = 88.0
"""The same for a function of another name."""

LIKE_APART = 85.0
"""The same for a text that is new in a later release than the old one was last in; equal conditions count towards it."""


class Tier(NamedTuple):
    """Where a successor is looked for, and how alike it has to be. ``said``: only messages, since the names in assertions are alike
    by chance; ``added``: what equal conditions add counts towards ``like``."""

    where: str
    like: float
    said: bool = False
    added: bool = False


AT_ONCE = (
    Tier("place", LIKE),
    Tier("moved", LIKE_ELSEWHERE),
    Tier("function", LIKE_ELSEWHERE),
    Tier("class", LIKE_ELSEWHERE, said=True),
    Tier("file", LIKE_ANYWHERE),
    Tier("type", LIKE_ANYWHERE, said=True),
)
"""For texts that are new in the very release in which the old one is gone: in the same function of the same path (``place``), in one of a
file of the same name (``moved``), in a function of that name anywhere, in a class of that name, in another function of the file, of the
same exception type."""

LATER = (Tier("place", LIKE_APART, said=True, added=True), Tier("moved", LIKE_APART, said=True))
"""For texts that are new in a later release."""

GENERAL_LETTERS, GENERAL_SHARE = 18, 0.33
"""A text whose literal pieces all stand in the old one, in order, says the same with more holes ("{} memory leak detected! {}"); it
needs so many letters, and so large a share of the old text's."""

SAME_CONDITIONS = 12.0
SAME_TYPE = 6.0
"""What equal conditions and an equal type add to likeness, when one of several texts is chosen."""

SAME_INNERMOST = 0.75
"""Of that, what counts when only the nearest condition is the same: each check above in the function adds one to the others."""

MAX_CHOICES = 400
"""New texts that an old one is compared with, of one function name or type in a whole release."""


@dataclass(frozen=True, slots=True)
class Place:
    """A text at a place of one release: ``record`` is its id, ``text`` what it says with its holes made anonymous."""

    record: str
    type: str
    text: str
    path: str
    function: str
    conditions: tuple[object, ...] = ()


def text_of(skeleton: str, expression: str) -> str:
    """What is compared: the words of the message, or the assertion where there is none."""
    return " ".join(skeleton.split()) or f"assert {' '.join(expression.split())}"


def follow(lost: Iterable[Place], new: Sequence[Place], tiers: Sequence[Tier] = AT_ONCE) -> dict[str, tuple[str, float]]:
    """For records that are gone, by id, the record among the new texts that each became, and their likeness.

    ``lost`` are the places where they stood, ``new`` those texts that were nowhere in their function before. The first of the tiers that
    has one decides; failing all of :data:`AT_ONCE`, a more general text anywhere. Within a tier, likeness decides, with something added
    for equal conditions and type.
    """
    index = _index(new)
    best: dict[str, tuple[int, float, float, str]] = {}
    for place in lost:
        keys = _keys(place)
        for rank, tier in enumerate(tiers):
            choices = (
                index.get((tier.where, *keys[tier.where]), ()) if tier.where in keys and not (tier.said and _says_little(place)) else ()
            )
            for choice in choices[:MAX_CHOICES]:
                if choice.record == place.record or (tier.said and _says_little(choice)):
                    continue
                same = SAME_CONDITIONS * _shared(choice, place)
                least = tier.like - same if tier.added else tier.like
                likeness = fuzz.ratio(place.text, choice.text, score_cutoff=least)
                if likeness >= least:
                    found = (-rank, likeness + same + SAME_TYPE * (choice.type == place.type), likeness, choice.record)
                    best[place.record] = max(best.get(place.record, found), found)
            if place.record in best and best[place.record][0] == -rank:
                break
        else:
            if place.record not in best and tiers is AT_ONCE:
                general = max((one for one in index.get(("type", place.type), ()) if _generalises(one, place)), key=_letters, default=None)
                if general is not None:
                    best[place.record] = (-len(tiers), 0.0, fuzz.ratio(place.text, general.text), general.record)
    return {record: (choice, likeness) for record, (_, _, likeness, choice) in best.items()}


def _says_little(place: Place) -> bool:
    """Whether a text is an assertion, or too short to be told from others by its words."""
    return place.text.startswith("assert ") or _letters(place) < GENERAL_LETTERS


def _letters(place: Place) -> int:
    return sum(map(str.isalnum, place.text))


def _generalises(new: Place, old: Place) -> bool:
    """Whether the new text is the old one with more of it in holes."""
    if new.record == old.record or _letters(new) < max(GENERAL_LETTERS, GENERAL_SHARE * _letters(old)):
        return False
    at = 0
    for piece in new.text.split("{}"):
        literal = piece.strip()
        at = old.text.find(literal, at)
        if at < 0:
            return False
        at += len(literal)
    return True


def _shared(one: Place, other: Place) -> float:
    """How equal the conditions are, 0 to 1."""
    if one.conditions == other.conditions:
        return 1.0
    return SAME_INNERMOST if one.conditions[-1:] == other.conditions[-1:] != () else 0.0


_Index = dict[tuple[str, ...], list[Place]]


def _index(new: Iterable[Place]) -> _Index:
    index: _Index = defaultdict(list)
    for place in new:
        for where, key in _keys(place).items():
            index[where, *key].append(place)
    return index


def _keys(place: Place) -> dict[str, tuple[str, ...]]:
    """What a place has in common with others, for each place where a successor is looked for (:class:`Tier`)."""
    *around, tail = re.split(r"\.|::", place.function)
    owner = around[-1:] if around and around[-1] != "<locals>" else []
    keys = {
        "place": (place.path, place.function),
        "moved": (place.path.rpartition("/")[2], tail),
        "function": (tail,),
        "file": (place.path,),
        "type": (place.type,),
    }
    return keys | ({"class": (owner[0],)} if owner else {})
