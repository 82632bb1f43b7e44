"""C++ and CUDA: checks that fail, ``throw``, and what ends the program.

Read with tree-sitter, which goes on behind what it does not understand: macros that hide half a statement, branches of ``#if`` that open
one brace twice. A check is known by its name, found with a pattern, and read in the tree around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from os.path import commonpath
from typing import TYPE_CHECKING

from bot.catalogue.scanners import Known, Offer, Raised, Scanned
from bot.catalogue.scanners.cpp import checks
from bot.catalogue.scanners.cpp.checks import Printed, Use
from bot.catalogue.scanners.cpp.defined import Macro, macros
from bot.catalogue.scanners.cpp.places import Blocks, function_of, signature_of
from bot.catalogue.scanners.cpp.text import called
from bot.catalogue.scanners.trees import Ways, code, parse, path_to, source_text, text_of
from bot.catalogue.sources import SourceFile
from bot.model import Template
from bot.registry import SCANNERS

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

MAX_SITES = 5_000
"""Sites of one file; more have only generated tables."""

MAX_EXPANDED = 3
"""How many macros inside each other are put in."""

CUDA = re.compile(
    rb"__(?:global|device|host|shared|constant|forceinline|noinline|restrict|grid_constant)__"
    rb"|__launch_bounds__\s{0,4}\([^()]{0,120}\)|<<<[^;{}]{0,400}>>>|\[\[[a-z_: ]{1,30}\]\]"
)
"""What CUDA adds to C++, and attributes: taken out before parsing, with all places kept."""

PANIC = re.compile(r'\bpanic\([^;{}]{0,300}\{[^{}"]{0,300}<<\s{0,4}"([^"\\\n]{1,60})"')
"""How sglang's ``panic`` begins its message: it reads otherwise in other releases."""

INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]{1,200})', re.MULTILINE)

PANICS = "cpp:panic"
FIXED = re.compile(r"(?:STD_)?TORCH_|TVM_FFI_|AT_|C10_|PyErr_|RuntimeCheck|Panic|panic|throw")
"""Known whatever else defines them."""


@SCANNERS.add("cpp", suffixes=".cc .cpp .cxx .cu .cuh .h .hpp .hh")
def scan(file: SourceFile, known: Known) -> Scanned:
    """C++ and CUDA source, by its syntax tree.

    Raises Unreadable for a file that is no text.
    """
    data = source_text(file.text)
    if checks.NAMES.search(data) is None:
        return Scanned(())
    text = data.decode("utf-8", "replace")
    own = macros(text)
    panics = tuple(match[1] for match in PANIC.finditer(text))[:1]
    walk = Walk(file.path, data, own, known, panics)
    raised = sorted(walk.raised(), key=lambda one: one.line)
    offers = [(f"cpp:macro:{name}", Offer(file.path, macro)) for name, macro in own.items()]
    offers += [(PANICS, Offer(file.path, panic)) for panic in panics]
    return Scanned(tuple(raised), tuple(offers), frozenset(walk.wants))


