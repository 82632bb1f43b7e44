"""Rust: panics, ``bail!`` and ``anyhow!``, ``expect``, errors made from a text, and the texts of thiserror.

Read with tree-sitter. Arguments of macros are only tokens to it, so formats are read here (https://doc.rust-lang.org/std/fmt/).
Code that only runs in tests is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.catalogue.scanners import Known, Raised, Scanned
from bot.catalogue.scanners.python.parts import Parts, join, words, written
from bot.catalogue.scanners.trees import Ways, code, one_line, parse, source_text, text_of
from bot.catalogue.sources import SourceFile
from bot.model import Condition, Hole, Template
from bot.registry import SCANNERS

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_SITES = 5_000
MAX_CONDITION = 200
MAX_ATTRIBUTES = 20
"""Attributes and comments between an item and what is looked for."""

MAX_SIGNATURE = 400

NAMES = re.compile(
    rb"\b(?:panic|unreachable|todo|unimplemented|assert|assert_eq|assert_ne|debug_assert|debug_assert_eq|debug_assert_ne|bail|anyhow|eyre"
    rb"|ensure|whatever)(?=!\s{0,20}[(\[{])|\b(?:expect|context|with_context|expect_err|ok_or|ok_or_else|new_err|new|msg|custom|from|other|Err)"
    rb"(?=\(|::<)|\b[a-z_]{0,40}error(?=\()|\b[A-Z]\w{1,60}Error(?:::\w{1,60})?(?=\()|#\[error(?=\()"
)
FIELD = re.compile(r"\{\{|\}\}|\{(?P<name>[^{}:]{0,60})(?P<spec>:[^{}]{0,60})?\}")
ESCAPE = re.compile(r"\\(?:([nrt0\\'\"])|x([0-9A-Fa-f]{2})|u\{([0-9A-Fa-f_]{1,8})\}|\n\s*)")
SIMPLE = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}
TEST = re.compile(r"#\[(?:cfg\s?\((?:test|all\(test)|(?:\w{1,30}::)?test\b|rstest|bench\b)")
PYTHON_ERROR = re.compile(r"Py(?P<type>[A-Z]\w{0,60}(?:Error|Exception|Warning|Interrupt|Exit|Iteration))\Z")
"""An exception of PyO3: ``PyValueError::new_err("…")`` is Python's ValueError (https://pyo3.rs, "Python exceptions")."""

PANICS = {"panic": "", "unreachable": "internal error: entered unreachable code: ", "todo": "not yet implemented: ",
          "unimplemented": "not implemented: "}  # fmt: skip
OPERATORS = {"eq": "==", "ne": "!="}


@dataclass(frozen=True, slots=True)
class Said:
    """One error: its type, its text, and whether it is an assertion, with what is asserted."""

    type: str
    parts: Parts
    kind: str = "error"
    expression: str = ""


@SCANNERS.add("rust", suffixes=".rs")
def scan(file: SourceFile, known: Known) -> Scanned:
    """Rust source, by its syntax tree.

    Raises Unreadable for a file that is no text.
    """
    data = source_text(file.text)
    if NAMES.search(data) is None:
        return Scanned(())
    lines = data.decode("utf-8", "replace").split("\n")
    raised = []
    ways = Ways(parse("rust", data))
    for match in NAMES.finditer(data):
        path = ways.to(match.start(), match.end() if not match[0].startswith(b"#[") else match.start() + 1)
        if len(path) < 2:
            continue
        found = _read(path, match[0].decode(), data, match.end())
        if found is None or _is_test(path):
            continue
        said, first, last = found
        raised.append(_raised(file.path, said, path, first, last, lines))
        if len(raised) >= MAX_SITES:
            break
    return Scanned(tuple(raised))


def _read(path: list[Node], name: str, data: bytes, end: int) -> tuple[Said, int, int] | None:
    """What stands at a name, with its first and last line."""
    at = path[-1]
    if (
        "comment" in at.type
        or at.type in ("string_content", "string_literal", "raw_string_literal")
        or any(node.type == "macro_definition" for node in path)
    ):
        return None
    if name.startswith("#["):
        return _attribute(path, at)
    tokens, first = _tokens(path, data, end)
    if tokens is None:
        return None
    whole = _statement(path)
    arguments = _split(tokens)
    said = _macro(name, arguments) if data[end : end + 1] == b"!" else _call(name, path, arguments, data)
    if said is None:
        return None
    last = tokens.end_point[0] + 1
    if whole is not None and whole.start_point[0] + 1 <= first and whole.end_point[0] + 1 - whole.start_point[0] <= 30:
        return said, whole.start_point[0] + 1, whole.end_point[0] + 1
    return said, first, last


