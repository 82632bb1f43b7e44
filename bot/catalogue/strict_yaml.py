"""YAML as record files use it: texts, lists and mappings, each with its line; everything that surprises is refused.

The events of PyYAML's C loader are read directly. So an alias is never followed (a few hundred bytes of them unfold to
gigabytes), no tag makes an object, and no scalar becomes something else than it looks like: in YAML 1.1 ``no`` is False, ``012``
is 10 and ``1:30`` is 90 (https://yaml.org/type/). A scalar stays text until the reader's schema asks for a number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

MAX_DEPTH = 8
"""Lists and mappings inside each other; record files need four. A deeper file would only exhaust the reader."""

NULLS = frozenset({"", "~", "null", "Null", "NULL"})
"""What YAML 1.2 reads as "nothing" when it stands without quotes (https://yaml.org/spec/1.2.2/#1032-tag-resolution)."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong in a file: the line, 1-based; what; and how to mend it."""

    line: int
    problem: str
    mend: str


class YamlMistake(Exception):
    """A file that cannot be read as YAML of this kind; :attr:`mistake` says why and where."""

    def __init__(self, mistake: Mistake) -> None:
        super().__init__(f"line {mistake.line}: {mistake.problem}; {mistake.mend}")
        self.mistake = mistake


class Plain(str):
    """A scalar written without quotes: the only kind that may become a number or a truth value."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _Node:
    """One value: a text, None, a list of nodes, or a mapping of keys to nodes; lines of a mapping's keys stand in ``keys``."""

    line: int
    value: str | list[_Node] | dict[str, _Node] | None
    keys: dict[str, int] = field(default_factory=dict)

    def plain(self) -> object:
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        if isinstance(self.value, dict):
            # A key without a value is a key not given: `handler:` and `handler: null` say that there is none.
            return {key: node.plain() for key, node in self.value.items() if node.value is not None}
        return self.value


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was read: its value, and the line of each part of it; ``mistakes`` are keys given twice."""

    root: _Node
    mistakes: tuple[Mistake, ...] = ()

    @property
    def value(self) -> object:
        """Strings (:class:`Plain` when written without quotes), lists and dicts; None only inside lists."""
        return self.root.plain()

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the file's mapping, those without a value too."""
        return tuple(self.root.keys)

    def line(self, *where: str | int) -> int:
        """The line of the part that is reached by these keys and indices; as near to it as the file goes."""
        node, line = self.root, self.root.line
        for step in where:
            if isinstance(node.value, dict) and step in node.value:
                line, node = node.keys[str(step)], node.value[str(step)]
            elif isinstance(node.value, list) and isinstance(step, int) and step < len(node.value):
                node = node.value[step]
                line = node.line
            else:
                break
        return line


def read_yaml(data: bytes) -> Document:
    """Read one YAML document.

    Raises YamlMistake for bytes that are not UTF-8, for text that is not YAML or holds no or several documents, and for anchors,
    aliases, tags, keys that are no text, and nesting deeper than :data:`MAX_DEPTH`.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _mistake(line, f"byte {error.start} is not UTF-8", "save the file in the encoding UTF-8") from error
    loader = yaml.CSafeLoader(text)
    try:
        return _document(_events(loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "not YAML"
        raise _mistake(mark.line + 1 if mark else 1, f"not valid YAML: {problem}", _mend(problem)) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position if isinstance(error.position, int) else 0) + 1
        raise _mistake(line, "a control character stands in the file", "remove it, or write it as \\x… in double quotes") from error
    finally:
        loader.dispose()


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _mistake(line: int, problem: str, mend: str) -> YamlMistake:
    return YamlMistake(Mistake(line, problem, mend))


def _mend(problem: str) -> str:
    """What most often helps against one of libyaml's complaints."""
    if "mapping values" in problem or "expected ':'" in problem:
        return "put a text that holds ': ' in quotes, or on lines of its own below '|-'; check the indentation"
    if "start any token" in problem:
        return "indent with blanks, not tabs, and put a text that begins with @ ` % or a tab in quotes"
    if "anchor" in problem or "alias" in problem or "tag" in problem:
        return "put a text that begins with & * or ! in quotes"
    return "check quotes and indentation near this line; longer texts are easiest on lines of their own below '|-'"


def _events(loader: yaml.CSafeLoader) -> Iterator[yaml.Event]:
    while (event := loader.get_event()) is not None:
        yield event


def _document(events: Iterator[yaml.Event]) -> Document:
    next(events)  # the start of the stream
    if isinstance(next(events), yaml.StreamEndEvent):
        raise _mistake(1, "the file is empty", "write the record, or remove the file")
    mistakes: list[Mistake] = []
    root = _node(next(events), events, mistakes, MAX_DEPTH)
    next(events)  # the end of the document
    event = next(events)
    if not isinstance(event, yaml.StreamEndEvent):
        raise _mistake(_line(event), "a second document begins here", "put each record in a file of its own")
    return Document(root, tuple(mistakes))


def _node(event: yaml.Event, events: Iterator[yaml.Event], mistakes: list[Mistake], depth: int) -> _Node:
    line = _line(event)
    if isinstance(event, yaml.AliasEvent):
        raise _mistake(line, f"'*{event.anchor}' is an alias", "write the text out, or put it in quotes when '*' belongs to it")
    if not isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent):
        raise _mistake(line, "the file ends too early", "check quotes and indentation near this line")
    if event.anchor is not None:
        raise _mistake(line, f"'&{event.anchor}' is an anchor", "remove it, or put the text in quotes when '&' belongs to it")
    if event.tag is not None:
        raise _mistake(line, f"'{event.tag}' is a tag", "remove it, or put the text in quotes when '!' belongs to it")
    if isinstance(event, yaml.ScalarEvent):
        if event.style is not None and event.style != "":
            return _Node(line, event.value)
        return _Node(line, None if event.value in NULLS else Plain(event.value))
    if not depth:
        raise _mistake(line, f"more than {MAX_DEPTH} lists and mappings inside each other", "put a text that holds [ or { in quotes")
    if isinstance(event, yaml.SequenceStartEvent):
        items: list[_Node] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(_node(event, events, mistakes, depth - 1))
        return _Node(line, items)
    return _mapping(line, events, mistakes, depth)


def _mapping(line: int, events: Iterator[yaml.Event], mistakes: list[Mistake], depth: int) -> _Node:
    values: dict[str, _Node] = {}
    lines: dict[str, int] = {}
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        at = _line(event)
        key = _node(event, events, mistakes, depth - 1).value
        value = _node(next(events), events, mistakes, depth - 1)
        if not isinstance(key, str):
            raise _mistake(at, "a key that is no text", "put a text that begins with { or [ in quotes")
        key = str(key)
        if key in values:
            mistakes.append(Mistake(at, f"`{key}` stands here again, first on line {lines[key]}", "keep one of the two"))
        else:
            values[key], lines[key] = value, at
    return _Node(line, values, lines)
