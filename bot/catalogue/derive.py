"""What the code itself says of an error: the advice in its message, the check that avoids it, the code that catches it.

Only what can be read off is answered; nothing is made up. All answers are code or words of the message: sentences for people are made
elsewhere.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable
from functools import lru_cache

from bot.catalogue.source_config import SourceConfig
from bot.model import Condition, RaiseSite

MAX_MESSAGE = 6_000
"""Characters of a message in which advice is looked for."""

MIN_ADVICE = 3
"""Words of advice; "please retry" says nothing."""

MAX_REMEDIES = 8
MAX_REMEDY = 400
"""More, or longer, is no advice but a manual."""

COMMAND = re.compile(
    r"(?:(?:uv|python3?|\$\{?PYTHON\}?) (?:-m )?)?(?:pip3?|conda|mamba|apt|apt-get|brew|npm) (?:install|uninstall|upgrade) "
    r"(?:'[^\s'`]{1,200}'|\"[^\s\"`]{1,200}\"|[^\s'\"`()<>;,]{1,200})"
    r"(?: (?:-{1,2}[A-Za-z][^\s'\"`();,]{0,100}|[A-Za-z0-9][A-Za-z0-9_.-]{0,100}[=<>~\[][^\s'\"`();,]{0,100})){0,8}"
)
"""An install command: what to install, then options and pinned packages; a plain word after it belongs to the sentence again."""

FLAG = re.compile(r"(?<![\w`-])(--[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*)(?![\w`])")
SETTING = re.compile(r"(?<![\w`])([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?:=[^\s'\"`,;()]{1,80})?)(?![\w`])")
LINK = re.compile(r"https?://[^\s'\"`<>()\[\]{}]{4,300}")

PIECES = re.compile(
    r"(?<=[.!?;:])\s+(?=[A-Z`'\"(]|please|try|use|set|pass|run|install|consider|either|upgrade|disable|enable)"
    r"|(?<=\.)\s+(?=[\w.]{1,60}(?:\(\))?=|\{)"
    r"|\n\s*(?:\d{1,2}[.)]\s+|[-*•]\s+)?|,\s+(?=please\b)|\s+[-–—]+\s+(?=\w)|\s+\((?=(?:use|set|try|pass|run|install|see)\s)|;\s+"
)
"""Where one piece of a message ends and another may begin that gives advice."""

VERBS = (
    "add avoid change check choose configure consider convert decrease disable downgrade enable ensure export increase install lower "
    "pass provide raise rebuild reduce reinstall remove rename replace restart retry run see select set shorten specify switch "
    "uninstall unset update upgrade use verify visit"
)
NOUNS = "build download limit move pin request reset start turn wait"
"""Verbs that are as often nouns at the beginning of a message: advice only after "please" and its like."""

NO_ADVICE = re.compile(r"\b(?:failed|must be|cannot|could not|is not supported|to allocate)\b", re.IGNORECASE)
"""What tells of a fault, whatever it begins with: "Reduce-scatter input must be …"."""

_POLITE = r"(?:please|you (?:can|may|should|need to|must|could)|try to|make sure|be sure to|either)"
_VERB = "|".join(VERBS.split())
ADVICE = re.compile(
    r"(?:\d{1,2}[.)]\s+)?(?:(?:or|and|then|instead|alternatively|to fix this|to resolve this|if so|otherwise)[,:]?\s+)?"
    rf"(?:(?:{_POLITE}\s+(?:also\s+|either\s+|try to\s+)?(?:{_VERB}|{'|'.join(NOUNS.split())})|{_VERB}|please|make sure|try)\s)",
    re.IGNORECASE,
)
"""A piece that begins like advice."""

IMPORT_FAILS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
MAX_GUARD = 300
NAME = re.compile(r"[A-Za-z_]\w*")
BUILTINS = frozenset(dir(builtins))


def remedies(message: str) -> tuple[str, ...]:
    """What a message itself advises, in its own words, with commands, flags and settings in backticks.

    A sentence that only holds an install command is that command.
    """
    found: dict[str, None] = {}
    for piece in PIECES.split(message[:MAX_MESSAGE]):
        text = " ".join(piece.split())
        command = COMMAND.search(text)
        if command is not None and (not ADVICE.match(text) or text[: command.start()].rstrip(" :`'\"").lower() in _BEFORE_COMMAND):
            found[f"`{command[0].rstrip('.:')}`"] = None
        elif ADVICE.match(text) and len(text) <= MAX_REMEDY and len(text.split()) >= MIN_ADVICE and not NO_ADVICE.search(text):
            found[_marked(text)] = None
    return tuple(found)[:MAX_REMEDIES]


_BEFORE_COMMAND = frozenset(
    {"", "run", "please run", "try", "install it with", "install with", "please install it with", "install it using", "use", "try running"}
    | {"please install with", "install via", "you can install it with", "please install it via", "install it via", "please try"}
)


def _marked(text: str) -> str:
    """The text with commands, flags and settings in backticks, where it has no backticks of its own."""
    text = text.rstrip(" :;,(")
    if text.count("(") < text.count(")"):
        text = text.rstrip(")")
    if "`" in text:
        return text
    marked = re.compile("|".join(f"(?:{pattern.pattern})" for pattern in (LINK, COMMAND, FLAG, SETTING)))
    return marked.sub(_mark, text)


def _mark(match: re.Match[str]) -> str:
    if match[0].startswith("http"):
        return match[0]
    shown = match[0].rstrip(".:")
    return f"`{shown}`{match[0][len(shown) :]}"


def guard(sites: Iterable[RaiseSite]) -> str:
    """A check that a caller can make beforehand, as code; empty when the code doesn't show one, or not the same one at all places.

    Shown are the import that is tried, and the condition under which a public function raises, where it only speaks of its parameters.
    """
    found = ""
    for site in sites:
        check = _guard(site)
        if not check or (found and check != found):
            return ""
        found = check
    return found


def _guard(site: RaiseSite) -> str:
    modules = tried_imports(site.conditions)
    if modules:
        needed = dict.fromkeys(part for module in modules for part in _parents(module))
        return "from importlib.util import find_spec\n\n" + " and ".join(f'find_spec("{name}") is not None' for name in needed)
    around = next((condition for condition in reversed(site.conditions) if condition.kind != "try"), None)
    if around is None or around.kind not in ("if", "unless", "assert") or site.through or not is_public(site.function):
        return ""
    used = set(NAME.findall(around.text))
    if "self" in used or "cls" in used or "(" not in site.signature:
        return ""
    parameters = _parameters(site.signature)
    node = _parsed(around.text) if used & parameters else None
    if node is None:
        return ""
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    holds = ast.unparse(_opposite(node)) if around.kind == "if" else around.text
    return holds if names & parameters and names <= parameters | BUILTINS and len(holds) <= MAX_GUARD else ""


def tried_imports(conditions: Iterable[Condition]) -> tuple[str, ...]:
    """The modules whose import was tried and failed on the way to a raise."""
    tried = ""
    modules: list[str] = []
    for condition in conditions:
        if condition.kind == "try":
            tried = condition.text
        elif condition.kind == "except" and IMPORT_FAILS & set(re.findall(r"\w+", condition.text)):
            for line in tried.split("\n")[:1]:
                if match := re.match(r"import ([\w.]{1,200})|from ([A-Za-z_][\w.]{0,200}) import", line):
                    modules.append(match[1] or match[2])
    return tuple(modules[-1:])


def _parents(module: str) -> list[str]:
    """``a``, ``a.b`` for ``a.b``: of a module below another, the upper one must be found first."""
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _opposite(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return node.operand
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in OPPOSITE:
        return ast.Compare(node.left, [OPPOSITE[type(node.ops[0])]()], node.comparators)
    if isinstance(node, ast.BoolOp):
        return ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), [_opposite(value) for value in node.values])
    return ast.UnaryOp(ast.Not(), node)


OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


def _parsed(expression: str) -> ast.expr | None:
    try:
        return ast.parse(expression, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@lru_cache(maxsize=1024)
def _parameters(signature: str) -> frozenset[str]:
    try:
        function = ast.parse(f"def {signature}: pass").body[0]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    if not isinstance(function, ast.FunctionDef):
        return frozenset()
    arguments = function.args
    return frozenset(one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)) - {"self", "cls"}


def is_public(function: str) -> bool:
    """Whether others may call a function: no part of its name begins with an underscore, except ``__init__`` and its like."""
    return function != "<module>" and all(not part.startswith("_") or _is_dunder(part) for part in function.split("."))


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def handler(type: str, sites: Iterable[RaiseSite], config: SourceConfig) -> str:
    """Code that calls the raising function and catches the error; empty when that is no public function of a module, or several.

    Failed assertions and ways out of the program are not for catching.
    """
    places = {(site.path, site.function) for site in sites if not site.through}
    if len(places) != 1 or not hasattr(builtins, type) or type in ("AssertionError", "SystemExit", "NotImplementedError"):
        return ""
    path, function = places.pop()
    module = _module(path, config)
    parts = function.split(".")
    if not module or not is_public(function) or len(parts) > 2 or (len(parts) == 2 and not parts[0][:1].isupper()):
        return ""
    if len(parts) == 2 and parts[1] != "__init__":
        return ""  # of an object that somebody else made
    return f"from {module} import {parts[0]}\n\ntry:\n    {parts[0]}(...)\nexcept {type} as error:\n    print(error)"


def _module(path: str, config: SourceConfig) -> str:
    """The module that a repository path is imported as; empty when it is none, or a private one."""
    for archive, repository in sorted(config.path_prefix.items(), key=lambda pair: -len(pair[1])):
        if path.startswith(repository):
            path = archive + path[len(repository) :]
            break
    names = path.removesuffix(".py").removesuffix("/__init__").split("/")
    usable = all(name.isidentifier() and not name.startswith("_") for name in names)
    return ".".join(names) if path.endswith(".py") and usable else ""
