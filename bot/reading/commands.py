"""Slash commands in a comment: only where a person wrote one, never where one is shown.

Here CommonMark decides (markdown-it-py), since a command acts: what is code, a quotation, HTML or a signature commands nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.model import Span

BODY_LIMIT = 65_536
"""Characters of a comment that are looked at; GitHub takes no more."""

MAX_COMMANDS = 10
"""Commands of one comment that are obeyed."""

_PARAGRAPH_LIMIT = 16_384
"""Characters of a paragraph whose inline marks are read; nobody commands in a longer one."""

_LINES = re.compile(r"\r\n?|\n")
_CANDIDATE = re.compile(r"[ \t]{0,3}/(?P<name>explain)(?=[ \t\r\n]|$)", re.IGNORECASE)
_SIGNATURE = re.compile(r"(?:--[ \t]*|-{2,} ?Original Message ?-{2,}.*|_{10,}[ \t]*)$")
_OPENED = re.compile(r"<(details|blockquote|table|pre|div|ul|ol|section|template)\b[^>]{0,400}>", re.IGNORECASE)
_CLOSED = re.compile(r"</(details|blockquote|table|pre|div|ul|ol|section|template)\s*>", re.IGNORECASE)
_MARK = 0xE000  # private use: a sign that no keyboard writes stands behind each candidate while Markdown is read


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command: its name without the slash, the rest of its line and the code block that follows it, its place in the body."""

    name: str
    argument: str
    span: Span


def parse_commands(body: str) -> tuple[Command, ...]:
    """The commands of a comment, in order.

    A command is ``/explain`` as the first word of a line of a paragraph at top level. A fenced block right after a command's line
    (its paragraph ends with it) belongs to its argument. Raises on no text.
    """
    body = body[:BODY_LIMIT]
    if "/explain" not in body.lower():
        return ()
    lines = _split(body)
    marked: list[str] = []
    found: dict[int, re.Match[str]] = {}
    for number, (start, end) in enumerate(lines):
        text = body[start:end]
        candidate = _CANDIDATE.match(text) if len(found) < 200 else None
        if candidate:
            text = text[: candidate.end()] + chr(_MARK + len(found)) + text[candidate.end() :]
            found[number] = candidate
        marked.append(text)
    if not found:
        return ()
    tokens = _parser().parse("\n".join(marked))
    order = dict(enumerate(found))
    commands: list[Command] = []
    depth = 0
    end_of_text = _signature_line(body, lines, tokens)
    for place, token in enumerate(tokens):
        if token.type == "html_block":
            depth = max(0, depth + len(_OPENED.findall(token.content)) - len(_CLOSED.findall(token.content)))
        if token.type != "inline" or depth or not token.map or token.map[0] >= end_of_text:
            continue
        opening = tokens[place - 1]
        if opening.type != "paragraph_open" or opening.level != 0 or len(token.content) > _PARAGRAPH_LIMIT:
            continue
        for index in _first_words(token):
            number = order[index]
            if number >= end_of_text or len(commands) >= MAX_COMMANDS:
                continue
            start, end = lines[number]
            candidate = found[number]
            argument = body[start + candidate.end() : end].strip()
            if number == token.map[1] - 1 and (fence := _fence_after(tokens, place, token.map[1])):
                argument = f"{argument}\n{fence.content}".strip()
                end = lines[min(fence.map[1], len(lines)) - 1][1] if fence.map else end
            slash = start + body[start:end].index("/")
            commands.append(Command(candidate["name"].lower(), argument, (slash, end)))
    return tuple(commands)


Kind = Literal["word", "id", "link", "text", "unknown"]

MAX_WORDS = 3
"""Words of one line that may still be a mistyped command; a longer line is a text to explain."""

_RECORD_ID = re.compile(r"`?([0-9a-fA-F]{16})`?")
_WORD = re.compile(r"[a-z][a-z-]{0,39}|[A-Z][a-z-]{0,39}|[A-Z]{1,12}")
_LINK = re.compile(
    r"<?https://(?:www\.|redirect\.)?(?P<host>[A-Za-z0-9.-]{1,200})/(?P<repository>[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100})"
    r"/(?:issues|pull)/(?P<issue>[0-9]{1,12})(?:#issuecomment-(?P<comment>[0-9]{1,18})|#issue-[0-9]{1,18})?>?"
)
_NUMBER = re.compile(r"#(?P<issue>[0-9]{1,12})")
_COURTESY = frozenset({"please", "pls", "thanks", "thank", "you", "again", "now", "here"})
_MEANT = _COURTESY | {"this", "that", "it", "the", "error", "errors", "issue", "problem", "bug", "message", "traceback", "to", "me", "us"}
"""Words by which people mean the error that is there anyway."""
_ENDS = ".,;:!?"


