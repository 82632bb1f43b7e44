"""The same traceback, however it was damaged, is read as the same error."""

from __future__ import annotations

import importlib.util
import random
import sys
import traceback
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.model import Occurrence
from bot.reading import read

_SPEC = importlib.util.spec_from_file_location("reading_damage_functions", Path(__file__).with_name("damage.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
damage = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = damage
_SPEC.loader.exec_module(damage)

WORDS = (
    "memory",
    "tokens",
    "kv_cache",
    "`--tp-size`",
    "must be",
    "16384",
    "['a', 'b']",
    "<unknown>",
    "is not divisible by",
    "0.9,",
    "model=",
)
TYPES = (
    "ValueError",
    "RuntimeError",
    "torch.OutOfMemoryError",
    "sglang.srt.errors.KVTransferError",
    "KeyError",
    "zmq.error.ZMQError",
)
CODE = (
    "self.run(batch)",
    'raise ValueError("x")',
    "return func(*args, **kwargs)",
    "scheduler = Scheduler(",
    "x = await self.step()",
)


@st.composite
def errors(draw: st.DrawFn) -> tuple[str, str, str, tuple[str, int, str, str]]:
    """A printed traceback, and the type, message and last frame that it must be read as."""
    name = draw(st.sampled_from(TYPES))
    message = " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=3, max_size=12))) + draw(st.sampled_from((".", "", "!")))
    lines = ["Traceback (most recent call last):"]
    frame = ("", 0, "", "")
    for depth in range(draw(st.integers(1, 5))):
        path = f"/usr/lib/python3.12/site-packages/sglang/srt/module_{depth}.py"
        frame = (
            path,
            draw(st.integers(1, 4000)),
            draw(st.sampled_from(("run", "__init__", "<module>", "forward"))),
            draw(st.sampled_from(CODE)),
        )
        lines += [f'  File "{path}", line {frame[1]}, in {frame[2]}', f"    {frame[3]}"]
        if draw(st.booleans()):
            lines.append("    " + "^" * len(frame[3]))
    lines.append(f"{name}: {message}")
    return "\n".join(lines), name, message, frame


def _find(title: str, body: str) -> list[Occurrence]:
    return [found for found in read(title, body).occurrences if found.dialect == "traceback"]


def _comparable(message: str) -> str:
    return " ".join(message.split())


@pytest.mark.parametrize("name", sorted(damage.DAMAGES))
@pytest.mark.parametrize("place", ["bare", "fenced", "report"])
@settings(max_examples=10, deadline=None)
@given(error=errors(), seed=st.integers(0, 2**16))
def test_damaged_traceback_is_read_as_the_same_error(name: str, place: str, error: tuple, seed: int) -> None:
    text, type_, message, frame = error
    chance = random.Random(seed)
    if name == "head_cut" and text.count("File ") == 1:
        return
    body = damage.DAMAGES[name](text, chance)
    if place != "bare":
        body = damage.fenced(body, chance)
    if place == "report":
        body = damage.in_report(body, chance)
    found = _find("A report", body)
    assert [(f.type, _comparable(f.message)) for f in found] == [(type_, _comparable(message))], body
    assert not found[0].truncated
    last = found[0].frames[-1]
    assert (last.path, last.line, last.function, last.code) == frame


@settings(max_examples=40, deadline=None)
@given(error=errors(), seed=st.integers(0, 2**16))
def test_cut_tail_leaves_frames_and_says_so(error: tuple, seed: int) -> None:
    text, _, _, frame = error
    found = _find("A report", damage.tail_cut(text, random.Random(seed)))
    assert [(f.type, f.message, f.truncated) for f in found] == [(None, "", True)]
    last = found[0].frames[-1]
    assert (last.path, last.line, last.function, last.code) == frame


@settings(max_examples=40, deadline=None)
@given(error=errors(), seed=st.integers(0, 2**16))
def test_hand_wrapped_message_keeps_its_words(error: tuple, seed: int) -> None:
    text, type_, message, _ = error
    found = _find("A report", damage.fenced(damage.wrapped(text, random.Random(seed)), random.Random(seed)))
    assert [(f.type, _comparable(f.message)) for f in found] == [(type_, _comparable(message))]


@settings(max_examples=60, deadline=None)
@given(error=errors())
def test_span_of_an_undamaged_message_holds_it(error: tuple) -> None:
    text, _, message, _ = error
    reading = read("A report", text)
    start, end = next(found for found in reading.occurrences if found.dialect == "traceback").span
    assert reading.text[start:end] == message


def test_python_prints_what_is_read_back() -> None:
    def inner(value: int) -> None:
        raise ValueError(f"tp_size must be at least 1, got {value}")

    def outer() -> None:
        try:
            inner(0)
        except ValueError as error:
            raise RuntimeError("Failed to start the engine") from error

    try:
        outer()
    except RuntimeError:
        printed = traceback.format_exc()
    (found,) = _find("It fails", f"```\n{printed}```")
    assert (found.type, found.message) == ("RuntimeError", "Failed to start the engine")
    assert found.cause is not None
    assert (found.cause.type, found.cause.message) == ("ValueError", "tp_size must be at least 1, got 0")
    assert found.cause.frames[-1].function == "inner"
    assert found.cause.frames[-1].code == 'raise ValueError(f"tp_size must be at least 1, got {value}")'
