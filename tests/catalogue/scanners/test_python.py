"""What the Python scanner reads off statements: texts, types, places and conditions. Small sources, with what Python itself prints."""

from __future__ import annotations

import textwrap

import pytest

from bot.catalogue.scanners import Raised, Unreadable, scan_file
from bot.catalogue.sources import SourceFile
from bot.model import Template


def scan(source: str, path: str = "python/pack/mod.py") -> list[Raised]:
    return list(scan_file(SourceFile(path, textwrap.dedent(source).encode())))


def texts(source: str) -> list[str]:
    return [str(raised.template) for raised in scan(source)]


@pytest.mark.parametrize(
    ("expression", "template"),
    [
        ('"plain"', "plain"),
        ('"one " "two"', "one two"),
        ('"one " + name + " two"', "one {name} two"),
        ('"a" + ("b" + ("c" + x))', "abc{x}"),
        ('f"got {x!r:>10} and {y:.{digits}f}"', "got {x!r:>10} and {y:.{digits}f}"),
        ('f"{res=}, {res.text=}"', "res={res!r}, res.text={res.text!r}"),
        ('f"{{literal}} {value}"', "{{literal}} {value}"),
        ("f\"in {[k for k in d if k]} of {d['a']}\"", "in {[k for k in d if k]} of {d['a']}"),
        ('"%s has %d of 100%%" % (name, count)', "{name} has {count:d} of 100%"),
        ('"only %r" % thing', "only {thing!r}"),
        ('"%(a)s and %(b).2f" % {"a": left, "b": right}', "{left} and {right:.2f}"),
        ('"%-5s|%5s" % (a, b)', "{a:<5}|{b:>5}"),
        ('"%s of %s" % pair', "{pair[0]} of {pair[1]}"),
        ('"{} then {name!r}".format(first, name=second)', "{first} then {second!r}"),
        ('"{1}{0:>4}".format(a, b)', "{b}{a:>4}"),
        ('"{x.y}".format(x=obj) + " here"', "{obj.y} here"),
        ('", ".join(["a", "b", tail])', "a, b, {tail}"),
        ('"sum: " + ", ".join(names)', "sum: {', '.join(names)}"),
        ('textwrap.dedent("""\\n    one\\n      two {x}\\n    """)', "\none\n  two {{x}}\n"),
        ('_("Translate %s") % what', "Translate {what}"),
        ('str("inner")', "inner"),
        ("str(error)", "{error}"),
        ('"-" * 5 + " rule"', "----- rule"),
    ],
)
def test_an_expression_says(expression: str, template: str) -> None:
    assert texts(f"raise ValueError({expression})") == [template]


def test_every_template_can_be_read_back() -> None:
    source = """
        raise ValueError(f"{ {'a': 1}[k] } {d['x:y']} {a != b} {(lambda q: q)(1)} {(lambda: 1)}"
            f"{p if x else (lambda: 1)} {'!r:'} {x[1:2]} {{}}")
    """
    (raised,) = scan(source)
    assert Template.parse(str(raised.template)) == raised.template


def test_conditional_expressions_are_alternatives() -> None:
    assert texts('raise ValueError("a is wrong" if x else "b is wrong")') == ["a is wrong", "b is wrong"]


def test_a_choice_of_single_words_stays_a_hole() -> None:
    assert texts("""raise ValueError(f"{'one' if x else 'two'} failed")""") == ["{'one' if x else 'two'} failed"]


def test_text_through_branches() -> None:
    source = """
        def check(size, hint):
            msg = "Not enough memory."
            if hint is not None:
                msg += f" Current value: {hint}"
            raise RuntimeError(msg)
    """
    assert texts(source) == ["Not enough memory.", "Not enough memory. Current value: {hint}"]


def test_text_set_before_a_nested_raise() -> None:
    source = """
        def handle(cfg):
            if cfg.backend == "flash":
                error = "module not available."
                if cfg.rounding:
                    error += " Rounding requires it."
                if found():
                    try:
                        import flash.mamba  # noqa
                        note("ok")
                    except (ImportError, AttributeError):
                        raise ValueError(error)
                else:
                    raise ValueError(error)
    """
    found = scan(source)
    assert [(raised.line, str(raised.template)) for raised in found] == [
        (12, "module not available."),
        (12, "module not available. Rounding requires it."),
        (14, "module not available."),
        (14, "module not available. Rounding requires it."),
    ]
    assert [(condition.kind, condition.text) for condition in found[0].conditions] == [
        ("if", "cfg.backend == 'flash'"),
        ("if", "found()"),
        ("try", "import flash.mamba\nnote('ok')"),
        ("except", "(ImportError, AttributeError)"),
    ]
    assert found[2].conditions[-1].kind == "unless"


