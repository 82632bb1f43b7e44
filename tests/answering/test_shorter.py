"""The shorter form of a comment: what is said first and last, every link, and nothing cut in its middle."""

from __future__ import annotations

from bot.answering.passages import fold
from bot.answering.sanitise import code_block, link
from bot.answering.shorter import MAX_SHORT, shorten

FOOTER = "<sub>" + link("Everything known", "https://bot.example/errors/1") + "</sub>"
RAISED = "Raised in " + link("a.py, line 3", "https://github.com/o/r/blob/v1/a.py#L3") + "."


def test_folds_and_code_go_and_their_links_stay() -> None:
    other = link("another", "https://bot.example/errors/2")
    body = "\n\n".join(("**It fails**", RAISED, code_block("a = 1\n\nb = 2"), fold("Why", f"One.\n\n- {other}\n\nTwo."), FOOTER))
    assert shorten(body) == "\n\n".join(("**It fails**", RAISED, other, FOOTER))


def test_what_has_no_room_goes_whole_and_its_links_are_kept_once() -> None:
    long = "word " * 400 + link("the page", "https://bot.example/errors/3")
    short = shorten("\n\n".join(("**It fails**", long, RAISED, long, FOOTER)))
    assert short == "\n\n".join(("**It fails**", RAISED, link("the page", "https://bot.example/errors/3"), FOOTER))
    assert len(short) < MAX_SHORT


def test_a_fold_in_code_opens_nothing_and_a_link_in_code_is_none() -> None:
    code = "```python\n<details>\n[x](https://other.example)\n\n```"
    assert shorten("\n\n".join(("**It fails**", code, RAISED, FOOTER))) == "\n\n".join(("**It fails**", RAISED, FOOTER))


def test_a_comment_without_parts_stays_whole() -> None:
    assert shorten("one line") == "one line"
    assert shorten("") == ""
    assert shorten(fold("Why", "a\n\nb")) == fold("Why", "a\n\nb")
