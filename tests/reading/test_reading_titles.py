"""Titles: tags off, the whole as one occurrence, and its parts."""

from __future__ import annotations

import pytest

from bot.reading import read

CASES = [
    ("[Bug]:RuntimeError: Engine failed.", [("RuntimeError", "Engine failed.")]),
    ("[Bug][PD] Capture cuda graph failed", [(None, "Capture cuda graph failed")]),
    ("【Bug】 ValueError：bad value", [("ValueError", "bad value")]),
    ("Qwen/Qwen3 X=1 alueError: Call failed", [(None, "Qwen/Qwen3 X=1 alueError: Call failed"), ("ValueError", "Call failed")]),
    ("[Bug] `ValueError: in ticks` on start", [("ValueError", "in ticks")]),
    ("It dies in v0.6, Error: No available memory", [(None, "It dies in v0.6, Error: No available memory"), (None, "No available memory")]),
    (
        'model: "Received a signal from a child"',
        [(None, 'model: "Received a signal from a child"'), (None, "Received a signal from a child")],
    ),
    ("KeyError: 'x.weight'", [("KeyError", "'x.weight'")]),
    ("[Bug] valueerror: in lower case", [("ValueError", "in lower case")]),
    ("warning: in lower case", [(None, "warning: in lower case")]),
    ("CUDA error: an illegal access", [(None, "CUDA error: an illegal access")]),
    ("['A'] is not supported", [(None, "['A'] is not supported")]),
    ("[Bug]:", []),
    ("", []),
]


@pytest.mark.parametrize(("title", "expected"), CASES)
def test_title(title: str, expected: list[tuple[str | None, str]]) -> None:
    found = read(title, "").occurrences
    assert [(f.type, f.message) for f in found] == expected
    assert all(f.dialect == "title" and not f.truncated for f in found)


def test_asserted_line_in_a_title() -> None:
    found = [f for f in read("[Bug] crash, assert a.shape[0] == len(b) error", "").occurrences if f.dialect == "source"]
    assert [(f.type, f.message) for f in found] == [("AssertionError", "assert a.shape[0] == len(b)")]


@pytest.mark.parametrize("dots", ["…", "...", " ..."])
def test_cut_title(dots: str) -> None:
    found = read(f"ValueError: Try increasing{dots}", "").occurrences
    assert [(f.message, f.truncated) for f in found] == [("Try increasing", True)]


def test_title_and_body_are_one_text() -> None:
    reading = read("ValueError: one", "KeyError: 'two'")
    assert reading.text == "ValueError: one\n\nKeyError: 'two'"
    assert [reading.text[slice(*f.span)] for f in reading.occurrences] == ["one", "'two'"]
