"""The form of a record file: its keys, what each may hold, and the JSON Schema of it.

Values come from :mod:`bot.catalogue.strict_yaml`, where every scalar is text; numbers and truth values are made here, where one
is asked for. An error that a person can make carries its mend in its context.
"""

from __future__ import annotations

import datetime
import json
import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from bot.catalogue.strict_yaml import Plain
from bot.model import Template

MIN_LETTERS = 8
"""Letters and digits that a template needs outside its holes.

One sglang template in two hundred has fewer (``'{}: {}'``, ``'TP {}'``), and such a text is found in logs that have nothing to
do with it.
"""

TODO = "TODO"
"""How a text begins that is still to be written; a file with one gives no record, so that it is never shown."""


MODEL = "AI: "
"""How the author begins of what a language model wrote alone; such a file is no record, and never shown, until it is ``reviewed``."""


def _fault(kind: str, problem: str, mend: str) -> PydanticCustomError:
    return PydanticCustomError(kind, "{problem}", {"problem": problem, "mend": mend})


def _text(text: str) -> str:
    text = text.strip()
    if not text:
        raise _fault("empty", "empty text", "write it, or remove the key")
    if text.startswith(TODO):
        raise _fault("todo", f"a {TODO} is left: {text.removeprefix(TODO).lstrip(': ').split(chr(10))[0] or 'it says no more'}", "write it")
    return text


def _code(text: str) -> str:
    """Code keeps the indentation of its first line."""
    _text(text)
    return text.strip("\n").rstrip()


def _message(text: str) -> str:
    """A template, checked; one line break at the end belongs to YAML's block, not to the message."""
    text = text.removesuffix("\n")
    try:
        template = Template.parse(text)
    except ValueError as error:
        problem, _, mend = str(error).partition("; ")
        raise _fault("template", f"bad template: {problem}", mend) from error
    letters = sum(char.isalnum() for piece in template.literals for char in piece)
    if letters < MIN_LETTERS:
        raise _fault(
            "letters",
            f"the template has {letters} letters outside its holes and needs {MIN_LETTERS}: {text!r}",
            "when the text is put into a variable first, write the texts it may have, as a list",
        )
    return text


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _as_sample(value: object) -> object:
    return {"text": value} if isinstance(value, str) else value


def _number(value: object) -> object:
    if isinstance(value, Plain) and re.fullmatch("[1-9][0-9]{0,8}", value):
        return int(value)
    raise _fault("number", f"{value!r} is not a number", "write a number from 1 up, without quotes")


def _truth(value: object) -> object:
    if isinstance(value, Plain) and value in ("true", "false"):
        return value == "true"
    raise _fault("truth", f"{value!r} is neither true nor false", "write true or false, without quotes")


def _date(value: str) -> str:
    try:
        return datetime.date.fromisoformat(value).isoformat()
    except ValueError as error:
        raise _fault("date", f"{value!r} is not a date", "write it as YYYY-MM-DD") from error


def _source_path(path: str) -> str:
    if path.startswith("/") or "\\" in path or ".." in path.split("/") or "//" in path:
        raise _fault("path", f"{path!r} is not a path in the repository", "write it as in the repository's address, with /")
    return path


_Id = Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
_Text = Annotated[str, AfterValidator(_text), Field(min_length=1)]
_Code = Annotated[str, AfterValidator(_code), Field(min_length=1)]
_Message = Annotated[str, AfterValidator(_message), Field(min_length=1)]
_Type = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*((\.|::?)[A-Za-z_][A-Za-z0-9_]*)*$")]
_State = Annotated[str, Field(pattern=r"^([0-9a-f]{7,40}|[A-Za-z0-9._-]*[0-9]\.[0-9][A-Za-z0-9._-]*)$", max_length=100)]
_Number = Annotated[int, BeforeValidator(_number), WithJsonSchema({"type": "integer", "minimum": 1})]
_Date = Annotated[str, AfterValidator(_date), Field(json_schema_extra={"format": "date"})]
_TEXT_SCHEMA = {"type": "string", "minLength": 1}
_Messages = Annotated[
    tuple[_Message, ...],
    BeforeValidator(_listed),
    WithJsonSchema({"anyOf": [_TEXT_SCHEMA, {"type": "array", "items": _TEXT_SCHEMA, "minItems": 1}]}),
]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SourcePart(_Part):
    """The line that the author looked at; it stays when the code moves."""

    path: Annotated[_Text, AfterValidator(_source_path)] = Field(description="Path in the repository")
    line: _Number = Field(description="Line of the raise")
    commit: _State = Field(description="Commit looked at, 7 to 40 hex digits, or the tag of a release")


class FixPart(_Part):
    """A fix shown as code or commands."""

    before: _Code = Field(description="What fails")
    after: _Code = Field(description="What works")


class ProvenancePart(_Part):
    """Who or what wrote the record, looking at what, and when."""

    author: _Text = Field(description="A name, or 'AI-assisted'; of a model's draft, 'AI: ' and the model")
    commit: _State | None = Field(None, description="Commit looked at, or the tag of a release")
    date: _Date | None = Field(None, description="Day of writing, YYYY-MM-DD")


