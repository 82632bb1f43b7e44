"""Follows functions and classes, and keeps what others need to know of them: constants, exception classes, functions that raise a text."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.catalogue.scanners.python import calls, formatting, messages
from bot.catalogue.scanners.python.collected import MAX_COLLECTED, Collected, added, collect, fill
from bot.catalogue.scanners.python.entries import Span
from bot.catalogue.scanners.python.facts import Argument, Class, Constant, Error, Function, Kept, Parameters, substitute
from bot.catalogue.scanners.python.flags import Flag, options_of
from bot.catalogue.scanners.python.flow import Held
from bot.catalogue.scanners.python.inheritance import MESSAGE_LIKE, Inheritance
from bot.catalogue.scanners.python.knowledge import Knowledge
from bot.catalogue.scanners.python.origins import Origins
from bot.catalogue.scanners.python.parts import MAX_ALTERNATIVES, Parts, Texts, cross, distinct, unparse, words
from bot.catalogue.scanners.python.text import PARAMETER, UNKNOWN, Environment, Items, Opaque, Reader, dictionary
from bot.model import Hole

EXCEPTION_BASE = re.compile(r"(Error|Exception|Warning|Exit|Interrupt|Failure|Fault|Timeout)$")
"""Names of exception classes of other packages, whose bases aren't known."""

ENUMS = frozenset({"Enum", "IntEnum", "Flag", "IntFlag"})
"""Classes whose members print their name, and hold a text as ``.value``; a ``StrEnum`` prints the text."""

MIN_RETURNED = 12
"""Letters and digits that a returned text needs to be kept: shorter ones are names, and every file has many."""

MIN_OWN_WORDS = 12
"""A raise with fewer letters and digits of its own says mostly what its function is given."""


@dataclass(slots=True)
class Place:
    """The function (or class body, or module) that is walked, and what is found out about it."""

    name: str = ""
    class_name: str = ""
    node: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    is_method: bool = False
    owner: Class | None = None
    is_enum: bool = False
    bases: tuple[str, ...] = ()
    class_docstring: str = ""
    raises: list[Error] = field(default_factory=list)
    makes: list[Error] = field(default_factory=list)
    returns: list[Parts] = field(default_factory=list)
    returns_more: bool = False
    items: dict[int, list[Parts]] = field(default_factory=dict)
    stores: list[tuple[str, str]] = field(default_factory=list)
    handed: list[tuple[Argument, ...]] = field(default_factory=list)
    attributes: dict[str, Texts] = field(default_factory=dict)
    said_under: dict[Parts, tuple[Held, ...]] = field(default_factory=dict)
    lists: dict[str, list[Collected]] = field(default_factory=dict)
    listed: list[Parts] = field(default_factory=list)
    options: dict[str, Flag] = field(default_factory=dict)

    @property
    def parameters(self) -> Parameters:
        """The function's parameters as a caller sees them; most functions are never asked."""
        return calls.parameters(self.node.args, self.is_method) if self.node is not None else Parameters(())


