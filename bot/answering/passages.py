"""The parts of a comment, each a piece of Markdown or "" when there is nothing to say."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from bot.answering.sanitise import (
    clean,
    code,
    code_block,
    fence,
    link,
    paragraphs,
    plain,
    prose,
    start_of_line,
)
from bot.answering.secrets import doors, mask
from bot.answering.words import circumstances, enumeration, language_of, last_release, printed_type, verb
from bot.model import Example, Match, RaiseSite, Reason, Record

SourceUrl = Callable[[RaiseSite, str | None], str]
RecordUrl = Callable[[str], str]

Values = dict[str, str | None]
"""What filled the holes of a message, by the hole's expression; None where nothing was seen."""

HIDDEN = "[hidden]"
MAX_SITES = 3
MAX_SOLUTIONS = 8
MAX_OTHERS = 5
MAX_RELATED = 4
MAX_REASONS = 10

_RECORD_ID = re.compile(r"[0-9a-f]{16}")


def is_written(record: Record) -> bool:
    """Whether a person explained the record; else it holds only what the code says."""
    return bool(record.meaning or record.solutions)


def matched_line(match: Match) -> str:
    """The error as the reporter pasted it, and a warning when it held a credential."""
    occurrence = match.occurrence
    type, message = printed_type(occurrence.type), occurrence.message
    text = f"{type}: {message}" if type and message else type or message
    if not text.strip():
        return ""
    kinds = doors(mask(clean(text))[1])
    warning = (
        f"**The quoted text held what looks like a secret ({enumeration(kinds)}).** It is hidden here, but still stands in the "
        + "issue: revoke it."
    )
    return fence(text, most=700, lines=10) + (f"\n\n{warning}" if kinds else "")


def short_line(match: Match, most: int = 140) -> str:
    """The error as pasted, as one piece of inline code."""
    occurrence = match.occurrence
    type, message = printed_type(occurrence.type), occurrence.message
    return code(f"{type}: {message}" if type and message else type or message, most=most)


def heading(record: Record, values: Values | None = None) -> str:
    """The record's title; for a record that nobody wrote, the first line of its message as code."""
    title = prose(record.title, values, most=160, links=False)
    return title or code(replace(record, title="").heading, most=110)


def values_of(match: Match) -> Values:
    """What filled the holes, for the placeholders of the record's text.

    A value that stands in a part of the message that is hidden as a credential is hidden as well.
    """
    values: Values = {hole.expression: None for template in match.record.templates for hole in template.holes}
    whole = " ".join(clean(match.occurrence.message).split())
    masked = mask(whole)[0]
    for capture in match.captures:
        value = " ".join(clean(capture.value).split())
        values[capture.expression] = HIDDEN if value in whole and value not in masked else value or None
    return values


def meaning(match: Match, values: Values) -> str:
    """What the error means; for a derived record, what the code says of it."""
    record = match.record
    if record.meaning:
        return paragraphs(record.meaning, values, most=900)
    return code_says(record, site_of(match))


def code_says(record: Record, site: RaiseSite | None) -> str:
    """What the source alone says: which function, under which conditions. Conditions are told only of a site that is known."""
    shown = site or (record.sites[0] if len(record.sites) == 1 else None)
    if shown is None:
        return ""
    where = "at the top level of its module" if shown.function == "<module>" else f"in {code(shown.function)}"
    through = f" through {code(shown.through)}" if shown.through else ""
    conditions = [condition for condition in shown.conditions if condition.kind != "assert"]
    asserted = record.expression or next((c.text for c in reversed(shown.conditions) if c.kind == "assert"), "")
    told = f"The assertion {code(asserted, most=200)} failed" if asserted else verb(record)
    when = circumstances(conditions)
    return f"{told} {where}{through}{f' when {when}' if when else ''}."


def site_of(match: Match) -> RaiseSite | None:
    """The site that the evidence names, or the only one there is."""
    if match.site is not None:
        return match.site
    return match.record.sites[0] if len(match.record.sites) == 1 else None


def where_raised(match: Match, release: str | None, source_url: SourceUrl) -> str:
    """Where the error is raised, as permalinks with their line, in the reporter's release where it is known."""
    record, site = match.record, site_of(match)
    if not record.sites:
        return ""
    if site is not None:
        at, release_said = site_link(site, release, source_url), _in_release(site, release, record)
        if not record.meaning:
            return f"Source: {at}, {release_said}."
        where = f" in {code(site.function, most=90)}" if site.function != "<module>" else ""
        return f"{verb(record)} at {at}{where}, {release_said}."
    first = record.sites[:MAX_SITES]
    links = enumeration([site_link(each, release, source_url) for each in first])
    several = f"{verb(record)} in {len(record.sites)} places{':' if len(first) == len(record.sites) else ', e.g.'} {links}."
    return f"{several} A full traceback would say which of them."


def site_link(site: RaiseSite, release: str | None, source_url: SourceUrl) -> str:
    """``path:line`` linked to the source on the tracker."""
    at = site.in_release(release)
    return link(code(f"{site.path}:{at.line}", most=200), source_url(site, release))


