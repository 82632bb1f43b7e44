"""What the checks and exceptions of C++ print: the macros of PyTorch, TVM FFI and glog, sglang's kernels, and ``throw``.

Types are those that Python shows. Texts follow the definitions: ``c10/util/Exception.h`` and ``c10/util/logging_is_not_google_glog.h``
(PyTorch 2.13), ``tvm/ffi/error.h`` (an error kind that Python doesn't know becomes RuntimeError there), ``flashinfer/exception.h``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.catalogue.scanners.cpp.text import FORMAT, LITERALS, PRINTF, Reader, called, hole
from bot.catalogue.scanners.python.parts import Parts, Texts, cross, join, words
from bot.catalogue.scanners.trees import one_line, text_of
from bot.model import Condition, Hole

if TYPE_CHECKING:
    from tree_sitter import Node

NAMES = re.compile(
    rb"\b(?:throw\b|[A-Za-z_]*(?:Check|Panic|panic)\b|(?:assert|PyErr_SetString|PyErr_Format|fprintf|printf)\b"
    rb"|[A-Z][A-Z0-9_]*(?:CHECK|ASSERT|ENFORCE|REQUIRE|THROW|ERROR|PANIC|FATAL|FAIL|WARN)[A-Z0-9_]*\b|CHECK[A-Z0-9_]*\b|[A-Z_]{0,20}LOG(?=\(FATAL)"
    rb"|ASSERT[A-Z0-9_]*\b)"
)
"""Where something may be raised; what it is, the tree tells."""

PYTHON_TYPES = {
    # https://pybind11.readthedocs.io/en/stable/advanced/exceptions.html, "Built-in C++ to Python exception translation"
    "exception": "RuntimeError", "runtime_error": "RuntimeError", "logic_error": "RuntimeError", "bad_alloc": "MemoryError",
    "domain_error": "ValueError", "invalid_argument": "ValueError", "length_error": "ValueError", "out_of_range": "IndexError",
    "range_error": "ValueError", "overflow_error": "OverflowError", "underflow_error": "RuntimeError", "system_error": "RuntimeError",
    "stop_iteration": "StopIteration", "index_error": "IndexError", "key_error": "KeyError", "value_error": "ValueError",
    "type_error": "TypeError", "buffer_error": "BufferError", "import_error": "ImportError", "attribute_error": "AttributeError",
    "cast_error": "RuntimeError", "reference_cast_error": "TypeError", "bad_cast": "RuntimeError", "bad_function_call": "RuntimeError",
    "format_error": "RuntimeError", "failure": "RuntimeError", "filesystem_error": "RuntimeError",
    # torch/csrc/Exceptions.h
    "Error": "RuntimeError", "IndexError": "IndexError", "ValueError": "ValueError", "TypeError": "TypeError",
    "NotImplementedError": "NotImplementedError", "LinAlgError": "LinAlgError", "BufferError": "BufferError",
    "OutOfMemoryError": "OutOfMemoryError", "python_error": "", "error_already_set": "",
}  # fmt: skip
TORCH_TYPES = {
    "INDEX": "IndexError", "VALUE": "ValueError", "TYPE": "TypeError", "NOT_IMPLEMENTED": "NotImplementedError",
    "LINALG": "LinAlgError", "BUFFER": "BufferError",
}  # fmt: skip
TVM_TYPES = frozenset(
    {"ValueError", "TypeError", "AttributeError", "KeyError", "IndexError", "AssertionError", "MemoryError", "RuntimeError"}
)
COMPARES = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}

IMPROVE = " to be true, but got false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)"

FILE, LINE, FUNCTION = Hole("__FILE__"), Hole("__LINE__"), Hole("__func__")

TORCH = re.compile(r"(?P<std>STD_)?TORCH_D?CHECK(?:_(?P<of>[A-Z_]+))?\Z")
TVM = re.compile(r"(?:TVM_FFI_)?(?:I|D|(?<=FFI_))?CHECK(?:_(?P<op>EQ|NE|LT|LE|GT|GE|NOTNULL))?\Z")
GLOG = re.compile(r"(?:[A-Z]+_)?[DPQ]?CHECK(?:_(?P<op>EQ|NE|LT|LE|GT|GE|NOTNULL|STREQ|STRNE|OK))?\Z")
PLACE = re.compile(r"(?:m_|debug_)?(?:loc|location|info|where|debug)_?\Z")
"""An argument that says where the caller stands, before those of the message."""

ANY = re.compile(r"[A-Z][A-Z0-9_]*\Z")
NOT_RAISING = re.compile(r"STATIC_ASSERT|_DISPATCH|GET_LAST_ERROR|(?:^|_)EXPECT(?:_|\Z)|DISABLE|ENABLE|_HAS_|^PyErr_Clear|INSTANTIATE")


@dataclass(frozen=True, slots=True)
class Printed:
    """What one check prints when it fails: the texts are alternatives; ``condition`` is what leads to it."""

    type: str
    texts: Texts
    kind: str = "error"
    expression: str = ""
    condition: Condition | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """A check as it stands in the source: its name, its arguments, and what is streamed into it."""

    name: str
    given: tuple[Node, ...]
    streamed: tuple[Node, ...]
    reader: Reader
    panics: tuple[str, ...] = ("Failed at ",)

    def written(self, at: int) -> str:
        """An argument as the preprocessor turns it to text."""
        return one_line(text_of(self.given[at])) if at < len(self.given) else ""

    def failed(self, at: int = 0) -> Condition | None:
        """The condition that a check of the argument ``at`` sets."""
        text = self.written(at)
        return Condition("assert", text) if text and text not in ("false", "0") else None

    def said(self, *before: str | Hole, start: int = 0, between: str = "") -> Texts:
        """What is printed: fixed parts, then the arguments from ``start`` on, then what is streamed."""
        pieces: list[tuple[Texts, Hole | None]] = [((join((before,)),), None)]
        if self.given[start:]:
            pieces.append((self.reader.message(self.given[start:], between), None))
        if self.streamed:
            pieces.append((self.reader.message(self.streamed), None))
        return cross(pieces)

    def streams(self, *before: str | Hole) -> Texts:
        """What is printed by a check that takes its text by ``<<`` only."""
        return self.said(*before, start=len(self.given))


def read(use: Use) -> Printed | None:
    """What a check prints; None for a name that is none, or a use without any text."""
    for one in (_torch, _tvm, _sglang, _glog, _python, _any):
        if (printed := one(use)) is not None:
            return printed if printed.texts else None
    return None


def _torch(use: Use) -> Printed | None:
    name, given = use.name, use.given
    if name in ("AT_ERROR", "TORCH_CHECK_FAIL"):
        return Printed("RuntimeError", use.said())
    if name in ("TORCH_WARN", "TORCH_WARN_ONCE"):
        return Printed("log:warning", use.said(), "warning")
    if name == "C10_THROW_ERROR" and len(given) == 2:
        return Printed(PYTHON_TYPES.get(use.written(0), "RuntimeError"), use.said(start=1))
    if name in ("TORCH_INTERNAL_ASSERT", "TORCH_INTERNAL_ASSERT_DEBUG_ONLY", "AT_ASSERT", "AT_ASSERTM") and given:
        said = (use.written(0) + ' INTERNAL ASSERT FAILED at "', FILE, '":', LINE, ", please report a bug to PyTorch. ")
        return Printed("RuntimeError", use.said(*said, start=1), "assert", use.written(0), use.failed())
    match = TORCH.match("TORCH_CHECK" if name == "AT_CHECK" else name)
    if match is None or not given:
        return None
    of, start, type = match["of"] or "", 0, "RuntimeError"
    if of in COMPARES and len(given) >= 2:
        return _compared("RuntimeError", use, COMPARES[of], "). ")
    before: tuple[str | Hole, ...] = ()
    if of in ("WITH", "WITH_MSG", "IF_NOT"):
        type, start = PYTHON_TYPES.get(use.written(0).rpartition("::")[2], "RuntimeError"), 1
    elif of in TORCH_TYPES:
        type = TORCH_TYPES[of]
    elif of == "ARG" and len(given) > 1:
        before = ("invalid argument ", hole(given[1]), ": ")
        return Printed(type, use.said(*before, start=2), "error", condition=use.failed())
    elif of:
        return None
    if match["std"]:
        before = (FUNCTION, ", ", FILE, ":", LINE, ", ")
    if len(given) <= start + 1:
        if not use.written(start):
            return None
        expected = (*before, f"Expected {use.written(start)}{IMPROVE}")
        return Printed(type, (join((expected,)),), "assert", use.written(start), use.failed(start))
    return Printed(type, use.said(*before, start=start + (2 if of == "WITH_MSG" else 1)), "error", condition=use.failed(start))


def _compared(type: str, use: Use, operator: str, end: str, mark: str = "Check failed: ") -> Printed:
    """A check of two values, which prints both: ``Check failed: a == b (1 vs. 2)``."""
    expression = f"{use.written(0)} {operator} {use.written(1)}"
    values = (f"{mark}{expression} (", hole(use.given[0]), " vs. ", hole(use.given[1]), end)
    texts = use.said(*values, start=2)
    return Printed(type, texts, "assert", expression, Condition("assert", expression))


def _tvm(use: Use) -> Printed | None:
    name = use.name
    if name in ("TVM_FFI_THROW", "TVM_FFI_LOG_AND_THROW") and use.given:
        return Printed(_tvm_type(use.written(0)), use.streams())
    match = TVM.match(name)
    if match is None or not use.given or not ("ICHECK" in name or name.startswith("TVM_FFI_")):
        return None
    op, type, given = match["op"], "RuntimeError", use.given
    if name.startswith(("TVM_FFI_CHECK", "TVM_FFI_DCHECK")):
        kind = 2 if op in COMPARES else 1
        if len(given) > kind:
            type = _tvm_type(use.written(kind))
        use = Use(name, given[:kind], use.streamed, use.reader)
    if op == "NOTNULL":
        return Printed(type, use.streams(f"Check not null: {use.written(0)} "), "assert", use.written(0), use.failed())
    if op in COMPARES:
        return _compared(type, use, COMPARES[op], ") : ") if len(given) >= 2 else None
    said = f"Check failed: ({use.written(0)}) is false: "
    return Printed(type, use.said(said, start=1), "assert", use.written(0), use.failed())


def _tvm_type(kind: str) -> str:
    return kind if kind in TVM_TYPES else "RuntimeError"


def _sglang(use: Use) -> Printed | None:
    name = use.name
    if name in ("FLASHINFER_CHECK", "FLASHINFER_ERROR") and use.given:
        before = ("Error in function '", FUNCTION, "' at ", FILE, ":", LINE, ": ")
        if name == "FLASHINFER_ERROR":
            return Printed("RuntimeError", use.said(*before))
        if len(use.given) == 1:
            texts = use.streams(*before, f"Check failed: {use.written(0)}")
            return Printed("RuntimeError", texts, "assert", use.written(0), use.failed())
        return Printed("RuntimeError", use.said(*before, start=1, between=" "), condition=use.failed())
    if name == "RuntimeDeviceCheck":
        error = hole(use.given[0]) if use.given and not PLACE.match(use.written(0)) else Hole("cudaGetLastError()")
        return Printed("RuntimeError", tuple((*before, "CUDA error: ", error) for before in _panics(use)))
    if name in ("RuntimeCheck", "Panic", "panic", "SGL_PANIC", "CHECK_HOST"):
        start = 0 if name in ("Panic", "SGL_PANIC") else 1
        if name in ("RuntimeCheck", "Panic") and len(use.given) > start and PLACE.match(use.written(0)):
            start += 1  # (place, condition, …)
        if not use.given and not use.streamed and name != "Panic":
            return None
        ending: tuple[str | Hole, ...] = (": ",)
        if not use.given[start:] and not use.streamed:
            ending = (" in ", FUNCTION)
        texts = tuple(parts for panics in use.panics for parts in use.said(panics, FILE, ":", LINE, *ending, start=start))
        condition = use.failed(start - 1) if start and name in ("RuntimeCheck", "CHECK_HOST") else None
        return Printed("RuntimeError", texts, condition=condition)
    return None


def _panics(use: Use) -> Texts:
    return tuple((panics, FILE, ":", LINE, ": ") for panics in use.panics)


def _glog(use: Use) -> Printed | None:
    name = use.name
    if name in ("LOG", "DLOG", "RAY_LOG", "TVM_LOG"):
        return Printed("", use.streams()) if use.written(0) == "FATAL" and use.streamed else None
    if name == "assert" and len(use.given) == 1:
        said = (f"Assertion `{use.written(0)}' failed.",)
        return Printed("", (said,), "assert", use.written(0), use.failed()) if use.written(0) not in ("false", "0") else None
    match = GLOG.match(name)
    if match is None or not use.given:
        return None
    op = match["op"]
    if op in COMPARES and len(use.given) == 2:
        return _compared("", use, COMPARES[op], ") ")
    if op == "NOTNULL" and len(use.given) == 1:
        return Printed("", use.streams(f"Check failed: '{use.written(0)}' Must be non NULL "), "assert", use.written(0), use.failed())
    if op is None and len(use.given) == 1 and (name.endswith("DCHECK") or name in ("CHECK", "PCHECK", "RAY_CHECK") or use.streamed):
        return Printed("", use.streams(f"Check failed: {use.written(0)} "), "assert", use.written(0), use.failed())
    return None


def _python(use: Use) -> Printed | None:
    """``PyErr_SetString(PyExc_ValueError, "text")`` and ``PyErr_Format`` of Python's own interface."""
    if use.name not in ("PyErr_SetString", "PyErr_Format") or len(use.given) < 2:
        return None
    type = use.written(0).rpartition("PyExc_")[2]
    if not type.isidentifier() or not use.written(0).startswith("PyExc_"):
        type = ""
    if use.name == "PyErr_Format":
        texts = use.reader.formatted(use.given[1:], PRINTF)
        return Printed(type, texts if texts is not None else ((hole(use.given[1]),),))
    return Printed(type, use.reader.message(use.given[1:2]))


