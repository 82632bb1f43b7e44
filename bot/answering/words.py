"""Source code in plain words: under which conditions a line is reached, where it stands, which release is the newest.

Everything here is short Markdown in which code from the source stands in backticks (:func:`bot.answering.sanitise.code`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from packaging.version import InvalidVersion, Version

from bot.answering.sanitise import code
from bot.model import Condition, Record

MAX_CONDITIONS = 4
"""Conditions told of one raise: the innermost, which say most."""

_OPERAND = r"[A-Za-z_][\w.]{0,80}(?:\([\w., ]{0,40}\))?"
_CALL = r"[A-Za-z_][\w.]{0,80}\([\w., ]{0,40}\)"
_SIMPLE: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (re.compile(rf"({_OPERAND}) is None"), "{0} is `None`", "{0} is not `None`"),
    (re.compile(rf"({_OPERAND}) is not None"), "{0} is not `None`", "{0} is `None`"),
    (re.compile(rf"isinstance\(({_OPERAND}), ({_OPERAND})\)"), "{0} is a {1}", "{0} is not a {1}"),
    (re.compile(rf"not isinstance\(({_OPERAND}), ({_OPERAND})\)"), "{0} is not a {1}", "{0} is a {1}"),
    (re.compile(rf"({_OPERAND}) == ([\w.\"'-]{{1,80}})"), "{0} is {1}", "{0} is not {1}"),
    (re.compile(rf"({_OPERAND}) != ([\w.\"'-]{{1,80}})"), "{0} is not {1}", "{0} is {1}"),
    (re.compile(rf"({_OPERAND}) not in ({_OPERAND})"), "{0} is not in {1}", "{0} is in {1}"),
    (re.compile(rf"({_OPERAND}) in ({_OPERAND})"), "{0} is in {1}", "{0} is not in {1}"),
    (re.compile(rf"not ({_CALL})"), "{0} is false", "{0} is true"),
    (re.compile(rf"({_CALL})"), "{0} is true", "{0} is false"),
    (re.compile(rf"not ({_OPERAND})"), "{0} is not set", "{0} is set"),
    (re.compile(rf"({_OPERAND})"), "{0} is set", "{0} is not set"),
)

_VERBS = {"error": "Raised", "assert": "Asserted", "log": "Logged", "warning": "Warned of"}


def circumstances(conditions: Sequence[Condition], most: int = MAX_CONDITIONS) -> str:
    """When a raise is reached, as what follows "when": ``"`x` is `None` and `import y` failed with `ImportError`"``.

    Empty when it is reached always.
    """
    told = _tell(tuple(conditions))
    shown = told[-most:]
    if len(told) > most:
        left = len(told) - most
        shown[0] = f"{'one more condition holds' if left == 1 else f'{left} more conditions hold'}, {shown[0]}"
    return enumeration(shown)


def enumeration(items: Sequence[str], last: str = "and") -> str:
    """``a``, ``a and b``, ``a, b, and c``."""
    if len(items) < 3:
        return f" {last} ".join(items)
    return ", ".join(items[:-1]) + f", {last} {items[-1]}"


def verb(record: Record) -> str:
    """How the program says it: Raised, Asserted, Logged, Warned of."""
    return _VERBS.get(record.kind, "Raised")


def printed_type(type: str | None) -> str:
    """The type as it is printed; a logged text has none."""
    return "" if not type or type.startswith("log:") else type


def newest(releases: Iterable[str]) -> str | None:
    """The newest of some releases, None when there are none."""
    return max(releases, key=_order, default=None)


def last_release(record: Record) -> str | None:
    """The newest release that has the record's text at any of its sites."""
    return newest(at.release for site in record.sites for at in site.lines)


def _order(release: str) -> tuple[bool, Version, str]:
    try:
        return True, Version(release), release
    except InvalidVersion:
        return False, Version("0"), release


def _tell(conditions: tuple[Condition, ...]) -> list[str]:
    told: list[str] = []
    at = 0
    while at < len(conditions):
        here, after = conditions[at], conditions[at + 1] if at + 1 < len(conditions) else None
        if after is not None and {here.kind, after.kind} == {"try", "except"}:
            tried, caught = (here, after) if here.kind == "try" else (after, here)
            told.append(f"{code(tried.text)} failed with {_types(caught.text)}")
            at += 2
            continue
        told.append(_one(here))
        at += 1
    return told


def _one(condition: Condition) -> str:
    text = " ".join(condition.text.split())
    match condition.kind:
        case "if":
            return _holds(text, True)
        case "unless":
            return _holds(text, False)
        case "except":
            return f"{_types(text)} was caught"
        case "try":
            return f"{code(text)} is tried"
        case "for":
            return f"going through {code(text)}"
        case "while":
            return f"while {code(text)}"
        case "with":
            return f"inside {code('with ' + text.removeprefix('with '))}"
        case "assert":
            return f"the assertion {code(text)} fails"
        case _:
            return code(text)


def _holds(text: str, holds: bool) -> str:
    for pattern, true, false in _SIMPLE:
        if found := pattern.fullmatch(text):
            return (true if holds else false).format(*(code(operand) for operand in found.groups()))
    return f"{code(text, most=160)} {'holds' if holds else 'does not hold'}"


def _types(text: str) -> str:
    names = [name.strip() for name in text.partition(" as ")[0].strip("() ").split(",") if name.strip()]
    return enumeration([code(name) for name in names[:5]], "or") or "any exception"


def language_of(text: str) -> str:
    """``python`` for what Python can read, ``bash`` for the rest: the two languages in which records show code."""
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "bash"
    return "python"
