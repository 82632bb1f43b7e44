"""What the bot says to commands, apart from the answer itself: lists, reports, refusals, and what an answer becomes when it is folded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from urllib.parse import quote

from bot.answering import passages
from bot.answering.language import CHINESE, COMMANDS_IN_CHINESE, ENGLISH, SENTENCES, say
from bot.answering.passages import RecordUrl, fold
from bot.answering.sanitise import code, fence, link, plain, start_of_line, ticked
from bot.answering.words import printed_type
from bot.model import Match, Record, Verdict
from bot.registry import Entry

MAX_LISTED = 10
"""Issues or records that a reply lists."""

MAX_PER_RECORD = 5
"""Issues that a report names for each record."""

IssueUrl = Callable[[int], str]


def commands_text(commands: Iterable[Entry[object]], problem: str = "", language: str = ENGLISH) -> str:
    """What can be asked of the bot, with who may use what; ``problem`` is what is wrong with the repository's configuration."""
    anyone: list[str] = []
    others: list[str] = []
    for entry in commands:
        who, usage = entry.facts["who"], ticked(entry.facts["usage"])
        does = plain(COMMANDS_IN_CHINESE.get(entry.name, entry.summary) if language == CHINESE else entry.summary)
        if who == "anyone":
            anyone.append("- " + say(language, "command", usage=usage, does=does))
        else:
            people = say(language, who) if who in SENTENCES else plain(who)
            others.append("- " + say(language, "command for", usage=usage, does=does, who=people))
    parts = [
        say(language, "commands"),
        say(language, "write one"),
        "\n".join(anyone),
        say(language, "only some") + "\n\n" + "\n".join(others),
        say(language, "not read"),
    ]
    if problem:
        parts.append(say(language, "bad configuration", problem=code(problem, most=300)))
    return "\n\n".join(parts)


def wrong_text(body: str = "", language: str = ENGLISH) -> str:
    """What an answer becomes when somebody says that it is wrong; ``body`` is folded away."""
    line = say(language, "reported wrong")
    return f"{line}\n\n{fold(say(language, 'what was said'), body)}" if body else line


def gone_text(body: str = "", language: str = ENGLISH) -> str:
    """What an answer becomes when the issue no longer holds its error; ``body`` is folded away."""
    line = say(language, "no longer there")
    return f"{line}\n\n{fold(say(language, 'what was said'), body)}" if body else line


def changed_request_text(language: str = ENGLISH) -> str:
    """What an answer becomes when its request was edited into one that needs no comment."""
    return say(language, "request changed")


def all_text(matches: Sequence[Match], record_url: RecordUrl, language: str = ENGLISH) -> str:
    """Every error that a text holds, one line each."""
    lines = []
    for match in matches[:MAX_LISTED]:
        sure = passages.certainty(match, language)
        lines.append("- " + say(language, "sure", named=_named(match.record, record_url, language), sure=sure))
    if len(matches) > MAX_LISTED:
        lines.append("- " + say(language, "more", number=len(matches) - MAX_LISTED))
    return f"{say(language, 'errors here')}\n\n{say(language, 'root first')}\n\n" + "\n".join(lines)


def duplicates_text(record: Record, issues: Sequence[int], record_url: RecordUrl, issue_url: IssueUrl, language: str = ENGLISH) -> str:
    """The earlier issues that hold the same error."""
    named = _named(record, record_url, language)
    if not issues:
        return say(language, "no earlier issue", named=named)
    listed = "\n".join(f"- {link(say(language, 'issue', number=number), issue_url(number))}" for number in issues[:MAX_LISTED])
    more = "\n- " + say(language, "more", number=len(issues) - MAX_LISTED) if len(issues) > MAX_LISTED else ""
    return f"{say(language, 'earlier issues', named=named)}\n\n{listed}{more}"


def scan_text(
    known: Sequence[tuple[Record, Sequence[int]]],
    unknown: int,
    silent: int,
    total: int,
    cut: bool,
    record_url: RecordUrl,
    issue_url: IssueUrl,
    language: str = ENGLISH,
) -> str:
    """Which known errors the open issues hold. ``known`` is most frequent first; nothing was written but this."""
    parts = [f"{say(language, 'known errors')}\n\n{say(language, 'read some' if cut else 'read all', total=total)}"]
    rows = []
    for record, issues in known[:MAX_LISTED]:
        named = ", ".join(link(str(number), issue_url(number)) for number in issues[:MAX_PER_RECORD])
        more = say(language, "and more", number=len(issues) - MAX_PER_RECORD) if len(issues) > MAX_PER_RECORD else ""
        error = _named(record, record_url, language)
        rows.append("- " + say(language, "with error", count=len(issues), named=error, issues=named, more=more))
    if len(known) > MAX_LISTED:
        rows.append("- " + say(language, "more records", number=len(known) - MAX_LISTED))
    parts.append("\n".join(rows) if rows else say(language, "none known"))
    parts.append(say(language, "unknown errors", unknown=unknown, silent=silent))
    return "\n\n".join(parts)


def record_text(path: str, text: str, repository: str, id: str = "", language: str = ENGLISH) -> str:
    """How to start a record: the file that it goes to, with what is known already.

    ``repository`` is where record files are kept, as ``owner/name`` ("" when that is not known); ``id`` that of the record that
    the machine made, if there is one.
    """
    parts = [say(language, "a record")]
    if repository:
        owner, _, name = repository.partition("/")
        address = f"https://github.com/{quote(owner)}/{quote(name)}/new/main?filename={quote(path)}"
        filled = f"{address}&value={quote(text)}"
        # A longer address is no link: the text below can be copied into the page.
        parts.append(link(say(language, "start file"), filled if len(filled) <= 500 else address))
    if id:
        parts.append(say(language, "with checkout", command=ticked(f"explainbot new {id}")))
    parts.append(say(language, "goes to", path=code(path, most=200)))
    parts.append(fence(text, "yaml", most=1_500, lines=30))
    return "\n\n".join(parts)


def needs_id_text(usage: str, language: str = ENGLISH) -> str:
    """The answer to a command whose id is missing or names no record."""
    return say(language, "needs id", usage=ticked(usage))


def nothing_to_judge_text(language: str = ENGLISH) -> str:
    """The answer to somebody who judges an answer where there is none."""
    return say(language, "nothing to judge")


def elsewhere_text(language: str = ENGLISH) -> str:
    """The answer to a link that leads out of the repository, or to nothing."""
    return say(language, "leads elsewhere")


def no_labels_text(language: str = ENGLISH) -> str:
    """The answer to a request for labels where the area is not known."""
    return say(language, "no labels")


def unclear_text(verdict: Verdict, language: str = ENGLISH) -> str:
    """The answer to a request for the errors of a text that holds none that is known."""
    return say(language, "unclear, near" if verdict.matches else "unclear")


def _named(record: Record, record_url: RecordUrl, language: str) -> str:
    type = printed_type(record.type)
    named = link(passages.heading(passages.in_language(record, language)), record_url(record.id))
    return start_of_line(f"{code(type, most=80)} {named}" if type else named)
