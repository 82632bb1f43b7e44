"""An issue's text to blocks: runs of lines that were meant alike.

Code blocks are found line by line here and not by markdown-it-py, for two reasons: issues hold fences that do not fit (opened with three
marks and closed with four, missing at one end, indented by a list), which the standard reads as code to the end of the text; and the full
parser takes 1.9 ms for 16 KiB of unfenced log, more than all the rest of reading. For well-formed text both agree (a test says so).
Where the standard decides what may act, in ``commands``, markdown-it-py decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from bot.reading.layout import repair
from bot.reading.noise import Line, clean, needs_editing, raw_lines
from bot.reading.prefixes import NO_PREFIX

MAX_LINES = 6_000
"""Lines of a part that are read, from its start and its end. A log of this size has 3,000; a text made of line breaks has any number."""

_FENCE = re.compile(r"[ \t]{0,12}(?:[-*+] |\d{1,3}[.)] )?(?:> ?){0,3}(`{3,}(?!`)|~{3,}(?![~^]))[ \t]*([^`^\n]*)$")
_LANGUAGE = re.compile(r"[\w+.#-]{1,20}")
_HEADING_AFTER_FENCE = re.compile(
    r"#{2,4} +(?:\W{0,3} ?)?(?:Reproduc|Environment|Expected|Describe|Your current|Before submitting|Related|System Info|Additional|Steps|"
    r"Who can help|Information|Tasks|How you are|How would you|Checklist)",
    re.IGNORECASE,
)


class Block(NamedTuple):
    """Lines that belong together. ``kind`` is ``code`` (fenced; ``info`` is what stands behind the fence) or ``prose``."""

    kind: str
    info: str
    lines: tuple[Line, ...]


def blocks(text: str, start: int, end: int, inside: bool = False) -> Iterator[Block]:
    """The blocks of ``text[start:end]``, in order, without the lines of the fences; ``inside`` says that it starts within a fence."""
    lines: list[tuple[int, int]] = []
    edited = needs_editing(text, start, end)
    fence, info = "```" if inside else "", ""
    ticks = tildes = start - 1
    spans = list(raw_lines(text, start, end))
    if len(spans) > MAX_LINES:
        spans = spans[: MAX_LINES // 2] + spans[-MAX_LINES // 2 :]
    for first, last in spans:
        mark = None
        ticks = _next(text, "```", ticks, first, end)
        tildes = _next(text, "~~~", tildes, first, end)
        if ticks < last or tildes < last:
            mark = _FENCE.match(text[first:last])
        if not fence:
            if mark:
                yield from _block(text, lines, "prose", "", edited)
                lines, fence, info = [], mark[1], mark[2].strip()
                continue
        elif mark and mark[1][0] == fence[0] and not mark[2].strip():
            # A shorter mark of the same sign closes as well: nobody nests fences in an issue, but many miscount them.
            yield from _block(text, lines, "code", info, edited)
            lines, fence = [], ""
            continue
        elif mark and mark[1][0] == fence[0]:
            # Either the end was forgotten and the next block begins, or somebody wrote on behind the end.
            yield from _block(text, lines, "code", info, edited)
            words = mark[2].strip()
            if _LANGUAGE.fullmatch(words):
                lines, fence, info = [], mark[1], words
            else:
                lines, fence = [(last - len(mark[2]), last)], ""
            continue
        elif text.startswith("#", first) and _HEADING_AFTER_FENCE.match(text[first:last]):
            yield from _block(text, lines, "code", info, edited)
            lines, fence = [], ""
        lines.append((first, last))
    yield from _block(text, lines, "code" if fence else "prose", info, edited)


def _next(text: str, sign: str, known: int, start: int, end: int) -> int:
    """Where ``sign`` stands next from ``start`` on, when the place known so far lies behind; each character is searched once."""
    if known >= start:
        return known
    at = text.find(sign, start, end)
    return at if at >= 0 else end + 1


def _block(text: str, spans: list[tuple[int, int]], kind: str, info: str, edited: bool) -> Iterator[Block]:
    """Clean the lines of a block; an empty one is nothing."""
    if not spans:
        return
    fenced = kind == "code"
    # In code, `>` is quoting only when most lines have it; pytest and the Python prompt print it, too.
    quoted = not fenced or sum(text.startswith(">", first) for first, _ in spans) * 2 > len(spans)
    cleaned: list[Line] = []
    for first, last in spans:
        if first == last:
            cleaned.append(Line("", first, first, NO_PREFIX, "", 0))
            continue
        cleaned.extend(clean(text, first, last, fenced=fenced, quoted=quoted, edited=edited))
    yield Block(kind, info, tuple(repair(cleaned)))
