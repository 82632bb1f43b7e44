"""Untrusted text cannot act, held against cmark-gfm and against GitHub's rules for mentions and references."""

from __future__ import annotations

import re
import time

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.answering.sanitise import (
    BREAK,
    MAX_QUOTED,
    allowed,
    clean,
    code,
    code_block,
    fence,
    link,
    paragraphs,
    plain,
    prose,
    start_of_line,
)
from bot.answering.secrets import mask

HOSTILE = st.sampled_from(
    [
        "@octocat", "@org/team", "#12", "owner/repo#34", "GH-7", "gh-7", "https://evil.example/x", "www.evil.example", "`", "``", "```",
        "````", "~~~", "</details>", "<details>", "<!--", "-->", "<script>", "<img src=x>", "![a](http://e/x.png)", "[a](http://e)", "# h",
        "\n", "\n\n", "\r", "\u2028", "\x1b[31m", "\u202e", "\u200b", "\u200d", "\x00", "/close", "Duplicate of #3", "@bot", "!deploy",
        "- [ ] x", "> q", "| a | b |\n|---|---|", "    ", "\t", "\\", "*", "**", "_", "__", "$$", "&lt;", "&#64;octocat", "&commat;x",
        "0123456789abcdef0123456789abcdef01234567", "mailto:a@b.example", "xmpp:a@b.example", "a@b.example", "{x}", "{", "}", "1. ", "---",
        "===", "<http://e.example>", "[^1]", "\ud800", "ftp://e.example", "http://e.example/a_b", "bors r+", "abc1234",
        "a@.b", "[docs](https://docs.python.org/)", "https://docs.python.org/#5", "![i](https://docs.python.org/)", "!",
    ]
)  # fmt: skip
TEXT = st.lists(st.one_of(HOSTILE, st.text(max_size=6), st.sampled_from([" ", "a", "word"])), max_size=14).map("".join)

MENTION = re.compile(r"(?<![A-Za-z0-9_`])@[A-Za-z0-9]")
REFERENCE = re.compile(r"(?:#|GH-|gh-)[0-9]")
SHA = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{40}(?![0-9A-Za-z])")
COMMAND = re.compile(r"(?im)^[ \t]*(?:[/!]\w|@\w|duplicate of)")


def html_of(markdown: str) -> str:
    return cmarkgfm.github_flavored_markdown_to_html(markdown, options=Options.CMARK_OPT_UNSAFE)


def assert_inert(markdown: str) -> None:
    assert not MENTION.search(markdown)
    assert not REFERENCE.search(markdown)
    assert not SHA.search(markdown)
    assert not COMMAND.search(markdown)
    assert not re.search(r"(?i)(?:https?|ftp)://|www\.", markdown)
    markdown.encode()


@settings(max_examples=300, deadline=None)
@given(TEXT)
def test_a_fence_is_one_code_block_and_nothing_else(text: str) -> None:
    made = fence(text)
    assert_inert(made)
    assert re.fullmatch(r'<pre lang="text"><code>[^<]*</code></pre>\n<p>after</p>\n', html_of(f"{made}\n\nafter"))


@settings(max_examples=300, deadline=None)
@given(TEXT)
def test_inline_code_is_one_code_span_and_nothing_else(text: str) -> None:
    made = code(text)
    assert_inert(made)
    assert re.fullmatch(r"<p>before (<code>[^<]*</code>|\(empty\)) after</p>\n", html_of(f"before {made} after"))


@settings(max_examples=300, deadline=None)
@given(TEXT)
def test_plain_text_is_one_paragraph_of_text(text: str) -> None:
    made = plain(text)
    assert_inert(made)
    assert re.fullmatch(r"<p>before [^<]*after</p>\n", html_of(f"before {made}after"))
    assert re.fullmatch(r"(<p>[^<]*</p>\n)?", html_of(start_of_line(made)))


