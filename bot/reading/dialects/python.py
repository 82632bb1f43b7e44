"""Python tracebacks: chains, groups, cut heads and tails, lost indentation, every layout from 3.6 to 3.14."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bot.model import Frame, Occurrence
from bot.reading.grammar import CHAIN_CAUSE, CHAIN_CONTEXT, GROUP_RULE, HEADER, Finding, read_message, type_at_start
from bot.reading.markdown import Block
from bot.reading.noise import Line
from bot.registry import DIALECTS

MAX_FRAMES = 400
"""Frames kept of one traceback: the last ones. A recursion error prints up to 1,000."""

CODE_LINES = 12
"""Lines kept of a frame's source statement, as for a raise site."""

CHAIN_LIMIT = 30
"""Errors kept of one chain, so that nothing that walks it recurses deeply."""

_FRAME = re.compile(r'[\s`*]{0,40}File "([^"\n]{0,600})", line (\d{1,7})(?:, in ([^\n]{1,300}))?$')
_DUMPED_FRAME = re.compile(r'\s{0,40}File "[^"\n]{0,600}", line \d{1,7} in ')
_FRAME_START = re.compile(r'[\s`*]{0,40}File "')
_MARKS = re.compile(r"[\s~^]{1,}$")
_REPEATED = re.compile(r"\s*\[Previous line repeated \d+ more times?\]|\s*\.\.\.<\d+ lines>\.\.\.|\s*\.\.\.\s*$|\s*\[\.\.\.")
_EATEN = {"init": "__init__", "call": "__call__", "enter": "__enter__", "exit": "__exit__", "new": "__new__", "getattr": "__getattr__",
          "getitem": "__getitem__", "setattr": "__setattr__", "iter": "__iter__", "next": "__next__"}  # fmt: skip


@DIALECTS.add("python", rank="10", reads="tracebacks")
def read_tracebacks(block: Block, free: Sequence[bool]) -> Iterator[Finding]:
    """Python tracebacks with their chains"""
    marks = [n for n, line in enumerate(block.lines) if 'File "' in line.text or "most recent call" in line.text]
    if not marks:
        return
    lines = block.lines
    chains = [n for n, line in enumerate(lines) if CHAIN_CAUSE in line.text or CHAIN_CONTEXT in line.text]
    at = 0
    held: Finding | None = None
    depth = 0
    for mark in marks:
        if mark < at or not free[mark]:
            continue
        at = mark
        text = lines[at].text
        if "most recent call first" in text:
            at = _skip_dump(lines, at + 1)
            continue
        if HEADER not in text and not _FRAME_START.match(text):
            continue
        if _is_dump(lines, at):
            at = _skip_dump(lines, at)
            continue
        started = _reach_back(lines, at, held.last + 1 if held else 0)
        found, at = _read_one(lines, at, block.kind == "prose")
        if found is None:
            continue
        found = found._replace(first=started)
        link = _link(lines, chains, held.last, mark) if held else ""
        if held and link and depth < CHAIN_LIMIT:
            earlier, later = held.occurrence, found.occurrence
            joined = replace(later, cause=earlier) if link == "cause" else replace(later, context=earlier)
            held = Finding(joined, held.first, found.last)
            depth += 1
        else:
            if held:
                yield held
            held, depth = found, 0
    if held:
        yield held


def _link(lines: Sequence[Line], chains: list[int], last: int, mark: int) -> str:
    """How an error that ended in line ``last`` is tied to the traceback at ``mark``: by a sentence with only blank lines around it."""
    place = bisect_left(chains, mark) - 1
    if place < 0 or chains[place] <= last:
        return ""
    sentence = chains[place]
    between = (*range(max(last + 1, sentence - 4), sentence), *range(sentence + 1, min(mark, sentence + 5)))
    if mark - sentence > 4 or any(lines[n].text.strip() and not GROUP_RULE.match(lines[n].text) for n in between):
        return ""
    return "cause" if CHAIN_CAUSE in lines[sentence].text else "context"


def _read_one(lines: Sequence[Line], at: int, prose: bool) -> tuple[Finding | None, int]:
    """One traceback from line ``at`` (its header or its first frame that was kept), and the line after it."""
    first, size = at, len(lines)
    frames: list[Frame] = []
    every = lines[at + 1].label != "" if HEADER in lines[at].text and at + 1 < size else lines[at].label != ""
    if HEADER in lines[at].text:
        at += 1
    last = first
    base = 0
    while at < size:
        text = lines[at].text
        if not text.strip():
            following = _next_text(lines, at, 2)
            if following is None or not (_FRAME_START.match(lines[following].text) or _error(lines[following], base, bool(frames))):
                break
            at = following
            continue
        if HEADER in text or CHAIN_CAUSE in text or CHAIN_CONTEXT in text:
            break
        frame, after = _frame(lines, at)
        if frame is not None:
            base = lines[at].indent
            code, after = _code(lines, after, base)
            frames.append(replace(frame, code=code))
            last = at = after
            last -= 1
            continue
        if _FRAME_START.match(text):  # cut within the line
            at += 1
            last = at - 1
            break
        error = _error(lines[at], base, bool(frames))
        if error:
            return _finish(lines, first, at, error, frames, base, every, prose)
        if _MARKS.match(text) or _REPEATED.match(text):
            at += 1
            continue
        ahead = _resume(lines, at, base, bool(frames))
        if ahead is None:
            break
        at = ahead
    if frames and frames[-1].function is None and not frames[-1].code:
        frames.pop()  # cut within its line, so that even its number is not sure
    if not frames:
        return None, max(at, first + 1)
    end = lines[last].until(len(lines[last].text.rstrip()))
    occurrence = Occurrence(None, "", (end, end), _restore(frames, base == 0), dialect="traceback", truncated=True)
    return Finding(occurrence, first, last), max(at, last + 1)


