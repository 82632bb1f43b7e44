"""Python that this Python cannot parse: written for a newer one, or broken somewhere.

:mod:`ast` knows the grammar of the Python that runs it. The error-tolerant grammar of tree-sitter knows the newer forms, so they can be
put into older words, on the same lines: ``except A, B:`` gets its brackets (PEP 758), a template string becomes an f-string (PEP 750),
quotes inside f-strings are changed where they end the string for an older Python (PEP 701), type parameters are left out (PEP 695, 696).
What then still cannot be parsed is left out, one statement at a time; all else is scanned as always.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.catalogue.scanners.trees import MAX_DEPTH, parse

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_REPAIRS = 12
"""Statements left out one after the other where :mod:`ast` says that it stops; then each statement is tried by itself."""

MAX_BYTES = 1_000_000
"""A larger file is not taken apart: it is a table or an attack."""

LARGE = 300_000
"""Bytes of a file that is not parsed again and again."""

FORMS = frozenset({"except_clause", "string", "type_parameter", "type_alias_statement", "raise_statement", "print_statement"})
STATEMENTS = re.compile(r"(?:\w+_statement|\w+_definition|decorated_definition)\Z")
UNKNOWN = b"..."


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes to be put in place of others."""

    start: int
    end: int
    text: bytes


def parse_tolerantly(text: str) -> ast.Module | None:
    """The syntax tree of what can be read of a module, with the lines of the module; None when nothing can."""
    data = text.encode("utf-8", "surrogatepass")
    if b"\0" in data or len(data) > MAX_BYTES:
        return None
    data = _apply(data, _modernisms(parse("python", data).root_node, data))
    if (tree := _parsed(data)) is not None:
        return tree
    data = _apply(data, _broken(parse("python", data).root_node))
    for _ in range(MAX_REPAIRS if len(data) < LARGE else 1):
        try:
            return _if_any(ast.parse(data))
        except SyntaxError as error:
            edit = _statement_at(parse("python", data).root_node, error.lineno or 1)
            if edit is None or (changed := _apply(data, [edit])) == data:
                break
            data = changed
        except (ValueError, RecursionError, MemoryError):
            break
    return _by_statement(data)


def _parsed(data: bytes) -> ast.Module | None:
    try:
        return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _apply(data: bytes, edits: Iterable[Edit]) -> bytes:
    """The text after some edits, none of which moves a line; of two that overlap, the outer one."""
    pieces: list[bytes] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end)):
        if edit.start < at:
            continue
        lost = data.count(b"\n", edit.start, edit.end) - edit.text.count(b"\n")
        pieces += [data[at : edit.start], edit.text, b"\n" * max(lost, 0)]
        at = edit.end
    return b"".join([*pieces, data[at:]])


def _walk(root: Node) -> Iterator[Node]:
    """All nodes below one, outer ones first."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.named_children


# -------------------------------------------------------------------------------------------------------- newer forms


def _modernisms(root: Node, data: bytes) -> Iterator[Edit]:
    """What an older Python writes otherwise."""
    for node in _walk(root):
        if node.type not in FORMS:
            continue
        if node.type == "except_clause":
            values = node.children_by_field_name("value")
            if len(values) > 1 and data[values[0].start_byte : values[0].start_byte + 1] != b"(":
                yield Edit(values[0].start_byte, values[0].start_byte, b"(")
                yield Edit(values[-1].end_byte, values[-1].end_byte, b")")
        elif node.type == "type_parameter":
            before = node.parent
            if before is not None and before.type in ("function_definition", "class_definition"):
                yield _without_parameters(node, before)
        elif node.type == "type_alias_statement":
            yield from _alias(node)
        elif node.type == "string":
            yield from _string(node, data)
        elif node.type == "raise_statement":
            yield from _raise(node)


def _without_parameters(node: Node, definition: Node) -> Edit:
    """Type parameters left out; when they take several lines, the brackets behind them do so instead."""
    given = definition.child_by_field_name("parameters" if definition.type == "function_definition" else "superclasses")
    if given is not None:
        return Edit(node.start_byte, given.start_byte + 1, b"(")
    breaks = (node.text or b"").count(b"\n")
    return Edit(node.start_byte, node.end_byte, b"(" + b"\n" * breaks + b")")


def _alias(node: Node) -> Iterator[Edit]:
    """``type Name[T] = value`` without its word and parameters."""
    left = node.child_by_field_name("left")
    name = next((child for child in _walk(left) if child.type == "identifier"), None) if left is not None else None
    if left is not None and name is not None:
        yield Edit(node.start_byte, left.end_byte, name.text or b"_")


def _raise(node: Node) -> Iterator[Edit]:
    """``raise Error, "text"``, as Python 2 had it."""
    given = node.named_children[0] if node.named_children else None
    if given is not None and given.type == "expression_list" and len(given.named_children) == 2:
        error, text = given.named_children
        yield Edit(error.end_byte, text.start_byte, b"(")
        yield Edit(text.end_byte, text.end_byte, b")")


def _string(node: Node, data: bytes) -> Iterator[Edit]:
    start = node.children[0] if node.children else None
    if start is None or start.type != "string_start":
        return
    opening = start.text or b""
    prefix = opening.rstrip(b"'\"")
    formatted = prefix.replace(b"t", b"f").replace(b"T", b"f")
    quote = opening[len(prefix) :]
    inside = [
        Edit(child.start_byte - node.start_byte, child.end_byte - node.start_byte, text)
        for child in node.named_children
        if child.type == "interpolation" and (text := _within(child, quote, data)) is not None
    ]
    if len(quote) == 1 and any(child.start_point[0] != child.end_point[0] for child in node.named_children):
        # Lines may break inside the braces only for a newer Python: the whole string goes on one line.
        whole = _apply(formatted + data[start.start_byte + len(prefix) : node.end_byte], inside)
        whole = whole.replace(b"\\\n", b"").replace(b"\n", b"")
        yield Edit(node.start_byte, node.end_byte, whole)
        return
    if formatted != prefix:
        yield Edit(start.start_byte, start.start_byte + len(prefix), formatted)
    for edit in inside:
        yield Edit(node.start_byte + edit.start, node.start_byte + edit.end, edit.text)


def _within(node: Node, quote: bytes, data: bytes) -> bytes | None:
    """The inside of an f-string's braces as Python 3.11 can read it, or None when it can already."""
    text = data[node.start_byte : node.end_byte]
    broken = b"\n" in text and len(quote) == 1
    if quote[:1] not in text and b"\\" not in text and b"#" not in text and not broken:
        return None
    other = b'"' if quote[:1] == b"'" else b"'"
    if broken and quote[:1] not in text and b"\\" not in text and b"#" not in text:
        return b"{" + b" ".join(text[1:-1].split()) + b"}"
    if len(quote) == 3 and quote not in text and b"\\" not in text and b"#" not in text:
        return None
    if other not in text and b"\\" not in text and b"#" not in text and not broken:
        return text.replace(quote[:1], other)
    expression = node.child_by_field_name("expression") or (node.named_children[0] if node.named_children else None)
    if expression is None:
        return None
    rest = data[expression.end_byte : node.end_byte]
    plain = quote[:1] not in rest and b"\\" not in rest and b"\n" not in rest
    return b"{" + UNKNOWN + (rest.strip() if plain and rest.strip()[:1] in (b"!", b":", b"}") else b"}")


