"""Errors quoted in sentences: in backticks, in quotation marks, in bold, as pairs of name and value, or bare on a line of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bot.model import Occurrence
from bot.reading.grammar import (
    HEADER,
    MESSAGE_LIMIT,
    Finding,
    code_span_end,
    is_boundary,
    is_type,
    read_message,
    speaks_of_failure,
    type_at_start,
    types_inside,
)
from bot.reading.markdown import Block
from bot.reading.noise import Line
from bot.reading.prefixes import split_prefix
from bot.registry import DIALECTS

LINE_LENGTH = 600
"""Characters of a line of prose that is taken whole; a longer one is a dump of values or a whole paragraph of talk."""

SPAN_LINES = 12
"""Lines that an inline code span may have. Markdown allows a paragraph; a lone backtick must not swallow one."""

_FORM = re.compile(r"\s*(?:[-*] \[[ xX]?\]|#{1,6} |!\[|<!--|_No response_|https?://\S+$|</?\w|\[//\]|\*\*Note)")
_EMPHASIS = re.compile(r"^[\s*_>•-]{0,8}(?:\d{1,2}[.)] )?[\s*_`]{0,4}")
_PAIR_TYPE = re.compile(r"\W{0,8}(?:exception|error)(?: type| class| name)?\W{1,10}(?P<type>[A-Za-z_][\w.]{0,120})\W{0,6}$", re.IGNORECASE)
_PAIR_MESSAGE = re.compile(
    r"\W{0,8}(?:(?:exception|error)(?: |_|-)?(?:message|detail|text|value|msg)|message)\W{0,4}:\W{0,6}(?=[\w\[<({'\"])", re.IGNORECASE
)
_QUOTATION = re.compile(r"\"([^\"\n]{10,500})\"|(?<!\w)'([^'\n]{12,500})'(?!\w)|\*\*([^*\n]{12,500})\*\*")
_COMMAND = re.compile(
    r"\s*(?:\$ |>>> |%|python3? |pip3? |uv |docker |export |sudo |curl |git |cd |bash |vllm serve|-{1,2}\w|[A-Z_0-9]{3,40}=|/\S|https?:)"
)
_ASSERT = re.compile(r"assert [^\n`]{4,400}")
_ASSERT_TAIL = re.compile(r"[\s,.;:]*(?:\b(?:AssertionError|error|errors|failed|fails|failure)\b[\s,.;:]*)+$")
_EXPRESSION = re.compile(r"[=<>(.!\[]| in | is ")
_NAME_OF_PROGRAM = re.compile(r"\w_\w|\w=|\(\)|['\"`]\S|\w\.\w|[a-z][A-Z]|\b[A-Z]{3,}\b|\d")
_TALK = re.compile(
    r"\b(?:how (?:can|do|to)|would like|please|thanks?|feature|support for|can (?:you|someone|anyone|we|i)|"
    r"i (?:am|have|tried|think|want)|we )\b",
    re.IGNORECASE,
)


Covered = dict[int, list[tuple[int, int]]]
"""Columns of each line that code spans took."""


@DIALECTS.add("prose", rank="50", reads="errors quoted in sentences")
def read_prose(block: Block, free: Sequence[bool]) -> Iterator[Finding]:
    """Errors quoted in sentences"""
    if block.kind != "prose":
        return
    lines = block.lines
    used = [not ok for ok in free]
    covered: Covered = {}
    for read_first in (_pairs, _code_spans):
        for finding in tuple(read_first(lines, used, covered)):
            yield finding
            for number in range(finding.first, finding.last + 1):
                used[number] = True
    taken = -1
    for number, line in enumerate(lines):
        if number <= taken or not line.text or used[number] or line.prefix.record or _FORM.match(line.text) or HEADER in line.text:
            continue
        for finding in _read_line(lines, number, covered.get(number, [])):
            yield finding
            taken = max(taken, finding.last)


def _read_line(lines: Sequence[Line], number: int, covered: list[tuple[int, int]]) -> Iterator[Finding]:
    """What a line of prose quotes outside its code spans, or the line itself when it speaks of failure."""
    line = lines[number]
    text = line.text
    row = text.startswith("|")
    for first, last in covered:
        text = text[:first] + " " * (last - first) + text[last:]
    lead = _EMPHASIS.match(text)
    start = lead.end() if lead else 0
    typed = type_at_start(text[start:])
    if typed and typed["colon"].startswith(":"):
        message = read_message(lines, number, start + typed.end(), every=line.label != "", prose=True)
        if message.text.strip("*`\"' "):
            yield Finding(_trim(typed["type"], message.text, message.span, "line"), number, message.last)
        return
    inside = types_inside(text) if ":" in text else []
    for position, (_, column, name) in enumerate(inside):
        stop = inside[position + 1][0] if position + 1 < len(inside) else len(text)
        if row:  # of a table
            stop = text.find("|", column) if text.find("|", column) > 0 else stop
        if text[column:stop].strip("*`\"' "):
            yield Finding(_piece(line, column, stop, name), number, number)
    if inside or row:
        return
    if "assert " in text and (asserted := _ASSERT.search(text)):
        tail = _ASSERT_TAIL.search(asserted.group())
        stop = asserted.start() + (tail.start() if tail else len(asserted.group()))
        if _EXPRESSION.search(text, asserted.start(), stop):
            yield Finding(_piece(line, asserted.start(), stop, "AssertionError", "source"), number, number)
            return
    if len(text) > LINE_LENGTH or _COMMAND.match(text.lstrip("`* ")) or is_boundary(line):
        return
    quoted = False
    failing = speaks_of_failure(text)
    for mark in _QUOTATION.finditer(text):
        group = mark.lastindex or 1
        if " " in mark[group] and (failing or speaks_of_failure(mark[group])) and not _COMMAND.match(mark[group]):
            quoted = True
            yield Finding(_piece(line, mark.start(group), mark.end(group), None), number, number)
    if not quoted and not covered and (failing or _stands_alone(lines, number)) and not text.rstrip(" *").endswith(":"):
        yield Finding(_piece(line, start, len(text), None), number, number)


def _stands_alone(lines: Sequence[Line], number: int) -> bool:
    """Whether a short line is a paragraph of its own that names something of a program and does not read like talk."""
    before = lines[number - 1].text if number else ""
    after = lines[number + 1].text if number + 1 < len(lines) else ""
    text = lines[number].text
    return (
        not before.strip()
        and not after.strip()
        and 16 <= len(text) <= 200
        and " " in text
        and _NAME_OF_PROGRAM.search(text) is not None
        and not _TALK.search(text)
    )


def _code_spans(lines: Sequence[Line], used: Sequence[bool], covered: Covered) -> Iterator[Finding]:
    """What stands in backticks and is no command: one error for each span, of one line or several.

    A message may itself hold backticks; its author opened once and closed once, so the inner ones are passed over.
    """
    number = 0
    while number < len(lines):
        text = lines[number].text
        if used[number] or "`" not in text:
            number += 1
            continue
        marks = [at for at, sign in enumerate(text) if sign == "`"][:40]
        if len(marks) % 2 and (closing := _closing(lines, number, used)) is not None:
            opening = next((mark for mark in marks if _is_error(text[mark + 1 :])), None)
            if opening is not None:
                yield _long_span(lines, number, opening + 1, closing)
                number = closing + 1
                continue
        yield from _short_spans(lines[number], number, marks, covered)
        number += 1


def _closing(lines: Sequence[Line], number: int, used: Sequence[bool]) -> int | None:
    """The line where a span that was left open in line ``number`` is closed; a span never runs over a blank line."""
    for other in range(number + 1, min(len(lines), number + SPAN_LINES)):
        if used[other] or not lines[other].text.strip():
            return None
        if lines[other].text.count("`") % 2:
            return other
    return None


def _is_error(text: str) -> bool:
    """Whether a code span holds an error: a type at its start, or words of failure and no command."""
    text = text.strip()
    typed = type_at_start(text)
    return bool(typed and typed["colon"].startswith(":")) or (" " in text and not _COMMAND.match(text) and speaks_of_failure(text))


def _long_span(lines: Sequence[Line], number: int, column: int, last: int) -> Finding:
    """The error in a span of several lines."""
    first = lines[number].text[column:]
    typed = type_at_start(first.strip())
    column += len(first) - len(first.lstrip())
    name = None
    if typed and typed["colon"].startswith(":"):
        name = typed["type"]
        column += typed.end()
    stop = lines[last].text.rfind("`")
    parts = [lines[number].text[column:], *(line.text for line in lines[number + 1 : last]), lines[last].text[:stop]]
    span = (lines[number].at(column), max(lines[last].until(stop), lines[number].at(column)))
    return Finding(_trim(name, "\n".join(parts)[:MESSAGE_LIMIT], span, "prose"), number, last)


def _short_spans(line: Line, number: int, marks: list[int], covered: Covered) -> Iterator[Finding]:
    """The errors in the spans of one line."""
    text = line.text
    at = 0
    while at + 1 < len(marks):
        first, stop = marks[at] + 1, marks[at + 1]
        typed = type_at_start(text[first:].lstrip())
        name = None
        if typed and typed["colon"].startswith(":"):
            name = typed["type"]
            lead = len(text[first:]) - len(text[first:].lstrip())
            stop = code_span_end(text, first + lead + typed.end())
            piece = _piece(line, first + lead + typed.end(), stop, name)
            if piece.message:
                yield Finding(piece, number, number - 1)
                covered.setdefault(number, []).append((first - 1, min(stop + 1, len(text))))
        elif len(inner := text[first:stop].strip()) >= 12 and _is_error(inner):
            covered.setdefault(number, []).append((first - 1, stop + 1))
            yield from _inner(line, number, first, stop)
        while at < len(marks) and marks[at] <= stop:
            at += 1


def _inner(line: Line, number: int, first: int, stop: int) -> Iterator[Finding]:
    """A span that holds words of failure: from a type inside on when there is one (a log line in backticks), else as it stands."""
    text = line.text[first:stop]
    prefix = split_prefix(text.lstrip())
    first += len(text) - len(text.lstrip()) + prefix.end
    inside = types_inside(line.text[first:stop])
    if inside:
        yield Finding(_piece(line, first + inside[-1][1], stop, inside[-1][2]), number, number - 1)
    else:
        level = f"log:{prefix.level}" if prefix.level in ("error", "warning") else None
        yield Finding(_piece(line, first, stop, level), number, number - 1)


def _pairs(lines: Sequence[Line], used: Sequence[bool], covered: Covered) -> Iterator[Finding]:
    """``Exception Type: …`` and ``Exception Message: …`` as two lines, in this order."""
    name, at = "", -10
    for number, line in enumerate(lines):
        if used[number] or ":" not in line.text or len(line.text) > LINE_LENGTH * 4:
            continue
        if (found := _PAIR_TYPE.match(line.text)) and is_type(found["type"]):
            name, at = found["type"], number
        elif name and number - at <= 4 and (found := _PAIR_MESSAGE.match(line.text)):
            message = read_message(lines, number, found.end(), every=False, prose=True)
            yield Finding(_trim(name, message.text, message.span, "prose"), at, message.last)
            name = ""


def _piece(line: Line, column: int, stop: int, name: str | None, dialect: str = "prose") -> Occurrence:
    """The text of a line between two columns as an occurrence, without the marks around it."""
    text = line.text[column:stop]
    column += len(text) - len(text.lstrip())
    text = line.text[column:stop].rstrip()
    return _trim(name, text, (line.at(column), line.until(column + len(text))), dialect)


def _trim(name: str | None, text: str, span: tuple[int, int], dialect: str) -> Occurrence:
    """Take marks of emphasis and quotation off that have no partner inside, and keep the span in step."""
    start, end = span
    # Quotation marks after a type are part of what Python prints: KeyError: 'name'.
    for mark in ("**", "`", "*") if name else ("**", "`", '"', "*", "'"):
        size = len(mark)
        closing = text.find(mark, size) if text.startswith(mark) else -1
        if mark == "`" and closing > 0:
            closing = code_span_end(text, size)
        if closing > 0 and (mark == "**" or not text[closing + size :].strip(" .,;:)")):
            end -= len(text) - closing
            start += size
            text = text[size:closing]
        elif text.endswith(mark) and text.count(mark) % 2:
            text = text[:-size]
            end -= size
    shorter = text.lstrip()
    start += len(text) - len(shorter)
    text = shorter.rstrip()
    end -= len(shorter) - len(text)
    truncated = text.endswith("…")
    if text.startswith("assert "):
        dialect, name = "source", name or "AssertionError"
    return Occurrence(name, text.removesuffix("…"), (start, max(start, end)), dialect=dialect, truncated=truncated)
