"""Tracebacks of IPython and Jupyter, 7 to 9, and of rich: source lines around each frame, an arrow at the one that ran."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bot.model import Frame, Occurrence
from bot.reading.grammar import CHAIN_CAUSE, CHAIN_CONTEXT, HEADER, Finding, is_type, read_message, type_at_start
from bot.reading.markdown import Block
from bot.reading.noise import Line
from bot.registry import DIALECTS

MAX_LINES = 2_000
"""Lines of one traceback; a notebook prints about eight for a frame."""

_HEADER = re.compile(r"\s{0,20}(?P<type>[A-Za-z_][\w.]{0,120})\s{2,120}Traceback \(most recent call last\)")
_PANEL = re.compile(r"[\s╭+]{0,20}[─-]{1,200} Traceback \(most recent call last\) ")
_FRAME = re.compile(
    r"\s{0,8}(?:File )?(?P<path>[^\s:][^:\n]{0,400}|[A-Z]:\\[^:\n]{1,400}):(?P<line>\d{1,7})"
    r",? in (?P<function>[^\s(]{1,200})(?:\(.{0,600})?\s*$"
)
_CELL = re.compile(r"\s{0,8}(?P<path>(?:Cell )?In ?\[\d+\])(?:, line|, in <cell line:) (?P<line>\d{1,7})")
_OLD_FRAME = re.compile(r"\s{0,8}(?P<path>(?:[~/<]|[A-Za-z]:\\)[^\n]{0,400}?) in (?P<function>[\w<>.]{1,200})\(.{0,600}$")
_ARROW = re.compile(r"\s{0,12}(?:-{1,12}>|❱) ?(?P<line>\d{1,7})(?: ?│)?(?P<code> [^\n]*|$)")
_SOURCE = re.compile(r"\s{0,12}\d{1,7}(?: |$|│)|\s{0,12}\(\.\.\.\)|\s{0,12}[│╰╭╮╯─.\s]{1,400}$")


@DIALECTS.add("notebook", rank="5", reads="tracebacks of IPython, Jupyter and rich")
def read_notebook(block: Block) -> Iterator[Finding]:
    """Tracebacks of IPython, Jupyter and rich"""
    lines = block.lines
    held: Finding | None = None
    at = 0
    while at < len(lines):
        header = _HEADER.match(lines[at].text) if HEADER in lines[at].text else None
        if header is None and not (HEADER in lines[at].text and _PANEL.match(lines[at].text)):
            at += 1
            continue
        name = header["type"] if header else ""
        finding, at = _read_one(lines, at, name if is_type(name) else "", block.kind == "prose")
        link = _link(lines, held.last, finding.first) if held and finding else ""
        if held and finding and link:
            occurrence = finding.occurrence
            joined = Occurrence(
                occurrence.type,
                occurrence.message,
                occurrence.span,
                occurrence.frames,
                cause=held.occurrence if link == "cause" else None,
                context=held.occurrence if link == "context" else None,
                dialect="traceback",
                truncated=occurrence.truncated,
            )
            held = Finding(joined, held.first, finding.last)
        elif finding:
            if held:
                yield held
            held = finding
    if held:
        yield held


def _link(lines: Sequence[Line], last: int, first: int) -> str:
    """How an error that ended in line ``last`` is tied to a traceback that starts in line ``first``."""
    for line in lines[last + 1 : min(first, last + 8)]:
        if CHAIN_CAUSE in line.text:
            return "cause"
        if CHAIN_CONTEXT in line.text:
            return "context"
    return ""


def _read_one(lines: Sequence[Line], at: int, name: str, prose: bool) -> tuple[Finding | None, int]:
    """One traceback whose header stands in line ``at``, and the line after it."""
    first = last = at
    frames: list[Frame] = []
    place: tuple[str, int | None, str | None] | None = None
    at += 1
    while at < min(len(lines), first + MAX_LINES):
        line = lines[at]
        text = line.text
        stripped = text.strip()
        if HEADER in text or CHAIN_CAUSE in text or CHAIN_CONTEXT in text:
            break
        if arrow := _ARROW.match(text):
            path, number, function = place or ("", None, None)
            frames.append(Frame(path, int(arrow["line"]) if path else number, function, arrow["code"].strip()))
            place = None
        elif found := _FRAME.match(text) or _CELL.match(text) or _OLD_FRAME.match(text):
            groups = found.groupdict()
            if place:
                frames.append(Frame(*place))
            number = int(groups["line"]) if groups.get("line") else None
            function = (groups.get("function") or "<module>").rsplit(".", 1)[-1]
            place = (groups["path"].strip(), number, function)
        elif not stripped or _SOURCE.match(text):
            pass
        elif error := _final(stripped, name):
            message = read_message(lines, at, line.indent + error.end(), every=False, prose=prose)
            if place:
                frames.append(Frame(*place))
            occurrence = Occurrence(error["type"], message.text, message.span, tuple(frames[-400:]), dialect="traceback")
            return Finding(occurrence, first, message.last), message.last + 1
        elif frames or place:
            break
        last = at
        at += 1
    if not frames and not name:
        return None, first + 1
    end = lines[last].until(len(lines[last].text))
    occurrence = Occurrence(name or None, "", (end, end), tuple(frames[-400:]), dialect="traceback", truncated=True)
    return Finding(occurrence, first, last), max(at, last + 1)


def _final(stripped: str, name: str) -> re.Match[str] | None:
    """The match of the last line: ``Type: message`` of the type that the header names, or of any."""
    found = type_at_start(stripped, strict=not name)
    return found if found and (not name or found["type"].endswith(name) or is_type(found["type"])) else None