@pytest.mark.parametrize("address", ["a@b.example", "a@.b", "a@-.b", "a@_.b", "mailto:a@.b", "xmpp:a@.b/c"])
def test_what_cmark_takes_for_an_address_is_no_link(address: str) -> None:
    assert "<a" in html_of(address)
    for made in (plain(address), prose(address), prose("{x}", {"x": address}), start_of_line(plain(address))):
        assert "<a" not in html_of(made)


@settings(max_examples=300, deadline=None)
@given(TEXT)
def test_prose_is_text_and_code_only(text: str) -> None:
    made = prose(text, {"x": "@value `#9`", "y": None})
    html = html_of(made)
    assert_inert(re.sub(r'<code>[^<]*</code>|<a href="https://docs\.python\.org/[^"@]*">', "", html).replace("<p>", "<p>x"))
    assert not COMMAND.search(made)
    assert re.fullmatch(r'(<p>([^<]|<code>[^<]*</code>|<a href="https://docs\.python\.org/[^"]*">[^<]*</a>)*</p>\n)?', html)


@settings(max_examples=200, deadline=None)
@given(TEXT, st.sampled_from(["python", "diff"]))
def test_code_of_a_record_stays_in_its_block(text: str, language: str) -> None:
    made = code_block(text, language)
    assert not re.search(r"(?im)^[ \t]*(?:/\w|@\w|duplicate of)", made)
    assert re.fullmatch(rf'<pre lang="{language}"><code>[^<]*</code></pre>\n<p>after</p>\n', html_of(f"{made}\n\nafter"))


@settings(max_examples=200, deadline=None)
@given(TEXT, st.integers(5, 60), st.integers(1, 4))
def test_what_is_cut_is_still_closed_and_within_its_bounds(text: str, most: int, lines: int) -> None:
    made = fence(text, most=most, lines=lines)
    inside = made.split("\n")[1:-1]
    assert len("\n".join(inside)) <= most + 2
    assert len(inside) <= lines + 1
    assert re.fullmatch(r'<pre lang="text"><code>[^<]*</code></pre>\n', html_of(made))


@settings(max_examples=200, deadline=None)
@given(TEXT)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


def test_what_is_shown_reads_as_it_was_pasted() -> None:
    pasted = "ValueError: got `a` and ```b```, {'x': [1, 2]} <class 'int'> 50% $HOME C:\\dir"
    assert fence(pasted) == f"````text\n{pasted}\n````"


def test_broken_characters_can_not_be_seen() -> None:
    pasted = "@a/b #1 see https://x.example www.x.example GH-2"
    assert fence(pasted).replace(BREAK, "") == f"```text\n{pasted}\n```"


def test_invisible_characters_do_not_hide_a_mention_or_a_secret() -> None:
    assert clean("@\u200bocto\u00adcat \u202eabc\u202c \x1b[1;31mred\x1b[0m a\r\nb\rc") == "@octocat abc red a\nb\nc"
    assert "hidden" in fence("ghp_0123456789\u200babcdefghijABCDEFGHIJ0123456789")


B = BREAK


