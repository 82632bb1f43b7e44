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

from bot.catalogue.advice import remedies as remedies
from bot.catalogue.scanners.python.entries import is_public
from bot.catalogue.source_config import SourceConfig
from bot.model import Condition, RaiseSite
from bot.model.conditions import opposite

__all__ = ["guard", "handler", "is_public", "remedies", "tried_imports"]

IMPORT_FAILS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
IMPORT = re.compile(
    r"import ([\w.]{1,200})|from ([A-Za-z_][\w.]{0,200}) import"
    r"|(?:\w{1,80} = )?(?:importlib\.)?import_module\(['\"]([A-Za-z_][\w.]{0,200})['\"]\)"
)
"""A statement that imports a module by its name; not one next to its own package (``from .a import b``)."""

MAX_GUARD = 300
MAX_CUT = 8
"""Commas given up, from the end, until the rest of a signature that was cut off can be read."""

VERSIONED = re.compile(r"__version__|\bversion\(|\bVersion\(")
NAME = re.compile(r"[A-Za-z_]\w*")
BUILTINS = frozenset(dir(builtins))


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
    if modules and any(condition.kind == "try" and VERSIONED.search(condition.text) for condition in site.conditions):
        return ""  # that it is there is not enough
    if modules:
        needed = dict.fromkeys(part for module in modules for part in _parents(module))
        return "from importlib.util import find_spec\n\n" + " and ".join(f'find_spec("{name}") is not None' for name in needed)
    if site.through or not is_public(site.function) or "(" not in site.signature:
        return ""
    parameters = _parameters(site.signature)
    for condition in reversed(site.conditions):
        if condition.kind == "try":
            continue
        if condition.kind not in ("if", "unless", "assert"):
            break
        check = _avoided(condition, parameters)
        if check:
            return check  # any one that does not hold is enough; the innermost says most of this error
        if condition.kind != "unless":
            break  # behind an earlier test that left the function, what stands around it may still be a check
    return ""


def _avoided(condition: Condition, parameters: frozenset[str]) -> str:
    """The opposite of a condition that only speaks of parameters, as code; empty for any other."""
    used = set(NAME.findall(condition.text))
    if not used & parameters or {"self", "cls"} & used:
        return ""
    node = _parsed(condition.text)
    if node is None:
        return ""
    inner = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} - inner
    holds = opposite(condition.text) if condition.kind == "if" else condition.text
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
                if match := IMPORT.match(line):
                    modules.append(match[1] or match[2] or match[3])
    return tuple(modules[-1:])


def _parents(module: str) -> list[str]:
    """``a``, ``a.b`` for ``a.b``: of a module below another, the upper one must be found first."""
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _parsed(expression: str) -> ast.expr | None:
    try:
        return ast.parse(expression, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@lru_cache(maxsize=1024)
def _parameters(signature: str) -> frozenset[str]:
    function = _definition(signature)
    if function is None:
        return frozenset()
    arguments = function.args
    return frozenset(one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)) - {"self", "cls"}


def _definition(signature: str) -> ast.FunctionDef | None:
    """A signature, read; one that was cut off without its last parameters."""
    for _ in range(MAX_CUT):
        try:
            function = ast.parse(f"def {signature.removeprefix('async ')}: pass").body[0]
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            signature, comma, _ = signature.rpartition(", ")
            signature += ")"
            if not comma:
                return None
        else:
            return function if isinstance(function, ast.FunctionDef) else None
    return None


UNCAUGHT = frozenset({"AssertionError", "SystemExit", "NotImplementedError", "HTTPException"})
"""Failed assertions, ways out of the program, what is not there, and what a web framework makes an answer of: not for catching."""


def handler(type: str, sites: Iterable[RaiseSite], config: SourceConfig) -> str:
    """Code that calls the raising function and catches the error; empty when that is no public function of a module, or several.

    Of a private function, the nearest public one that leads to it is called.
    """
    direct = [site for site in sites if not site.through]
    places = {(site.path, site.entry or site.function) for site in direct}
    if len(places) != 1 or type in UNCAUGHT:
        return ""
    path, function = places.pop()
    module = _module(path, config)
    # An exception class that is raised by its bare name can be had from the module that raises it.
    own = "" if hasattr(builtins, type) else f", {type}"
    if own and not (type.isidentifier() and all(re.match(rf"raise {type}\b", site.code) for site in direct)):
        return ""
    parts = function.split(".")
    if not module or not is_public(function) or len(parts) > 2 or (len(parts) == 2 and not parts[0][:1].isupper()):
        return ""
    if len(parts) == 2 and parts[1] != "__init__":
        return ""  # of an object that somebody else made
    imports, call = f"from {module} import {parts[0]}{own}", f"{parts[0]}(...)"
    if any(site.signature.startswith("async ") for site in direct):
        if any(site.entry for site in direct):
            return ""  # whether that one is a coroutine as well cannot be told
        imports, call = f"import asyncio\n\n{imports}", f"asyncio.run({call})"
    return f"{imports}\n\ntry:\n    {call}\nexcept {type} as error:\n    print(error)"


def _module(path: str, config: SourceConfig) -> str:
    """The module that a repository path is imported as; empty when it is none, or a private one."""
    for archive, repository in sorted(config.path_prefix.items(), key=lambda pair: -len(pair[1])):
        if path.startswith(repository):
            path = archive + path[len(repository) :]
            break
    names = path.removesuffix(".py").removesuffix("/__init__").split("/")
    usable = all(name.isidentifier() and not name.startswith("_") for name in names)
    return ".".join(names) if path.endswith(".py") and usable else ""
