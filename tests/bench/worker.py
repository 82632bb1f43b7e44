"""Runs message expressions of a foreign source in a process with limits, and lets Python print the tracebacks.

Started by :mod:`rendering` as ``python -I -S worker.py``; reads one pickled batch from standard input, writes one JSON line for each job.
Nothing of the source is imported: only the expressions run, in a namespace of stand-in values (:mod:`values`).
"""

from __future__ import annotations

import ast
import builtins
import inspect
import json
import linecache
import pickle
import random
import resource
import signal
import sys
import textwrap
import traceback
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from values import KINDS, Maker, Shown, Thing

SECONDS, MEMORY = 120, 2 << 30
"""Processor time and address space of one batch."""

EXPRESSION_SECONDS = 0.5
MAX_MESSAGE = 20_000

SAFE = (
    "str", "repr", "ascii", "len", "int", "float", "bool", "list", "tuple", "dict", "set", "frozenset", "sorted", "reversed", "min", "max",
    "sum", "any", "all", "range", "zip", "enumerate", "map", "filter", "abs", "round", "format", "hex", "oct", "bin", "chr", "ord",
    "divmod", "pow", "slice", "isinstance", "issubclass", "hasattr", "callable", "iter", "next", "bytes", "id", "print",
)  # fmt: skip

INNER = (
    (KeyError, ("layers.0.weight",)), (ModuleNotFoundError, ("No module named 'helion'",)), (ValueError, ("invalid literal",)),
    (RuntimeError, ("CUDA error: an illegal memory access was encountered",)), (FileNotFoundError, (2, "No such file or directory")),
    (AttributeError, ("'NoneType' object has no attribute 'shape'",)), (TimeoutError, ("timed out",)),
)  # fmt: skip


class Lines:
    """Source lines of one file, of which only some are known; what :mod:`linecache` reads."""

    def __init__(self) -> None:
        self.known: dict[int, str] = {}

    def __len__(self) -> int:
        return 10**9

    def __getitem__(self, at: int) -> str:
        return self.known.get(at + 1, "\n")


class Instrument(ast.NodeTransformer):
    """Keeps what each field of an f-string printed, and asks stand-ins for their class by call."""

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.FormattedValue:
        self.generic_visit(node)
        keep = ast.Call(ast.Name("__keep__", ast.Load()), [ast.JoinedStr([node])], [])
        return ast.FormattedValue(keep, -1, None)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if node.attr == "__class__":
            return ast.Call(ast.Name("type", ast.Load()), [node.value], [])
        return node


