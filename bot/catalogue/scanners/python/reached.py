"""Which command-line options lead to a place through the functions that call it, and through the values that they hand on.

A function is followed to its callers as far as imports tell who is meant. What all calls of it share leads to it; a parameter is known when
all calls give it from the same option. Nothing is said where calls differ, or where the text of the file calls it more often than was read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from bot.catalogue.scanners import Offer, Raised
from bot.catalogue.scanners.python.asked import Clause, Read, Wanted, written
from bot.catalogue.scanners.python.flags import Flag
from bot.catalogue.scanners.python.knowledge import Knowledge, dotted, ends
from bot.catalogue.scanners.python.origins import Attribute, Called, Given, Origins, Predicate, Result, asks_for, called_as

F = TypeVar("F", Attribute, Predicate, Result)

STEPS = 5
"""How many calls, results and attributes are followed from a place."""

MAX_CALLS = 8
"""Calls of one function that are compared; a function with more is called from everywhere."""


def with_options(
    raised: Sequence[Raised], asked: Sequence[tuple[Clause, ...]], walk: Origins, offers: Iterable[tuple[str, Offer]], text: str
) -> tuple[Raised, ...]:
    """The raise sites with the options that lead to them; ``asked`` is what the conditions of each ask of values, ``offers`` what the file
    itself tells of where values come from."""
    if not raised:
        return ()
    chains = _Chains(raised[0].path, walk, offers, text)
    found = (replace(one, flags=flags) if (flags := chains.options(one, its)) else one for one, its in zip(raised, asked, strict=True))
    return tuple(found)


class _Chains:
    def __init__(self, path: str, walk: Origins, offers: Iterable[tuple[str, Offer]], text: str) -> None:
        self.path = path
        self.walk = walk
        self.text = text
        self.knowledge: Knowledge = walk.knowledge
        self.own: Mapping[str, list[Called]] = walk.called
        self.above: dict[str, tuple[Clause, ...]] = {}
        self.offers: dict[str, list[Offer]] = {}
        for key, offer in offers:
            self.offers.setdefault(key, []).append(offer)

    def options(self, raised: Raised, asked: tuple[Clause, ...]) -> tuple[str, ...]:
        if raised.kind == "warning":
            return ()
        function = raised.function
        self.knowledge.wants |= asks_for(asked)
        settled = [clause for one in asked if (clause := self._settled(one, self.path, STEPS))]
        above = self.above.get(function)
        if above is None:
            above = self.above[function] = tuple(self._above(function, self.path, STEPS))
        return written((*settled, *above))

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
            flag = self.walk.flags.get(read.name) if path == self.path else None
            flag = flag or self.knowledge.flag(read.name)
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
        self.knowledge.wants.add(f"called:{name}")
        if path == self.path and name in self.own and name.rpartition(".")[2][0] == "_":
            all_read = self._is_promising(name) and self._all_read(name)
            return [(path, called) for called in self.own[name]] if all_read else []
        module = dotted(path)
        found = [
            (offer.path, called)
            for kind in ("called", "given", "also")
            for offer in self._offers(f"{kind}:{name}")
            if isinstance(called := offer.value, Called) and (_means(called.module, module) if called.module else offer.path == path)
        ]
        return found if len(found) <= MAX_CALLS else []

    def _offers(self, key: str) -> list[Offer]:
        """What is offered under a key, by this file and by others."""
        return [*self.offers.get(key, ()), *(offer for offer in self.knowledge.known.get(key, ()) if offer.path != self.path)]

    def _is_promising(self, name: str, steps: int = STEPS) -> bool:
        """Whether a call of a function of this file, or of those that call it, says anything: most don't, and need not be counted."""
        return any(
            called.under or called.given or (steps > 0 and self._is_promising(called_as(called.caller), steps - 1))
            for called in self.own.get(name, ())
        )

    def _all_read(self, name: str) -> bool:
        """Whether all calls that the text of the file shows of a private function or method were read; its definition shows as one more."""
        last = name.rpartition(".")[2]
        read = len(self.own[name]) + 1
        # As part of a longer name it counts as well, so the quick count is never too low. The pattern begins with the name itself: with a
        # boundary before it, every character of the file would be tried.
        return self.text.count(last) == read or sum(map(self._begins, re.finditer(re.escape(last) + r"\b", self.text))) == read

    def _begins(self, found: re.Match[str]) -> bool:
        before = self.text[found.start() - 1] if found.start() else " "
        return not (before.isalnum() or before == "_")

    def _agreed(self, key: str, kind: type[F]) -> tuple[str, F] | None:
        """The fact of a kind that all files agree on, and a path that it stands in."""
        self.knowledge.wants.add(key)
        offers = self._offers(key)
        values = {offer.value for offer in offers}
        value = next(iter(values)) if len(values) == 1 else None
        return (offers[0].path, value) if isinstance(value, kind) else None


def _is_parameter(source: Flag | Read) -> bool:
    return isinstance(source, Read) and source.kind == "parameter"


def _means(module: str, path: str) -> bool:
    """Whether a module that a name is imported from is the one at a path, or a package around it."""
    return ends(path, module) or f".{module}." in f".{path}."
