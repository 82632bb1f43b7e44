"""Conditions as source code: what must be so for another one not to hold."""

from __future__ import annotations

import ast

_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


def opposite(condition: str) -> str:
    """The condition that holds when this one does not, as source code: ``a != b`` of ``a == b``, ``not a or b`` of ``a and not b``.

    Empty for what is no expression of Python, such as one that was cut off.
    """
    try:
        return ast.unparse(_opposite(ast.parse(condition, mode="eval").body))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""


def _opposite(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return node.operand
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return ast.Compare(node.left, [_OPPOSITE[type(node.ops[0])]()], node.comparators)
    if isinstance(node, ast.BoolOp):
        return ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), [_opposite(value) for value in node.values])
    return ast.UnaryOp(ast.Not(), node)
