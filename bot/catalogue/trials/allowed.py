"""Which Python of a record file may be run in a trial: a list of what is allowed; all else is refused before anything runs.

Whoever opens a pull request writes this code. It is run without builtins that reach out (:mod:`bot.catalogue.trials.stage`), so
what is refused here is what leads from a harmless value to the interpreter: names that begin with an underscore, and the few that
do the same without one (frames of generators and tracebacks, ``str.format``, ``mro``).
"""

from __future__ import annotations

import ast
import warnings

MAX_NODES = 2_000
"""Parts of a syntax tree; a guard has fifty."""

_NODES: tuple[type[ast.AST], ...] = (
    ast.Module, ast.Expression, ast.FunctionDef, ast.arguments, ast.arg, ast.Lambda, ast.Return, ast.Expr, ast.Pass, ast.Break,
    ast.Continue, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr, ast.For, ast.While, ast.If, ast.IfExp, ast.With,
    ast.withitem, ast.Try, ast.ExceptHandler, ast.Raise, ast.Assert, ast.Import, ast.ImportFrom, ast.alias, ast.Nonlocal,
    ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.keyword, ast.Starred, ast.Attribute, ast.Subscript, ast.Slice,
    ast.Name, ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.JoinedStr, ast.FormattedValue,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension,
    ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop,
)  # fmt: skip

_LEADING_ON = frozenset({"format", "format_map", "mro", "with_traceback"})
_FRAMES = ("gi_", "cr_", "ag_", "tb_", "f_", "co_", "func_")
"""How the names begin that lead to a frame or code (https://docs.python.org/3/library/inspect.html#types-and-members)."""

_NAMES = frozenset({"__name__"})


def refusal(code: str, mode: str = "exec") -> str:
    """Why this code may not be run, in a few words; "" when it may. ``mode`` is ``eval`` for one expression.

    What is no Python is refused too.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code, mode=mode)
        nodes = list(ast.walk(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "it is no Python"
    if len(nodes) > MAX_NODES:
        return "it is too long"
    return next((why for node in nodes if (why := _refused(node))), "")


def _refused(node: ast.AST) -> str:
    if not isinstance(node, _NODES):
        return f"it holds {type(node).__name__}"
    if isinstance(node, ast.Attribute) and (node.attr.startswith("_") or node.attr in _LEADING_ON or node.attr.startswith(_FRAMES)):
        return f"it reads .{node.attr}"
    names: list[str | None] = []
    if isinstance(node, ast.Name):
        names = [node.id]
    elif isinstance(node, ast.arg | ast.keyword):
        names = [node.arg]
    elif isinstance(node, ast.FunctionDef | ast.ExceptHandler):
        names = [node.name]
    elif isinstance(node, ast.alias):
        names = [*node.name.split("."), node.asname]
    elif isinstance(node, ast.ImportFrom):
        names = [*(node.module or "").split(".")]
    elif isinstance(node, ast.Nonlocal):
        names = [*node.names]
    wrong = next((name for name in names if name and name.startswith("__") and name not in _NAMES), "")
    return f"it names {wrong}" if wrong else ""
