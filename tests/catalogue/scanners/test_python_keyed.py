"""Texts that a raise names by an attribute or a key: those of bases and subclasses, of a class's messages, of files beside the code."""

from __future__ import annotations

import textwrap

import pytest

from bot.catalogue.scan import Scan
from bot.catalogue.scan import scan as scan_all
from bot.catalogue.sources import SourceFile


def scan(**sources: str) -> Scan:
    """Files by name: ``__`` is a slash, and what has no ending is Python."""
    files = []
    for name, text in sources.items():
        path, _, ending = name.replace("__", "/").partition("_DOT_")
        files.append(SourceFile(f"{path}.{ending or 'py'}", textwrap.dedent(text).encode()))
    return scan_all(files, processes=1)


def said(found: Scan) -> list[tuple[int, str]]:
    return [(raised.line, str(raised.template)) for raised in found.raised]


BASE = """
    class Base:
        _msg = "The value %s is not unique"
        def f(self, x):
            raise ValueError(self._msg % x)
"""


@pytest.mark.parametrize("read", ["self._msg", "cls._msg", "type(self)._msg", "self.__class__._msg"])
def test_a_message_of_the_class_however_it_is_read(read: str) -> None:
    assert said(scan(a=BASE.replace("self._msg", read))) == [(5, "The value {x} is not unique")]


@pytest.mark.parametrize("own", ["", "_msg: str", "_msg = None"])
def test_each_subclass_that_sets_a_message_adds_one(own: str) -> None:
    below = """
    class Column(Base):
        _msg = "The column %s is not unique here"
    class Row(Column):
        _msg = "The row %s is not unique here"
    class Other:
        _msg = "This has nothing to do with %s"
    """
    first = BASE if not own else BASE.replace('_msg = "The value %s is not unique"', own)
    texts = ["The column {x} is not unique here", "The row {x} is not unique here"]
    assert said(scan(a=first + below)) == [(5, text) for text in ([] if own else ["The value {x} is not unique"]) + texts]


def test_subclasses_in_other_files_add_theirs_when_they_import_this_very_base() -> None:
    found = scan(
        p__a=BASE,
        p____init__="from .a import Base\n",
        p__b="from p.a import Base\nclass Column(Base):\n    _msg = 'The column %s is not unique here'\n",
        r__b="from p import Base\nclass Sub(Base): pass\nclass Low(Sub):\n    _msg = 'The lowest %s is not unique here'\n",
        s__b="from r.b import Sub\nclass Lowest(Sub):\n    _msg = 'The text of s for %s is below'\n",
        q__a="class Base: pass\n",
        q__b="from q.a import Base\nclass Sub(Base):\n    _msg = 'The text of q for %s is another'\n",
    )
    texts = (
        "The value {x} is not unique",
        "The column {x} is not unique here",
        "The lowest {x} is not unique here",
        "The text of s for {x} is below",
    )
    assert said(found) == [(5, text) for text in texts]


def test_a_message_of_a_base_above_the_base() -> None:
    below = "class Middle(Base): pass\nclass Low(Middle):\n    def g(self, x):\n        raise KeyError(self._msg % x)\n"
    assert (9, "The value {x} is not unique") in said(scan(a=textwrap.dedent(BASE) + below))


FIELDS = """
    class Field:
        default_error_messages = {"required": "This field is required."}
        def run(self, data):
            self.fail("required")
            self.fail(data)
            self.fail("unknown")
    class Number(Field):
        default_error_messages = {"large": "Take at most {most}.", "invalid": _("Give a valid number.")}
        def check(self, most):
            self.fail("large", most=most)
            raise self.make_error("required")
    class Whole(Number):
        default_error_messages = {"invalid": "Give a valid whole number."}
        def check(self):
            self.fail("invalid")
"""


def test_messages_that_fail_names_by_key() -> None:
    found = scan(a=FIELDS)
    assert said(found) == [
        (5, "This field is required."),
        (11, "Take at most {most}."),
        (12, "This field is required."),
        (16, "Give a valid whole number."),
    ]
    assert {(raised.type, raised.through) for raised in found.raised} == {("ValidationError", "fail"), ("ValidationError", "")}


def test_fail_of_a_class_without_messages_is_given_the_text_itself() -> None:
    (raised,) = scan(a="class T:\n    def test(self):\n        self.fail('no such file or folder')\n").raised
    assert (str(raised.template), raised.type) == ("no such file or folder", "")


def test_error_messages_are_the_defaults_of_the_class_and_params_fill_them() -> None:
    source = """
        class Field:
            default_error_messages = {"invalid": _("%(value)s is no valid choice."), "null": "This cannot be null."}
            def f(self, value):
                raise ValidationError(self.error_messages["invalid"], code="invalid", params={"value": value})
        class Text(Field):
            default_error_messages = {"long": "Too long"}
            def g(self, n):
                raise ValidationError(self.error_messages["null"])
                raise ValidationError(_("It has %(count)d too many"), params={"count": n})
    """
    assert said(scan(a=source)) == [(5, "{value} is no valid choice."), (9, "This cannot be null."), (10, "It has {n:d} too many")]


def test_error_messages_that_the_class_sets_itself() -> None:
    source = """
        class Form:
            error_messages = {"login": "Give the right name and password."}
            def clean(self):
                raise ValidationError(self.error_messages["login"])
    """
    assert said(scan(a=source)) == [(5, "Give the right name and password.")]


@pytest.mark.parametrize(
    "read",
    [
        "ERRORS = json.load(open('my_errors.json'))",
        "ERRORS = json.loads(Path(__file__).with_name('my_errors.json').read_text())",
        "with open(Path(__file__).parent / 'my_errors.json') as file:\n    ERRORS = json.load(file)",
    ],
)
def test_a_file_of_messages_beside_the_code(read: str) -> None:
    held = '{"key": "No room for {n} more", "number": 3, "nested": {"key": "text"}}'
    uses = "def f(x):\n    raise ValueError(ERRORS['key'].format(n=x))\ndef g():\n    raise KeyError(ERRORS['number'])\n"
    texts = ["No room for {x} more", "{ERRORS['number']}"]
    assert [text for _, text in said(scan(a=f"{read}\n{uses}", my_errors_DOT_json=held))] == texts
    elsewhere = scan(p__m=f"{read}\n", p__a=f"from p.m import ERRORS\n{uses}", p__my_errors_DOT_json=held)
    assert [text for _, text in said(elsewhere)] == texts


def test_messages_in_yaml_and_files_that_are_neither() -> None:
    found = scan(
        a="MESSAGES = yaml.safe_load(open('messages.yaml'))\ndef f(x):\n    raise ValueError(MESSAGES['full'])\n",
        messages_DOT_yaml="full: There is no room left\n",
        bad__errors_DOT_json="{",
        bad__errors_DOT_yml="a: [",
        bad__messages_DOT_yml=f"a: {'x' * 200_000}\n",
    )
    assert said(found) == [(3, "There is no room left")]
    assert [(one.path, one.reason.split(":")[0]) for one in found.skipped] == [
        ("bad/errors.json", "cannot be read as JSON"),
        ("bad/errors.yml", "cannot be read as YAML"),
        ("bad/messages.yml", "has 200,004 bytes, more than 200,000 of YAML"),
    ]
