"""Which errors another error is raised in place of: by what was tried, what was caught, and what the functions called there raise."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable

from bot.model import Condition, RaiseSite

MIN_WORDS = 3
"""A method of some object is known by its name alone only when that has so many words: ``load_all_weights``, not ``state_dict``."""

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


def last_name(called: str) -> str:
    """The last name of a call (:attr:`bot.model.RaiseSite.tried`): of the function, or of the class that is made."""
    return re.split(r"[.:]", called)[-1]


def names_of(site: RaiseSite) -> tuple[str, ...]:
    """The last names by which the functions are called in which a site stands: its own, and the public one that leads to it."""
    names = (function.removesuffix(".__init__").rpartition(".")[2] for function in (site.function, site.entry) if function)
    return tuple(dict.fromkeys(names))


def function_of(called: str) -> str:
    """The last part of the qualified name of the function that a call runs; of a class, ``Class.__init__``."""
    last = last_name(called)
    return f"{last}.__init__" if last[:1].isupper() else last


def resolve(called: str, at: RaiseSite, found: Iterable[tuple[str, str]]) -> tuple[str, str] | None:
    """Which of some functions, as (path, qualified function), a call of a site's ``try`` means; None when in doubt.

    What is imported is looked for in the module that the import names, or else in the package of that name, which may only hand it on.
    """
    among = set(found)
    module, imported, name = called.rpartition(":")
    receiver, _, last = name.rpartition(".")
    if imported and receiver and not receiver[:1].isupper():  # a module, imported from its package
        module, name = f"{module}.{receiver}", last
    wanted = f"{name}.__init__" if last[:1].isupper() else name
    if imported:
        same = {place for place in among if place[1] == wanted}
        exact = {place for place in same if f".{_dotted(place[0])}".endswith(f".{module}")}
        among = exact or {place for place in same if f".{module}." in f".{_dotted(place[0])}."}
    elif receiver in ("self", "cls"):
        among &= {(at.path, f"{at.function.rpartition('.')[0]}.{last}")}
    elif not receiver or last[:1].isupper():
        among &= {(at.path, wanted)}
    elif len(last.strip("_").split("_")) < MIN_WORDS:
        return None
    return among.pop() if len(among) == 1 else None


def _dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
