"""What a C++ expression says when it is streamed or handed to an exception: texts with holes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from bot.catalogue.scanners.python.parts import MAX_ALTERNATIVES, Parts, Texts, cross, distinct, join, words, written
from bot.catalogue.scanners.trees import one_line, text_of
from bot.model import Hole

if TYPE_CHECKING:
    from tree_sitter import Node

ESCAPE = re.compile(
    r"\\(?:([abfnrtv0'\"?\\])(?![0-7])|x([0-9A-Fa-f]{1,8})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-7]{1,3})|\n|(.))", re.DOTALL
)
SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}

PRINTF = re.compile(
    r"%(?:%|(?P<flags>[-+ #0]{0,5})(?P<width>\*|\d{0,4})(?:\.(?P<precision>\*|\d{0,4}))?(?:hh?|ll?|[jztLq])?(?P<kind>[a-zA-Z]))"
)
FORMAT = re.compile(r"\{\{|\}\}|\{(?P<name>[A-Za-z_0-9]{0,60})(?P<spec>:[^{}]{0,60})?\}")

LITERALS = frozenset({"string_literal", "raw_string_literal", "concatenated_string", "user_defined_literal", "char_literal"})
SAME = frozenset({"string", "string_view", "String", "move", "forward", "to_string", "c_str", "str", "StrCat", "concat", "to"})
"""Functions whose text is that of their arguments, one after the other."""

JOINS = frozenset({"str", "StrCat", "concat", "to"})
FORMATS = frozenset({"format", "Format", "vformat", "fmtstr"})
PRINTS = frozenset({"StringPrintf", "StrFormat", "sprintf", "strprintf", "fmtstr_c", "stringf", "PrintfFormat"})

MAX_TERMS = 200
"""Pieces of one text that are read; longer sums are generated."""

LookUp = Callable[["Node"], Texts | None]


def unescape(text: str) -> str:
    """The characters that the inside of a C++ literal stands for."""
    return ESCAPE.sub(_character, text) if "\\" in text else text


def _character(match: re.Match[str]) -> str:
    simple, *codes, octal, other = match.groups()
    if simple is not None:
        return SIMPLE.get(simple, simple)
    for number, base in ((next(filter(None, codes), None), 16), (octal, 8)):
        if number is not None:
            value = int(number, base)
            return chr(value) if value < 0x110000 and not 0xD800 <= value < 0xE000 else "�"
    return other or ""


def hole(node: Node | str, suffix: str = "") -> Hole:
    """The hole that an expression leaves."""
    text = one_line(node if isinstance(node, str) else text_of(node))
    return written(text, suffix) if text and len(text) < 200 else Hole("...")


class Reader:
    """Reads expressions; ``look_up`` answers for variables whose text is known."""

    def __init__(self, look_up: LookUp = lambda node: None) -> None:
        self.look_up = look_up
        self.depth = 0

    def message(self, nodes: Sequence[Node], between: str = "") -> Texts:
        """What several expressions say, printed one after the other."""
        pieces: list[tuple[Texts, Hole | None]] = []
        for at, node in enumerate(nodes[:MAX_TERMS]):
            if at and between:
                pieces.append((((between,),), None))
            pieces.append((self.texts(node) or ((hole(node),),), hole(node)))
        return cross(pieces)

    def texts(self, node: Node) -> Texts | None:
        """What an expression says, when it is in part a known text."""
        if self.depth > 60:
            return None
        self.depth += 1
        try:
            return self._texts(node)
        finally:
            self.depth -= 1

    def _texts(self, node: Node) -> Texts | None:
        kind = node.type
        if kind in LITERALS:
            return (join((self._literal(node),)),)
        if kind == "number_literal":
            number = text_of(node)
            return ((number,),) if number.isdigit() and (number == "0" or number[0] != "0") else None
        if kind in ("parenthesized_expression", "condition_clause") and node.named_child_count == 1:
            return self.texts(node.named_children[0])
        if kind == "binary_expression":
            return self._operation(node)
        if kind == "conditional_expression":
            return self._choice(node)
        if kind == "call_expression":
            return self._call(node)
        if kind in ("identifier", "qualified_identifier"):
            return self.look_up(node)
        if kind in ("compound_literal_expression", "initializer_list") and (value := node.named_children[-1:]):
            return self.texts(value[0]) if kind == "initializer_list" or value[0].type == "initializer_list" else None
        return None

    def _literal(self, node: Node) -> Parts:
        if node.type == "raw_string_literal":
            return tuple(text_of(child) for child in node.children if child.type == "raw_string_content")
        if node.type == "user_defined_literal":
            return self._literal(node.children[0]) if node.children[0].type in LITERALS else (hole(node),)
        if node.type == "concatenated_string":
            return tuple(
                part
                for child in node.named_children
                if child.type != "comment"
                for part in (self._literal(child) if child.type in LITERALS else self._named(child))
            )
        text = text_of(node)
        quote = "'" if node.type == "char_literal" else '"'
        return (unescape(text[text.find(quote) + 1 : text.rfind(quote)]),)

    def _named(self, node: Node) -> Parts:
        """A name between literals: a macro for a format (``PRId64``) or for a text."""
        texts = self.look_up(node)
        return texts[0] if texts else (hole(node),)

    def _operation(self, node: Node) -> Texts | None:
        operator = node.child_by_field_name("operator")
        if operator is None or operator.type not in ("+", "<<"):
            return None
        terms = self.chain(node, operator.type)[:MAX_TERMS]
        read = [(term, self.texts(term)) for term in terms]
        if not any(texts and any(isinstance(part, str) for parts in texts for part in parts) for _, texts in read):
            return None
        if operator.type == "+" and all(term.type in ("number_literal", "char_literal") for term, texts in read if texts):
            return None  # arithmetic
        return cross([(texts or ((hole(term),),), hole(term)) for term, texts in read])

    @staticmethod
    def chain(node: Node, operator: str) -> list[Node]:
        """The operands of ``a + b + c`` or ``a << b << c``, in order."""
        terms: list[Node] = []
        at: Node | None = node
        while at is not None and at.type == "binary_expression" and (op := at.child_by_field_name("operator")) and op.type == operator:
            right = at.child_by_field_name("right")
            if right is not None:
                terms.append(right)
            at = at.child_by_field_name("left")
        if at is not None:
            terms.append(at)
        return terms[::-1]

    def _choice(self, node: Node) -> Texts | None:
        found: list[Parts] = []
        for name in ("consequence", "alternative"):
            branch = node.child_by_field_name(name)
            texts = self.texts(branch) if branch is not None else None
            if texts is None:
                return None
            found += texts
        if all(words(parts) < 4 or not any(" " in part for part in parts if isinstance(part, str)) for parts in found):
            return None  # a single word is better a hole: the alternatives would only repeat the sentence around it
        return distinct(found)[:MAX_ALTERNATIVES]

    def _call(self, node: Node) -> Texts | None:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None:
            return None
        given = [child for child in arguments.named_children if child.type != "comment"]
        name = called(function)
        if function.type == "field_expression" and name in ("c_str", "str", "data") and not given:
            value = function.child_by_field_name("argument")
            return self.texts(value) if value is not None else None
        if name in FORMATS and given:
            return self.formatted(given, FORMAT)
        if name in PRINTS and given:
            return self.formatted(given, PRINTF)
        if name in JOINS and given:
            return self.message(given)
        if name in SAME and len(given) == 1:
            return self.texts(given[0]) or (((hole(given[0]),),) if name == "to_string" else None)
        return None

    def formatted(self, given: Sequence[Node], style: re.Pattern[str]) -> Texts | None:
        """A format with its arguments: ``{}`` of std::format and fmt, or ``%d`` of printf; None when the format is not known."""
        texts = self.texts(given[0])
        if texts is None or not all(isinstance(part, str) for parts in texts for part in parts):
            return None
        return distinct(way for parts in texts for way in self._filled("".join(map(str, parts)), given[1:], style))

    def _filled(self, text: str, arguments: Sequence[Node], style: re.Pattern[str]) -> Texts:
        pieces: list[tuple[Texts, Hole | None]] = []
        at = next_one = 0
        for match in style.finditer(text):
            pieces.append((((text[at : match.start()],),), None))
            at = match.end()
            if match[0] in ("{{", "}}", "%%"):
                pieces.append((((match[0][0],),), None))
                continue
            number, suffix = next_one, ""
            if style is FORMAT:
                number = int(match["name"]) if match["name"].isdigit() else next_one
                suffix = match["spec"] or ""
            else:
                next_one += (match["width"] == "*") + (match["precision"] == "*")
                number = next_one
            next_one += 1
            if number >= len(arguments):
                name = match["name"] if style is FORMAT and match["name"] else "..."
                pieces.append((((hole(name, suffix),),), None))
                continue
            argument = arguments[number]
            texts = None if suffix else self.texts(argument)
            pieces.append((texts or ((hole(argument, suffix),),), hole(argument)))
        pieces.append((((text[at:],),), None))
        return cross(pieces)


def called(function: Node) -> str:
    """The bare name of a called function: ``to_string`` of ``std::to_string``, ``str`` of ``out.str``."""
    at: Node | None = function
    while at is not None:
        if at.type in ("qualified_identifier", "template_function", "dependent_name", "template_method", "template_type"):
            at = at.child_by_field_name("name")
        elif at.type == "field_expression":
            at = at.child_by_field_name("field")
        else:
            return text_of(at)
    return ""
