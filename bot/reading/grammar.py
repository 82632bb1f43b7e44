"""What errors look like: names of exception types, words of failure, how a message goes on."""

from __future__ import annotations

import builtins
import re
from collections.abc import Sequence
from typing import NamedTuple

from bot.model import Occurrence, Span
from bot.reading.noise import Line

MESSAGE_LINES = 40
"""Lines that a message may have. The longest own message seen has 27 lines; what is longer is a log that followed."""

MESSAGE_LIMIT = 4096
"""Characters kept of a message of several lines."""

BUILTIN_ERRORS = frozenset(name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException))

LOWERED = {name.lower(): name for name in BUILTIN_ERRORS if name not in ("Exception", "Warning")}
"""Types as people type them off a screen; in lower case, two of them are plain words."""

_ENDINGS = (
    "Error", "Exception", "Warning", "Interrupt", "Exit", "Iteration", "Timeout", "Failure", "Fault", "NotFound", "Abort", "Aborted",
    "ExceptionGroup", "Refused", "Invalid", "Panic", "Cancelled", "Unavailable", "OutOfMemory",
)  # fmt: skip

TYPE_AT_START = re.compile(r"(?P<type>[A-Za-z_][\w.]{0,200})(?P<arguments>\([^()\n]{0,200}\))?(?P<colon>:(?: |$)|(?= *$))")
"""A line that may be ``Type: message`` or a bare ``Type``; :func:`is_type` says whether it is one."""

_TYPE_INSIDE = re.compile(
    r"(?:[Ee]rror|Exception|Warning|Exit|Interrupt|Timeout|Failure|NotFound|Group|Error_\w{1,60})(?:\([^()\n]{0,200}\))?(?:\*\*|`|\*)?:(?![:/\d])"
)
_NAME_BEFORE = re.compile(r"[A-Za-z_][\w.]{0,200}$")

CHAIN_CAUSE = "The above exception was the direct cause of the following exception"
CHAIN_CONTEXT = "During handling of the above exception, another exception occurred"
HEADER = "Traceback (most recent call last)"

_SURE_WORDS = frozenset(
    re.findall(
        r"\w+",
        "error errors exception exceptions fail failed fails failure failing cannot unable unsupported invalid illegal mismatch "
        "mismatched must incompatible unexpected expected expects timeout exceed exceeds exceeded exhausted leak abort aborted "
        "aborting killed died dead crash crashed crashes missing refused denied insufficient unknown unrecognized undefined "
        "undeclared require requires required divisible deprecated corrupt corrupted overflow ignore ignored ignoring couldn "
        "doesn isn aren wasn hasn",
    )
)
_OPEN_WORDS = frozenset(
    re.findall(
        r"\w+",
        "not no can could don didn out timed too larger smaller less greater longer should only match time",
    )
)
_OPEN_PHRASES = re.compile(
    r"\b(?:can not|can't|could not|not found|not support(?:ed)?|do ?n[o']t|does not|did ?n[o']t|"
    r"(?:is|are|was|were|be|been) not|has no|have no|no such|"
    r"no available|not (?:available|enough|implemented|allowed|compatible|installed|exist|match|divisible|valid|set|be|provided|"
    r"specified|equal|a|in)|"
    r"no \w+ (?:found|registered|available)|timed? out|out of|too (?:large|small|long|many|few|big|short)|"
    r"(?:larger|smaller|less|greater|longer) than|should|"
    r"only supports?|(?:to|not|must) match|not \w+ed)\b"
)
_WORDS = re.compile(r"[a-z]+")


def speaks_of_failure(text: str) -> bool:
    """Whether a line holds words of failure. It only chooses which lines are looked at; what a line is worth, matching decides."""
    lowered = text.lower()
    words = frozenset(_WORDS.findall(lowered))
    return not words.isdisjoint(_SURE_WORDS) or (not words.isdisjoint(_OPEN_WORDS) and _OPEN_PHRASES.search(lowered) is not None)


def may_hold_type(text: str) -> bool:
    """A quick look for the endings of exception types."""
    return "rror" in text or "xception" in text or "arning" in text or "imeout" in text or "nterrupt" in text or "Exit" in text or "ailure" in text or "Found" in text or "Group" in text  # fmt: skip  # noqa: E501


_PROMPT = re.compile(r"(?:\([\w./-]{1,40}\) ?)?(?:\$ |# \S|>>> |PS [A-Z]:\\|[\w.-]{1,40}@[\w.-]{1,60}[:\s~][^\n]{0,80}[$#] |root@)")
GROUP_RULE = re.compile(r"\s{0,60}\+(?:-\+)?-{3,}")
"""The rule between the members of an exception group."""

_SEPARATOR = re.compile(r"[-=_*+~#─━═╌.]{8,}$")
_SHELL_MESSAGE = re.compile(r"\S{1,100}: line \d+: +\d+ ")


_PROSE_STARTS = ("#", "```", "- [", "<", "![", "- **", "* **", "**")
"""How a line of a form or a list starts, which no message goes over."""


class Finding(NamedTuple):
    """An occurrence, and the first and last line of the block that it took."""

    occurrence: Occurrence
    first: int
    last: int


class Message(NamedTuple):
    """A message that was read: text, span, and the last line it took."""

    text: str
    span: Span
    last: int


