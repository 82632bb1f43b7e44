"""Record files: what people write about an error, one YAML file each, to and from :class:`bot.model.Record`.

``errors/<owner>/<repository>/<area>/<slug>.yaml``; ``errors/README.md`` says how to write one. Every mistake is a :class:`Fault`
with its line and how to mend it, and a file with mistakes never keeps the others from being read.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from bot.catalogue.form import FixPart, ProvenancePart, RecordFile, SamplePart, SourcePart, json_schema
from bot.catalogue.strict_yaml import Document, YamlMistake, read_yaml
from bot.model import Example, PinnedSource, Provenance, Record, Sample, Template, Translation, record_id

MAX_FILE_BYTES = 64 * 1024
"""A record is shown in a comment, and GitHub's comments hold 65,536 characters; a larger file cannot be meant for that."""

SCHEMA_FILE = "record.schema.json"
"""The JSON Schema for editors, beside the folders of the owners."""

SOURCE_FILE = "source.yaml"
"""Describes the source of a repository; it is no record (:mod:`bot.catalogue.sources`)."""

__all__ = ["Fault", "dump_record", "find_line", "json_schema", "line_of", "load_records", "parse_record", "split_repository"]

_OWNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_NAME = re.compile(r"(?!\.\.?\Z)[A-Za-z0-9._-]{1,100}")


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """A mistake in a record file: the file relative to ``errors/``, the line (1-based), what is wrong, and how to mend it."""

    file: str
    line: int
    problem: str
    mend: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.problem}; {self.mend}"


def split_repository(repository: str) -> tuple[str, str]:
    """Owner and name of ``owner/name``, each safe as the name of a folder.

    Raises ValueError for anything that GitHub does not allow as such a name.
    """
    owner, _, name = repository.partition("/")
    if not _OWNER.fullmatch(owner) or not _NAME.fullmatch(name):
        raise ValueError(f"{repository!r} is not a repository: write OWNER/NAME, as in its address on GitHub")
    return owner, name


# ---------------------------------------------------------------------------------------------------------- reading


def load_records(errors_dir: Path, repository: str) -> tuple[tuple[Record, ...], tuple[Fault, ...]]:
    """All records of a repository, by file name, and all mistakes; a file with a mistake gives no record.

    Raises ValueError when ``repository`` is not ``owner/name``.
    """
    split_repository(repository)
    records: list[Record] = []
    faults: list[Fault] = []
    ids: dict[str, str] = {}
    texts: dict[tuple[str, str, str], str] = {}
    for file, path in _record_files(errors_dir, repository):
        try:
            data = _read(path)
        except OSError as error:
            faults.append(Fault(file, 1, f"cannot be read: {error.strerror}", "make it a plain readable file"))
            continue
        record, found, document = _parse(data, file, repository)
        if record is not None and document is not None:
            again = _taken(record, document, ids, texts)
            if not again:
                records.append(record)
            faults += again
        faults += found
    return tuple(records), tuple(sorted(faults))


def parse_record(data: bytes, file: str, repository: str) -> tuple[Record | None, tuple[Fault, ...]]:
    """The record that one file's bytes hold, or None and what is wrong; ``file`` is its path relative to ``errors/``."""
    record, faults, _ = _parse(data, file, repository)
    return record, faults


def line_of(errors_dir: Path, file: str, *where: str | int) -> int:
    """The line of a part of a record file, such as ``"examples", 1``; the nearest when it is not there, 1 without a file."""
    try:
        return read_yaml(_read(errors_dir / file)).line(*where)
    except (OSError, YamlMistake):
        return 1


def find_line(errors_dir: Path, file: str, needle: str, *where: str | int) -> int:
    """The line of a part of a record file on which ``needle`` stands first; the part's own line when it stands on none."""
    first = line_of(errors_dir, file, *where)
    try:
        lines = _read(errors_dir / file).decode("utf-8", "replace").split("\n")
    except OSError:
        return first
    for number, line in enumerate(lines[first - 1 :], first):
        if number > first and re.match(r"[a-z_]+:", line):
            break
        if needle in line:
            return number
    return first


def _record_files(errors_dir: Path, repository: str) -> Iterator[tuple[str, Path]]:
    """Name relative to ``errors/`` and path of each record file, in order of names; links to folders are not followed."""
    root = errors_dir.joinpath(*split_repository(repository))
    found = [Path(folder, name) for folder, _, names in os.walk(root) for name in names if name.endswith((".yaml", ".yml"))]
    for path in sorted(found):
        if path != root / SOURCE_FILE:
            yield path.relative_to(errors_dir).as_posix(), path


