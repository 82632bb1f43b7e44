"""Texts with holes: what they are made of, and how they are put together and written.

A text is a tuple of parts, literal pieces and :class:`~bot.model.Hole`. An expression may say several things, so most functions here answer
with alternatives, bounded by :data:`MAX_ALTERNATIVES`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence

from bot.catalogue.scanners.python.code import write
from bot.model import Hole, Template

Parts = tuple[str | Hole, ...]

Texts = tuple[Parts, ...]

MAX_ALTERNATIVES = 8
"""More texts than these from one expression are not listed: the part that multiplies them becomes a hole."""

MAX_TEXT = 4_000
"""Literal characters kept of one text; the rest becomes a hole. Longer ones are documents, not messages."""

MAX_EXPRESSION = 300
"""A longer expression in a hole is written ``...``."""


NEUTRAL = re.compile(r"[\w.()\[\], +*/-]*")
"""An expression without a character that means something in a written hole."""


def unparse(node: ast.AST) -> str:
    """Source code of a node on one line, at most :data:`MAX_EXPRESSION` characters of it."""
    if isinstance(node, ast.Name):
        return node.id
    try:
        text = write(node)
    except (RecursionError, ValueError, KeyError):
        return "..."
    return text if len(text) <= MAX_EXPRESSION else text[: MAX_EXPRESSION - 3] + "..."


def hole(node: ast.expr, suffix: str = "") -> Hole:
    """The hole that an expression leaves, in a form that can be written and read back."""
    if isinstance(node, ast.Name):
        return Hole(node.id, suffix)
    text = unparse(node)
    if len(text) >= MAX_EXPRESSION:
        return Hole("...", suffix)
    return written(text, suffix)


def written(expression: str, suffix: str = "") -> Hole:
    """A hole whose written form reads back as itself: with brackets where needed, and ``...`` where nothing else helps."""
    if expression.replace(".", "").replace("_", "").isalnum() and not suffix:
        return Hole(expression)
    if NEUTRAL.fullmatch(expression) and suffix in ("", "!r", "!a"):
        return Hole(expression, suffix)
    for form in (expression, f"({expression})"):
        try:
            if Template.parse(str(Hole(form, suffix))).parts == (Hole(form, suffix),):
                return Hole(form, suffix)
        except ValueError:
            continue
    return Hole("...", "")


def join(pieces: Iterable[Parts]) -> Parts:
    """One text of several, with neighbouring literals joined, cut off at :data:`MAX_TEXT`."""
    parts = Template.of(*(part for piece in pieces for part in piece)).parts
    room = MAX_TEXT
    for at, part in enumerate(parts):
        if isinstance(part, str):
            if len(part) > room:
                return (*parts[:at], part[:room], Hole("..."))
            room -= len(part)
    return parts


def distinct(alternatives: Iterable[Parts]) -> Texts:
    """Alternatives without repetition, in order."""
    return tuple(dict.fromkeys(alternatives))


def cross(pieces: Sequence[tuple[Texts, Hole | None]]) -> Texts:
    """All ways of putting pieces together; a piece that would make too many is replaced by its hole."""
    ways: list[list[Parts]] = [[]]
    for texts, instead in pieces:
        if len(ways) * len(texts) > MAX_ALTERNATIVES and len(texts) > 1:
            texts = ((instead,),) if instead is not None else texts[:1]
        ways = [[*way, text] for way in ways for text in texts]
    return distinct(join(way) for way in ways)


def literal(parts: Parts) -> str | None:
    """The text itself, when it has no holes."""
    if not parts:
        return ""
    return parts[0] if len(parts) == 1 and isinstance(parts[0], str) else None


def words(parts: Parts) -> int:
    """How many letters and digits are literal."""
    return sum(ch.isalnum() for part in parts if isinstance(part, str) for ch in part)


def apply(change: Callable[[str], str], parts: Parts) -> Parts | None:
    """The text after a change of its literals, with holes held by a stand-in; None when the change loses one."""
    holes = [part for part in parts if isinstance(part, Hole)]
    changed = change("".join(part if isinstance(part, str) else "\x00" for part in parts)).split("\x00")
    if len(changed) != len(holes) + 1:
        return None
    mixed: list[Parts] = [(changed[0],)]
    for filled, text in zip(holes, changed[1:], strict=True):
        mixed += [(filled,), (text,)]
    return join(mixed)


def quoted(parts: Parts) -> Parts:
    """The repr of a text: exact without holes, else as near as can be known."""
    whole = literal(parts)
    if whole is not None:
        return (repr(whole),)
    inside = [(repr(part + '"')[1:-2] if isinstance(part, str) else part,) for part in parts]
    mark = '"' if any("'" in part for part in parts if isinstance(part, str)) else "'"
    return join([(mark,), *inside, (mark,)])
