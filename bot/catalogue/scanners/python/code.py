"""Writes expressions of a syntax tree as source code on one line, the same with every Python that scans.

:func:`ast.unparse` writes strings and f-strings differently from one Python to the next, and ids of records are made from what is written
here. So quotes, blanks and needless brackets are those of this module, whatever the source has and whatever Python reads it. Precedences:
https://docs.python.org/3/reference/expressions.html#operator-precedence.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

NAMED, TUPLE, TEST, OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, TERM, SIGN, POWER, AWAIT, ATOM = range(17)

BINARY: Mapping[type[ast.operator], tuple[str, int]] = {
    ast.BitOr: ("|", BIT_OR), ast.BitXor: ("^", BIT_XOR), ast.BitAnd: ("&", BIT_AND), ast.LShift: ("<<", SHIFT), ast.RShift: (">>", SHIFT),
    ast.Add: ("+", SUM), ast.Sub: ("-", SUM), ast.Mult: ("*", TERM), ast.Div: ("/", TERM), ast.FloorDiv: ("//", TERM),
    ast.Mod: ("%", TERM), ast.MatMult: ("@", TERM), ast.Pow: ("**", POWER),
}  # fmt: skip
UNARY: Mapping[type[ast.unaryop], tuple[str, int]] = {
    ast.Not: ("not ", NOT), ast.USub: ("-", SIGN), ast.UAdd: ("+", SIGN), ast.Invert: ("~", SIGN),
}  # fmt: skip
COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is", ast.IsNot: "is not",
    ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


def write(node: ast.AST, least: int = NAMED) -> str:
    """Source code of an expression; in brackets when it binds less than ``least``.

    Raises RecursionError for one that is nested too deeply, and ValueError for one that is no expression.
    """
    kind = type(node)
    if kind is ast.Name:
        return node.id  # type: ignore[attr-defined, no-any-return]
    writer = WRITERS.get(kind)
    if writer is None:
        raise ValueError(f"no expression: {kind.__name__}")
    text, binds = writer(node)
    return f"({text})" if binds < least else text


Written = tuple[str, int]


def _constant(node: ast.Constant) -> Written:
    value = node.value
    if value is Ellipsis:
        return "...", ATOM
    if isinstance(value, str):
        return ("u" if node.kind == "u" else "") + repr(value), ATOM
    # A number too large for a float is read as infinite; it is written as a number again.
    return repr(value).replace("inf", "1e309"), ATOM


def _attribute(node: ast.Attribute) -> Written:
    of = write(node.value, ATOM)
    if isinstance(node.value, ast.Constant) and isinstance(node.value.value, int):
        of += " "  # "1.real" would be a broken number
    return f"{of}.{node.attr}", ATOM


def _call(node: ast.Call) -> Written:
    if len(node.args) == 1 and not node.keywords and isinstance(node.args[0], ast.GeneratorExp):
        return write(node.func, ATOM) + write(node.args[0]), ATOM
    parts = [write(argument, TEST) if not isinstance(argument, ast.NamedExpr) else write(argument, ATOM) for argument in node.args]
    parts += [(f"{keyword.arg}=" if keyword.arg else "**") + write(keyword.value, TEST) for keyword in node.keywords]
    return f"{write(node.func, ATOM)}({', '.join(parts)})", ATOM


def _subscript(node: ast.Subscript) -> Written:
    return f"{write(node.value, ATOM)}[{_bare(node.slice)}]", ATOM


def _bare(node: ast.expr) -> str:
    """An expression in square brackets: a tuple there needs no others."""
    if isinstance(node, ast.Tuple) and node.elts:
        return _listed(node.elts) + ("," if len(node.elts) == 1 else "")
    return write(node)


def _slice(node: ast.Slice) -> Written:
    start, stop = (write(part, TEST) if part is not None else "" for part in (node.lower, node.upper))
    return f"{start}:{stop}" + (f":{write(node.step, TEST)}" if node.step is not None else ""), ATOM


def _binary(node: ast.BinOp) -> Written:
    sign, binds = BINARY[type(node.op)]
    if isinstance(node.op, ast.Pow):
        return f"{write(node.left, AWAIT)} {sign} {write(node.right, SIGN)}", binds
    return f"{write(node.left, binds)} {sign} {write(node.right, binds + 1)}", binds


def _unary(node: ast.UnaryOp) -> Written:
    sign, binds = UNARY[type(node.op)]
    return sign + write(node.operand, binds), binds


def _boolean(node: ast.BoolOp) -> Written:
    sign, binds = (" and ", AND) if isinstance(node.op, ast.And) else (" or ", OR)
    return sign.join([write(value, binds + 1) for value in node.values]), binds


def _compare(node: ast.Compare) -> Written:
    text = write(node.left, BIT_OR)
    for sign, value in zip(node.ops, node.comparators, strict=True):
        text += f" {COMPARISONS[type(sign)]} {write(value, BIT_OR)}"
    return text, COMPARE


def _choice(node: ast.IfExp) -> Written:
    return f"{write(node.body, OR)} if {write(node.test, OR)} else {write(node.orelse, TEST)}", TEST


def _listed(nodes: Sequence[ast.expr]) -> str:
    return ", ".join([write(node, TEST) for node in nodes])


def _tuple(node: ast.Tuple) -> Written:
    return f"({_listed(node.elts)}{',' if len(node.elts) == 1 else ''})", ATOM


def _list(node: ast.List) -> Written:
    return f"[{_listed(node.elts)}]", ATOM


def _set(node: ast.Set) -> Written:
    return (f"{{{_listed(node.elts)}}}" if node.elts else "{*()}"), ATOM


def _dict(node: ast.Dict) -> Written:
    pairs = zip(node.keys, node.values, strict=True)
    written = [f"{write(key, TEST)}: {write(value, TEST)}" if key is not None else f"**{write(value, BIT_OR)}" for key, value in pairs]
    return f"{{{', '.join(written)}}}", ATOM


def _comprehension(node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Written:
    ends = {ast.ListComp: "[]", ast.GeneratorExp: "()"}.get(type(node), "{}")
    text = f"{write(node.key, TEST)}: {write(node.value, TEST)}" if isinstance(node, ast.DictComp) else write(node.elt)
    for part in node.generators:
        text += f" {'async ' if part.is_async else ''}for {targets(part.target)} in {write(part.iter, OR)}"
        text += "".join(f" if {write(test, OR)}" for test in part.ifs)
    return ends[0] + text + ends[1], ATOM


def targets(node: ast.expr) -> str:
    """What stands between ``for`` and ``in``."""
    return _bare(node)


def _named(node: ast.NamedExpr) -> Written:
    return f"{write(node.target)} := {write(node.value, TEST)}", NAMED


def _starred(node: ast.Starred) -> Written:
    return f"*{write(node.value, BIT_OR)}", TEST


def _await(node: ast.Await) -> Written:
    return f"await {write(node.value, ATOM)}", AWAIT


def _yield(node: ast.Yield | ast.YieldFrom) -> Written:
    start = "yield from" if isinstance(node, ast.YieldFrom) else "yield"
    return (f"({start} {write(node.value, TEST)})" if node.value is not None else f"({start})"), ATOM


def _lambda(node: ast.Lambda) -> Written:
    given = parameters(node.args)
    return f"lambda{' ' if given else ''}{given}: {write(node.body, TEST)}", TEST


def parameters(node: ast.arguments) -> str:
    """The parameters of a function, as between the brackets of its definition."""
    positional = [*node.posonlyargs, *node.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(node.defaults)) + list(node.defaults)
    found: list[str] = []
    for at, (argument, default) in enumerate(zip(positional, defaults, strict=True), 1):
        found.append(_parameter(argument, default))
        if at == len(node.posonlyargs):
            found.append("/")
    if node.vararg is not None:
        found.append("*" + _parameter(node.vararg, None))
    elif node.kwonlyargs:
        found.append("*")
    found += [_parameter(argument, default) for argument, default in zip(node.kwonlyargs, node.kw_defaults, strict=True)]
    if node.kwarg is not None:
        found.append("**" + _parameter(node.kwarg, None))
    return ", ".join(found)


def _parameter(node: ast.arg, default: ast.expr | None) -> str:
    text = node.arg + (f": {write(node.annotation, TEST)}" if node.annotation is not None else "")
    return text + (f"={write(default, TEST)}" if default is not None else "")


def _f_string(node: ast.JoinedStr) -> Written:
    inside = _fields(node)
    quote = next((mark for mark in ("'", '"', '"""', "'''") if mark not in inside and not inside.endswith(mark[0])), "'")
    return f"f{quote}{inside}{quote}", ATOM


