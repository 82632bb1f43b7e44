"""Raw lines to clean lines, each with the way back to where it stood.

Quoting, terminal borders, colours, HTML escapes and log prefixes go; indentation stays, as tracebacks are read by it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

from bot.reading.prefixes import NO_PREFIX, Prefix, split_prefix

LINE_LIMIT = 4096
"""Characters kept of a line. The longest real message seen has 3,100; what follows is a dump of values, or a hostile line."""

BODY_LIMIT = 256 * 1024
"""Characters of a body that are read. GitHub takes 65,536; other trackers and files take megabytes of log. Of a longer one its head is read
(the first error explains the others), its tail (the last one is why people write), and a few places between where a traceback starts."""

_ISLAND = 16 * 1024
"""Characters read around a traceback that starts in the middle of a body that is too long."""

_ISLANDS = 4
_ISLAND_SIGN = "Traceback (most recent call last)"

_SMART = (*((sign, '"') for sign in "“”„«»＂"), *((sign, "'") for sign in "‘’‚＇"), *((sign, " ") for sign in "\u00a0\u202f\u3000"),
          ("：", ":"), ("┃", "│"), ("║", "│"))  # fmt: skip

_EDIT = re.compile(
    r"\x1b\[[0-9;?]{0,20}[ -/]?[@-~]"  # colours and cursor movements
    r"|\x1b\][^\x07\x1b\n]{0,200}\x07"  # titles and links of a terminal
    r"|\x1b"
    r"|\[(?:0|1|2|4|[39][0-7]|38;5;\d{1,3})(?:;\d{1,3}){0,3}m"  # colours whose escape character was lost in copying
    r"|&(?:lt|gt|amp|quot|apos|nbsp|#39|#x27|#34|#60|#62);"
    r"|</?(?:br|pre|code|samp|kbd|b|i|em|strong|p|span|font|tt)(?: [^<>\n]{0,80})?/?>"
    r"|\^@|\x00|\u200b|\ufeff"
)
_ESCAPED = re.compile(r"\\([_*<>\[\]`~#|])")
_QUOTED = re.compile(r" {0,3}(?:>(?!>>|=) ?){1,6}")
_ESCAPED_BREAKS = re.compile(r"\\r?\\n|\\n")
_DOCKER_JSON = re.compile(r'\{"log":"(?P<line>.*?)(?:\\r)?(?:\\n)?","(?:stream|time|attrs)":[^\n]{0,300}\}$')
_CLOSING = re.compile(r"(?<!\\)[\"'][}\]), ]{0,8}$")
_JSON_SIGN = re.compile(r"\\(?:u00(?:1b\[[0-9;]{0,12}m|3c|3e|26)|[\"\\t/])")
_ESCAPED_SIGN = re.compile(r"\\([\"'\\t])")


class Line(NamedTuple):
    """A clean line. ``start`` and ``end`` are offsets of its text; ``offsets`` maps each character when some inside were changed.

    ``prefix`` is what a log printed before it, ``indent`` the width of its leading blanks.
    """

    text: str
    start: int
    end: int
    prefix: Prefix
    label: str
    indent: int
    offsets: tuple[int, ...] | None = None

    def at(self, column: int) -> int:
        """The offset of a column of the clean text in the text as written; the line's length gives its end."""
        if self.offsets is None:
            return self.start + column
        return self.offsets[column] if column < len(self.offsets) else self.end

    def until(self, column: int) -> int:
        """The offset after the character before ``column``: the end of a span."""
        if self.offsets is None:
            return self.start + column
        return self.offsets[column] if column < len(self.offsets) else self.end


def normalise(text: str) -> str:
    """Plain quotation marks, blanks and colons in place of typographic ones; every character keeps its offset."""
    if not text.isascii():
        for sign, plain in _SMART:
            if sign in text:
                text = text.replace(sign, plain)
    return text


def needs_editing(text: str, start: int, end: int) -> bool:
    """Whether any line of ``text[start:end]`` holds what must be taken out of its middle; one look saves one for each line."""
    return _EDIT.search(text, start, end) is not None


