"""What the catalogue holds: raise sites, and the records made of them and of what people wrote."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

from bot.model.template import Template


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing that must hold for a raise to be reached, outermost first.

    ``kind`` is ``if``, ``unless`` (an ``else`` branch, or an earlier test that left the block), ``except`` (text: the types),
    ``try`` (text: the statement that was tried), ``for``, ``while``, ``with``, ``assert``; ``text`` is source code.
    """

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class SiteLines:
    """Where a raise site stands in one release: first and last line of its statement, 1-based."""

    release: str
    line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class RaiseSite:
    """A place in the source that raises.

    ``path`` is the path in the repository; ``function`` is qualified (``Class.method``, ``<module>`` at top level); ``code`` is
    the statement's source as a traceback prints it: stripped lines joined with a newline, comments kept, at most 12 lines.
    ``lines`` are in the order of releases, oldest first, never empty. ``signature`` is that of the raising function (``f(x: int=0)``,
    ``async f()``).
    ``through`` names the helper that raises on behalf of this site. ``flags`` are the command-line options that lead to it, with
    their values as far as they are known (``--backend fast``; of ``--x a or --y a``, one is enough). ``entry`` is the public function
    of the same file that leads to it, where the raising one is not public. ``documented`` holds (parameter, first sentence of the
    docstring on it) for those parameters that the message or a condition names.
    ``tried`` are the functions called by the ``try`` that it is raised in place of: ``package.module:function``, where imports tell it.
    """

    path: str
    function: str
    lines: tuple[SiteLines, ...]
    code: str = ""
    conditions: tuple[Condition, ...] = ()
    signature: str = ""
    through: str = ""
    flags: tuple[str, ...] = ()
    entry: str = ""
    documented: tuple[tuple[str, str], ...] = ()
    tried: tuple[str, ...] = ()

    @property
    def latest(self) -> SiteLines:
        """Where it stands in the newest release that has it."""
        return self.lines[-1]

    def in_release(self, release: str | None) -> SiteLines:
        """Where it stands in ``release``, or in the newest release when it is not known there."""
        return next((at for at in self.lines if at.release == release), self.latest)


@dataclass(frozen=True, slots=True)
class Example:
    """A fix shown as code: before and after."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class PinnedSource:
    """The line that a record's author looked at, pinned to a commit."""

    path: str
    line: int
    commit: str


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who or what wrote a record, looking at which commit, when (ISO date)."""

    author: str
    commit: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """A text of a record file that must match its record (or, as a confuser, must not)."""

    text: str
    captures: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Translation:
    """What people wrote of a record, in another language (``zh``); what is empty stands there in English only."""

    language: str
    title: str = ""
    meaning: str = ""
    solutions: tuple[str, ...] = ()


Status = Literal["reviewed", "draft", "derived", "changed", "obsolete"]

SILENT_KINDS = frozenset({"warning"})
"""Kinds of record that are never answered unless a person wrote a record."""


@dataclass(frozen=True, slots=True)
class Record:
    """One error of the catalogue: repository, type and message template, with all its raise sites.

    ``templates`` holds more than one when a person joined texts that are one error; the first is the current one. An ``assert``
    without a message has the template of its printed expression's place: no parts, and ``expression`` set. ``kind`` is
    ``error`` (raised), ``assert``, ``log`` (logged as an error, never raised), ``warning``. ``symptom`` marks errors that only
    say that something else failed. Fields below ``status`` are what people wrote; empty where nobody did. ``remedies`` are what
    the message itself advises. ``file`` is the record file, relative to ``errors/``. ``successor`` is
    the id of the record that this text became in a later release, as far as it was followed. ``seen_in`` are numbers of issues of
    the repository that show it.
    """

    id: str
    repository: str
    type: str
    templates: tuple[Template, ...]
    sites: tuple[RaiseSite, ...] = ()
    kind: str = "error"
    expression: str = ""
    remedies: tuple[str, ...] = ()
    status: Status = "derived"
    title: str = ""
    meaning: str = ""
    solutions: tuple[str, ...] = ()
    example: Example | None = None
    guard: str = ""
    handler: str = ""
    trigger: str = ""
    situations: str = ""
    related: tuple[str, ...] = ()
    symptom: bool = False
    source: PinnedSource | None = None
    provenance: Provenance | None = None
    samples: tuple[Sample, ...] = ()
    confusers: tuple[Sample, ...] = ()
    file: str = ""
    successor: str = ""
    seen_in: tuple[int, ...] = ()
    translations: tuple[Translation, ...] = ()

    @property
    def template(self) -> Template:
        """The current template; empty for an assert without a message."""
        return self.templates[0] if self.templates else Template(())

    @property
    def heading(self) -> str:
        """The title that people gave, or else the first line of the message, the asserted expression, or the bare type."""
        said = str(self.template).strip().split("\n")[0]
        return self.title or said or (f"assert {self.expression}" if self.expression else self.type)


def record_id(repository: str, type: str, template: Template, expression: str = "") -> str:
    """The id of a record: 16 hex digits, equal on every machine and in every release that has the same text.

    ``expression`` is the asserted one, for an assert without a message.
    """
    key = "\0".join((repository.lower(), type, template.skeleton, expression if not template.parts else ""))
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]
