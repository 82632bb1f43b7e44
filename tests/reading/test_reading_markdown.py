"""Code blocks are where CommonMark has them; where fences do not fit, they are where their author meant them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.reading.markdown import blocks

LINES = st.sampled_from(["plain text", "ValueError: x", "", "    indented", "- item", "| a | b |"])


def _code(text: str) -> list[list[str]]:
    return [[line.text for line in block.lines] for block in blocks(text, 0, len(text)) if block.kind == "code"]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(st.lists(LINES, max_size=4), st.sampled_from(["```", "````", "~~~", "~~~~~"]), st.lists(LINES, min_size=1, max_size=4)),
        max_size=4,
    )
)
def test_sound_fences_are_those_of_commonmark(parts: list[tuple[list[str], str, list[str]]]) -> None:
    text = "\n".join(
        "\n".join([*before, "", f"{fence}text", *inside, fence, ""]) for before, fence, inside in parts if "- item" not in before
    )
    expected = [token.content.split("\n")[:-1] for token in MarkdownIt("commonmark").parse(text) if token.type == "fence"]
    assert _code(text) == expected


def test_fences_that_do_not_fit() -> None:
    assert _code("````\na\n```\nb") == [["a"]]
    assert _code("```\na\n````\nb") == [["a"]]
    assert _code("```\na\n### Environment\nb") == [["a"]]
    assert _code("```\na\n```python\nb\n```") == [["a"], ["b"]]
    assert _code("```\na\n```Then I went on") == [["a"]]
    assert _code("```\na") == [["a"]]


def test_marks_under_source_are_no_fence() -> None:
    assert _code("    x[0]\n    ~~~^^^\nValueError: y") == []


def test_offsets_lead_back() -> None:
    text = "> [2025-01-01 00:00:00] a\x1b[31mb\x1b[0m&lt;c  \r\nplain\n"
    (block,) = blocks(text, 0, len(text))
    first, second, _ = block.lines
    assert (first.text, second.text) == ("ab<c", "plain")
    assert [text[first.at(column)] for column in range(4)] == ["a", "b", "&", "c"]
    assert text[first.at(2) : first.until(3)] == "&lt;"
    assert text[second.start : second.end] == "plain"
