"""C++ and CUDA: uncaught exceptions, failed checks and assertions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bot.model import Frame, Occurrence
from bot.reading.grammar import Finding, read_message
from bot.reading.markdown import Block
from bot.reading.noise import Line
from bot.registry import DIALECTS

_THROWN = re.compile(r"terminate called after throwing an instance of ['\"](?P<type>[^'\"\n]{1,200})['\"]")
_WHAT = re.compile(r"\s{0,12}what\(\):\s{0,6}")
_RAISED = re.compile(r"Exception raised from (?P<function>[^\n]{1,200}?) at (?P<path>[^\s:]{1,300}):(?P<line>\d{1,7})")
_CHECK = re.compile(
    r"(?P<message>(?:[Rr]untime ?[Cc]heck|(?:CUDA|NCCL|CUBLAS|cuBLAS|CUTLASS|TORCH|TVM_FFI|HOST|DEVICE|DG_HOST|EP_HOST)?[ _]?"
    r"(?:CHECK|Check|ASSERT|[Aa]ssertion))"
    r" ?(?:[`'\"(][^\n]{1,400}?[`'\")] ?)?(?:failed|error|failure)\b[^\n]*)"
)
_PLACE = re.compile(r"(?P<path>[\w./+-]{1,300}\.(?:cc|cpp|cu|cuh|h|hpp|c)):(?P<line>\d{1,7})")


@DIALECTS.add("cpp", rank="20", reads="uncaught C++ exceptions and failed checks")
def read_checks(block: Block, free: Sequence[bool]) -> Iterator[Finding]:
    """Uncaught C++ exceptions and failed checks"""
    lines = block.lines
    name, thrown_at, taken = "", 0, -1
    for number, line in enumerate(lines):
        text = line.text
        if number <= taken or not free[number] or not _may_check(text):
            continue
        if thrown := _THROWN.search(text):
            name, thrown_at = thrown["type"], number
            following = next((n for n in range(number, min(len(lines), number + 3)) if _WHAT.match(lines[n].text)), None)
            if following is None:
                span = (line.at(thrown.start()), line.until(thrown.end()))
                yield Finding(Occurrence(name, thrown.group(), span, dialect="cpp"), number, number)
        elif what := _WHAT.match(text):
            finding = _read_what(lines, number, what.end(), name or None)
            taken = finding.last
            yield finding._replace(first=thrown_at) if name else finding
            name = ""
        elif (check := _CHECK.search(text)) and not text.lstrip().startswith(("assert ", "E ", ">", "#", "//")):
            yield _read_check(line, number, check)


def _may_check(text: str) -> bool:
    """A quick look before the patterns."""
    return "heck" in text or "HECK" in text or "ssert" in text or "SSERT" in text or "what()" in text or "terminate" in text


def _read_what(lines: Sequence[Line], number: int, column: int, name: str | None) -> Finding:
    """The message of an uncaught exception, and where torch says that it was thrown."""
    message = read_message(lines, number, column, every=lines[number].label != "", prose=False)
    text, (start, end) = message.text, message.span
    frames: tuple[Frame, ...] = ()
    last = message.last
    for other in range(number, min(len(lines), message.last + 4)):
        if raised := _RAISED.search(lines[other].text):
            frames = (Frame(raised["path"], int(raised["line"]), raised["function"].rsplit("::", 1)[-1]),)
            last = max(last, other)
            if other <= message.last and other > number:
                text = text.split("Exception raised from ", 1)[0].strip()
                before = next(n for n in range(other - 1, number - 1, -1) if lines[n].text.strip() or n == number)
                end = lines[before].until(len(lines[before].text.rstrip()))
            break
    return Finding(Occurrence(name, text, (start, max(start, end)), frames, dialect="cpp"), number, last)


def _read_check(line: Line, number: int, check: re.Match[str]) -> Finding:
    """A failed check on a line of its own; a file and line before it or in it are its frame."""
    place = _PLACE.search(line.label + line.text)
    frames = (Frame(place["path"], int(place["line"])),) if place else ()
    text = check["message"].strip()
    start = line.text.index(text, check.start("message"))
    span = (line.at(start), line.until(start + len(text)))
    return Finding(Occurrence(None, text, span, frames, dialect="cpp"), number, number)
