"""What calls mean: exceptions made, texts logged, ways out of the program, texts handed to a function that raises them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.catalogue.scanners.python import formatting
from bot.catalogue.scanners.python.facts import Argument, Error, Function, Parameters, bind, substitute
from bot.catalogue.scanners.python.parts import MAX_ALTERNATIVES, Parts, Texts, cross, distinct, hole, words
from bot.catalogue.scanners.python.text import Reader
from bot.model import Hole

LEVELS = {
    "error": "error", "exception": "error", "critical": "error", "fatal": "error", "warning": "warning", "warn": "warning",
}  # fmt: skip
REPORTS = re.compile(r"(^|_)(error|errors|fail|failed|failure|abort)(_|$)|ErrorResponse$")
ASKS = ("assert_", "clear_", "count_", "get_", "has_", "is_", "num_", "parse_", "reset_")
"""Names of functions that report an error, and beginnings of names that ask about errors instead."""


MIN_WORDS = 8
"""Letters and digits that a text needs for a call to count as handing on a message."""

READS = frozenset({"pop", "get", "setdefault", "popleft"})


def last_name(node: ast.expr) -> str:
    """The last name of ``a.b.C``, of ``C[int]`` and ``C``; empty for anything else."""
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def dotted_name(node: ast.Attribute) -> str:
    """``a.b.c`` as it is written; empty when there is more in it than names, or more than three of them."""
    names = [node.attr]
    at: ast.expr = node.value
    while isinstance(at, ast.Attribute) and len(names) < 3:
        names.append(at.attr)
        at = at.value
    return ".".join([at.id, *reversed(names)]) if isinstance(at, ast.Name) and len(names) < 3 else ""


def names_class(name: str) -> bool:
    """Whether a name is written as classes are."""
    return name.lstrip("_")[:1].isupper()


def is_self(node: ast.expr) -> bool:
    """Whether an expression is ``self`` or ``cls``."""
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def is_class_of_self(node: ast.expr) -> bool:
    """Whether an expression is ``type(self)`` or ``self.__class__``."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "type" and len(node.args) == 1 and is_self(node.args[0])
    return isinstance(node, ast.Attribute) and node.attr == "__class__" and is_self(node.value)


def parameters(arguments: ast.arguments, is_method: bool) -> Parameters:
    """A function's parameters as a caller sees them."""
    positional = [*arguments.posonlyargs, *arguments.args]
    given = [*zip(reversed(positional), reversed(arguments.defaults), strict=False)]
    given += [(name, default) for name, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default]
    return Parameters(
        tuple(argument.arg for argument in positional[1 if is_method else 0 :]),
        tuple(
            (name.arg, ((default.value,),))
            for name, default in given
            if isinstance(default, ast.Constant) and isinstance(default.value, str) and default.value
        ),
    )


def argument(node: ast.expr, name: str, reader: Reader) -> Argument:
    """One argument of a call, read."""
    if isinstance(node, ast.Starred):
        node = node.value
    texts = reader.texts(node)
    message = reader.message(node)
    is_text = texts is not None or (not isinstance(node, ast.Constant) and any(words(parts) for parts in message))
    return Argument(message, name, is_text, reader.repr(node) if not name else ())


def arguments(node: ast.Call, reader: Reader) -> tuple[Argument, ...]:
    """The arguments of a call, read."""
    found = [argument(value, "", reader) for value in node.args]
    found += [argument(keyword.value, keyword.arg, reader) for keyword in node.keywords if keyword.arg is not None]
    if len(node.args) == 1:
        found[0] = Argument(found[0].texts, "", found[0].text)
    return tuple(found)


def with_params(node: ast.Call, given: tuple[Argument, ...], reader: Reader) -> tuple[Argument, ...]:
    """The arguments of ``ValidationError("%(n)d too many", params={"n": n})``, whose text Django fills when it prints it
    (https://docs.djangoproject.com/en/5.2/ref/forms/validation/#raising-validationerror)."""
    params = next((keyword.value for keyword in node.keywords if keyword.arg == "params"), None)
    if params is None or not given or not any("%(" in part for text in given[0].texts for part in text if isinstance(part, str)):
        return given
    texts = distinct(way for text in given[0].texts for way in cross(formatting.percent_args(text, None, params, reader.embedded)))
    return (replace(given[0], texts=texts, reprs=()), *given[1:])


