"""What the comment says, in which order, and that nothing of the reporter's or of the source's acts in it."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from html.parser import HTMLParser

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.answering import (
    answer,
    as_json,
    not_allowed_text,
    nothing_found_text,
    to_terminal,
    unknown_command_text,
    why_text,
)
from bot.answering.comment import MAX_COMMENT
from bot.answering.sanitise import BREAK
from bot.answering.words import circumstances, newest
from bot.model import (
    Capture,
    Condition,
    Earlier,
    Example,
    Hole,
    Match,
    Occurrence,
    RaiseSite,
    Reason,
    Record,
    SiteLines,
    Template,
    Verdict,
    record_id,
)

REPOSITORY = "sgl-project/sglang"


def source_url(site: RaiseSite, release: str | None) -> str:
    at = site.in_release(release)
    return f"https://github.com/{REPOSITORY}/blob/v{at.release}/{site.path}#L{at.line}"


def record_url(id: str) -> str:
    return f"https://errors.example/errors/{id}"


TEMPLATE = Template.parse("tp_size {tp_size} must divide the {heads} heads")
SITE = RaiseSite(
    "python/sglang/srt/server_args.py",
    "ServerArgs.check",
    (SiteLines("0.5.22", 100, 102), SiteLines("0.5.23", 110, 112)),
    "raise ValueError(...)",
    (Condition("if", "heads % tp_size != 0"),),
)
WRITTEN = Record(
    record_id(REPOSITORY, "ValueError", TEMPLATE),
    REPOSITORY,
    "ValueError",
    (TEMPLATE,),
    (SITE,),
    status="reviewed",
    title="The heads cannot be spread evenly",
    meaning="`--tp` is {tp_size}, but the model has {heads} heads.",
    solutions=("Take a `--tp` that divides {heads}.", "Use fewer GPUs."),
    example=Example("launch --tp 3 \\\n  --model M", "launch --tp 4 \\\n  --model M"),
    guard="assert heads % tp == 0",
    handler="try:\n    launch()\nexcept ValueError:\n    fall_back()",
    related=("0123456789abcdef", "another message"),
)
DERIVED = replace(
    WRITTEN, status="derived", title="", meaning="", solutions=(), example=None, guard="", handler="", related=(),
    remedies=("choose another size",),
)  # fmt: skip
OCCURRENCE = Occurrence("ValueError", "tp_size 3 must divide the 32 heads", (0, 34))
MATCH = Match(
    WRITTEN, OCCURRENCE, TEMPLATE, (Capture("tp_size", "3"), Capture("heads", "32")), SITE, 0.991,
    (Reason("text", 31.0, "all words stand there"), Reason("frame", 6.0, "raised in check of server_args.py")),
)  # fmt: skip


def said(match: Match, decision: str = "answer", release: str | None = "0.5.23", *more: Match) -> str:
    return answer(Verdict(decision, (match, *more), release), source_url, record_url)  # type: ignore[arg-type]


def in_order(text: str, *pieces: str) -> None:
    at = 0
    for piece in pieces:
        found = text.find(piece, at)
        assert found >= 0, f"{piece!r} does not stand after {text[:at][-60:]!r}"
        at = found + len(piece)


def test_a_written_record_is_told_in_this_order() -> None:
    in_order(
        said(MATCH),
        "```text\nValueError: tp_size 3 must divide the 32 heads\n```",
        "**The heads cannot be spread evenly**",
        "`--tp` is `3`, but the model has `32` heads.",
        f"[`python/sglang/srt/server_args.py:110`](https://github.com/{REPOSITORY}/blob/v0.5.23/python/sglang/srt/server_args.py#L110)",
        "in `ServerArgs.check`, in v0.5.23, the release of this issue.",
        "1. Take a `--tp` that divides `32`.\n2. Use fewer GPUs.",
        "```diff\n- launch --tp 3 \\\n+ launch --tp 4 \\\n    --model M\n```",
        "<details>\n<summary>Check for it, or catch it, in code</summary>",
        "assert heads % tp == 0",
        "fall_back()",
        "</details>",
        "Related: [`0123456789abcdef`](https://errors.example/errors/0123456789abcdef), `another message`",
        "<summary>Why this matched (over 99% sure)</summary>",
        "- The whole text of this error stands there, in order.\n- The traceback ends in `ServerArgs.check` of `server_args.py`.",
        "<sub>[Everything known about this error]",
        "`/explain wrong`",
    )
    assert len(said(MATCH)) < 2_500


def test_a_derived_record_says_what_the_code_says_and_no_more() -> None:
    text = said(replace(MATCH, record=DERIVED))
    in_order(text, "What the code says of this `ValueError`", "Raised in `ServerArgs.check` when `heads % tp_size != 0` holds.")
    in_order(text, "**What the message itself advises**", "1. choose another size")
    assert "What to do" not in text


def test_options_that_lead_to_a_derived_record_are_named() -> None:
    site = replace(SITE, flags=("--backend fast", "--lo`ud"))
    text = said(replace(MATCH, record=replace(DERIVED, sites=(site,)), site=site))
    assert "holds. Command-line options that lead there: `--backend fast` and ``--lo`ud``." in text
    site = replace(SITE, flags=("--fast", "--a x or --b x"))
    text = said(replace(MATCH, record=replace(DERIVED, sites=(site,)), site=site))
    assert "options that lead there: `--fast` and `--a x` or `--b x`." in text


def test_the_line_stands_in_the_release_of_the_reporter_else_in_the_newest() -> None:
    assert "server_args.py:100`](https://github.com/sgl-project/sglang/blob/v0.5.22/" in said(MATCH, release="0.5.22")
    assert "server_args.py:110`" in said(MATCH, release=None)
    assert "in v0.5.23 (it was not found in v0.4.0)" in said(MATCH, release="0.4.0")


def test_one_of_many_sites_is_never_picked() -> None:
    sites = tuple(replace(SITE, path=f"python/sglang/m{number}.py") for number in range(5))
    text = said(replace(MATCH, record=replace(DERIVED, sites=sites), site=None))
    assert "Raised in 5 places, e.g. [`python/sglang/m0.py:110`]" in text
    assert "m2.py" in text
    assert "m3.py" not in text
    assert "when `heads" not in text
    assert "m4.py:110" in said(replace(MATCH, record=replace(DERIVED, sites=sites), site=sites[4]))


def test_a_placeholder_without_a_value_falls_back() -> None:
    text = said(replace(MATCH, captures=()))
    assert "`--tp` is `tp_size`, but the model has `heads` heads." in text


def test_a_text_that_is_gone_says_until_when_it_stood() -> None:
    text = said(replace(MATCH, record=replace(WRITTEN, status="obsolete")), release="0.5.22")
    assert "This text existed until v0.5.23 and is gone since" in text


def test_a_text_that_has_changed_says_how_it_reads_now() -> None:
    old = Template.parse("tp_size {tp_size} must divide heads")
    text = said(replace(MATCH, template=old, record=replace(WRITTEN, status="changed", templates=(TEMPLATE, old))))
    in_order(text, "the text of an older release", "tp_size {tp_size} must divide the {heads} heads")


RELEASES = ("0.5.21", "0.5.22", "0.5.23", "0.5.24")


def told(match: Match, releases: tuple[str, ...], release: str | None = None) -> str:
    return answer(Verdict("answer", (match,), release), source_url, record_url, None, releases)


def test_since_when_and_until_when_there_is_such_an_error() -> None:
    assert "in v0.5.23, since v0.5.22." in told(MATCH, RELEASES[:3])
    assert "since v0" not in told(MATCH, RELEASES[1:3])  # nobody knows what was before the oldest
    assert "since v0" not in told(MATCH, ())
    assert "until v0.5.23 and is gone since" in told(replace(MATCH, record=DERIVED), RELEASES)
    assert "gone" not in told(MATCH, RELEASES[:3])


def test_an_older_text_says_since_when_it_reads_otherwise() -> None:
    old = Template.parse("tp_size {tp_size} must divide heads")
    text = told(replace(MATCH, template=old), RELEASES[:3])
    in_order(text, "older release. Since v0.5.22 it reads:\n\n```text\ntp_size {tp_size} must divide the {heads} heads\n```")

    assert "since v" not in text.partition("This is the text")[0]


def test_code_that_the_machine_made_is_left_to_the_page() -> None:
    text = said(replace(MATCH, record=replace(WRITTEN, handler="try:\n    launch(...)\nexcept ValueError as error:\n    print(error)")))
    assert "Check for it in code" in text
    assert "launch(...)" not in text


def test_a_place_that_it_has_left_is_not_told_beside_the_one_where_it_stands() -> None:
    left = replace(SITE, path="python/sglang/old.py", lines=(SiteLines("0.5.21", 7, 7),))
    moved = replace(MATCH, record=replace(WRITTEN, sites=(left, SITE)), site=None)
    assert "old.py" not in told(moved, RELEASES)
    assert "Raised at [`python/sglang/srt/server_args.py:110`]" in told(moved, RELEASES)
    assert "Raised at [`python/sglang/old.py:7`]" in told(moved, RELEASES, "0.5.21")


def test_a_commit_is_shortened_and_no_version() -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    text = told(replace(MATCH, site=replace(SITE, lines=(SiteLines(commit, 1, 1),))), (commit,), commit)
    assert f"in {commit[:10]}" in text.replace(BREAK, "")


def test_what_the_page_has_as_well_is_left_out_of_a_long_comment() -> None:
    long = replace(WRITTEN, solutions=tuple(f"{number} " + "word " * 70 for number in range(6)))
    text = said(replace(MATCH, record=long))
    assert "fall_back()" not in text
    assert "Related" not in text
    in_order(text, "6. 5 word", "```diff", "Why this matched", "Everything known")
    assert "fall_back()" in said(MATCH)


def test_how_earlier_issues_ended_is_told_with_links_that_leave_no_mark() -> None:
    address = "https://github.com/octo/engine/issues/{}"
    ended = [(9, True, ""), (8, False, "completed"), (7, False, "not_planned"), (6, False, "duplicate")]
    issues = [Earlier(number, address.format(number), is_open, reason) for number, is_open, reason in ended]
    text = answer(Verdict("answer", (MATCH,)), source_url, record_url, earlier=issues)
    link = "https://redirect.github.com/octo/engine/issues/{}"
    assert (
        f"Earlier issues with this error: [issue 9]({link.format(9)}) (still open), [issue 8]({link.format(8)}) (closed as completed), "
        f"and [issue 7]({link.format(7)}) (closed as not planned)"
    ) in text
    hostile = Earlier(5, "javascript:alert(1)//@octocat #4", False, "@octocat see #3")
    assert "Earlier issues with this error: issue 5 (closed)" in answer(
        Verdict("answer", (MATCH,)), source_url, record_url, earlier=[hostile]
    )


def test_related_errors_that_nobody_explained_are_left_to_the_page() -> None:
    shown = replace(WRITTEN, id="1" * 16, title="Another one")
    text = answer(Verdict("answer", (MATCH,)), source_url, record_url, lambda record: (DERIVED, shown))
    assert "Related: [Another one](https://errors.example/errors/1111111111111111)\n" in text
    assert "Related" not in answer(Verdict("answer", (MATCH,)), source_url, record_url, lambda record: (DERIVED,))


def test_reasons_are_words_and_bits_only_where_they_are_asked_for() -> None:
    reasons = (
        Reason("text", 20.0, "64% of the template's words stand there in order"),
        Reason("line", 2.0, "line 3 is in the statement"),
        Reason("new evidence", -1.0, "something @octocat"),
    )
    found = replace(MATCH, reasons=reasons)
    in_order(said(found), "- 64% of this error's text stands there, in order.\n- something @")
    assert "line number" not in said(found)
    assert re.search(r"[+-][0-9.]+", said(found).partition("Why this matched")[2].partition("</details>")[0]) is None
    assert "- The line number fits. (+2.0 bits)" in why_text(Verdict("answer", (found,)))


def test_a_cautious_answer_asks_and_folds_all_but_one_line() -> None:
    text = said(MATCH, "cautious")
    question, _, rest = text.partition("\n\n")
    assert question.startswith("Could this be the `ValueError` [The heads cannot be spread evenly](https://errors.example/")
    assert question.endswith("?")
    assert rest.startswith("<details>")
    assert "\n\n</details>\n\n<sub>" in rest
    assert "1. Take a" in rest


def test_silence_says_nothing() -> None:
    assert said(MATCH, "silent") == ""
    assert answer(Verdict("answer", ()), source_url, record_url) == ""


def test_other_errors_get_one_line_each_and_nothing_twice() -> None:
    other = replace(MATCH, record=replace(DERIVED, id="f" * 16, symptom=True), occurrence=Occurrence(None, "Rank 0 is dead", (0, 1)))
    text = said(MATCH, "answer", None, MATCH, other, other)
    assert text.count("`Rank 0 is dead`") == 1
    assert "Also in this log: `Rank 0 is dead`, which only says that something else failed" in text
    assert "Also" not in said(MATCH, "answer", None, MATCH)


def test_a_secret_is_hidden_everywhere_and_its_owner_is_warned() -> None:
    secret = "hf_" + "abcDEF0123456789" * 2
    found = replace(
        MATCH,
        occurrence=Occurrence("ValueError", f"tp_size {secret} must divide the 32 heads", (0, 1)),
        captures=(Capture("tp_size", secret), Capture("heads", "32")),
    )
    text = said(found)
    assert secret not in text
    assert "revoke it" in text
    assert "Hugging Face token" in text
    verdict = Verdict("answer", (found,))
    assert secret not in str(as_json(verdict, text, True))
    assert secret not in why_text(verdict)


def test_a_value_inside_a_hidden_part_is_hidden_too() -> None:
    found = replace(
        MATCH,
        occurrence=Occurrence("ValueError", "bad password=opensesame1 given", (0, 1)),
        captures=(Capture("tp_size", "opensesame1"),),
    )
    assert "opensesame1" not in said(found)
    assert "`[hidden]`" in said(found)


# ------------------------------------------------------------------------------------------ hostile input, rendered

HOSTILE = [
        "@octocat", "#12", "o/r#3", "GH-4", "https://github.com/o/r/issues/1", "www.e.example", "```", "`", "~~~~", "</details>",
        "<details open>", "<!--", "-->", "<b>", "<img src=//e>", "![x](http://e/i.png)", "[x](http://e)", "# h", "\n", "\n\n", "\n- ",
        "\n1. ", "[^1]", "\n[^1]: x",
        "\n    ", "/close", "\n/lgtm", "\nDuplicate of #5", "\n@bot merge", "\u202e", "\u200b", "\u2028/approve", "\ud800", "\x00",
        "0123456789abcdef0123456789abcdef01234567", "a@e.example", "&lt;", "|", "$x$", "\n---\n", "\n===\n", "<sub>", "</sub>", "{tp_size}",
        "(", ")", "]", "\\", "<https://e.example>", "\n> [!NOTE]\n> x", "word ", "x" * 300, "`" * 80,
]  # fmt: skip


class Hostile:
    """Verdicts made of hostile pieces, the same for the same seed (hypothesis needs seconds for values of this size)."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def text(self, most: int = 7) -> str:
        pieces = [
            self.random.choice(HOSTILE) if self.random.random() < 0.75 else chr(self.random.randrange(32, 0x2100))
            for _ in range(self.random.randrange(most + 1))
        ]
        return "".join(pieces)

    def texts(self, most: int) -> tuple[str, ...]:
        return tuple(self.text() for _ in range(self.random.randrange(most + 1)))

    def template(self) -> Template:
        return Template.of(self.text(), Hole("tp_size"), self.text())

    def site(self) -> RaiseSite:
        kinds = ("if", "unless", "try", "except", "for", "while", "with", "assert", "odd")
        conditions = tuple(Condition(self.random.choice(kinds), text) for text in self.texts(6))
        lines = tuple(SiteLines(release, 3, 4) for release in (self.text(), *self.texts(2)))
        return RaiseSite(self.text(), self.text(), lines, self.text(), conditions, self.text(), self.text(1))

    def record(self) -> Record:
        pick = self.random.choice
        return Record(
            id=pick(("0" * 16, "1" * 16, "2" * 16)), repository=REPOSITORY, type=self.text(), templates=(self.template(), self.template()),
            sites=tuple(self.site() for _ in range(self.random.randrange(6))), kind=pick(("error", "assert", "log")),
            expression=self.text(), remedies=self.texts(3), status=pick(("reviewed", "derived", "changed", "obsolete", "draft")),
            title=self.text(), meaning=self.text(20), solutions=self.texts(12), guard=self.text(),
            example=pick((None, Example(self.text(), self.text()))),
            handler=self.text(), related=self.texts(5), symptom=pick((True, False)),
        )  # fmt: skip

    def match(self) -> Match:
        record = self.record()
        return Match(
            record, Occurrence(self.random.choice((None, self.text())), self.text(20), (0, 1)), self.random.choice(record.templates),
            (Capture("tp_size", self.text()),), self.random.choice((None, self.site())), 0.9,
            tuple(Reason(self.text(), self.random.uniform(-50, 50), self.text()) for _ in range(self.random.randrange(12))),
        )  # fmt: skip

    def verdict(self) -> Verdict:
        decision = self.random.choice(("answer", "cautious"))
        return Verdict(decision, tuple(self.match() for _ in range(self.random.randrange(1, 4))), self.text(), self.text())


