"""The parts of a comment, each a piece of Markdown or "" when there is nothing to say."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from bot.answering.language import CHINESE, ENGLISH, say
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
from bot.answering.words import (
    circumstances,
    enumeration,
    first_release,
    language_of,
    last_release,
    options_of,
    printed_type,
    verb,
    version,
)
from bot.model import Earlier, Example, Match, RaiseSite, Reason, Record

SourceUrl = Callable[[RaiseSite, str | None], str]
RecordUrl = Callable[[str], str]

Values = dict[str, str | None]
"""What filled the holes of a message, by the hole's expression; None where nothing was seen."""

HIDDEN = "[hidden]"
MAX_SITES = 3
MAX_SOLUTIONS = 8
MAX_OTHERS = 5
MAX_RELATED = 3
MAX_EARLIER = 3
MAX_REASONS = 10

ENDINGS = frozenset({"completed", "not_planned", "duplicate"})
"""Why an issue was closed, in GitHub's names (https://docs.github.com/en/rest/issues/issues), as far as there is a sentence for it."""

MACHINE_REASONS = frozenset({"gaps", "raises", "line"})
"""Reasons that say nothing to a reader beside the others; only who asks for all of them is told."""

_RECORD_ID = re.compile(r"[0-9a-f]{16}")
_SHARE = re.compile(r"([0-9]{1,3})%")


def is_written(record: Record) -> bool:
    """Whether a person explained the record; else it holds only what the code says."""
    return bool(record.meaning or record.solutions)


def in_language(record: Record, language: str) -> Record:
    """The record with what people translated of it."""
    told = next((one for one in record.translations if one.language == language), None)
    if told is None:
        return record
    return replace(
        record, title=told.title or record.title, meaning=told.meaning or record.meaning, solutions=told.solutions or record.solutions
    )


def matched_line(match: Match, language: str = ENGLISH) -> str:
    """The error as the reporter pasted it, and a warning when it held a credential."""
    occurrence = match.occurrence
    type, message = printed_type(occurrence.type), occurrence.message
    text = f"{type}: {message}" if type and message else type or message
    if not text.strip():
        return ""
    kinds = doors(mask(clean(text))[1])
    warning = say(language, "secret", kinds=enumeration(kinds, language=language))
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


def meaning(match: Match, values: Values, release: str | None = None, language: str = ENGLISH) -> str:
    """What the error means; for a derived record, what the code says of it."""
    record = match.record
    if record.meaning:
        return paragraphs(record.meaning, values, most=900)
    return code_says(record, site_of(match, release), language)


def code_says(record: Record, site: RaiseSite | None, language: str = ENGLISH) -> str:
    """What the source alone says: which function, under which conditions. Conditions are told only of a site that is known."""
    shown = site or (record.sites[0] if len(record.sites) == 1 else None)
    if shown is None:
        return ""
    where = say(language, "at top") if shown.function == "<module>" else say(language, "in function", function=code(shown.function))
    through = say(language, "through", helper=code(shown.through)) if shown.through else ""
    conditions = [condition for condition in shown.conditions if condition.kind != "assert"]
    asserted = record.expression or next((c.text for c in reversed(shown.conditions) if c.kind == "assert"), "")
    told = circumstances(conditions, language=language)
    when = say(language, "when", conditions=told) if told else ""
    if asserted:
        said = say(language, "assertion failed", asserted=code(asserted, most=200), where=where, through=through, when=when)
    else:
        said = say(language, "told", verb=verb(record, language), where=where, through=through, when=when)
    return said + options(shown, language)


def options(site: RaiseSite, language: str = ENGLISH) -> str:
    """Which command-line options lead to a site, as a sentence that follows another; empty when none is known."""
    return say(language, "options", flags=options_of(site.flags, language)) if site.flags else ""


def site_of(match: Match, release: str | None = None) -> RaiseSite | None:
    """The site that the evidence names, or the only one that there is in the reporter's release (or else in the newest that has any)."""
    if match.site is not None:
        return match.site
    sites = standing(match.record, release)
    return sites[0] if len(sites) == 1 else None


def standing(record: Record, release: str | None) -> tuple[RaiseSite, ...]:
    """The sites in a release, or in the newest that has any when the text is not in that one: what moved is told once."""
    for wanted in (release, last_release(record)):
        if found := tuple(site for site in record.sites if any(at.release == wanted for at in site.lines)):
            return found
    return record.sites


