"""Python: ``raise``, ``assert``, what is logged as an error, and texts handed to functions that raise them.

Read with :mod:`ast` alone; nothing of the source is imported or run.
"""

from __future__ import annotations

import ast
import gc
import io
import re
import tokenize
import warnings

from bot.catalogue.scanners import Known, Offer, Scanned, Unreadable
from bot.catalogue.scanners.python.knowledge import Knowledge, offers
from bot.catalogue.scanners.python.raises import Walk
from bot.catalogue.sources import SourceFile
from bot.registry import SCANNERS

GLOBAL = re.compile(r"^[ \t]*global[ \t]+([A-Za-z0-9_, \t]{1,2000})", re.MULTILINE)


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
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return io.TextIOWrapper(io.BytesIO(data), encoding, newline=None).read()
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise Unreadable(f"cannot be decoded: {error}") from error


def _scan(path: str, text: str, known: Known, flow: bool) -> Scanned:
    knowledge = Knowledge(path, known)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        lines = text.split("\n")
        walk = Walk(path, lines, knowledge)
        walk.reader.follows = flow
        walk.volatile.update(name.strip() for names in GLOBAL.findall(text) for name in names.split(","))
        walk.module(tree)
        later = walk.missed & walk.constants.keys() or knowledge.missed & {fact.name for _, fact in walk.functions} | walk.classes.keys()
        if flow and later:
            # What stands further down in the file was not known when it was needed: walk once more.
            for one in walk.kept:
                key = f"kept:{one.attribute}"
                knowledge.known = {**knowledge.known, key: (*knowledge.known.get(key, ()), Offer(path, one))}
            walk = Walk(path, lines, knowledge, earlier=walk)
            walk.module(tree)
    except SyntaxError as error:
        raise Unreadable(f"cannot be parsed: {error.msg} (line {error.lineno})") from error
    except ValueError as error:
        raise Unreadable(f"cannot be parsed: {error}") from error
    except RecursionError as error:
        raise Unreadable("cannot be parsed: nested too deeply") from error
    except MemoryError as error:
        raise Unreadable("cannot be parsed: needs too much memory") from error
    own = offers(path, walk.constants, walk.classes.values(), walk.functions, walk.kept)
    return Scanned(tuple(walk.raised), own, frozenset(knowledge.wants))