class Walk:
    """One file: its tree, the macros that it knows, and what it wants of others."""

    def __init__(self, path: str, data: bytes, own: dict[str, Macro], known: Known, panics: tuple[str, ...]) -> None:
        self.path = path
        self.own = own
        self.known = known
        self.wants: set[str] = set()
        self._panics = panics
        self.data = CUDA.sub(lambda match: re.sub(rb"[^\n]", b" ", match[0]), data)
        self.included = tuple(match.decode("utf-8", "replace").lstrip("./") for match in INCLUDE.findall(data))
        self.text_lines = data.decode("utf-8", "replace").split("\n")

    def raised(self) -> Iterator[Raised]:
        """What the file raises."""
        tree = parse("cpp", self.data)
        blocks = Blocks()
        count = 0
        for path, printed in self._found(tree, self.data, blocks, 0):
            statement = _statement(path)
            first, last = statement.start_point[0] + 1, statement.end_point[0] + 1
            site = path[-1].start_point[0] + 1
            function = function_of(path, blocks)
            conditions = blocks.conditions(path)
            for texts in printed.texts:
                count += 1
                if count > MAX_SITES:
                    return
                yield Raised(
                    type=printed.type,
                    template=Template.of(*texts),
                    kind=printed.kind,
                    expression=printed.expression,
                    path=self.path,
                    line=first if statement.type != "ERROR" else site,
                    end_line=min(last, first + 60) if statement.type != "ERROR" else site,
                    function=function or "<module>",
                    code=code(self.text_lines, first, last) if statement.type != "ERROR" else code(self.text_lines, site, site),
                    conditions=(*conditions, printed.condition) if printed.condition else conditions,
                    signature=signature_of(path),
                )

    def _found(self, tree: Tree, data: bytes, blocks: Blocks, depth: int) -> Iterator[tuple[list[Node], Printed]]:
        """The checks of a tree: the way to each, and what it prints."""
        seen: set[tuple[int, int]] = set()
        ways = Ways(tree)
        for match in checks.NAMES.finditer(data):
            name = match[0].decode()
            if name in ("printf", "fprintf") and not depth:
                continue
            path = ways.to(match.start(), match.end())
            if path[-1].type == "throw":
                path.pop()
                if path[-1].type == "throw_statement" and (printed := checks.thrown(path[-1], blocks.reader(path))) is not None:
                    yield path, printed
                continue
            if (use := self._use(path, name, blocks)) is None or (place := (path[-1].start_byte, path[-1].end_byte)) in seen:
                continue
            seen.add(place)
            for printed in self._printed(use, path, data, depth):
                yield path, printed

    def _use(self, path: list[Node], name: str, blocks: Blocks) -> Use | None:
        """The call of a check around its name; ``path`` then ends with the whole of it, streamed texts included."""
        if path[-1].type not in ("identifier", "type_identifier", "field_identifier"):
            return None  # in a comment, a literal, or the body of a macro
        at = len(path) - 1
        while at and path[at].type in ("identifier", "type_identifier", "qualified_identifier", "template_function", "field_identifier"):
            at -= 1
        call = path[at]
        if name == "SGL_PANIC" and call.type == "binary_expression" and _is_stream(call, path[at + 1]):
            return self._streamed(path, at, name, blocks)
        if call.type != "call_expression":
            return self._misread(path, name, blocks)
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        if function is None or arguments is None or called(function) != name or function.end_byte < path[-1].end_byte:
            return None
        top = _cut_to_stream(path, at)
        reader = blocks.reader(path)
        streamed = reader.chain(path[-1], "<<")[1:] if top < at else []
        given = tuple(child for child in arguments.named_children if child.type != "comment")
        return Use(name, given, tuple(streamed), reader, self._panic(name))

    def _streamed(self, path: list[Node], at: int, name: str, blocks: Blocks) -> Use:
        """A text that is streamed into a name without arguments."""
        _cut_to_stream(path, at)
        reader = blocks.reader(path)
        return Use(name, (), tuple(reader.chain(path[-1], "<<")[1:]), reader, self._panic(name))

    def _misread(self, path: list[Node], name: str, blocks: Blocks) -> Use | None:
        """A check that was read as a declaration (``CHECK_INPUT(x);`` outside of what is known to be a function)."""
        for at in range(len(path) - 1, max(len(path) - 6, 0), -1):
            node = path[at]
            if node.type in ("function_definition", "preproc_def", "preproc_function_def", "using_declaration", "class_specifier"):
                return None
            if node.type in ("expression_statement", "declaration", "ERROR"):
                text = self.data[path[-1].start_byte : node.end_byte][:4000]
                if node.type != "ERROR" and b"(" in text and any(one.type == "compound_statement" for one in path[:at]):
                    return self._reread(path[: at + 1], text, name, blocks, path)
                if node.type == "ERROR" and (end := _end_of_statement(text)) and b'"' in text[:end]:
                    return self._reread(path[: at + 1], text[:end], name, blocks, path)
                return None
        return None

    def _reread(self, around: list[Node], text: bytes, name: str, blocks: Blocks, path: list[Node]) -> Use | None:
        """The check by itself, as the statement that it is."""
        if not text.startswith(name.encode() + b"(") and not re.match(name.encode() + rb"\s{0,40}\(", text):
            return None
        snippet = b"void f(){" + text.rstrip(b"; \n") + b";}"
        tree = parse("cpp", snippet)
        inner = path_to(tree, 9, 9 + len(name))
        if not any(node.type == "call_expression" for node in inner):
            return None
        use = self._use(inner, name, Blocks())
        if use is not None:
            path[:] = [*around, path[-1]] if around[-1].type == "ERROR" else around
        return use

    def _panic(self, name: str) -> tuple[str, ...]:
        if name not in ("RuntimeCheck", "Panic", "panic", "CHECK_HOST", "SGL_PANIC", "RuntimeDeviceCheck"):
            return ("Failed at ",)
        if self._panics:
            return self._panics
        self.wants.add(PANICS)
        told = tuple(dict.fromkeys(str(offer.value) for offer in self.known.get(PANICS, ())))
        return told[:3] or ("Failed at ",)

    # ------------------------------------------------------------------------------------------------------ macros

    def _printed(self, use: Use, path: Sequence[Node], data: bytes, depth: int) -> Iterator[Printed]:
        """What a use prints: as the project's own macro says, or else as its name is known to."""
        candidates = self._macros(use.name) if depth < MAX_EXPANDED and not FIXED.match(use.name) else []
        for macro in candidates:
            found = list(self._expanded(macro, use, path, data, depth))
            if found:
                yield from found
                return
        if depth and (ended := checks.printed_to_end(use)) is not None:
            yield ended
        elif (printed := checks.read(use)) is not None:
            yield printed

    def _macros(self, name: str) -> list[Macro]:
        if name in self.own:
            return [self.own[name]]
        if name.startswith("CHECK_HOST") or not checks.ANY.match(name):
            return []
        key = f"cpp:macro:{name}"
        self.wants.add(key)
        offers = [offer for offer in self.known.get(key, ()) if isinstance(offer.value, Macro)]
        if not offers:
            return []
        included = [offer for offer in offers if offer.path.endswith(self.included)] if self.included else []
        nearest = max(included or offers, key=lambda offer: len(commonpath([offer.path, self.path])))
        return [nearest.value] if isinstance(nearest.value, Macro) else []

    def _expanded(self, macro: Macro, use: Use, path: Sequence[Node], data: bytes, depth: int) -> Iterator[Printed]:
        arguments = [" ".join(text_of(node).split()) for node in use.given]
        body = macro.expand(arguments)
        if body is None or (re.search(r"\bf?printf\(", body) and not macro.ends and "throw" not in body and "CHECK" not in body):
            return
        tail = "".join(f" << {text_of(node)}" for node in use.streamed)
        snippet = f"void f(){{ {body.rstrip('; ')}{tail}; }}".encode()
        blocks = Blocks()
        for inner, printed in self._found(parse("cpp", snippet), snippet, blocks, depth + 1):
            conditions = blocks.conditions(inner)
            tested = printed.condition or (conditions[-1] if conditions else None)
            if any(isinstance(part, str) and any(map(str.isalnum, part)) for texts in printed.texts for part in texts):
                yield replace(printed, condition=tested)