SEEDS = st.integers(0, 2**32)

OURS = {"p", "pre", "code", "strong", "ol", "ul", "li", "a", "details", "summary", "sub"}
ACTS = re.compile(r"(?<![A-Za-z0-9_`])@[A-Za-z0-9]|#[0-9]|\bGH-[0-9]|(?i:https?://|www\.)|(?<![0-9A-Za-z])[0-9a-f]{40}(?![0-9A-Za-z])")
COMMAND = re.compile(r"(?im)^[ \t>*+-]*(?:/\w|@\w|duplicate of)")


class Rendered(HTMLParser):
    """Tags, link targets and the text outside of code of a rendered comment."""

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.outside: list[str] = []
        self.open: list[str] = []
        self.folds = 0
        self.feed(cmarkgfm.github_flavored_markdown_to_html(markdown, options=Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_FOOTNOTES))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.open.append(tag)
        self.folds += tag == "details"
        if tag == "a":
            self.links.append(dict(attrs)["href"] or "")
        else:
            assert not [name for name, _ in attrs if (tag, name) != ("pre", "lang")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data!r}")

    def handle_data(self, data: str) -> None:
        if "code" not in self.open:
            self.outside.append(data)


def assert_inert(markdown: str, footer: bool) -> None:
    assert len(markdown) <= MAX_COMMENT
    assert not COMMAND.search(markdown), COMMAND.search(markdown)
    rendered = Rendered(markdown)
    assert not rendered.open
    assert rendered.tags <= OURS, markdown
    assert not ACTS.search("\n".join(rendered.outside))
    allowed = ("https://redirect.github.com/", "https://errors.example/errors/", f"https://github.com/{REPOSITORY}/blob/v")
    assert [target for target in rendered.links if not target.startswith(allowed)] == []
    if footer:
        outside = "".join(rendered.outside)
        assert outside.count("Everything known about this error") == 1
        assert outside.rstrip().endswith("Reply")
        assert markdown.endswith("</sub>")


