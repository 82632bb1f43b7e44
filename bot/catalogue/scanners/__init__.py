"""Languages: from one source file to the places in it that raise.

A language is one module (or package) here, registered in :data:`bot.registry.SCANNERS` with the fact ``suffixes`` (file endings,
separated by blanks). It is a function ``(file, known) -> Scanned`` that never imports or runs what it reads.

Some texts stand in another file than the raise: a constant, an exception class that builds its message, a helper that raises what
it is given. So a scan has two rounds. In the first, every file is scanned alone and says what it *offers* to others and what it
*wants* from them, under keys that mean something to its language only. A file whose wants are offered elsewhere is scanned once more
with them as ``known``. Where that takes no second look at the file, the scan leaves it *open*: it is settled from what is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, cast

from bot.catalogue.sources import SourceFile
from bot.model import Condition, Template
from bot.registry import SCANNERS


class Unreadable(Exception):
    """A file that a scanner cannot read; the message is the reason, in words for the report."""


@dataclass(frozen=True, slots=True)
class Raised:
    """One error text at one place of one release.

    A statement whose text has several alternatives yields one of these for each. ``template`` is the message as printed; ``also``
    holds other forms in which the same error reaches people (the text handed to a class whose ``__str__`` adds to it). ``type`` is
    ``log:error`` and ``log:warning`` for what is logged, and empty where the source doesn't tell. ``expression`` is what is
    asserted, for an assert without a message. ``through`` names the function that raises what this place hands to it; ``line`` is
    then the first line of the text, which may stand before ``code``. ``flags``, ``entry``, ``documented`` and ``tried`` are those of
    :class:`bot.model.RaiseSite`.
    """

    type: str
    template: Template
    kind: str
    expression: str
    path: str
    line: int
    end_line: int
    function: str
    code: str = ""
    conditions: tuple[Condition, ...] = ()
    signature: str = ""
    through: str = ""
    also: tuple[Template, ...] = ()
    flags: tuple[str, ...] = ()
    entry: str = ""
    documented: tuple[tuple[str, str], ...] = ()
    tried: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that other files of the source may need: where it stands, what it is, and which keys it needs itself."""

    path: str
    value: object
    needs: frozenset[str] = frozenset()


Known = Mapping[str, tuple[Offer, ...]]
"""What other files offer, by key."""


class Open(Protocol):
    """What the raise sites of a file leave open until it is known what other files offer: a frozen dataclass, kept beside the sites."""

    @property
    def wants(self) -> frozenset[str]:
        """The keys under which it may be offered."""

    def settled(self, raised: tuple[Raised, ...], known: Known) -> tuple[Raised, ...]:
        """The raise sites of the file, which are given as the first round found them, with what other files tell of them.

        Of what is ``known``, the file itself offers some.
        """


@dataclass(frozen=True, slots=True)
class Scanned:
    """What one file holds, offers to other files, and wants from them: for being scanned once more, and for what is left ``open``."""

    raised: tuple[Raised, ...]
    offers: tuple[tuple[str, Offer], ...] = ()
    wants: frozenset[str] = frozenset()
    open: Open | None = None


Scanner = Callable[[SourceFile, Known], Scanned]


def suffixes() -> tuple[str, ...]:
    """The file endings that some scanner reads, e.g. ``(".py",)``."""
    return tuple(sorted(suffix for entry in SCANNERS for suffix in entry.facts["suffixes"].split()))


def scan_alone(file: SourceFile, known: Known | None = None) -> Scanned:
    """Scan one file with the scanner of its ending, given what other files offer.

    Raises Unreadable when the file cannot be scanned.
    """
    if file.problem:
        raise Unreadable(file.problem)
    for entry in SCANNERS:
        if file.path.endswith(tuple(entry.facts["suffixes"].split())):
            return cast(Scanner, entry.value)(file, known or {})
    raise Unreadable("no scanner reads files of this kind")


def scan_file(file: SourceFile, known: Known | None = None) -> Iterator[Raised]:
    """The raise sites of one file, in the order of their lines.

    Raises Unreadable when the file cannot be scanned.
    """
    yield from scan_alone(file, known).raised
