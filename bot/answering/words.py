"""Source code in plain words: under which conditions a line is reached, where it stands, which release is the newest.

Everything here is short Markdown in which code from the source stands in backticks (:func:`bot.answering.sanitise.code`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from packaging.version import InvalidVersion, Version

from bot.answering.language import CHINESE, ENGLISH, say
from bot.answering.sanitise import code, plain
from bot.model import Condition, Record
from bot.model.conditions import opposite

MAX_CONDITIONS = 4
"""Conditions told of one raise: the innermost, which say most."""

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_OPERAND = r"[A-Za-z_][\w.]{0,80}(?:\([\w., ]{0,40}\))?"
_CALL = r"[A-Za-z_][\w.]{0,80}\([\w., ]{0,40}\)"
_SIMPLE: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (re.compile(rf"({_OPERAND}) is None"), "is none", "is not none"),
    (re.compile(rf"({_OPERAND}) is not None"), "is not none", "is none"),
    (re.compile(rf"isinstance\(({_OPERAND}), ({_OPERAND})\)"), "is a", "is no"),
    (re.compile(rf"not isinstance\(({_OPERAND}), ({_OPERAND})\)"), "is no", "is a"),
    (re.compile(rf"({_OPERAND}) == ([\w.\"'-]{{1,80}})"), "is", "is not"),
    (re.compile(rf"({_OPERAND}) != ([\w.\"'-]{{1,80}})"), "is not", "is"),
    (re.compile(rf"({_OPERAND}) not in ({_OPERAND})"), "is not in", "is in"),
    (re.compile(rf"({_OPERAND}) in ({_OPERAND})"), "is in", "is not in"),
    (re.compile(rf"not ({_CALL})"), "is false", "is true"),
    (re.compile(rf"({_CALL})"), "is true", "is false"),
    (re.compile(rf"not ({_OPERAND})"), "is not set", "is set"),
    (re.compile(rf"({_OPERAND})"), "is set", "is not set"),
)
"""How a condition looks, and the sentence for it when it holds and when it does not (:mod:`bot.answering.language`)."""

_VERBS = {"error": "Raised", "assert": "Asserted", "log": "Logged", "warning": "Warned of"}


def circumstances(conditions: Sequence[Condition], most: int = MAX_CONDITIONS, language: str = ENGLISH) -> str:
    """When a raise is reached, as what follows "when": ``"`x` is `None` and `import y` failed with `ImportError`"``.

    Empty when it is reached always.
    """
    told = _tell(tuple(conditions), language)
    shown = told[-most:]
    if len(told) > most:
        left = len(told) - most
        key = "one more condition" if left == 1 else "more conditions"
        shown[0] = say(language, key, number=left, rest=shown[0])
    return enumeration(shown, language=language)


def enumeration(items: Sequence[str], last: str = "and", language: str = ENGLISH) -> str:
    """``a``, ``a and b``, ``a, b, and c``; in Chinese with commas alone."""
    if language == CHINESE:
        return "、".join(items) if last == "and" else " / ".join(items)
    if len(items) < 3:
        return f" {last} ".join(items)
    return ", ".join(items[:-1]) + f", {last} {items[-1]}"


def options_of(flags: Sequence[str], language: str = ENGLISH) -> str:
    """Command-line options as they are told; of those that a flag names with "or" between them, one is enough."""
    return enumeration(
        [enumeration([code(way, most=90) for way in flag.split(" or ")], "or", language) for flag in flags], language=language
    )


def verb(record: Record, language: str = ENGLISH) -> str:
    """How the program says it: Raised, Asserted, Logged, Warned of."""
    return say(language, _VERBS.get(record.kind, "Raised"))


def version(release: str) -> str:
    """A release as people name it: ``v0.5.23``; a commit by its first ten digits."""
    if _COMMIT.fullmatch(release):
        return plain(release[:10])
    return plain(f"v{release}" if release[:1].isdigit() else release)


def printed_type(type: str | None) -> str:
    """The type as it is printed; a logged text has none."""
    return "" if not type or type.startswith("log:") else type


def newest(releases: Iterable[str]) -> str | None:
    """The newest of some releases, None when there are none."""
    return max(releases, key=_order, default=None)


def last_release(record: Record) -> str | None:
    """The newest release that has the record's text at any of its sites."""
    return newest(at.release for site in record.sites for at in site.lines)


def first_release(record: Record) -> str | None:
    """The oldest release that has the record's text at any of its sites, as far as releases were scanned."""
    return min((at.release for site in record.sites for at in site.lines), key=_order, default=None)


def _order(release: str) -> tuple[bool, Version, str]:
    try:
        return True, Version(release), release
    except InvalidVersion:
        return False, Version("0"), release


def _tell(conditions: tuple[Condition, ...], language: str) -> list[str]:
    told: list[str] = []
    at = 0
    while at < len(conditions):
        here, after = conditions[at], conditions[at + 1] if at + 1 < len(conditions) else None
        if after is not None and {here.kind, after.kind} == {"try", "except"}:
            tried, caught = (here, after) if here.kind == "try" else (after, here)
            told.append(say(language, "failed with", tried=_tried(tried.text, caught.text), types=_types(caught.text, language)))
            at += 2
            continue
        told.append(_one(here, language))
        at += 1
    return told


def _tried(text: str, types: str) -> str:
    """What was tried, as one statement: the import, where an import failed; else the first, with a mark that more was."""
    lines = text.split("\n")
    imports = [line for line in lines if re.match(r"(import|from) ", line)] if re.search(r"Import|ModuleNotFound", types) else []
    if imports:
        return code(imports[0])
    return code(lines[0]) + (" …" if len(lines) > 1 else "")


def _one(condition: Condition, language: str) -> str:
    text = " ".join(condition.text.split())
    match condition.kind:
        case "if":
            return _holds(text, True, language)
        case "unless":
            return _holds(text, False, language)
        case "except":
            return say(language, "was caught", types=_types(text, language))
        case "try":
            return say(language, "is tried", _tried(condition.text, ""))
        case "for":
            return say(language, "going through", code(text))
        case "while":
            return say(language, "while", code(text))
        case "with":
            return say(language, "inside", code("with " + text.removeprefix("with ")))
        case "assert":
            return say(language, "fails", code(text))
        case _:
            return code(text)


def _holds(text: str, holds: bool, language: str) -> str:
    for pattern, true, false in _SIMPLE:
        if found := pattern.fullmatch(text):
            return say(language, true if holds else false, *(code(operand) for operand in found.groups()))
    if not holds and (other := opposite(text)) and not other.startswith("not ") and " not (" not in other:
        return _holds(other, True, language)
    return say(language, "holds" if holds else "does not hold", code(text, most=160))


def _types(text: str, language: str) -> str:
    names = [name.strip() for name in text.partition(" as ")[0].strip("() ").split(",") if name.strip()]
    return enumeration([code(name) for name in names[:5]], "or", language) or say(language, "any exception")


def language_of(text: str) -> str:
    """``python`` for what Python can read, ``bash`` for the rest: the two languages in which records show code."""
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "bash"
    return "python"