@dataclass(frozen=True, slots=True)
class Logged:
    """A call that logs: its level, its arguments, and whether those after the first fill it by ``%``."""

    level: str
    arguments: Sequence[ast.expr]
    fills: bool = False


def logged(node: ast.Call) -> Logged | None:
    """What a call logs; None for any other call, and for levels below a warning.

    Also ``warnings.warn``, and methods that projects add to their loggers, such as ``warning_once``.
    """
    func = node.func
    if isinstance(func, ast.Name):
        return Logged("warning", node.args[:1]) if func.id == "warn" and node.args else None
    if not isinstance(func, ast.Attribute) or not node.args:
        return None
    receiver = func.value.func if isinstance(func.value, ast.Call) else func.value
    owner = last_name(receiver).lower()
    if owner == "warnings":
        return Logged("warning", node.args[:1]) if func.attr == "warn" else None
    if "log" not in owner:
        return None
    if func.attr == "log" and isinstance(node.args[0], ast.Attribute) and node.args[0].attr.lower() in LEVELS:
        return Logged(LEVELS[node.args[0].attr.lower()], node.args[1:], fills=True)
    level = LEVELS.get(func.attr.partition("_")[0])
    return Logged(level, node.args, fills=True) if level is not None else None


def logged_texts(logged: Logged, reader: Reader) -> Texts:
    """What a call prints that logs, without the logger's own prefix."""
    texts = reader.texts(logged.arguments[0]) if logged.arguments else None
    if texts is None:
        return ()
    values = list(logged.arguments[1:])
    if not logged.fills or not values:
        return texts
    is_mapping = len(values) == 1 and any("%(" in part for text in texts for part in text if isinstance(part, str))
    return distinct(
        way for text in texts for way in cross(formatting.percent_args(text, None if is_mapping else values, values[0], reader.embedded))
    )


def exits(node: ast.Call) -> bool:
    """Whether a call ends the program with a text: ``sys.exit``, ``parser.error``."""
    func = node.func
    if isinstance(func, ast.Name):
        return func.id in ("exit", "quit")
    if isinstance(func, ast.Attribute):
        owner = last_name(func.value)
        ends = func.attr in ("exit", "_exit") and owner in ("sys", "os")
        return ends or (func.attr == "error" and owner.endswith("parser")) or (func.attr == "fail" and owner in ("ctx", "context"))
    return False