def _in_release(site: RaiseSite, release: str | None, record: Record) -> str:
    at = site.in_release(release)
    if at.release == release:
        return f"in {plain(at.release)}, the release of this issue"
    if release and record.status != "obsolete":
        return f"in {plain(at.release)} (it was not found in {plain(release)})"
    return f"in {plain(at.release)}"


def history(match: Match) -> str:
    """What became of the text in newer releases: gone, or changed."""
    record = match.record
    last = last_release(record)
    if record.status == "obsolete":
        until = f"until release {plain(last)} and is gone since" if last else "in older releases and is gone"
        return f"This text existed {until}: an upgrade ends this message, though not always what caused it."
    older = match.template not in record.templates or (record.status == "changed" and match.template != record.template)
    if older and record.template.parts:
        return "This is the text of an older release. There it has changed since, and now reads:\n\n" + fence(
            str(record.template), most=400, lines=6
        )
    if record.status == "changed":
        return "The text of this error has changed since this explanation was written: hold it against the linked line."
    return ""


def solutions(record: Record, values: Values) -> str:
    """What helps, numbered; for a derived record only what the message itself advises."""
    if record.solutions:
        items = [prose(text, values, most=400) for text in record.solutions[:MAX_SOLUTIONS]]
        title = "What to do"
    else:
        items = [prose(_certain(text), values, most=300) for text in record.remedies[:MAX_SOLUTIONS]]
        title = "What the message itself advises"
    numbered = "\n".join(f"{number}. {item}" for number, item in enumerate(filter(None, items), 1))
    return f"**{title}**\n\n{numbered}" if numbered else ""


def _certain(text: str) -> str:
    """A remedy without the sentences that only print values; the whole when nothing else is left."""
    sentences = re.split(r"(?<=[.!?]) ", text)
    return " ".join(sentence for sentence in sentences if "{" not in sentence) or text


def example_fix(example: Example | None) -> str:
    """Before and after as one block of a diff."""
    if example is None:
        return ""
    before, after = (clean(text).strip("\n").split("\n")[:30] for text in (example.before, example.after))
    lines: list[str] = []
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            lines += [f"  {line}" for line in before[a:b]]
        else:
            lines += [f"- {line}" for line in before[a:b]] + [f"+ {line}" for line in after[c:d]]
    return code_block("\n".join(lines), "diff", most=1_400, lines=60)


def guard_and_handler(record: Record) -> str:
    """Code that checks beforehand, and code that catches; folded. What nobody wrote is left to the record's page."""
    parts = []
    if not is_written(record):
        return ""
    if record.guard:
        parts.append("Check for it beforehand:\n\n" + code_block(record.guard, language_of(record.guard), most=1_000))
    if record.handler:
        parts.append("Catch it and go on:\n\n" + code_block(record.handler, language_of(record.handler), most=1_000))
    if not parts:
        return ""
    title = "Check for it, or catch it, in code" if len(parts) == 2 else "Check for it in code" if record.guard else "Catch it in code"
    return fold(title, "\n\n".join(parts))


def others(matches: Sequence[Match], record_url: RecordUrl) -> str:
    """The other errors of the same text, one line each, each record once."""
    lines: dict[str, str] = {}
    for match in matches[1:]:
        if match.record.id != matches[0].record.id and match.record.id not in lines:
            note = ", which only says that something else failed" if match.record.symptom else ""
            lines[match.record.id] = f"{short_line(match)}{note} ({link('explained here', record_url(match.record.id))})"
    shown = list(lines.values())[:MAX_OTHERS]
    if not shown:
        return ""
    if len(lines) == 1:
        return f"Also in this log: {shown[0]}."
    more = f"\n- and {len(lines) - len(shown)} more" if len(lines) > len(shown) else ""
    return "Also in this log:\n\n" + "\n".join(f"- {line}" for line in shown) + more


def related(record: Record, record_url: RecordUrl, find: Callable[[Record], Sequence[Record]] | None) -> str:
    """Related errors that the record's author named, on one line, as links where they are known."""
    if not record.related:
        return ""
    items = [link(heading(other), record_url(other.id)) for other in find(record)[:MAX_RELATED]] if find else []
    if not items:
        items = [
            link(code(item), record_url(item)) if _RECORD_ID.fullmatch(item) else code(item, most=70)
            for item in record.related[:MAX_RELATED]
        ]
    return f"Related: {', '.join(items)}"


def certainty(match: Match) -> str:
    """The score in words."""
    return "over 99%" if match.score > 0.99 else f"{match.score:.0%}"


def why_matched(match: Match) -> str:
    """The reasons of a match as a list, the weightiest first."""
    ranked = sorted(match.reasons, key=lambda reason: -abs(reason.weight))[:MAX_REASONS]
    return "\n".join(f"- {_reason(reason)}" for reason in ranked)


def _reason(reason: Reason) -> str:
    return f"{start_of_line(plain(reason.name[:60]))} ({reason.weight:+.1f}): {plain(reason.text[:240])}"


def fold(title: str, body: str) -> str:
    """A folded part. ``title`` is our own text; ``body`` holds whole blocks only, so that nothing stays open."""
    return f"<details>\n<summary>{title}</summary>\n\n{body}\n\n</details>"