@settings(max_examples=250, deadline=None)
@given(SEEDS)
def test_nothing_acts_in_an_answer(seed: int) -> None:
    assert_inert(answer(Hostile(seed).verdict(), source_url, record_url), footer=True)


@settings(max_examples=100, deadline=None)
@given(SEEDS)
def test_nothing_acts_in_the_reasons(seed: int) -> None:
    verdict = Hostile(seed).verdict()
    assert_inert(why_text(verdict, record_url), footer=False)
    assert_inert(why_text(replace(verdict, decision="silent")), footer=False)


@settings(max_examples=100, deadline=None)
@given(SEEDS)
def test_nothing_acts_in_the_other_replies(seed: int) -> None:
    word, nearest = Hostile(seed).text(), Hostile(seed + 1).text()
    assert_inert(unknown_command_text(word, nearest), footer=False)
    assert_inert(not_allowed_text(word), footer=False)


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_the_terminal_draws_every_answer(seed: int) -> None:
    verdict = Hostile(seed).verdict()
    drawn = draw(verdict, answer(verdict, source_url, record_url))
    assert "Everything known about this error" in drawn
    assert BREAK not in drawn


def draw(verdict: Verdict, comment: str) -> str:
    from rich.console import Console

    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(to_terminal(verdict, comment))
    return console.export_text()