@pytest.mark.parametrize(
    ("text", "values", "said"),
    [
        ("Set `--tp {n}`.", {"n": "3"}, "Set `--tp 3`."),
        ("Run `/bin/x --url https://e.example/#1 @y`.", {}, "Run `/bin/x --url https://e.example/#1 @y`."),
        ("Run `x {n}`.", {"n": "https://e.example/ @y"}, f"Run `x https:{BREAK}//e.example/ @{BREAK}y`."),
        ("Set `--tp {n}`.", {"n": None}, "Set `--tp <n>`."),
        ("It is {n} (that is {n}).", {"n": None}, "It is `n`."),
        ("It is {self.n} now.", {"self.n": "a`b"}, "It is ``a`b`` now."),
        ("Braces {other} stay {", {"n": "3"}, "Braces {other} stay {"),
        ("{n!r} and {n:>3}, {n", {"n": "3"}, "`3` and `3`, {n"),
        ("at 0123456789abcdef0123456789abcdef01234567", {}, f"at 012345{B}6789ab{B}cdef01{B}234567{B}89abcd{B}ef0123{B}4567"),
        ("at abc1234 or 1234567", {}, f"at abc123{BREAK}4 or 1234567"),
        ("{n}{n}", {"n": "3"}, f"`3`{BREAK}`3`"),
        ("an `open tick", {}, "an \\`open tick"),
        ("# no heading", {}, "\\# no heading"),
        ("1. no list", {}, "1\\. no list"),
        ("a *b* <i>c</i>", {}, "a \\*b\\* \\<i\\>c\\</i\\>"),
        ("see [the docs](https://docs.sglang.ai/a_b)", {}, "see [the docs](https://docs.sglang.ai/a_b)"),
        ("see https://docs.python.org/3/.", {}, "see [docs.python.org/3/](https://docs.python.org/3/)."),
        ("/close", {}, f"/{BREAK}close"),
        ("no image![x](https://docs.python.org/)", {}, "no image\\![x](https://docs.python.org/)"),
        ("see [x](https://evil.example/)", {}, f"see x (`https:{BREAK}//evil.example/`)"),
        ("see http://docs.python.org/3/", {}, f"see `http:{BREAK}//docs.python.org/3/`"),
    ],
)  # fmt: skip
def test_prose(text: str, values: dict[str, str | None], said: str) -> None:
    assert prose(text, values) == said


def test_paragraphs_stay_apart() -> None:
    assert paragraphs("one\nline\n\n- two\n \nthree") == "one line\n\n\\- two\n\nthree"


@pytest.mark.parametrize(
    "url",
    [
        "http://github.com/a", "https://github.com.evil.example/", "https://github.com@evil.example/", "https://evil.example/github.com",
        "https://GITHUB.com:444/", "https://githubｃ.com/", "javascript:alert(1)", "https://[github.com/", "https://gіthub.com/a",
    ],
)  # fmt: skip
def test_hosts_that_only_look_allowed(url: str) -> None:
    assert not allowed(url)


def test_links_cannot_be_broken_out_of_and_leave_no_mark_elsewhere() -> None:
    assert (
        link("`x`", "https://github.com/a/b/blob/v1/a (b)]<c>.py#L1") == "[`x`](https://github.com/a/b/blob/v1/a%20%28b%29%5D%3Cc%3E.py#L1)"
    )
    assert link("`x`", "https://github.com/a/b/issues/1") == "[`x`](https://redirect.github.com/a/b/issues/1)"
    assert link("`x`", "https://e.example/?a=1&#64;b") == "[`x`](https://e.example/?a=1&amp;#64;b)"
    assert link("`x`", "javascript:alert(1)") == "`x`"
    assert link("`x`", "https://e.example/" + "a" * 900) == "`x`"


def test_a_decorator_is_no_mention_and_still_python() -> None:
    made = code_block("@cache\ndef f():\n    @property\n    def g(): return a @ b")
    assert "@ cache" in made
    assert "    @ property" in made
    compile("\n".join(made.split("\n")[1:-1]), "made", "exec")


@pytest.mark.parametrize("piece", ["@", "`", "#1", "/a\n", "eyJ", "a@", "://a:", "-----BEGIN PRIVATE KEY-----", "sk-", "{x}", "(", "<"])
def test_time_grows_with_the_length_only(piece: str) -> None:
    def seconds(copies: int) -> float:
        text = piece * copies
        start = time.perf_counter()
        fence(text)
        prose(text, {"x": None})
        mask(text)
        return time.perf_counter() - start

    short = max(min(seconds(4_000) for _ in range(3)), 1e-3)
    assert min(seconds(40_000) for _ in range(2)) < 40 * short


def test_long_text_is_not_looked_at_beyond_its_bound() -> None:
    assert len(clean("a" * 10**6)) == MAX_QUOTED
