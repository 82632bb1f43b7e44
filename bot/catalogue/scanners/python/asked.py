"""What conditions ask of values, and which command-line options that makes.

A condition is read as clauses that all hold; a clause is a list of ways, of which at least one holds. Where a value comes from may take
other functions and files to tell: :mod:`bot.catalogue.scanners.python.origins` follows it as far as its own function goes, and
:mod:`bot.catalogue.scanners.python.reached` from there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from bot.catalogue.scanners.python.flags import Flag

MAX_FLAGS = 6
"""Options named for one place."""

MAX_WAYS = 4
"""Options of which one is enough to lead to a place; of more, none is named."""

SEVERAL = 2
"""Values that are told apart before what is left is some unknown one."""

NUMBER = re.compile(r"-?[\d.]+")

PREDICATE = re.compile(r"(is|has|use|uses|supports)_\w")
"""Names of methods and properties that say yes or no of their object."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a value is read from, where its own function does not tell which option that is.

    ``kind`` is ``option`` (``name`` is an attribute of ``of``, which holds arguments), ``parameter`` (of the function ``of``, given at
    ``position``), ``attribute`` (set on some object elsewhere) or ``result`` (of a function). ``field`` is an attribute of the value.
    """

    kind: str
    name: str
    of: str = ""
    position: int = -1
    field: str = ""


Sources = tuple[Flag | Read, ...]
"""Where a value may come from: ``args.x or args.y`` from either."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What must be so of a value: it ``is`` a text or one of several (``a|b``), ``isnt`` a text, is ``set``, is switched ``on``, is
    ``compared`` with something, or a predicate ``asks`` for it (``value`` is its name). ``early`` says that an earlier test was passed
    by it."""

    sources: Sources
    how: str
    value: str = ""
    early: bool = False


Clause = tuple[Wanted, ...]


class Follows(Protocol):
    """Tells where values come from."""

    def origin(self, node: ast.expr) -> Sources:
        """Where a value comes from; empty when that cannot be told."""

    def member(self, node: ast.expr) -> str:
        """The text that a member of an enumeration stands for; empty when there is none."""


def clauses(test: ast.expr, holds: bool, walk: Follows) -> Iterator[Clause]:
    """What a condition that holds (or doesn't) asks of values; nothing is said of what cannot be read."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from clauses(test.operand, not holds, walk)
    elif isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) == holds:
            for value in test.values:
                yield from clauses(value, holds, walk)
        else:  # of "a or b" that holds, it is one of them: each must be known
            ways = [tuple(clauses(value, holds, walk)) for value in test.values]
            if all(len(way) == 1 for way in ways):
                yield tuple(wanted for way in ways for wanted in way[0])
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        yield from _compared(test.left, test.ops[0], test.comparators[0], holds, walk)
    elif holds and isinstance(test, ast.Call):
        if isinstance(test.func, ast.Attribute) and not test.args and not test.keywords:
            yield from _predicate(test.func, walk)
    elif holds and isinstance(test, ast.Name | ast.Attribute):
        sources = walk.origin(test)
        if isinstance(test, ast.Attribute) and not any(isinstance(source, Flag) or source.kind == "option" for source in sources):
            yield from tuple(_predicate(test, walk)) or ([(Wanted(sources, "set"),)] if sources else [])
        elif sources:
            yield (Wanted(sources, "set"),)


def _predicate(asked: ast.Attribute, walk: Follows) -> Iterator[Clause]:
    if PREDICATE.match(asked.attr) and (sources := walk.origin(asked.value)):
        yield (Wanted(sources, "asks", asked.attr),)


