"""Command-line options: where they are defined, and what reads them.

Defined by ``add_argument("--x")`` of :mod:`argparse`, by a field of a dataclass of arguments (``x: A[str, Arg(help=…)]``: ``--x``), and by
an option of click or typer. Read as an attribute of something that is named like arguments: ``args.x``, ``cfg.x == "a"``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from bot.catalogue.scanners.python.calls import is_self, last_name

ARGUMENTS = re.compile(r"(^|_)(args|arguments|cfg|config|conf|options|opts|opt|flags|namespace|ns)(_|$)")
"""Names of things that hold the arguments of a command."""

FIELDS = re.compile(r"(Arg|Argument|Option|Field|Flag)$")
DESCRIBED = frozenset({"A", "Annotated"})
SWITCHES = frozenset({"store_true", "store_false"})


@dataclass(frozen=True, slots=True)
class Flag:
    """An option as it is written on a command line. ``switch`` says that it takes no value; ``default`` is the one that needs no option,
    where it is a text or number."""

    name: str
    switch: bool = False
    default: str = field(default="", compare=False)


def defined(node: ast.Call) -> tuple[str, Flag] | None:
    """The option that ``parser.add_argument(...)`` or ``click.option(...)`` defines, under the name by which it is read."""
    func = node.func
    if not isinstance(func, ast.Attribute) or func.attr not in ("add_argument", "option") or not node.args:
        return None
    given = [value.value for value in node.args if isinstance(value, ast.Constant) and isinstance(value.value, str)]
    longest = next((name for name in given if name.startswith("--")), "")
    if not longest:
        return None
    name, _, _ = longest.partition("/")
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    own = keywords.get("dest")
    dest = own.value if isinstance(own, ast.Constant) and isinstance(own.value, str) else ""
    if not dest and func.attr == "option":
        dest = next((one for one in given if one.isidentifier()), "")
    action, is_flag = keywords.get("action"), keywords.get("is_flag")
    switch = isinstance(action, ast.Constant) and action.value in SWITCHES
    switch = switch or "/" in longest or (isinstance(is_flag, ast.Constant) and is_flag.value is True)
    return dest or name.lstrip("-").replace("-", "_"), Flag(name, switch, _default(keywords.get("default")))


def field_of(statement: ast.AnnAssign) -> tuple[str, Flag] | None:
    """The option that a field of a dataclass of arguments stands for: one that says in its annotation how it is offered."""
    annotation, target = statement.annotation, statement.target
    if not isinstance(annotation, ast.Subscript) or not isinstance(target, ast.Name) or last_name(annotation) not in DESCRIBED:
        return None
    parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else []
    about = next((part for part in parts[1:] if isinstance(part, ast.Call) and FIELDS.search(last_name(part.func))), None)
    if about is None and not (last_name(annotation) == "A" and len(parts) > 1 and _is_text(parts[1])):
        return None
    given = [value.value for value in about.args if isinstance(value, ast.Constant)] if about is not None else []
    name = next((name for name in given if isinstance(name, str) and name.startswith("--")), "--" + target.id.replace("_", "-"))
    return target.id, Flag(name.partition("/")[0], isinstance(parts[0], ast.Name) and parts[0].id == "bool", _default(statement.value))


def _default(node: ast.expr | None) -> str:
    value = node.value if isinstance(node, ast.Constant) else None
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def options_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, Flag]]:
    """The options of a click or typer command, by the parameters that they fill."""
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and (found := defined(decorator)) is not None:
            yield found
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    first = len(positional) - len(arguments.defaults)
    defaults = [*arguments.defaults, *arguments.kw_defaults]
    for at, one in enumerate([*positional, *arguments.kwonlyargs]):
        default = defaults[at - first] if at >= first and at - first < len(defaults) else None
        annotated = one.annotation.slice if isinstance(one.annotation, ast.Subscript) else None
        for value in (default, *(annotated.elts if isinstance(annotated, ast.Tuple) else ())):
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "Option":
                given = [name.value for name in value.args if isinstance(name, ast.Constant) and isinstance(name.value, str)]
                name = next((name for name in given if name.startswith("--")), "--" + one.arg.replace("_", "-"))
                yield one.arg, Flag(name.partition("/")[0], "/" in name)


def is_argument(node: ast.Attribute) -> bool:
    """Whether an attribute is read from something that is named like the arguments of a command."""
    of = node.value.func if isinstance(node.value, ast.Call) else node.value
    return ARGUMENTS.search(last_name(of)) is not None or is_self(of)