class SamplePart(_Part):
    """A text as it stands in an issue or log, and what must be found in the template's holes."""

    text: _Text = Field(description="The text as printed, prefixes and all")
    captures: dict[str, str] = Field(default_factory=dict, description="Hole of the template, without its braces, to the text found in it")


_Sample = Annotated[SamplePart, BeforeValidator(_as_sample, json_schema_input_type=str | SamplePart)]


class RecordFile(_Part):
    """One known error."""

    model_config = ConfigDict(title="A record of explainbot")

    id: _Id | None = Field(None, description="Only to keep the id of an older record: 16 hex digits")
    type: _Type | None = Field(None, description="Exception type as printed, e.g. ValueError")
    template: _Messages = Field(
        (), description="The message as in an f-string, holes as {name}, braces doubled; a list when several texts are one error"
    )
    kind: Literal["error", "assert", "log", "warning"] = Field("error", description="How the program says it")
    expression: _Text | None = Field(None, description="The asserted expression, for an assert without a message")
    title: _Text | None = Field(None, description="A short heading; the message's first line when absent")
    meaning: _Text = Field(description="What the error means")
    solutions: tuple[_Text, ...] = Field(min_length=1, description="What helps, the most likely first")
    example_fix: FixPart | None = Field(None, description="A fix shown as code: before and after")
    guard: _Code | None = Field(None, description="Code that checks beforehand")
    handler: _Code | None = Field(None, description="Code that catches the error and goes on")
    trigger: _Text | None = Field(None, description="What a user does to get it")
    common_situations: _Text | None = Field(None, description="Where it is met in practice")
    related: tuple[_Text, ...] = Field((), description="Ids, titles or messages of related errors")
    symptom: Annotated[bool, BeforeValidator(_truth)] = Field(
        False, description="true for an error that only says that something else failed"
    )
    status: Literal["reviewed", "draft"] = Field("draft", description="reviewed once somebody held it against the source")
    source: SourcePart | None = Field(None, description="The line that the author looked at")
    provenance: ProvenancePart | None = Field(None, description="Who or what wrote the record, and when")
    examples: tuple[_Sample, ...] = Field(min_length=1, description="Texts that must be found to be this error; they are the record's test")
    confusers: tuple[_Text, ...] = Field((), description="Similar texts that must not be found to be this error")
    seen_in: tuple[_Number, ...] = Field((), description="Numbers of issues of the repository in which it was seen")
    title_zh: _Text | None = Field(None, description="The title in Chinese, for issues written in Chinese")
    meaning_zh: _Text | None = Field(None, description="The meaning in Chinese")
    solutions_zh: tuple[_Text, ...] = Field((), description="The solutions in Chinese, as many as `solutions`, in the same order")

    @model_validator(mode="after")
    def _read_by_a_person(self) -> RecordFile:
        if self.status == "draft" and self.provenance and self.provenance.author.startswith(MODEL):
            problem = "a language model wrote this, and nobody has held it against the source"
            raise _fault("unread", problem, "do so, mend what is wrong, then write `status: reviewed`")
        return self

    @model_validator(mode="after")
    def _named(self) -> RecordFile:
        if not self.type and self.kind in ("error", "assert"):
            raise _fault("missing_type", "`type` is missing", "add the exception type as it is printed, e.g. `type: ValueError`")
        if not self.template and not (self.kind == "assert" and self.expression):
            raise _fault(
                "missing_template",
                "`template` is missing",
                "add the message as it stands in the source, or, for an assert without one, `kind: assert` and `expression`",
            )
        holes = {hole.expression for text in self.template for hole in Template.parse(text).holes}
        for sample in self.examples:
            for name in sample.captures:
                if name not in holes:
                    known = ", ".join(sorted(holes)) or "it has none"
                    raise _fault("capture", f"the template has no hole `{name}` for a capture", f"its holes: {known}")
        return self


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a record file, for editors; ``errors/record.schema.json`` holds it."""
    schema: dict[str, Any] = _without_null(RecordFile.model_json_schema())
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema


def schema_text() -> str:
    """What ``errors/record.schema.json`` holds; ``explainbot check --format schema`` prints it."""
    return json.dumps(json_schema(), indent=2) + "\n"


def _without_null(schema: Any) -> Any:
    """An optional key may be left out; the schema then need not offer null, which reads badly in an editor."""
    if isinstance(schema, list):
        return [_without_null(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    cleaned = {key: _without_null(value) for key, value in schema.items() if not (key == "default" and value is None)}
    choices = cleaned.get("anyOf")
    if isinstance(choices, list) and {"type": "null"} in choices:
        kept = [choice for choice in choices if choice != {"type": "null"}]
        del cleaned["anyOf"]
        return kept[0] | cleaned if len(kept) == 1 else cleaned | {"anyOf": kept}
    return cleaned