def _read(path: Path) -> bytes:
    """At most one byte more than allowed. A link is refused: it may lead out of the checkout."""
    if path.is_symlink():
        raise OSError(0, "it is a link")
    with path.open("rb") as file:
        return file.read(MAX_FILE_BYTES + 1)


def _parse(data: bytes, file: str, repository: str) -> tuple[Record | None, tuple[Fault, ...], Document | None]:
    if file.endswith(".yml"):
        return None, (Fault(file, 1, "the name ends in .yml", "rename it to .yaml"),), None
    if len(data) > MAX_FILE_BYTES:
        return None, (Fault(file, 1, f"larger than {MAX_FILE_BYTES // 1024} KiB", "shorten it"),), None
    try:
        document = read_yaml(data)
    except YamlMistake as error:
        wrong = error.mistake
        return None, (Fault(file, wrong.line, wrong.problem, wrong.mend),), None
    faults = [Fault(file, wrong.line, wrong.problem, wrong.mend) for wrong in document.mistakes]
    try:
        form = RecordFile.model_validate(document.value)
    except ValidationError as error:
        details = error.errors(include_url=False)
        # A list whose entries are all wrong is not "empty" to the person who wrote them.
        deeper = {detail["loc"][:-depth] for detail in details for depth in range(1, len(detail["loc"]))}
        faults += [_explain(detail, document, file) for detail in details if detail["type"] != "too_short" or detail["loc"] not in deeper]
        return None, tuple(faults), document
    return (None if faults else _record(form, repository, file)), tuple(faults), document


def _record(form: RecordFile, repository: str, file: str) -> Record:
    type_ = form.type or ""
    templates = tuple(Template.parse(text) for text in form.template)
    expression = "" if templates else form.expression or ""
    return Record(
        id=form.id or record_id(repository, type_, templates[0] if templates else Template(()), expression),
        repository=repository,
        type=type_,
        templates=templates,
        kind=form.kind,
        expression=expression,
        status=form.status,
        title=form.title or "",
        meaning=form.meaning,
        solutions=form.solutions,
        example=Example(form.example_fix.before, form.example_fix.after) if form.example_fix else None,
        guard=form.guard or "",
        handler=form.handler or "",
        trigger=form.trigger or "",
        situations=form.common_situations or "",
        related=form.related,
        symptom=form.symptom,
        source=PinnedSource(form.source.path, form.source.line, form.source.commit) if form.source else None,
        provenance=_provenance(form.provenance) if form.provenance else None,
        samples=tuple(Sample(sample.text, tuple(sample.captures.items())) for sample in form.examples),
        confusers=tuple(Sample(text) for text in form.confusers),
        file=file,
        seen_in=form.seen_in,
        translations=_translations(form),
    )


def _translations(form: RecordFile) -> tuple[Translation, ...]:
    chinese = Translation("zh", form.title_zh or "", form.meaning_zh or "", form.solutions_zh)
    return (chinese,) if chinese.title or chinese.meaning or chinese.solutions else ()


def _provenance(part: ProvenancePart) -> Provenance:
    return Provenance(part.author, part.commit or "", part.date or "")


def _taken(record: Record, document: Document, ids: dict[str, str], texts: dict[tuple[str, str, str], str]) -> list[Fault]:
    """Faults for an id or a text that another file has; what this record has is noted in ``ids`` and ``texts``."""
    faults = []
    if (other := ids.setdefault(record.id, record.file)) != record.file:
        line = document.line("id")
        faults.append(Fault(record.file, line, f"the id {record.id} is also that of {other}", "remove one of the two, or its `id`"))
    for at, template in enumerate(record.templates or (Template(()),)):
        key = (record.type, template.skeleton, record.expression)
        if (other := texts.setdefault(key, record.file)) != record.file:
            problem = f"{other} has the same type and template"
            faults.append(Fault(record.file, document.line("template", at), problem, "join the two records in one file"))
    return faults


# ---------------------------------------------------------------------------------------------------------- writing


