"""Which errors another error is raised in place of: by what was tried, what was caught, and what the functions called there raise."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable

from bot.model import Condition, RaiseSite

CALL = re.compile(r"(?<![\w.])([A-Za-z_]\w{0,100}(?:\.[A-Za-z_]\w{0,100}){0,8})\(")

MAX_CALLS = 8
"""Calls looked at in what was tried: those of its first statements, as far as the scan keeps them."""

MIN_NAME = 8
"""A method of some object is known by its name alone only when it has this many characters and a ``_``, as in the scan."""

CATCHES_ALL = frozenset({"", "Exception", "BaseException"})


def caught(conditions: Iterable[Condition]) -> tuple[str, tuple[str, ...]]:
    """What an error is raised in place of: the code that was tried, and the types that were caught; both empty when there is none."""
    tried, types, before = "", "", ""
    for condition in conditions:
        if condition.kind == "try":
            before = condition.text
        elif condition.kind == "except":
            tried, types = before, condition.text
    return tried, tuple(name.strip().rpartition(".")[2] for name in types.strip("()").split(",") if name.strip())


def catches(types: Iterable[str], raised: str) -> bool:
    """Whether an ``except`` that names these types catches an error of type ``raised``; of classes that Python does not know, by name."""
    known = getattr(builtins, raised, None)
    for name in types:
        upper = getattr(builtins, name, None)
        if name in CATCHES_ALL or name == raised:
            return True
        if isinstance(known, type) and isinstance(upper, type) and issubclass(known, upper):
            return True
    return False


def calls(tried: str) -> tuple[str, ...]:
    """The functions that a piece of code calls, as they are written (``self.load``, ``module.load``, ``Loader``)."""
    return tuple(dict.fromkeys(CALL.findall(tried)))[:MAX_CALLS]


def bare(called: str) -> str:
    """The name under which the catalogue has what a call runs: of a class, ``__init__``."""
    last = called.rpartition(".")[2]
    return "__init__" if last[:1].isupper() else last


def resolve(called: str, at: RaiseSite, found: Iterable[tuple[str, str]]) -> tuple[str, str] | None:
    """Which of the functions found by :func:`bare` name, as (path, qualified function), a call at a site means; None when in doubt."""
    receiver, _, last = called.rpartition(".")
    wanted = f"{last}.__init__" if last[:1].isupper() else last
    among = set(found)
    if receiver in ("self", "cls", "super()"):
        same = (at.path, f"{at.function.rpartition('.')[0]}.{last}")
        return same if same in among else None
    if not receiver or last[:1].isupper():
        among = {place for place in among if place[1] == wanted}
        here = (at.path, wanted)
        if here in among:
            return here
    elif len(last) < MIN_NAME or "_" not in last.strip("_"):
        return None
    return among.pop() if len(among) == 1 else None
