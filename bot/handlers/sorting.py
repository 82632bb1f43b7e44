"""Commands for maintainers that sort: labels, earlier issues, the backlog, a new record."""

from __future__ import annotations

import json
import re
from itertools import islice

from bot.answering.comment import nothing_found_text
from bot.answering.replies import duplicates_text, no_labels_text, record_text, scan_text
from bot.handlers import Context
from bot.handlers.asking import explain_asked
from bot.handlers.explain import named
from bot.handlers.help import SORTERS, Asked, react, say
from bot.handlers.triage import area_labels, backlog
from bot.model import AddLabels, Effect, Occurrence, Record, Verdict
from bot.reading import read
from bot.registry import COMMANDS

MAX_SCANNED = 300
"""Open issues that one scan reads: three pages of GitHub's list."""

_NOT_SLUG = re.compile(r"[^a-z0-9]+")


@COMMANDS.add("label", usage="/explain label", who=SORTERS, takes="nothing")
def label(asked: Asked, context: Context) -> tuple[Effect, ...]:
    """Add the label of the area that the error comes from."""
    verdict = _verdict(asked, context)
    labels = area_labels(verdict, context.catalogue, context.config) if verdict and context.catalogue else ()
    if not labels:
        return say(asked, no_labels_text(asked.language), "confused")
    return AddLabels(asked.issue.number, labels), react(asked, "+1")


@COMMANDS.add("duplicate", usage="/explain duplicate", who=SORTERS, takes="nothing")
def duplicate(asked: Asked, context: Context) -> tuple[Effect, ...]:
    """List earlier issues that hold the same error."""
    verdict = _verdict(asked, context)
    if verdict is None or verdict.decision == "silent" or not verdict.matches:
        return say(asked, nothing_found_text(asked.language), "confused")
    record = verdict.matches[0].record
    earlier = [number for number in context.memory.issues_with(record.id) if number < asked.issue.number]
    text = duplicates_text(record, earlier[::-1], context.record_url, lambda n: _issue_url(asked, context, n), asked.language)
    return say(asked, text, "+1")


@COMMANDS.add("scan", usage="/explain scan", who=SORTERS, takes="nothing")
def scan(asked: Asked, context: Context) -> tuple[Effect, ...]:
    """Count the known errors in the open issues; nothing but the report is written."""
    if context.catalogue is None:
        return say(asked, nothing_found_text(asked.language), "confused")
    issues = list(islice(context.tracker.open_issues(), MAX_SCANNED + 1))
    found = backlog(issues[:MAX_SCANNED], context.catalogue)
    text = scan_text(
        [(known.record, known.issues) for known in found.known],
        unknown=len(found.unknown),
        silent=found.silent,
        total=found.total,
        cut=len(issues) > MAX_SCANNED,
        record_url=context.record_url,
        issue_url=lambda number: _issue_url(asked, context, number),
        language=asked.language,
    )
    return say(asked, text, "+1")


@COMMANDS.add("record", usage="/explain record", who=SORTERS, takes="text")
def write_record(asked: Asked, context: Context) -> tuple[Effect, ...]:
    """Start a record for this error: a file with what is known of it."""
    verdict = _verdict(asked, context)
    occurrences = [o for text in (asked.comment.body, asked.issue.body) for o in read("", text).occurrences]
    if verdict and verdict.decision != "silent" and verdict.matches:
        record = verdict.matches[0].record
        id, type, template, expression = record.id, record.type, str(record.template), record.expression
    elif occurrences:
        id, type, template, expression = "", occurrences[0].type or "", _escaped(occurrences[0]), ""
    else:
        return say(asked, nothing_found_text(asked.language), "confused")
    path = f"errors/{context.tracker.repository}/{_area(verdict, context)}/{_slug(template or expression)}.yaml"
    known = f"template: {json.dumps(template)}" if template else f"expression: {json.dumps(expression)}"
    lines = ([f"type: {type}"] if type else []) + [known, "title: ", "meaning: >-", "  ", "solutions:", "  - ", "status: draft"]
    text = "\n".join(line.rstrip() for line in lines)
    return say(asked, record_text(path, text, context.records_repository, id, asked.language), "+1")


def _verdict(asked: Asked, context: Context) -> Verdict | None:
    """What the issue is about: what a maintainer said, or else what the comment or the issue holds. None without a catalogue."""
    record: Record | None = None
    if context.catalogue and (id := context.memory.corrected(asked.issue.number)):
        record = context.catalogue.get(id)
    explained = explain_asked(asked, context)
    if record:
        return named(record, explained.verdict if explained else None, "a maintainer said so")
    return explained.verdict if explained else None


def _issue_url(asked: Asked, context: Context, number: int) -> str:
    site, found, _ = asked.comment.url.partition(f"/{context.tracker.repository}/")
    return f"{site if found else 'https://github.com'}/{context.tracker.repository}/issues/{number}"


def _area(verdict: Verdict | None, context: Context) -> str:
    labels = area_labels(verdict, context.catalogue, context.config) if verdict and context.catalogue else ()
    return _slug(labels[0]) if labels else "general"


def _slug(text: str) -> str:
    words = _NOT_SLUG.sub("-", text.lower()[:200]).strip("-").split("-")
    return "-".join(words[:8])[:60].strip("-") or "error"


def _escaped(occurrence: Occurrence) -> str:
    """The first line of a message as a template without holes."""
    return occurrence.message.strip().split("\n", 1)[0][:400].replace("{", "{{").replace("}", "}}")
