"""Python: ``raise``, ``assert``, what is logged as an error, and texts handed to functions that raise them.

Read with :mod:`ast` alone; nothing of the source is imported or run.
"""

from __future__ import annotations

import ast
import codecs
import gc
import io
import re
import tokenize
import warnings

from bot.catalogue.scanners import Known, Offer, Scanned, Unreadable
from bot.catalogue.scanners.python import messages as messages  # registers the texts kept beside the code
from bot.catalogue.scanners.python.entries import with_entries
from bot.catalogue.scanners.python.knowledge import Knowledge, offers
from bot.catalogue.scanners.python.origins import offered
from bot.catalogue.scanners.python.raises import Walk
from bot.catalogue.scanners.python.reached import with_options
from bot.catalogue.sources import SourceFile
from bot.registry import SCANNERS

COOKIE = re.compile(rb"(?:[^\n\r]{0,400}[\n\r]{1,2})?[ \t\f]{0,40}#[^\n\r]{0,200}coding[:=]")
"""A file that says its encoding in its first or second line (https://docs.python.org/3/reference/lexical_analysis.html#encodings)."""

GLOBAL = re.compile(r"^[ \t]*global[ \t]+([A-Za-z0-9_, \t]{1,2000})")


@SCANNERS.add("python", suffixes=".py")
def scan_python(file: SourceFile, known: Known, *, flow: bool = True) -> Scanned:
    """Python source, by its syntax tree.

    Without ``flow``, no variable, constant or function is followed: for measuring what following them is worth. Raises Unreadable for a
    file that cannot be decoded or parsed.
    """
    text = _decode(file.text)
    collecting = gc.isenabled()
    gc.disable()  # a syntax tree is large and has no cycles: collecting while it grows takes a third of the time
    try:
        return _scan(file.path, text, known, flow)
    finally:
        if collecting:
            gc.enable()


def _decode(data: bytes) -> str:
    try:
        if not COOKIE.match(data) and not data.startswith(codecs.BOM_UTF8):
            text = data.decode("utf-8")
            return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return io.TextIOWrapper(io.BytesIO(data), encoding, newline=None).read()
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise Unreadable(f"cannot be decoded: {error}") from error


def _parse(text: str) -> ast.Module:
    """The syntax tree; of a file that this Python refuses, what can be read of it. Raises SyntaxError when that is nothing."""
    try:
        return ast.parse(text)
    except SyntaxError:
        from bot.catalogue.scanners.python.tolerant import parse_tolerantly  # seldom needed, and it takes another parser

        tree = parse_tolerantly(text)
        if tree is None:
            raise
        return tree


def _scan(path: str, text: str, known: Known, flow: bool) -> Scanned:
    knowledge = Knowledge(path, known)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = _parse(text)
        lines = text.split("\n")
        walk = Walk(path, lines, knowledge)
        walk.reader.follows = flow
        if "global " in text:
            walk.volatile.update(name.strip() for line in lines if (found := GLOBAL.match(line)) for name in found[1].split(","))
        walk.module(tree)
        later = (
            walk.missed & walk.constants.keys()
            or walk.inheritance.is_late
            or knowledge.missed & {fact.name for _, fact in walk.functions} | walk.classes.keys()
        )
        if flow and later:
            # What stands further down in the file was not known when it was needed: walk once more.
            for one in walk.kept:
                key = f"kept:{one.attribute}"
                knowledge.known = {**knowledge.known, key: (*knowledge.known.get(key, ()), Offer(path, one))}
            earlier, walk = walk, Walk(path, lines, knowledge, earlier=walk)
            earlier.take_apart()
            walk.module(tree)
    except SyntaxError as error:
        raise Unreadable(f"cannot be parsed: {error.msg} (line {error.lineno})") from error
    except ValueError as error:
        raise Unreadable(f"cannot be parsed: {error}") from error
    except RecursionError as error:
        raise Unreadable("cannot be parsed: nested too deeply") from error
    except MemoryError as error:
        raise Unreadable("cannot be parsed: needs too much memory") from error
    own = (
        *offers(path, walk.constants, walk.classes.values(), walk.functions, walk.kept, walk.flags, walk.inheritance.below()),
        *offered(path, walk),
    )
    raised, left = with_options(walk.raised, walk.asks, walk.called, own, known, text)
    scanned = Scanned(with_entries(raised, walk.spans, text), own, frozenset(knowledge.wants), left)
    walk.take_apart()
    return scanned
