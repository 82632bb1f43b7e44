"""Templates are written and read without loss; ids stay what they are."""

import ast
import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.model import Hole, Template, record_id

NAMES = st.sampled_from(["x", "self.name", "a[1:2]", "d['k}']", 'f("{", y)', "{1, 2}", "{'a': 1}[k]", "(lambda: 0)()", "a != b", "a == b"])
SUFFIXES = st.sampled_from(["", "!r", "!s", ":>10", "!r:>{width}", ":'>4", ":.2f", ":%Y-%m-%d", ":=+5"])
HOLES = st.builds(Hole, NAMES, SUFFIXES)
LITERALS = st.text(st.one_of(st.sampled_from("{}'\"\\:!= "), st.characters()), max_size=12)
TEMPLATES = st.lists(st.one_of(LITERALS, HOLES), max_size=6).map(lambda parts: Template.of(*parts))


@given(TEMPLATES)
@example(Template.of("a{", Hole("x"), "}b"))
@example(Template.of(Hole("{1, 2}"), Hole("{}", "!r")))
def test_a_written_template_is_read_back(template: Template) -> None:
    assert Template.parse(str(template)) == template


@given(st.text(st.sampled_from("{}!r:='\"[]ab \\"), max_size=20))
def test_any_text_is_read_or_refused_with_a_reason(text: str) -> None:
    try:
        template = Template.parse(text)
    except ValueError as error:
        reason = str(error)
    else:
        reason = "of the template" if Template.parse(str(template)) == template else "read otherwise"
    assert "of the template" in reason


@pytest.mark.parametrize(
    "written",
    [
        "got {x!r:>{w}} of {y:.2f}",
        "{ {1: 2} } and {{braces}}",
        "{d['}']} then {d[\"'\"]}",
        "{x:'>4} quoted fill",
        "{a != b} {a == b!r}",
        "{x=} {y = :.1f} {z=!s}",
    ],
)
def test_holes_are_those_that_python_sees(written: str) -> None:
    (joined,) = (ast.parse(f"f'''{written}'''", mode="eval").body.values,)  # type: ignore[attr-defined]
    seen = [
        part.value if isinstance(part, ast.Constant) else (ast.unparse(part.value), chr(part.conversion) if part.conversion > 0 else "")
        for part in joined
    ]
    template = Template.parse(written)
    read = [
        part if isinstance(part, str) else (ast.unparse(ast.parse(part.expression, mode="eval")), _conversion(part.suffix))
        for part in template.parts
    ]
    assert read == seen


def _conversion(suffix: str) -> str:
    return suffix[1] if suffix.startswith("!") else ""


@pytest.mark.parametrize(
    ("written", "where"), [("a {b", "'{' at character 2"), ("a } b", "'}' at character 2"), ("{a['}", "'{' at character 0")]
)
def test_a_brace_without_its_partner_is_named(written: str, where: str) -> None:
    with pytest.raises(ValueError, match="write '") as caught:
        Template.parse(written)
    assert where in str(caught.value)


def test_names_of_holes_do_not_count_but_holes_do() -> None:
    skeletons = {Template.parse(text).skeleton for text in ("no file {a}", "no file {b!r:>9}", "no file {}")}
    assert len(skeletons) == 1
    assert Template.parse("no file").skeleton not in skeletons
    assert Template.parse("no file {{}}").skeleton not in skeletons


def test_a_template_of_holes_alone_is_known_by_what_fills_them() -> None:
    assert Template.parse("{a}: {b}").skeleton != Template.parse("{a}: {c}").skeleton
    assert Template.parse("{a} x").skeleton == Template.parse("{c} x").skeleton


def test_an_id_depends_on_repository_type_and_text() -> None:
    text, other = Template.parse("no file {a}"), Template.parse("no folder {a}")
    ids = {
        record_id("o/r", "ValueError", text),
        record_id("o/s", "ValueError", text),
        record_id("o/r", "KeyError", text),
        record_id("o/r", "ValueError", other),
        record_id("o/r", "AssertionError", Template(()), "a == b"),
        record_id("o/r", "AssertionError", Template(()), "a == c"),
    }
    assert len(ids) == 6
    assert all(len(id) == 16 and int(id, 16) >= 0 for id in ids)
    assert record_id("O/R", "ValueError", Template.parse("no file {renamed!r}")) == record_id("o/r", "ValueError", text)
    assert record_id("o/r", "ValueError", text, "ignored beside a message") == record_id("o/r", "ValueError", text)


def test_an_id_is_the_same_in_another_process() -> None:
    code = "from bot.model import *; print(record_id('o/r', 'ValueError', Template.parse('no \\ud800 {a}')))"
    runs = {
        subprocess.run([sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True).stdout
        for seed in ("1", "2")
    }
    assert runs == {record_id("o/r", "ValueError", Template.parse("no \ud800 {b}")) + "\n"}
