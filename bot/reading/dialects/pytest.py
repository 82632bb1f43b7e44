"""pytest's failure sections: ``E   Type: message`` lines and ``path.py:12: Type``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.model import Frame, Occurrence
from bot.reading.grammar import Finding, type_at_start
from bot.reading.markdown import Block
from bot.registry import DIALECTS

MESSAGE_LINES = 40
"""``E`` lines that one message may have."""

_ERROR = re.compile(r"E(?: {2,12}|$)")
_PLACE = re.compile(r"(?P<path>[\w./\\-]{1,300}\.\w{1,5}):(?P<line>\d{1,7}): (?P<type>[A-Za-z_][\w.]{0,120})?\s*$")
_RAN = re.compile(r">\s{1,40}(?P<code>\S[^\n]*)$")
_EXPLANATION = re.compile(r"\s*(?:\+ {1,3}(?:where|and) |[-?+] )")


@DIALECTS.add("pytest", rank="8", reads="failure sections of pytest")
def read_failures(block: Block) -> Iterator[Finding]:
    """Failure sections of pytest"""
    lines = block.lines
    number, code = 0, ""
    while number < len(lines):
        text = lines[number].text
        if text[:1] not in (">", "E"):
            number += 1
            continue
        if ran := _RAN.match(text):
            code = ran["code"].strip()
        if not _ERROR.match(text):
            number += 1
            continue
        first = number
        column = 0
        parts: list[str] = []
        while number < len(lines) and len(parts) < MESSAGE_LINES and (mark := _ERROR.match(lines[number].text)):
            column = column or mark.end()
            parts.append(lines[number].text[mark.end() :].rstrip())
            number += 1
        typed = type_at_start(parts[0])
        if not typed and not parts[0].startswith("assert "):
            continue
        name = typed["type"] if typed else "AssertionError"
        head = typed.end() if typed else 0
        kept = [parts[0][head:], *(part for part in parts[1:] if not _EXPLANATION.match(part))]
        place = next((found for line in lines[number : number + 3] if (found := _PLACE.match(line.text.strip()))), None)
        frames = (Frame(place["path"], int(place["line"]), None, code),) if place else ()
        end = (
            lines[number - 1].until(len(lines[number - 1].text.rstrip()))
            if len(kept) > 1
            else lines[first].until(len(lines[first].text.rstrip()))
        )
        start = min(lines[first].at(column + head), end)
        yield Finding(Occurrence(name, "\n".join(kept).strip(), (start, end), frames, dialect="traceback"), first, number - 1)
        code = ""