_MODULES_OF_ERRORS = frozenset(("exc", "exceptions", "exception", "errors", "error"))

GENERIC = frozenset(("Error", "Warning", "Failure", "Failed", "Timeout", "Exit", "Fault", "Abort", "Aborted", "Invalid", "Interrupt"))
"""Words that head a message without being a type; ``Exception`` is one, people do raise it."""


def is_type(name: str) -> bool:
    """Whether a (dotted) name is that of an exception by the custom of its ending; ``SystemExit`` and ``zmq.error.ZMQError`` are."""
    last = name.rsplit(".", 1)[-1]
    if name in GENERIC:
        return False
    if last[:1].isupper() and not _MODULES_OF_ERRORS.isdisjoint(name.lower().split(".")[:-1]):
        return True
    if last in BUILTIN_ERRORS or name in LOWERED:
        return True
    return (last[:1].isupper() or "." in name) and (last.endswith(_ENDINGS) or "Error_" in last)


def type_at_start(text: str, strict: bool = True) -> re.Match[str] | None:
    """The match of ``Type: …`` or ``Type`` at the start of a stripped line; not ``strict`` takes any dotted name."""
    found = TYPE_AT_START.match(text)
    if found is None or found["type"].endswith("."):
        return None
    return found if not strict or is_type(found["type"]) else None


def types_inside(text: str) -> list[tuple[int, int, str]]:
    """All ``Type:`` in a line: where the name starts, where the message starts, the name."""
    found: list[tuple[int, int, str]] = []
    if ":" not in text or not may_hold_type(text):
        return found
    for mark in _TYPE_INSIDE.finditer(text):
        name = _NAME_BEFORE.search(text, max(0, mark.start() - 200), mark.start() + len(_ending(mark.group())))
        if name is None:
            continue
        full = name.group()
        if is_type(full) or ((name.start() == 0 or not text[name.start() - 1].isalnum()) and lost_letter(full)):
            found.append((name.start(), mark.end(), full))
    return found


def _ending(mark: str) -> str:
    """The name part of a mark."""
    return re.split(r"[^\w]", mark, maxsplit=1)[0]


def lost_letter(name: str) -> str:
    """``ValueError`` for ``alueError``: a built-in type whose first letter was lost in copying; empty for anything else."""
    return next((known for known in BUILTIN_ERRORS if known[1:] == name), "") if name[:1].islower() else ""


def is_boundary(line: Line) -> bool:
    """Whether a line begins something new: another traceback, a chain sentence, a shell prompt, a rule."""
    text = line.text
    return (
        HEADER in text
        or text.lstrip().startswith(('File "', CHAIN_CAUSE, CHAIN_CONTEXT))
        or _PROMPT.match(text) is not None
        or _SEPARATOR.match(text.strip()) is not None
        or _SHELL_MESSAGE.match(text) is not None
        or text.startswith(("frame #", "note: run with `RUST_BACKTRACE", "Exception ignored in", "Exception in thread "))
        or GROUP_RULE.match(text) is not None
    )


def read_message(lines: Sequence[Line], at: int, column: int, *, every: bool, prose: bool) -> Message:
    """Read the message that starts in line ``at`` at ``column``, and the lines by which it goes on.

    ``every`` says that each line of the record repeats its prefix: then the same prefix goes on with the message, and otherwise any new
    record ends it. In ``prose`` a blank line ends it. It never runs over a boundary or longer than :data:`MESSAGE_LINES`.
    """
    first = lines[at]
    parts = [first.text[column:].strip()]
    last, blank, size = at, 0, len(parts[0])
    for number in range(at + 1, min(len(lines), at + MESSAGE_LINES)):
        line = lines[number]
        if not line.text.strip():
            blank += 1
            if blank > 1 or (prose and parts[0]) or (len(parts) == 1 and parts[0] and not parts[0].endswith(":")):
                break
            continue
        if line.prefix.record and not (every and line.label == first.label):
            break
        if every and not line.label and blank:
            break
        stripped = line.text.strip()
        if (
            is_boundary(line)
            or type_at_start(stripped.lstrip("*_`>- ") if prose else stripped)
            or (prose and stripped.startswith(_PROSE_STARTS))
        ):
            break
        size += len(stripped)
        if size > MESSAGE_LIMIT:
            break
        if blank:
            parts.append("")
            blank = 0
        parts.append(line.text.rstrip() if parts[-1] or len(parts) > 1 else stripped)
        last = number
    text = "\n".join(parts).strip()
    start = first.at(column + len(first.text[column:]) - len(first.text[column:].lstrip()))
    end = lines[last].until(len(lines[last].text.rstrip()))
    if not parts[0] and last > at:
        start = next(line.at(line.indent) for line in lines[at + 1 : last + 1] if line.text.strip())
    return Message(text, (start, max(start, end)), last)


def code_span_end(text: str, column: int) -> int:
    """Where a code span that holds a message ends: marks that open and close around a word inside are passed over."""
    opened, at = False, column
    while (at := text.find("`", at)) >= 0:
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        if opened:
            opened = False
        elif before in (" ", "(", "'") and after.strip(" ,.;:)!?"):
            opened = True
        else:
            return at
        at += 1
    last = text.rfind("`")
    return last if last > column else len(text)