def test_a_branch_that_leaves_adds_no_alternative() -> None:
    source = """
        def f(a):
            msg = "first text"
            if a:
                msg = "never raised"
                return
            raise ValueError(msg)
    """
    assert texts(source) == ["first text"]


def test_text_collected_in_a_loop_keeps_its_beginning() -> None:
    source = """
        def f(names):
            msg = "Missing names:"
            for name in names:
                msg += f" {name}"
            raise ValueError(msg + ".")
    """
    found = texts(source)
    assert found[0] == "Missing names:."
    assert found[1].startswith("Missing names:{msg}")


def test_too_many_alternatives_become_a_hole() -> None:
    lines = "\n".join(f'    if c{n}:\n        msg += " part number {n}"' for n in range(6))
    assert texts(f'def f():\n    msg = "start of it"\n{lines}\n    raise ValueError("Bad: " + msg)') == ["Bad: {msg}"]


def test_a_local_exception_is_followed() -> None:
    source = """
        def f(x):
            err = ValueError(f"bad {x}")
            kind = KeyError
            if x:
                raise err
            raise kind("no such key")
    """
    assert [(raised.type, str(raised.template), raised.line) for raised in scan(source)] == [
        ("ValueError", "bad {x}", 6),
        ("KeyError", "no such key", 7),
    ]


def test_what_is_raised_again_is_no_site() -> None:
    source = """
        def f(given):
            try:
                g()
            except ValueError as error:
                if error.args:
                    raise
                raise error
            raise given
    """
    assert scan(source) == []


def test_types_are_as_python_prints_them() -> None:
    source = """
        raise EnvironmentError("a text")
        raise mod.sub.OwnError("b text")
        raise StopIteration
        raise HTTPException(status_code=404, detail=f"no {x}")
        raise HTTPException(404, "not here")
        raise ValueError("c text").with_traceback(tb) from None
        raise unknown_maker("some longer text")
    """
    assert [(raised.type, str(raised.template)) for raised in scan(source)] == [
        ("OSError", "a text"),
        ("OwnError", "b text"),
        ("StopIteration", ""),
        ("HTTPException", "no {x}"),
        ("HTTPException", "not here"),
        ("ValueError", "c text"),
        ("Exception", "some longer text"),
    ]


@pytest.mark.parametrize("call", ["ValueError('a', 3)", "OSError(2, 'No such file')", "OSError(2, 'No', 'f.txt')", "KeyError(5)"])
def test_several_arguments_print_as_python_does(call: str) -> None:
    assert texts(f"raise {call}") == [str(eval(call))]  # the oracle is Python itself


def test_asserts() -> None:
    source = """
        assert x  ==  y
        assert x, "x is missing"
        assert a > 0, (a, "both")
    """
    first, second, third = scan(source)
    assert (first.type, first.kind, str(first.template), first.expression) == ("AssertionError", "assert", "", "x == y")
    assert (str(second.template), second.expression) == ("x is missing", "")
    assert second.conditions[-1].kind == "assert"
    assert str(third.template) == "({a!r}, 'both')"


def test_logs_and_warnings() -> None:
    source = """
        logger.error("lost %s after %d", name, count)
        self.log.exception(f"failed {x}")
        logger.info("not looked for")
        logger.warning_once("careful with it")
        warnings.warn("old way", DeprecationWarning)
        logging.log(logging.CRITICAL, "over")
        logger.error(e)
    """
    assert [(raised.kind, raised.type, str(raised.template)) for raised in scan(source)] == [
        ("log", "log:error", "lost {name} after {count:d}"),
        ("log", "log:error", "failed {x}"),
        ("warning", "log:warning", "careful with it"),
        ("warning", "log:warning", "old way"),
        ("log", "log:error", "over"),
    ]


def test_ways_out_of_the_program() -> None:
    source = """
        def main(parser):
            parser.error("--x needs --y")
            sys.exit("bye for now")
            sys.exit(3)
    """
    assert [(raised.type, str(raised.template), raised.through) for raised in scan(source)] == [
        ("SystemExit", "--x needs --y", "parser.error"),
        ("SystemExit", "bye for now", "sys.exit"),
    ]


