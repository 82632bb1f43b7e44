"""The plain frozen values that pass between the rooms.

Reading makes a :class:`Reading` of an issue's text, the catalogue holds :class:`Record`, matching makes a :class:`Verdict`,
handlers return :data:`Effect`. Nothing here reads, writes or decides.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

# ---------------------------------------------------------------------------------------------------------- reading

Span = tuple[int, int]
"""Half-open character offsets into :attr:`Reading.text`."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a traceback, as printed.

    ``function`` is the bare name that Python prints (``__init__``, never ``Class.__init__``); ``code`` is the source line
    below it, stripped (Python 3.13 prints all lines of a statement: joined with a newline).
    """

    path: str
    line: int | None = None
    function: str | None = None
    code: str = ""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One error found in a text.

    ``type`` is the exception type as printed (``torch.OutOfMemoryError``), or None where none was printed. ``message`` is
    cleaned: prefixes, colours, quoting and wraps are gone; ``span`` says where it stood in the text as written. ``frames``
    are in the order that Python prints them (outermost first). ``cause`` and ``context`` are the earlier errors of the
    chain ("direct cause of", "during handling of"). ``dialect`` names what was read: ``traceback``, ``line`` (a
    ``Type: message`` line or a log line), ``title``, ``prose`` (a quotation in a sentence), ``source`` (a source line that
    is quoted as the error), ``json``, ``cpp``, ``rust``. ``truncated`` says that the end is known to be cut off.
    """

    type: str | None
    message: str
    span: Span
    frames: tuple[Frame, ...] = ()
    cause: Occurrence | None = None
    context: Occurrence | None = None
    dialect: str = "line"
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class StatedVersion:
    """A version that the reporter states, e.g. ``sglang 0.5.3``; ``kind`` is how it was stated, most specific kinds first.

    Kinds, by falling trust: ``freeze`` (pip freeze, check_env), ``path`` (wheel or dist-info path), ``image`` (docker tag),
    ``log``, ``prose``; ``commit`` holds a commit hash in place of a version.
    """

    package: str
    version: str
    kind: str
    span: Span


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read in an issue: ``text`` is title, blank line, body; spans are offsets into it."""

    text: str
    occurrences: tuple[Occurrence, ...] = ()
    versions: tuple[StatedVersion, ...] = ()


# -------------------------------------------------------------------------------------------------------- catalogue


@dataclass(frozen=True, slots=True)
class Hole:
    """A place in a message that is filled at run time: the expression, and its conversion and format as written."""

    expression: str
    suffix: str = ""

    def __str__(self) -> str:
        # As in Python, a blank keeps the brace of a set or dict apart: "{{" would be a brace of the message.
        return "{" + (" " if self.expression.lstrip(" ").startswith("{") else "") + self.expression + self.suffix + "}"


@dataclass(frozen=True)
class Template:
    """A message with holes: literal pieces and :class:`Hole`, written like the inside of an f-string.

    ``str(template)`` and :meth:`parse` are inverses; literal braces are doubled. Two templates say the same to a reader
    when their :attr:`skeleton` is equal: holes count, their names do not.
    """

    parts: tuple[str | Hole, ...]

    @classmethod
    def parse(cls, text: str) -> Template:
        """Read a template from its written form.

        Raises ValueError for a brace that is never closed or never opened.
        """
        parts: list[str | Hole] = []
        at = 0
        while brace := _BRACE.search(text, at):
            parts.append(text[at : brace.start()])
            if text.startswith(brace[0], brace.end()):
                parts.append(brace[0])
                at = brace.end() + 1
            elif brace[0] == "}":
                raise ValueError(f"single '}}' at character {brace.start()} of the template; write '}}}}' for a brace in the message")
            else:
                pieces, at = _read_hole(text, brace.start())
                parts += pieces
        return cls.of(*parts, text[at:])

    @classmethod
    def of(cls, *parts: str | Hole) -> Template:
        """A template of pieces, with neighbouring literals joined and empty ones dropped."""
        joined: list[str | Hole] = []
        for part in parts:
            if isinstance(part, str) and joined and isinstance(joined[-1], str):
                joined[-1] += part
            elif part != "":
                joined.append(part)
        return cls(tuple(joined))

    def __str__(self) -> str:
        return "".join(p.replace("{", "{{").replace("}", "}}") if isinstance(p, str) else str(p) for p in self.parts)

    @cached_property
    def literals(self) -> tuple[str, ...]:
        """The literal pieces, in order."""
        return tuple(p for p in self.parts if isinstance(p, str))

    @cached_property
    def holes(self) -> tuple[Hole, ...]:
        """The holes, in order."""
        return tuple(p for p in self.parts if isinstance(p, Hole))

    @cached_property
    def skeleton(self) -> str:
        """The template with its holes made anonymous; with no word in its literals, the holes' expressions identify it."""
        if not any(ch.isalnum() for piece in self.literals for ch in piece):
            return str(self)
        return "".join(p.replace("{", "{{").replace("}", "}}") if isinstance(p, str) else "{}" for p in self.parts)


_BRACE = re.compile("[{}]")