def namespace(maker: Maker, nodes: list[ast.AST], kept: list[str]) -> dict[str, Any]:
    """Names of the expressions with values."""
    space: dict[str, Any] = {"__keep__": lambda text: kept.append(text) or text}
    space["__builtins__"] = {name: getattr(builtins, name) for name in SAFE} | {
        name: value for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
    }
    for name in ("_", "_l", "gettext", "gettext_lazy", "_lazy"):
        space[name] = str
    space["textwrap"], space["dedent"], space["inspect"], space["cleandoc"] = textwrap, textwrap.dedent, inspect, inspect.cleandoc
    space["type"] = lambda thing, *_: Thing(maker, "class", Shown(f"<class '{KINDS['class'](maker.chance)}'>"))
    space["getattr"] = lambda thing, name, *_: maker.thing(str(name))
    stored = {node.id for root in nodes for node in ast.walk(root) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    for root in nodes:
        for node in ast.walk(root):
            if isinstance(node, ast.Name) and node.id not in space and node.id not in space["__builtins__"] and node.id not in stored:
                space[node.id] = maker.thing(node.id)
    return space


def evaluate(job: dict[str, Any], maker: Maker) -> tuple[list[Any], list[str]]:
    """The arguments of the exception, and what the fields of f-strings printed."""
    kept: list[str] = []
    nodes = [*job["setup"], *job["args"]]
    nodes = [ast.fix_missing_locations(Instrument().visit(pickle.loads(pickle.dumps(node)))) for node in nodes]
    space = namespace(maker, nodes, kept)
    for statement in nodes[: len(job["setup"])]:
        exec(compile(ast.Module([statement], []), "<setup>", "exec"), space)
    args = [eval(compile(ast.Expression(node), "<message>", "eval"), space) for node in nodes[len(job["setup"]) :]]
    return [arg._value if isinstance(arg, Thing) else arg for arg in args], kept


def place(node: ast.AST, at: tuple[int, int, int, int]) -> None:
    for inner in ast.walk(node):
        if "lineno" in inner._attributes:
            inner.lineno, inner.col_offset, inner.end_lineno, inner.end_col_offset = at  # type: ignore[attr-defined]


def function(path: str, name: str, body: ast.stmt, first: int) -> Any:
    """A function of that file and name with one statement where it stands in the file."""
    name = name if name.isidentifier() else "module_level"
    outer = ast.parse(f"def {name}(following, error): pass")
    place(outer, (first, 0, first, 1))
    outer.body[0].body = [body]  # type: ignore[attr-defined]
    space: dict[str, Any] = {}
    exec(compile(outer, path, "exec"), space)
    made = space[name]
    if name == "module_level":
        made.__code__ = made.__code__.replace(co_name="<module>", co_qualname="<module>")
    return made


def known_lines(path: str, lines: dict[int, str]) -> None:
    entry = linecache.cache.setdefault(path, (1, None, Lines(), path))  # type: ignore[arg-type]
    entry[2].known.update(lines)  # type: ignore[union-attr]


def calling(frame: dict[str, Any], root: str) -> Any:
    call = ast.parse("following(None, error)").body[0]
    if frame["last"]:
        call = ast.parse("following(error)").body[0]
    place(call, frame["at"])
    return function(root + frame["path"], frame["function"], call, frame["at"][0])


def raising(job: dict[str, Any], root: str) -> Any:
    if job["assert"] is not None:
        body: ast.stmt = ast.parse("assert following, error").body[0] if job["args"] else ast.parse("assert following").body[0]
        place(body, job["at"])
        place(body.test, job["assert"])  # type: ignore[attr-defined]
    else:
        body = ast.parse("raise error").body[0]
        place(body, job["at"])
    return function(root + job["path"], job["function"], body, job["at"][0])


def make_type(name: str, module: str) -> type[BaseException]:
    short = name.rsplit(".", 1)[-1]
    known = getattr(builtins, short, None)
    if isinstance(known, type) and issubclass(known, BaseException):
        return known
    return type(short, (Exception,), {"__module__": module, "__qualname__": short})


def inner_error(maker: Maker, root: str) -> BaseException:
    kind, args = maker.chance.choice(INNER)
    path = root + "torch/nn/modules/module.py"
    known_lines(path, {1751: "            return self._call_impl(*args, **kwargs)\n"})
    body = ast.parse("raise error").body[0]
    place(body, (1751, 12, 1751, 53))
    try:
        function(path, "_wrapped_call_impl", body, 1751)(None, kind(*args))
    except BaseException as error:
        error.__traceback__ = error.__traceback__.tb_next if error.__traceback__ else None
        return error
    raise AssertionError


def print_error(job: dict[str, Any], args: list[Any], maker: Maker, callers: list[dict[str, Any]]) -> tuple[str, str]:
    """What the exception says, and the traceback as Python prints it."""
    chance = maker.chance
    root = chance.choice(job["roots"])
    known_lines(root + job["path"], job["lines"])
    error = make_type(job["type"], job["module"])(*args)
    said = str(error)
    if job["cause"] == "cause":
        error.__cause__ = inner_error(maker, root)
    elif job["cause"] == "context" and chance.random() < 0.8:
        error.__context__ = inner_error(maker, root)
    last = raising(job, root)
    chain = chance.sample(callers, min(len(callers), chance.randint(0, 4))) if callers else []

    def run(depth: int) -> None:
        if depth == len(chain):
            last(None, error if job["assert"] is None else args[0] if args else None)
        else:
            frame = {**chain[depth], "last": False}
            known_lines(root + frame["path"], frame["lines"])
            calling(frame, root)(lambda *_: run(depth + 1), error)

    try:
        run(0)
    except BaseException as raised:
        raised.__cause__, raised.__context__ = error.__cause__, error.__context__
        raised.__suppress_context__ = error.__cause__ is not None
        text = "".join(traceback.format_exception(raised))
        return said, drop_own_frames(text)
    raise AssertionError("did not raise")


def drop_own_frames(text: str) -> str:
    """Without the frames of this file: header and two lines for each (source and perhaps marks)."""
    kept, skipping = [], False
    for line in text.split("\n"):
        if line.startswith('  File "'):
            skipping = __file__ in line
        elif not line.startswith("    "):
            skipping = False
        if not skipping:
            kept.append(line)
    return "\n".join(kept).rstrip("\n")


def stop(*_: object) -> None:
    raise TimeoutError("too slow")


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    batch = pickle.load(sys.stdin.buffer)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    signal.signal(signal.SIGVTALRM, stop)
    out, sys.stdout = sys.stdout, sys.stderr
    others: list[tuple[int, str]] = []
    for job in batch["jobs"]:
        chance = random.Random(f"{batch['seed']} {job['id']}")
        maker = Maker(chance)
        maker.others = others
        signal.setitimer(signal.ITIMER_VIRTUAL, EXPRESSION_SECONDS)
        try:
            args, kept = evaluate(job, maker)
            said, text = print_error(job, args, maker, batch["callers"])
            result: dict[str, Any] = {"id": job["id"], "said": said, "text": text, "values": kept, "nested": maker.nested}
            if len(text) > MAX_MESSAGE:
                result = {"id": job["id"], "failed": "too long"}
            elif len(others) < 500 and 30 < len(said) < 400:
                others.append((job["id"], said))
        except Exception as error:
            result = {"id": job["id"], "failed": f"{type(error).__name__}: {error}"[:200]}
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        out.write(json.dumps(result) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