def test_the_largest_answer_is_cut_by_whole_parts() -> None:
    long = "word " * 3_000
    record = replace(
        WRITTEN, meaning=long, solutions=(long,) * 20, example=Example("\n".join("ab" * 40), "\n".join("cd" * 40)), guard=long, handler=long
    )
    text = said(replace(MATCH, record=record, occurrence=replace(OCCURRENCE, message=long), reasons=(Reason(long, 1.0, long),) * 20))
    assert_inert(text, footer=True)
    assert "What to do" in text


# ------------------------------------------------------------------------------------------------- the other texts


def test_the_terminal_shows_text_without_markup() -> None:
    drawn = draw(Verdict("answer", (MATCH,), "0.5.23"), said(MATCH))
    in_order(drawn, "The heads cannot be spread evenly", "- launch --tp 3", "+ launch --tp 4", "Why this matched")
    assert "<details>" not in drawn
    assert "silent: too weak" in draw(Verdict("silent", (), why="too weak"), "")


def test_the_report_names_sites_in_the_newest_release_and_the_named_one_first() -> None:
    other = replace(SITE, path="python/sglang/other.py")
    left = replace(SITE, path="python/sglang/moved.py", lines=(SiteLines("0.5.3", 7, 7),))
    verdict = Verdict("answer", (replace(MATCH, record=replace(WRITTEN, sites=(left, other, SITE))),), "0.5.22")
    report = as_json(verdict, "text", posted=False)
    assert (report["verdict"], report["posted"], report["comment"]) == ("answer", False, "text")
    (record,) = report["records"]
    assert [(site["path"], site["line"], site["release"]) for site in record["sites"]] == [
        ("python/sglang/srt/server_args.py", 110, "0.5.23"),
        ("python/sglang/other.py", 110, "0.5.23"),
    ]
    assert record["captures"] == {"tp_size": "3", "heads": "32"}
    assert as_json(replace(verdict, decision="silent"), "", posted=False)["records"] == []


