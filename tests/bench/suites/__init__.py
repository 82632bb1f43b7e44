"""The suites of the battery: each draws its cases from a seed and an index, and says of each whether the bot stood it."""

from __future__ import annotations

import importlib
import pkgutil
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Failure:
    """A case that the bot did not stand: its index, and what was seen."""

    index: int
    seen: str


@dataclass(slots=True)
class Found:
    """What a run of cases found: the failures, and what else was counted (kills, comments, seconds)."""

    failures: list[Failure] = field(default_factory=list)
    counted: Counter[str] = field(default_factory=Counter)

    def fail(self, index: int, seen: object) -> None:
        """Note a failure."""
        self.failures.append(Failure(index, str(seen)[:500]))


Run = Callable[[range], Found]
"""Runs the cases of these indices."""

Open = Callable[[int], AbstractContextManager[Run]]
"""Opens what a suite needs (servers, databases), for a seed."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite: ``full`` and ``quick`` are its numbers of cases, ``slice`` so many of them are run and kept in one go."""

    name: str
    about: str
    passes: str
    full: int
    quick: int
    slice: int
    open: Open


SUITES: dict[str, Suite] = {}

_ORDER = ("signature", "json", "replay", "faults", "permissions", "bots", "injection", "burst", "fronts")


def suite(name: str, about: str, passes: str, *, full: int, quick: int, slice: int) -> Callable[[Open], Open]:
    """Register a suite; ``passes`` is its pass line in words."""

    def register(open: Open) -> Open:
        SUITES[name] = Suite(name, about, passes, full, quick, slice, open)
        return open

    return register


def load() -> Sequence[Suite]:
    """All suites, in the order of the table."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return [SUITES[name] for name in _ORDER if name in SUITES]


def chance(seed: int, suite: str, index: int) -> random.Random:
    """The source of chance of one case: the same for the same seed, suite and index on every machine."""
    return random.Random(f"{seed}/{suite}/{index}")


def each(check: Callable[[int], str | None]) -> Run:
    """Run a check that looks at one case at a time, and says what is wrong with it (None: nothing)."""

    def run(indices: range) -> Found:
        found = Found()
        for index in indices:
            if wrong := check(index):
                found.fail(index, wrong)
        return found

    return run


def slices(suite: Suite, n: int) -> Iterator[range]:
    """The indices below ``n``, in the slices in which they are run."""
    for start in range(0, n, suite.slice):
        yield range(start, min(start + suite.slice, n))
