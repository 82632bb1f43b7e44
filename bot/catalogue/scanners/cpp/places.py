"""Where a check stands: the function around it, what leads to it, and what the variables before it hold."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.catalogue.scanners.cpp.text import LITERALS, Reader, hole
from bot.catalogue.scanners.python.parts import Texts, cross
from bot.catalogue.scanners.trees import one_line, text_of
from bot.model import Condition, Hole

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_CONDITIONS = 24
MAX_CONDITION = 200
MAX_SIGNATURE = 400
MAX_EARLIER = 3
"""How many of the tests that left a block before the statement are named, the nearest ones."""

MAX_STATEMENTS = 60
"""How many statements before a check are looked at for what a variable holds."""

BLOCKS = frozenset({"compound_statement", "declaration_list", "translation_unit", "field_declaration_list", "case_statement"})
LEAVES = frozenset({"return_statement", "throw_statement", "continue_statement", "break_statement", "goto_statement"})
STREAMS = re.compile(r"\b(?:std::)?(?:o?stringstream|ostringstream)\b")
ARGUMENTS = re.compile(r"<[^<>]{0,300}>")


def function_of(path: Sequence[Node], blocks: Blocks) -> str:
    """The qualified name of the function around: ``ns::Class::method``; empty outside of one."""
    names: list[str] = []
    inside = False
    for at, node in enumerate(path):
        if node.type in ("namespace_definition", "class_specifier", "struct_specifier", "union_specifier") and not inside:
            if (name := node.child_by_field_name("name")) is not None:
                names.append(one_line(text_of(name), 200))
        elif node.type == "function_definition":
            if (name := _declared(node.child_by_field_name("declarator"))) is not None:
                names.append(one_line(text_of(name), 200))
                inside = True
        elif (
            node.type == "ERROR" and not inside and at + 1 < len(path) and (found := blocks.broken_function(node, path[at + 1])) is not None
        ):
            names.append(one_line(text_of(found), 200))
            inside = True
    if not inside:
        return ""
    joined = "::".join(names)
    while (bare := ARGUMENTS.sub("", joined)) != joined:
        joined = bare
    return joined


def _declared(declarator: Node | None) -> Node | None:
    """The name in a function's declarator, below pointers and references."""
    at = declarator
    for _ in range(20):
        if at is None or at.type in ("identifier", "qualified_identifier", "field_identifier", "destructor_name", "operator_name"):
            return at
        if at.type in ("template_function", "operator_cast"):
            return at
        inner = at.child_by_field_name("declarator")
        at = inner if inner is not None else next((child for child in at.named_children if "declarator" in child.type), None)
    return None


def signature_of(path: Sequence[Node]) -> str:
    """The head of the function around, on one line."""
    for node in reversed(path):
        if node.type == "function_definition":
            body = node.child_by_field_name("body")
            head = (node.text or b"")[: (body.start_byte if body is not None else node.end_byte) - node.start_byte]
            return one_line(head.decode("utf-8", "replace"), MAX_SIGNATURE)
    return ""