def test_why_silent_names_the_nearest_candidates() -> None:
    text = why_text(Verdict("silent", (MATCH,), why="the evidence is too weak"), record_url)
    in_order(
        text,
        "Why there is no answer",
        "The evidence is too weak.",
        "nearest candidates",
        "The heads cannot",
        "The whole text of this error stands there, in order. (+31.0 bits)",
    )
    assert "Nothing in the text comes near" in why_text(Verdict("silent"))


@pytest.mark.parametrize("text", [nothing_found_text(), unknown_command_text("wy", "why"), not_allowed_text("label")])
def test_the_fixed_replies_hold_no_command_at_the_start_of_a_line(text: str) -> None:
    assert_inert(text, footer=False)


def test_an_unknown_word_gets_the_nearest_one() -> None:
    assert "Did you mean `/explain why`?" in unknown_command_text("wy", "why")


# ----------------------------------------------------------------------------------------------------- plain words


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ([("if", "x is None")], "`x` is `None`"),
        ([("unless", "x is None")], "`x` is not `None`"),
        ([("if", "not self.ready")], "`self.ready` is not set"),
        ([("if", "not self.ready()")], "`self.ready()` is false"),
        ([("if", 'mode == "fast"')], '`mode` is `"fast"`'),
        ([("if", "isinstance(x, int)"), ("if", "a % b != 0")], "`x` is a `int` and `a % b != 0` holds"),
        ([("try", "import y"), ("except", "(ImportError, OSError) as e")], "`import y` failed with `ImportError` or `OSError`"),
        ([("try", "note()\nimport y"), ("except", "ImportError")], "`import y` failed with `ImportError`"),
        ([("try", "x = f()\ny = g()"), ("except", "KeyError")], "`x = f()` … failed with `KeyError`"),
        ([("unless", "a > b + 1")], "`a <= b + 1` holds"),
        ([("unless", "not any(x for x in y)")], "`any(x for x in y)` is true"),
        ([("unless", "a != b.c or not d")], "`a == b.c and d` holds"),
        ([("unless", "0 <= a < b")], "`0 <= a < b` does not hold"),
        ([("unless", "f(a, ...")], "`f(a, ...` does not hold"),
        ([("except", "KeyError")], "`KeyError` was caught"),
        ([("except", "")], "any exception was caught"),
        ([("if", "a"), ("if", "b"), ("if", "c")], "`a` is set, `b` is set, and `c` is set"),
        ([("if", f"x{n}") for n in range(6)], "2 more conditions hold, `x2` is set, `x3` is set, `x4` is set, and `x5` is set"),
        ([], ""),
    ],
)
def test_conditions_in_words(conditions: list[tuple[str, str]], words: str) -> None:
    assert circumstances([Condition(kind, text) for kind, text in conditions]) == words


def test_a_failed_assertion_is_told_once() -> None:
    site = replace(SITE, conditions=(Condition("if", "n > 2"), Condition("assert", "a == b")))
    bare = replace(DERIVED, templates=(), expression="a == b", sites=(site,), kind="assert", remedies=())
    text = said(replace(MATCH, record=bare, site=site, captures=()))
    assert "The assertion `a == b` failed in `ServerArgs.check` when `n > 2` holds." in text


def test_releases_are_put_in_order_as_versions() -> None:
    assert newest(["0.5.9", "0.5.10", "0.5.10rc1", "nightly"]) == "0.5.10"