def _tokens(path: Sequence[Node], data: bytes, end: int) -> tuple[Node | None, int]:
    """The brackets with the arguments behind a name, and the line of the name."""
    first = path[-1].start_point[0] + 1
    for node in reversed(path[-6:]):
        cursor = node.walk()
        if cursor.goto_first_child_for_byte(end) is None:
            continue
        child = cursor.node
        for _ in range(3):
            if child is None or child.type not in ("!", "::", "type_arguments", "generic_function") or not cursor.goto_next_sibling():
                break
            child = cursor.node
        if child is not None and child.type in ("token_tree", "arguments") and child.start_byte >= end:
            gap = data[end : child.start_byte]
            if gap.strip() in (b"", b"!") or gap.startswith(b"::<"):
                return child, first
    return None, first


def _split(tokens: Node) -> list[list[Node]]:
    """Arguments between commas, each a list of nodes."""
    arguments: list[list[Node]] = [[]]
    for child in tokens.children[1:-1]:
        if child.type == ",":
            arguments.append([])
        elif "comment" not in child.type:
            arguments[-1].append(child)
    if arguments and not arguments[-1]:
        arguments.pop()
    return arguments


def _written(nodes: Sequence[Node]) -> str:
    """Source of some nodes, as it stands."""
    if not nodes:
        return ""
    parent = nodes[0].parent
    if parent is None:
        return one_line(" ".join(map(text_of, nodes)))
    raw = parent.text or b""
    return one_line(raw[nodes[0].start_byte - parent.start_byte : nodes[-1].end_byte - parent.start_byte].decode("utf-8", "replace"))


# ------------------------------------------------------------------------------------------------------------ texts


def _literal(nodes: Sequence[Node]) -> str | None:
    """The characters of an argument that is a string literal."""
    if len(nodes) != 1 or nodes[0].type not in ("string_literal", "raw_string_literal"):
        return None
    text = text_of(nodes[0])
    inner = text[text.find('"') + 1 : text.rfind('"')]
    return inner if nodes[0].type == "raw_string_literal" else ESCAPE.sub(_character, inner)


def _character(match: re.Match[str]) -> str:
    simple, byte, point = match.groups()
    if simple is not None:
        return SIMPLE.get(simple, simple)
    if byte or point:
        value = int((byte or point).replace("_", "") or "0", 16)
        return chr(value) if value < 0x110000 and not 0xD800 <= value < 0xE000 else "�"
    return ""


def _format(arguments: Sequence[Sequence[Node]]) -> Parts | None:
    """The text of a format and its arguments; None when the format is no literal."""
    text = _literal(arguments[0]) if arguments else None
    if text is None:
        return None
    named: dict[str, str] = {}
    positional: list[str] = []
    for argument in arguments[1:]:
        if len(argument) > 2 and argument[0].type == "identifier" and argument[1].type == "=":
            named[text_of(argument[0])] = _written(argument[2:])
        else:
            positional.append(_written(argument))
    return _filled(text, positional, named)


def _filled(text: str, positional: Sequence[str], named: dict[str, str]) -> Parts:
    parts: list[str | Hole] = []
    at = following = 0
    for match in FIELD.finditer(text):
        parts.append(text[at : match.start()])
        at = match.end()
        if match[0] in ("{{", "}}"):
            parts.append(match[0][0])
            continue
        name, suffix = match["name"].strip(), (match["spec"] or "").rstrip()
        if not name:
            expression = positional[following] if following < len(positional) else "..."
            following += 1
        elif name.isdigit():
            expression = positional[int(name)] if int(name) < len(positional) else name
        else:
            expression = named.get(name, name)
        parts.append(written(expression if len(expression) < 200 else "...", "" if suffix == ":" else suffix))
    parts.append(text[at:])
    return join((tuple(parts),))


