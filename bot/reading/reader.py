"""``read``: title and body to a Reading."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import cast

from bot.model import Occurrence, Reading
from bot.reading.environment import dumped_lines, read_versions
from bot.reading.grammar import LOWERED, Finding
from bot.reading.markdown import Block, blocks
from bot.reading.noise import Line, normalise, windows
from bot.reading.title import read_title
from bot.registry import DIALECTS

MAX_OCCURRENCES = 200
"""Occurrences kept: the first and the last, as a log's first error explains and its last one made people write."""

_NUMBERS = re.compile(r"0x[0-9a-fA-F]+|[0-9a-f]{12,}|\d+(?:\.\d+)*")
_KEY_LIMIT = 300

Dialect = Callable[..., Iterator[Finding]]


def read(title: str, body: str) -> Reading:
    """Find the errors and the stated versions in an issue.

    Takes linear time, reads at most ``noise.BODY_LIMIT`` characters of the body (head and tail), and raises on no text. ``text`` of the
    reading is ``title + "\\n\\n" + body``, and all spans are offsets into it.
    """
    text = f"{title}\n\n{body}"
    start = len(title) + 2
    parts = windows(text, start)
    plain = _normalise(text, parts) if len(parts) > 1 else normalise(text)
    found = list(read_title(plain, len(title)))
    for first, last in parts:
        # Fences before this part: an odd number of them leaves one open.
        inside = first > start and plain.count("\n```", start, first) % 2 == 1
        for block in blocks(plain, first, last, inside):
            found.extend(_read_block(block))
    return Reading(text, _gather(found), read_versions(plain, len(title), parts))


def _normalise(text: str, parts: tuple[tuple[int, int], ...]) -> str:
    """The text with what is read of it normalised: title and parts. The rest stays, so that offsets hold."""
    pieces: list[str] = []
    at = 0
    for first, last in parts:
        pieces += [normalise(text[at:first]) if not at else text[at:first], normalise(text[first:last])]
        at = last
    return text if text.isascii() else "".join(pieces) + text[at:]


def _read_block(block: Block) -> list[Occurrence]:
    """What the dialects find in a block, each in the lines that those before it left."""
    found: list[Occurrence] = []
    for stream in _streams(block):
        free = [not dumped for dumped in dumped_lines(stream.lines)]
        for dialect, takes_free in _dialects():
            for finding in dialect(stream, free) if takes_free else dialect(stream):
                found.append(finding.occurrence)
                for number in range(finding.first, finding.last + 1):
                    free[number] = False
    return found


def _streams(block: Block) -> Iterator[Block]:
    """The block, or one block for each process where several printed into one log: their lines come interleaved."""
    origins = {line.prefix.origin for line in block.lines}
    if len(origins - {""}) < 2:
        yield block
        return
    streams: dict[str, list[Line]] = {}
    current = ""
    for line in block.lines:
        current = line.prefix.origin or current
        streams.setdefault(current, []).append(line)
    for lines in streams.values():
        yield block._replace(lines=tuple(lines))


@lru_cache(maxsize=1)
def _dialects() -> tuple[tuple[Dialect, bool], ...]:
    """The registered dialects by rank."""
    ranked = sorted(DIALECTS, key=lambda entry: int(entry.facts["rank"]))
    return tuple((cast(Dialect, e.value), len(inspect.signature(e.value).parameters) > 1) for e in ranked)


def _gather(found: list[Occurrence]) -> tuple[Occurrence, ...]:
    """Each error once: in the order of the text, the same message with other numbers left out, never more than the limit."""
    best: dict[tuple[str | None, str, bool], Occurrence] = {}
    for occurrence in sorted(found, key=lambda o: o.span):
        if occurrence.type in LOWERED:
            occurrence = replace(occurrence, type=LOWERED[occurrence.type])
        key = _key(occurrence)
        if key not in best or (occurrence.frames and not best[key].frames):
            best.setdefault(key, occurrence)
            best[key] = occurrence
    kept = list(best.values())
    if len(kept) > MAX_OCCURRENCES:
        kept = kept[: MAX_OCCURRENCES // 2] + kept[-MAX_OCCURRENCES // 2 :]
    return tuple(kept)


def _key(occurrence: Occurrence) -> tuple[str | None, str, bool]:
    """What makes two occurrences one: type and message, blind to numbers; a cut traceback is known by its last frames."""
    text = occurrence.message[:_KEY_LIMIT]
    if not text and occurrence.frames:
        text = "\n".join(f"{f.path}:{f.line}:{f.code}" for f in occurrence.frames[-2:])
    return occurrence.type, _NUMBERS.sub("0", text).strip(), occurrence.dialect in ("title", "source")
