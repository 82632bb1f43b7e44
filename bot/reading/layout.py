"""What only a whole block shows: a prefix of unknown form on every line, a terminal's width that cut lines, a traceback put on one line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from bot.reading.grammar import GROUP_RULE, is_boundary, type_at_start, types_inside
from bot.reading.noise import Line
from bot.reading.prefixes import NO_PREFIX

FOREIGN_LIMIT = 120
"""Characters that an unknown prefix may have."""

MIN_WIDTH = 60
"""A terminal narrower than this is not what cut a line."""

_FILE = 'File "'
_FLAT_FRAME = re.compile(r'File "[^"\n]{1,400}", line \d{1,7}(?:, in [^\s]{1,200})?')
_SECONDS = re.compile(r"(?:#\d{1,4} )?\d{1,5}\.\d{1,3} ")
_GUTTER = re.compile(r"\s{0,60}(?:\| ?|\+ (?=Exception Group))")
_WHOLE_FRAME = re.compile(r'\s{0,40}File "[^"\n]{1,600}", line \d{1,7}, in [^\s]{1,200}$')
_NUMBERS = re.compile(r"\d+")


def repair(lines: list[Line]) -> list[Line]:
    """The lines of a block after all repairs; a sound block comes back as it is."""
    if not any(_FILE in line.text for line in lines):
        return lines
    lines = _strip_gutter(_strip_build(lines))
    lines = _close_up(_strip_foreign(lines))
    if any(line.text.count(_FILE) > 1 for line in lines):
        lines = [piece for line in lines for piece in _unroll(line)]
    return _rejoin(lines)


def _slice(line: Line, start: int, end: int) -> Line:
    """A part of a line."""
    text = line.text[start:end]
    if line.offsets is None:
        return line._replace(text=text, start=line.start + start, end=line.start + start + len(text), indent=len(text) - len(text.lstrip()))
    kept = line.offsets[start:end]
    first = line.at(start)
    return line._replace(
        text=text, start=first, end=line.end if end >= len(line.text) else line.at(end), indent=len(text) - len(text.lstrip()), offsets=kept
    )


def _strip_foreign(lines: list[Line]) -> list[Line]:
    """Take off what stands before ``File "`` from all lines that have it, when three or more do; numbers in it may differ."""
    shapes: Counter[str] = Counter()
    for line in lines:
        column = line.text.find(_FILE)
        if 0 < column <= FOREIGN_LIMIT and (before := line.text[:column].rstrip()) and before[-1] not in "`*(":
            shapes[_NUMBERS.sub("0", before)] += 1
    if not shapes:
        return lines
    shape = shapes.most_common(1)[0][0]
    if "Traceback" in shape or "Error" in shape:
        return lines
    # Built from escaped literals and \d+ between them: no choice to go back to.
    pattern = re.compile("".join(r"\d{1,20}" if part == "0" else re.escape(part) for part in re.split(r"(0)", shape) if part) + " ?")
    matches = [pattern.match(line.text) for line in lines]
    if sum(found is not None for found in matches) < 3:
        return lines
    out = []
    for line, found in zip(lines, matches, strict=True):
        if found:
            label = line.label + found.group()
            line = _slice(line, found.end(), len(line.text))._replace(label=label)
        out.append(line)
    return out


def _strip_build(lines: list[Line]) -> list[Line]:
    """Take docker build's seconds off all lines once they are seen before two that leave no doubt."""
    if sum(_SECONDS.fullmatch(line.label) is not None for line in lines) < 2:
        return lines
    return [_slice(line, found.end(), len(line.text)) if (found := _SECONDS.match(line.text)) else line for line in lines]


def _strip_gutter(lines: list[Line]) -> list[Line]:
    """Take the gutter of exception groups off; the rules between the members stay, as they end a message."""
    if not any("Exception Group Traceback" in line.text or GROUP_RULE.match(line.text) for line in lines):
        return lines
    out = []
    for line in lines:
        gutter = None if GROUP_RULE.match(line.text) else _GUTTER.match(line.text)
        out.append(_slice(line, gutter.end(), len(line.text)) if gutter else line)
    return out


def _close_up(lines: list[Line]) -> list[Line]:
    """Drop the blank lines of a traceback that has one after each line."""
    first = next(number for number, line in enumerate(lines) if _FILE in line.text)
    if any(_FILE in line.text and n + 1 < len(lines) and lines[n + 1].text for n, line in enumerate(lines)) or first + 1 >= len(lines):
        return lines
    out = lines[: first + 1]
    at = first + 1
    while at + 1 < len(lines) and not lines[at].text and lines[at + 1].text:
        out.append(lines[at + 1])
        at += 2
    return out + lines[at:]


def _unroll(line: Line) -> Iterator[Line]:
    """The lines of a traceback that was printed as one: a new line before each frame, its source and the last ``Type:``."""
    if line.text.count(_FILE) < 2:
        yield line
        return
    cuts = [0]
    for frame in _FLAT_FRAME.finditer(line.text):
        cuts += [frame.start(), frame.end()]
    inside = [start for start, _, _ in types_inside(line.text) if start > cuts[-1]]
    if inside:
        cuts.append(inside[-1])
    cuts.append(len(line.text))
    first = True
    for start, end in pairwise(cuts):
        while start < end and line.text[start] == " ":
            start += 1
        if start < end:
            piece = _slice(line, start, end)
            yield piece if first else piece._replace(prefix=NO_PREFIX, label="")
            first = False


def _rejoin(lines: list[Line]) -> list[Line]:
    """Join lines that a terminal cut at its width.

    The proof is a frame's line that ends there unfinished: lines of one length by chance have none. A continuation stands at the margin.
    """
    width = max((len(line.label) + len(line.text) for line in lines), default=0)
    if not MIN_WIDTH <= width <= 400 or not any(_is_cut(line, width) for line in lines):
        return lines
    out: list[Line] = []
    open_end = False
    for line in lines:
        sound = line.label or line.indent or is_boundary(line) or type_at_start(line.text.strip())
        if open_end and line.text and not sound and not _WHOLE_FRAME.match(out[-1].text) and len(out[-1].text) < 4096:
            out[-1] = _join(out[-1], line)
        else:
            out.append(line)
        open_end = len(line.label) + len(line.text) == width
    return out


def _is_cut(line: Line, width: int) -> bool:
    """Whether a frame's line ends unfinished at the width."""
    return len(line.label) + len(line.text) == width and line.text.lstrip().startswith(_FILE) and not _WHOLE_FRAME.match(line.text)


def _join(first: Line, second: Line) -> Line:
    """Two lines as one, without a blank between: a terminal cuts within words."""
    text = first.text + second.text
    offsets = (
        *(first.offsets if first.offsets is not None else range(first.start, first.start + len(first.text))),
        *(second.offsets if second.offsets is not None else range(second.start, second.start + len(second.text))),
    )
    return first._replace(text=text, end=second.end, offsets=offsets)
