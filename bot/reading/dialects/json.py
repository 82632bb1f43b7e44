"""Errors inside JSON answers and their Python reprs: ``{"message": "…", "type": "…"}``, ``{'detail': "…"}``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bot.model import Occurrence
from bot.reading.grammar import HEADER, Finding, is_type, types_inside
from bot.reading.markdown import Block
from bot.reading.noise import Line
from bot.registry import DIALECTS

_KEY = re.compile(
    r"\\?[\"'](?:message|detail|details|error|msg|error_message|error_msg|err_msg|reason)\\?[\"']\s{0,4}:\s{0,4}(?P<quote>\\?[\"'])"
)
_TYPE = re.compile(
    r"\\?[\"'](?:type|error_type|exception|exception_type)\\?[\"']\s{0,4}:\s{0,4}\\?[\"'](?P<type>[A-Za-z_][\w.]{0,100})\\?[\"']"
)
_CLOSERS = re.compile(r"\s{0,4}(?:[,}\])]|$)")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_PLAIN = {"n": "\n", "t": "\t", "r": "", "b": "", "f": ""}


@DIALECTS.add("json", rank="30", reads="JSON answers and their Python reprs")
def read_answers(block: Block) -> Iterator[Finding]:
    """JSON answers and their Python reprs"""
    for number, line in enumerate(block.lines):
        if '":' not in line.text and "':" not in line.text and '" :' not in line.text:
            continue
        at = 0
        while key := _KEY.search(line.text, at):
            stop = _closing(line.text, key.end(), key["quote"])
            at = max(stop, key.end())
            text = _plain(line.text[key.end() : stop])
            if " " not in text or len(text) < 9 or HEADER in text:
                continue
            span = (line.at(key.end()), line.until(stop))
            yield Finding(Occurrence(_type(block.lines, number), text.strip(), span, dialect="json"), number, number)
            inside = types_inside(text)
            if inside and text == line.text[key.end() : stop]:
                column = key.end() + inside[-1][1]
                column += len(line.text[column:stop]) - len(line.text[column:stop].lstrip())
                nested = line.text[column:stop]
                if nested.strip():
                    span = (line.at(column), line.until(stop))
                    yield Finding(Occurrence(inside[-1][2], nested.strip(), span, dialect="json"), number, number)


def _closing(text: str, start: int, quote: str) -> int:
    """Where a quoted value ends: at its own quotation mark, unescaped, before what may follow a value.

    A repr glued together by hand holds bare marks of its own kind; the test of what follows passes them over.
    """
    at = start
    while (at := text.find(quote, at)) >= 0:
        if (len(quote) > 1 or text[at - 1] != "\\" or text[at - 2 : at] == "\\\\") and _CLOSERS.match(text, at + len(quote)):
            return at
        at += 1
    return len(text)


def _type(lines: Sequence[Line], number: int) -> str | None:
    """The exception type that the same answer names, on its line or on the three around it."""
    for other in (number, number + 1, number - 1, number + 2):
        if 0 <= other < len(lines) and (found := _TYPE.search(lines[other].text)) and is_type(found["type"]):
            return found["type"]
    return None


def _plain(text: str) -> str:
    """The text of a quoted value without its escapes."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else _PLAIN.get(m[2], m[2]), text)
