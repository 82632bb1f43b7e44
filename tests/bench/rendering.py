"""Messages with their right answers: the message expressions of real raise statements, run and raised.

For each statement that the scan found, the expression after ``raise Type(`` (or behind the comma of an ``assert``) is taken from the
source as a syntax tree, with the assignments that build its variables, and run in a process with limits (:mod:`worker`). The right answer
of a text is every record that the scan made of that statement.
"""

from __future__ import annotations

import ast
import gc
import hashlib
import json
import pickle
import random
import re
import subprocess
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.catalogue.scanners import Raised
from bot.model import Template, record_id
from tests.bench.projects import Project

DIGEST = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
"""Changes with this file: statements that are kept in a cache are found anew then."""

BATCH = 1500
"""Jobs of one process."""

KEYWORDS = ("message", "detail", "msg")
"""Keyword arguments that hold the message when no argument does by position."""

ROOTS = (
    "/usr/local/lib/python3.12/dist-packages/",
    "/opt/conda/envs/llm/lib/python3.10/site-packages/",
    "/home/user/.venv/lib/python3.11/site-packages/",
    "/usr/lib/python3.12/site-packages/",
)


@dataclass(frozen=True)
class Statement:
    """One raise or assert statement of a project, ready to be run. ``alternatives`` are what the scan found there."""

    id: int
    project: str
    path: str
    line: int
    function: str
    type: str
    alternatives: tuple[Raised, ...]
    ids: frozenset[str]
    plain: bool
    job: dict[str, Any] = field(repr=False, compare=False, hash=False)

    @property
    def half(self) -> str:
        """``tune`` or ``report``: by the hash of the template, so that copies of a text are on one side."""
        return "tune" if hashlib.sha256(self.alternatives[0].template.skeleton.encode("utf-8", "replace")).digest()[0] % 2 else "report"

    @property
    def has_text(self) -> bool:
        """Whether every text that it may say has a word of its own."""
        return all(any(ch.isalnum() for piece in raised.template.literals for ch in piece) for raised in self.alternatives)


@dataclass(frozen=True)
class Rendered:
    """A text that a statement printed: ``said`` is ``str(error)``, ``text`` the traceback.

    ``nested``: statements whose message fills a hole.
    """

    statement: Statement
    said: str
    text: str
    values: tuple[str, ...] = ()
    nested: tuple[int, ...] = ()

    @property
    def line(self) -> str:
        """The last part of the traceback: type and message as printed."""
        lines = self.text.split("\n")
        count = self.said.count("\n") + 1
        return "\n".join(lines[-count:])


# ------------------------------------------------------------------------------------------------------- statements


def statements(project: Project, through: Counter[str] | None = None) -> list[Statement]:
    """All statements of a project that can be run; ``through`` counts the others by reason."""
    gc.disable()  # syntax trees are large and have no cycles: collecting while they grow takes most of the time
    try:
        return _statements(project, through if through is not None else Counter())
    finally:
        gc.enable()


def _statements(project: Project, skipped: Counter[str]) -> list[Statement]:
    by_path: dict[str, dict[tuple[int, int], list[Raised]]] = defaultdict(lambda: defaultdict(list))
    for raised in project.raised:
        if raised.kind not in ("error", "assert"):
            skipped[f"kind {raised.kind}"] += 1
        elif raised.through:
            skipped["handed to a helper"] += 1
        else:
            by_path[raised.path][raised.line, raised.end_line].append(raised)
    custom = project.custom
    found: list[Statement] = []
    for path in sorted(by_path):
        text = project.text(path)
        tree = _parse(text)
        if tree is None:
            skipped["not parsed by this Python"] += sum(map(len, by_path[path].values()))
            continue
        lines = text.split("\n")
        seen = _Places(tree)
        for (line, end), alternatives in sorted(by_path[path].items()):
            node = seen.raises.get((line, end))
            if node is None:
                skipped["no statement there"] += 1
                continue
            if alternatives[0].type in custom:
                skipped["class with its own message"] += 1
                continue
            job = _job(project, path, node, seen, lines, alternatives[0])
            if job is None:
                skipped["form of arguments"] += 1
                continue
            if not _speaks(job, alternatives):
                skipped["text from elsewhere"] += 1
                continue
            job["id"] = len(found)
            ids = frozenset(record_id(project.config.repository, one.type, one.template, one.expression) for one in alternatives)
            plain = len(alternatives) == 1 and not job["setup"] and len(job["args"]) == 1 and isinstance(job["args"][0], ast.JoinedStr)
            function, kind = alternatives[0].function, alternatives[0].type
            found.append(Statement(len(found), project.name, path, line, function, kind, tuple(alternatives), ids, plain, job))
    return found