def _text(nodes: Sequence[Node], depth: int = 4) -> Parts | None:
    """What one expression says: a literal, ``format!(…)``, ``"…".to_string()``, ``String::from("…")``, a closure that says one of them."""
    if (text := _literal(nodes)) is not None:
        return (text,)
    if not nodes or depth <= 0:
        return None
    if len(nodes) >= 3 and text_of(nodes[0]) == "format" and text_of(nodes[1]) == "!":
        return _format(_split(nodes[2]))
    if len(nodes) > 1:
        return _text(nodes[:1], depth - 1) if nodes[0].type in ("string_literal", "raw_string_literal") else None
    node = nodes[0]
    if node.type == "macro_invocation":
        macro = node.child_by_field_name("macro")
        if macro is not None and text_of(macro) in ("format", "std::format", "concat") and node.children[-1].type == "token_tree":
            return _format(_split(node.children[-1]))
    elif node.type == "call_expression":
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None:
            return None
        if function.type == "field_expression":
            name, value = function.child_by_field_name("field"), function.child_by_field_name("value")
            if name is not None and value is not None and text_of(name) in ("to_string", "into", "to_owned", "as_str", "clone"):
                return _text([value], depth - 1)
        elif text_of(function) in ("String::from", "Some", "Cow::from", "Cow::Borrowed", "Box::from", "Arc::from", "str::to_string"):
            return _text([*arguments.named_children], depth - 1)
    elif node.type in ("reference_expression", "parenthesized_expression") and node.named_children:
        return _text(node.named_children[-1:], depth - 1)
    elif node.type == "closure_expression":
        body = node.child_by_field_name("body")
        if body is not None and body.type == "block":
            return _text(body.named_children[-1:], depth - 1)
        return _text([body], depth - 1) if body is not None else None
    return None


# ----------------------------------------------------------------------------------------------------------- errors


def _macro(name: str, arguments: list[list[Node]]) -> Said | None:
    if name in PANICS:
        parts = _format(arguments)
        if parts is None:
            return Said("panic", (written(_written(arguments[0])),)) if arguments else None
        return Said("panic", join(((PANICS[name],), parts)))
    if name.endswith(("assert", "assert_eq", "assert_ne")):
        return _assertion(name.removeprefix("debug_"), arguments)
    if name == "ensure":
        parts = _format(arguments[1:])
        condition = _written(arguments[0]) if arguments else ""
        if parts is None and len(arguments) == 1:
            return Said("Error", (f"Condition failed: `{condition}`",), "assert", condition)
        return Said("Error", parts) if parts is not None else None
    parts = _format(arguments)
    return Said("Error", parts) if parts is not None else None


def _assertion(name: str, arguments: list[list[Node]]) -> Said | None:
    """What a failed assertion prints, as of Rust 1.73."""
    if name == "assert":
        if not arguments:
            return None
        parts = _format(arguments[1:])
        expression = _written(arguments[0])
        return Said("panic", parts if parts is not None else (f"assertion failed: {expression}",), "assert", "" if parts else expression)
    parts = _format(arguments[2:])
    if parts is None:
        return None  # its text has only the values
    left, right = (written(_written(side), ":?") for side in arguments[:2])
    head = f"assertion `left {OPERATORS[name[-2:]]} right` failed: "
    return Said("panic", join(((head,), parts, ("\n  left: ", left, "\n right: ", right))), "assert")


def _call(name: str, path: Sequence[Node], arguments: list[list[Node]], data: bytes) -> Said | None:
    if not arguments:
        return None
    if name in ("expect", "expect_err"):
        parts = _text(arguments[0]) if len(arguments) == 1 and data[path[-1].start_byte - 1 : path[-1].start_byte] == b"." else None
        return Said("panic", join((parts, (": ", Hole("error", ":?"))))) if parts is not None and words(parts) else None
    if name in ("context", "with_context"):
        parts = _text(arguments[0]) if len(arguments) == 1 else None
        return Said("Error", parts) if parts is not None and words(parts) > 3 else None
    if name in ("Err", "ok_or", "ok_or_else"):
        parts = _text(arguments[0]) if len(arguments) == 1 else None
        return Said("Error", parts) if parts is not None and words(parts) > 3 else None
    type = _made(path, name)
    if not type:
        return None
    parts = next((parts for argument in arguments if (parts := _text(argument)) is not None and words(parts) > 3), None)
    return Said(type, parts) if parts is not None else None


def _made(path: Sequence[Node], name: str) -> str:
    """The type of error that a call makes, e.g. ``ValueError`` for ``PyValueError::new_err``; empty when it makes none."""
    around = [node for node in path[-4:] if node.type in ("scoped_identifier", "generic_function")]
    function = around[0] if around else None
    parts = text_of(function).split("::") if function is not None else [name]
    parts = [part.partition("<")[0].strip() for part in parts if part.strip(" <>")]
    if function is not None and "PyErr" in parts and (given := re.search(r"<\s*(?:[\w:]{0,80}::)?(Py\w{1,60})", text_of(function))):
        parts = [given[1]]
    for part in reversed(parts):
        if python := PYTHON_ERROR.match(part):
            return python["type"]
        if re.match(r"[A-Z]\w{0,60}Error\Z|Error\Z", part):
            return part
    return ""


