"""What people say of an answer: that it is wrong or right, that they want none, that it is about another error."""

from __future__ import annotations

from bot.answering.replies import needs_id_text, nothing_to_judge_text, wrong_text
from bot.handlers import Context, Given
from bot.handlers.explain import AUTO, about, answer_as, answer_unasked
from bot.handlers.help import ANYONE, AUTHOR, SORTERS, Asked, react, say
from bot.model import AllowAnswer, Correct, DropAnswer, Effect, FoldAnswer, Judge, UnfoldAnswer
from bot.reading.commands import leading_id
from bot.registry import COMMANDS


@COMMANDS.add("wrong", usage="/explain wrong [id]", who=ANYONE, takes="text")
def wrong(asked: Asked, context: Context) -> tuple[Effect, ...]:
    """Say that the answer is wrong: it is folded away, and counted against its record."""
    given = _meant(asked, context)
    if not given:
        return say(asked, nothing_to_judge_text(asked.language), "confused")
    issue, records = asked.issue.number, tuple(dict.fromkeys(id for each in given for id in each.records))
    judged = (leading_id(asked.argument),) if leading_id(asked.argument) else records
    folded = [FoldAnswer(issue, each.purpose, wrong_text(_retold(each, asked, context), asked.language)) for each in given]
    return Judge(issue, asked.comment.id, "wrong", judged), *folded, react(asked, "+1")


@COMMANDS.add("right", usage="/explain right", who=ANYONE, takes="text")
def right(asked: Asked, context: Context) -> tuple[Effect, ...]:
    """Say that the answer is right: it is counted for its record, and shown again when it was folded away."""
    given = _meant(asked, context)
    if not given:
        return say(asked, nothing_to_judge_text(asked.language), "confused")
    issue, records = asked.issue.number, tuple(dict.fromkeys(id for each in given for id in each.records))
    shown: tuple[Effect, ...] = ()
    if any(each.purpose == AUTO for each in given):
        shown = (UnfoldAnswer(issue, AUTO), *answer_unasked(asked.issue, context))
    return Judge(issue, asked.comment.id, "right", records), *shown, react(asked, "+1")


@COMMANDS.add("off", usage="/explain off", who=AUTHOR, takes="nothing")
def off(asked: Asked, context: Context) -> tuple[Effect, ...]:
    """Delete the answer, and never answer this issue unasked again."""
    return DropAnswer(asked.issue.number, AUTO), react(asked, "+1")


@COMMANDS.add("on", usage="/explain on", who=AUTHOR, takes="nothing")
def on(asked: Asked, context: Context) -> tuple[Effect, ...]:
    """Answer this issue again after it was switched off."""
    return AllowAnswer(asked.issue.number, AUTO), *answer_unasked(asked.issue, context), react(asked, "+1")


@COMMANDS.add("as", usage="/explain as <id>", who=SORTERS, takes="id")
def correct(asked: Asked, context: Context) -> tuple[Effect, ...]:
    """Say which record this issue is about: its answer is rewritten."""
    record = context.catalogue.get(leading_id(asked.argument)) if context.catalogue else None
    if record is None:
        return say(asked, needs_id_text("/explain as <id>", asked.language), "confused")
    issue = asked.issue.number
    return (
        Correct(issue, asked.comment.id, record.id),
        UnfoldAnswer(issue, AUTO),
        *answer_as(record, asked.issue, context),
        react(asked, "+1"),
    )


def _meant(asked: Asked, context: Context) -> tuple[Given, ...]:
    """The comments that a judgement is about: those with the record that it names, or else the automatic one, or else the last."""
    given = [each for each in context.memory.given(asked.issue.number) if each.records]
    if id := leading_id(asked.argument):
        return tuple(each for each in given if id in each.records)
    return tuple([each for each in given if each.purpose == AUTO] or given[-1:])


def _retold(given: Given, asked: Asked, context: Context) -> str:
    """What a comment said, told again from its record alone."""
    record = context.catalogue.get(given.records[0]) if context.catalogue else None
    return about(record, context, asked.language) if record else ""