def _any(use: Use) -> Printed | None:
    """A macro that nobody defines here: its text as it is, when it has one."""
    if not ANY.match(use.name) or NOT_RAISING.search(use.name) or "WARN" in use.name:
        return None
    for at, node in enumerate(use.given):
        texts = use.reader.texts(node)
        if texts is None or max(map(words, texts)) < 6 or not any(" " in str(part) for parts in texts for part in parts):
            continue
        rest = use.given[at:]
        if node.type in LITERALS and len(rest) > 1:
            literal = text_of(node)
            style = PRINTF if PRINTF.search(literal) else FORMAT if "{}" in literal else None
            formatted = use.reader.formatted(rest, style) if style else None
            texts = formatted or use.reader.message(rest)
        return Printed("", texts, condition=use.failed() if at else None)
    if use.streamed:
        texts = use.reader.message(use.streamed)
        if max(map(words, texts)) >= 6:
            return Printed("", texts, condition=use.failed())
    return None


def printed_to_end(use: Use) -> Printed | None:
    """``fprintf(stderr, "…", …)`` before the program is ended."""
    if use.name not in ("fprintf", "printf"):
        return None
    given = use.given[1:] if use.name == "fprintf" else use.given
    if not given or (use.name == "fprintf" and use.written(0) != "stderr"):
        return None
    texts = use.reader.formatted(given, PRINTF)
    return Printed("", tuple(map(_without_end, texts))) if texts else None


