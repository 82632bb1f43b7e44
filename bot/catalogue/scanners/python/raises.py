"""Finds the statements that raise, assert or log, with what leads to them.

One walk over the statements of a module, in the order in which they run. Expressions are only read where a statement needs them: most
of a syntax tree is never visited.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from bot.catalogue.scanners import Raised
from bot.catalogue.scanners.python import calls, code, docstrings, messages
from bot.catalogue.scanners.python.asked import Clause
from bot.catalogue.scanners.python.collected import is_pure
from bot.catalogue.scanners.python.definitions import EXCEPTION_BASE, Definitions
from bot.catalogue.scanners.python.facts import ALIASES, STARRED, Argument, Error, Function
from bot.catalogue.scanners.python.flow import FLOW, Held
from bot.catalogue.scanners.python.knowledge import Knowledge
from bot.catalogue.scanners.python.parts import unparse, words
from bot.catalogue.scanners.python.text import Environment, Opaque
from bot.catalogue.scanners.python.tries import called_in
from bot.model import Condition, Hole, Template

MAX_CODE_LINES = 12
"""Lines of a statement that are kept, as :class:`bot.model.RaiseSite` says."""

MAX_EARLIER = 3
"""How many of the tests that left a block before the statement are named, the nearest ones."""

MAX_CONDITIONS = 24
MAX_CONDITION = 200
MAX_SIGNATURE = 400
"""Longest condition and signature, in characters; the rest is cut off."""

MAX_DOCUMENTED = 6
"""Parameters whose documentation is kept at one place."""

NAMES = re.compile(r"[A-Za-z_]\w*")

MAX_TRIED = 3
"""How many of the statements that were tried are named."""

NEAR = 2
"""Lines between the end of a text and the call that hands it on, for both to be one place."""


class Walk(Definitions):
    """One walk over a module; after :meth:`module`, ``raised`` holds what it raises, in the order of the lines.

    ``asks`` holds what the conditions of each ask of values.
    """

    def __init__(self, path: str, lines: Sequence[str], knowledge: Knowledge, earlier: Walk | None = None) -> None:
        super().__init__(knowledge, earlier)
        self.path = path
        self.lines = lines
        self.raised: list[Raised] = []
        self.asks: list[tuple[Clause, ...]] = []
        self._written: dict[int, str] = {}
        self._docstrings: dict[str, dict[str, str]] = {}

    def module(self, tree: ast.Module) -> None:
        """Walk a module."""
        self.block(tree.body, self.reader.environment)

    def take_apart(self) -> None:
        """End the walk: it refers to itself through its reader, and its syntax tree would stay until the next collection of garbage."""
        self.__dict__.clear()

    # -------------------------------------------------------------------------------------------------- statements

    def _raise(self, statement: ast.Raise, environment: Environment) -> bool:
        if statement.exc is None or self.quiet:
            return False
        errors = self._errors(statement.exc)
        for error in errors:
            if error.type == "SystemExit" and is_pure(error.parts):
                continue  # an exit code, which prints nothing
            self._record(statement, error)
            self.keep_raised(statement.exc, error)
        for function in () if errors else self.functions_called(statement.exc):
            self._record_given(statement, statement.exc, function, (*function.makes, *function.raises))
        return False

    def _assert(self, statement: ast.Assert, environment: Environment) -> None:
        if self.quiet:
            return
        self.conditions.append(Held("assert", statement.test))
        said = self.reader.message(statement.msg) if statement.msg is not None else ((),)
        for parts in said:
            self._record(statement, Error("AssertionError", parts), "assert", "" if parts else unparse(statement.test))
        self.conditions.pop()

    def _expression(self, statement: ast.Expr, environment: Environment) -> bool | None:
        node = statement.value.value if isinstance(statement.value, ast.Await) else statement.value
        if not isinstance(node, ast.Call) or self.quiet:
            return None
        if self.adds(node) or self.defines(node):
            return None
        self.keep_called(node)
        logged = calls.logged(node)
        if logged is not None:
            for parts in calls.logged_texts(logged, self.reader):
                if words(parts):
                    kind = "warning" if logged.level == "warning" else "log"
                    self._record(statement, Error(f"log:{logged.level}", parts), kind)
            return None
        if calls.exits(node):
            for parts in self.reader.texts(node.args[-1]) or () if node.args else ():
                self._record(statement, Error("SystemExit", parts), through=unparse(node.func))
            return False
        if self.place.owner is not None and (handed := calls.handed_on(node)) is not None:
            self.place.handed.append(
                tuple(
                    Argument((), STARRED) if isinstance(value, ast.Starred) else calls.argument(value, name, self.reader)
                    for name, value in handed
                )
            )
            return None
        self._hand_on(statement, node)
        return None

    def _return(self, statement: ast.Return, environment: Environment) -> bool:
        node = statement.value.value if isinstance(statement.value, ast.Await) else statement.value
        if node is None or self.quiet or self.place.node is None:
            return False
        self.keep_called(node)
        makes = isinstance(node, ast.Call) and EXCEPTION_BASE.search(calls.last_name(node.func))
        self.keep_returned(node, self._errors(node) if makes else ())
        name, type, said = calls.answered(node, self.reader)
        for parts in said:
            if words(parts) < calls.MIN_WORDS:
                continue
            self._record(statement, Error(type, parts), through=name, first=self._first_line(statement, node))
        if isinstance(node, ast.Call) and not said:
            self._hand_on(statement, node)
        return False

    def _hand_on(self, statement: ast.stmt, node: ast.Call) -> None:
        """Record the text that a statement hands to a function that raises it, or whose name says that it reports an error."""
        if keyed := self.keyed(node):
            for parts in keyed:
                self._record(statement, Error(messages.RAISED, parts), through=calls.last_name(node.func))
            return
        functions = self.functions_called(node)
        for function in functions:
            self._record_given(statement, node, function, function.raises)
        if any(function.raises for function in functions) or not calls.reports(node):
            return
        for argument in calls.arguments(node, self.reader):
            if argument.text and calls.says(argument.texts):
                for parts in argument.texts:
                    if words(parts) < calls.MIN_WORDS:
                        continue
                    error = Error(calls.reported_type(node), parts)
                    self._record(statement, error, through=calls.last_name(node.func), first=self._first_line(statement, node))
                return

    # -------------------------------------------------------------------------------------------------- exceptions

    def _errors(self, node: ast.expr, depth: int = 3) -> tuple[Error, ...]:
        """The exceptions that an expression after ``raise`` makes; none for one that is only raised again."""
        if isinstance(node, ast.IfExp):
            return (*self._errors(node.body, depth), *self._errors(node.orelse, depth))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "with_traceback":
            return self._errors(node.func.value, depth)
        if isinstance(node, ast.Name) and node.id in self.reader.environment:
            held = [value.node for value in self.reader.environment[node.id] if isinstance(value, Opaque) and value.node is not None]
            return tuple(error for value in held if depth for error in self._errors(value, depth - 1))
        if isinstance(node, ast.Name | ast.Attribute):
            name = calls.last_name(node)
            return (Error(ALIASES.get(name, name), ()),) if calls.names_class(name) and not name.isupper() else ()
        if not isinstance(node, ast.Call):
            return ()
        if keyed := self.keyed(node):
            return tuple(Error(messages.RAISED, parts) for parts in keyed)
        given = calls.with_params(node, calls.arguments(node, self.reader), self.reader)
        type = self._type(node.func)
        if not node.args and (translated := self.translated(node)):
            given = (Argument(translated, text=True),)
        if type:
            return self.knowledge.printed(type, given)
        if self.knowledge.functions(node.func, self.place.class_name):
            return ()  # recorded as what is handed to it
        texts = next((argument.texts for argument in given if argument.text), ())
        return tuple(Error("Exception", parts) for parts in texts if words(parts) >= calls.MIN_WORDS)

    def _type(self, func: ast.expr, depth: int = 3) -> str:
        """The exception type that a call makes, as Python prints it; empty when it can't be told."""
        if isinstance(func, ast.Name) and depth:
            for value in self.reader.environment.get(func.id, ()):
                if isinstance(value, Opaque) and isinstance(value.node, ast.Name | ast.Attribute):
                    return self._type(value.node, depth - 1)
        name = calls.last_name(func)
        return ALIASES.get(name, name) if calls.names_class(name) else ""

    def _record_given(self, statement: ast.stmt, node: ast.expr, function: Function, errors: Iterable[Error]) -> None:
        """Record what a call hands to a function that raises it."""
        if isinstance(node, ast.Call) and (errors := tuple(errors)):
            given: tuple[Argument, ...] = calls.arguments(node, self.reader)
            for error in calls.given(function, errors, given):
                self._record(statement, error, through=function.name, first=self._first_line(statement, node))

    def _first_line(self, statement: ast.stmt, node: ast.expr) -> int:
        """Where the place begins at which a text is handed on: with the text itself.

        What raises it stands elsewhere, so the text is what a reader looks for: as an argument, or set just before the call.
        """
        if not isinstance(node, ast.Call):
            return statement.lineno
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            texts = self.reader.texts(argument)
            if texts is not None and calls.says(texts):
                if not isinstance(argument, ast.Name):
                    return max(argument.lineno, statement.lineno)
                first, last = self.written_at.get(argument.id, (0, 0))
                if first < statement.lineno <= last + NEAR:
                    return first
        return statement.lineno

    # ------------------------------------------------------------------------------------------------------- sites

    def _record(
        self, statement: ast.stmt, error: Error, kind: str = "error", expression: str = "", through: str = "", first: int = 0
    ) -> None:
        under = self.place.said_under.get(error.parts, ())
        # What held when the text was set, and is over by now, tells this text from the others.
        if more := [held for held in under if held not in self.conditions and not held.early]:
            outer, self.conditions = self.conditions, [*self.conditions, *more]
            self._add(statement, error, kind, expression, through, first)
            self.conditions = outer
            return
        found = self.collected(error.parts) if kind != "warning" else []
        for parts, one in found:
            outer = self.conditions
            self.conditions = [*outer, *(held for held in one.conditions if held not in outer)]
            also = (one.parts,) if one.parts != parts else ()
            self._add(statement, Error(error.type, parts, also), kind, expression, one.through, first)
            self.conditions = outer
        if not found or not is_pure(error.parts):
            self._add(statement, error, kind, expression, through, first)

    def _add(self, statement: ast.stmt, error: Error, kind: str, expression: str, through: str, first: int) -> None:
        begin, last = statement.lineno, statement.end_lineno or statement.lineno
        printed = "\n".join(line.strip() for line in self.lines[begin - 1 : min(last, begin - 1 + MAX_CODE_LINES)])
        self.asks.append(self.asked() if kind != "warning" else ())
        self.raised.append(
            Raised(
                type=error.type,
                template=Template(error.parts),
                kind=kind,
                expression=expression,
                path=self.path,
                line=first or begin,
                end_line=last,
                function=self.place.name or "<module>",
                code=printed,
                conditions=self._conditions(),
                signature=self._signature(),
                through=through,
                documented=self._documented(error),
                tried=self._tried_calls(),
                also=tuple(Template(parts) for parts in error.also if words(parts) >= calls.MIN_WORDS),
            )
        )

    def _conditions(self) -> tuple[Condition, ...]:
        """What leads to the statement, outermost first."""
        kept: list[Condition] = []
        earlier: dict[int, int] = {}
        for held in reversed(self.conditions):
            if held.early:
                earlier[held.early] = earlier.get(held.early, 0) + 1
                if earlier[held.early] > MAX_EARLIER:
                    continue
            kept.append(Condition(held.kind, self._write(held.what)))
        return tuple(reversed(kept[:MAX_CONDITIONS]))

    def _write(self, what: ast.AST | str) -> str:
        """A condition as source code."""
        if isinstance(what, str):
            return what
        text = self._written.get(id(what))
        if text is None:
            if isinstance(what, ast.For | ast.AsyncFor):
                text = _cut(f"{code.targets(what.target)} in {unparse(what.iter)}")
            elif isinstance(what, ast.With | ast.AsyncWith):
                text = _cut(", ".join(map(_with_item, what.items)))
            elif isinstance(what, ast.Try | ast.TryStar):
                text = "\n".join(map(self._tried, what.body[:MAX_TRIED]))
            else:
                text = _cut(unparse(what))
            self._written[id(what)] = text
        return text

    def _tried(self, statement: ast.stmt) -> str:
        """A statement that was tried; of one with a block, the first line."""
        compound = hasattr(statement, "body") or isinstance(statement, ast.Match)
        return _cut(self.lines[statement.lineno - 1].strip() if compound else _simple(statement))

    def _tried_calls(self) -> tuple[str, ...]:
        """What was called by the innermost ``try`` in whose handler the statement stands."""
        for held in reversed(self.conditions):
            if held.kind == "try" and isinstance(held.what, ast.Try | ast.TryStar):
                return called_in(held.what, self.knowledge.imports.names)
        return ()

    def _documented(self, error: Error) -> tuple[tuple[str, str], ...]:
        """What the docstring says of the parameters that the text or a condition names; a class has its own for ``__init__``."""
        place = self.place
        if place.node is None:
            return ()
        documented = self._docstrings.get(place.name)
        if documented is None:
            text = ast.get_docstring(place.node, clean=False) or (place.class_docstring if place.node.name == "__init__" else "")
            documented = self._docstrings[place.name] = docstrings.documented(text) if text else {}
        if not documented:
            return ()
        named = {name for part in error.parts if isinstance(part, Hole) for name in NAMES.findall(part.expression)}
        for held in self.conditions:
            if held.kind in ("if", "unless", "assert"):
                named.update(NAMES.findall(self._write(held.what)))
        wanted = [name for name in place.parameters.names if name in named and name in documented]
        return tuple((name, documented[name]) for name in wanted[:MAX_DOCUMENTED])

    def _signature(self) -> str:
        """The function's name and parameters, after ``async`` where it is a coroutine."""
        node = self.place.node
        if node is None:
            return ""
        text = self._written.get(id(node))
        if text is None:
            text = self._written[id(node)] = _cut(_definition(node), MAX_SIGNATURE)
        return text

    walks = {  # noqa: RUF012
        **FLOW,
        ast.FunctionDef: Definitions.define_function,
        ast.AsyncFunctionDef: Definitions.define_function,
        ast.ClassDef: Definitions.define_class,
        ast.Import: Definitions.add_import,
        ast.ImportFrom: Definitions.add_import,
        ast.Raise: _raise,
        ast.Assert: _assert,
        ast.Expr: _expression,
        ast.Return: _return,
    }


def _cut(text: str, most: int = MAX_CONDITION) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


def _with_item(item: ast.withitem) -> str:
    return unparse(item.context_expr) + (f" as {unparse(item.optional_vars)}" if item.optional_vars is not None else "")


def _simple(statement: ast.stmt) -> str:
    """A statement without a block, on one line."""
    if isinstance(statement, ast.Expr):
        return unparse(statement.value)
    try:
        return " ".join(ast.unparse(statement).split("\n"))
    except (RecursionError, ValueError):
        return "..."


def _definition(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    name = f"async {node.name}" if isinstance(node, ast.AsyncFunctionDef) else node.name
    try:
        return f"{name}({code.parameters(node.args)})"
    except (RecursionError, ValueError, KeyError):
        return f"{name}(...)"