def where_raised(match: Match, release: str | None, source_url: SourceUrl, releases: Sequence[str] = (), language: str = ENGLISH) -> str:
    """Where the error is raised, as permalinks with their line, in the reporter's release where it is known.

    ``releases`` are those of the catalogue, oldest first: a text that the oldest has not is told with the release that brought it.
    """
    record, site = match.record, site_of(match, release)
    if not record.sites:
        return ""
    told = verb(record, language)
    if site is not None:
        at = site_link(site, release, source_url)
        said = _in_release(site, release, record, language) + ("" if is_older_text(match) else _since(record, releases, language))
        if not record.meaning:
            return say(language, "source at", at=at, release=said)
        where = say(language, "where", function=code(site.function, most=90)) if site.function != "<module>" else ""
        return say(language, "raised", verb=told, at=at, where=where, release=said)
    sites = standing(record, release)
    links = enumeration([site_link(each, release, source_url) for each in sites[:MAX_SITES]], language=language)
    tells = say(language, "traceback tells") if record.kind in ("error", "assert") else ""
    return say(language, "places" if len(sites) <= MAX_SITES else "many places", verb=told, number=len(sites), links=links) + tells


def site_link(site: RaiseSite, release: str | None, source_url: SourceUrl) -> str:
    """``path:line`` linked to the source on the tracker."""
    at = site.in_release(release)
    return link(code(f"{site.path}:{at.line}", most=200), source_url(site, release))


def _in_release(site: RaiseSite, release: str | None, record: Record, language: str) -> str:
    at = site.in_release(release)
    if at.release == release:
        return say(language, "in your release", release=version(at.release))
    if release and record.status != "obsolete":
        return say(language, "not in your release", release=version(at.release), asked=version(release))
    return say(language, "in release", release=version(at.release))


def _since(record: Record, releases: Sequence[str], language: str) -> str:
    first = first_release(record)
    # The oldest release of a catalogue is not the first that there was.
    return say(language, "since", release=version(first)) if first and first in releases[1:] else ""


def is_older_text(match: Match) -> bool:
    """Whether the reporter's text is one that the record no longer has, so that what is known of its releases is of another one."""
    record = match.record
    older = match.template not in record.templates or (record.status == "changed" and match.template != record.template)
    return older and bool(record.template.parts) and match.template.skeleton != record.template.skeleton


def history(match: Match, releases: Sequence[str] = (), language: str = ENGLISH) -> str:
    """What became of the text in newer releases: gone, or changed."""
    record = match.record
    last = last_release(record)
    if record.status == "obsolete" or (last is not None and last in releases[:-1]):
        return say(language, "gone after", last=version(last)) if last else say(language, "gone")
    if is_older_text(match):
        first = first_release(record)
        reads = say(language, "reads now", release=version(first)) if first and first in releases[1:] else say(language, "reads newer")
        return f"{reads}\n\n{fence(str(record.template), most=240, lines=3)}"
    if record.status == "changed":
        return say(language, "explanation is older")
    return ""


def solutions(record: Record, values: Values, language: str = ENGLISH) -> str:
    """What helps, numbered; for a derived record only what the message itself advises."""
    if record.solutions:
        items = [prose(text, values, most=400) for text in record.solutions[:MAX_SOLUTIONS]]
        title = say(language, "what to do")
    else:
        items = [prose(_certain(text), values, most=300) for text in record.remedies[:MAX_SOLUTIONS]]
        title = say(language, "message advises")
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


def guard_and_handler(record: Record, language: str = ENGLISH) -> str:
    """Code that checks beforehand, and code that catches; folded. What nobody wrote is left to the record's page.

    ``call(...)`` is how the catalogue writes a call whose arguments it does not know (:mod:`bot.catalogue.derive`).
    """
    parts = []
    if not is_written(record):
        return ""
    guard, handler = ("" if "(...)" in text else text for text in (record.guard, record.handler))
    if guard:
        parts.append(say(language, "check before") + "\n\n" + code_block(guard, language_of(guard), most=1_000))
    if handler:
        parts.append(say(language, "catch it") + "\n\n" + code_block(handler, language_of(handler), most=1_000))
    if not parts:
        return ""
    title = "check and catch" if len(parts) == 2 else "check" if guard else "catch"
    return fold(say(language, title), "\n\n".join(parts))


