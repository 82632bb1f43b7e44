"""Python files that this Python cannot parse: newer forms, and broken code among good code."""

from __future__ import annotations

import textwrap

import pytest

from bot.catalogue.scanners import Raised, Unreadable, scan_file
from bot.catalogue.scanners.python.tolerant import parse_tolerantly
from bot.catalogue.sources import SourceFile


def scan(source: str) -> list[Raised]:
    return list(scan_file(SourceFile("pack/mod.py", textwrap.dedent(source).encode())))


def found(source: str) -> list[tuple[str, str, int]]:
    return [(raised.function, str(raised.template), raised.line) for raised in scan(source)]


def test_except_without_brackets() -> None:
    (raised,) = scan(
        """
        def load(path):
            try:
                read(path)
            except OSError, ValueError:
                raise LoadError(f"cannot read {path}")
        """
    )
    assert (raised.line, raised.code) == (6, 'raise LoadError(f"cannot read {path}")')
    assert [(one.kind, one.text) for one in raised.conditions] == [("try", "read(path)"), ("except", "(OSError, ValueError)")]


def test_a_group_without_brackets() -> None:
    source = "try:\n    go()\nexcept* A, B:\n    raise ValueError('group of two')\n"
    assert found(source) == [("<module>", "group of two", 4)]


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("""t"got {value!r} of {kind}" """, "got {value!r} of {kind}"),
        ("""f"no {data["key"]} here" """, "no {data['key']} here"),
        ("""f"no {', '.join(d["k"])} here" """, "no {...} here"),
        ("""f"no {f"{inner}"} here" """, "no {inner} here"),
        ("""f"no {'\\n'.join(lines):>9} here" """, "no {...:>9} here"),
    ],
)
def test_newer_strings(text: str, template: str) -> None:
    assert found(f"except_ = 1\ntype X = int\nraise ValueError({text})\n") == [("<module>", template, 3)]


def test_a_string_over_lines_keeps_the_lines_below() -> None:
    source = 'def f(n):\n    raise ValueError(f"no {\n        n\n    } here")\n\ndef g():\n    raise KeyError("key")\n'
    assert [(function, line) for function, _, line in found(source)] == [("f", 2), ("g", 7)]
    assert found(source)[0][1] == "no {n} here"


def test_type_parameters() -> None:
    source = """
        type Pair[T] = tuple[T, T]
        def first[T: int = int](value: T) -> T:
            raise ValueError("first text")
        class Box[
            K,
            V,
        ]:
            def get[A](self):
                raise ValueError("second text")
        class Other[
            T,
        ](Base):
            def put(self):
                raise ValueError("third text")
    """
    assert found(source) == [("first", "first text", 4), ("Box.get", "second text", 10), ("Other.put", "third text", 15)]


def test_a_broken_function_among_good_ones() -> None:
    source = """
        def good():
            raise ValueError("first text")

        def broken(:
            raise ValueError("maybe")

        class Place:
            def odd(self):
                x = = 3
                raise ValueError("second text")

            def fine(self, n):
                if n > 3:
                    raise ValueError("third text")

        def last():
            raise ValueError("fourth text")
    """
    good = [one for one in found(source) if one[1] != "maybe"]
    assert good == [
        ("good", "first text", 3),
        ("Place.odd", "second text", 11),
        ("Place.fine", "third text", 15),
        ("last", "fourth text", 18),
    ]


def test_a_file_for_python_2() -> None:
    source = """
        def f(x):
            print "starting", x
            try:
                g()
            except ValueError, error:
                raise IOError, "could not start"
    """
    assert ("f", "could not start", 7) in found(source)


def test_what_ast_refuses_but_the_grammar_takes_is_left_out_alone() -> None:
    source = """
        def outside():
            raise ValueError("before it")
        def inside():
            x = 1
            nonlocal_ = (yield) = 3
            raise ValueError("behind it")
    """
    assert found(source) == [("outside", "before it", 3), ("inside", "behind it", 7)]


def test_what_is_no_python_is_named() -> None:
    with pytest.raises(Unreadable, match="cannot be parsed"):
        scan("?")


@pytest.mark.parametrize(
    "source", ["(" * 500, "def f(:\n" * 500, "if x:\n" + " " * 3 + "y = = 1\n", 'f"{' * 200, "class A[\n" * 100, "\x00"]
)
def test_nothing_makes_it_fail(source: str) -> None:
    parse_tolerantly(source)