def _cut_to_stream(path: list[Node], at: int) -> int:
    """Cut a path off at the whole of ``check << a << b``, whose check is the node number ``at``; the number of its last node."""
    while at and path[at - 1].type == "binary_expression" and _is_stream(path[at - 1], path[at]):
        at -= 1
    del path[at + 1 :]
    return at


def _is_stream(node: Node, left: Node) -> bool:
    operator = node.child_by_field_name("operator")
    return operator is not None and operator.type == "<<" and node.child_by_field_name("left") == left


def _end_of_statement(text: bytes) -> int:
    """Where the statement at the start of a text ends, brackets and literals respected; 0 when it does not."""
    depth = at = 0
    while at < len(text):
        char = text[at : at + 1]
        if char == b'"':
            at += 1
            while at < len(text) and text[at : at + 1] != b'"':
                at += 2 if text[at : at + 1] == b"\\" else 1
        elif char in b"([{":
            depth += 1
        elif char in b")]}":
            depth -= 1
            if depth < 0:
                return 0
        elif char == b";" and not depth:
            return at
        at += 1
    return 0


def _statement(path: Sequence[Node]) -> Node:
    """The statement that a check is; an expression inside a larger one stands for itself."""
    node = path[-1]
    if len(path) > 1 and path[-2].type in ("expression_statement", "declaration", "throw_statement"):
        return path[-2]
    return node
