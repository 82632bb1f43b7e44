"""Large and hostile texts: bounded work, spans in the text, nothing raised, the relevant part still read."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.model import Occurrence, Reading
from bot.reading import read
from bot.reading.noise import BODY_LIMIT
from bot.reading.reader import MAX_OCCURRENCES

ERROR = 'Traceback (most recent call last):\n  File "/a/x.py", line 3, in run\n    go()\nValueError: too few blocks in the pool'
FRAGMENTS = (
    "Traceback (most recent call last):",
    '  File "a.py", line 3, in f',
    "    raise X('y')",
    "ValueError: bad",
    "`",
    "```",
    "````py",
    "~~~",
    "> ",
    "│ ",
    "\n",
    "\r",
    "    ",
    "E   ",
    "----> 1 ",
    "The above exception was the direct cause of the following exception:",
    "\x1b[31m",
    "&lt;",
    "\\n",
    '{"message": "',
    "': '",
    "terminate called after throwing an instance of 'x'",
    "  what():  ",
    "thread 'm' panicked at ",
    "src/a.rs:1:2:",
    "<details>",
    "[2025-01-01 00:00:00 TP0] ",
    "svc-1  | ",
    "(W pid=1) ",
    "ERROR ",
    "assert a == b",
    "**Exception Type:** ValueError",
    "==1.2.3",
    "sglang",
    "v0.5.3",
    "commit abcdef1234",
    "é",
    "\ud800",
    "\u2028",
    "\x00",
    "ValueError    Traceback (most recent call last)",
    "  + Exception Group Traceback (most recent call last):",
    "  | ",
    "    +---------------- 1 ----------------",
    '{"log":"x\\n","stream":"y"}',
    "100%|###| 3/3 [00:01<00:00]",
    'File "a" File "b", line 2, in c',
    "İ",
    "：",
    "“",
)


def _all(reading: Reading) -> list[Occurrence]:
    found, waiting = [], list(reading.occurrences)
    while waiting:
        one = waiting.pop()
        found.append(one)
        waiting += [chained for chained in (one.cause, one.context) if chained]
    return found


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=60), st.integers(0, 40))
def test_any_text_is_read(parts: list[str], cut: int) -> None:
    text = "".join(parts)
    reading = read(text[:cut], text[cut:])
    assert reading.text == f"{text[:cut]}\n\n{text[cut:]}"
    for found in _all(reading):
        assert 0 <= found.span[0] <= found.span[1] <= len(reading.text)
    for stated in reading.versions:
        assert reading.text[slice(*stated.span)].lower() == stated.version.lower()


@settings(max_examples=100, deadline=None)
@given(st.text(), st.text())
def test_arbitrary_text_is_read(title: str, body: str) -> None:
    for found in _all(read(title, body)):
        assert 0 <= found.span[0] <= found.span[1] <= len(title) + 2 + len(body)


@pytest.mark.parametrize("place", ["head", "middle", "tail"])
@pytest.mark.parametrize(
    "filler", ["[2025-01-01 00:00:00 TP0] Decode batch. #running-req: 7, #token: 9\n", "aGVsbG8gd29ybGQhIGJhc2U2NAo=\n", "x" * 5000 + "\n"]
)
def test_error_in_a_body_of_megabytes_is_read_as_alone(place: str, filler: str) -> None:
    noise = filler * (4 * BODY_LIMIT // len(filler))
    body = {"head": f"{ERROR}\n\n{noise}", "middle": f"{noise}{ERROR}\n\n{noise}", "tail": f"{noise}{ERROR}"}[place]
    alone = [f for f in read("T", ERROR).occurrences if f.dialect == "traceback"]
    reading = read("T", body)
    found = [f for f in reading.occurrences if f.dialect == "traceback"]
    assert [(f.type, f.message, f.frames) for f in found] == [(f.type, f.message, f.frames) for f in alone]
    assert reading.text[slice(*found[0].span)] == found[0].message


@pytest.mark.parametrize("sign", ["0", "\n", "```\n", "ValueError: x ", 'File "', "│ a │\n"])
def test_25_mebibytes_end(sign: str) -> None:
    assert len(read("T", sign * (25 * 2**20 // len(sign))).occurrences) <= MAX_OCCURRENCES


def test_number_of_occurrences_is_bounded_and_keeps_both_ends() -> None:
    words = [f"{a}{b}{c}" for a in "abcdefgh" for b in "ijklmnop" for c in "qrstuvwx"]
    random.Random(7).shuffle(words)
    body = "\n".join(f"[2025-01-01 00:00:00] ValueError: the {word} is bad" for word in words)
    found = [f.message for f in read("T", body).occurrences if f.dialect == "line"]
    assert len(found) == MAX_OCCURRENCES - 1
    assert (found[0], found[-1]) == (f"the {words[0]} is bad", f"the {words[-1]} is bad")


def test_chain_of_thousands_is_no_recursion() -> None:
    link = "\n\nDuring handling of the above exception, another exception occurred:\n\n"
    found = _all(read("T", link.join(ERROR for _ in range(900))))
    assert all(f.message == "too few blocks in the pool" for f in found if f.dialect == "traceback")
