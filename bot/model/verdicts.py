"""What matching decides, with its evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bot.model.occurrences import Occurrence
from bot.model.records import RaiseSite, Record
from bot.model.template import Template


@dataclass(frozen=True, slots=True)
class Capture:
    """What filled a hole: the hole's expression and the text found there."""

    expression: str
    value: str


@dataclass(frozen=True, slots=True)
class Reason:
    """One piece of evidence: its name, what it is worth (log-odds in bits; negative speaks against), and in words."""

    name: str
    weight: float
    text: str


@dataclass(frozen=True, slots=True)
class Match:
    """A record for an occurrence. ``site`` is named only where a frame or printed line says which; ``score`` is a probability."""

    record: Record
    occurrence: Occurrence
    template: Template
    captures: tuple[Capture, ...] = ()
    site: RaiseSite | None = None
    score: float = 0.0
    reasons: tuple[Reason, ...] = ()


Decision = Literal["answer", "cautious", "silent"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to do with an issue, and why.

    ``matches`` stand root cause first; a silent verdict holds the nearest candidates for ``/explain why``. ``release`` is the
    catalogue's release that the reporter runs, as far as it is known. ``why`` is one sentence.
    """

    decision: Decision
    matches: tuple[Match, ...] = ()
    release: str | None = None
    why: str = ""
