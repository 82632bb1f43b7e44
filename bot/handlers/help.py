"""Commands in comments: ``/explain`` and what may stand behind it.

A command is read from the comment as it is now, and carried out with what its author may do now. Each comment is answered once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import cast

from bot.answering import answer
from bot.answering.comment import help_text, not_allowed_text, nothing_found_text, unknown_command_text, why_text
from bot.catalogue.catalogue import Catalogue
from bot.handlers import Context
from bot.handlers.explain import Explained, explain_text
from bot.handlers.triage import area_labels
from bot.model import AddLabels, Comment, Effect, Event, Issue, Match, Occurrence, PostAnswer, React, Verdict
from bot.reading import read
from bot.reading.commands import parse_commands
from bot.registry import COMMANDS, HANDLERS, Entry
from bot.trackers import Gone

MAINTAINERS = frozenset({"admin", "maintain", "write", "triage"})
"""Who may run a command for maintainers: those who may sort issues."""

MAX_WORD = 40
"""Characters of an unknown word that are looked at."""

_RECORD_ID = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Asked:
    """A command of a comment: ``argument`` is what stood behind the word that named it."""

    issue: Issue
    comment: Comment
    argument: str = ""


Run = Callable[[Asked, Context], tuple[Effect, ...]]


@HANDLERS.add("comment.created")
def on_comment(event: Event, context: Context) -> tuple[Effect, ...]:
    """Carry out the first command of a comment."""
    if event.comment is None:
        return ()
    comment = context.tracker.comment(event.comment)
    commands = [command for command in parse_commands(comment.body) if command.name == "explain"]
    if not commands or comment.by_bot or comment.author_id == context.tracker.identity():
        return ()
    issue = context.tracker.issue(event.issue)
    if issue.locked or issue.is_pull_request:
        return ()
    name, argument = choose(commands[0].argument, comment)
    asked = Asked(issue, comment, argument)
    entry = COMMANDS.get(name)
    if entry is None:
        nearest = get_close_matches(name, [known.name for known in COMMANDS if known.name != "record"], n=1, cutoff=0.0)
        return say(asked, unknown_command_text(name, nearest[0]), "confused")
    if entry.facts["who"] == "maintainers" and not may_sort(comment.author, context):
        return say(asked, not_allowed_text(entry.facts["usage"]), "confused")
    return cast(Run, entry.value)(asked, context)


def choose(argument: str, comment: Comment) -> tuple[str, str]:
    """Which command an argument names, and what is left of it.

    An error behind ``/explain`` (or a fenced block below it) is itself what is to be explained.
    """
    first, _, rest = argument.strip().partition("\n")
    word, _, rest_of_line = first.strip().partition(" ")
    word = word.strip().lower()[:MAX_WORD]
    if _RECORD_ID.fullmatch(word):
        return "record", word
    if not word or word.startswith("`"):
        return "explain", argument
    if word != "record" and COMMANDS.get(word):
        return word, (rest_of_line + "\n" + rest).strip()
    if read("", comment.body).occurrences:
        return "explain", argument
    return word, ""


@COMMANDS.add("explain", usage="/explain", who="anyone")
def explain(asked: Asked, context: Context) -> tuple[Effect, ...]:
    """Explain the error in this comment, or else the one in the issue."""
    explained = _explain_asked(asked, context)
    if explained is None or not explained.comment:
        return say(asked, nothing_found_text(), "eyes")
    return say(asked, explained.comment, "+1", explained.records)


@COMMANDS.add("record", usage="/explain <id>", who="anyone")
def record(asked: Asked, context: Context) -> tuple[Effect, ...]:
    """Explain the error with this id of the catalogue."""
    catalogue = context.catalogue
    found = catalogue.get(asked.argument) if catalogue else None
    if catalogue is None or found is None:
        return say(asked, nothing_found_text(), "eyes")
    occurrence = Occurrence(found.type, str(found.template), (0, 0))
    verdict = Verdict("answer", (Match(found, occurrence, found.template, score=1.0),), why="somebody asked for it by its id")
    return say(asked, answer(verdict, catalogue.source_url, context.record_url), "+1", (found.id,))


@COMMANDS.add("why", usage="/explain why", who="anyone")
def why(asked: Asked, context: Context) -> tuple[Effect, ...]:
    """Say what speaks for and against each record that was looked at."""
    explained = _explain_asked(asked, context)
    if explained is None:
        return say(asked, nothing_found_text(), "eyes")
    return say(asked, why_text(explained.verdict, context.record_url), "+1")


@COMMANDS.add("help", usage="/explain help", who="anyone")
def help(asked: Asked, context: Context) -> tuple[Effect, ...]:
    """List these commands."""
    return say(asked, help_text([cast("Entry[object]", entry) for entry in COMMANDS]), "+1")


@COMMANDS.add("label", usage="/explain label", who="maintainers")
def label(asked: Asked, context: Context) -> tuple[Effect, ...]:
    """Add the label of the area that the error comes from."""
    explained = _explain_asked(asked, context)
    labels = area_labels(explained.verdict, cast(Catalogue, context.catalogue), context.config) if explained else ()
    if not labels:
        return say(asked, nothing_found_text(), "eyes")
    return AddLabels(asked.issue.number, labels), React(asked.issue.number, asked.comment.id, "+1")


def _explain_asked(asked: Asked, context: Context) -> Explained | None:
    """What the comment holds, or else the issue; None without a catalogue."""
    if context.catalogue is None:
        return None
    if read("", asked.comment.body).occurrences:
        in_comment = explain_text("", asked.comment.body, context.catalogue, context.config, context.record_url)
        if in_comment.comment:
            return in_comment
    return explain_text(asked.issue.title, asked.issue.body, context.catalogue, context.config, context.record_url)


def say(asked: Asked, text: str, reaction: str, records: tuple[str, ...] = ()) -> tuple[Effect, ...]:
    """Answer a command with a comment and a reaction on its own comment."""
    # The comment goes first: a reaction before it would cost the author the pause between two writes.
    post = PostAnswer(asked.issue.number, f"command:{asked.comment.id}", text, records)
    return post, React(asked.issue.number, asked.comment.id, reaction)


def may_sort(user: str, context: Context) -> bool:
    """Whether a user may sort issues here. Unavailable passes through, so that the answer is not guessed."""
    try:
        return context.tracker.permission(user) in MAINTAINERS
    except Gone:
        return False