def _attribute(path: list[Node], at: Node) -> tuple[Said, int, int] | None:
    """``#[error("…")]`` of thiserror: the text of an enum's variant or of a struct."""
    item = next((node for node in reversed(path) if node.type == "attribute_item"), None)
    tokens = (
        next((child for child in item.named_children[0].named_children if child.type == "token_tree"), None) if item is not None else None
    )
    owner = item.next_named_sibling if item is not None else None
    for _ in range(MAX_ATTRIBUTES):
        if owner is None or not (owner.type == "attribute_item" or "comment" in owner.type):
            break
        owner = owner.next_named_sibling
    if item is None or tokens is None or owner is None:
        return None
    name = owner.child_by_field_name("name")
    parts = _format(_split(tokens))
    if name is None or parts is None or not words(parts):
        return None
    parts = tuple(Hole(part.expression.strip().lstrip("."), part.suffix) if isinstance(part, Hole) else part for part in parts)
    around = next((node for node in reversed(path) if node.type == "enum_item"), owner)
    type = around.child_by_field_name("name") or name
    path.append(owner)
    return Said(text_of(type), parts), item.start_point[0] + 1, owner.end_point[0] + 1


# ----------------------------------------------------------------------------------------------------------- places


def _statement(path: Sequence[Node]) -> Node | None:
    return next((node for node in reversed(path) if node.type in ("expression_statement", "let_declaration", "return_expression")), None)


def _is_test(path: Sequence[Node]) -> bool:
    """Whether code only runs in tests."""
    for node in path:
        if node.type in ("mod_item", "function_item"):
            before = node.prev_named_sibling
            for _ in range(MAX_ATTRIBUTES):
                if before is None or not (before.type == "attribute_item" or "comment" in before.type):
                    break
                if TEST.match(text_of(before)):
                    return True
                before = before.prev_named_sibling
    return False


def _raised(file: str, said: Said, path: Sequence[Node], first: int, last: int, lines: list[str]) -> Raised:
    names, signature = [], ""
    for node in path:
        if node.type in ("mod_item", "function_item", "trait_item", "enum_item", "enum_variant", "struct_item"):
            names.append(node.child_by_field_name("name"))
        elif node.type == "impl_item":
            names.append(node.child_by_field_name("type"))
        if node.type == "function_item" and (body := node.child_by_field_name("body")) is not None:
            head = (node.text or b"")[: body.start_byte - node.start_byte]
            signature = one_line(head.decode("utf-8", "replace"), MAX_SIGNATURE)
    function = "::".join(text_of(name).partition("<")[0] for name in names if name is not None)
    return Raised(
        type=said.type,
        template=Template.of(*said.parts),
        kind=said.kind,
        expression=said.expression,
        path=file,
        line=first,
        end_line=last,
        function=function or "<module>",
        code=code(lines, first, last),
        conditions=tuple(_conditions(path)),
        signature=signature,
    )


def _conditions(path: Sequence[Node]) -> Iterator[Condition]:
    """What leads to the last node of a path, within its function, outermost first."""
    start = max((at for at, node in enumerate(path) if node.type in ("function_item", "closure_expression")), default=len(path))
    for outer, inner in zip(path[start:], path[start + 1 :], strict=False):
        condition = outer.child_by_field_name("condition")
        if outer.type == "if_expression" and condition is not None and inner != condition:
            yield Condition("unless" if inner.type == "else_clause" else "if", one_line(text_of(condition), MAX_CONDITION))
        elif outer.type == "while_expression" and condition is not None and inner != condition:
            yield Condition("while", one_line(text_of(condition), MAX_CONDITION))
        elif outer.type == "for_expression" and inner == outer.child_by_field_name("body"):
            fields = [outer.child_by_field_name(name) for name in ("pattern", "value")]
            yield Condition("for", one_line(" in ".join(text_of(field) for field in fields if field is not None), MAX_CONDITION))
        elif outer.type == "match_arm" and inner != (pattern := outer.child_by_field_name("pattern")) and pattern is not None:
            yield Condition("if", one_line(f"case {text_of(pattern)}", MAX_CONDITION))
