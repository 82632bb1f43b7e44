"""What raise sites need to know of a file, their own or another: constants, exception classes, functions that raise or return a text.

All of it is plain values without syntax trees, so that it passes between processes.
"""

from __future__ import annotations

import builtins
import re
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.catalogue.scanners.python.parts import MAX_ALTERNATIVES, Parts, Texts, cross, distinct, literal, quoted, words
from bot.model import Hole

STARRED = "*"
"""The name of an argument ``*args`` that hands on what the function itself was given."""

MAX_BASES = 6
"""How far the bases of an exception class are followed."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant of a module or class that holds a text, or a dictionary of texts (``items``: keys as ``repr`` writes them).

    ``file`` is the name of the file beside the code that the dictionary is read from.
    """

    texts: Texts
    items: tuple[tuple[str, Texts], ...] = ()
    file: str = ""


@dataclass(frozen=True, slots=True)
class Below:
    """A class that is made from one of another file, imported from ``module``, and the messages that it sets as attributes."""

    name: str
    module: str
    messages: tuple[tuple[str, Constant], ...] = ()


def either(constants: Sequence[Constant]) -> Constant | None:
    """A constant that is one of several; each item of a dictionary for itself."""
    if len(constants) < 2:
        return constants[0] if constants else None
    items: dict[str, list[Parts]] = {}
    for constant in constants:
        for key, texts in constant.items:
            items.setdefault(key, []).extend(texts)
    texts = distinct(parts for constant in constants for parts in constant.texts)[:MAX_ALTERNATIVES]
    return Constant(texts, tuple((key, distinct(found)[:MAX_ALTERNATIVES]) for key, found in items.items()))


