"""Syntax trees by tree-sitter, for languages that Python cannot parse itself.

tree-sitter reads whatever it is given: what it does not understand becomes an ``ERROR`` node, and the rest stays readable. It is imported
when the first file is parsed, so that commands which scan nothing start quickly.
"""

from __future__ import annotations

import importlib
import re
from functools import cache
from typing import TYPE_CHECKING

from bot.catalogue.scanners import Unreadable

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

MAX_CODE_LINES = 12
"""Lines of a statement that are kept, as :class:`bot.model.RaiseSite` says."""

MAX_LINE = 1_000
"""Characters of a line that are kept: a file may be one line."""

MAX_DEPTH = 400
"""Nodes inside each other that are followed; deeper code is generated."""

MAX_STEPS = 1_000_000
"""Steps in one file on the way to what may raise: 5,000 places at a depth of 50 need 250,000. Only hostile files need more."""

MAX_TEXT = 300
"""A longer expression or condition is cut off."""

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*|\s+')


@cache
def _parser(language: str) -> Parser:
    """The parser of a language whose grammar is the package ``tree_sitter_<language>``."""
    from tree_sitter import Language, Parser

    return Parser(Language(importlib.import_module(f"tree_sitter_{language}").language()))


def parse(language: str, text: bytes) -> Tree:
    """The syntax tree of a text, whatever it holds."""
    return _parser(language).parse(text)


def source_text(data: bytes) -> bytes:
    """Source as UTF-8 with plain line ends, as the parsers want it.

    Raises Unreadable for what is no text.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        data = data.decode("utf-16", "replace").encode()
    if b"\0" in data[:4096]:
        raise Unreadable("is not text")
    return data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")


def text_of(node: Node) -> str:
    """The source of a node."""
    return (node.text or b"").decode("utf-8", "replace")


def one_line(text: str, most: int = MAX_TEXT) -> str:
    """Source on one line without comments, as C's preprocessor turns an argument to text; cut off at ``most`` characters."""
    pieces: list[str] = []
    at = 0
    for token in _TOKEN.finditer(text):
        if token.start() < at:
            continue
        pieces.append(text[at : token.start()])
        at = token.end()
        if token[0].startswith('"'):
            pieces.append(token[0])
        elif token[0] == "/*":
            end = text.find("*/", at)
            at = len(text) if end < 0 else end + 2
            pieces.append(" ")
        else:
            pieces.append(" ")
    joined = "".join((*pieces, text[at:]))
    line = joined if '"' in joined else " ".join(joined.split())
    line = line.strip()
    return line if len(line) <= most else line[: most - 3] + "..."


class Ways:
    """Ways from the root of a tree to places in it; they end when :data:`MAX_STEPS` are spent."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.steps = 0

    def to(self, start: int, end: int) -> list[Node]:
        """The nodes around a piece of source, outermost first; the last one is the smallest that holds it."""
        nodes = [self.tree.root_node]
        if self.steps > MAX_STEPS:
            return nodes
        cursor = self.tree.walk()
        while len(nodes) < MAX_DEPTH and (number := cursor.goto_first_child_for_byte(start)) is not None:
            self.steps += 1 + number // 128  # the parser goes through all children before this one
            node = cursor.node
            if node is None or node.start_byte > start or node.end_byte < end:
                break
            nodes.append(node)
        return nodes


def path_to(tree: Tree, start: int, end: int) -> list[Node]:
    """One way of :class:`Ways`."""
    return Ways(tree).to(start, end)


def code(lines: list[str], first: int, last: int) -> str:
    """The lines of a statement (1-based, inclusive), stripped and joined, at most :data:`MAX_CODE_LINES`."""
    return "\n".join(line[:MAX_LINE].strip() for line in lines[first - 1 : min(last, first - 1 + MAX_CODE_LINES)])
