"""Commands in comments: ``/explain`` and what may stand behind it.

A command is read from the comment as it is now, and carried out with what its author may do now. Each comment is answered once;
when it is edited, its answer is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import cast

from bot.answering.comment import not_allowed_text, unknown_command_text
from bot.answering.language import ENGLISH, spoken
from bot.answering.replies import changed_request_text, commands_text
from bot.handlers import Context
from bot.model import Comment, Effect, Event, Issue, PostAnswer, React, WithdrawAnswer
from bot.reading.commands import Place, Request, parse_commands, parse_request
from bot.registry import COMMANDS, HANDLERS, Entry
from bot.trackers import may_sort

ANYONE, AUTHOR, SORTERS = "anyone", "the issue's author and maintainers", "maintainers"
"""Who may use a command: the values of the fact ``who``."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A command of a comment: ``argument`` is what stood behind the word that named it, ``place`` where a link leads."""

    issue: Issue
    comment: Comment
    argument: str = ""
    place: Place | None = None

    @property
    def purpose(self) -> str:
        """The purpose of the answer to this command."""
        return f"command:{self.comment.id}"

    @property
    def language(self) -> str:
        """The language of the answer: that of the issue, or else of the comment."""
        of_issue = spoken(self.issue.title, self.issue.body)
        return of_issue if of_issue != ENGLISH else spoken("", self.comment.body)


Run = Callable[[Asked, Context], tuple[Effect, ...]]


@HANDLERS.add("comment.created")
def on_comment(event: Event, context: Context) -> tuple[Effect, ...]:
    """Carry out the first command of a comment."""
    return _answer(context.tracker.comment(event.comment), event, context) if event.comment else ()


def _answer(comment: Comment, event: Event, context: Context) -> tuple[Effect, ...]:
    if comment.by_bot or comment.author_id == context.tracker.identity():
        return ()
    commands = [command for command in parse_commands(comment.body) if command.name == "explain"]
    if not commands:
        return ()
    issue = context.tracker.issue(event.issue)
    if issue.locked or comment.issue != issue.number:
        return ()
    seen = React(issue.number, comment.id, "eyes")
    return seen, *_run(parse_request(commands[0].argument, _words()), Asked(issue, comment), context)


@HANDLERS.add("comment.edited")
def on_edited_comment(event: Event, context: Context) -> tuple[Effect, ...]:
    """Carry out the first command of a comment as its author changed it, in place of what it said before."""
    if event.comment is None:
        return ()
    comment = context.tracker.comment(event.comment)
    # Others who may edit a comment must not command in its author's name.
    if comment.by_bot or comment.author.casefold() != event.actor.casefold() or comment.author_id == context.tracker.identity():
        return ()
    effects = _answer(comment, event, context)
    purpose = f"command:{comment.id}"
    if any(isinstance(effect, PostAnswer) and effect.purpose == purpose for effect in effects):
        return effects
    issue = context.tracker.issue(event.issue)
    return *effects, WithdrawAnswer(event.issue, purpose, changed_request_text(Asked(issue, comment).language))


def _run(request: Request, asked: Asked, context: Context) -> tuple[Effect, ...]:
    if request.kind == "unknown":
        nearest = get_close_matches(request.word, list(_words()), n=1, cutoff=0.0)
        return say(asked, unknown_command_text(request.word, nearest[0], asked.language), "confused")
    name = request.word if request.kind == "word" else request.kind
    entry = COMMANDS.get(name)
    if entry is None:
        raise LookupError(f"no command is registered for {name}")
    who = entry.facts["who"]
    if not may(asked, who, context):
        people = "triage or more" if who == SORTERS else who
        return say(asked, not_allowed_text(entry.facts["usage"], people, asked.language), "confused")
    return cast(Run, entry.value)(Asked(asked.issue, asked.comment, request.argument, request.place), context)


def _words() -> dict[str, str]:
    """The words that may stand behind ``/explain``, and what each takes (:func:`bot.reading.commands.parse_request`)."""
    return {entry.name: entry.facts["takes"] for entry in COMMANDS if "takes" in entry.facts}


def may(asked: Asked, who: str, context: Context) -> bool:
    """Whether the author of a comment may use a command for ``who``."""
    author = asked.comment.author
    if who == ANYONE or (who == AUTHOR and author.casefold() == asked.issue.author.casefold()):
        return True
    return who in (AUTHOR, SORTERS) and may_sort(context.tracker, author)


@COMMANDS.add("help", usage="/explain help", who=ANYONE, takes="text")
def help(asked: Asked, context: Context) -> tuple[Effect, ...]:
    """List these commands."""
    entries = [cast("Entry[object]", entry) for entry in COMMANDS]
    return say(asked, commands_text(entries, context.memory.problem(), asked.language), "+1")


def say(asked: Asked, text: str, reaction: str, records: tuple[str, ...] = ()) -> tuple[Effect, ...]:
    """Answer a command with a comment and a reaction on its own comment."""
    return PostAnswer(asked.issue.number, asked.purpose, text, records), react(asked, reaction)


def react(asked: Asked, reaction: str) -> React:
    """A reaction on the command's comment."""
    return React(asked.issue.number, asked.comment.id, reaction)