@dataclass(frozen=True, slots=True)
class Parameters:
    """A function's parameters as a caller sees them (without ``self``), with the texts of those that default to one."""

    names: tuple[str, ...]
    defaults: tuple[tuple[str, Texts], ...] = ()


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call: its texts as a whole message, and as ``repr`` prints them.

    ``name`` is set for a keyword, ``text`` when it is a known text at least in part.
    """

    texts: Texts
    name: str = ""
    text: bool = False
    reprs: Texts = ()


@dataclass(frozen=True, slots=True)
class Error:
    """An exception that is made: its type, what it prints, and other forms in which its text reaches people."""

    type: str
    parts: Parts
    also: Texts = ()


@dataclass(frozen=True, slots=True)
class Class:
    """An exception class: how it turns its arguments into what it prints.

    ``calls`` are the arguments handed to ``super().__init__`` (one for each such call; empty when there is none), ``attributes`` what
    ``self.x`` is set to, ``printed`` what ``__str__`` returns. Holes named like a parameter stand for it.
    """

    name: str
    bases: tuple[str, ...]
    parameters: Parameters | None = None
    calls: tuple[tuple[Argument, ...], ...] = ()
    attributes: tuple[tuple[str, Texts], ...] = ()
    printed: Texts = ()


@dataclass(frozen=True, slots=True)
class Function:
    """A function whose callers hold the text: ``raises`` what it is given, ``makes`` an exception of it, or ``returns`` a text
    (and something unknown at times, when ``returns_more``). ``items`` are the texts in a tuple that it returns, by their index.

    ``lists`` are the texts that a list may hold which it returns. ``stores`` names the attribute in which it keeps
    a parameter for somebody else to raise: (parameter, attribute).
    """

    name: str
    parameters: Parameters
    raises: tuple[Error, ...] = ()
    makes: tuple[Error, ...] = ()
    returns: Texts = ()
    returns_more: bool = False
    items: tuple[tuple[int, Texts], ...] = ()
    stores: tuple[tuple[str, str], ...] = ()
    lists: Texts = ()


@dataclass(frozen=True, slots=True)
class Kept:
    """An exception whose text is read from an attribute: ``hole`` is the hole in ``error`` that the stored text fills."""

    attribute: str
    hole: str
    error: Error


def substitute(parts: Parts, values: Mapping[str, Texts]) -> Texts:
    """A text with the holes filled that are named in ``values``; formatted ones only where that can be told."""
    pieces: list[tuple[Texts, Hole | None]] = []
    for part in parts:
        if isinstance(part, str) or part.expression not in values:
            pieces.append((((part,),), None))
            continue
        texts = values[part.expression]
        if part.suffix == "!r":
            texts = tuple(_repr(text) for text in texts)
        elif part.suffix and any(literal(text) is not None or len(text) != 1 for text in texts):
            texts = ((part,),)
        elif part.suffix:
            texts = tuple((Hole(h.expression, part.suffix),) for text in texts for h in text if isinstance(h, Hole))
        pieces.append((texts, part))
    return cross(pieces)


def _reprs(argument: Argument) -> Texts:
    return argument.reprs or tuple(_repr(text) for text in argument.texts)


def _repr(text: Parts) -> Parts:
    if len(text) == 1 and isinstance(text[0], Hole):
        return (Hole(text[0].expression, text[0].suffix or "!r"),)
    return quoted(text)


def bind(parameters: Parameters, arguments: Iterable[Argument]) -> dict[str, Texts]:
    """What each parameter holds in a call; parameters that are not given have their default, if that is a text."""
    values: dict[str, Texts] = dict(parameters.defaults)
    at = 0
    for argument in arguments:
        if argument.name:
            values[argument.name] = argument.texts
        else:
            if at < len(parameters.names):
                values[parameters.names[at]] = argument.texts
            at += 1
    return values


OS_ERRORS = frozenset(name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, OSError))
"""With two or more arguments these print ``[Errno 2] text: 'file'`` (https://docs.python.org/3/library/exceptions.html#OSError)."""

GROUPS = frozenset({"ExceptionGroup", "BaseExceptionGroup"})

MESSAGE_KEYWORDS = ("message", "detail", "msg", "reason", "error", "description", "text", "errmsg", "error_message")

ALIASES = {
    "EnvironmentError": "OSError",
    "IOError": "OSError",
    "WindowsError": "OSError",
}
"""Names that Python prints as another one."""


def printed(type: str, arguments: tuple[Argument, ...], classes: Mapping[str, Class], builtin: frozenset[str]) -> tuple[Error, ...]:
    """What an exception of this type prints when it is made with these arguments, as alternatives."""
    errors: list[Error] = []
    for single in _singly(arguments):
        texts, _, given = _built(type, single, classes, builtin, MAX_BASES)
        also = distinct(parts for parts in given if parts not in texts and (words(parts) >= 8 or any(map(_is_hole, parts))))
        errors += (Error(type, parts, also if len(texts) == 1 else ()) for parts in texts)
    return tuple(dict.fromkeys(errors))


def _is_hole(part: str | Hole) -> bool:
    return isinstance(part, Hole)


def _singly(arguments: tuple[Argument, ...]) -> list[tuple[Argument, ...]]:
    """The same call for each way of choosing one text of each argument, so that what belongs together stays together."""
    ways: list[tuple[Argument, ...]] = [()]
    for argument in arguments:
        if len(argument.texts) * len(ways) > MAX_ALTERNATIVES:
            ways = [(*way, argument) for way in ways]
        elif len(argument.reprs) == len(argument.texts):
            pairs = list(zip(argument.texts, argument.reprs, strict=True))
            ways = [(*way, Argument((text,), argument.name, argument.text, (shown,))) for way in ways for text, shown in pairs]
        else:
            ways = [(*way, Argument((text,), argument.name, argument.text)) for way in ways for text in argument.texts]
    return ways


def _built(
    type: str, arguments: tuple[Argument, ...], classes: Mapping[str, Class], builtin: frozenset[str], depth: int
) -> tuple[Texts, dict[str, Texts], Texts]:
    """What it prints, what its attributes hold, and the text that was handed on to ``Exception``."""
    known = classes.get(type)
    if known is None or not depth:
        plain = _plain(type, arguments, builtin)
        return plain, {}, plain
    base = known.bases[0] if known.bases else "Exception"
    values = bind(known.parameters, arguments) if known.parameters is not None else {}
    own = {f"self.{name}": distinct(way for parts in found for way in substitute(parts, values)) for name, found in known.attributes}
    values = {**values, **own}
    names = known.parameters.names if known.parameters is not None else ()
    given_on = [argument for argument in arguments if argument.name and argument.name not in names]
    beyond = [argument for argument in arguments if not argument.name][len(names) :]
    handed: list[tuple[Argument, ...]] = [arguments]
    if known.parameters is not None and known.calls:
        handed = [
            tuple(
                Argument(
                    distinct(way for parts in argument.texts for way in _filled(parts, values, given_on)), argument.name, argument.text
                )
                for argument in _expanded(call, (*beyond, *given_on))
            )
            for call in known.calls
        ]
    texts: list[Parts] = []
    given: list[Parts] = []
    attributes: dict[str, Texts] = {}
    for call in handed:
        below, attributes, plain = _built(base, call, classes, builtin, depth - 1)
        texts += below
        given += plain
    attributes = {**attributes, **own}
    if known.printed:
        inner = {**attributes, "super().__str__()": distinct(texts), "self.args[0]": distinct(given)}
        texts = [way for parts in known.printed for way in substitute(parts, inner)]
    return distinct(texts)[:MAX_ALTERNATIVES], attributes, distinct(given)[:MAX_ALTERNATIVES]


def _expanded(call: Iterable[Argument], given_on: tuple[Argument, ...]) -> Iterable[Argument]:
    """The arguments of a call, with those in place of ``*args`` that the function was given beyond its own parameters."""
    for argument in call:
        if argument.name == STARRED:
            yield from given_on
        else:
            yield argument


FORMATTED = re.compile(r"(\w{1,80})\.format\(\*\*\w{1,80}\)")


def _filled(parts: Parts, values: Mapping[str, Texts], keywords: Iterable[Argument]) -> Texts:
    """A text with its holes filled; ``message.format(**kwargs)`` is the message, filled with what was given by keyword."""
    if len(parts) == 1 and isinstance(parts[0], Hole) and (called := FORMATTED.fullmatch(parts[0].expression)) and called[1] in values:
        given = {argument.name: argument.texts for argument in keywords}
        return distinct(way for text in values[called[1]] for way in cross(_fields(text, given)))
    return substitute(parts, values)


def _fields(text: Parts, given: Mapping[str, Texts]) -> list[tuple[Texts, Hole | None]]:
    pieces: list[tuple[Texts, Hole | None]] = []
    for part in text:
        if isinstance(part, Hole):
            pieces.append((((part,),), part))
            continue
        try:
            fields = list(string.Formatter().parse(part))
        except ValueError:
            return [((text,), None)]
        for before, name, spec, conversion in fields:
            pieces.append((((before,),), None))
            if name is not None:
                suffix = (f"!{conversion}" if conversion in ("r", "a") else "") + (f":{spec}" if spec else "")
                hole = Hole(name if name.isidentifier() else "...", suffix)
                pieces.append((given[name] if name in given and not suffix else ((hole,),), hole))
    return pieces


def _plain(type: str, arguments: tuple[Argument, ...], builtin: frozenset[str]) -> Texts:
    """What it prints when the class does nothing of its own."""
    positional = [argument for argument in arguments if not argument.name]
    if not positional:
        for keyword in MESSAGE_KEYWORDS:
            for argument in arguments:
                if argument.name == keyword:
                    return argument.texts
        return next((argument.texts for argument in arguments if argument.text and not argument.name.startswith("translation_")), ((),))
    if len(positional) == 1:
        named = [argument for argument in arguments if argument.name in MESSAGE_KEYWORDS and argument.text]
        return named[0].texts if named and not positional[0].text and type not in builtin else positional[0].texts
    if type in OS_ERRORS:
        pieces: list[tuple[Texts, Hole | None]] = [((("[Errno ",),), None), (positional[0].texts, None), ((("] ",),), None)]
        pieces.append((positional[1].texts, None))
        if len(positional) > 2:
            pieces += [(((": ",),), None), (_reprs(positional[2]), None)]
        return cross(pieces)
    if type in GROUPS:
        return cross([(positional[0].texts, None), (((" (", Hole("n"), " sub-exceptions)"),), None)])
    if type in builtin and type not in (
        "ImportError",
        "ModuleNotFoundError",
        "UnicodeDecodeError",
        "UnicodeEncodeError",
        "SyntaxError",
    ):
        listed: list[tuple[Texts, Hole | None]] = []
        for at, argument in enumerate(positional):
            listed += [(((", " if at else "(",),), None), (_reprs(argument), None)]
        return cross([*listed, (((")",),), None)])
    texts = next((argument.texts for argument in arguments if argument.text or argument.name in MESSAGE_KEYWORDS), None)
    return texts if texts is not None else positional[0].texts