class Blocks:
    """The statements of blocks, each read once: what leaves a block early, and which texts variables hold."""

    def __init__(self) -> None:
        self._children: dict[int, list[Node]] = {}
        self._leaving: dict[int, list[tuple[int, str]]] = {}
        self._constants: dict[int, dict[str, Node]] = {}

    def children(self, block: Node) -> list[Node]:
        """The statements of a block."""
        found = self._children.get(block.id)
        if found is None:
            found = self._children[block.id] = block.named_children
        return found

    def before(self, block: Node, inner: Node) -> list[Node]:
        """The last statements of a block before a node in it."""
        children = self.children(block)
        end = bisect_left(children, inner.start_byte, key=lambda node: node.start_byte)
        return children[max(0, end - MAX_STATEMENTS) : end]

    def broken_function(self, error: Node, inside: Node) -> Node | None:
        """The name of the last function that began before a node in code that could not be parsed as a whole."""
        near = (node for node in reversed(self.before(error, inside)) if node.type == "function_declarator")
        return _declared(next(near, None))

    # -------------------------------------------------------------------------------------------------- conditions

    def conditions(self, path: Sequence[Node]) -> tuple[Condition, ...]:
        """What leads to the last node of a path, outermost first."""
        kept: list[Condition] = []
        start = max((at for at, node in enumerate(path) if node.type in ("function_definition", "lambda_expression")), default=0)
        for outer, inner in zip(path[start:], path[start + 1 :], strict=False):
            kept += self._of(outer, inner)
        return tuple(kept[-MAX_CONDITIONS:])

    def _of(self, outer: Node, inner: Node) -> list[Condition]:
        kind = outer.type
        if kind == "if_statement" and inner.type != "condition_clause":
            return [Condition("unless" if inner.type == "else_clause" else "if", _tested(outer))]
        if kind in ("for_statement", "for_range_loop", "while_statement", "do_statement") and inner == outer.child_by_field_name("body"):
            if kind == "for_range_loop":
                text = f"{_field(outer, 'declarator')} : {_field(outer, 'right')}"
            elif kind == "for_statement":
                text = _field(outer, "condition")
            else:
                text = _tested(outer)
            return [Condition("for" if kind.startswith("for") else "while", text)] if text else []
        if kind == "case_statement":
            value = outer.child_by_field_name("value")
            return [Condition("if", f"case {one_line(text_of(value), MAX_CONDITION)}")] if value is not None else []
        if kind == "catch_clause" and inner.type == "compound_statement":
            parameters = outer.child_by_field_name("parameters")
            return [Condition("except", one_line(text_of(parameters).strip("()"), MAX_CONDITION))] if parameters is not None else []
        if kind == "compound_statement":
            left = self._left(outer)
            end = bisect_left(left, inner.start_byte, key=lambda one: one[0])
            return [Condition("unless", text) for _, text in left[max(0, end - MAX_EARLIER) : end]]
        return []

    def _left(self, block: Node) -> list[tuple[int, str]]:
        """The tests that leave a block: where each stands, and its condition."""
        found = self._leaving.get(block.id)
        if found is None:
            found = [
                (node.start_byte, _tested(node))
                for node in self.children(block)
                if node.type == "if_statement" and node.child_by_field_name("alternative") is None and _leaves(node)
            ]
            self._leaving[block.id] = found
        return found

    # --------------------------------------------------------------------------------------------------- variables

    def reader(self, path: Sequence[Node]) -> Reader:
        """A reader of expressions at the end of a path, which knows what was set before."""
        busy: set[str] = set()

        def look_up(node: Node) -> Texts | None:
            name = text_of(node)
            if name in busy or len(busy) > 8:
                return None
            busy.add(name)
            try:
                return self._value(name, path, reader)
            finally:
                busy.discard(name)

        reader = Reader(look_up)
        return reader

    def _value(self, name: str, path: Sequence[Node], reader: Reader) -> Texts | None:
        added: list[tuple[Texts, Hole | None]] = []
        for block, inner in zip(path[-2::-1], path[:0:-1], strict=False):
            if block.type not in BLOCKS:
                continue
            if block.type in ("declaration_list", "translation_unit", "field_declaration_list"):
                value = self._constant(block, name)
                if value is not None and not added:
                    return reader.texts(value)
                continue
            for statement in reversed(self.before(block, inner)):
                set_to = _sets(statement, name, reader)
                if set_to is None:
                    continue
                begins, texts = set_to
                if begins and not texts and not added:
                    return None
                if texts:
                    added.append((texts, None))
                if begins:
                    texts = cross(added[::-1])
                    return texts if any(isinstance(part, str) for parts in texts for part in parts) else None
        return None

    def _constant(self, block: Node, name: str) -> Node | None:
        known = self._constants.get(block.id)
        if known is None:
            known = self._constants[block.id] = {}
            for node in self.children(block)[:5000]:
                if node.type in ("declaration", "field_declaration"):
                    for declared in node.named_children:
                        value = declared.child_by_field_name("value") if declared.type == "init_declarator" else None
                        if value is not None and value.type in LITERALS:
                            known[text_of(declared).split("=")[0].replace("*", " ").replace("[]", " ").split()[-1]] = value
        return known.get(name)


def _sets(statement: Node, name: str, reader: Reader) -> tuple[bool, Texts] | None:
    """What a statement does to a variable: whether it sets it anew, and the text that it then holds or that is added."""
    if statement.type == "declaration":
        for declared in statement.named_children:
            if (
                declared.type == "init_declarator"
                and text_of(declared).lstrip("*& ").partition("=")[0].strip().split("(")[0].split("{")[0] == name
            ):
                value = declared.child_by_field_name("value")
                given = value.named_children if value is not None and value.type == "argument_list" else [value]
                texts = reader.texts(given[0]) if len(given) == 1 and given[0] is not None else None
                return True, texts or ()
            if declared.type == "identifier" and text_of(declared) == name:
                return True, ((),) if STREAMS.search(text_of(statement)) or "string" in text_of(statement) else ()
        return None
    if statement.type != "expression_statement" or not statement.named_children:
        text = statement.text or b""
        mentions = len(text) < 20_000 and re.search(rb"\b" + re.escape(name.encode()) + rb"\s*(?:<<|\+?=[^=])", text)
        return (False, ((Hole("..."),),)) if mentions else None
    node = statement.named_children[0]
    if node.type == "assignment_expression":
        left, right, operator = (node.child_by_field_name(field) for field in ("left", "right", "operator"))
        if left is None or right is None or operator is None or text_of(left) != name:
            return None
        texts = reader.texts(right)
        return (True, texts or ()) if operator.type == "=" else (False, texts or ((hole(right),),))
    if node.type == "binary_expression":
        terms = Reader.chain(node, "<<")
        if len(terms) > 1 and text_of(terms[0]) == name:
            return False, reader.message(terms[1:])
    return None


def _tested(node: Node) -> str:
    condition = node.child_by_field_name("condition")
    text = one_line(text_of(condition), MAX_CONDITION) if condition is not None else ""
    return text[1:-1].strip() if text.startswith("(") and text.endswith(")") else text


def _field(node: Node, name: str) -> str:
    field = node.child_by_field_name(name)
    return one_line(text_of(field), MAX_CONDITION) if field is not None else ""


def _leaves(node: Node) -> bool:
    """Whether an ``if`` always leaves the block around it."""
    body = node.child_by_field_name("consequence")
    if body is None:
        return False
    last = body.named_children[-1] if body.type == "compound_statement" and body.named_children else body
    return last.type in LEAVES
