"""A guard or a handler made ready to be run: its code with its questions put to the world, and the conditions of the error's places."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bot.catalogue.trials.world import World

NUMBERS = (0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 64, 128, 4096, -1)
FRACTIONS = (-1.0, 0.0, 0.5, 0.9, 1.0, 2.0)
TEXTS = ("", "a", "model", "1")


class Prepared(ast.NodeTransformer):
    """The code with its questions about None, its unpackings and its ``except`` put to the stage."""

    def __init__(self, raising: bool) -> None:
        self.raising = raising

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """Annotations and decorators are left out."""
        node.returns, node.decorator_list = None, []
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> Any:
        """Without its annotation."""
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """As a plain assignment."""
        return self.visit(ast.Assign([node.target], node.value)) if node.value is not None else ast.Pass()

    def visit_Compare(self, node: ast.Compare) -> Any:
        """``x is None``, which a stub could not answer."""
        self.generic_visit(node)
        last = node.comparators[0]
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Is | ast.IsNot) and isinstance(last, ast.Constant) and last.value is None:
            asked = _call("__none__", node.left)
            return asked if isinstance(node.ops[0], ast.Is) else ast.UnaryOp(ast.Not(), asked)
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        """``a, b = x``, where a stub could not know how many are wanted."""
        self.generic_visit(node)
        target = node.targets[0]
        if isinstance(target, ast.Tuple | ast.List) and not any(isinstance(one, ast.Starred) for one in target.elts):
            node.value = _call("__several__", node.value, ast.Constant(len(target.elts)))
        return node

    def visit_Try(self, node: ast.Try) -> Any:
        """A handler gets the record's error from what it tries; what a guard tries, other than an import, may fail."""
        expected = next((one.type for one in node.handlers), None)
        calls = any(isinstance(inner, ast.Call) for statement in node.body for inner in ast.walk(statement))
        first: list[ast.expr] = [ast.Constant(node.lineno), *([expected] if expected else [])]
        self.generic_visit(node)
        if node.handlers and (self.raising or calls):
            node.body.insert(0, ast.Expr(_call("__source__") if self.raising else _call("__tried__", *first)))
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        """``except x``, where x may be a stub."""
        self.generic_visit(node)
        if node.type is not None:
            node.type = _call("__caught__", node.type)
        return node


def _call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])


def prepared(tree: Any, raising: bool = False) -> CodeType:
    """The code object of a syntax tree."""
    mode = "eval" if isinstance(tree, ast.Expression) else "exec"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(ast.fix_missing_locations(Prepared(raising).visit(tree)), "record", mode)


class Job:
    """One guard or handler, with what is known of the error's places: conditions, and imports that are tried."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.id: int = data["id"]
        self.text: str = data["code"]
        self.type: str = data["type"]
        self.message: str = data["message"]
        self.is_handler: bool = data["part"] == "handler"
        tree = ast.parse(self.text)
        nodes = [*ast.walk(tree), *(node for site in data["sites"] for _, text in site["conditions"] for node in ast.walk(ast.parse(text)))]
        self.numbers, self.fractions, self.texts = _pools(nodes)
        self.optional = _tried(tree)
        self.functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        self.arguments = [_arguments(function.args) for function in self.functions]
        self.boolean = bool(self.functions) and all(f.returns is not None and ast.unparse(f.returns) == "bool" for f in self.functions)
        self.has_try = any(isinstance(node, ast.Try) and node.handlers for node in ast.walk(tree))
        self.names = [t.id for s in tree.body if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)]
        last = tree.body[-1]
        self.last = prepared(ast.Expression(tree.body.pop().value)) if isinstance(last, ast.Expr) else None
        self.sites = [Site(site, self) for site in data["sites"]]
        self.code = prepared(tree, self.is_handler)


def _pools(nodes: Sequence[ast.AST]) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[str, ...]]:
    """Numbers and texts worth trying: the usual ones, and those that stand in the code, with their neighbours."""
    numbers, fractions, texts = list(NUMBERS), list(FRACTIONS), list(TEXTS)
    for node in nodes:
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31:
            numbers += [value - 1, value, value + 1]
        elif isinstance(value, float):
            fractions += [value, value + 0.5, value - 0.5]
        elif isinstance(value, str) and len(value) <= 60:
            texts += [value, f"a{value}b"]
    return tuple(numbers), tuple(fractions), tuple(texts)


def _tried(tree: ast.AST) -> frozenset[str]:
    """The modules that code looks for, or imports inside ``try``: those that may be missing."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Try):
            for inner in (inner for statement in node.body for inner in ast.walk(statement)):
                if isinstance(inner, ast.Import):
                    found.update(alias.name for alias in inner.names)
                elif isinstance(inner, ast.ImportFrom) and inner.module:
                    found.add(inner.module)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("find_spec", "import_module")) and node.args:
            name = node.args[0]
            found.update([name.value] if isinstance(name, ast.Constant) and isinstance(name.value, str) else [])
    return frozenset(".".join(name.split(".")[: count + 1]) for name in found for count in range(name.count(".") + 1))


