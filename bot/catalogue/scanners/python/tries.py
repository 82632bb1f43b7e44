"""What a ``try`` calls: functions by the module that their name is imported from, as far as imports tell."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Mapping

from bot.catalogue.scanners.python.calls import dotted_name

MAX_CALLED = 8
"""Calls of one ``try`` that are kept, the outermost first."""

MAX_NODES = 500
"""Parts of its statements that are looked at: a ``try`` around a whole program tells nothing."""


def called_in(statement: ast.Try | ast.TryStar, imports: Mapping[str, tuple[str, str]]) -> tuple[str, ...]:
    """The functions that a ``try`` calls: ``package.module:function`` or ``package.module:Class.method`` for what is imported, and as it
    is written (``self.load``, ``Loader``) for the rest. What it defines runs elsewhere."""
    found: dict[str, None] = {}
    waiting: deque[ast.AST] = deque(statement.body)
    for _ in range(MAX_NODES):
        if not waiting or len(found) == MAX_CALLED:
            break
        node = waiting.popleft()
        if isinstance(node, ast.Call) and (name := _name(node.func, imports)):
            found[name] = None
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))
    return tuple(found)


def _name(func: ast.expr, imports: Mapping[str, tuple[str, str]]) -> str:
    written = func.id if isinstance(func, ast.Name) else dotted_name(func) if isinstance(func, ast.Attribute) else ""
    first, _, rest = written.partition(".")
    module, name = imports.get(first, ("", ""))
    if not module:
        return written
    if name:
        return f"{module}:{name}" + (f".{rest}" if rest else "")
    # "import a.b" binds "a"; "import a.b as c" and "import a" bind what they name.
    below, _, last = rest.rpartition(".")
    whole = module.split(".")[0] if first == module.split(".")[0] else module
    return f"{whole}.{below}:{last}" if below else f"{whole}:{last}" if last else ""