def others(matches: Sequence[Match], record_url: RecordUrl, language: str = ENGLISH) -> str:
    """The other errors of the same text, one line each, each record once."""
    lines: dict[str, str] = {}
    for match in matches[1:]:
        if match.record.id != matches[0].record.id and match.record.id not in lines:
            page = say(language, "explained here", link=link(say(language, "explanation"), record_url(match.record.id)))
            note = say(language, "is symptom") if match.record.symptom else ""
            lines[match.record.id] = f"{short_line(match)}{note}{page}"
    shown = list(lines.values())[:MAX_OTHERS]
    if not shown:
        return ""
    if len(lines) == 1:
        return say(language, "also", one=shown[0])
    more = f"\n- {say(language, 'more', number=len(lines) - len(shown))}" if len(lines) > len(shown) else ""
    return say(language, "also these") + "\n\n" + "\n".join(f"- {line}" for line in shown) + more


def related(record: Record, record_url: RecordUrl, find: Callable[[Record], Sequence[Record]] | None, language: str = ENGLISH) -> str:
    """Related errors that the record's author named, on one line: as links where they are known, and then only those that are explained."""
    if not record.related:
        return ""
    if find is not None:
        known = [in_language(other, language) for other in find(record) if is_written(other)]
        items = [link(heading(other), record_url(other.id)) for other in known[:MAX_RELATED]]
    else:
        items = [
            link(code(item), record_url(item)) if _RECORD_ID.fullmatch(item) else code(item, most=70)
            for item in record.related[:MAX_RELATED]
        ]
    return say(language, "related", items=("、" if language == CHINESE else ", ").join(items)) if items else ""


def earlier(issues: Sequence[Earlier], language: str = ENGLISH) -> str:
    """Earlier issues that hold the same error and how they ended, on one line: their numbers, and nothing that was written there."""
    items = []
    for issue in issues[:MAX_EARLIER]:
        how = "open" if issue.open else issue.reason if issue.reason in ENDINGS else "closed"
        items.append(say(language, "ended", issue=link(say(language, "issue", number=issue.number), issue.url), how=say(language, how)))
    return say(language, "earlier", items=enumeration(items, language=language)) if items else ""


def certainty(match: Match, language: str = ENGLISH) -> str:
    """The score in words."""
    return say(language, "over 99%") if match.score > 0.99 else f"{match.score:.0%}"


def why_matched(match: Match, language: str = ENGLISH, *, bits: bool = False) -> str:
    """The reasons of a match as a list, the weightiest first; with ``bits``, all of them and what each is worth."""
    ranked = sorted(match.reasons, key=lambda reason: -abs(reason.weight))[:MAX_REASONS]
    kept = [reason for reason in ranked if bits or reason.name not in MACHINE_REASONS]
    worth = (f" ({reason.weight:+.1f} bits)" if bits else "" for reason in kept)
    return "\n".join(f"- {_reason(reason, match, language)}{more}" for reason, more in zip(kept, worth, strict=True))


def _reason(reason: Reason, match: Match, language: str) -> str:
    """A reason in words; in the matcher's own words where there are none for it."""
    if reason.name == "text":
        share = _SHARE.match(reason.text)
        if share is None or share[1] == "100":
            return say(language, "all words")
        return say(language, "some words", share=share[0])
    if reason.name == "frame" and match.site is not None:
        file = code(match.site.path.rsplit("/", 1)[-1])
        place = file if match.site.function == "<module>" else say(language, "place", function=code(match.site.function), file=file)
        return say(language, "frame", place=place)
    if reason.name == "frame":
        return say(language, "frame of it")
    if reason.name in _REASONS:
        return say(language, reason.name, type=code(printed_type(match.occurrence.type), most=80))
    return start_of_line(plain(reason.text[:240]))


_REASONS = frozenset(
    {"missing words", "cut", "other end", "fragment", "gaps", "other words", "words before", "runs on", "type", "other type"}
    | {"raises", "source line", "near line", "other line", "line", "earlier frame", "foreign frame", "no raise", "elsewhere"}
)
"""Names of reasons (:mod:`bot.matching.evidence`) that have a sentence of the same name."""


def fold(title: str, body: str) -> str:
    """A folded part. ``title`` is our own text; ``body`` holds whole blocks only, so that nothing stays open."""
    return f"<details>\n<summary>{title}</summary>\n\n{body}\n\n</details>"
