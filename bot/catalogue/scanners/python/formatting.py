"""The two older ways of filling a text: ``"…%s" % x`` and ``"…{}".format(x)``.

Rules: https://docs.python.org/3/library/stdtypes.html#printf-style-string-formatting and
https://docs.python.org/3/library/string.html#format-string-syntax.
"""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Callable

from bot.model import Hole

Parts = tuple[str | Hole, ...]
Pieces = list[tuple[tuple[Parts, ...], Hole | None]]
Embed = Callable[[ast.expr, str], tuple[tuple[Parts, ...], Hole]]

PERCENT = re.compile(
    r"%(?:\((?P<key>[^()]{0,200})\))?(?P<flags>[-+ #0]{0,5})(?P<width>\*|\d{0,5})(?:\.(?P<precision>\*|\d{0,5}))?[hlL]?(?P<kind>.)",
    re.DOTALL,
)
KINDS = {"s": "", "r": "!r", "a": "!a", "c": "", "d": ":d", "i": ":d", "u": ":d"}


def apply_suffix(text: str | None, suffix: str) -> str | None:
    """A known text under a conversion and format as in an f-string; None when that can't be told."""
    if text is None or "{" in suffix:
        return None
    try:
        return ("{0" + suffix + "}").format(text)
    except (ValueError, KeyError, IndexError):
        return None


def percent(text: Parts, right: ast.expr, embed: Embed) -> Pieces:
    """The pieces of ``text % right``."""
    values = list(right.elts) if isinstance(right, ast.Tuple) else None
    return percent_args(text, values, right, embed)


def percent_args(text: Parts, values: list[ast.expr] | None, whole: ast.expr | None, embed: Embed) -> Pieces:
    """The pieces of a text filled with ``values``, or with the one value ``whole`` (a mapping, or a tuple in a variable)."""
    fields = [match for part in text if isinstance(part, str) for match in PERCENT.finditer(part) if match["kind"] != "%"]
    taken = 0
    pieces: Pieces = []
    for part in text:
        if isinstance(part, Hole):
            pieces.append((((part,),), part))
            continue
        at = 0
        for match in PERCENT.finditer(part):
            pieces.append((((part[at : match.start()],),), None))
            at = match.end()
            if match["kind"] == "%":
                pieces.append(((("%",),), None))
                continue
            suffix = _suffix(match)
            if match["key"] is not None:
                pieces.append(_keyed(match["key"], whole, suffix, embed))
                continue
            taken += (match["width"] == "*") + (match["precision"] == "*")
            if values is not None:
                known = taken < len(values) and not any(isinstance(value, ast.Starred) for value in values[: taken + 1])
                pieces.append(embed(values[taken], suffix) if known else _unknown("...", suffix))
            elif whole is not None and len(fields) == 1:
                pieces.append(embed(whole, suffix))
            else:
                pieces.append(_unknown(f"{whole.id}[{taken}]" if isinstance(whole, ast.Name) else "...", suffix))
            taken += 1
        pieces.append((((part[at:],),), None))
    return pieces


def _unknown(expression: str, suffix: str) -> tuple[tuple[Parts, ...], Hole]:
    hole = Hole(expression, suffix)
    return ((hole,),), hole


def _keyed(key: str, whole: ast.expr | None, suffix: str, embed: Embed) -> tuple[tuple[Parts, ...], Hole | None]:
    if isinstance(whole, ast.Dict):
        for name, value in zip(whole.keys, whole.values, strict=True):
            if isinstance(name, ast.Constant) and name.value == key:
                return embed(value, suffix)
    if isinstance(whole, ast.Call) and isinstance(whole.func, ast.Name) and whole.func.id == "dict":
        for keyword in whole.keywords:
            if keyword.arg == key:
                return embed(keyword.value, suffix)
    return _unknown(key if key.isidentifier() else "...", suffix)


def _suffix(match: re.Match[str]) -> str:
    """The f-string suffix that prints what this field of ``%`` prints."""
    kind, flags, width, precision = match["kind"], match["flags"], match["width"], match["precision"]
    if kind in KINDS and not width and precision is None and not flags:
        return KINDS[kind]
    if "*" in (width, precision):
        return ""
    start = KINDS[kind] if kind in "ra" else ""
    align = "<" if "-" in flags else ">" if kind in "sra" and width else ""
    sign = "+" if "+" in flags else " " if " " in flags else ""
    alternate = "#" if "#" in flags else ""
    zero = "0" if "0" in flags and not align else ""
    digits = f".{precision or 0}" if precision is not None else ""
    letter = "" if kind in "srac" else {"i": "d", "u": "d"}.get(kind, kind)
    return f"{start}:{align}{sign}{alternate}{zero}{width}{digits}{letter}"


def braces(text: Parts, call: ast.Call, embed: Embed) -> Pieces:
    """The pieces of ``text.format(...)``."""
    keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    starred = next((at for at, value in enumerate(call.args) if isinstance(value, ast.Starred)), len(call.args))
    pieces: Pieces = []
    count = 0
    for part in text:
        if isinstance(part, Hole):
            pieces.append((((part,),), part))
            continue
        try:
            fields = list(string.Formatter().parse(part))
        except ValueError:
            return [((text,), None)]  # broken by a hole in the middle of a field
        for before, name, spec, conversion in fields:
            pieces.append((((before,),), None))
            if name is None:
                continue
            suffix = (f"!{conversion}" if conversion in ("r", "a") else "") + (f":{spec}" if spec else "")
            first = re.split(r"[.\[]", name, maxsplit=1)[0]
            rest = name[len(first) :]
            if not first:
                first, count = str(count), count + 1
            value = keywords.get(first)
            if first.isdecimal() and int(first) < starred:
                value = call.args[int(first)]
            if value is None:
                pieces.append(_unknown(name if name.isidentifier() else "...", suffix))
            elif rest:
                pieces.append(_unknown(f"{value.id}{rest}" if isinstance(value, ast.Name) else "...", suffix))
            else:
                pieces.append(embed(value, suffix))
    return pieces
