"""Which command-line options lead to a place through the functions that call it, and through the values that they hand on.

A function is followed to its callers as far as imports tell who is meant. What all calls of it share leads to it; a parameter is known when
all calls give it from the same option. Nothing is said where calls differ, or where the text of the file calls it more often than was read.

All of it is told from what one walk over each file keeps: other files change what is said of a place, but never need a second walk.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from bot.catalogue.scanners import Known, Offer, Raised
from bot.catalogue.scanners.python.asked import Clause, Read, Wanted, written
from bot.catalogue.scanners.python.flags import Flag
from bot.catalogue.scanners.python.knowledge import dotted, ends
from bot.catalogue.scanners.python.origins import Attribute, Called, Given, Predicate, Result, asks_for, called_as, is_offered

F = TypeVar("F", Attribute, Predicate, Result)

STEPS = 5
"""How many calls, results and attributes are followed from a place."""

MAX_CALLS = 8
"""Calls of one function that are compared; a function with more is called from everywhere."""


@dataclass(frozen=True, slots=True)
class Unsettled:
    """What other files may tell of the options of a file: what its raise sites ask of values, and how its private functions are called.

    ``asks`` names a site by its position, and its ``clauses`` by theirs: neighbours share them. A function that may be called otherwise has
    no calls.
    """

    path: str
    wants: frozenset[str]
    clauses: tuple[Clause, ...]
    asks: tuple[tuple[int, tuple[int, ...]], ...]
    private: tuple[tuple[str, tuple[Called, ...]], ...]

    def settled(self, raised: tuple[Raised, ...], known: Known) -> tuple[Raised, ...]:
        """The raise sites with the options that lead to them."""
        chains = _Chains(self.path, dict(self.private), known)
        found = list(raised)
        for at, asked in self.asks:
            flags, _ = chains.options(raised[at].function, tuple(self.clauses[one] for one in asked))
            found[at] = replace(raised[at], flags=flags)
        return tuple(found)


def with_options(
    raised: Sequence[Raised],
    asked: Sequence[tuple[Clause, ...]],
    called: Mapping[str, Sequence[Called]],
    own: Iterable[tuple[str, Offer]],
    known: Known,
    text: str,
) -> tuple[tuple[Raised, ...], Unsettled | None]:
    """The raise sites with the options that lead to them, as far as is known, and what is left open.

    ``asked`` is what the conditions of each ask of values; ``called`` and ``own`` are the calls in the file and what it offers.
    """
    if not raised:
        return (), None
    path = raised[0].path
    offers = {key: [one for one in some if one.path != path] for key, some in known.items()}
    for key, offer in own:
        offers.setdefault(key, []).append(offer)
    private = dict(_private(called, text))
    chains = _Chains(path, private, offers)
    found = list(raised)
    wants: set[str] = set()
    clauses: dict[Clause, int] = {}
    asks: list[tuple[int, tuple[int, ...]]] = []
    for at, (one, its) in enumerate(zip(raised, asked, strict=True)):
        if one.kind == "warning":
            continue
        flags, wanted = chains.options(one.function, its)
        if flags:
            found[at] = replace(one, flags=flags)
        if wanted:
            wants |= wanted
            asks.append((at, tuple(clauses.setdefault(clause, len(clauses)) for clause in its)))
    left = Unsettled(path, frozenset(wants), tuple(clauses), tuple(asks), tuple(private.items())) if asks else None
    return tuple(found), left


def _private(called: Mapping[str, Sequence[Called]], text: str) -> Iterator[tuple[str, tuple[Called, ...]]]:
    """The calls of the private functions and methods of a file; none of one of which there may be others, or which say nothing."""
    for name, found in called.items():
        if name.rpartition(".")[2].startswith("_"):
            yield name, tuple(found) if _is_promising(name, called) and _all_read(name, len(found), text) else ()


def _is_promising(name: str, called: Mapping[str, Sequence[Called]], steps: int = STEPS) -> bool:
    """Whether a call of a function of this file, or of those that call it, says anything: most don't, and need not be counted."""
    return any(
        one.under or one.given or (steps > 0 and _is_promising(called_as(one.caller), called, steps - 1)) for one in called.get(name, ())
    )


def _all_read(name: str, read: int, text: str) -> bool:
    """Whether all calls that the text of the file shows of a private function or method were read; its definition shows as one more."""
    last = name.rpartition(".")[2]
    # As part of a longer name it counts as well, so the quick count is never too low.
    if text.count(last) == read + 1:
        return True
    # The pattern begins with the name itself: with a boundary before it, every character of the file would be tried.
    return sum(_begins(found.start(), text) for found in re.finditer(re.escape(last) + r"\b", text)) == read + 1


def _begins(at: int, text: str) -> bool:
    before = text[at - 1] if at else " "
    return not (before.isalnum() or before == "_")


