"""What the bot says to commands, apart from the answer itself: lists, reports, refusals, and what an answer becomes when it is folded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from urllib.parse import quote

from bot.answering import passages
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


def commands_text(commands: Iterable[Entry[object]], problem: str = "") -> str:
    """What can be asked of the bot, with who may use what; ``problem`` is what is wrong with the repository's configuration."""
    anyone: list[str] = []
    others: list[str] = []
    for entry in commands:
        who = entry.facts["who"]
        line = f"- {ticked(entry.facts['usage'])}: {plain(entry.summary)}"
        (anyone if who == "anyone" else others).append(line if who == "anyone" else f"{line} ({plain(who)})")
    parts = [
        "**What you can ask for**",
        "Write one of these at the start of a line in a comment:",
        "\n".join(anyone),
        "Only for some:\n\n" + "\n".join(others),
        "Words in code, quotations and HTML are not read as commands. A request that is edited gets its answer edited.",
    ]
    if problem:
        parts.append(f"The configuration of this repository is not used, because of a mistake: {code(problem, most=300)}")
    return "\n\n".join(parts)


def wrong_text(body: str = "") -> str:
    """What an answer becomes when somebody says that it is wrong; ``body`` is folded away."""
    line = "This explanation was reported as wrong. `/explain right` brings it back."
    return f"{line}\n\n{fold('What was said', body)}" if body else line


def gone_text(body: str = "") -> str:
    """What an answer becomes when the issue no longer holds its error; ``body`` is folded away."""
    line = "The error that was explained here is no longer in the issue, so the explanation is withdrawn."
    return f"{line}\n\n{fold('What was said', body)}" if body else line


def changed_request_text() -> str:
    """What an answer becomes when its request was edited into one that needs no comment."""
    return "The request was changed, so its answer is withdrawn."


def all_text(matches: Sequence[Match], record_url: RecordUrl) -> str:
    """Every error that a text holds, one line each."""
    lines = []
    for match in matches[:MAX_LISTED]:
        lines.append(f"- {_named(match.record, record_url)} ({passages.certainty(match)} sure)")
    if len(matches) > MAX_LISTED:
        lines.append(f"- and {len(matches) - MAX_LISTED} more")
    return "**The errors in this text**\n\nRoot cause first:\n\n" + "\n".join(lines)


def duplicates_text(record: Record, issues: Sequence[int], record_url: RecordUrl, issue_url: IssueUrl) -> str:
    """The earlier issues that hold the same error."""
    if not issues:
        return f"No earlier issue here is known to hold {_named(record, record_url)}."
    listed = "\n".join(f"- {link(f'issue {number}', issue_url(number))}" for number in issues[:MAX_LISTED])
    more = f"\n- and {len(issues) - MAX_LISTED} more" if len(issues) > MAX_LISTED else ""
    return f"Earlier issues that hold {_named(record, record_url)}:\n\n{listed}{more}"


def scan_text(
    known: Sequence[tuple[Record, Sequence[int]]],
    unknown: int,
    silent: int,
    total: int,
    cut: bool,
    record_url: RecordUrl,
    issue_url: IssueUrl,
) -> str:
    """Which known errors the open issues hold. ``known`` is most frequent first; nothing was written but this."""
    read = f"the newest {total} open issues" if cut else f"all {total} open issues"
    parts = [f"**Known errors in the open issues**\n\nRead: {read}. Only counted; no issue was changed."]
    rows = []
    for record, issues in known[:MAX_LISTED]:
        named = ", ".join(link(str(number), issue_url(number)) for number in issues[:MAX_PER_RECORD])
        more = f" and {len(issues) - MAX_PER_RECORD} more" if len(issues) > MAX_PER_RECORD else ""
        rows.append(f"- {len(issues)} with {_named(record, record_url)}: {named}{more}")
    if len(known) > MAX_LISTED:
        rows.append(f"- and {len(known) - MAX_LISTED} more records")
    parts.append("\n".join(rows) if rows else "None of them holds a known error.")
    parts.append(f"Different errors that the catalogue does not know: {unknown}. Issues without any error: {silent}.")
    return "\n\n".join(parts)


def record_text(path: str, text: str, repository: str, id: str = "") -> str:
    """How to start a record: the file that it goes to, with what is known already.

    ``repository`` is where record files are kept, as ``owner/name`` ("" when that is not known); ``id`` that of the record that
    the machine made, if there is one.
    """
    parts = ["**A record for this error**"]
    if repository:
        owner, _, name = repository.partition("/")
        address = f"https://github.com/{quote(owner)}/{quote(name)}/new/main?filename={quote(path)}"
        filled = f"{address}&value={quote(text)}"
        # A longer address is no link: the text below can be copied into the page.
        parts.append(link("Start the file on GitHub", filled if len(filled) <= 500 else address))
    if id:
        parts.append(f"With a checkout, {ticked(f'explainbot new {id}')} writes it with all that the source says.")
    parts.append(f"It goes to {code(path, most=200)}, with what is known already:")
    parts.append(fence(text, "yaml", most=1_500, lines=30))
    return "\n\n".join(parts)


def needs_id_text(usage: str) -> str:
    """The answer to a command whose id is missing or names no record."""
    return f"{ticked(usage)} needs the id of a record: the 16 letters and digits at the end of the address of its page."


def nothing_to_judge_text() -> str:
    """The answer to somebody who judges an answer where there is none."""
    return "There is no explanation here that this could be about, so nothing was counted."


def elsewhere_text() -> str:
    """The answer to a link that leads out of the repository, or to nothing."""
    return "Only issues and comments of this repository can be explained, and nothing that can be read was found behind this link."


def no_labels_text() -> str:
    """The answer to a request for labels where the area is not known."""
    return "The area that this error comes from is not known, so no label was added."


def unclear_text(verdict: Verdict) -> str:
    """The answer to a request for the errors of a text that holds none that is known."""
    near = " `/explain why` shows the nearest candidates." if verdict.matches else ""
    return f"No error of this repository was recognised here.{near}"


def _named(record: Record, record_url: RecordUrl) -> str:
    type = printed_type(record.type)
    named = link(passages.heading(record), record_url(record.id))
    return start_of_line(f"{code(type, most=80)} {named}" if type else named)
