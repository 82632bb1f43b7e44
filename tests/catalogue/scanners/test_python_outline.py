"""Functions that tell of no error are left out before a file is parsed: nothing may be lost by it, and no line may move."""

from __future__ import annotations

import ast
import dataclasses
import sysconfig
import textwrap
import warnings
from pathlib import Path

import pytest

from bot.catalogue.scanners import Raised, scan_file
from bot.catalogue.scanners import python as scanner
from bot.catalogue.scanners.python.outline import outline
from bot.catalogue.sources import SourceFile

PLAIN = '''
    def count(values):
        """How many there are."""
        total = 0
        for value in values:
            total += 1
        return total
'''


def bodies(source: str) -> dict[str, tuple[int, int | None, int]]:
    """The functions of a source: first and last line, and the number of their statements."""
    tree = ast.parse(textwrap.dedent(source))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {node.name: (node.lineno, node.end_lineno, len(node.body)) for node in functions}


def test_a_function_without_errors_keeps_its_name_and_lines_only() -> None:
    source = textwrap.dedent(PLAIN) + "\n\nasync def wait(\n    one,\n    two,\n):\n    await one\n    await two\n\nend = 1\n"
    before, after = bodies(source), bodies(outline(source))
    assert {name: lines[:2] for name, lines in before.items()} == {name: lines[:2] for name, lines in after.items()}
    assert {name: lines[2] for name, lines in after.items()} == {"count": 1, "wait": 1}
    assert outline(source).endswith("\nend = 1\n")
    assert source.count("\n") == outline(source).count("\n")


@pytest.mark.parametrize(
    "line",
    [
        "raise ValueError(total)",
        "assert total",
        "log.error(total)",
        "return 'no values are left'",
        "return f'{total} values'",
        "return (\n            'no values'\n        )",
        "return _NO_VALUES",
        "self.reason = reason",
        "self.last = error_text",
        "check(total, 'no values are left')",
        "check(total, msg)",
        "sys.exit(total)",
        "from other import check",
        "parser.add_argument('--x')",
        'check("""no\n        values""")',
        "abort(404)",
    ],
)
def test_a_function_that_may_tell_of_an_error_stays(line: str) -> None:
    source = f"class A:\n    def f(self, total, msg, reason, error_text):\n        '''Counts.'''\n        total += 1\n        {line}\n"
    assert outline(source) == source


def test_what_an_exception_class_does_with_its_text_stays() -> None:
    source = """
        class Broken(
            LookupError
        ):
            def __init__(self, name, size):
                self.name = name
                self.size = size
                super().__init__(f"{name}:{size}")

            def __str__(self):
                name = self.name
                size = self.size
                return f"{name}={size}"
    """
    assert outline(textwrap.dedent(source)) == textwrap.dedent(source)


def test_a_definition_inside_of_a_text_is_text() -> None:
    source = 'TEMPLATE = """\ndef run(x):\n    x += 1\n    x += 2\n    x += 3\n"""\nraise ValueError(TEMPLATE)\n'
    (raised,) = scan_file(SourceFile("a/b.py", source.encode()))
    assert str(raised.template) == "\ndef run(x):\n    x += 1\n    x += 2\n    x += 3\n"


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    x = g(\n1,\n2)\n    return x\n\nraise ValueError('what follows is read')\n",
        "def f():\n    x = 1 + \\\n2\n    y = 2\n    return x\n\nraise ValueError('what follows is read')\n",
        "x = '''\n\ndef f():\n    y = 1\n    z = 2\n    return z\n'''\nraise ValueError('what follows is read')\n",
        '# a stray """ in a comment\ndef f():\n    y = 1\n    z = 2\n    return z\n\nraise ValueError(\'what follows is read\')\n',
    ],
)
def test_a_line_further_left_than_its_function_harms_nothing(source: str) -> None:
    (raised,) = scan_file(SourceFile("a/b.py", source.encode()))
    assert (raised.line, str(raised.template)) == (source.count("\n"), "what follows is read")


def test_the_standard_library_is_read_alike_with_and_without(monkeypatch: pytest.MonkeyPatch) -> None:
    # A private function may be entered from a function within a public one: the public one is named when the inner one is left out.
    folder = Path(sysconfig.get_paths()["stdlib"])
    files = [SourceFile(path.name, path.read_bytes()) for path in sorted(folder.glob("*.py"))[::2]]

    def found() -> list[Raised]:
        return [dataclasses.replace(raised, entry="") for file in files for raised in scan_file(file)]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        short = sum(len(outline(file.text.decode("utf-8", "replace"))) for file in files) / sum(len(file.text) for file in files)
        outlined = found()
        monkeypatch.setattr(scanner, "outline", lambda text: text)
        assert outlined == found()
    assert short < 0.95
