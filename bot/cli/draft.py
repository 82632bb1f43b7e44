"""``explainbot draft``: have a language model write what a record file needs, for a person to hold against the source.

Off unless a server is named in the settings. The model gets what the scan read from the source, and nothing that a reporter wrote. Its
answer is text of a stranger's: it goes through what ``check`` asks of people, and the file is no record, and never shown, before a person
has set it to ``reviewed`` (:data:`bot.catalogue.form.MODEL`).
"""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from bot.cli.app import FAILED, Problem, app, load_settings

if TYPE_CHECKING:
    from bot.catalogue.catalogue import Catalogue
    from bot.catalogue.prose import Remark
    from bot.config import Settings
    from bot.model import RaiseSite, Record

SECONDS = (10.0, 120.0)
"""How long to wait for a connection, and between two pieces of an answer."""

TOTAL_SECONDS = 300.0
MAX_ANSWER = 256 * 1024
"""Bytes of an answer; a record file has at most 64 KiB."""

MAX_SITES = 5

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "description": "The error in a few words"},
        "meaning": {"type": "string", "description": "What it means to the person who sees it, in two or three sentences"},
        "solutions": {"type": "array", "items": {"type": "string"}, "description": "What helps, the most likely first"},
        "trigger": {"type": "string", "description": "What somebody does to get it"},
        "common_situations": {"type": "string", "description": "Where it is met in practice"},
    },
    "required": ["title", "meaning", "solutions", "trigger", "common_situations"],
    "additionalProperties": False,
}
"""The form of an answer (https://json-schema.org/draft/2020-12/schema)."""

MOST = {"title": 160, "meaning": 1_500, "solutions": 500, "trigger": 1_000, "common_situations": 1_000}
"""Characters of each text, at most."""

MAX_SOLUTIONS = 8

RULES = (
    "You explain one error of a program to the people who run it, from its source alone. Say only what the source shows. Sentences have at "
    "most 30 words, in plain English, without first person. Leave out: simply, just, please, note that, of course, very, easily, actually. "
    "Put options, names and commands in backticks. Name no option, variable or module that does not stand in what you are given, and no "
    "link. {name} of a hole of the message may be used, and is filled in later."
)


IDS = typer.Argument(..., metavar="ID…", help="Ids of records that nobody has written yet.")
REPO = typer.Option("", "--repo", metavar="OWNER/NAME", help="Whose catalogue to use; the only one built when left out.")


@app.command()
def draft(ids: list[str] = IDS, repo: str = REPO) -> None:
    """Have a language model draft record files, each from the source of its error alone.

    Needs EXPLAINBOT_DRAFT_URL and EXPLAINBOT_DRAFT_MODEL: any server that speaks the OpenAI chat protocol. What `check` would refuse is
    not written. A draft is no record until a person has held it against the source, filled each TODO and set `status: reviewed`.

    Examples:

    - `explainbot draft 4f1d0c6e2a9b8d37`
    """
    from bot.cli.catalogues import Catalogues

    settings = load_settings()
    if not settings.draft_url or not settings.draft_model:
        raise Problem("no model is set: name its server with EXPLAINBOT_DRAFT_URL, and it with EXPLAINBOT_DRAFT_MODEL")
    catalogues = Catalogues(settings)
    catalogue = catalogues.open(repo or catalogues.only())
    failed = False
    for id in ids:
        try:
            typer.echo(_draft(id, catalogue, settings))
        except Problem as problem:
            failed = True
            typer.echo(f"{id}: {problem}", err=True)
    if failed:
        raise typer.Exit(FAILED)


def _draft(id: str, catalogue: Catalogue, settings: Settings) -> str:
    """Draft one record and write its file; returns the path. Raises Problem when that cannot be done."""
    from bot.cli.new import file_of, find, started, write

    record, _ = find(id, catalogue)
    if record.file:
        raise Problem(f"{settings.errors_dir / record.file} explains this error already; edit that file")
    drafted = _filled(started(record, None, catalogue), ask(question(record), settings), settings, catalogue)
    if remarks := _refused(drafted, settings, catalogue):
        told = "; ".join(f"{remark.where[0]}: {remark.problem}" for remark in remarks)
        raise Problem(f"what {settings.draft_model} wrote does not pass, and is not written: {told}")
    return str(write(replace(drafted, file=file_of(record, catalogue)), catalogue, settings))


