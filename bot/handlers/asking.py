"""Commands that explain: the issue, a comment, a text, a record; and why it was explained so."""

from __future__ import annotations

from bot.answering.comment import nothing_found_text, why_text
from bot.answering.replies import all_text, elsewhere_text, unclear_text
from bot.handlers import Context
from bot.handlers.explain import Explained, about, earlier_issues, explain_text
from bot.handlers.help import ANYONE, Asked, say
from bot.model import Effect
from bot.reading import read
from bot.registry import COMMANDS
from bot.trackers import Gone


@COMMANDS.add("text", usage="/explain [text or code block]", who=ANYONE)
def explain(asked: Asked, context: Context) -> tuple[Effect, ...]:
    """Explain the error in the text, or in the comment, or else in the issue."""
    explained = explain_asked(asked, context)
    if explained is None or not explained.comment:
        return say(asked, nothing_found_text(asked.language), "confused")
    return say(asked, explained.comment, "+1", explained.records)


@COMMANDS.add("id", usage="/explain <id>", who=ANYONE)
def explain_record(asked: Asked, context: Context) -> tuple[Effect, ...]:
    """Explain the error with this id of the catalogue."""
    found = context.catalogue.get(asked.argument) if context.catalogue else None
    if found is None:
        return say(asked, nothing_found_text(asked.language), "confused")
    return say(asked, about(found, context, asked.language), "+1", (found.id,))


@COMMANDS.add("link", usage="/explain <link to a comment>", who=ANYONE)
def explain_link(asked: Asked, context: Context) -> tuple[Effect, ...]:
    """Explain the error in another issue or comment of this repository."""
    place = asked.place
    if place is None or place.repository.casefold() not in ("", context.tracker.repository.casefold()):
        return say(asked, elsewhere_text(asked.language), "confused")
    try:
        if place.comment is None:
            issue = context.tracker.issue(place.issue)
            title, body = issue.title, issue.body
        else:
            comment = context.tracker.comment(place.comment)
            title, body = "", comment.body if comment.issue == place.issue else ""
    except Gone:
        return say(asked, elsewhere_text(asked.language), "confused")
    explained = _explain(title, body, asked, context)
    if explained is None or not explained.comment:
        return say(asked, nothing_found_text(asked.language), "confused")
    return say(asked, explained.comment, "+1", explained.records)


@COMMANDS.add("why", usage="/explain why", who=ANYONE, takes="text")
def why(asked: Asked, context: Context) -> tuple[Effect, ...]:
    """Say what speaks for and against each record that was looked at."""
    explained = explain_asked(asked, context)
    if explained is None:
        return say(asked, nothing_found_text(asked.language), "confused")
    return say(asked, why_text(explained.verdict, context.record_url, asked.language), "+1")


@COMMANDS.add("all", usage="/explain all", who=ANYONE, takes="nothing")
def all(asked: Asked, context: Context) -> tuple[Effect, ...]:
    """List every known error that the issue or comment holds."""
    explained = explain_asked(asked, context)
    if explained is None or explained.verdict.decision == "silent":
        text = unclear_text(explained.verdict, asked.language) if explained else nothing_found_text(asked.language)
        return say(asked, text, "confused")
    return say(asked, all_text(explained.verdict.matches, context.record_url, asked.language), "+1", explained.records)


def explain_asked(asked: Asked, context: Context) -> Explained | None:
    """What the argument or the comment holds, or else the issue; None without a catalogue."""
    for text in dict.fromkeys((asked.argument, asked.comment.body)):
        if text and read("", text).occurrences:
            explained = _explain("", text, asked, context)
            if explained is None or explained.comment:
                return explained
    return _explain(asked.issue.title, asked.issue.body, asked, context)


def _explain(title: str, body: str, asked: Asked, context: Context) -> Explained | None:
    if context.catalogue is None:
        return None
    return explain_text(
        title,
        body,
        context.catalogue,
        context.config,
        context.record_url,
        language=asked.language,
        find_earlier=lambda id: earlier_issues(id, asked.issue.number, context),
    )
