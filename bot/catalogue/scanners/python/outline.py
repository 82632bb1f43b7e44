"""A file without the bodies of those functions that say nothing: many functions never raise, log or return a text.

Parsing and walking are most of the work of a scan, and both cost as much for such a function as for any other. So these are taken out
before, by looking at the characters only. When in doubt a function stays: that costs time and nothing else. Lines keep their numbers, and
functions their names and extents (with comments that follow them).
"""

from __future__ import annotations

import re
from bisect import bisect_right

DEFINITION = re.compile(r"def (\w+)[ \t]*[\[(]")
DOUBLE, EITHER = re.compile('"""'), re.compile("\"\"\"|'''")
"""Where a string of several lines begins or ends (a docstring, mostly): the common form, which is found much faster, and both forms."""

ERRORS = re.compile(r"class[ \t]+\w+[^:]{0,400}?(?:Error|Exception|Warning|Exit|Interrupt|Failure|Fault|Timeout)\b")
"""A class that may be one of an exception: what it does with its text stands in functions that need not name it."""

BUILDS = frozenset({"__init__", "__str__"})

SIGNS = (
    "raise", "assert", "import ", "rror", "fail", "abort", "xception", "critical", "fatal", "warn", "exit(", "quit(",
    "msg", "message", "reason", "add_argument", "option(",
)  # fmt: skip
"""Of these words a function holds one, in whatever way it tells of an error, makes one known to others, or defines an option."""

TEXT = re.compile(r"""["'](?:(?<![\w"'].)|(?<=\b[fFrRuUbB].))(?!["'])(?:[^"'\n ]*[ {]|\n)""")
"""The beginning of a string of more than one word: such a one may be returned, or handed to a function that raises it."""

STORED = re.compile(r"=[ \t]*\w*(?:err|cause|detail|text|exc|description)\w*[ \t]*\n")
"""A variable that is named like a message, and kept for somebody else to raise."""

RETURNED = re.compile(r"return[ \t]+(?:[\w.]*\.)?_?[A-Z][A-Z_0-9]{3,}\b")
"""A constant that is returned: it may be a text."""

MIN_LINES = 3
"""Shorter functions are not worth the look."""

MAX_INDENT = 200
"""What stands further right, in characters, is generated, or no code at all."""


def outline(text: str) -> str:
    """The text with an empty body in each function that tells of no error; ``text`` is a whole module, with its lines ended by ``\\n``.

    The result may be no Python where a line inside brackets or a string begins further left than its function: parse the text itself then.
    """
    quoted = _quoted(text)
    if len(quoted) % 2:
        return text
    builds = ERRORS.search(text) is not None
    pieces: list[str] = []
    at = 0
    for found in DEFINITION.finditer(text):
        start = text.rfind("\n", max(found.start() - MAX_INDENT, 0), found.start()) + 1
        head = text[start : found.start()]
        indent = len(head) - len(head.lstrip(" \t"))
        if start < at or head[indent:] not in ("", "async ") or bisect_right(quoted, start) % 2 or (builds and found[1] in BUILDS):
            continue
        end = _end(text, found.end(), indent)
        if bisect_right(quoted, end) % 2 or _tells(text, found.end(), end, quoted):
            continue
        lines = text.count("\n", start, end)
        if lines < MIN_LINES:
            continue
        last = end - 1
        while text[last].isspace():
            last -= 1
        after = text[last + 1 : end]
        pieces += (text[at:start], head, "def ", found[1], "():", "\n" * (lines - after.count("\n")), head[:indent], " pass", after)
        at = end
    return "".join((*pieces, text[at:])) if pieces else text


def _quoted(text: str) -> list[int]:
    """Where strings of several lines begin and end, one after the other."""
    quoted: list[int] = []
    mark = ""
    for found in (EITHER if "'''" in text else DOUBLE).finditer(text):
        if not mark:
            mark = found[0]
            quoted.append(found.start())
        elif mark == found[0]:
            mark = ""
            quoted.append(found.end())
    return quoted


_ENDS: dict[int, re.Pattern[str]] = {}


def _end(text: str, at: int, indent: int) -> int:
    """Where a function ends: before the next line that stands no further right than it, and is more than a comment or a bracket."""
    pattern = _ENDS.get(indent)
    if pattern is None:
        pattern = _ENDS[indent] = re.compile(rf"\n[ \t]{{0,{indent}}}[^\s#)\]}}]")
    found = pattern.search(text, at)
    return found.start() + 1 if found is not None else len(text)


def _tells(text: str, start: int, end: int, quoted: list[int]) -> bool:
    """Whether a function may tell of an error."""
    body = text[start:end]
    for sign in SIGNS:
        if sign in body:
            return True
    first = bisect_right(quoted, start)
    if first < len(quoted) and quoted[first] < end:
        if first + 2 < len(quoted) and quoted[first + 2] < end:
            return True  # besides a docstring, another long string
        begin, stop = quoted[first], quoted[first + 1]
        if text[text.rfind("\n", 0, begin) + 1 : begin].strip(" \trRuU"):
            return True  # no docstring: something is done with it
        body = text[start:begin] + text[stop:end]
    return TEXT.search(body) is not None or STORED.search(body) is not None or RETURNED.search(body) is not None