def windows(text: str, start: int) -> tuple[tuple[int, int], ...]:
    """The parts of ``text[start:]`` that are read, in order and apart: all of it, or head, tail and the islands between."""
    end = len(text)
    if end - start <= BODY_LIMIT:
        return ((start, end),)
    half = (BODY_LIMIT - _ISLANDS * _ISLAND) // 2
    parts = [(start, _line_end(text, start + half))]
    tail = text.rfind("\n", end - half - LINE_LIMIT, end - half) + 1 or end - half
    at, back = parts[0][1], tail
    early: list[int] = []
    late: list[int] = []
    for _ in range(_ISLANDS // 2):
        if (found := text.find(_ISLAND_SIGN, at, back)) < 0:
            break
        early.append(found)
        at = min(found + _ISLAND, back)
        if (found := text.rfind(_ISLAND_SIGN, at, back)) < 0:
            break
        late.append(found)
        back = found
    for sign in (*early, *reversed(late)):
        first = max(parts[-1][1], text.rfind("\n", max(start, sign - 1024), sign) + 1 or sign)
        last = min(_line_end(text, first + _ISLAND - LINE_LIMIT), tail)
        if last > first:
            parts.append((first, last))
    return (*parts, (max(tail, parts[-1][1]), end))


def _line_end(text: str, at: int) -> int:
    """The end of the line that holds ``at``, or ``at`` itself when that is far."""
    end = text.find("\n", at, at + LINE_LIMIT)
    return end if end >= 0 else at


def raw_lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The lines of ``text[start:end]`` without their ends, as offsets; a carriage return inside a line ends it, too."""
    at = start
    while at <= end:
        stop = text.find("\n", at, end)
        if stop < 0:
            stop = end
        last = stop - 1 if stop > at and text[stop - 1] == "\r" else stop
        if text.find("\r", at, last) >= 0:
            piece = at
            while (cut := text.find("\r", piece, last)) >= 0:
                if cut > piece:
                    yield piece, min(cut, piece + LINE_LIMIT)
                piece = cut + 1
            yield piece, min(last, piece + LINE_LIMIT)
        else:
            yield at, min(last, at + LINE_LIMIT)
        at = stop + 1


def clean(text: str, start: int, end: int, *, fenced: bool, quoted: bool, edited: bool) -> tuple[Line, ...]:
    """Clean the line at ``text[start:end]``: one line, or several when a log printed line breaks as ``\\n``.

    ``fenced`` says that it stands in a code block, where Markdown's escapes do not count; ``quoted`` that ``>`` marks quoting; ``edited``
    that :func:`needs_editing` saw something.
    """
    raw = text[start:end]
    if quoted and ">" in raw[:4] and (mark := _QUOTED.match(raw)):
        start += mark.end()
        raw = raw[mark.end() :]
    offsets: list[int] | None = None
    if edited and _EDIT.search(raw):
        raw, offsets = _edit(_EDIT, raw, start, None)
    if not fenced and "\\" in raw and _ESCAPED.search(raw):
        raw, offsets = _edit(_ESCAPED, raw, start, offsets)
    if raw.startswith('{"log":"') and (wrapped := _DOCKER_JSON.match(raw)):
        column = wrapped.start("line")
        offsets = offsets or list(range(start, start + len(raw)))
        end = offsets[wrapped.end("line")]
        raw, offsets = wrapped["line"], offsets[column : wrapped.end("line")]
        if "\\" in raw:
            raw, offsets = _edit(_JSON_SIGN, raw, start, offsets)
    if "\\n" in raw and _is_folded(raw):
        return tuple(_unfold(raw, start, end, offsets))
    return (_line(raw, start, end, offsets),)


def _line(raw: str, start: int, end: int, offsets: list[int] | None) -> Line:
    """Take border and prefix off a line whose characters are clean."""
    left, right = 0, len(raw.rstrip())
    if "│" in raw and (stripped := raw.strip())[0] == "│":
        left = raw.index("│") + 1
        if raw[left : left + 1] == " ":
            left += 1
        if len(stripped) > 1 and stripped[-1] == "│":
            right = len(raw[: right - 1].rstrip())
    if raw.endswith("across cluster]", left, right) and (mark := raw.rfind(" [repeated ", left, right)) > 0:
        right = mark  # Ray prints one of several equal lines
    body = raw[left:right]
    prefix = split_prefix(body) if body else NO_PREFIX
    label = ""
    if prefix.end:
        label, body = body[: prefix.end], body[prefix.end :]
        left += prefix.end
    indent = len(body) - len(body.lstrip())
    if offsets is None:
        return Line(body, start + left, start + left + len(body), prefix, label, indent)
    stop = left + len(body)
    last = offsets[stop] if stop < len(offsets) else end
    return Line(body, offsets[left] if body else start, last if body else start, prefix, label, indent, tuple(offsets[left:stop]))


def _edit(pattern: re.Pattern[str], raw: str, start: int, offsets: list[int] | None) -> tuple[str, list[int]]:
    """Replace what ``pattern`` finds by what it means, and map every character that is left."""
    source = offsets if offsets is not None else list(range(start, start + len(raw)))
    out: list[str] = []
    mapped: list[int] = []
    at = 0
    for found in pattern.finditer(raw):
        out.append(raw[at : found.start()])
        mapped.extend(source[at : found.start()])
        meaning = _meaning(found)
        out.append(meaning)
        mapped.extend([source[found.start()]] * len(meaning))
        at = found.end()
    out.append(raw[at:])
    mapped.extend(source[at:])
    return "".join(out), mapped


def _meaning(found: re.Match[str]) -> str:
    """What an escape stands for; colours and tags stand for nothing."""
    sign = found.group()
    if sign[0] == "&":
        return html.unescape(sign).replace("\xa0", " ")
    if sign.startswith("\\u00"):
        return {"3c": "<", "3e": ">", "26": "&"}.get(sign[4:6], "")
    if sign[0] == "\\":
        return "    " if sign[1] == "t" else sign[1]
    return ""


def _is_folded(raw: str) -> bool:
    """Whether a line holds a printed traceback or error whose line breaks were written as ``\\n`` (a repr, JSON)."""
    return "Traceback (most recent call last)" in raw or (raw.count("\\n") >= 3 and ("Error" in raw or 'File \\"' in raw))


def _unfold(raw: str, start: int, end: int, offsets: list[int] | None) -> Iterator[Line]:
    """Lines of a folded line."""
    source = offsets if offsets is not None else list(range(start, start + len(raw)))
    at = 0
    for found in (*_ESCAPED_BREAKS.finditer(raw), None):
        stop = found.start() if found else len(raw)
        if found is None and (closing := _CLOSING.search(raw, at)):
            stop = closing.start()
            if stop == at:
                return
        piece, mapped = raw[at:stop], source[at:stop]
        if _ESCAPED_SIGN.search(piece):
            piece, mapped = _edit(_ESCAPED_SIGN, piece, start, mapped)
        yield _line(piece, mapped[0] if mapped else start, mapped[-1] + 1 if mapped else start, mapped)
        if found:
            at = found.end()
