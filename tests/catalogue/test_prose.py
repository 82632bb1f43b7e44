"""What is remarked of the wording and the code of a record, and what is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.catalogue.prose import check_prose, undefined_names
from bot.model import Example, Record, Sample, Template, Translation

RECORD = Record(
    id="0" * 16,
    repository="octo/engine",
    type="ValueError",
    templates=(Template.parse("The cache holds {size} entries, and needs {len(want)}"),),
    title="The cache is smaller than a batch",
    meaning="The cache holds {size} entries. `just run --simply` is code; the batch needs {len(want)}.",
    solutions=("Start with a cache of at least {len(want)} entries", "See [the guide](https://docs.example.org/i/we/just) first"),
    example=Example("run --cache 3", "run --cache 4"),
    guard="import os\n\ndef fits(size: int) -> bool:\n    wanted = [n for n in os.environ if n]\n    return size >= len(wanted)",
    samples=(Sample("a"), Sample("b")),
    confusers=(Sample("c"),),
)


def remarks(**changed: object) -> list[tuple[tuple[str | int, ...], str]]:
    return [(remark.where, remark.problem) for remark in check_prose(replace(RECORD, **changed))]  # type: ignore[arg-type]


def test_a_good_record_gets_no_remark() -> None:
    assert remarks() == []


@pytest.mark.parametrize(
    ("meaning", "said"),
    [
        ("Simply restart.", "“Simply” says nothing"),
        ("It is, of course, slow.", "“of course” says nothing"),
        ("We restart it.", "“We” is in the first person"),
        ("I restart it.", "“I” is in the first person"),
        ("The value {sise} is small.", "the template has no hole {sise}"),
        ("The value {want} is small.", "the template has no hole {want}"),
        ("word " * 31, "a sentence of 31 words (“word word word word word …”)"),
    ],
)
def test_wording(meaning: str, said: str) -> None:
    assert remarks(meaning=meaning) == [(("meaning",), said)]


@pytest.mark.parametrize(
    "meaning",
    [
        "An I/O error, an easier way, a justified text, US units.",
        f"A code span counts as one: `{'word ' * 40}` and so it is short.",
        "Thirty words are " + "word " * 20 + ". " + "Word " * 28 + "end; " + "word " * 28 + "end.",
        'A body such as {"type": "json"} or {} is no hole.',
    ],
)
def test_what_is_no_fault_of_wording(meaning: str) -> None:
    assert remarks(meaning=meaning) == []


def test_a_part_of_a_list_is_named_by_its_number() -> None:
    assert remarks(solutions=("Restart", "Please restart")) == [(("solutions", 1), "“Please” says nothing")]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def f(:\n    pass", "`guard` is no Python: invalid syntax"),
        ("assert size > 0", "`guard` uses `size`, which it neither defines nor imports"),
        ("def f(a):\n    return a + b", "`guard` uses `b`, which it neither defines nor imports"),
    ],
)
def test_code_must_stand_by_itself(code: str, said: str) -> None:
    assert remarks(guard=code) == [(("guard",), said)]


def test_names_are_looked_up_in_their_scopes() -> None:
    assert (
        undefined_names("try:\n    import x\nexcept ImportError as error:\n    x = error\nprint(x.y, __name__, [i for i in range(3)])")
        == ()
    )
    assert undefined_names("class A:\n    b = 1\n    def c(self):\n        return b + self.b") == ("b",)
    assert undefined_names("def f():\n    global g\n    g = 1\n\ndef h():\n    return g + (lambda z: z + q)(1)") == ("q",)
    with pytest.raises(SyntaxError):
        undefined_names("pip install engine")


def test_two_examples_and_a_confuser_are_needed() -> None:
    assert remarks(samples=(Sample("a"),), confusers=()) == [
        (("examples",), "1 example, and 2 are needed"),
        (("examples",), "no confuser"),
    ]


def test_a_translation_has_the_same_holes_and_as_many_solutions() -> None:
    told = Translation("zh", meaning="缓存只有 {sise} 项。", solutions=("重启",))
    assert remarks(translations=(told,)) == [
        (("meaning_zh",), "the template has no hole {sise}"),
        (("solutions_zh",), "solutions_zh has 1 entries, and solutions 2"),
    ]