@dataclass(frozen=True, slots=True)
class Place:
    """An issue (``comment`` None) or a comment that a link leads to; ``repository`` is "" for ``#12``: the one it is written in."""

    repository: str
    issue: int
    comment: int | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What stands behind ``/explain``.

    ``word``: a known command, ``argument`` is what is left; ``id``: ``argument`` is a record's id; ``link``: ``place`` is
    where it leads; ``text``: ``argument`` is to be explained ("" is the issue or comment itself); ``unknown``: ``word`` is no
    command, and what was written is too short to be an error.
    """

    kind: Kind
    word: str = ""
    argument: str = ""
    place: Place | None = None


def parse_request(argument: str, words: Mapping[str, str]) -> Request:
    """Read the argument of ``/explain``. Raises on no text.

    ``words`` are the commands and what each takes: ``nothing`` (it must stand alone: "/explain on" is a command, "/explain on a
    machine with two cards …" is not), ``text`` (anything may follow), ``id`` (a record's id, or nothing).
    """
    argument = argument[:BODY_LIMIT].strip()
    line, newline, block = argument.partition("\n")
    parts = line.split()
    if not parts:
        return Request("text", argument=argument)
    first, rest = parts[0], parts[1:]
    alone = not newline and all(part.lower().strip(_ENDS) in _COURTESY for part in rest)
    if (found := _RECORD_ID.fullmatch(first.rstrip(_ENDS))) and alone:
        return Request("id", argument=found[1].lower())
    if alone and (place := _place(first)):
        return Request("link", place=place)
    word = first.rstrip(_ENDS)
    if takes := words.get(word.lower(), "") if _WORD.fullmatch(word) else "":
        left = f"{line.strip()[len(first) :].strip()}\n{block}".strip()
        if takes == "text" or alone:
            return Request("word", word.lower(), left if takes == "text" else "")
        if takes == "id" and (found := _RECORD_ID.fullmatch(rest[0].rstrip(_ENDS)) if rest else None):
            return Request("word", word.lower(), found[1].lower())
        if takes == "id" and not newline and len(rest) == 1:
            return Request("word", word.lower(), left)
    if not newline and all(part.lower().strip(_ENDS) in _MEANT for part in parts):
        return Request("text")
    if not newline and len(parts) <= MAX_WORDS and _WORD.fullmatch(word) and not set(line) & set("`'\"=(){}[]<>:/\\_"):
        return Request("unknown", word.lower(), argument)
    if not newline and len(parts) == 1 and _is_path(first):
        return Request("unknown", first[:40], argument)
    return Request("text", argument=argument)


def leading_id(argument: str) -> str:
    """The record's id that an argument begins with; "" when it begins with something else."""
    first = argument.split(maxsplit=1)[:1]
    found = _RECORD_ID.fullmatch(first[0].rstrip(_ENDS)) if first else None
    return found[1].lower() if found else ""


def _place(text: str) -> Place | None:
    if found := _LINK.fullmatch(text):
        comment = found["comment"]
        return Place(found["repository"], int(found["issue"]), int(comment) if comment else None)
    if found := _NUMBER.fullmatch(text):
        return Place("", int(found["issue"]))
    return None


def _is_path(text: str) -> bool:
    """Whether a single word is a path or address of something else, which nobody can explain."""
    return "/" in text or "%2f" in text.lower()


def _split(body: str) -> list[tuple[int, int]]:
    """The lines of a body as CommonMark counts them, as offsets without their ends."""
    lines, at = [], 0
    for end in _LINES.finditer(body):
        lines.append((at, end.start()))
        at = end.end()
    return [*lines, (at, len(body))]


def _parser() -> MarkdownIt:
    """CommonMark with a bound on nesting, inline marks read only where they are asked for."""
    return MarkdownIt("commonmark").disable(["inline", "text_join"])


def _first_words(token: Token) -> list[int]:
    """The numbers of the candidates that stand as plain text at the start of a line of this paragraph."""
    if not any(_MARK <= ord(sign) < _MARK + 200 for sign in token.content):
        return []
    children: list[Token] = []
    parser = _INLINE
    parser.inline.parse(token.content, parser, {}, children)
    numbers: list[int] = []
    fresh, html = True, False
    for child in children:
        if child.type in ("softbreak", "hardbreak"):
            fresh = True
            continue
        if child.type == "html_inline":
            html = True
        if child.type == "text" and not child.content:
            continue
        if child.type == "text" and fresh and child.level == 0 and not html and (word := _CANDIDATE_MARKED.match(child.content)):
            numbers.append(ord(word[1]) - _MARK)
        fresh = False
    return numbers


_INLINE = MarkdownIt("commonmark")
_CANDIDATE_MARKED = re.compile(r"[ \t]*/explain([\ue000-\ue0c7])", re.IGNORECASE)


def _fence_after(tokens: list[Token], place: int, line: int) -> Token | None:
    """The fenced block that starts in ``line``, or after one blank line, right behind the paragraph."""
    following = tokens[place + 2] if place + 2 < len(tokens) else None
    if following and following.type == "fence" and following.level == 0 and following.map and following.map[0] <= line + 1:
        return following
    return None


def _signature_line(body: str, lines: list[tuple[int, int]], tokens: list[Token]) -> int:
    """The first line of an e-mail signature or of a quoted mail below the answer; lines in code do not count."""
    coded: set[int] = set()
    for token in tokens:
        if token.type in ("fence", "code_block") and token.map:
            coded.update(range(*token.map))
    for number, (start, end) in enumerate(lines):
        if number not in coded and _SIGNATURE.match(body[start:end]):
            return number
    return len(lines)
