"""What stands behind ``/explain``: a table of shapes and words, each with its right answer."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.reading.commands import Place, Request, leading_id, parse_commands, parse_request

ID = "0123456789abcdef"
ERROR = "ValueError: page_size must be 1"
URL = "https://github.com/octo/engine/issues/7"
WORDS = {
    "help": "text",
    "why": "text",
    "record": "text",
    "wrong": "text",
    "right": "text",
    "all": "nothing",
    "off": "nothing",
    "on": "nothing",
    "label": "nothing",
    "duplicate": "nothing",
    "scan": "nothing",
    "as": "id",
}


class Case(NamedTuple):
    """A line behind ``/explain`` and what it means."""

    line: str
    means: Request


def word(name: str, argument: str = "") -> Request:
    return Request("word", name, argument)


def text(argument: str) -> Request:
    return Request("text", argument=argument)


def unknown(name: str, line: str) -> Request:
    return Request("unknown", name, line)


def forms(name: str, argument: str = "") -> list[Case]:
    """Ways of writing a word, all of which mean it."""
    shapes = ("{}", "{} ", "  {}", "{}.", "{}!", "{}?", "\t{}")
    written = [Case(shape.format(name), word(name, argument)) for shape in shapes]
    return [*written, Case(name.upper(), word(name)), Case(name.capitalize(), word(name))]


TABLE: list[Case] = [
    *[case for name in WORDS if name != "as" for case in forms(name)],
    # Courtesy does not change a command that stands alone; what follows a word that takes text is its argument.
    *[Case(f"{name} please", word(name)) for name, takes in WORDS.items() if takes == "nothing"],
    *[Case(f"{name}, thanks!", word(name)) for name, takes in WORDS.items() if takes == "nothing"],
    *[Case(f"{name} because of it", word(name, "because of it")) for name, takes in WORDS.items() if takes == "text"],
    *[Case(f"{name} {ID}", word(name, ID)) for name, takes in WORDS.items() if takes == "text"],
    *[Case(f"{name}\n{ERROR}", word(name, ERROR)) for name, takes in WORDS.items() if takes == "text"],
    *[Case(f"{name}: {ERROR}", word(name, ERROR)) for name, takes in WORDS.items() if takes == "text"],
    # A word that must stand alone and does not is the beginning of a text.
    *[Case(f"{name} linux I get {ERROR}", text(f"{name} linux I get {ERROR}")) for name, takes in WORDS.items() if takes == "nothing"],
    *[Case(f"{name}\n{ERROR}", text(f"{name}\n{ERROR}")) for name, takes in WORDS.items() if takes == "nothing"],
    *[Case(f"{name} a b c", text(f"{name} a b c")) for name, takes in WORDS.items() if takes == "nothing"],
    # A word that takes an id.
    *[Case(f"{name} {ID}", word("as", ID)) for name in ("as", "As", "AS")],
    Case(f"as `{ID}`", word("as", ID)),
    Case(f"as {ID.upper()}.", word("as", ID)),
    Case(f"as {ID} please", word("as", ID)),
    Case("as", word("as")),
    Case("as that", word("as", "that")),
    Case("as ../../etc/passwd", word("as", "../../etc/passwd")),
    Case(f"as {ID}0", word("as", f"{ID}0")),
    Case(f"as expected I see {ERROR}", text(f"as expected I see {ERROR}")),
    # Ids.
    *[Case(shape.format(ID), Request("id", argument=ID)) for shape in ("{}", "`{}`", "{}.", " {} ", "{}?", "{} please")],
    Case(ID.upper(), Request("id", argument=ID)),
    Case(ID[:-1], text(ID[:-1])),
    Case(ID + "0", text(ID + "0")),
    Case(f"{ID} {ERROR}", text(f"{ID} {ERROR}")),
    # Links.
    *[
        Case(shape.format(address), Request("link", place=place))
        for shape in ("{}", "<{}>", " {} ", "{} please")
        for address, place in (
            (URL, Place("octo/engine", 7)),
            (f"{URL}#issuecomment-99", Place("octo/engine", 7, 99)),
            (f"{URL}#issue-5", Place("octo/engine", 7)),
            (URL.replace("issues", "pull"), Place("octo/engine", 7)),
            (URL.replace("github.com", "git.example.org"), Place("octo/engine", 7)),
            (URL.replace("octo", "other"), Place("other/engine", 7)),
            ("#7", Place("", 7)),
        )
        if address.startswith("https") or "<" not in shape
    ],
    *[
        Case(address, unknown(address[:40], address))
        for address in (
            f"{URL}/events",
            f"{URL}?x=1",
            f"{URL}#discussion_r1",
            "http://github.com/octo/engine/issues/7",
            "https://github.com/octo/engine",
            "https://github.com/octo/../issues/x",
            "//evil.example/issues/7",
            "../../etc/passwd",
            "/etc/passwd",
            "a%2fb",
            "%2e%2e%2f",
        )
    ],
    # Texts.
    *[
        Case(line, text(line))
        for line in (
            "",
            ERROR,
            f"`{ERROR}`",
            f"the {ERROR}",
            "RuntimeError",
            "KeyError: 'x'",
            "torch.OutOfMemoryError",
            "no kernel image is available for execution",
            "what does this mean to me?",
            "this\n" + ERROR,
            "help_me",
            "x = 1",
            "[Errno 5]",
            "it's broken",
            "C++",
            "123",
            "'why'",
            "(why)",
            "`why`",
            "**why**",
            "ошибка",
            "why\u200b",
        )
    ],
    # What is there anyway.
    *[Case(line, text("")) for line in ("it", "this", "This error, please", "the traceback", "please", "it to me!", "here")],
    # Mistyped words.
    *[
        Case(line, unknown(line.split()[0].lower().strip(".,!?:;"), line))
        for line in (
            "halp",
            "hlep",
            "HALP",
            "Halp!",
            "wy",
            "worng",
            "rigth",
            "of",
            "lable",
            "duplicates",
            "scann",
            "records",
            "helpme",
            "stop it",
            "this way",
            "what now",
            "close",
            "assign me",
            "merge",
        )
    ],
]
PLACES = ("/explain {}", "Hello\n\n/explain {}", "/EXPLAIN {}\n\nThanks", "  /explain {}", "text before\n/explain {}\n")


def test_the_table_is_long_and_says_nothing_twice() -> None:
    assert len(TABLE) >= 220
    assert len({case.line for case in TABLE}) >= 215


@pytest.mark.parametrize("case", TABLE, ids=lambda case: repr(case.line)[:60])
def test_what_a_line_means(case: Case) -> None:
    assert parse_request(case.line, WORDS) == case.means


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("case", [case for case in TABLE[::6] if "\n" not in case.line], ids=lambda case: repr(case.line)[:60])
def test_it_means_the_same_wherever_the_command_stands(case: Case, place: str) -> None:
    (command,) = parse_commands(place.format(case.line))
    assert parse_request(command.argument, WORDS) == parse_request(case.line, WORDS)


@pytest.mark.parametrize(
    ("argument", "id"),
    [(ID, ID), (f"{ID.upper()}, it is not", ID), (f"`{ID}`", ID), ("", ""), ("it", ""), (f"x{ID}", ""), (f"no {ID}", ""), ("\0" * 16, "")],
)
def test_the_id_at_the_beginning(argument: str, id: str) -> None:
    assert leading_id(argument) == id


@given(st.text(max_size=200))
def test_any_text_means_something_bounded(argument: str) -> None:
    request = parse_request(argument, WORDS)
    assert len(request.word) <= 40
    assert request.kind != "id" or len(request.argument) == 16
    assert request.kind != "word" or request.word in WORDS


@pytest.mark.parametrize("sign", ["a", " ", "/", "#", "https://", "a ", "`", "é", "0"])
def test_hostile_arguments_end(sign: str) -> None:
    assert parse_request(sign * 60_000, WORDS).kind in ("text", "unknown")
