"""Which public function leads to a private one that raises, within one file: by the calls that stand in its text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bot.catalogue.scanners import Raised

CALL = re.compile(r"_\w{1,100}\(")  # begins with a character to look for: what stands before it is looked at only then
OWNERS = ("self.", "cls.", "super().")
STEPS = 3
"""How many private functions may stand between the public one and the one that raises."""


@dataclass(frozen=True, slots=True)
class Span:
    """A function or method of the file, and the lines that it takes; ``owner`` is its class."""

    first: int
    last: int
    name: str
    owner: str


def is_public(function: str) -> bool:
    """Whether others may call a function: no part of its name begins with an underscore, except ``__init__`` and its like."""
    return function != "<module>" and all(not part.startswith("_") or _is_special(part) for part in function.split("."))


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def with_entries(raised: Sequence[Raised], spans: Iterable[Span], text: str) -> tuple[Raised, ...]:
    """The raise sites, those in private functions with the nearest public function that calls it, directly or through others."""
    private = {one.function for one in raised if not is_public(one.function) and _reachable(one.function)}
    if not private:
        return tuple(raised)
    ordered = sorted(spans, key=lambda span: (span.first, -span.last))
    callers = _callers(ordered, text)
    entries = {function: _nearest(function, callers) for function in private}
    return tuple(replace(one, entry=entries[one.function]) if entries.get(one.function) else one for one in raised)


def _reachable(function: str) -> bool:
    """Whether the last part of the name is the private one: in a private class, nothing is for others."""
    outer, _, last = function.rpartition(".")
    return last.startswith("_") and not _is_special(last) and (not outer or is_public(outer))


def _callers(spans: Sequence[Span], text: str) -> dict[str, list[str]]:
    """The functions that call each private function, in the order of their lines."""
    starts = [span.first for span in spans]
    known = {span.name for span in spans}
    callers: dict[str, list[str]] = {}
    line, at = 1, 0
    for call in CALL.finditer(text):
        start = call.start()
        before = text[start - 1 : start]
        if before.isalnum() or before == "_":
            continue
        mine = before == "." and text[max(start - 8, 0) : start].endswith(OWNERS)
        if before == "." and not mine:
            continue
        line += text.count("\n", at, start)
        at = start
        caller = next((span for span in reversed(spans[: bisect_right(starts, line)]) if span.last >= line), None)
        if caller is None:
            continue
        name = f"{caller.owner}.{call[0][:-1]}" if mine else call[0][:-1]
        if name in known and name != caller.name:
            callers.setdefault(name, []).append(caller.name)
    return callers


def _nearest(function: str, callers: dict[str, list[str]]) -> str:
    seen, level = {function}, [function]
    for _ in range(STEPS):
        level = [caller for name in level for caller in dict.fromkeys(callers.get(name, ())) if caller not in seen]
        public = [name for name in level if is_public(name)]
        if public:
            return next((name for name in public if name.endswith(".__init__")), public[0])
        seen.update(level)
    return ""