def question(record: Record) -> str:
    """What the model is asked: the message, and each place that raises it with its conditions, as the scan read them."""
    parts = [f"Exception type: {record.type}", f"Message: {record.template}"]
    if record.expression:
        parts.append(f"Asserted: {record.expression}")
    parts += [_place(site) for site in record.sites[:MAX_SITES]]
    return "\n\n".join(parts)


def _place(site: RaiseSite) -> str:
    lines = [f"Raised in {site.path}, {site.function}: {site.signature}".rstrip(": "), site.code]
    lines += [f"{condition.kind}: {condition.text}" for condition in site.conditions]
    lines += [f"parameter {name}: {sentence}" for name, sentence in site.documented]
    if site.flags:
        lines.append(f"options that lead there: {', '.join(site.flags)}")
    return "\n".join(line for line in lines if line)


def ask(text: str, settings: Settings) -> dict[str, Any]:
    """The model's answer, in the form of :data:`SCHEMA`.

    Raises Problem when the server cannot be reached, is too slow, or answers in another form.
    """
    import time

    import requests

    body: Any = {
        "model": settings.draft_model,
        "messages": [{"role": "system", "content": RULES}, {"role": "user", "content": text}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "record", "strict": True, "schema": SCHEMA}},
    }
    key = settings.draft_key.get_secret_value()
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    address = f"{settings.draft_url.rstrip('/')}/chat/completions"
    until = time.monotonic() + TOTAL_SECONDS
    try:
        # A redirect is not followed: the key is for this server alone.
        with requests.post(address, json=body, headers=headers, timeout=SECONDS, stream=True, allow_redirects=False) as answer:
            if answer.status_code != 200:
                raise Problem(f"{settings.draft_url} answers with status {answer.status_code}")
            data = b""
            for piece in answer.iter_content(8192):
                data += piece
                if len(data) > MAX_ANSWER or time.monotonic() > until:
                    raise Problem(f"{settings.draft_url} answers too much or too slowly")
    except requests.RequestException as error:
        raise Problem(f"{settings.draft_url} gives no answer ({type(error).__name__})") from error
    try:
        return _checked(json.loads(json.loads(data)["choices"][0]["message"]["content"]))
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise Problem(
            f"{settings.draft_model} answers in another form than asked for ({type(error).__name__}: {str(error)[:100]})"
        ) from error


def _checked(found: Any) -> dict[str, Any]:
    """The answer if it has the form. Raises ValueError when it has not."""
    if not isinstance(found, dict) or set(found) != set(SCHEMA["required"]):
        raise ValueError("not the keys that were asked for")
    texts = {key: value if key == "solutions" else [value] for key, value in found.items()}
    for key, values in texts.items():
        if not isinstance(values, list) or not 1 <= len(values) <= MAX_SOLUTIONS:
            raise ValueError(f"{key} is not what was asked for")
        for value in values:
            if not isinstance(value, str) or not value.strip() or len(value) > MOST[key] or not value.replace("\n", " ").isprintable():
                raise ValueError(f"{key} is empty, too long, or no plain text")
    return found


def _filled(record: Record, said: dict[str, Any], settings: Settings, catalogue: Catalogue) -> Record:
    from bot.catalogue.form import MODEL
    from bot.model import Provenance

    newest = catalogue.last_release(record) or (catalogue.releases[-1] if catalogue.releases else "")
    return replace(
        record,
        title=" ".join(said["title"].split()),
        meaning=said["meaning"].strip(),
        solutions=tuple(text.strip() for text in said["solutions"]),
        trigger=said["trigger"].strip(),
        situations=said["common_situations"].strip(),
        provenance=Provenance(
            f"{MODEL}{settings.draft_model}",
            catalogue.source.tag_of(newest) if newest else "",
            datetime.datetime.now(datetime.UTC).date().isoformat(),
        ),
    )


def _refused(record: Record, settings: Settings, catalogue: Catalogue) -> list[Remark]:
    """What ``check`` would say of the model's texts; the gaps that are left for a person are not among them."""
    from bot.answering.sanitise import LINK_HOSTS
    from bot.catalogue.claims import check_claims, source_names
    from bot.catalogue.form import TODO
    from bot.catalogue.prose import Remark, check_prose

    names = source_names(catalogue.source, settings.cache_dir)
    texts = (record.title, record.meaning, *record.solutions, record.trigger, record.situations)
    gaps = [Remark((TODO,), TODO, "a text begins with TODO", "write it") for text in texts if text.startswith(TODO)]
    whole = replace(record, guard="", handler="")
    found = [*gaps, *check_prose(whole), *check_claims(whole, names, catalogue.source, LINK_HOSTS)]
    return [remark for remark in found if remark.where[0] != "examples"]
