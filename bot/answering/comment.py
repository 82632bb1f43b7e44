"""Every sentence that the bot says on a tracker.

A comment is put together from whole parts (:mod:`bot.answering.passages`), each of which has a bound of its own; when all of them
together are too long, the least useful parts are left out whole, so that a fence or a fold is never cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from bot.answering import passages
from bot.answering.language import ENGLISH, SENTENCES, say
from bot.answering.passages import RecordUrl, SourceUrl, fold
from bot.answering.sanitise import code, cut_line, link, plain, start_of_line
from bot.answering.words import printed_type
from bot.model import Earlier, Match, Record, Verdict

MAX_COMMENT = 8_000
"""Characters of a comment, at most. GitHub takes 65,536."""

AIM = 2_500
"""Characters that a comment should have at most, so that it is read: beyond them, what the record's page has as well is left out. The
addresses of links do not count."""

SPARED = 5
"""Parts up to this rank are kept beyond ``AIM``; they go only beyond ``MAX_COMMENT``."""

_ADDRESS = re.compile(r"\]\(https?://[^\s()]{1,700}\)")

_PROBABILITY = re.compile(r"(.{1,200}) matches with probability ([0-9.]{1,6})")

MAX_WHY = 6
"""Candidates told in the answer to ``/explain why``."""


def answer(
    verdict: Verdict,
    source_url: SourceUrl,
    record_url: RecordUrl,
    related: Callable[[Record], Sequence[Record]] | None = None,
    releases: Sequence[str] = (),
    language: str = ENGLISH,
    earlier: Sequence[Earlier] = (),
) -> str:
    """The comment for a verdict, in Markdown; "" for a silent one.

    ``source_url`` makes the permalink of a raise site in a release (None: the newest that has it), ``record_url`` the address of
    a record's page from its id. ``related`` finds the records that a written record names as related; without it, they are named
    as the record names them. ``releases`` are those of the catalogue, oldest first: with them the comment says since when there is such
    an error, and until when. ``language`` is the bot's (:func:`bot.answering.language.spoken`). ``earlier`` are issues that hold the same
    error.
    """
    if verdict.decision == "silent" or not verdict.matches:
        return ""
    match = replace(verdict.matches[0], record=passages.in_language(verdict.matches[0].record, language))
    record, values = match.record, passages.values_of(match)
    # (what goes first when the comment is too long: the highest number; text)
    parts = [
        (0, passages.matched_line(match, language)),
        (0, _title(match, values, language)),
        (1, passages.meaning(match, values, verdict.release, language)),
        (1, passages.where_raised(match, verdict.release, source_url, releases, language)),
        (3, passages.history(match, releases, language)),
        (2, passages.solutions(record, values, language)),
        (4, passages.example_fix(record.example)),
        (8, passages.guard_and_handler(record, language)),
        (5, passages.others(verdict.matches, record_url, language)),
        (6, passages.earlier(earlier, language)),
        (7, passages.related(record, record_url, related, language)),
    ]
    footer = _footer(record, record_url, language)
    if verdict.decision == "answer":
        return _fit([*parts, (5, _folded_why(match, language)), (0, footer)], aim=AIM)
    question = _question(match, verdict, values, source_url, record_url, language)
    around = len(question) + len(footer) + 200
    rest = [part for index, part in enumerate(parts) if index != 1]
    inside = _fit([*rest, (5, _unfolded_why(match, language))], MAX_COMMENT - around, AIM - around)
    return "\n\n".join((question, fold(say(language, "if so"), inside), footer))


def why_text(verdict: Verdict, record_url: RecordUrl | None = None, language: str = ENGLISH) -> str:
    """Why the issue got its answer, or none: the candidates, what speaks for each and what against."""
    parts = [say(language, f"why {verdict.decision}") + (f"\n\n{_sentence(verdict.why, language)}" if verdict.why else "")]
    if not verdict.matches:
        parts.append(say(language, "nothing near"))
    elif verdict.decision == "silent":
        parts.append(say(language, "nearest"))
    for match in verdict.matches[:MAX_WHY]:
        parts.append(_candidate(match, record_url, language))
    return _fit([(index // 2, part) for index, part in enumerate(parts)])


def nothing_found_text(language: str = ENGLISH) -> str:
    """The answer to a request when the text holds no error that is known."""
    return say(language, "nothing found")


def unknown_command_text(word: str, nearest: str | None = None, language: str = ENGLISH) -> str:
    """The answer to a command that does not exist; ``nearest`` is the command that was likely meant."""
    command = code("/explain " + nearest.removeprefix("/explain").strip()) if nearest else ""
    meant = say(language, "did you mean", command=command) if nearest else ""
    return say(language, "no such command", word=code("/explain " + word, most=60), meant=meant)


def not_allowed_text(command: str = "", who: str = "triage or more", language: str = ENGLISH) -> str:
    """The answer to a command of somebody who may not use it; ``who`` says who may, as a key of the sentences or in words."""
    named = code("/explain " + command.removeprefix("/explain").strip(), most=60) if command else say(language, "this command")
    return say(language, "not allowed", command=named, who=say(language, who) if who in SENTENCES else plain(who))


def _title(match: Match, values: passages.Values, language: str) -> str:
    record = match.record
    if record.title or passages.is_written(record):
        return f"**{passages.heading(record, values)}**"
    type = printed_type(record.type)
    shown = code(type, most=80) if type else say(language, "message")
    return f"**{say(language, 'code says', type=shown)}**{say(language, 'nobody explained')}"


def _question(match: Match, verdict: Verdict, values: passages.Values, source_url: SourceUrl, record_url: RecordUrl, language: str) -> str:
    record, site = match.record, passages.site_of(match, verdict.release)
    type = printed_type(record.type)
    named = link(passages.heading(record, values), record_url(record.id))
    what = say(language, "the type", type=code(type, most=80)) + named if type else named
    raised = say(language, "raised at", at=passages.site_link(site, verdict.release, source_url)) if site else ""
    return say(language, "could be", what=what, raised=raised)


def _folded_why(match: Match, language: str) -> str:
    reasons = passages.why_matched(match, language)
    return fold(say(language, "why", sure=passages.certainty(match, language)), reasons) if reasons else ""


def _unfolded_why(match: Match, language: str) -> str:
    reasons = passages.why_matched(match, language)
    return f"{say(language, 'why maybe', sure=passages.certainty(match, language))}\n\n{reasons}" if reasons else ""


def _footer(record: Record, record_url: RecordUrl, language: str) -> str:
    page = link(say(language, "page"), record_url(record.id))
    return f"<sub>{say(language, 'footer', page=page)}</sub>"


def _candidate(match: Match, record_url: RecordUrl | None, language: str) -> str:
    record = passages.in_language(match.record, language)
    name = passages.heading(record)
    named = link(name, record_url(record.id)) if record_url else f"{name} ({code(record.id)})"
    type = printed_type(record.type)
    quoted = passages.short_line(match, 100)
    shown = code(type, most=80) + " " if type else ""
    first = say(language, "candidate", type=shown, named=named, sure=passages.certainty(match, language), quoted=quoted)
    reasons = passages.why_matched(match, language, bits=True)
    end = ":." if language == ENGLISH else "：。"
    return f"{first}{end[0]}\n\n{reasons}" if reasons else f"{first}{end[1]}"


def _sentence(text: str, language: str) -> str:
    """What the matcher says of its verdict, in words of the language where there are some."""
    told = _PROBABILITY.fullmatch(text)
    if language != ENGLISH and (told or text in SENTENCES):
        return (say(language, "probability", type=code(told[1], most=80), score=told[2]) if told else say(language, text)) + "。"
    text = cut_line(" ".join(text.split()), 400)
    text = plain(text[:1].upper() + text[1:])
    return start_of_line(text + ("" if text.endswith((".", "?", "!", "…")) else "."))


def _fit(parts: list[tuple[int, str]], room: int = MAX_COMMENT, aim: int | None = None) -> str:
    """The parts with blank lines between; the least useful are left out whole until the rest fits.

    Beyond ``aim`` only those go that rank above ``SPARED``.
    """
    kept = [part for part in parts if part[1]]
    while len(kept) > 1:
        last = max(kept, key=lambda part: part[0])
        fits = sum(len(text) + 2 for _, text in kept) <= room
        if fits and (aim is None or last[0] <= SPARED or sum(len(_ADDRESS.sub("]", text)) + 2 for _, text in kept) <= aim):
            break
        kept.remove(last)
    return "\n\n".join(text for _, text in kept)
