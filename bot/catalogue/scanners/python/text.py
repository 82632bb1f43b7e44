"""What a message expression says: from a syntax tree to texts with holes.

A text is a tuple of parts, literal pieces and :class:`~bot.model.Hole`. An expression may say several things (``a if x else b``, a variable
that was set in two branches), so everything here answers with alternatives. What isn't known becomes a hole; nothing is guessed.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bot.catalogue.scanners.python import formatting
from bot.catalogue.scanners.python.parts import (
    MAX_ALTERNATIVES,
    MAX_TEXT,
    Parts,
    Texts,
    apply,
    cross,
    distinct,
    hole,
    join,
    literal,
    quoted,
    unparse,
    words,
)
from bot.model import Hole

MAX_CALLS = 3
"""How many calls inside each other are followed to the texts that they return."""


GETTEXT = frozenset({"_", "_l", "gettext", "gettext_lazy", "gettext_noop", "ugettext", "ugettext_lazy", "lazy_gettext", "N_"})
PLURAL = frozenset({"ngettext", "ngettext_lazy", "ungettext"})
STRIPS: Mapping[str, Callable[[str], str]] = {"strip": str.strip, "lstrip": str.lstrip, "rstrip": str.rstrip}
CASES: Mapping[str, Callable[[str], str]] = {
    "lower": str.lower, "upper": str.upper, "title": str.title, "capitalize": str.capitalize, "format": str,
}  # fmt: skip
DEDENTS: Mapping[str, Callable[[str], str]] = {"dedent": textwrap.dedent, "cleandoc": inspect.cleandoc}


@dataclass(slots=True, unsafe_hash=True)
class Opaque:
    """A value that is no known text: the expression it was set to, if there is one. ``parameter`` marks a parameter never set anew.

    Never changed; but frozen, it would take three times as long to make, and one is made for every assignment.
    """

    node: ast.expr | None = None
    parameter: bool = False


Value = tuple[Parts | Opaque, ...]
"""What a variable may hold: alternatives."""

UNKNOWN: Value = (Opaque(),)
PARAMETER: Value = (Opaque(parameter=True),)

Environment = dict[str, Value]

Items = tuple[tuple[str, Texts], ...]
"""A dictionary of texts: the keys as ``repr`` writes them."""

MAX_ITEMS = 200
"""A dictionary with more items holds data, not messages."""


class Reader:
    """Reads expressions: in an environment of local variables, with the texts that are known beyond them.

    ``look_up`` answers for names and attributes that aren't local variables (module and class constants, also of other files),
    ``call`` for functions that return a text, ``table`` for dictionaries of texts.
    """

    def __init__(
        self,
        look_up: Callable[[ast.expr], Texts | None],
        call: Callable[[ast.expr, Reader], Texts | None],
        table: Callable[[ast.expr], Items | None] = lambda node: None,
    ) -> None:
        self.environment: Environment = {}
        self.follows = True
        self.look_up = look_up
        self.call = call
        self.table = table
        self._depth = 0

    def message(self, node: ast.expr) -> Texts:
        """What an expression says as a whole message."""
        if isinstance(node, ast.Tuple):
            return self.printed_tuple(node.elts)
        if isinstance(node, ast.Constant):
            return (join(((str(node.value),),)),)
        texts = self.texts(node)
        if texts is None and isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id == "str" and len(node.args) == 1:
                return self.message(node.args[0])
            texts = self.call(node, self)
        if texts is None and isinstance(node, ast.Name):
            texts = self._called(node)
        return texts if texts is not None else ((hole(node),),)

    def _called(self, node: ast.Name) -> Texts | None:
        """The texts of a variable that holds what a function returned; ``x = f(x)`` would ask for itself without end."""
        if self._depth >= MAX_CALLS or not self.follows:
            return None
        self._depth += 1
        try:
            return self._returned(node)
        finally:
            self._depth -= 1

    def _returned(self, node: ast.Name) -> Texts | None:
        found: list[Parts] = []
        for value in self.environment.get(node.id, ()):
            if isinstance(value, Opaque):
                texts = self.call(value.node, self) if value.node is not None else None
                found += texts if texts is not None else ((hole(node),),)
            else:
                found.append(value)
        return distinct(found) if found else None

    def printed_tuple(self, nodes: Sequence[ast.expr]) -> Texts:
        """What Python prints for an exception with several arguments: the tuple's repr."""
        pieces: list[tuple[Texts, Hole | None]] = []
        for at, node in enumerate(nodes):
            pieces.append(((((", " if at else "("),),), None))
            if isinstance(node, ast.Starred):
                pieces.append((((hole(node.value),),), None))
            else:
                pieces.append((self.repr(node), hole(node, "!r")))
        return cross([*pieces, (((",)" if len(nodes) == 1 else ")",),), None)])

    def repr(self, node: ast.expr) -> Texts:
        """What ``repr`` of an expression prints."""
        if isinstance(node, ast.Constant):
            return ((repr(node.value),),)
        texts = self.texts(node)
        if texts is None or any(words(parts) == 0 for parts in texts):
            return ((hole(node, "!r"),),)
        return tuple(quoted(parts) for parts in texts)

    def texts(self, node: ast.expr) -> Texts | None:
        """The alternatives of an expression that is, at least in part, a known text; None for any other."""
        read = READERS.get(type(node))
        return read(self, node) if read is not None else None

    def embedded(self, node: ast.expr, suffix: str = "") -> tuple[Texts, Hole]:
        """An expression as a piece of a longer text.

        A piece that may be anything, or one of several single words, stays a hole: its alternatives would only repeat the sentence
        around it.
        """
        return self._piece(node, self.texts(node), suffix)

    def _piece(self, node: ast.expr, texts: Texts | None, suffix: str) -> tuple[Texts, Hole]:
        instead = hole(node, suffix)
        unknown: Texts = ((instead,),)
        if texts is None:
            return unknown, instead
        if suffix:
            formatted = [formatting.apply_suffix(literal(parts), suffix) for parts in texts]
            if len(formatted) == 1 and formatted[0] is not None:
                return ((formatted[0],),), instead
            return unknown, instead
        if len(texts) > 1 and any(len(parts) == 1 and isinstance(parts[0], Hole) for parts in texts):
            return unknown, instead
        if len(texts) > 1 and all(" " not in (literal(parts) or "") and literal(parts) is not None for parts in texts):
            return unknown, instead
        return texts, instead

    # One method for each kind of expression that can be a text.

    def _constant(self, node: ast.Constant) -> Texts | None:
        return (join(((node.value,),)),) if isinstance(node.value, str) else None

    def _f_string(self, node: ast.JoinedStr) -> Texts:
        return cross([self._field(value) for value in node.values])

    def _field(self, node: ast.expr) -> tuple[Texts, Hole | None]:
        if isinstance(node, ast.Constant):
            return (join(((str(node.value),),)),), None
        if not isinstance(node, ast.FormattedValue):
            return self.embedded(node)
        suffix = f"!{chr(node.conversion)}" if node.conversion in (114, 97) else ""
        if isinstance(node.format_spec, ast.JoinedStr) and node.format_spec.values:
            specs = [
                part.value if isinstance(part, ast.Constant) else "{" + unparse(getattr(part, "value", part)) + "}"
                for part in node.format_spec.values
            ]
            suffix += ":" + "".join(map(str, specs))
        return self.embedded(node.value, suffix)

    def _operation(self, node: ast.BinOp) -> Texts | None:
        if isinstance(node.op, ast.Add):
            return self._sum(node)
        if isinstance(node.op, ast.Mod):
            left = self.texts(node.left)
            if left is None:
                return None
            return distinct(way for text in left for way in cross(formatting.percent(text, node.right, self.embedded)))
        if isinstance(node.op, ast.Mult):
            for text, times in ((node.left, node.right), (node.right, node.left)):
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    if isinstance(times, ast.Constant) and isinstance(times.value, int) and 0 <= times.value <= MAX_TEXT:
                        return (join(((text.value * times.value,),)),)
                    return ((hole(node),),)
        return None

    def _sum(self, node: ast.BinOp) -> Texts | None:
        """Of a chain ``a + b + c``, read without recursion: long ones are nested deep on the left."""
        terms: list[ast.expr] = []
        at: ast.expr = node
        while isinstance(at, ast.BinOp) and isinstance(at.op, ast.Add):
            terms.append(at.right)
            at = at.left
        terms.append(at)
        read = [(term, self.texts(term)) for term in reversed(terms)]
        if all(texts is None for _, texts in read):
            return None
        return cross([self._piece(term, texts, "") for term, texts in read])

    def _choice(self, node: ast.IfExp) -> Texts | None:
        return self._either([node.body, node.orelse])

    def _or(self, node: ast.BoolOp) -> Texts | None:
        return self._either(node.values) if isinstance(node.op, ast.Or) else None

    def _either(self, nodes: Sequence[ast.expr]) -> Texts | None:
        found = [self.texts(node) for node in nodes]
        if all(texts is None for texts in found):
            return None
        alternatives = distinct(
            parts
            for node, texts in zip(nodes, found, strict=True)
            for parts in (texts if texts is not None else self.message(node))
            if not (isinstance(node, ast.Constant) and not node.value)
        )
        return alternatives if 0 < len(alternatives) <= MAX_ALTERNATIVES else None

    def _walrus(self, node: ast.NamedExpr) -> Texts | None:
        return self.texts(node.value)

    def _name(self, node: ast.Name) -> Texts | None:
        if not self.follows:
            return None
        value = self.environment.get(node.id)
        if value is None:
            return self.look_up(node)
        if all(isinstance(alternative, Opaque) for alternative in value):
            return None
        return distinct((hole(node),) if isinstance(parts, Opaque) else parts for parts in value)

    def _attribute(self, node: ast.Attribute) -> Texts | None:
        return self.look_up(node) if self.follows else None

    def _item(self, node: ast.Subscript) -> Texts | None:
        """An item of a dictionary (or list) of texts."""
        return self._chosen_of(node.value, node.slice)

    def _chosen_of(self, node: ast.expr, key: ast.expr) -> Texts | None:
        """The texts that a dictionary holds under a key: one where the key is known, else any of them."""
        items = self._items(node) if self.follows else None
        if not items:
            return None
        if isinstance(key, ast.Constant):
            return dict(items).get(repr(key.value))
        return distinct(way for _, texts in items for way in texts)

    def _items(self, node: ast.expr) -> Items | None:
        if isinstance(node, ast.Dict):
            return dictionary(node, self)
        if isinstance(node, ast.Name) and node.id in self.environment:
            value = self.environment[node.id]
            known = value[0] if len(value) == 1 else None
            return dictionary(known.node, self) if isinstance(known, Opaque) and isinstance(known.node, ast.Dict) else None
        return self.table(node) if isinstance(node, ast.Name | ast.Attribute) else None

    def _call(self, node: ast.Call) -> Texts | None:
        func = node.func
        name = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
        if name in GETTEXT and len(node.args) == 1:
            return self.texts(node.args[0])
        if name in PLURAL and len(node.args) >= 2:
            return self._either(node.args[:2])
        if name == "str" and isinstance(func, ast.Name) and len(node.args) == 1:
            return self.texts(node.args[0])
        if name in DEDENTS and len(node.args) == 1:
            return self._changed(DEDENTS[name], self.texts(node.args[0]))
        if not isinstance(func, ast.Attribute) or name not in METHODS:
            return None
        if name == "get":
            found = self._chosen_of(func.value, node.args[0]) if 0 < len(node.args) < 3 else None
            instead = self.texts(node.args[1]) if found and len(node.args) == 2 else None
            return distinct((*found, *(instead or ()))) if found else None
        if name == "join":
            return self._joined(func.value, node.args)
        texts = self.texts(func.value)
        if texts is None:
            return None
        if name == "format":
            return distinct(way for text in texts for way in cross(formatting.braces(text, node, self.embedded)))
        if name in STRIPS and not node.args:
            return self._changed(STRIPS[name], texts)
        if name in CASES and not node.args and all(literal(parts) is not None for parts in texts):
            return self._changed(CASES[name], texts)
        return None

    def _changed(self, change: Callable[[str], str], texts: Texts | None) -> Texts | None:
        changed = [apply(change, parts) for parts in texts or ()]
        return distinct(parts for parts in changed if parts is not None) if changed and None not in changed else None

    def _joined(self, separator: ast.expr, args: Sequence[ast.expr]) -> Texts | None:
        between = self.texts(separator)
        if between is None or len(between) != 1 or len(args) != 1 or not isinstance(args[0], ast.List | ast.Tuple):
            return None
        pieces: list[tuple[Texts, Hole | None]] = []
        for at, element in enumerate(args[0].elts):
            if isinstance(element, ast.Starred):
                return None
            pieces += [(between, None)] if at else []
            pieces.append(self.embedded(element))
        return cross(pieces)


