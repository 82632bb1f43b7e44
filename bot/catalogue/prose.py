"""What people wrote in a record file, held against the house's rules of wording, and its code against Python.

A rule that needs the project's source stands in :mod:`bot.catalogue.claims`.
"""

from __future__ import annotations

import ast
import builtins
import re
import symtable
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from bot.model import Record

MAX_WORDS = 30
"""Words of a sentence; a code span or a link counts as one, and a semicolon ends it like a full stop."""

MIN_EXAMPLES = 2
"""Examples of a record: as a traceback prints it, and with a prefix, in a title, or of another release."""

DEAD_WORDS = (
    "actually", "basically", "clearly", "easily", "easy", "hopefully", "in order to", "it should be noted", "just", "kindly",
    "needless to say", "note that", "obviously", "of course", "please", "please note", "quite", "really", "simply", "trivial",
    "trivially", "unfortunately", "utilize", "very",
)  # fmt: skip
"""Words without which a sentence says the same; some of them also tell readers that they should have known."""

_DEAD = re.compile(r"(?<![\w-])(?:" + "|".join(sorted(DEAD_WORDS, key=len, reverse=True)) + r")(?![\w-])", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"(?<![\w/'.-])(?:I(?![\w/.])|(?:[Ww]e|[Uu]s|[Oo]ur|[Mm]y|[Mm]e)(?![\w-]))")
_CODE_SPAN = re.compile(r"(`{1,5})(?!`)[^`]{0,400}\1")
_LINK = re.compile(r"\[[^\[\]\n]{1,200}\]\(https?://[^\s()<>]{1,500}\)|https?://\S{1,500}")
_SENTENCE_END = re.compile(r"(?<=[.!?])[)\"']?\s+(?=[A-Z0-9`(\"'{])|(?<=;)\s+")
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][\w.]{0,80}(?:\(\))?)(?:![rsa])?(?::[^{}\s]{0,20})?\}")

_MODULE_NAMES = frozenset({"__name__", "__file__", "__doc__", "__builtins__"})


@dataclass(frozen=True, slots=True)
class Part:
    """One text of a record: where it stands in the file (``"solutions", 1``), and whether it is code."""

    where: tuple[str | int, ...]
    text: str
    code: bool = False
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Remark:
    """What is wrong in a part; ``needle`` is the piece of text that it is about."""

    where: tuple[str | int, ...]
    needle: str
    problem: str
    mend: str


def parts(record: Record) -> Iterator[Part]:
    """What people wrote of a record, text by text."""
    yield from (Part((key,), text) for key, text in (("title", record.title), ("meaning", record.meaning)) if text)
    yield from (Part(("solutions", number), text) for number, text in enumerate(record.solutions))
    yield from (Part((key,), text) for key, text in (("trigger", record.trigger), ("common_situations", record.situations)) if text)
    if record.example is not None:
        yield Part(("example_fix", "before"), record.example.before, code=True)
        yield Part(("example_fix", "after"), record.example.after, code=True)
    yield from (Part((key,), text, code=True) for key, text in (("guard", record.guard), ("handler", record.handler)) if text)
    for told in record.translations:
        of = told.language
        yield from (Part((f"{k}_{of}",), text, language=of) for k, text in (("title", told.title), ("meaning", told.meaning)) if text)
        yield from (Part((f"solutions_{of}", number), text, language=of) for number, text in enumerate(told.solutions))


def check_prose(record: Record) -> Iterator[Remark]:
    """Wording, placeholders, code, and how many examples there are."""
    holes = {hole.expression for template in record.templates for hole in template.holes}
    for part in parts(record):
        if part.code:
            if part.where[0] in ("guard", "handler"):
                yield from _check_code(part)
            continue
        yield from _check_placeholders(part, holes)
        if part.language == "en":
            yield from _check_wording(part)
    if len(record.samples) < MIN_EXAMPLES:
        mend = "add it as it occurs: with the prefix of a log line, in a title, or as another release prints it"
        yield Remark(("examples",), "examples", f"{len(record.samples)} example, and {MIN_EXAMPLES} are needed", mend)
    if not record.confusers:
        yield Remark(("examples",), "examples", "no confuser", "add `confusers:` with a similar text that is another error")
    for told in record.translations:
        if told.solutions and len(told.solutions) != len(record.solutions):
            problem = f"solutions_{told.language} has {len(told.solutions)} entries, and solutions {len(record.solutions)}"
            yield Remark((f"solutions_{told.language}",), f"solutions_{told.language}", problem, "translate each, in the same order")


def _check_wording(part: Part) -> Iterator[Remark]:
    text = _CODE_SPAN.sub("CODE", _LINK.sub("LINK", part.text))
    for found in _DEAD.finditer(text):
        yield Remark(part.where, found[0], f"“{found[0]}” says nothing", "leave the word out")
    for found in _FIRST_PERSON.finditer(text):
        yield Remark(part.where, found[0], f"“{found[0]}” is in the first person", "say who does it, or use the passive")
    for sentence in _SENTENCE_END.split(" ".join(text.split())):
        words = [word for word in sentence.split() if any(char.isalnum() for char in word)]
        if len(words) > MAX_WORDS:
            problem = f"a sentence of {len(words)} words (“{' '.join(words[:5])} …”)"
            yield Remark(part.where, words[0], problem, f"make two of it; {MAX_WORDS} words are the most")


def _check_placeholders(part: Part, holes: set[str]) -> Iterator[Remark]:
    for found in _PLACEHOLDER.finditer(part.text):
        if found[1] not in holes:
            known = ", ".join(f"{{{name}}}" for name in sorted(holes)) or "it has none"
            yield Remark(part.where, found[0], f"the template has no hole {found[0]}", f"its holes: {known}")


def _check_code(part: Part) -> Iterator[Remark]:
    key = str(part.where[0])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(part.text)
            unknown = undefined_names(part.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        needle = (error.text or "").strip() if isinstance(error, SyntaxError) else ""
        problem = error.msg if isinstance(error, SyntaxError) else str(error)
        yield Remark(part.where, needle or key, f"`{key}` is no Python: {problem}", "mend it; it must compile as it stands")
        return
    for name in unknown:
        yield Remark(part.where, name, f"`{key}` uses `{name}`, which it neither defines nor imports", "import it, or make it a parameter")


def undefined_names(code: str) -> tuple[str, ...]:
    """Names that code reads and neither defines nor imports, in the order of their letters.

    Raises SyntaxError for what is no Python.
    """
    module = symtable.symtable(code, "record", "exec")
    known = {name for symbol in module.get_symbols() if _is_bound(symbol) for name in (symbol.get_name(),)}
    known |= set(dir(builtins)) | _MODULE_NAMES
    unknown: set[str] = set()
    tables = [module]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (table is module or symbol.is_global()) and not _is_bound(symbol):
                unknown.add(symbol.get_name())
            if symbol.is_declared_global() and symbol.is_assigned():
                known.add(symbol.get_name())
    return tuple(sorted(unknown - known))


def _is_bound(symbol: symtable.Symbol) -> bool:
    return symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace() or symbol.is_parameter()
