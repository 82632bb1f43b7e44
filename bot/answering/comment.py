"""Every sentence that the bot says on a tracker.

A comment is put together from whole parts (:mod:`bot.answering.passages`), each of which has a bound of its own; when all of them
together are too long, the least useful parts are left out whole, so that a fence or a fold is never cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from bot.answering import passages
from bot.answering.passages import RecordUrl, SourceUrl, fold
from bot.answering.sanitise import code, cut_line, link, plain, start_of_line, ticked
from bot.answering.words import printed_type
from bot.model import Match, Record, Verdict
from bot.registry import Entry

MAX_COMMENT = 8_000
"""Characters of a comment, at most. GitHub takes 65,536; what helps fits into 2,500."""

MAX_WHY = 6
"""Candidates told in the answer to ``/explain why``."""


def answer(
    verdict: Verdict,
    source_url: SourceUrl,
    record_url: RecordUrl,
    related: Callable[[Record], Sequence[Record]] | None = None,
) -> str:
    """The comment for a verdict, in Markdown; "" for a silent one.

    ``source_url`` makes the permalink of a raise site in a release (None: the newest that has it), ``record_url`` the address of
    a record's page from its id. ``related`` finds the records that a written record names as related; without it, they are named
    as the record names them.
    """
    if verdict.decision == "silent" or not verdict.matches:
        return ""
    match = verdict.matches[0]
    record, values = match.record, passages.values_of(match)
    # (what goes first when the comment is too long: the highest number; text)
    parts = [
        (0, passages.matched_line(match)),
        (0, _title(match, values)),
        (1, passages.meaning(match, values)),
        (1, passages.where_raised(match, verdict.release, source_url)),
        (3, passages.history(match)),
        (2, passages.solutions(record, values)),
        (4, passages.example_fix(record.example)),
        (7, passages.guard_and_handler(record)),
        (5, passages.others(verdict.matches, record_url)),
        (6, passages.related(record, record_url, related)),
    ]
    why = (8, _folded_why(match))
    footer = _footer(record, record_url)
    if verdict.decision == "answer":
        return _fit([*parts, why, (0, footer)])
    question = _question(match, verdict, values, source_url, record_url)
    room = MAX_COMMENT - len(question) - len(footer) - 200
    rest = [part for index, part in enumerate(parts) if index != 1]
    folded = fold("If so: what it means and what to do", _fit([*rest, (8, _unfolded_why(match))], room))
    return "\n\n".join((question, folded, footer))


def help_text(commands: Iterable[Entry[object]]) -> str:
    """What can be asked of the bot: the registered commands, with who may use each (facts ``usage`` and ``who``)."""
    lines = []
    for entry in commands:
        usage = entry.facts.get("usage") or f"/explain {entry.name}"
        who = f" ({plain(entry.facts['who'])} only)" if entry.facts.get("who", "anyone") != "anyone" else ""
        lines.append(f"- {ticked(usage)}: {plain(entry.summary)}{who}")
    return (
        "**What you can ask for**\n\nWrite one of these at the start of a line in a comment:\n\n"
        + "\n".join(lines)
        + "\n\nWords in code, quotations and HTML are not read as commands."
    )


def why_text(verdict: Verdict, record_url: RecordUrl | None = None) -> str:
    """Why the issue got its answer, or none: the candidates, what speaks for each and what against."""
    first = {
        "answer": "**Why this answer was given**",
        "cautious": "**Why this was asked as a question**",
        "silent": "**Why there is no answer**",
    }[verdict.decision]
    parts = [first + (f"\n\n{_sentence(verdict.why)}" if verdict.why else "")]
    if not verdict.matches:
        parts.append("Nothing in the text comes near an error that this repository's source can raise.")
    elif verdict.decision == "silent":
        parts.append("The nearest candidates, and what they lacked:")
    for match in verdict.matches[:MAX_WHY]:
        parts.append(_candidate(match, record_url))
    return _fit([(index // 2, part) for index, part in enumerate(parts)])


def nothing_found_text() -> str:
    """The answer to a request when the text holds no error that is known."""
    return (
        "No error of this repository was recognised here. A full traceback, as text and not as a picture, helps most: its last "
        "lines name the function that raised. `/explain why` shows the nearest candidates."
    )


def withdrawn_text() -> str:
    """What an earlier answer becomes when the issue no longer holds the error."""
    return "The error that was explained here is no longer in the issue, so the explanation is withdrawn."


def unknown_command_text(word: str, nearest: str | None = None) -> str:
    """The answer to a command that does not exist; ``nearest`` is the command that was likely meant."""
    meant = f" Did you mean {code('/explain ' + nearest.removeprefix('/explain').strip())}?" if nearest else ""
    return f"There is no command {code('/explain ' + word, most=60)}.{meant} `/explain help` lists all of them."


def not_allowed_text(command: str = "", who: str = "people with triage permission or more") -> str:
    """The answer to a command of somebody who may not use it; ``who`` says who may."""
    named = code("/explain " + command.removeprefix("/explain").strip(), most=60) if command else "This command"
    return f"{named} is for {plain(who)} in this repository, so nothing was done."


def _title(match: Match, values: passages.Values) -> str:
    record = match.record
    if record.title or passages.is_written(record):
        return f"**{passages.heading(record, values)}**"
    type = printed_type(record.type)
    return f"**What the code says of this {code(type, most=80) if type else 'message'}** (nobody has explained it in words yet)"


def _question(match: Match, verdict: Verdict, values: passages.Values, source_url: SourceUrl, record_url: RecordUrl) -> str:
    record, site = match.record, passages.site_of(match)
    type = printed_type(record.type)
    named = link(passages.heading(record, values), record_url(record.id))
    raised = f" raised at {passages.site_link(site, verdict.release, source_url)}" if site else ""
    return f"Could this be {'the ' + code(type, most=80) + ' ' if type else ''}{named}{raised}?"


def _folded_why(match: Match) -> str:
    reasons = passages.why_matched(match)
    return fold(f"Why this matched ({passages.certainty(match)} sure)", reasons) if reasons else ""


def _unfolded_why(match: Match) -> str:
    reasons = passages.why_matched(match)
    return f"Why it may be this ({passages.certainty(match)} sure):\n\n{reasons}" if reasons else ""


def _footer(record: Record, record_url: RecordUrl) -> str:
    page = link("Everything known about this error", record_url(record.id))
    return f"<sub>{page} · Wrong? Reply `/explain wrong` · Not wanted on this issue? Reply `/explain off`</sub>"


def _candidate(match: Match, record_url: RecordUrl | None) -> str:
    record = match.record
    name = passages.heading(record)
    named = link(name, record_url(record.id)) if record_url else f"{name} ({code(record.id)})"
    type = printed_type(record.type)
    quoted = passages.short_line(match, 100)
    first = f"**{code(type, most=80) + ' ' if type else ''}{named}**, {passages.certainty(match)}, for {quoted}"
    reasons = passages.why_matched(match)
    return f"{first}:\n\n{reasons}" if reasons else f"{first}."


def _sentence(text: str) -> str:
    text = cut_line(" ".join(text.split()), 400)
    text = plain(text[:1].upper() + text[1:])
    return start_of_line(text + ("" if text.endswith((".", "?", "!", "…")) else "."))


def _fit(parts: list[tuple[int, str]], room: int = MAX_COMMENT) -> str:
    """The parts with blank lines between; the least useful are left out whole until the rest fits."""
    kept = [part for part in parts if part[1]]
    while sum(len(text) + 2 for _, text in kept) > room and len(kept) > 1:
        kept.remove(max(kept, key=lambda part: part[0]))
    return "\n\n".join(text for _, text in kept)
