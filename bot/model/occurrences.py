"""What reading finds in a text: errors with their frames, and the versions that the reporter states."""

from __future__ import annotations

from dataclasses import dataclass

Span = tuple[int, int]
"""Half-open character offsets into :attr:`Reading.text`."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a traceback, as printed.

    ``function`` is the bare name that Python prints (``__init__``, never ``Class.__init__``); ``code`` is the source line
    below it, stripped (Python 3.13 prints all lines of a statement: joined with a newline).
    """

    path: str
    line: int | None = None
    function: str | None = None
    code: str = ""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One error found in a text.

    ``type`` is the exception type as printed (``torch.OutOfMemoryError``), or None where none was printed. ``message`` is
    cleaned: prefixes, colours, quoting and wraps are gone; ``span`` says where it stood in the text as written. ``frames``
    are in the order that Python prints them (outermost first). ``cause`` and ``context`` are the earlier errors of the
    chain ("direct cause of", "during handling of"). ``dialect`` names what was read: ``traceback``, ``line`` (a
    ``Type: message`` line or a log line), ``title``, ``prose`` (a quotation in a sentence), ``source`` (a source line that
    is quoted as the error), ``json``, ``cpp``, ``rust``. ``truncated`` says that the end is known to be cut off.
    """

    type: str | None
    message: str
    span: Span
    frames: tuple[Frame, ...] = ()
    cause: Occurrence | None = None
    context: Occurrence | None = None
    dialect: str = "line"
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class StatedVersion:
    """A version that the reporter states, e.g. ``sglang 0.5.3``; ``kind`` is how it was stated, most specific kinds first.

    Kinds, by falling trust: ``freeze`` (pip freeze, check_env), ``path`` (wheel or dist-info path), ``image`` (docker tag),
    ``log``, ``prose``; ``commit`` holds a commit hash in place of a version.
    """

    package: str
    version: str
    kind: str
    span: Span


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read in an issue: ``text`` is title, blank line, body; spans are offsets into it."""

    text: str
    occurrences: tuple[Occurrence, ...] = ()
    versions: tuple[StatedVersion, ...] = ()
