"""What people say of an answer: that it is wrong, or that they want none."""

from __future__ import annotations

from bot.answering.comment import not_allowed_text
from bot.handlers import Context
from bot.handlers.explain import AUTO
from bot.handlers.help import Asked, may_sort, say
from bot.model import DropAnswer, Effect, Judge, React
from bot.registry import COMMANDS


@COMMANDS.add("wrong", usage="/explain wrong", who="anyone")
def wrong(asked: Asked, context: Context) -> tuple[Effect, ...]:
    """Say that the answer is wrong; it is counted against its record."""
    return Judge(asked.issue.number, asked.comment.id, "wrong"), React(asked.issue.number, asked.comment.id, "+1")


@COMMANDS.add("off", usage="/explain off", who="the issue's author and maintainers")
def off(asked: Asked, context: Context) -> tuple[Effect, ...]:
    """Delete the answer, and never answer this issue unasked again."""
    if asked.comment.author != asked.issue.author and not may_sort(asked.comment.author, context):
        return say(asked, not_allowed_text("/explain off", who="the issue's author and maintainers"), "confused")
    return DropAnswer(asked.issue.number, AUTO), React(asked.issue.number, asked.comment.id, "+1")
