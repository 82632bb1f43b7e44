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

SAME_CONDITIONS = 12.0
SAME_TYPE = 6.0
"""What equal conditions and an equal type add to likeness, when one of several texts is chosen."""

SAME_INNERMOST = 0.75
"""Of that, what counts when only the nearest condition is the same: each check above in the function adds one to the others."""

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

    ``lost`` are the places where they stood, ``new`` those texts that were nowhere in their function before. A text in the same function of
    the same path goes before one in a file of the same name (moved), that before the same function name anywhere, and last comes another
    function of the same file. Among those, likeness decides, with something added for equal conditions and type.
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
    return {record: (choice, likeness) for record, (_, _, likeness, choice) in best.items()}


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
        for key in (("place", place.path, place.function), ("moved", name, tail), ("function", place.function), ("file", place.path)):
            index[key].append(place)
    return index


def _tiers(place: Place, index: _Index) -> Iterator[tuple[float, list[Place]]]:
    name, tail = _ends(place)
    for threshold, key in (
        (LIKE, ("place", place.path, place.function)),
        (LIKE_ELSEWHERE, ("moved", name, tail)),
        (LIKE_ELSEWHERE, ("function", place.function)),
        (LIKE_IN_FILE, ("file", place.path)),
    ):
        yield threshold, index.get(key, [])


def _ends(place: Place) -> tuple[str, str]:
    return place.path.rpartition("/")[2], re.split(r"\.|::", place.function)[-1]
