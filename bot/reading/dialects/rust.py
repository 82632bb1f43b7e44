"""Rust panics, before and after 1.73 (which moved the message to a line of its own)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bot.model import Frame, Occurrence
from bot.reading.grammar import Finding, read_message
from bot.reading.markdown import Block
from bot.registry import DIALECTS

_PANIC = re.compile(r"thread '[^'\n]{0,100}'(?: \(\d{1,10}\))? panicked at ")
_NEW = re.compile(r"(?P<path>[^\s:][^:\n]{0,300}):(?P<line>\d{1,7}):\d{1,7}:\s*$")
_OLD = re.compile(r", (?P<path>[^\s:,][^:\n,]{0,300}):(?P<line>\d{1,7}):\d{1,7}\s*$")


@DIALECTS.add("rust", rank="21", reads="Rust panics")
def read_panics(block: Block, free: Sequence[bool]) -> Iterator[Finding]:
    """Rust panics"""
    lines = block.lines
    for number, line in enumerate(lines):
        if not free[number] or "panicked at" not in line.text or not (panic := _PANIC.search(line.text)):
            continue
        if place := _NEW.match(line.text, panic.end()):
            if number + 1 >= len(lines):
                continue
            message = read_message(lines, number + 1, lines[number + 1].indent, every=False, prose=False)
            text, span, last = message
        elif place := _OLD.search(line.text, panic.end()):
            start, stop = panic.end(), place.start()
            if line.text[start:stop].startswith("'") and line.text[start:stop].endswith("'"):
                start, stop = start + 1, stop - 1
            text, span, last = line.text[start:stop], (line.at(start), line.until(stop)), number
        else:
            continue
        frames = (Frame(place["path"], int(place["line"])),)
        yield Finding(Occurrence("panic", text, span, frames, dialect="rust"), number, last)