def callers(project: Project, chance: random.Random, count: int = 400) -> list[dict[str, Any]]:
    """Places of a project that call something: the frames before the last one."""
    found = []
    for path in chance.sample(sorted(project.texts), min(len(project.texts), 150)):
        tree = _parse(project.text(path))
        lines = project.text(path).split("\n")
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.FunctionDef):
                for inner in node.body:
                    value = getattr(inner, "value", None)
                    if isinstance(inner, ast.Assign | ast.Expr | ast.Return) and isinstance(value, ast.Call):
                        at = _at(value)
                        found.append({"path": project.installed(path), "function": node.name, "at": at, "lines": _lines(lines, at)})
                        break
    return chance.sample(found, min(len(found), count))


class _Places:
    """Raise and assert statements by their lines, each with its scope and whether it stands in an ``except``; assignments by scope."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.raises: dict[tuple[int, int], ast.Raise | ast.Assert] = {}
        self.around: dict[ast.AST, tuple[ast.AST, bool]] = {}
        self.given: dict[ast.AST, dict[str, list[Any]]] = {tree: defaultdict(list)}
        self._walk(tree, tree, False)

    def _walk(self, node: ast.AST, scope: ast.AST, handling: bool) -> None:
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, ast.expr):
                continue
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                self.given[inner] = defaultdict(list)
                self._walk(inner, inner, False)
            elif isinstance(inner, ast.Raise | ast.Assert):
                self.raises[inner.lineno, inner.end_lineno or inner.lineno] = inner
                self.around[inner] = (scope, handling)
            elif isinstance(inner, ast.Assign | ast.AugAssign | ast.AnnAssign):
                target = inner.targets[0] if isinstance(inner, ast.Assign) else inner.target
                if isinstance(target, ast.Name) and inner.value is not None and not isinstance(node, ast.ClassDef):
                    self.given[scope][target.id].append(inner)
            else:
                self._walk(inner, scope, handling or isinstance(inner, ast.ExceptHandler))


def _parse(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _job(
    project: Project, path: str, node: ast.Raise | ast.Assert, seen: _Places, lines: list[str], raised: Raised
) -> dict[str, Any] | None:
    scope, handling = seen.around[node]
    args = _message_args(node)
    if args is None:
        return None
    cause = ""
    if isinstance(node, ast.Raise):
        none = isinstance(node.cause, ast.Constant)
        cause = "" if none else "cause" if node.cause is not None else "context" if handling else ""
    at = _at(node)
    installed = project.installed(path)
    return {
        "path": installed,
        "module": installed.removesuffix(".py").replace("/", "."),
        "function": raised.function.rpartition(".")[2],
        "type": raised.type or "Exception",
        "at": at,
        "assert": _at(node.test) if isinstance(node, ast.Assert) else None,
        "lines": _lines(lines, at),
        "cause": cause,
        "args": args,
        "setup": _setup(args, node, scope, seen),
        "roots": [*ROOTS, f"/workspace/{project.name}/" + path.removesuffix(installed)],
    }


def _speaks(job: dict[str, Any], alternatives: Sequence[Raised]) -> bool:
    """Whether the words of a template stand in what is run; else the text comes from a place that is not run.

    Only the source is looked at, so this leaves nothing out because it is hard to match.
    """
    have = {
        word
        for root in (*job["args"], *job["setup"])
        for node in ast.walk(root)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for word in _WORD.findall(node.value)
    }
    wanted = [{word for piece in raised.template.literals for word in _WORD.findall(piece)} for raised in alternatives]
    return any(not words or len(words & have) >= 0.7 * len(words) for words in wanted)


_WORD = re.compile(r"\w+")


def _message_args(node: ast.Raise | ast.Assert) -> list[ast.expr] | None:
    if isinstance(node, ast.Assert):
        return [node.msg] if node.msg is not None else []
    if not isinstance(node.exc, ast.Call):
        return [] if isinstance(node.exc, ast.Name | ast.Attribute) else None
    args, named = node.exc.args, {keyword.arg: keyword.value for keyword in node.exc.keywords}
    if any(isinstance(arg, ast.Starred) for arg in args) or None in named:
        return None
    if not args and named:
        return next(([named[name]] for name in KEYWORDS if name in named), None)
    name = ast.unparse(node.exc.func)
    return None if name.endswith("HTTPException") and len(args) > 1 else list(args)


def _setup(args: Sequence[ast.AST], node: ast.AST, scope: ast.AST, seen: _Places) -> list[ast.stmt]:
    """The assignments before the statement that give text to names of the message, in order: of the function, else of the module."""
    wanted, known = _loaded(args), set()
    chosen: list[Any] = []
    for _ in range(3):
        for name in sorted(wanted - known):
            known.add(name)
            own = [one for one in seen.given[scope].get(name, ()) if one.lineno < node.lineno]  # type: ignore[attr-defined]
            own = own or ([] if scope is seen.tree else seen.given[seen.tree].get(name, []))
            last = max((one for one in own if not isinstance(one, ast.AugAssign)), key=lambda one: one.lineno, default=None)
            if last is not None and _is_text(last.value):
                after = [one for one in own if one.lineno >= last.lineno and _is_text(one.value)]
                chosen += after
                wanted |= _loaded(after)
    return sorted(chosen, key=lambda one: one.lineno)


def _is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    if isinstance(node, ast.JoinedStr):
        return True
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    if isinstance(node, ast.IfExp):
        return _is_text(node.body) and _is_text(node.orelse)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("format", "join", "strip"):
        return _is_text(node.func.value)
    return False


def _loaded(nodes: Iterable[ast.AST]) -> set[str]:
    return {inner.id for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _at(node: ast.AST) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset  # type: ignore[attr-defined,no-any-return]


def _lines(lines: list[str], at: tuple[int, int, int, int]) -> dict[int, str]:
    return {number: lines[number - 1] + "\n" for number in range(at[0], min(at[2], at[0] + 30) + 1)}


# --------------------------------------------------------------------------------------------------------- running


def run(
    found: Sequence[Statement],
    frames: list[dict[str, Any]],
    seed: int,
    failures: Counter[str],
    progress: Callable[[int], None] = lambda done: None,
) -> list[Rendered]:
    """Run the statements, each once, in batches; what failed is counted by its reason."""
    rendered: list[Rendered] = []
    for start in range(0, len(found), BATCH):
        batch = list(found[start : start + BATCH])
        while batch:
            results = _run_batch(batch, frames, seed)
            by_id = {statement.id: statement for statement in batch}
            for result in results:
                statement = by_id[result["id"]]
                if "failed" in result:
                    failures[result["failed"].split(":")[0]] += 1
                else:
                    values, nested = tuple(result["values"]), tuple(result["nested"])
                    rendered.append(Rendered(statement, result["said"], result["text"], values, nested))
            if len(results) < len(batch):
                failures["the process died"] += 1
                results.append({})
            batch = batch[len(results) :]
        progress(min(start + BATCH, len(found)))
    return rendered


def _run_batch(batch: Sequence[Statement], frames: list[dict[str, Any]], seed: int) -> list[dict[str, Any]]:
    work = pickle.dumps({"jobs": [statement.job for statement in batch], "callers": frames, "seed": seed})
    command = [sys.executable, "-I", "-S", str(Path(__file__).with_name("worker.py"))]
    done = subprocess.run(command, input=work, capture_output=True, check=False, timeout=300)
    results = []
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        try:
            results.append(json.loads(line))
        except ValueError:
            break
    return results


def words_of(template: Template) -> str:
    """The words of a template: two texts with the same words are the same text to a reader."""
    from bot.matching.template import pattern

    return " ".join(piece for piece in pattern(template) if piece)
