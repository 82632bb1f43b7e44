"""Log lines and bare ``Type: message`` lines, in code blocks and in unfenced output."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bot.model import Occurrence
from bot.reading.grammar import (
    HEADER,
    Finding,
    is_boundary,
    is_type,
    lost_letter,
    may_hold_type,
    read_message,
    speaks_of_failure,
    type_at_start,
    types_inside,
)
from bot.reading.markdown import Block
from bot.reading.noise import Line
from bot.registry import DIALECTS

_NESTED = re.compile(r"\b[Ww]ith (?:exception|error):? +(?P<type>[A-Za-z_][\w.]{0,100})(?P<arguments>\([^()\n]{0,300}\))?: ")
_SOURCE_LINE = re.compile(
    r"\s*(?:raise\b|except\b|def |class |import |from \S+ import|return\b|elif |else:|try:|finally:|with |for |while |if |@\w|#|//|print\(|"
    r"logger\.|logging\.|assert\b|\"\"\"|'''|[+-]{3} |@@|f?[\"']|[\w.]{1,80} = \S|\w{1,80}=[\w.]{1,80},$|[)\]}]{1,4}[,:]?$)|"
    r".*(?:[({\[]|\\)$"
)
_RAISE = re.compile(r"\s*raise [A-Za-z_][\w.]{0,100}\(")
"""A statement that is shown without the frame that ran it: nobody says that it did."""

_CODE_SHARE = 0.25
_NOT_ERRORS = re.compile(
    r'"(?:GET|POST|PUT|HEAD|DELETE|OPTIONS|PATCH) [^"\n]{1,300}" \d{3}|^\s*0 errors?\b|\b0 failed\b|^(?:FAILED|ERROR|PASSED) \S+::'
)
_HEAD = re.compile(r"\s*(?:ERROR|Error|error|CRITICAL|FATAL|Fatal error|fatal error|fatal): +")
_COMMAND = re.compile(r"\s*(?:\$ |>>> |python3? |pip3? |docker |export |sudo |curl |git |cd |-{1,2}\w|[A-Z_]{3,40}=)")


@DIALECTS.add("logs", rank="40", reads="log lines and bare `Type: message` lines")
def read_lines(block: Block, free: Sequence[bool]) -> Iterator[Finding]:
    """Log lines and bare `Type: message` lines"""
    source = block.kind == "code" and is_source(block)
    taken = -1
    for number, line in enumerate(block.lines):
        if number <= taken or not free[number] or not line.text or HEADER in line.text:
            continue
        if (line.prefix.level == "info" and not may_hold_type(line.text)) or _RAISE.match(line.text):
            continue
        stripped = line.text.strip()
        if source and (line.indent or not type_at_start(stripped)):
            continue
        for finding in _read_line(block, number, stripped):
            taken = max(taken, finding.last)
            yield finding


def _read_line(block: Block, number: int, stripped: str) -> Iterator[Finding]:
    """The error in a line, if it holds one, and the error that it quotes."""
    line = block.lines[number]
    logged, prose = line.prefix.record, block.kind == "prose"
    if prose and not logged:
        return  # prose reads it, with its marks of emphasis and quotation
    if typed := type_at_start(stripped):
        if typed["type"] == "AssertionError" and number and (asserted := block.lines[number - 1]).text.lstrip().startswith("assert "):
            text = asserted.text.strip()
            span = (asserted.at(asserted.indent), asserted.until(asserted.indent + len(text)))
            yield Finding(Occurrence("AssertionError", text, span, dialect="source"), number - 1, number)
        message = read_message(block.lines, number, line.indent + typed.end(), every=line.label != "", prose=prose)
        if message.text:
            yield Finding(_occurrence(typed["type"], message.text, message.span), number, message.last)
        return
    level = line.prefix.level
    inside = types_inside(line.text)
    if level == "info" and not inside:
        return
    if level not in ("error", "warning") and not inside and not speaks_of_failure(line.text):
        return
    if _NOT_ERRORS.search(line.text):
        return
    if (nested := _NESTED.search(line.text)) and is_type(nested["type"]):
        inside = [(nested.start("type"), nested.end(), nested["type"])]
    if logged and level in ("error", "warning"):
        message = read_message(block.lines, number, line.indent, every=line.label != "", prose=prose)
        yield Finding(_occurrence(f"log:{level}", message.text, message.span), number, message.last)
    elif not inside and (_COMMAND.match(line.text) or is_boundary(line)):
        return
    else:
        word = _HEAD.match(line.text)
        column = word.end() if word else line.indent
        text = line.text[column:].rstrip()
        if len(text) > 8:
            span = (line.at(column), line.until(column + len(text)))
            yield Finding(_occurrence("log:error" if word else None, text, span), number, number)
    if inside:
        _, column, name = inside[-1]
        yield Finding(_typed(line, column, lost_letter(name) or name), number, number)


def _typed(line: Line, column: int, name: str) -> Occurrence:
    """An error whose message runs from ``column`` to the end of the line."""
    rest = line.text[column:]
    column += len(rest) - len(rest.lstrip())
    text = line.text[column:].rstrip()
    return _occurrence(name, text, (line.at(column), line.until(column + len(text))))


def _occurrence(name: str | None, text: str, span: tuple[int, int]) -> Occurrence:
    """An occurrence of this dialect; a message that is cut says so by its last sign."""
    return Occurrence(name, text.removesuffix("…").rstrip(), span, dialect="line", truncated=text.endswith("…"))


def is_source(block: Block) -> bool:
    """Whether a code block quotes source code: then what it raises was never raised."""
    info = block.info.lower().split()[:1]
    if info and info[0] in ("diff", "patch"):
        return True
    counted = coded = 0
    for line in block.lines[:200]:
        if not line.text.strip():
            continue
        if HEADER in line.text or 'File "' in line.text or line.prefix.record:
            return False
        counted += 1
        coded += _SOURCE_LINE.match(line.text) is not None
    return coded * 2 > counted if counted < 4 else coded >= max(2, counted * _CODE_SHARE)
