"""An issue that holds an error gets its answer; an edited one gets its answer changed or withdrawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.answering import answer
from bot.answering.comment import withdrawn_text
from bot.catalogue.catalogue import Catalogue
from bot.config import RepoConfig
from bot.handlers import Context
from bot.handlers.triage import area_labels
from bot.matching import match
from bot.model import AddLabels, Effect, Event, Issue, PostAnswer, Record, Remember, Verdict, WithdrawAnswer
from bot.reading import read
from bot.registry import HANDLERS

AUTO = "auto"
"""Purpose of the answer that nobody asked for."""

_WRITTEN = frozenset({"reviewed", "changed", "obsolete"})


@dataclass(frozen=True, slots=True)
class Explained:
    """What a text holds: the verdict, the comment ("" when silent), and whether the repository's configuration has it posted."""

    verdict: Verdict
    comment: str
    posted: bool

    @property
    def records(self) -> tuple[str, ...]:
        """Ids of the records that the comment is about, root cause first; none when silent."""
        if self.verdict.decision == "silent":
            return ()
        return tuple(dict.fromkeys(match.record.id for match in self.verdict.matches))


def explain_text(title: str, body: str, catalogue: Catalogue, config: RepoConfig, record_url: Callable[[str], str]) -> Explained:
    """Read an issue's text, hold it against the catalogue, and say what there is to say."""
    verdict = match(read(title, body), catalogue)
    comment = answer(verdict, catalogue.source_url, record_url, catalogue.related)
    return Explained(verdict, comment, bool(comment) and is_posted(verdict, config))


def is_posted(verdict: Verdict, config: RepoConfig) -> bool:
    """Whether a repository with this configuration wants this verdict's answer without having asked for it.

    ``reviewed``: what people wrote and stands by. ``proven``: also what nobody wrote (or reviewed), when the evidence names the
    very line that raised. ``derived``: all.
    """
    if verdict.decision == "silent" or not verdict.matches:
        return False
    root = verdict.matches[0]
    if is_written(root.record):
        return True
    match config.explain.answers:
        case "reviewed":
            return False
        case "proven":
            return root.site is not None
        case "derived":
            return True


def is_written(record: Record) -> bool:
    """Whether people wrote a record and hold it to be right; a draft is not yet held so."""
    return record.status in _WRITTEN and bool(record.meaning)


@HANDLERS.add("issue.opened")
@HANDLERS.add("issue.edited")
@HANDLERS.add("issue.reopened")
@HANDLERS.add("issue.transferred")
def on_issue(event: Event, context: Context) -> tuple[Effect, ...]:
    """Answer an issue as its text is now, or take back what no longer holds."""
    issue = context.tracker.issue(event.issue)
    if context.catalogue is None or not is_ours(issue):
        return ()
    explained = explain_text(issue.title, issue.body, context.catalogue, context.config, context.record_url)
    remember = Remember(issue.number, explained.verdict.decision, explained.records)
    if not explained.posted:
        return remember, WithdrawAnswer(issue.number, AUTO, withdrawn_text())
    effects: tuple[Effect, ...] = (remember, PostAnswer(issue.number, AUTO, explained.comment, explained.records))
    labels = area_labels(explained.verdict, context.catalogue, context.config) if context.config.labels else ()
    if missing := tuple(label for label in labels if label not in issue.labels):
        effects += (AddLabels(issue.number, missing),)
    return effects


def is_ours(issue: Issue) -> bool:
    """Whether an issue is one that may get an answer unasked: of a person, open, and open to comments."""
    return issue.open and not (issue.locked or issue.by_bot or issue.is_pull_request)
