"""Follows where values come from, and keeps what others need to know to follow them further: calls, results, attributes, predicates.

All of it is as far as one function tells; :mod:`bot.catalogue.scanners.python.reached` goes from function to function.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.catalogue.scanners import Offer
from bot.catalogue.scanners.python import calls
from bot.catalogue.scanners.python.asked import Clause, Read, Sources, Wanted, clauses, none_of_them
from bot.catalogue.scanners.python.facts import Constant
from bot.catalogue.scanners.python.flags import Flag, defined, field_of, is_argument
from bot.catalogue.scanners.python.flow import Flow, Held
from bot.catalogue.scanners.python.knowledge import BUILTIN_ERRORS, Knowledge, is_distinctive
from bot.catalogue.scanners.python.parts import literal
from bot.catalogue.scanners.python.text import Opaque, Reader

if TYPE_CHECKING:
    from bot.catalogue.scanners.python.definitions import Place

DEPTH = 5
"""How many steps back a value is followed within a function: variables, attributes, calls that only wrap it."""

ACCESSOR = re.compile(r"get_\w")
"""Names of functions without arguments that give the settings of the process."""

FOLLOWED = frozenset({"option", "result"})
"""Kinds of :class:`Read` that make a value worth telling others of."""

CONFIGURATIONS = re.compile(r"config|conf$")
"""Names of things that hold options seldom, and numbers of a model mostly: of those, others are told nothing."""


@dataclass(frozen=True, slots=True)
class Given:
    """An argument of a call, by its name or position: where it comes from, or (of a test) when it holds."""

    name: str | int
    sources: Sources = ()
    holds: tuple[Clause, ...] = ()


@dataclass(frozen=True, slots=True)
class Called:
    """A call of a function or class: in which function it stands, from which module its name is imported (empty for the same file), under
    which conditions, and with what."""

    caller: str
    module: str
    under: tuple[Clause, ...] = ()
    given: tuple[Given, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """What a function with one ``return`` returns: a value, or an object with these values as its fields."""

    sources: Sources = ()
    fields: tuple[tuple[str, Sources], ...] = ()


@dataclass(frozen=True, slots=True)
class Attribute:
    """What an attribute of some object is set to."""

    sources: Sources


@dataclass(frozen=True, slots=True)
class Predicate:
    """The text that a value has for which a predicate holds: ``return self == Backend.FAST``."""

    value: str


class Origins(Flow):
    """The part of a walk that follows values. ``called``, ``results``, ``set_to`` and ``predicates`` are what others may ask for."""

    place: Place
    constants: dict[str, Constant]
    missed: set[str]

    def __init__(self, reader: Reader, knowledge: Knowledge, flags: dict[str, Flag]) -> None:
        super().__init__(reader)
        self.knowledge = knowledge
        self.flags = flags
        self.called: dict[str, list[Called]] = {}
        self.results: dict[str, Result | None] = {}
        self.set_to: dict[str, Attribute | None] = {}
        self.predicates: dict[str, Predicate | None] = {}
        self._own: dict[tuple[str, str], Sources] = {}
        self._asked: dict[tuple[int, str, int], tuple[Clause, ...]] = {}

    # --------------------------------------------------------------------------------------------------------- options

    def keep_field(self, statement: ast.AnnAssign) -> None:
        """Remember the option that a field of a dataclass of arguments stands for."""
        if self.place.node is None and self.place.class_name and (found := field_of(statement)) is not None:
            self.flags[found[0]] = found[1]

    def defines(self, node: ast.Call) -> bool:
        """Whether a call defines an option, which is remembered."""
        found = defined(node)
        if found is not None:
            self.flags[found[0]] = found[1]
        return found is not None

    def asked(self) -> tuple[Clause, ...]:
        """What the conditions that hold now ask of values."""
        found: dict[Clause, None] = {}
        for held in self.conditions:
            if held.kind in ("if", "unless", "assert") and isinstance(held.what, ast.expr):
                found.update(dict.fromkeys(self._clauses(held, held.what)))
        return tuple(none_of_them(found)) if found else ()

    def _clauses(self, held: Held, test: ast.expr) -> tuple[Clause, ...]:
        key = (id(test), held.kind, held.early)
        found = self._asked.get(key)
        if found is None:
            found = tuple(clauses(test, held.kind == "if", self))
            if held.early:
                found = tuple(tuple(replace(wanted, early=True) for wanted in clause) for clause in found)
            self._asked[key] = found
        return found

    # ---------------------------------------------------------------------------------------------------------- values

    def origin(self, node: ast.expr, depth: int = DEPTH) -> Sources:
        """Where a value comes from; empty when that cannot be told, or is of no interest."""
        if not depth:
            return ()
        if isinstance(node, ast.Name):
            return self._of_name(node.id, depth)
        if isinstance(node, ast.Attribute):
            return self._of_attribute(node, depth)
        if isinstance(node, ast.Call):
            return self._of_call(node, depth)
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            return tuple(dict.fromkeys(source for value in node.values for source in self.origin(value, depth - 1)))
        return ()

    def _of_name(self, name: str, depth: int) -> Sources:
        if name in self.place.options:
            return (self.place.options[name],)
        held = self.reader.environment.get(name, ())
        value = held[0] if len(held) == 1 else None
        if not isinstance(value, Opaque):
            return ()
        if value.parameter:
            return self._of_parameter(name)
        return self.origin(value.node, depth - 1) if value.node is not None else ()

    def _of_parameter(self, name: str) -> Sources:
        node = self.place.node
        if node is None:
            return ()
        arguments = node.args
        positional = [one.arg for one in (*arguments.posonlyargs, *arguments.args)][1 if self.place.is_method else 0 :]
        if name in positional:
            return (Read("parameter", name, self.place.name, positional.index(name)),)
        return (Read("parameter", name, self.place.name),) if any(one.arg == name for one in arguments.kwonlyargs) else ()

    def _of_attribute(self, node: ast.Attribute, depth: int) -> Sources:
        name = node.attr
        if calls.is_self(node.value):
            if name in self.flags:
                return (self.flags[name],)
            return self._own.get((self.place.class_name, name), ())
        if is_argument(node) or (is_distinctive(name) and self._is_setting(node.value)):
            return (Read("option", name, calls.last_name(node.value)),)
        of = self.origin(node.value, depth - 1)
        if name == "value":
            return of
        if len(of) == 1 and isinstance(of[0], Read) and of[0].kind in ("attribute", "result") and not of[0].field:
            return (replace(of[0], field=name),)
        return (Read("attribute", name),) if is_distinctive(name) else ()

    def _is_setting(self, node: ast.expr) -> bool:
        """Whether an object belongs to the settings of the process: ``get_settings().part``, or a variable that holds it."""
        for _ in range(DEPTH):
            if isinstance(node, ast.Attribute):
                node = node.value
            elif isinstance(node, ast.Name):
                held = self.reader.environment.get(node.id, ())
                value = held[0] if len(held) == 1 else None
                if not isinstance(value, Opaque) or value.node is None:
                    return False
                node = value.node
            else:
                break
        return isinstance(node, ast.Call) and not node.args and not node.keywords and ACCESSOR.match(calls.last_name(node.func)) is not None

    def _of_call(self, node: ast.Call, depth: int) -> Sources:
        if not isinstance(node.func, ast.Name):
            return ()
        name = node.func.id
        if not calls.names_class(name):
            imported = self.knowledge.imports.names.get(name)
            return (Read("result", imported[1] if imported is not None and imported[1] else name),)
        # A member of an enumeration, made of its value.
        return self.origin(node.args[0], depth - 1) if len(node.args) == 1 and not node.keywords else ()

    def member(self, node: ast.expr) -> str:
        """The text that a member of an enumeration stands for; empty when there is none."""
        if not isinstance(node, ast.Attribute) or not (name := calls.dotted_name(node)):
            return ""
        for at, last in ((name, node), (f"{name}.value", ast.Attribute(node, "value", ast.Load()))):
            found = self.constants.get(at) or (None if "." not in name else self.knowledge.constant(last))
            text = literal(found.texts[0]) if found is not None and len(found.texts) == 1 else None
            if text:
                return text
        return ""

    # ----------------------------------------------------------------------------------------------- kept for others

    def keep_called(self, node: ast.expr) -> None:
        """Keep a call that makes an object, or of a private function or method."""
        if not isinstance(node, ast.Call) or self.place.node is None or self.quiet:
            return
        func = node.func
        module = ""
        if isinstance(func, ast.Name):
            name = func.id
            if name == "cls":
                name = self.place.class_name
            elif calls.names_class(name) and name not in BUILTIN_ERRORS:
                imported = self.knowledge.imports.names.get(name)
                if imported is not None and imported[1]:
                    module, name = imported
            elif name[0] != "_":
                return
        elif isinstance(func, ast.Attribute) and func.attr[0] == "_" and calls.is_self(func.value):
            name = f"{self.place.class_name}.{func.attr}"
        else:
            return
        given = tuple(self._given(node))
        self.called.setdefault(name, []).append(Called(self.place.name, module, self.asked(), given))

    def _given(self, node: ast.Call) -> Iterator[Given]:
        named: list[tuple[str | int, ast.expr]] = list(enumerate(node.args))
        named += [(keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg is not None]
        for name, value in named:
            if isinstance(value, ast.Name | ast.Attribute | ast.Call | ast.BoolOp) and (sources := self.origin(value)):
                yield Given(name, sources)
            elif isinstance(value, ast.Call | ast.Compare | ast.BoolOp | ast.UnaryOp) and (holds := tuple(clauses(value, True, self))):
                yield Given(name, holds=holds)

    def keep_result(self, node: ast.expr) -> None:
        """Keep what a function returns; of one with several ``return``, nothing is known."""
        name = self.place.name
        if "." in name or name in self.results:
            self._keep_predicate(node)
            self.results[name] = None
            return
        if isinstance(node, ast.Name):
            held = self.reader.environment.get(node.id, ())
            node = held[0].node if len(held) == 1 and isinstance(held[0], Opaque) and held[0].node is not None else node
        if isinstance(node, ast.Call) and node.keywords and not node.args and calls.names_class(calls.last_name(node.func)):
            fields = tuple((keyword.arg, self.origin(keyword.value)) for keyword in node.keywords if keyword.arg is not None)
            self.results[name] = Result(fields=tuple(field for field in fields if field[1]))
        else:
            self.results[name] = Result(self.origin(node))

    def _keep_predicate(self, node: ast.expr) -> None:
        """Keep what a method says that compares its object with one text or member."""
        if not self.place.is_method or not isinstance(node, ast.Compare) or len(node.ops) != 1:
            return
        left = node.left.value if isinstance(node.left, ast.Attribute) and node.left.attr == "value" else node.left
        if not calls.is_self(left) or not isinstance(node.ops[0], ast.Eq | ast.Is):
            return
        right = node.comparators[0]
        value = right.value if isinstance(right, ast.Constant) else self.member(right)
        name = self.place.name.rpartition(".")[2]
        if isinstance(value, str) and value:
            before = self.predicates.get(name, Predicate(value))
            self.predicates[name] = Predicate(value) if before == Predicate(value) else None

    def keep_set(self, target: ast.expr, value: ast.expr) -> None:
        """Keep what an attribute is set to: of ``self`` for its class, of other objects for all."""
        if not isinstance(target, ast.Attribute):
            return
        if calls.is_self(target.value):
            key = (self.place.class_name, target.attr)
            self._own[key] = () if key in self._own else self.origin(value)
        elif is_distinctive(target.attr):
            found = Attribute(self.origin(value))
            self.set_to[target.attr] = found if self.set_to.get(target.attr, found) == found else None


# ---------------------------------------------------------------------------------------------------------------- offers


def needs(sources: Iterable[Sources]) -> frozenset[str]:
    """The keys under which it is offered where these values come from."""
    return frozenset(key for some in sources for source in some if isinstance(source, Read) for key in _keys(source))


def _keys(read: Read) -> tuple[str, ...]:
    if read.kind == "parameter":
        name = called_as(read.of)
        return (f"called:{name}", f"given:{name}") if is_offered(name) else ()
    return (f"{'flag' if read.kind == 'option' else read.kind}:{read.name}",)


def called_as(function: str) -> str:
    """The name by which a function is called: that of its class, when it makes objects of it."""
    return function.removesuffix(".__init__")


def is_offered(name: str) -> bool:
    """Whether calls under this name are told others of: those that make objects."""
    return calls.names_class(name) and "." not in name


def asks_for(found: Iterable[Clause]) -> frozenset[str]:
    """The keys that it takes to tell which options clauses make."""
    asked = [wanted for clause in found for wanted in clause]
    predicates = frozenset(f"predicate:{wanted.value}" for wanted in asked if wanted.how == "asks")
    return needs(wanted.sources for wanted in asked) | predicates


def offered(path: str, walk: Origins) -> Iterator[tuple[str, Offer]]:
    """What a file tells others of where values come from.

    Calls that make objects are offered by what they may tell: ``called`` that options decide on it, ``given`` that it hands something on,
    ``also`` that there is one more.
    """
    for name, found in walk.called.items():
        if is_offered(name):
            for one in dict.fromkeys(found):
                yield _of_call(name, path, one)
    for kind, facts in (("result", walk.results), ("attribute", walk.set_to)):
        for fact_name, fact in facts.items():
            if fact is not None and (sources := _followed(fact)):
                yield f"{kind}:{fact_name}", Offer(path, fact, needs(sources))
    for name, predicate in walk.predicates.items():
        if predicate is not None:
            yield f"predicate:{name}", Offer(path, predicate)


def _of_call(name: str, path: str, called: Called) -> tuple[str, Offer]:
    """A call as it is offered; what says nothing of options is left out of it."""
    under = tuple(clause for clause in called.under if all(map(_may_decide, clause)))
    given = tuple(one for one in called.given if _may_tell(one))
    kind = "called" if under else "given" if given else "also"
    called = replace(called, under=under, given=given)
    wanted = asks_for((*under, *(clause for one in given for clause in one.holds))) | needs(one.sources for one in given)
    if kind != "also":
        wanted |= {f"called:{name}", f"given:{name}", f"also:{name}"} - {f"{kind}:{name}"}
    if under and is_offered(caller := called_as(called.caller)):
        wanted |= {f"called:{caller}"}
    return f"{kind}:{name}", Offer(path, called, wanted)


def _may_tell(given: Given) -> bool:
    """Whether an argument may come from an option; what is only handed on is followed within a file."""
    return any(all(map(_may_decide, clause)) for clause in given.holds) or _is_followed((given.sources,), FOLLOWED | {"attribute"})


def _may_decide(wanted: Wanted) -> bool:
    """Whether a wanted value may come from an option: of a parameter, only where it is held against a text."""
    return wanted.how in ("is", "asks") or _is_followed((wanted.sources,))


def _is_followed(sources: Iterable[Sources], kinds: frozenset[str] = FOLLOWED) -> bool:
    return any(
        isinstance(source, Flag) or (source.kind in kinds and not CONFIGURATIONS.search(source.of)) for some in sources for source in some
    )


def _followed(fact: Result | Attribute) -> Sequence[Sources]:
    """The sources of a fact, where some of them are worth following."""
    sources = [fact.sources, *(one for _, one in fact.fields)] if isinstance(fact, Result) else [fact.sources]
    return sources if _is_followed(sources) else ()
