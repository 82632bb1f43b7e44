"""What became of a text that is gone: the record that stands in its place in the next release."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

LIKE = 60.0
"""Likeness (rapidfuzz ratio) from which a text that is new in the same function is what the old one became.

Measured by `tests/bench/releases.py` on all neighbouring releases of sglang; its figures stand in the output there."""

LIKE_ELSEWHERE = 75.0
"""The same for a text that is new in another function or file, where more of them could be alike by chance."""

LIKE_IN_FILE = 88.0
"""The same for a function that was renamed: another function of the same file."""

GENERAL_LETTERS, GENERAL_SHARE = 18, 0.33
"""A text whose literal pieces all stand in the old one, in order, says the same with more holes ("{} memory leak detected! {}"); it
needs so many letters, and so large a share of the old text's."""

SAME_CONDITIONS = 12.0
SAME_TYPE = 6.0
"""What equal conditions and an equal type add to likeness, when one of several texts is chosen."""

SAME_INNERMOST = 0.75
"""Of that, what counts when only the nearest condition is the same: each check above in the function adds one to the others."""

GENERAL_TIER = 4
"""Where a more general text ranks: after all those that are alike."""

MAX_CHOICES = 400
"""New texts that an old one is compared with, of one function name in a whole release."""


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


def follow(lost: Iterable[Place], new: Sequence[Place]) -> dict[str, tuple[str, float]]:
    """For records that are gone, by id, the record among the new texts that each became, and their likeness.

    ``lost`` are the places where they stood, ``new`` those texts that were nowhere in their function before. A text in the same
    function of the same path goes before one in a file of the same name (moved), that before the same function name anywhere, then comes
    another function of the same file, and last a more general text anywhere. Among those, likeness decides, with something added for
    equal conditions and type.
    """
    index = _index(new)
    best: dict[str, tuple[int, float, float, str]] = {}
    for place in lost:
        for tier, (threshold, choices) in enumerate(_tiers(place, index)):
            for choice in choices[:MAX_CHOICES]:
                if choice.record == place.record:
                    continue
                likeness = fuzz.ratio(place.text, choice.text, score_cutoff=threshold)
                if likeness >= threshold:
                    worth = likeness + SAME_CONDITIONS * _shared(choice, place) + SAME_TYPE * (choice.type == place.type)
                    found = (-tier, worth, likeness, choice.record)
                    best[place.record] = max(best.get(place.record, found), found)
            if place.record in best and best[place.record][0] == -tier:
                break
        else:
            general = max((one for one in index.get(("type", place.type), ()) if _generalises(one, place)), key=_letters, default=None)
            if general is not None:
                best[place.record] = (-GENERAL_TIER, 0.0, fuzz.ratio(place.text, general.text), general.record)
    return {record: (choice, likeness) for record, (_, _, likeness, choice) in best.items()}


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
        name, tail = _ends(place)
        for key in (
            ("place", place.path, place.function),
            ("moved", name, tail),
            ("function", tail),
            ("file", place.path),
            ("type", place.type),
        ):
            index[key].append(place)
    return index


def _tiers(place: Place, index: _Index) -> Iterator[tuple[float, list[Place]]]:
    name, tail = _ends(place)
    for threshold, key in (
        (LIKE, ("place", place.path, place.function)),
        (LIKE_ELSEWHERE, ("moved", name, tail)),
        (LIKE_ELSEWHERE, ("function", tail)),
        (LIKE_IN_FILE, ("file", place.path)),
    ):
        yield threshold, index.get(key, [])


def _ends(place: Place) -> tuple[str, str]:
    return place.path.rpartition("/")[2], re.split(r"\.|::", place.function)[-1]
