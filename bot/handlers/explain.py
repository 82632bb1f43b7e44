"""An issue that holds an error gets its answer; an edited one gets its answer changed or withdrawn."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from bot.answering import answer
from bot.answering.language import ENGLISH, spoken
from bot.answering.passages import MAX_EARLIER
from bot.answering.replies import gone_text
from bot.catalogue.catalogue import Catalogue
from bot.config import ExplainSection, RepoConfig
from bot.handlers import Context
from bot.handlers.triage import area_labels
from bot.matching import match
from bot.model import AddLabels, Earlier, Effect, Event, Issue, Match, Occurrence, PostAnswer, Record, Remember, Verdict, WithdrawAnswer
from bot.reading import read
from bot.registry import HANDLERS
from bot.trackers import Gone, Unavailable

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


def explain_text(
    title: str,
    body: str,
    catalogue: Catalogue,
    config: RepoConfig,
    record_url: Callable[[str], str],
    minimum: float = 0.0,
    language: str | None = None,
    find_earlier: Callable[[str], Sequence[Earlier]] = lambda id: (),
) -> Explained:
    """Read an issue's text, hold it against the catalogue, and say what there is to say; in the text's own language unless told.

    ``find_earlier`` finds the earlier issues that hold the record of an id.
    """
    verdict = match(read(title, body), catalogue)
    earlier = find_earlier(verdict.matches[0].record.id) if verdict.decision != "silent" and verdict.matches else ()
    told = language or spoken(title, body)
    comment = answer(verdict, catalogue.source_url, record_url, catalogue.related, catalogue.releases, told, earlier)
    return Explained(verdict, comment, bool(comment) and is_posted(verdict, config, minimum))


def is_posted(verdict: Verdict, config: RepoConfig, minimum: float = 0.0) -> bool:
    """Whether a repository with this configuration wants this verdict's answer without having asked for it.

    ``reviewed``: what people wrote and stands by. ``proven``: also what nobody wrote (or reviewed), when the evidence names the
    very line that raised. ``derived``: all. ``minimum`` is the operator's least certainty; the repository can only raise it.
    """
    if verdict.decision == "silent" or not verdict.matches:
        return False
    root, section = verdict.matches[0], config.explain
    if root.score < max(minimum, section.minimum) or root.record.id in section.ignore or not _is_wanted(root, section):
        return False
    if is_written(root.record):
        return True
    match section.answers:
        case "reviewed":
            return False
        case "proven":
            return root.site is not None
        case "derived":
            return True


def _is_wanted(match: Match, section: ExplainSection) -> bool:
    """Whether the error is raised where, and in a language that, the repository wants answered; one known site of several is enough."""
    paths = [site.path for site in ((match.site,) if match.site else match.record.sites)]
    if section.only_paths and not any(fnmatchcase(path, pattern) for path in paths for pattern in section.only_paths):
        return False
    suffixes = tuple(suffix for language in section.languages for suffix in SUFFIXES[language])
    return not suffixes or any(path.endswith(suffixes) for path in paths)


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
    if not is_ours(issue) or is_skipped(issue, context.config):
        return ()
    return answer_unasked(issue, context)


def answer_unasked(issue: Issue, context: Context) -> tuple[Effect, ...]:
    """Make the automatic comment of an issue say what holds now; what a maintainer said of it counts more than its text."""
    if context.catalogue is None:
        return ()
    if (id := context.memory.corrected(issue.number)) and (record := context.catalogue.get(id)):
        return answer_as(record, issue, context)
    explained = explain_text(
        issue.title,
        issue.body,
        context.catalogue,
        context.config,
        context.record_url,
        context.minimum,
        find_earlier=lambda id: earlier_issues(id, issue.number, context),
    )
    remember = Remember(issue.number, explained.verdict.decision, explained.records)
    if not explained.posted:
        # What was said is told again from the record alone: the reporter may have taken out what must not stand here.
        before = next((given.records for given in context.memory.given(issue.number) if given.purpose == AUTO), ())
        record = context.catalogue.get(before[0]) if before else None
        language = spoken(issue.title, issue.body)
        said = about(record, context, language) if record else ""
        return remember, WithdrawAnswer(issue.number, AUTO, gone_text(said, language))
    effects: tuple[Effect, ...] = (remember, PostAnswer(issue.number, AUTO, explained.comment, explained.records))
    labels = area_labels(explained.verdict, context.catalogue, context.config) if context.config.labels else ()
    if missing := tuple(label for label in labels if label not in issue.labels):
        effects += (AddLabels(issue.number, missing),)
    return effects


def answer_as(record: Record, issue: Issue, context: Context) -> tuple[Effect, ...]:
    """Make the automatic comment of an issue be about this record."""
    assert context.catalogue is not None  # noqa: S101
    verdict = named(record, match(read(issue.title, issue.body), context.catalogue), "a maintainer said so")
    text = _say(verdict, context, spoken(issue.title, issue.body), earlier_issues(record.id, issue.number, context))
    return Remember(issue.number, "answer", (record.id,)), PostAnswer(issue.number, AUTO, text, (record.id,))


def about(record: Record, context: Context, language: str = ENGLISH) -> str:
    """The answer for a record alone, without a word of any reporter's."""
    return _say(named(record, None, "somebody asked for it by its id"), context, language)


def _say(verdict: Verdict, context: Context, language: str, earlier: Sequence[Earlier] = ()) -> str:
    catalogue = context.catalogue
    assert catalogue is not None  # noqa: S101
    return answer(verdict, catalogue.source_url, context.record_url, catalogue.related, catalogue.releases, language, earlier)


def earlier_issues(id: str, before: int, context: Context) -> tuple[Earlier, ...]:
    """The newest issues before that number that hold the record of an id, as they are now; one that cannot be read is left out."""
    found = []
    for number in [number for number in context.memory.issues_with(id) if number < before][: -MAX_EARLIER - 1 : -1]:
        with suppress(Gone, Unavailable):
            issue = context.tracker.issue(number)
            found.append(Earlier(issue.number, issue.url, issue.open, issue.reason))
    return tuple(found)


def named(record: Record, verdict: Verdict | None, why: str) -> Verdict:
    """A verdict that says this record, with what a verdict of the text found of it."""
    found = next((found for found in verdict.matches if found.record.id == record.id), None) if verdict else None
    match = found or Match(record, Occurrence(record.type, str(record.template), (0, 0)), record.template)
    return Verdict("answer", (replace(match, score=1.0),), release=verdict.release if verdict else None, why=why)


def is_ours(issue: Issue) -> bool:
    """Whether an issue is one that may get an answer unasked: of a person, open, and open to comments."""
    return issue.open and not (issue.locked or issue.by_bot or issue.is_pull_request)


def is_skipped(issue: Issue, config: RepoConfig) -> bool:
    """Whether the repository's configuration leaves an issue out, by label, author, or a word of its title."""
    skip = config.skip
    labels = {label.casefold() for label in issue.labels}
    words = set(_WORDS.findall(issue.title.casefold()))
    return (
        any(label.casefold() in labels for label in skip.labels)
        or issue.author.casefold() in {author.casefold() for author in skip.authors}
        or any(set(_WORDS.findall(word.casefold())) <= words for word in skip.title if _WORDS.search(word))
    )


_WORDS = re.compile(r"\w+")
SUFFIXES = {"python": (".py", ".pyi", ".pyx"), "cpp": (".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp"), "rust": (".rs",)}
"""Endings of the source files of each language that the configuration can name."""
