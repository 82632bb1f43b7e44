"""Follows functions and classes, and keeps what others need to know of them: constants, exception classes, functions that raise a text."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.catalogue.scanners.python import calls
from bot.catalogue.scanners.python.facts import Argument, Class, Constant, Error, Function, Kept, Parameters
from bot.catalogue.scanners.python.flow import Flow
from bot.catalogue.scanners.python.knowledge import Knowledge
from bot.catalogue.scanners.python.text import MAX_ALTERNATIVES, Environment, Opaque, Parts, Reader, Texts, distinct, words
from bot.model import Hole

MESSAGE_LIKE = re.compile(r"(^|_)(msg|message|err|error|reason|failure|cause|detail|details|text|exc|exception|description)(_|$|\d)")
"""Names of variables that hold messages."""

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
    parameters: Parameters | None = None
    owner: Class | None = None
    is_enum: bool = False
    raises: list[Error] = field(default_factory=list)
    makes: list[Error] = field(default_factory=list)
    returns: list[Parts] = field(default_factory=list)
    returns_more: bool = False
    items: dict[int, list[Parts]] = field(default_factory=dict)
    stores: list[tuple[str, str]] = field(default_factory=list)
    handed: list[tuple[Argument, ...]] = field(default_factory=list)
    attributes: dict[str, Texts] = field(default_factory=dict)


class Definitions(Flow):
    """Walks functions and classes; ``constants``, ``classes``, ``functions`` and ``kept`` are what is found out about them.

    ``earlier`` is the walk before this one over the same module: what it found out is known from the beginning.
    """

    def __init__(self, knowledge: Knowledge, earlier: Definitions | None = None) -> None:
        super().__init__(Reader(self._look_up, self._called))
        self.knowledge = knowledge
        self.place = Place()
        self.constants: dict[str, Constant] = dict(earlier.constants) if earlier else {}
        self.volatile: set[str] = set(earlier.volatile) if earlier else set()
        self.classes: dict[str, Class] = dict(earlier.classes) if earlier else {}
        self.functions: list[tuple[str, Function]] = []
        self.kept: list[Kept] = []
        self.missed: set[str] = set()
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
            calls.parameters(statement.args, is_method),
            outer.owner if in_class else None,
        )
        self.conditions, self.loops = [], []
        inner: Environment = dict(environment) if outer.node is not None else {}
        arguments = statement.args
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            inner[argument.arg] = (Opaque(parameter=True),)
        for star in (arguments.vararg, arguments.kwarg):
            if star is not None:
                inner[star.arg] = (Opaque(),)
        self.block(statement.body, inner)
        self._conclude(statement.name, self.place, outer)
        self.place, self.conditions, self.loops = outer, conditions, loops

    def _conclude(self, name: str, place: Place, outer: Place) -> None:
        """Keep what callers of a function, or those who raise a class, need to know."""
        parameters = place.parameters or Parameters(())
        returns = distinct(parts for parts in place.returns if words(parts) >= MIN_RETURNED)[:MAX_ALTERNATIVES]
        items = tuple((at, distinct(texts)[:MAX_ALTERNATIVES]) for at, texts in place.items.items())
        if place.raises or place.makes or returns or items or place.stores:
            fact = Function(
                name, parameters, tuple(place.raises), tuple(place.makes), returns, place.returns_more, items, tuple(place.stores)
            )
            self.functions.append((outer.class_name if outer.node is None else "", fact))
        owner = place.owner
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
        name = f"{outer.name}.{statement.name}" if outer.name else statement.name
        self.place = Place(name, statement.name, owner=owner, is_enum=not ENUMS.isdisjoint(bases))
        self.conditions = []
        self.block(statement.body, {})
        self.place, self.conditions = outer, conditions

    def add_import(self, statement: ast.Import | ast.ImportFrom, environment: Environment) -> None:
        """Note what an import statement names."""
        self.knowledge.imports.add(statement)

    # ------------------------------------------------------------------------------------------------- assignments

    def keep(self, target: ast.expr, value: ast.expr, texts: Texts | None) -> None:
        """Keep constants, and what methods keep in ``self.x``."""
        if isinstance(target, ast.Name):
            self.written_at[target.id] = (target.lineno, value.end_lineno or value.lineno)
            if self.place.node is None and not self.quiet:
                self._keep_constant(target.id, texts)
        elif self.place.node is not None and not self.quiet:
            self._keep_attribute(target, value)

    def _keep_constant(self, name: str, texts: Texts | None) -> None:
        """Keep what a module's or class's variable holds; one that is set twice holds one or the other."""
        if self.place.class_name:
            name = f"{self.place.class_name}.{name}" + (".value" if self.place.is_enum else "")
        before = self.constants.get(name) if self._is_first else None
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
        texts = self.reader.texts(node)
        if texts is not None:
            self.place.returns += texts
        elif isinstance(node, ast.Tuple):
            for at, element in enumerate(node.elts):
                known = [parts for parts in self.reader.texts(element) or () if words(parts) >= MIN_RETURNED]
                if known:
                    self.place.items.setdefault(at, []).extend(known)
        elif not (isinstance(node, ast.Constant) and node.value is None):
            self.place.returns_more = True
        for error in errors:
            self._keep_given(self.place.makes, error)

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
        if isinstance(node, ast.Name):
            name = node.id
        elif isinstance(node, ast.Attribute) and (name := calls.dotted_name(node)):
            if name.startswith(("self.", "cls.")):
                if not node.attr.isupper():
                    return None  # an instance may have its own
                name = f"{self.place.class_name}.{name.partition('.')[2]}"
        else:
            return None
        own = self.constants.get(name)
        if own is not None:
            return own.texts
        self.missed.add(name)
        return self.knowledge.constant(node)

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
