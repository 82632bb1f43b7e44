"""Follows the statements of a function in the order in which they run: what variables may hold, and which conditions hold.

Both are followed as far as messages need: a variable holds the texts that it may have where ways meet again, and a block that never passes
to its end (it returns or raises) says something about what comes after it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from bot.catalogue.scanners.python.parts import MAX_ALTERNATIVES, Texts, unparse
from bot.catalogue.scanners.python.text import UNKNOWN, Environment, Opaque, Reader, Value
from bot.model import Hole

SETS_NOTHING: frozenset[type] = frozenset({ast.Raise, ast.Return, ast.Assert, ast.Expr, ast.Pass, ast.Break, ast.Continue})
"""Statements that set no variable: a block of these needs no environment of its own."""


@dataclass(slots=True, unsafe_hash=True)
class Held:
    """A condition on the way to a statement; written out only when a raise site is found below it. Never changed, like ``Opaque``.

    ``early`` is the number of the block that was left when it held (or not), and 0 for a block around the statement.
    """

    kind: str
    what: ast.AST | str
    early: int = 0


class Flow:
    """Walks blocks of statements. Subclasses add to ``walks`` what they look for, and say in :meth:`keep` what else an assignment sets."""

    walks: ClassVar[Mapping[type[ast.stmt], Callable[..., bool | None]]]

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.conditions: list[Held] = []
        self.loops: list[list[Environment]] = []
        self.quiet = 0
        self.blocks = self.current = 0
        self.tail: Environment = {}

    def keep(self, target: ast.expr, value: ast.expr, texts: Texts | None) -> None:
        """Told of every assignment to a name, attribute or item; ``texts`` are those of the value where the target is a name."""
        raise NotImplementedError

    def keep_field(self, statement: ast.AnnAssign) -> None:
        """Told of every assignment with an annotation."""
        raise NotImplementedError

    def keep_said(self, texts: Texts) -> None:
        """Told of the texts that a variable is set to."""
        raise NotImplementedError

    def keep_added(self, name: str, values: Sequence[ast.expr]) -> None:
        """Told of what is added to a list."""
        raise NotImplementedError

    def block(self, statements: Sequence[ast.stmt], environment: Environment) -> bool:
        """Walk statements; ``environment`` is changed to what holds behind them. False when none of them is passed to the end."""
        held, outer = len(self.conditions), self.current
        self.blocks = self.current = self.blocks + 1
        passes = True
        for statement in statements:
            walk = self.walks.get(type(statement))
            if walk is not None:
                self.reader.environment = environment
                passes = walk(self, statement, environment) is not False and passes
        del self.conditions[held:]
        self.current = outer
        self.reader.environment = self.tail = environment
        return passes

    def _if(self, statement: ast.If, environment: Environment) -> bool:
        """An ``if`` with its ``elif``, which nest in the tree, walked in one loop: generated code has hundreds of them."""
        held, block = len(self.conditions), self.current
        ends: list[Environment] = []
        left: list[Held] = []
        only_left = True
        at: ast.If | None = statement
        while at is not None:
            self._walrus(at.test, environment)
            branch = environment if SETS_NOTHING.issuperset(map(type, at.body)) else dict(environment)
            self.conditions.append(Held("if", at.test))
            passes = self.block(at.body, branch)
            self.conditions[-1] = Held("unless", at.test)
            if passes:
                ends.append(branch)
                only_left = False
            elif only_left:
                left.append(Held("unless", at.test, block))
            following = at.orelse
            at = following[0] if len(following) == 1 and isinstance(following[0], ast.If) else None
        branch = environment if SETS_NOTHING.issuperset(map(type, following)) else dict(environment)
        passes = self.block(following, branch)
        if passes:
            ends.insert(len(ends) if following else 0, branch)
        elif len(ends) == 1 and following is statement.orelse:
            left.append(Held("if", statement.test, block))
        del self.conditions[held:]
        self.conditions += left
        return self._merge(environment, ends)

    def _merge(self, environment: Environment, ends: Sequence[Environment]) -> bool:
        """Make an environment what holds where these ways meet; False when there is none."""
        if not ends:
            return False
        merged = ends[0]
        for other in ends[1:]:
            if other is not merged:
                merged = both(merged, other)
        if merged is not environment:
            environment.clear()
            environment.update(merged)
        return True

    def _loop(self, statement: ast.For | ast.AsyncFor | ast.While, environment: Environment) -> bool:
        before = dict(environment)
        set_here, added = assigned(statement.body)
        for name in added:
            if name in environment:
                environment[name] = tuple((*value, Hole(name)) if not isinstance(value, Opaque) else value for value in environment[name])
        if isinstance(statement, ast.While):
            held = Held("while", statement.test)
            self._walrus(statement.test, environment)
        else:
            held = Held("for", statement)
            self._forget(statement.target, environment)
        again = [name for name in set_here - added if any(not isinstance(value, Opaque) for value in environment.get(name, ()))]
        if again and not self.quiet:
            # What one round sets, the next one sees.
            self.quiet += 1
            first = dict(environment)
            self._round(statement, first)
            self.quiet -= 1
            for name in again:
                environment[name] = either(environment[name], first.get(name, ()))
        self.conditions.append(held)
        self._round(statement, environment)
        self.conditions.pop()
        self._merge(environment, [before, environment.copy()])
        self.block(statement.orelse, environment)
        return True

    def _round(self, statement: ast.For | ast.AsyncFor | ast.While, environment: Environment) -> None:
        self.loops.append([])
        ends = [environment.copy()] if self.block(statement.body, environment) else []
        self._merge(environment, [*ends, *self.loops.pop()])

    def _leave_round(self, statement: ast.Break | ast.Continue, environment: Environment) -> bool:
        if self.loops:
            self.loops[-1].append(dict(environment))
        return False

    def _try(self, statement: ast.Try, environment: Environment) -> bool:
        before = dict(environment)
        passes = self.block(statement.body, environment)
        middle = both(before, dict(self.tail))
        if passes:
            passes = self.block(statement.orelse, environment)
        ends = [dict(environment)] if passes else []
        for handler in statement.handlers:
            branch = dict(middle)
            if handler.name:
                branch[handler.name] = UNKNOWN
            self.conditions.append(Held("try", statement))
            self.conditions.append(Held("except", handler.type if handler.type is not None else "BaseException"))
            if self.block(handler.body, branch):
                ends.append(branch)
            del self.conditions[-2:]
        reached = self._merge(environment, ends)
        if not reached:
            self._merge(environment, [middle])
        return self.block(statement.finalbody, environment) and reached

    def _with(self, statement: ast.With | ast.AsyncWith, environment: Environment) -> bool:
        for item in statement.items:
            if item.optional_vars is not None:
                self._forget(item.optional_vars, environment)
        self.conditions.append(Held("with", statement))
        passes = self.block(statement.body, environment)
        self.conditions.pop()
        return passes

    def _match(self, statement: ast.Match, environment: Environment) -> bool:
        ends = [dict(environment)]
        for case in statement.cases:
            branch = dict(environment)
            for node in ast.walk(case.pattern):
                name = getattr(node, "name", None)
                if isinstance(name, str):
                    branch[name] = UNKNOWN
            self.conditions.append(Held("if", f"{unparse(statement.subject)} matches {_pattern(case.pattern)}"))
            if self.block(case.body, branch):
                ends.append(branch)
            self.conditions.pop()
        return self._merge(environment, ends)

    def _assign(self, statement: ast.Assign, environment: Environment) -> None:
        for target in statement.targets:
            self._set(target, statement.value, environment)

    def _annotated(self, statement: ast.AnnAssign, environment: Environment) -> None:
        self.keep_field(statement)
        if statement.value is not None:
            self._set(statement.target, statement.value, environment)

    def _set(self, target: ast.expr, value: ast.expr, environment: Environment) -> None:
        if isinstance(target, ast.Name):
            texts = self.reader.texts(value)
            environment[target.id] = texts if texts is not None else (Opaque(value),)
            self.keep(target, value, texts)
        elif isinstance(target, ast.Tuple | ast.List):
            if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
                for one, its in zip(target.elts, value.elts, strict=True):
                    self._set(one, its, environment)
            elif isinstance(value, ast.Call) and all(isinstance(one, ast.Name) for one in target.elts):
                for at, one in enumerate(target.elts):  # what a function returns as a tuple: read only where it is raised
                    self._set(one, ast.Subscript(value, ast.Constant(at), ast.Load(), lineno=0, end_lineno=0), environment)
            else:
                self._forget(target, environment)
        else:
            self.keep(target, value, None)

    def _forget(self, target: ast.expr, environment: Environment) -> None:
        if isinstance(target, ast.Name):
            environment[target.id] = UNKNOWN
        elif isinstance(target, ast.Tuple | ast.List):
            for element in target.elts:
                self._forget(element, environment)
        elif isinstance(target, ast.Starred):
            self._forget(target.value, environment)

    def _walrus(self, test: ast.expr, environment: Environment) -> None:
        if isinstance(test, ast.NamedExpr):
            self.reader.environment = environment
            self._set(test.target, test.value, environment)

    def _augment(self, statement: ast.AugAssign, environment: Environment) -> None:
        if isinstance(statement.target, ast.Name):
            name = statement.target.id
            whole = ast.BinOp(ast.Name(name, ast.Load()), statement.op, statement.value)
            if isinstance(statement.op, ast.Add) and isinstance(statement.value, ast.List):
                self.keep_added(name, statement.value.elts)
            texts = self.reader.texts(whole) if isinstance(statement.op, ast.Add | ast.Mod) else None
            if texts is not None:
                before = environment.get(name, ())
                self.keep_said(tuple(parts for parts in texts if parts not in before))
            environment[name] = texts if texts is not None else UNKNOWN


def _pattern(pattern: ast.pattern) -> str:
    try:
        return " ".join(ast.unparse(pattern).split("\n"))
    except (RecursionError, ValueError):
        return "..."


def either(one: Value, other: Value) -> Value:
    """What a variable may hold where two ways meet."""
    if one is other or one == other:
        return one
    merged = tuple(dict.fromkeys((*one, *other)))
    return merged if len(merged) <= MAX_ALTERNATIVES else UNKNOWN


def both(one: Environment, other: Environment) -> Environment:
    """What holds where two ways meet; a variable that only one of them sets has that way's value."""
    merged = dict(one)
    for name, value in other.items():
        mine = merged.get(name)
        if mine is None:
            merged[name] = value
        elif mine is not value:
            merged[name] = either(mine, value)
    return merged


