"""A message with holes, as it is written down."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Hole:
    """A place in a message that is filled at run time: the expression, and its conversion and format as written."""

    expression: str
    suffix: str = ""

    def __str__(self) -> str:
        # As in Python, a blank keeps the brace of a set or dict apart: "{{" would be a brace of the message.
        return "{" + (" " if self.expression.lstrip(" ").startswith("{") else "") + self.expression + self.suffix + "}"


@dataclass(frozen=True)
class Template:
    """A message with holes: literal pieces and :class:`Hole`, written like the inside of an f-string.

    ``str(template)`` and :meth:`parse` are inverses; literal braces are doubled. Two templates say the same to a reader
    when their :attr:`skeleton` is equal: holes count, their names do not.
    """

    parts: tuple[str | Hole, ...]

    @classmethod
    def parse(cls, text: str) -> Template:
        """Read a template from its written form.

        Raises ValueError for a brace that is never closed or never opened.
        """
        parts: list[str | Hole] = []
        at = 0
        while brace := _BRACE.search(text, at):
            parts.append(text[at : brace.start()])
            if text.startswith(brace[0], brace.end()):
                parts.append(brace[0])
                at = brace.end() + 1
            elif brace[0] == "}":
                raise ValueError(f"single '}}' at character {brace.start()} of the template; write '}}}}' for a brace in the message")
            else:
                pieces, at = _read_hole(text, brace.start())
                parts += pieces
        return cls.of(*parts, text[at:])

    @classmethod
    def of(cls, *parts: str | Hole) -> Template:
        """A template of pieces, with neighbouring literals joined and empty ones dropped."""
        joined: list[str | Hole] = []
        for part in parts:
            if isinstance(part, str) and joined and isinstance(joined[-1], str):
                joined[-1] += part
            elif part != "":
                joined.append(part)
        return cls(tuple(joined))

    def __str__(self) -> str:
        return "".join(p.replace("{", "{{").replace("}", "}}") if isinstance(p, str) else str(p) for p in self.parts)

    @cached_property
    def literals(self) -> tuple[str, ...]:
        """The literal pieces, in order."""
        return tuple(p for p in self.parts if isinstance(p, str))

    @cached_property
    def holes(self) -> tuple[Hole, ...]:
        """The holes, in order."""
        return tuple(p for p in self.parts if isinstance(p, Hole))

    @cached_property
    def skeleton(self) -> str:
        """The template with its holes made anonymous; with no word in its literals, the holes' expressions identify it."""
        if not any(ch.isalnum() for piece in self.literals for ch in piece):
            return str(self)
        return "".join(p.replace("{", "{{").replace("}", "}}") if isinstance(p, str) else "{}" for p in self.parts)


_BRACE = re.compile("[{}]")


def _read_hole(text: str, start: int) -> tuple[tuple[str | Hole, ...], int]:
    """The hole that opens at ``start``, and where the text goes on behind it.

    Quotes and brackets are respected in the expression; ``!r`` or ``:`` outside of them begins the suffix, as in an f-string.
    ``{x=}`` becomes what Python makes of it: the literal ``x=`` and a hole ``{x!r}``.
    """
    depth, quote, at = 0, "", start + 1
    while at < len(text):
        char = text[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in "'\"":
            quote = char
        elif char in "{[(":
            depth += 1
        elif char in "}])" and depth:
            depth -= 1
        elif not depth and (char in "}:" or text[at : at + 3] in _CONVERSIONS):
            break
        at += 1
    end = _suffix_end(text, at)
    if end >= len(text):
        raise ValueError(f"'{{' at character {start} of the template is never closed; write '{{{{' for a brace in the message")
    expression, suffix = text[start + 1 : at], text[at:end]
    if expression.lstrip(" ").startswith("{"):
        expression = expression.removeprefix(" ")
    if _DEBUG_END.search(expression):
        hole = Hole(expression.rstrip().removesuffix("=").strip(), suffix or "!r")
        return (expression, hole), end + 1
    return (Hole(expression, suffix),), end + 1


_CONVERSIONS = frozenset(f"!{letter}{end}" for letter in "rsa" for end in ":}")
_DEBUG_END = re.compile(r"[^=!<>\s]\s?=\s?\Z")


def _suffix_end(text: str, at: int) -> int:
    """The index of the brace that closes a hole whose suffix begins at ``at``.

    A format may hold holes, and quotes mean nothing in it.
    """
    depth = 0
    while at < len(text):
        if text[at] == "{":
            depth += 1
        elif text[at] == "}":
            if not depth:
                return at
            depth -= 1
        at += 1
    return at