def _read_hole(text: str, start: int) -> tuple[tuple[str | Hole, ...], int]:
    """The hole that opens at ``start``, and where the text goes on behind it.

    Quotes and brackets are respected in the expression; ``!r`` or ``:`` outside of them begins the suffix, as in an f-string.
    ``{x=}`` becomes what Python makes of it: the literal ``x=`` and a hole ``{x!r}``.
    """
    depth, quote, at = 0, "", start + 1
    while at < len(text):
        char = text[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in "'\"":
            quote = char
        elif char in "{[(":
            depth += 1
        elif char in "}])" and depth:
            depth -= 1
        elif not depth and (char in "}:" or text[at : at + 3] in _CONVERSIONS):
            break
        at += 1
    end = _suffix_end(text, at)
    if end >= len(text):
        raise ValueError(f"'{{' at character {start} of the template is never closed; write '{{{{' for a brace in the message")
    expression, suffix = text[start + 1 : at], text[at:end]
    if expression.lstrip(" ").startswith("{"):
        expression = expression.removeprefix(" ")
    if _DEBUG_END.search(expression):
        hole = Hole(expression.rstrip().removesuffix("=").strip(), suffix or "!r")
        return (expression, hole), end + 1
    return (Hole(expression, suffix),), end + 1


_CONVERSIONS = frozenset(f"!{letter}{end}" for letter in "rsa" for end in ":}")
_DEBUG_END = re.compile(r"[^=!<>\s]\s?=\s?\Z")


def _suffix_end(text: str, at: int) -> int:
    """The index of the brace that closes a hole whose suffix begins at ``at``.

    A format may hold holes, and quotes mean nothing in it.
    """
    depth = 0
    while at < len(text):
        if text[at] == "{":
            depth += 1
        elif text[at] == "}":
            if not depth:
                return at
            depth -= 1
        at += 1
    return at


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
    ``lines`` are in the order of releases, oldest first, never empty. ``signature`` is that of the raising function.
    ``through`` names the helper that raises on behalf of this site. ``flags`` are the command-line options that lead to it, with
    their values as far as they are known (``--backend fast``). ``entry`` is the public function of the same file that leads to it,
    where the raising one is not public. ``documented`` holds (parameter, first sentence of the docstring on it) for those
    parameters that the message or a condition names.
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
        """The title that people gave, or else the first line of the message (or the asserted expression)."""
        return self.title or str(self.template).strip().split("\n")[0] or f"assert {self.expression}"


def record_id(repository: str, type: str, template: Template, expression: str = "") -> str:
    """The id of a record: 16 hex digits, equal on every machine and in every release that has the same text.

    ``expression`` is the asserted one, for an assert without a message.
    """
    key = "\0".join((repository.lower(), type, template.skeleton, expression if not template.parts else ""))
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]


# --------------------------------------------------------------------------------------------------------- matching


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


# ----------------------------------------------------------------------------------------------- events and effects


@dataclass(frozen=True, slots=True)
class Event:
    """What happened, in our words, the same for every tracker.

    ``name`` is ``issue.opened``, ``issue.edited``, ``issue.reopened``, ``issue.transferred``, ``comment.created`` or
    ``comment.edited``. ``by_bot`` says that the actor is a bot (or ourselves). ``installation`` is the App installation, None with
    a plain token.
    """

    name: str
    repository: str
    repository_id: int
    issue: int
    actor: str
    by_bot: bool = False
    comment: int | None = None
    installation: int | None = None
    delivery: str = ""


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue as it is now on the tracker."""

    repository: str
    repository_id: int
    number: int
    title: str
    body: str
    author: str
    open: bool = True
    locked: bool = False
    by_bot: bool = False
    labels: tuple[str, ...] = ()
    is_pull_request: bool = False


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment as it is now on the tracker."""

    id: int
    issue: int
    author: str
    author_id: int
    body: str
    by_bot: bool = False
    url: str = ""


@dataclass(frozen=True, slots=True)
class PostAnswer:
    """Make exactly one comment of ours with this ``purpose`` exist on the issue, with this body.

    ``purpose`` is ``auto`` for the automatic answer, ``command:<comment id>`` for the answer to a command.
    """

    issue: int
    purpose: str
    body: str
    records: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WithdrawAnswer:
    """When a comment with this purpose exists, edit it to ``body`` (which says why it has nothing more to say).

    Else do nothing.
    """

    issue: int
    purpose: str
    body: str


@dataclass(frozen=True, slots=True)
class React:
    """Put a reaction (GitHub's content names: ``eyes``, ``+1``, ``confused``) on a comment."""

    issue: int
    comment: int
    content: str


@dataclass(frozen=True, slots=True)
class AddLabels:
    """Add labels to an issue; those it has already stay."""

    issue: int
    labels: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Remember:
    """Keep which records an issue holds, in place of what was kept before; nothing of the reporter's text."""

    issue: int
    decision: Decision
    records: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DropAnswer:
    """Delete the comment with this purpose, and never write one again: people do not want it on this issue."""

    issue: int
    purpose: str


@dataclass(frozen=True, slots=True)
class Judge:
    """Keep what somebody said of the answer: ``wrong`` or ``right``. ``comment`` is where it was said.

    ``records`` are those it was said of; those of the automatic answer when empty.
    """

    issue: int
    comment: int
    opinion: str
    records: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoldAnswer:
    """When a comment with this purpose exists, edit it to ``body``, in which the answer is folded away.

    It stays so until the answer is about other records, or :class:`UnfoldAnswer`.
    """

    issue: int
    purpose: str
    body: str


@dataclass(frozen=True, slots=True)
class UnfoldAnswer:
    """Let the next :class:`PostAnswer` with this purpose replace what was folded away."""

    issue: int
    purpose: str


@dataclass(frozen=True, slots=True)
class AllowAnswer:
    """Let there be comments with this purpose again, after :class:`DropAnswer`."""

    issue: int
    purpose: str


@dataclass(frozen=True, slots=True)
class Correct:
    """Keep that a maintainer said which record the issue is about. ``comment`` is where it was said."""

    issue: int
    comment: int
    record: str


Effect = PostAnswer | WithdrawAnswer | DropAnswer | FoldAnswer | UnfoldAnswer | AllowAnswer | React | AddLabels | Remember | Judge | Correct