def assigned(statements: Iterable[ast.stmt]) -> tuple[set[str], set[str]]:
    """Names that statements set, and those that they add to (``+=``), in nested blocks too."""
    names: set[str] = set()
    added: set[str] = set()
    waiting = list(statements)
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, ast.Assign):
            names.update(target.id for target in statement.targets if isinstance(target, ast.Name))
        elif isinstance(statement, ast.AnnAssign | ast.AugAssign) and isinstance(statement.target, ast.Name):
            names.add(statement.target.id)
            if isinstance(statement, ast.AugAssign):
                added.add(statement.target.id)
        elif not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for part in ("body", "orelse", "finalbody"):
                waiting += getattr(statement, part, ())
            for part in ("handlers", "cases"):
                for branch in getattr(statement, part, ()):
                    waiting += branch.body
    return names, added


FLOW: Mapping[type[ast.stmt], Callable[..., bool | None]] = {
    ast.If: Flow._if,
    ast.For: Flow._loop,
    ast.AsyncFor: Flow._loop,
    ast.While: Flow._loop,
    ast.Break: Flow._leave_round,
    ast.Continue: Flow._leave_round,
    ast.Try: Flow._try,
    ast.TryStar: Flow._try,
    ast.With: Flow._with,
    ast.AsyncWith: Flow._with,
    ast.Match: Flow._match,
    ast.Assign: Flow._assign,
    ast.AnnAssign: Flow._annotated,
    ast.AugAssign: Flow._augment,
}
