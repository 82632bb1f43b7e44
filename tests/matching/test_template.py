"""Alignment of templates with messages as people quote them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.matching.template import Alignment, align, captures, pattern, split_words
from bot.model import Capture, Template

GRAPH = Template.parse("Capture cuda graph failed: {e}\nPossible solutions:\n1. disable cuda graph by --disable-cuda-graph")


BITS = 6.0


def weights(pieces: tuple[str, ...]) -> list[float]:
    return [BITS for piece in pieces for _ in piece.split()]


def lay(template: tuple[str, ...], text: str) -> Alignment | None:
    return align(template, split_words(text), weights(template))


@pytest.mark.parametrize(
    ("template", "pieces"),
    [
        ("No words {x} here", ("no words", "here")),
        ("{x} starts", ("", "starts")),
        ("ends with {x}", ("ends with", "")),
        ("'{x}' failed", ("", "failed")),
        ("{a}: {b}", ("", "")),
        ("tp{rank} is wrong", ("", "is wrong")),
        ("res={r!r}, res.text={t!r}", ("res", "res text", "")),
        ("{{not a hole}} {x}", ("not a hole", "")),
        ("__init__ of {x}", ("init of", "")),
    ],
)
def test_pattern_holds_the_words_that_survive_quoting(template: str, pieces: tuple[str, ...]) -> None:
    assert pattern(Template.parse(template)) == pieces


def test_words_keep_their_place_in_the_text() -> None:
    text = "  Capture `cuda`\n  Graph_ failed"
    words = split_words(text)
    assert [text[a:b].strip("_") for a, b in words.spans] == ["Capture", "cuda", "Graph", "failed"]
    assert words.joined == " capture cuda graph failed "


def test_a_whole_message_aligns_exactly_whatever_its_white_space_case_and_quotes() -> None:
    message = split_words("CAPTURE CUDA\n  graph failed:  out of\nmemory Possible solutions: 1. disable cuda graph by disable cuda graph")
    found = align(pattern(GRAPH), message, weights(pattern(GRAPH)))
    assert found is not None
    assert found.exact
    assert found.coverage == 1.0
    assert found.first == 0


def test_a_quoted_head_counts_what_is_there_and_names_the_rest_as_tail() -> None:
    found = lay(pattern(GRAPH), "Capture cuda graph failed")
    assert found is not None
    assert not found.exact
    assert found.matched == 4 * BITS
    assert found.missing_tail == found.total - found.matched
    assert found.missing_inside == 0


def test_a_changed_word_is_missing_inside_and_an_added_one_intrudes() -> None:
    template = pattern(Template.parse("the number of attention heads must be divisible by the size"))
    changed = lay(template, "the number of attention groups must be divisible by the size")
    added = lay(template, "the number of attention heads must really be divisible by the size")
    assert changed is not None
    assert changed.missing_inside == BITS
    assert added is not None
    assert added.intruders == 1
    assert added.missing_inside == 0


def test_common_words_far_apart_do_not_make_a_match() -> None:
    template = pattern(Template.parse("the model is not supported for the given quantization"))
    found = lay(template, "is it the case that your dog does not like cats or for that matter any of the others")
    assert found is None or found.matched < 20


@pytest.mark.parametrize(
    ("template", "message", "filled"),
    [
        ("got {a}, wanted {b}", "got 3, wanted 4", [("a", "3"), ("b", "4")]),
        ("got {a}, wanted {b}", "GOT  3,\nwanted  4", [("a", "3"), ("b", "4")]),
        ("{name} memory leak detected! {token}", "pool memory leak detected! x=1", [("name", "pool"), ("token", "x=1")]),
        ("Capture failed: {e}\nSolutions: 1", "Capture failed: out of memory", [("e", "out of memory")]),
        ("{a}{b} end", "one two end", [("a", "one two")]),
        ("models {m} are not supported for now. Known: {k}", "models ['A'] are not supported?", [("m", "['A']")]),
        ("can't read '{p}'", "can\u2019t read \u2018file\u2019", [("p", "file")]),
        ("no holes", "no holes", []),
    ],
)
def test_captures(template: str, message: str, filled: list[tuple[str, str]]) -> None:
    assert captures(Template.parse(template), message) == tuple(Capture(*pair) for pair in filled)


NAMES = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]
words = st.lists(st.sampled_from(NAMES), min_size=1, max_size=6)


@given(st.lists(words, min_size=1, max_size=4), st.lists(st.integers(10, 999), min_size=3, max_size=3))
def test_every_rendered_message_aligns_exactly_with_its_template_and_gives_back_its_values(
    pieces: list[list[str]], values: list[int]
) -> None:
    text = [" ".join(piece) for piece in pieces]
    template = Template.parse(" {x} ".join(text))
    message = "".join(f"{piece} {values[n]} " for n, piece in enumerate(text[:-1])) + text[-1]
    found = lay(pattern(template), message)
    assert found is not None
    assert found.exact
    assert [c.value for c in captures(template, message)] == [str(v) for v in values[: len(pieces) - 1]]


@given(st.text(max_size=300), st.text(alphabet="ab {}x\n", max_size=60))
def test_any_text_is_taken(message: str, raw: str) -> None:
    template = Template.of(raw.replace("{", "").replace("}", ""), "end of it")
    found = lay(pattern(template), message)
    assert found is None or 0 <= found.first <= found.last < len(split_words(message))
    captures(template, message)