def _without_end(parts: Parts) -> Parts:
    return (*parts[:-1], parts[-1].rstrip("\n")) if parts and isinstance(parts[-1], str) else parts


def thrown(node: Node, reader: Reader) -> Printed | None:
    """What ``throw`` raises; None for one that only raises again."""
    value = next((child for child in node.named_children if child.type != "comment"), None)
    if value is None:
        return None
    if value.type == "call_expression":
        function, arguments = value.child_by_field_name("function"), value.child_by_field_name("arguments")
    elif value.type == "compound_literal_expression":
        function, arguments = value.child_by_field_name("type"), value.child_by_field_name("value")
    else:
        return None
    if function is None or arguments is None:
        return None
    name = called(function)
    type = PYTHON_TYPES.get(name, name)
    if not type or not name[:1].isalpha():
        return None
    given = [child for child in arguments.named_children if child.type != "comment"]
    if not given:
        return Printed(type, (("std::bad_alloc",),) if name == "bad_alloc" else ((),))
    read_all = [(node, reader.texts(node)) for node in given]
    texts = next((texts for _, texts in read_all if texts is not None and max(map(words, texts)) > 0), None)
    if texts is None:
        texts = reader.message(given[:1] if name in PYTHON_TYPES else given[-1:])
    return Printed(type, texts)