def _reach_back(lines: Sequence[Line], at: int, limit: int) -> int:
    """The first of the indented lines before a traceback whose head was cut: source lines of frames that are gone."""
    if HEADER in lines[at].text:
        return at
    label = lines[at].label
    while at > limit and lines[at - 1].label == label and (lines[at - 1].indent >= 4 or _MARKS.match(lines[at - 1].text)):
        at -= 1
    return at


def _finish(
    lines: Sequence[Line], first: int, at: int, error: re.Match[str], frames: list[Frame], base: int, every: bool, prose: bool
) -> tuple[Finding, int]:
    """The occurrence whose ``Type: message`` stands in line ``at``."""
    line = lines[at]
    message = read_message(lines, at, line.indent + error.end(), every=every and line.label != "", prose=prose)
    text, (start, end) = message.text, message.span
    shorter = text
    if prose and text.count("`") % 2:  # the whole traceback stands in a code span that ends here
        shorter = text[: text.rindex("`")].rstrip()
        end -= len(text) - len(shorter)
    truncated = shorter.endswith("…")
    occurrence = Occurrence(
        error["type"],
        shorter.removesuffix("…"),
        (start, max(start, end)),
        _restore(frames, base == 0),
        dialect="traceback",
        truncated=truncated,
    )
    return Finding(occurrence, first, message.last), message.last + 1


def _frame(lines: Sequence[Line], at: int) -> tuple[Frame | None, int]:
    """The frame in line ``at``, also when it was wrapped over up to three lines, and the line after it."""
    text = lines[at].text
    if not _FRAME_START.match(text):
        return None, at
    for extra in range(3):
        found = _FRAME.match(text.rstrip())
        if found:
            function = found[3]
            return Frame(found[1], int(found[2]), function.strip().rstrip("`") if function else None), at + extra + 1
        if at + extra + 1 >= len(lines):
            break
        more = lines[at + extra + 1].text.strip()
        if not more or more.startswith('File "'):
            break
        glued = text.rstrip() + more
        text = glued if _FRAME.match(glued) or '", line' not in text else text.rstrip() + " " + more
    return None, at


def _code(lines: Sequence[Line], at: int, base: int) -> tuple[str, int]:
    """The source lines printed below a frame that stands at column ``base``, and the line after them."""
    code: list[str] = []
    while at < len(lines):
        line = lines[at]
        stripped = line.text.strip()
        if not stripped or stripped.startswith('File "') or HEADER in stripped:
            break
        if _MARKS.match(line.text) or _REPEATED.match(line.text):
            at += 1
            continue
        if line.indent <= base and (code or line.indent < base or (line.prefix.record and not line.label) or type_at_start(stripped)):
            break
        if len(code) < CODE_LINES:
            code.append(stripped)
        at += 1
    return "\n".join(code), at


def _error(line: Line, base: int, framed: bool) -> re.Match[str] | None:
    """The match of a final ``Type: message`` line: any name where indentation proves it, else one that is named like an error."""
    return type_at_start(line.text.lstrip().lstrip("`*"), strict=not (framed and base >= 2 and line.indent < base))


def _next_text(lines: Sequence[Line], at: int, limit: int) -> int | None:
    """The next line that is not blank, within ``limit`` blank ones."""
    for number in range(at + 1, min(len(lines), at + limit + 1)):
        if lines[number].text.strip():
            return number
    return None


def _resume(lines: Sequence[Line], at: int, base: int, framed: bool) -> int | None:
    """Where a traceback goes on after a line that is none of its own (a wrapped rest, a foreign log line)."""
    for number in range(at + 1, min(len(lines), at + 5)):
        text = lines[number].text
        if HEADER in text or CHAIN_CAUSE in text or CHAIN_CONTEXT in text:
            return None
        if _FRAME_START.match(text) or (framed and type_at_start(text.strip())):
            return number
    return None


def _is_dump(lines: Sequence[Line], at: int) -> bool:
    """Whether the frames at line ``at`` are shown and no error's: a thread's from faulthandler, or the code that torch compiled."""
    if HEADER in lines[at].text:
        return False
    before = next((lines[n].text for n in range(at - 1, max(-1, at - 3), -1) if lines[n].text.strip()), "")
    return _DUMPED_FRAME.match(lines[at].text) is not None or before.rstrip().endswith("from user code:")


def _skip_dump(lines: Sequence[Line], at: int) -> int:
    """The line after the frames of a thread dump, which ends in no error."""
    while at < len(lines) and (_FRAME_START.match(lines[at].text) or lines[at].indent > 3):
        at += 1
    return at


def _restore(frames: list[Frame], bare: bool) -> tuple[Frame, ...]:
    """The last frames. ``bare`` says that they have lost their indentation: then Markdown ate the underscores of ``__init__``, too."""
    frames = frames[-MAX_FRAMES:]
    if not bare or any("__" in (frame.function or "") or "__" in frame.code for frame in frames):
        return tuple(frames)
    return tuple(replace(frame, function=_EATEN.get(frame.function or "", frame.function)) for frame in frames)