# -------------------------------------------------------------------------------------------------------- broken code


def _leave_out(node: Node) -> Edit:
    """A statement replaced by one that does nothing."""
    return Edit(node.start_byte, node.end_byte, b"pass")


def _broken(root: Node) -> Iterator[Edit]:
    """The smallest statements that hold an error."""
    waiting = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        inner = [child for child in _statements(node) if child.has_error] if depth < MAX_DEPTH else []
        own = any(child.is_error or child.is_missing or (child.has_error and child not in inner) for child in _parts(node))
        if node.type == "ERROR":
            yield Edit(node.start_byte, node.end_byte, b"")
        elif own and STATEMENTS.match(node.type):
            if node.child_by_field_name("body") is not None and not _is_simple(node):
                yield from _headless(node)
            else:
                yield _leave_out(node)
                continue
        waiting += [(child, depth + 1) for child in inner]


def _headless(node: Node) -> Iterator[Edit]:
    """A compound statement whose head is broken: a head that holds, so that its block stays."""
    body = node.child_by_field_name("body")
    if body is not None:
        yield Edit(node.start_byte, body.start_byte, b"if 1:" + (b" " if node.start_point[0] == body.start_point[0] else b""))


def _is_simple(node: Node) -> bool:
    body = node.child_by_field_name("body")
    return body is None or body.start_point[0] == node.start_point[0]


def _parts(node: Node) -> list[Node]:
    """The children of a statement outside of its blocks."""
    return [child for child in node.children if child.type != "block" and not child.type.endswith("_clause")]


def _statements(node: Node) -> Iterator[Node]:
    """The statements directly inside a module, a block, or the blocks of a statement."""
    for child in node.named_children:
        if child.type in ("block", "ERROR") or child.type.endswith("_clause"):
            yield from _statements(child)
            if child.type == "ERROR":
                yield child
        elif STATEMENTS.match(child.type):
            yield child


def _statement_at(root: Node, line: int) -> Edit | None:
    """The smallest statement around the start of a line, left out."""
    found: Node | None = None
    node = root
    for _ in range(MAX_DEPTH):
        inner = next((child for child in _statements(node) if child.start_point[0] < line <= child.end_point[0] + 1), None)
        if inner is None:
            break
        found = node = inner
    return _leave_out(found) if found is not None else None


def _by_statement(data: bytes) -> ast.Module | None:
    """The statements that can be parsed one by one; of a class or function that cannot, those inside it."""
    body: list[ast.stmt] = []
    waiting = list(_statements(parse("python", data).root_node))[::-1]
    budget = 20 * len(data) + 100_000
    while waiting and budget > 0:
        node = waiting.pop()
        text = data[node.start_byte : node.end_byte]
        budget -= len(text)
        column = node.start_point[1]
        slice_ = (b"if 1:\n" + b" " * column + text) if column else text
        tree = _parsed(slice_)
        if tree is None:
            waiting += list(_statements(node))[::-1]
            continue
        found = tree.body
        if column and isinstance(found[0], ast.If):
            found = found[0].body
        for statement in found:
            ast.increment_lineno(statement, node.start_point[0] - (1 if column else 0))
        body += found
    return _if_any(ast.Module(body, []))


def _if_any(tree: ast.Module) -> ast.Module | None:
    """The tree, unless nothing is left in it."""
    empty = (ast.Module, ast.Pass, ast.If, ast.Constant)
    return tree if any(not isinstance(node, empty) for node in ast.walk(tree)) else None