class Definitions(Origins):
    """Walks functions and classes; ``constants``, ``classes``, ``functions`` and ``kept`` are what is found out about them.

    ``earlier`` is the walk before this one over the same module: what it found out is known from the beginning.
    """

    def __init__(self, knowledge: Knowledge, earlier: Definitions | None = None) -> None:
        super().__init__(Reader(self._look_up, self._called, self._table), knowledge, dict(earlier.flags) if earlier else {})
        self.place = Place()
        self.constants: dict[str, Constant] = dict(earlier.constants) if earlier else {}
        self.volatile: set[str] = set(earlier.volatile) if earlier else set()
        self.classes: dict[str, Class] = dict(earlier.classes) if earlier else {}
        self.functions: list[tuple[str, Function]] = []
        self.kept: list[Kept] = []
        self.spans: list[Span] = []
        self.missed: set[str] = set()
        self.inheritance: Inheritance = Inheritance(knowledge, self.constants, self.missed, earlier.inheritance if earlier else None)
        self.written_at: dict[str, tuple[int, int]] = {}
        self._is_first = earlier is None
        knowledge.own_classes = self.classes
        knowledge.own_functions = earlier.functions if earlier else self.functions

    def define_function(self, statement: ast.FunctionDef | ast.AsyncFunctionDef, environment: Environment) -> None:
        """Walk a function, with what the functions around it know."""
        environment.pop(statement.name, None)
        if self.quiet:
            return
        outer, conditions, loops = self.place, self.conditions, self.loops
        in_class = outer.node is None and outer.class_name != ""
        is_method = in_class and not any(calls.last_name(decorator) == "staticmethod" for decorator in statement.decorator_list)
        self.place = Place(
            f"{outer.name}.{statement.name}" if outer.name else statement.name,
            outer.class_name,
            statement,
            is_method,
            outer.owner if in_class else None,
            bases=outer.bases,
            class_docstring=outer.class_docstring if in_class else "",
        )
        last = statement.end_lineno or statement.lineno
        self.spans.append(Span(statement.lineno, last, self.place.name, outer.name if in_class else ""))
        if statement.decorator_list:
            self.place.options.update(options_of(statement))
        self.conditions, self.loops = [], []
        inner: Environment = dict(environment) if outer.node is not None else {}
        arguments = statement.args
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            inner[argument.arg] = PARAMETER
        for star in (arguments.vararg, arguments.kwarg):
            if star is not None:
                inner[star.arg] = UNKNOWN
        self.block(statement.body, inner)
        self._conclude(statement.name, self.place, outer)
        self.place, self.conditions, self.loops = outer, conditions, loops

    def _conclude(self, name: str, place: Place, outer: Place) -> None:
        """Keep what callers of a function, or those who raise a class, need to know."""
        owner = place.owner
        if owner is None and not (place.raises or place.makes or place.returns or place.items or place.stores or place.listed):
            return
        parameters = place.parameters
        returns = distinct(parts for parts in place.returns if words(parts) >= MIN_RETURNED)[:MAX_ALTERNATIVES]
        items = tuple((at, distinct(texts)[:MAX_ALTERNATIVES]) for at, texts in place.items.items())
        if place.raises or place.makes or returns or items or place.stores or place.listed:
            fact = Function(
                name,
                parameters,
                tuple(place.raises),
                tuple(place.makes),
                returns,
                place.returns_more,
                items,
                tuple(place.stores),
                distinct(place.listed)[:MAX_COLLECTED],
            )
            self.functions.append((outer.class_name if outer.node is None else "", fact))
        if owner is None:
            return
        if name == "__init__":
            attributes = tuple(place.attributes.items())
            outer.owner = Class(owner.name, owner.bases, parameters, tuple(place.handed), attributes, owner.printed)
            self.classes[owner.name] = outer.owner
        elif name == "__str__" and place.returns and not place.returns_more:
            texts = distinct(place.returns)[:MAX_ALTERNATIVES]
            outer.owner = Class(owner.name, owner.bases, owner.parameters, owner.calls, owner.attributes, texts)
            self.classes[owner.name] = outer.owner

    def define_class(self, statement: ast.ClassDef, environment: Environment) -> None:
        """Walk a class body."""
        environment.pop(statement.name, None)
        if self.quiet:
            return
        outer, conditions = self.place, self.conditions
        bases = tuple(name for name in map(calls.last_name, statement.bases) if name)
        owner = None
        if EXCEPTION_BASE.search(statement.name) or any(EXCEPTION_BASE.search(base) or base in self.classes for base in bases):
            owner = self.classes[statement.name] = Class(statement.name, bases)
        self.inheritance.define(statement.name, bases)
        name = f"{outer.name}.{statement.name}" if outer.name else statement.name
        self.place = Place(name, statement.name, owner=owner, is_enum=not ENUMS.isdisjoint(bases), bases=bases)
        first = statement.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            self.place.class_docstring = first.value.value
        self.conditions = []
        self.block(statement.body, {})
        self.place, self.conditions = outer, conditions

    def add_import(self, statement: ast.Import | ast.ImportFrom, environment: Environment) -> None:
        """Note what an import statement names."""
        self.knowledge.imports.add(statement)

    # ------------------------------------------------------------------------------------------------- assignments

    def keep(self, target: ast.expr, value: ast.expr, texts: Texts | None) -> None:
        """Keep constants, and what methods keep in ``self.x``."""
        if type(value) is ast.Call:
            self.keep_called(value)
        if isinstance(target, ast.Name):
            if texts is not None and self.place.node is not None:
                self.keep_said(texts)
            self.written_at[target.id] = (target.lineno, value.end_lineno or value.lineno)
            if self.place.node is None and not self.quiet:
                self._keep_constant(target.id, texts, value)
            elif not self.quiet and isinstance(value, ast.List) and value.elts:
                self.keep_added(target.id, value.elts)
        elif self.place.node is not None and not self.quiet:
            self._keep_attribute(target, value)
            self.keep_set(target, value)

    def keep_said(self, texts: Texts) -> None:
        """Remember what held when a variable was set to these texts; of one that is set twice, nothing is known."""
        said = self.place.said_under
        for parts in texts:
            under = tuple(self.conditions)
            said[parts] = under if said.get(parts, under) == under else ()

    def keep_added(self, name: str, values: Sequence[ast.expr]) -> None:
        """Remember the messages that are added to a list."""
        found = collect(values, self.reader.texts)
        kept = self.place.lists.setdefault(name, []) if found else []
        kept += [Collected(parts, tuple(self.conditions), f"{name}.append") for parts in found[: MAX_COLLECTED - len(kept)]]

    def adds(self, node: ast.Call) -> bool:
        """Whether a call adds to a list; the messages among what it adds are kept."""
        name, values = added(node)
        if name:
            self.keep_added(name, values)
        return bool(name)

    def collected(self, parts: Parts) -> list[tuple[Parts, Collected]]:
        """A text that prints a list, once for each of the messages that the list may hold."""
        return fill(parts, self._collected) if self.reader.follows else []

    def _collected(self, name: str) -> Sequence[Collected]:
        if name in self.place.lists:
            return self.place.lists[name]
        for value in self.reader.environment.get(name, ()):
            node = value.node if isinstance(value, Opaque) else None
            node = node.value if isinstance(node, ast.Await) else node
            if isinstance(node, ast.Call):
                for function in self.knowledge.functions(node.func, self.place.class_name):
                    if function.lists:
                        return [Collected(parts, through=function.name) for parts in function.lists]
        return ()

    def _keep_constant(self, name: str, texts: Texts | None, value: ast.expr) -> None:
        """Keep what a module's or class's variable holds; one that is set twice holds one or the other."""
        if self.place.class_name:
            self.inheritance.note(name)
            name = f"{self.place.class_name}.{name}" + (".value" if self.place.is_enum else "")
        before = self.constants.get(name) if self._is_first else None
        if texts is None and before is None and name not in self.volatile and isinstance(value, ast.Dict | ast.List | ast.Tuple):
            items = dictionary(value, self.reader)
            if items and any(calls.says(held) for _, held in items):
                self.constants[name] = Constant((), items)
                return
        if texts is None and (file := messages.file_read(value, self.conditions)) and name not in self.volatile:
            self.constants[name] = Constant((), (), file)
            return
        if texts is None or name in self.volatile:
            self.constants.pop(name, None)
            self.volatile.add(name)
        elif any(texts):
            self.constants[name] = Constant(distinct((*(before.texts if before else ()), *texts))[:MAX_ALTERNATIVES])

    def _keep_attribute(self, target: ast.expr, value: ast.expr) -> None:
        """For the texts of exception classes, and for texts that another method raises."""
        if isinstance(target, ast.Attribute) and calls.is_self(target.value) and self.place.owner is not None:
            self.place.attributes[target.attr] = self.reader.message(value)
        spine = target.value if isinstance(target, ast.Subscript) else target
        if not isinstance(value, ast.Name) or not isinstance(spine, ast.Attribute):
            return
        if MESSAGE_LIKE.search(value.id) and self.is_parameter(value.id):
            self.place.stores.append((value.id, spine.attr))

    def is_parameter(self, name: str) -> bool:
        """Whether a name is a parameter that still holds what the caller gave."""
        value = self.reader.environment.get(name, ())
        return len(value) == 1 and isinstance(value[0], Opaque) and value[0].parameter

    # ----------------------------------------------------------------------------------------- exceptions and texts

    def keep_raised(self, node: ast.expr, error: Error) -> None:
        """Remember an exception whose text is given by the caller, or was kept in an attribute by somebody else."""
        self._keep_given(self.place.raises, error)
        for part in error.parts:
            if isinstance(part, Hole) and MESSAGE_LIKE.search(part.expression):
                for value in self.reader.environment.get(part.expression, ()):
                    if isinstance(value, Opaque) and value.node is not None and (attribute := calls.kept_in(value.node)):
                        self.kept.append(Kept(attribute, part.expression, error))

    def keep_returned(self, node: ast.expr, errors: Sequence[Error]) -> None:
        """Remember what a function returns: a text, or an exception for its caller to raise."""
        self.keep_result(node)
        texts = self.reader.texts(node)
        if self.place.owner is not None and self.place.name.endswith(".__str__"):
            texts = self._own_text(node, texts)
        if texts is not None:
            self.place.returns += texts
        elif isinstance(node, ast.Name) and node.id in self.place.lists:
            self.place.listed += [one.parts for one in self.place.lists[node.id]]
        elif isinstance(node, ast.Tuple):
            for at, element in enumerate(node.elts):
                known = [parts for parts in self.reader.texts(element) or () if words(parts) >= MIN_RETURNED]
                if known:
                    self.place.items.setdefault(at, []).extend(known)
        elif not (isinstance(node, ast.Constant) and node.value is None):
            self.place.returns_more = True
        for error in errors:
            self._keep_given(self.place.makes, error)

    def _own_text(self, node: ast.expr, texts: Texts | None) -> Texts | None:
        """What ``__str__`` returns, where ``base = super().__str__()`` (or ``= self.x``) was set before: in terms of what was set."""
        if texts is None:
            own = self._of_self(node)
            return ((Hole(own),),) if own else None
        names = {part.expression for parts in texts for part in parts if isinstance(part, Hole) and part.expression.isidentifier()}
        known = {name: ((Hole(own),),) for name in names if (own := self._of_self(ast.Name(name, ast.Load())))}
        return tuple(way for parts in texts for way in substitute(parts, known)) if known else texts

    def _of_self(self, node: ast.expr) -> str:
        """What an expression in ``__str__`` stands for, as source: an attribute of ``self`` or the text of the base; empty for others."""
        if isinstance(node, ast.Name):
            held = self.reader.environment.get(node.id, ())
            node = held[0].node if len(held) == 1 and isinstance(held[0], Opaque) and held[0].node is not None else node
        spine = node.func if isinstance(node, ast.Call) else node.value if isinstance(node, ast.Subscript) else node
        if not isinstance(spine, ast.Attribute):
            return ""
        if isinstance(node, ast.Call):
            is_base = spine.attr == "__str__" and isinstance(spine.value, ast.Call) and calls.last_name(spine.value.func) == "super"
            return "super().__str__()" if is_base else ""
        return unparse(node) if calls.is_self(spine.value) else ""

    def _keep_given(self, kept: list[Error], error: Error) -> None:
        given = [part.expression for part in error.parts if isinstance(part, Hole) and self.is_parameter(part.expression)]
        if given and (words(error.parts) < MIN_OWN_WORDS or any(MESSAGE_LIKE.search(name) for name in given)):
            kept.append(error)

    def functions_called(self, node: ast.expr) -> tuple[Function, ...]:
        """What is known of a function that is called with a text."""
        if not isinstance(node, ast.Call) or not self.reader.follows:
            return ()
        if not any(self.reader.texts(value) is not None for value in (*node.args, *(k.value for k in node.keywords))):
            return ()
        return self.knowledge.functions(node.func, self.place.class_name)

    def _look_up(self, node: ast.expr) -> Texts | None:
        """The text of a name that is no local variable: a constant of this module, this class, or another file."""
        found = self._constant(node)
        return found.texts or None if found is not None else None

    def _table(self, node: ast.expr) -> Items | None:
        items = self.knowledge.items(self._constant(node))
        if not items and isinstance(node, ast.Attribute) and node.attr == "error_messages" and calls.is_self(node.value):
            items = self.knowledge.items(self._inherited(messages.DEFAULTS))
        return items or None

    def _constant(self, node: ast.expr) -> Constant | None:
        if isinstance(node, ast.Name):
            name = node.id
        elif isinstance(node, ast.Attribute) and calls.is_class_of_self(node.value):
            return self._inherited(node.attr)
        elif isinstance(node, ast.Attribute) and (name := calls.dotted_name(node)):
            if name.startswith(("self.", "cls.")):
                return self._inherited(name.partition(".")[2])
        else:
            return None
        own = self.constants.get(name)
        if own is not None:
            return own
        self.missed.add(name)
        return self.knowledge.constant(node)

    def _inherited(self, attribute: str) -> Constant | None:
        return self.inheritance.constant(self.place.class_name, self.place.bases, attribute)

    def keyed(self, node: ast.Call) -> Texts:
        """The text that ``self.fail("key", …)`` names, of the messages that the class keeps by key (:data:`messages.FAILS`)."""
        if not (isinstance(node.func, ast.Attribute) and calls.is_self(node.func.value) and node.func.attr in messages.FAILS):
            return ()
        key = node.args[0] if node.args else None
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return ()
        found = dict(self.knowledge.items(self._inherited(messages.DEFAULTS))).get(repr(key.value), ())
        call = ast.Call(node.func, [], node.keywords)
        return distinct(way for parts in found for way in cross(formatting.braces(parts, call, self.reader.embedded)))

    def translated(self, node: ast.Call) -> Texts:
        """The text that a call names by a key, from a message catalogue beside the code; empty when there is none."""
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        key = given.get("translation_key")
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return ()
        found = self.knowledge.translated(messages.keys(self.knowledge.path, key.value))
        filled = given.get("translation_placeholders")
        pairs = zip(filled.keys, filled.values, strict=True) if isinstance(filled, ast.Dict) else ()
        named = [ast.keyword(str(name.value), value) for name, value in pairs if isinstance(name, ast.Constant)]
        call = ast.Call(node.func, [], named)
        return distinct(way for parts in found for way in cross(formatting.braces(parts, call, self.reader.embedded)))

    def _called(self, node: ast.expr, reader: Reader) -> Texts | None:
        """The texts that a call returns, or that are an item of the tuple that it returns."""
        item = None
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
            item = node.slice.value
            node = node.value
        if isinstance(node, ast.Await):
            node = node.value
        if not isinstance(node, ast.Call):
            return None
        return calls.returned(node, self.knowledge.functions(node.func, self.place.class_name), item, reader)