def handed_on(node: ast.Call) -> Iterator[tuple[str, ast.expr]] | None:
    """What ``super().__init__(...)`` or ``Base.__init__(self, ...)`` is given; None for any other call."""
    func = node.func
    if not isinstance(func, ast.Attribute) or func.attr != "__init__":
        return None
    is_super = isinstance(func.value, ast.Call) and last_name(func.value.func) == "super"
    positional = node.args if is_super else node.args[1:]
    if not is_super and not (node.args and is_self(node.args[0])):
        return None
    found = [("", value) for value in positional]
    found += [(keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg is not None]
    return iter(found)


def given(function: Function, errors: Iterable[Error], arguments: tuple[Argument, ...]) -> Iterator[Error]:
    """The exceptions that a function raises with the texts that this call gives it."""
    values = bind(function.parameters, arguments)
    own = {name for name, texts in function.parameters.defaults if values.get(name) == texts}
    for error in errors:
        named = [part.expression for part in error.parts if isinstance(part, Hole)]
        if any(says(values[name]) for name in named if name in values and name not in own):
            filled = {name: texts for name, texts in values.items() if name in named}
            for parts in substitute(error.parts, filled):
                also = distinct(way for other in error.also for way in substitute(other, filled))
                yield Error(error.type, parts, also if len(also) == 1 else ())


def says(texts: Texts) -> bool:
    """Whether texts are messages rather than names of something."""
    return any(words(parts) >= MIN_WORDS and any(" " in part for part in parts if isinstance(part, str)) for parts in texts)


def reports(node: ast.Call) -> bool:
    """Whether a function's name says that it reports an error: ``create_error_response``, ``set_finish_with_abort``."""
    name = last_name(node.func)
    return REPORTS.search(name) is not None and not name.lstrip("_").startswith(ASKS)


RESPONSES = frozenset(
    {"JSONResponse", "ORJSONResponse", "UJSONResponse", "PlainTextResponse", "HTMLResponse", "Response", "json_response", "jsonify"}
)
SAID_UNDER = ("error", "message", "detail", "details", "msg", "error_message", "reason", "description", "text", "body", "content")
FINE = re.compile(r"(^|_)(OK|CREATED|ACCEPTED|NO_CONTENT|[123]\d\d)(_|$)")


def answered(node: ast.expr, reader: Reader) -> tuple[str, str, Texts]:
    """The error text that an HTTP answer with status 4xx or 5xx carries: the function that makes it, the type given to it, the texts.

    ``return JSONResponse({"error": …}, status_code=400)``, ``return jsonify(message=…), 400``; texts are empty for any other expression.
    """
    status: ast.expr | None = None
    if isinstance(node, ast.Tuple) and len(node.elts) >= 2:
        status, node = node.elts[1], node.elts[0]
    if not isinstance(node, ast.Call):
        return "", "", ()
    name = last_name(node.func)
    if name not in RESPONSES:
        return "", "", ()
    given = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
    status = given.get("status_code", given.get("status", status))
    if status is None and len(node.args) > 1:
        status = node.args[1]
    if not _is_error_status(status):
        return "", "", ()
    for content in (*node.args[:1], *(given[key] for key in ("content", "data", "body", *SAID_UNDER) if key in given)):
        type, texts = _said_in(content, reader, 3)
        if texts:
            return name, type, texts
    return "", "", ()


def _is_error_status(status: ast.expr | None) -> bool:
    if isinstance(status, ast.Constant):
        return isinstance(status.value, int) and status.value >= 400
    name = status.attr if isinstance(status, ast.Attribute) else ""
    if name == "value" and isinstance(status, ast.Attribute):
        name = last_name(status.value)
    return name.isupper() and not FINE.search(name)


def _said_in(content: ast.expr, reader: Reader, depth: int) -> tuple[str, Texts]:
    """The type and the texts of an answer's content: a text, or a dictionary with one under a key that says so."""
    if not isinstance(content, ast.Dict):
        texts = reader.texts(content) or ()
        return "", texts if says(texts) else ()
    held = {key.value: value for key, value in zip(content.keys, content.values, strict=True) if isinstance(key, ast.Constant)}
    for key in SAID_UNDER:
        if key in held and depth:
            type, texts = _said_in(held[key], reader, depth - 1)
            if texts:
                own = held.get("type")
                return (str(own.value) if isinstance(own, ast.Constant) and names_class(str(own.value)) else type), texts
    return "", ()


def reported_type(node: ast.Call) -> str:
    """The type that a call gives to the error that it reports; empty when it gives none."""
    for keyword in node.keywords:
        if keyword.arg in ("err_type", "error_type", "type") and isinstance(keyword.value, ast.Constant):
            return str(keyword.value.value) if isinstance(keyword.value.value, str) else ""
    return ""


def returned(node: ast.Call, functions: Sequence[Function], item: int | None, reader: Reader) -> Texts | None:
    """The texts that a call returns (or an item of the tuple that it returns), when the function is known to return some."""
    texts: list[Parts] = []
    for function in functions:
        values = bind(function.parameters, arguments(node, reader))
        returns = function.returns if item is None else dict(function.items).get(item, ())
        texts += [way for parts in returns for way in substitute(parts, values)]
        if texts and function.returns_more and item is None:
            texts.append((hole(node),))
    return distinct(texts)[:MAX_ALTERNATIVES] or None


def kept_in(node: ast.expr) -> str:
    """The attribute that an expression reads: ``x`` of ``self.x``, ``self.x[k]``, ``self.x.pop(k)``; empty when there is none."""
    if isinstance(node, ast.BoolOp):
        node = node.values[0]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in READS:
        node = node.func.value
    if isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else ""
