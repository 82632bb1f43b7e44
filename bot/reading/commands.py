"""Slash commands in a comment: only where a person wrote one, never where one is shown.

Here CommonMark decides (markdown-it-py), since a command acts: what is code, a quotation, HTML or a signature commands nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

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
