"""Texts that are collected in a list and raised together later: ``errors.append(f"…")``, then ``raise ValueError("; ".join(errors))``."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bot.catalogue.scanners.python.calls import says
from bot.catalogue.scanners.python.flow import Held
from bot.catalogue.scanners.python.parts import Parts, Texts, join, quoted, words
from bot.model import Hole

ADDS = frozenset({"append", "extend", "insert", "add"})
NAME = re.compile(r"[A-Za-z_]\w*")

MAX_COLLECTED = 64
"""Texts kept of one list."""


@dataclass(frozen=True, slots=True)
class Collected:
    """A text that was added to a list, and what held when it was."""

    parts: Parts
    conditions: tuple[Held, ...] = ()
    through: str = ""


def added(node: ast.Call) -> tuple[str, Sequence[ast.expr]]:
    """The name of the list that a call adds to, and what it adds; an empty name for any other call."""
    func = node.func
    if not isinstance(func, ast.Attribute) or func.attr not in ADDS or not isinstance(func.value, ast.Name) or not node.args:
        return "", ()
    value = node.args[-1]
    if func.attr == "extend":
        return func.value.id, value.elts if isinstance(value, ast.List | ast.Tuple) else ()
    return func.value.id, (value,)


def collect(values: Iterable[ast.expr], texts_of: Callable[[ast.expr], Texts | None]) -> list[Parts]:
    """Those of the values that are messages."""
    found = [texts_of(value) for value in values]
    return [parts for texts in found if texts and says(texts) for parts in texts]


def fill(parts: Parts, find: Callable[[str], Sequence[Collected]]) -> list[tuple[Parts, Collected]]:
    """A text that prints a list, once for each text that the list may hold: as it reads when the list holds only that one.

    ``find`` answers for the name of a variable.
    """
    for at, part in enumerate(parts):
        if not isinstance(part, Hole):
            continue
        names = NAME.findall(part.expression)
        joined = ".join(" in part.expression and not part.suffix
        if not joined and not (names and part.expression in (names[0], f"{names[0]}[0]", f"str({names[0]})")):
            continue
        for name in dict.fromkeys(names):
            collected = find(name)
            if collected:
                if joined:
                    before, after = _around(part.expression)
                else:
                    before, after = ("", "") if part.expression.endswith("]") else ("[", "]")
                shown = [one.parts if joined or not after else quoted(one.parts) for one in collected]
                return [
                    (join([parts[:at], (before,), text, (after,), parts[at + 1 :]]), one)
                    for text, one in zip(shown, collected, strict=True)
                ]
    return []


def _around(expression: str) -> tuple[str, str]:
    """What stands before and after each text: ``"- "`` and nothing in ``"\\n".join(f"- {e}" for e in errors)``."""
    try:
        node = ast.parse(expression, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "", ""
    listed = node.args[0] if isinstance(node, ast.Call) and node.args else None
    made = listed.elt if isinstance(listed, ast.GeneratorExp | ast.ListComp) else None
    if not isinstance(made, ast.JoinedStr):
        return "", ""
    fields = [at for at, value in enumerate(made.values) if isinstance(value, ast.FormattedValue)]
    if len(fields) != 1:
        return "", ""
    before, after = made.values[: fields[0]], made.values[fields[0] + 1 :]
    return tuple("".join(str(value.value) for value in values if isinstance(value, ast.Constant)) for values in (before, after))  # type: ignore[return-value]


def is_pure(parts: Parts) -> bool:
    """Whether a text has no word of its own."""
    return bool(parts) and not words(parts)