def _fields(node: ast.JoinedStr) -> str:
    text = ""
    for part in node.values:
        if isinstance(part, ast.Constant):
            text += _escaped(str(part.value)).replace("{", "{{").replace("}", "}}")
        elif isinstance(part, ast.FormattedValue):
            text += _field(part)
    return text


def _escaped(text: str) -> str:
    """A literal as it is written between quotes, with its own quotes as they are: a string that has both shows how."""
    return repr(text + "'\"").replace("\\'", "'")[1:-3]


def _field(node: ast.FormattedValue) -> str:
    inside = write(node.value, OR)
    start = " " if inside.startswith("{") else ""
    text = "{" + start + inside + (f"!{chr(node.conversion)}" if node.conversion != -1 else "")
    if isinstance(node.format_spec, ast.JoinedStr):
        text += ":" + _fields(node.format_spec)
    return text + "}"


WRITERS: Mapping[type[ast.AST], Callable[..., Written]] = {
    ast.Constant: _constant, ast.Attribute: _attribute, ast.Call: _call, ast.Subscript: _subscript, ast.Slice: _slice, ast.BinOp: _binary,
    ast.UnaryOp: _unary, ast.BoolOp: _boolean, ast.Compare: _compare, ast.IfExp: _choice, ast.Tuple: _tuple, ast.List: _list, ast.Set: _set,
    ast.Dict: _dict, ast.ListComp: _comprehension, ast.SetComp: _comprehension, ast.GeneratorExp: _comprehension,
    ast.DictComp: _comprehension, ast.NamedExpr: _named, ast.Starred: _starred, ast.Await: _await, ast.Yield: _yield,
    ast.YieldFrom: _yield, ast.Lambda: _lambda, ast.JoinedStr: _f_string,
}  # fmt: skip
