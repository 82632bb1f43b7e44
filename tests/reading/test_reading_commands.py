"""Slash commands act only where a person wrote one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.reading.commands import MAX_COMMANDS, parse_commands


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("/explain", [("explain", "")]),
        ("/explain why", [("explain", "why")]),
        ("  /Explain  why not ", [("explain", "why not")]),
        ("Thanks!\n/explain label\nbye", [("explain", "label")]),
        ("Hello\r\n\r\n/explain help\r\n", [("explain", "help")]),
        ("/explain `ValueError: x`", [("explain", "`ValueError: x`")]),
        ("/explain\n```\nValueError: x\n```\n", [("explain", "ValueError: x")]),
        ("/explain this\n\n```\nKeyError: 'y'\n```\n", [("explain", "this\nKeyError: 'y'")]),
        ("/explain one\n/explain two", [("explain", "one"), ("explain", "two")]),
        ("`a\nb` c\n/explain x", [("explain", "x")]),
    ],
)
def test_command(body: str, expected: list[tuple[str, str]]) -> None:
    found = parse_commands(body)
    assert [(c.name, c.argument) for c in found] == expected
    assert all(body[slice(*c.span)].lower().startswith("/explain") for c in found)


@pytest.mark.parametrize(
    "body",
    [
        "please /explain this",
        "/explainer",
        "/explain: no",
        "//explain",
        "```\n/explain\n```",
        "~~~\n/explain\n~~~",
        "```\n/explain",
        "    /explain",
        "`/explain`",
        "`a\n/explain\nb`",
        "> /explain",
        "> quoted\n/explain",
        "- /explain",
        "1. x\n   /explain",
        "# /explain",
        "/explain\n===",
        "*/explain*",
        "[a\n/explain](http://x)",
        "<!-- \n/explain\n-->",
        "a <!-- \n/explain\n--> b",
        "<div>\n/explain\n</div>",
        "<details>\n\n/explain\n\n</details>",
        "text <b>\n/explain</b>",
        "Thanks\n\n-- \nAnna\n/explain",
        "| a |\n|---|\n| /explain |",
        "\\/explain",
        "On Monday Anna wrote:\n> /explain why",
    ],
)
def test_no_command(body: str) -> None:
    assert parse_commands(body) == ()


def test_number_of_commands_is_bounded() -> None:
    assert len(parse_commands("/explain x\n\n" * 500)) == MAX_COMMANDS


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["/explain x", "```", "~~~", "> ", "`", "\n", "\n\n", "<!--", "-->", "<details>", "- ", "    ", "\r", "\x00", "*", "["]
        )
    )
)
def test_never_raises_and_names_its_place(parts: list[str]) -> None:
    body = "".join(parts)
    for command in parse_commands(body):
        assert body[slice(*command.span)].startswith("/explain x")


@pytest.mark.parametrize("sign", ["[", "`", "*", "> ", "- ", "<", "\n", "![", "</", "&"])
def test_hostile_comments_end(sign: str) -> None:
    body = sign * (65_536 // len(sign)) + "\n\n/explain"
    assert len(parse_commands(body)) <= 1
