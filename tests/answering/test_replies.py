"""What the bot says to commands: right in content, and inert whatever a record or a reporter wrote."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options

from bot.answering import replies
from bot.answering.comment import not_allowed_text, nothing_found_text, unknown_command_text, why_text
from bot.model import Match, Occurrence, Record, Template, Verdict
from bot.reading.commands import parse_commands
from bot.registry import Entry

HOSTILE = (
    "@octocat see #12 and GH-3, https://evil.example/x www.evil.example",
    "</details></summary>\n\n# big\n\n/explain off\n/close",
    "```\n/label bug\n```\n<!-- ",
    "[click](https://evil.example) ![x](https://evil.example/i.png)",
    "`" * 90 + " @all",
    "Duplicate of #5",
    "<script>alert(1)</script>",
    "\u202e/merge\u200b @x",
    "a" * 40_000,
)
ACTS = re.compile(r"@[A-Za-z0-9]|#[0-9]|GH-[0-9]|(?i:https?://|www\.)")
COMMAND = re.compile(r"(?im)^[ \t>*+-]*(?:/\w|@\w|duplicate of)")


class Page(HTMLParser):
    """A rendered comment: the tags that are open at its end, the links, and the text outside of code."""

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.links: list[str] = []
        self.outside = ""
        self.feed(cmarkgfm.github_flavored_markdown_to_html(markdown, Options.CMARK_OPT_UNSAFE))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.links += [value or "" for name, value in attrs if name == "href"]
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"code", "pre"} & set(self.open):
            self.outside += data


def record(text: str) -> Record:
    template = Template.parse(text.replace("{", "{{").replace("}", "}}")[:2000])
    return Record("0123456789abcdef", "octo/engine", text[:200], (template,), (), title=text, meaning=text, status="reviewed")


def record_url(id: str) -> str:
    return f"https://bot.test/errors/{id}"


def issue_url(number: int) -> str:
    return f"https://github.com/octo/engine/issues/{number}"


def every_reply(text: str, language: str = "en") -> dict[str, str]:
    one = record(text)
    match = Match(one, Occurrence(text[:100], text, (0, 1)), one.templates[0], score=0.9)
    entry: Entry[object] = Entry("word", text[:300], None, {"usage": "/explain word <id>", "who": "anyone"})
    others = Entry("x", text[:300], None, {"usage": "/explain x", "who": "maintainers"})
    folded = replies.all_text([match], record_url, language)
    return {
        "commands": replies.commands_text([entry, others], text, language),
        "all": replies.all_text([match] * 30, record_url, language),
        "duplicates": replies.duplicates_text(one, range(50, 0, -1), record_url, issue_url, language),
        "no duplicates": replies.duplicates_text(one, (), record_url, issue_url, language),
        "scan": replies.scan_text([(one, range(1, 40))] * 20, 3, 4, 300, True, record_url, issue_url, language),
        "record": replies.record_text(f"errors/{text[:80]}.yaml", text, "bot/records", one.id, language),
        "record nowhere": replies.record_text("errors/x.yaml", text, "", "", language),
        "wrong": replies.wrong_text(folded, language),
        "gone": replies.gone_text(folded, language),
        "id": replies.needs_id_text("/explain as <id>", language),
        "judge": replies.nothing_to_judge_text(language),
        "elsewhere": replies.elsewhere_text(language),
        "labels": replies.no_labels_text(language),
        "unclear": replies.unclear_text(Verdict("silent", (match,)), language),
        "changed": replies.changed_request_text(language),
        "why": why_text(Verdict("cautious", (match,), None, f"{text[:60]} matches with probability 0.70"), record_url, language),
        "why not": why_text(Verdict("silent", (), None, "nothing matches well enough"), record_url, language),
        "nothing": nothing_found_text(language),
        "unknown": unknown_command_text(text[:80], "/explain help", language),
        "not allowed": not_allowed_text("/explain as <id>", "the issue's author and maintainers", language),
    }


LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])


@LANGUAGES
@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_acts_in_a_reply(hostile: str, language: str) -> None:
    allowed = ("https://redirect.github.com/", "https://bot.test/errors/", "https://github.com/bot/records/new/main?filename=errors/")
    for name, markdown in every_reply(hostile, language).items():
        page = Page(markdown)
        assert page.open == [], name
        assert page.seen <= {"p", "pre", "code", "strong", "ul", "li", "a", "details", "summary"}, name
        assert not ACTS.search(page.outside), name
        assert not COMMAND.search(markdown), name
        assert [link for link in page.links if not link.startswith(allowed)] == [], name
        assert parse_commands(markdown) == (), name
        assert len(markdown) <= 8_000, name


def test_no_reply_in_chinese_keeps_an_english_word() -> None:
    for name, markdown in every_reply("文字", "zh").items():
        assert re.search("[\u4e00-\u9fff]", markdown), name
        assert set(re.findall("[A-Za-z]{2,}", Page(markdown).outside)) <= {"issue", "traceback", "GitHub", "id", "HTML"}, name


@LANGUAGES
def test_what_is_to_be_copied_can_be_copied(language: str) -> None:
    for name, markdown in every_reply("plain words", language).items():
        assert "\u200b" not in markdown, name
    assert "- `/explain word <id>`: plain words" in every_reply("plain words")["commands"]


def test_lists_say_how_much_they_leave_out() -> None:
    said = every_reply("x")
    assert said["duplicates"].count("[issue ") == replies.MAX_LISTED
    assert "and 40 more" in said["duplicates"]
    assert "and 20 more" in said["all"]
    assert "and 34 more" in said["scan"]
    assert "and 10 more records" in said["scan"]
    assert "the newest 300 open issues" in said["scan"]


def test_a_reply_that_folds_says_so_in_its_first_line() -> None:
    for text in (replies.wrong_text("body"), replies.gone_text("body")):
        first, blank, details, *rest = text.splitlines()
        assert first
        assert (blank, details, rest[-1]) == ("", "<details>", "</details>")
    assert "<details>" not in replies.gone_text() + replies.wrong_text()