def _arguments(args: ast.arguments) -> list[tuple[str, str, bool]]:
    """Name, annotation (or the type of the default), and whether it is given by position only."""
    every = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(every) - len(args.defaults)) + list(args.defaults)
    every_default = zip([*every, *args.kwonlyargs], [*defaults, *args.kw_defaults], strict=True)
    named = [(one, ast.unparse(one.annotation) if one.annotation else _type_of(default)) for one, default in every_default]
    return [(one.arg, kind, one in args.posonlyargs) for one, kind in named]


def _type_of(default: ast.expr | None) -> str:
    return type(default.value).__name__ if isinstance(default, ast.Constant) and default.value is not None else ""


class Site:
    """A place that raises, as far as its conditions can be asked in the words of the guard."""

    def __init__(self, data: dict[str, Any], job: Job) -> None:
        self.modules: list[str] = [name for name in (_longest(module, job.optional) for module in data["modules"]) if name]
        self.parameters = {name for arguments in job.arguments for name, _, _ in arguments}
        trees = [(kind, ast.parse(text, mode="eval").body) for kind, text in data["conditions"]]
        self.conditions = [(kind, self._known(tree)) for kind, tree in trees]
        self.locals = set[str]().union(*(_locals(tree) for _, tree in trees)) - self.parameters - set(data["settings"])

    def _known(self, node: ast.expr) -> Any:
        """A condition as nested (and, or, not, code), with parameters of the guard for what is named alike."""
        if isinstance(node, ast.BoolOp):
            return ("and" if isinstance(node.op, ast.And) else "or", [self._known(value) for value in node.values])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ("not", [self._known(node.operand)])
        body: ast.expr = _Renamed(self.parameters).visit(node)
        names = {one.id for one in ast.walk(body) if isinstance(one, ast.Name)}
        return ("code", prepared(ast.Expression(body)), names)

    def raises(self, world: World, scope: dict[str, Any], used: set[str]) -> bool | None:
        """Whether it is raised here, with any settings that cannot be asked; None when what decides cannot."""
        if not self.locals <= scope.keys() | scope["__builtins__"].keys():
            return None
        answers = [not world.present(module) for module in self.modules]
        asked = [(kind, _held(condition, scope, used)) for kind, condition in self.conditions]
        if not self.modules and (not asked or asked[-1][1] is None):
            return None  # the innermost condition is what the error is about
        answers += [held == (kind == "if") for kind, held in asked if held is not None]
        return all(answers)


def _longest(module: str, optional: frozenset[str]) -> str:
    parts = module.split(".")
    return next((name for count in range(len(parts), 0, -1) if (name := ".".join(parts[:count])) in optional), "")


def _locals(tree: ast.expr) -> set[str]:
    """Names whose own value is asked, and not that of an attribute or a call of theirs."""
    reached = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    reached |= {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in reached}


class _Renamed(ast.NodeTransformer):
    """``cfg.tp_size`` is the guard's ``tp_size``; ``self.tp_size`` need not be: an object may have changed what it was given."""

    def __init__(self, parameters: set[str]) -> None:
        self.parameters = parameters

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        plain = all(isinstance(one, ast.Attribute | ast.Name | ast.expr_context) for one in ast.walk(node))
        own = any(isinstance(one, ast.Name) and one.id in ("self", "cls") for one in ast.walk(node))
        same = plain and not own and node.attr in self.parameters
        return ast.Name(node.attr, ast.Load()) if same else self.generic_visit(node)


def _held(condition: Any, scope: dict[str, Any], used: set[str]) -> bool | None:
    """True, False, or None for what cannot be known (Kleene's logic)."""
    kind, parts = condition[0], condition[1]
    if kind == "code":
        if not condition[2] <= scope.keys() | scope["__builtins__"].keys():
            return None
        try:
            value = bool(eval(parts, dict(scope)))  # noqa: S307  refused unless it is on the list of what is allowed
        except Exception:
            return None
        used |= condition[2]
        return value
    answers = [_held(part, scope, used) for part in parts]
    if kind == "not":
        return None if answers[0] is None else not answers[0]
    strong = kind == "or"
    return strong if strong in answers else None if None in answers else not strong