class _Chains:
    """Follows what is asked within a file, by the calls of its ``private`` functions, and from file to file by what is ``known``."""

    def __init__(self, path: str, private: Mapping[str, tuple[Called, ...]], known: Mapping[str, Sequence[Offer]]) -> None:
        self.path = path
        self.private = private
        self.known = known
        self.wants: set[str] = set()
        self.above: dict[str, tuple[tuple[Clause, ...], frozenset[str]]] = {}

    def options(self, function: str, asked: tuple[Clause, ...]) -> tuple[tuple[str, ...], set[str]]:
        """The options that lead to a place in a function whose conditions ask this, and the keys under which more may be known of them."""
        if function not in self.above:
            self.wants = set()
            above = tuple(self._above(function, self.path, STEPS))
            self.above[function] = above, frozenset(self.wants)
        above, wants = self.above[function]
        self.wants = {*wants, *asks_for(asked)}
        settled = [clause for one in asked if (clause := self._settled(one, self.path, STEPS))]
        return written((*settled, *above)), self.wants

    def _above(self, function: str, path: str, steps: int) -> Iterator[Clause]:
        """What all calls of a function are made under."""
        found = self._calls(function, path)
        if not steps or not found:
            return
        each = [
            dict.fromkeys(
                (
                    *(clause for one in called.under if (clause := self._settled(one, at, steps - 1))),
                    *(self._above(called.caller, at, steps - 1) if called.caller != function else ()),
                )
            )
            for at, called in found
        ]
        yield from (clause for clause in each[0] if all(clause in others for others in each[1:]))

    def _settled(self, clause: Clause, path: str, steps: int) -> Clause | None:
        """A clause in terms of options alone; None when one of its ways is unknown."""
        found: list[Wanted] = []
        for wanted in clause:
            ways = self._ways(wanted, path, steps)
            if not ways:
                return None
            found += ways
        return tuple(dict.fromkeys(found))

    def _ways(self, wanted: Wanted, path: str, steps: int) -> list[Wanted]:
        if wanted.how == "asks" and not all(_is_parameter(source) for source in wanted.sources):
            value = self._agreed(f"predicate:{wanted.value}", Predicate)
            if value is None:
                return []
            wanted = replace(wanted, how="is", value=value[1].value)
        found = [replace(wanted, sources=flags)] if (flags := tuple(one for one in wanted.sources if isinstance(one, Flag))) else []
        for read in wanted.sources:
            if isinstance(read, Read) and steps:
                found += self._read(read, wanted, path, steps - 1)
        return found

    def _read(self, read: Read, wanted: Wanted, path: str, steps: int) -> list[Wanted]:
        if read.kind == "option":
            flag = self._flag(read.name, path)
            return [replace(wanted, sources=(flag,))] if flag is not None else []
        if read.kind == "parameter":
            return self._given(read, wanted, path, steps)
        if read.kind == "attribute":
            held = self._agreed(f"attribute:{read.name}", Attribute)
            if held is None:
                return []
            sources = tuple(replace(one, field=read.field) if isinstance(one, Read) and read.field else one for one in held[1].sources)
            return self._ways(replace(wanted, sources=sources), held[0], steps)
        returned = self._agreed(f"result:{read.name}", Result)
        if returned is None:
            return []
        sources = dict(returned[1].fields).get(read.field, ()) if read.field else returned[1].sources
        return self._ways(replace(wanted, sources=sources), returned[0], steps)

    def _given(self, read: Read, wanted: Wanted, path: str, steps: int) -> list[Wanted]:
        """What is wanted of a parameter, in terms of what all calls give it."""
        found: list[Wanted] | None = None
        for at, called in self._calls(read.of, path):
            given = next((one for one in called.given if one.name in (read.name, read.position)), None)
            ways = self._of_argument(given, wanted, at, steps) if given is not None else []
            if not ways or (found is not None and found != ways):
                return []
            found = ways
        return found or []

    def _of_argument(self, given: Given, wanted: Wanted, path: str, steps: int) -> list[Wanted]:
        if given.sources:
            return self._ways(replace(wanted, sources=given.sources), path, steps)
        if wanted.how in ("set", "on") and len(given.holds) == 1:
            return list(self._settled(given.holds[0], path, steps) or ())
        return []

    def _calls(self, function: str, path: str) -> list[tuple[str, Called]]:
        """The calls of a function, with the paths they stand in; none when there may be others."""
        name = called_as(function)
        if path == self.path and name in self.private:
            return [(path, called) for called in self.private[name]]
        if not is_offered(name):
            return []
        self.wants.add(f"called:{name}")
        module = dotted(path)
        found = [
            (offer.path, called)
            for kind in ("called", "given", "also")
            for offer in self._offers(f"{kind}:{name}")
            if isinstance(called := offer.value, Called) and (_means(called.module, module) if called.module else offer.path == path)
        ]
        return found if len(found) <= MAX_CALLS else []

    def _offers(self, key: str) -> list[Offer]:
        """What is offered under a key, by this file and then by others."""
        return sorted(self.known.get(key, ()), key=lambda offer: offer.path != self.path)

    def _flag(self, name: str, path: str) -> Flag | None:
        """The option that a file reads under a name: its own, or that of all files that define one, when they say the same."""
        self.wants.add(f"flag:{name}")
        found = [(offer.path, offer.value) for offer in self._offers(f"flag:{name}") if isinstance(offer.value, Flag)]
        if not found:
            return None
        first = found[0][1]
        if path == self.path == found[0][0]:
            return first
        if any(other != first for _, other in found):
            return None
        return first if all(other.default == first.default for _, other in found) else replace(first, default="")

    def _agreed(self, key: str, kind: type[F]) -> tuple[str, F] | None:
        """The fact of a kind that all files agree on, and a path that it stands in."""
        self.wants.add(key)
        offers = self._offers(key)
        values = {offer.value for offer in offers}
        value = next(iter(values)) if len(values) == 1 else None
        return (offers[0].path, value) if isinstance(value, kind) else None


def _is_parameter(source: Flag | Read) -> bool:
    return isinstance(source, Read) and source.kind == "parameter"


def _means(module: str, path: str) -> bool:
    """Whether a module that a name is imported from is the one at a path, or a package around it."""
    return ends(path, module) or f".{module}." in f".{path}."