class _Dumper(yaml.SafeDumper):
    """Texts of several lines as blocks, lists indented below their key."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


_LIKE_A_NUMBER = re.compile(r"[-+.0-9][-+.:_0-9a-fx]*")


def _as_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    # PyYAML knows YAML 1.1, in which 0132848349 is text; in YAML 1.2, which editors read, it is a number.
    style = "|" if "\n" in text else "'" if _LIKE_A_NUMBER.fullmatch(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _as_text)


def dump_record(record: Record) -> str:
    """The record file of a record, as ``errors/<record.file>`` would hold it; what a scan owns (sites, remedies) is left out."""
    template = record.template
    computed = record_id(record.repository, record.type, template, record.expression)
    texts = [str(text) for text in record.templates]
    given: dict[str, object] = {
        "id": record.id if record.id != computed else None,
        "type": record.type,
        "template": texts[0] if len(texts) == 1 else texts,
        "kind": record.kind if record.kind != "error" else None,
        "expression": record.expression,
        "title": record.title,
        "meaning": record.meaning,
        "solutions": list(record.solutions),
        "example_fix": {"before": record.example.before, "after": record.example.after} if record.example else None,
        "guard": record.guard,
        "handler": record.handler,
        "trigger": record.trigger,
        "common_situations": record.situations,
        "related": list(record.related),
        "symptom": record.symptom,
        "status": record.status,
        "source": dataclasses.asdict(record.source) if record.source else None,
        "provenance": {key: value for key, value in dataclasses.asdict(record.provenance).items() if value} if record.provenance else None,
        "examples": [_dumped(sample) for sample in record.samples],
        "confusers": [sample.text for sample in record.confusers],
        "seen_in": list(record.seen_in),
    }
    for told in record.translations:
        texts_of = {"title": told.title, "meaning": told.meaning, "solutions": list(told.solutions)}
        given |= {f"{key}_{told.language}": value for key, value in texts_of.items()}
    up = "../" * record.file.count("/")
    header = f"# yaml-language-server: $schema={up}{SCHEMA_FILE}\n"
    kept = {key: value for key, value in given.items() if value}
    text: str = yaml.dump(kept, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)
    return header + text


def _dumped(sample: Sample) -> object:
    return {"text": sample.text, "captures": dict(sample.captures)} if sample.captures else sample.text


# ----------------------------------------------------------------------------------------------------------- faults

_HINTS = {
    "id": "write 16 hex digits (0-9, a-f), or remove `id`: it is computed",
    "type": "write the exception type as printed, e.g. ValueError or torch.OutOfMemoryError",
    "commit": "write 7 to 40 hex digits (0-9, a-f) of the commit",
}

_PARTS: Mapping[str, type[BaseModel]] = {
    "source": SourcePart,
    "example_fix": FixPart,
    "provenance": ProvenancePart,
    "examples": SamplePart,
}


def _explain(detail: ErrorDetails, document: Document, file: str) -> Fault:
    where = detail["loc"]
    name = ".".join(str(step) for step in where if isinstance(step, str))
    problem, mend = _words(detail, name, str(where[-1]) if where else "")
    return Fault(file, document.line(*where), problem, mend)


def _words(detail: ErrorDetails, name: str, last: str) -> tuple[str, str]:
    """Problem and mend for one of pydantic's errors (https://docs.pydantic.dev/latest/errors/validation_errors/)."""
    kind, context, given = detail["type"], detail.get("ctx", {}), detail["input"]
    if "mend" in context:
        problem = str(context["problem"])
        return (f"`{name}`: {problem}" if name else problem), str(context["mend"])
    fields = _fields(detail["loc"])
    if kind == "missing":
        return f"`{name}` is missing", f"add `{last}`: {fields[last].description}" if last in fields else f"add `{last}`"
    if kind == "extra_forbidden":
        near = difflib.get_close_matches(last, fields, n=1)
        return f"unknown key `{name}`", f"did you mean `{near[0]}`?" if near else f"known keys: {', '.join(fields)}"
    if kind == "literal_error":
        return f"`{name}` cannot be {given!r}", f"write {context.get('expected')}"
    if kind == "string_pattern_mismatch":
        return f"`{name}` cannot be {given!r}", _HINTS.get(last, f"it must match {context.get('pattern')}")
    if kind == "string_type":
        what = {dict: "a mapping", list: "a list", type(None): "nothing"}.get(type(given), "something else")
        return f"`{name}` should be text and is {what}", "put the text in quotes, or on lines of its own below '|-'"
    if kind == "tuple_type":
        return f"`{name}` should be a list", "begin each entry on a line of its own with '- '"
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        known = f" ({', '.join(fields)})" if fields else ""
        return f"{f'`{name}`' if name else 'the file'} should hold keys{known}", "write each as `key: value` on a line of its own"
    if kind in ("too_short", "string_too_short"):
        return f"`{name}` is empty", "write at least one, or remove the key"
    return f"`{name}`: {detail['msg']}", "see errors/README.md"


def _fields(where: tuple[int | str, ...]) -> dict[str, FieldInfo]:
    """The keys known at the place of an error: those of the part in which it stands."""
    part = _PARTS.get(str(where[0])) if len(where) > 1 else None
    return dict((part or RecordFile).model_fields)