def _compared(left: ast.expr, sign: ast.cmpop, right: ast.expr, holds: bool, walk: Follows) -> Iterator[Clause]:
    sources = walk.origin(left) if isinstance(left, ast.Name | ast.Attribute | ast.BoolOp) else ()
    if not sources:
        return
    equal = isinstance(sign, ast.Eq | ast.Is) if holds else isinstance(sign, ast.NotEq | ast.IsNot)
    equals = isinstance(sign, ast.Eq | ast.NotEq | ast.Is | ast.IsNot)
    if equals and isinstance(right, ast.Constant):
        value = right.value
        if isinstance(value, str | int | float) and not isinstance(value, bool) and value != "":
            yield (Wanted(sources, "is" if equal else "isnt", _shell(str(value))),)
        elif (value is None or value is False or value == "") and not equal:
            yield (Wanted(sources, "set"),)
        elif equal and value is True:
            yield (Wanted(sources, "on"),)
    elif equals and isinstance(right, ast.Attribute) and (member := walk.member(right)):
        yield (Wanted(sources, "is" if equal else "isnt", _shell(member)),)
    elif isinstance(sign, ast.In if holds else ast.NotIn) and isinstance(right, ast.Tuple | ast.List | ast.Set):
        values = [value.value for value in right.elts if isinstance(value, ast.Constant) and isinstance(value.value, str)]
        if values and len(values) == len(right.elts):
            yield (Wanted(sources, "is", "|".join(map(_shell, values[:4]))),)
    elif not isinstance(sign, ast.In | ast.NotIn):
        yield (Wanted(sources, "compared"),)


def _shell(value: str) -> str:
    return value if re.fullmatch(r"[\w./:+-]{1,80}", value) else "…"


def none_of_them(found: Iterable[Clause]) -> Iterator[Clause]:
    """Clauses in which several values that something is not, one after the other, are some other value; one alone says nothing."""
    excluded: dict[Sources, set[str]] = {}
    for clause in found:
        if any(wanted.how == "isnt" for wanted in clause):
            if len(clause) == 1:
                values = excluded.setdefault(clause[0].sources, set())
                values.add(clause[0].value)
                if len(values) == SEVERAL:
                    yield (Wanted(clause[0].sources, "compared"),)
        else:
            yield clause


def written(found: Iterable[Clause]) -> tuple[str, ...]:
    """The options that clauses make, as they are written on a command line: ``--x a``, ``--x …``, and ``--x a or --y a``, where either
    is enough. Only of clauses all of whose values come from options."""
    ways = list(dict.fromkeys(way for clause in found if (way := _ways(clause))))
    return tuple(" or ".join(way) for way in ways if not any(_says_more(other, way) for other in ways))[:MAX_FLAGS]


def _ways(clause: Clause) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for wanted in clause:
        some = [way for source in wanted.sources if isinstance(source, Flag) and (way := _way(source, wanted))]
        if not some or any(isinstance(source, Flag) and _is_default(source, wanted) for source in wanted.sources):
            return ()
        found.update(dict.fromkeys(some))
    return tuple(found) if len(found) <= MAX_WAYS else ()


def _is_default(flag: Flag, wanted: Wanted) -> bool:
    """Whether an option has a value without being given: nothing leads there that a reader has done."""
    return wanted.how == "is" and flag.default in wanted.value.split("|")


def _way(flag: Flag, wanted: Wanted) -> str:
    """An option as it is written; empty where an earlier test was passed by just some value, or a number: that leads nowhere."""
    if wanted.how == "on" or (wanted.how == "set" and flag.switch):
        return flag.name
    if flag.switch or (wanted.early and (wanted.how != "is" or NUMBER.fullmatch(wanted.value))):
        return ""
    return f"{flag.name} {wanted.value}" if wanted.how == "is" else f"{flag.name} …"


def _says_more(other: tuple[str, ...], way: tuple[str, ...]) -> bool:
    """Whether ``other`` makes ``way`` needless: ``--x a`` says more than ``--x``, and than ``--x a or --y``."""
    if other == way:
        return False
    names = {one.removesuffix(" …") for one in way}
    return all(one in way or (one.partition(" ")[0] in names and not one.endswith("…")) for one in other)