def test_place_function_signature_and_code() -> None:
    source = """
        class Kernel:
            def __init__(self, fast: bool = True, *, size=1) -> None:
                if fast or size:
                    try:
                        import quick  # noqa: F401
                    except ModuleNotFoundError as error:
                        if error.name != "quick":
                            raise
                        raise ImportError(
                            "Quick is required. "  # why
                            "Install it with: pip install quick"
                        ) from None

            def run(self):
                def inner():
                    raise ValueError("from inside")
    """
    first, second = scan(source)
    assert (first.function, first.line, first.end_line) == ("Kernel.__init__", 10, 13)
    assert first.code.split("\n")[0] == "raise ImportError("
    assert first.code.split("\n")[1] == '"Quick is required. "  # why'
    assert first.signature == "__init__(self, fast: bool=True, *, size=1)"
    assert [(condition.kind, condition.text) for condition in first.conditions] == [
        ("if", "fast or size"),
        ("try", "import quick"),
        ("except", "ModuleNotFoundError"),
        ("unless", "error.name != 'quick'"),
    ]
    assert second.function == "Kernel.run.inner"
    assert second.conditions == ()


def test_long_statements_keep_twelve_lines_of_code() -> None:
    parts = "\n".join(f'    "part {n} "' for n in range(30))
    (raised,) = scan(f"raise ValueError(\n{parts}\n)")
    assert raised.code.count("\n") == 11
    assert (raised.line, raised.end_line) == (1, 32)


def test_tests_that_left_the_block_are_conditions() -> None:
    source = """
        def f(a, b):
            if a is None:
                return
            elif a < 0:
                raise ValueError("negative")
            for item in b:
                if not item:
                    continue
                raise ValueError("has items")
    """
    conditions = {str(raised.template): [(c.kind, c.text) for c in raised.conditions] for raised in scan(source)}
    assert conditions["negative"] == [("unless", "a is None"), ("if", "a < 0")]
    assert conditions["has items"] == [("unless", "a is None"), ("unless", "a < 0"), ("for", "item in b"), ("unless", "not item")]


def test_constants_of_module_and_class() -> None:
    source = """
        PREFIX = "Something broke"
        twice = "one thing"
        def f():
            global twice
            twice = g()
        class Kind(Enum):
            FAST = "fast"
        class Thing:
            HELP = "ask for help"
            def run(self, e):
                raise ValueError(f"{PREFIX}: {self.HELP} {LATER} {twice} {Kind.FAST} {Kind.FAST.value} {e}")
        LATER = "at the end"
    """
    assert texts(source) == ["Something broke: ask for help at the end {twice} {Kind.FAST} fast {e}"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"def (:\n", "cannot be parsed"),
        (b"x = 1\x00\n", "cannot be parsed"),
        (b"# coding: no-such-thing\nx = 1\n", "cannot be decoded"),
        (b"x = '\xff\xfe'\n", "cannot be decoded"),
        (b"x = " + b"(" * 5000 + b")" * 5000, "cannot be parsed"),
        (b"x = " + b"-" * 200_000 + b"1", "cannot be parsed"),
    ],
)
def test_what_cannot_be_read_is_named(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        list(scan_file(SourceFile("a.py", data)))


def test_other_encodings_and_line_ends() -> None:
    data = '# -*- coding: latin-1 -*-\r\nraise ValueError("größer")\r\n'.encode("latin-1")
    (raised,) = scan_file(SourceFile("a.py", data))
    assert (str(raised.template), raised.line, raised.code) == ("größer", 2, 'raise ValueError("größer")')


def test_long_chains_do_not_exhaust_the_stack() -> None:
    chain = "if a:\n    pass\n" + "".join(f"elif b == {n}:\n    raise ValueError('number {n}')\n" for n in range(150))
    assert len(texts(chain)) == 150
    assert texts("raise ValueError(" + " + ".join(f"'w{n} '" for n in range(400)) + ")")[0].startswith("w0 w1 w2 ")


def test_a_function_of_itself_ends() -> None:
    source = """
        def explain_error(error):
            return f"this went wrong: {error}"
        def f(error):
            error = explain_error(error)
            raise ValueError(error)
    """
    assert texts(source)[0].startswith("this went wrong:")