METHODS = frozenset({"format", "join", "get", *STRIPS, *CASES})

READERS: Mapping[type[ast.expr], Callable[..., Texts | None]] = {
    ast.Constant: Reader._constant,
    ast.JoinedStr: Reader._f_string,
    ast.BinOp: Reader._operation,
    ast.IfExp: Reader._choice,
    ast.BoolOp: Reader._or,
    ast.NamedExpr: Reader._walrus,
    ast.Name: Reader._name,
    ast.Attribute: Reader._attribute,
    ast.Subscript: Reader._item,
    ast.Call: Reader._call,
}


def dictionary(node: ast.expr, reader: Reader) -> Items | None:
    """A dictionary (or list) whose values are all texts, under constant keys; None for any other expression."""
    if isinstance(node, ast.Dict):
        keys, values = node.keys, node.values
    elif isinstance(node, ast.List | ast.Tuple):
        keys, values = [ast.Constant(at) for at in range(len(node.elts))], node.elts
    else:
        return None
    if not 0 < len(values) <= MAX_ITEMS or not any(
        isinstance(value, ast.Constant | ast.JoinedStr | ast.BinOp | ast.Call) for value in values[:1]
    ):
        return None
    items: list[tuple[str, Texts]] = []
    for key, value in zip(keys, values, strict=True):
        texts = reader.texts(value)
        if key is None or texts is None:
            return None
        items.append((repr(key.value) if isinstance(key, ast.Constant) else unparse(key), texts))
    return tuple(items)
