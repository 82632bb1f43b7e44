"""The title: the best single source, and the most damaged one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.model import Occurrence
from bot.reading.grammar import code_span_end, lost_letter, types_inside

TITLE_LIMIT = 1024
"""Characters of a title that are read. GitHub takes 256; other trackers take more."""

CUT_LENGTH = 180
"""A title of this length that ends within a sentence was cut by its writer or a form; whole ones this long are rare."""

_TAGS = re.compile(r"(?:\s{0,4}[\[【(][\w /&+#.,-]{1,40}[\]】)]\s{0,4}[:：-]?)+\s*|\s*(?:Bug|BUG|Question|Help|Usage)\s?[:：]\s*")
_ELLIPSIS = re.compile(r"\s*(?:…|\.{3,})\s*$")
_GENERIC = re.compile(
    r"(?:^|[,;.!?:)\]-] {0,3}|\b(?:with|get|got|gets|an?) )(?:Error|ERROR|error|error message|Error message)\s?: {0,3}(?=\S)"
)
_QUOTATION = re.compile(r"`([^`\n]{8,})`|\"([^\"\n]{12,})\"|(?<!\w)'([^'\n]{12,})'(?!\w)|\*\*([^*\n]{12,})\*\*")
_ASSERT = re.compile(r"\bassert (?!error)[^\n]{4,}")
_ASSERT_TAIL = re.compile(r"[\s,.;:]*(?:\b(?:AssertionError|error|errors|failed|fails|failure)\b[\s,.;:]*)+$")


def read_title(text: str, end: int) -> Iterator[Occurrence]:
    """The title as a whole, then its parts: from an exception type on, what it quotes, a source line that it asserts.

    A title that begins with a type is that error and nothing else.
    """
    end = min(end, TITLE_LIMIT)
    title = text[:end]
    tags = _TAGS.match(title)
    start = tags.end() if tags else 0
    body = title[start:].rstrip()
    cut = _ELLIPSIS.search(body)
    truncated = cut is not None or (len(title) >= CUT_LENGTH and body[-1:].isalnum())
    if cut:
        body = body[: cut.start()]
    if not body.strip():
        return
    stop = start + len(body)
    typed = [found for found in types_inside(title[:stop]) if found[1] > start]
    if not typed or title[start : typed[0][0]].strip(" `*"):
        yield Occurrence(None, body, (start, stop), dialect="title", truncated=truncated)
    for name_at, message_at, name in typed:
        last = code_span_end(title[:stop], message_at) if title[name_at - 1 : name_at] == "`" else stop
        yield _part(title, message_at, last, lost_letter(name) or name, truncated)
    if asserted := _ASSERT.search(title, start, stop):
        tail = _ASSERT_TAIL.search(asserted.group())
        last = asserted.start() + (tail.start() if tail else len(asserted.group()))
        yield Occurrence(
            "AssertionError", title[asserted.start() : last], (asserted.start(), last), dialect="source", truncated=truncated and not tail
        )
    elif generic := _GENERIC.search(title, start, stop):
        yield _part(title, generic.end(), stop, None, truncated)
    for quoted in _QUOTATION.finditer(title, start, stop):
        group = quoted.lastindex or 1
        if " " in quoted[group] and not types_inside(quoted[group]) and not quoted[group].startswith(("--", "python", "pip ", "{")):
            yield _part(title, quoted.start(group), quoted.end(group), None, False)


def _part(title: str, start: int, stop: int, name: str | None, truncated: bool) -> Occurrence:
    """A part of the title, without the blanks and signs of emphasis around it."""
    text = title[start:stop]
    start += len(text) - len(text.lstrip(" `*\"'"[:3]))
    text = title[start:stop].rstrip()
    if text.endswith("`") and text.count("`") % 2:
        text = text[:-1].rstrip()
    return Occurrence(name, text, (start, start + len(text)), dialect="title", truncated=truncated)
