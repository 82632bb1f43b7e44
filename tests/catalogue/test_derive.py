"""What the code itself says of an error."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from bot.catalogue.derive import guard, handler, is_public, remedies
from bot.catalogue.source_config import SourceConfig
from bot.model import Condition, RaiseSite, SiteLines
from bot.model.conditions import opposite

CONFIG = SourceConfig(repository="a/b", package="b", path_prefix={"b/": "python/b/"}, releases=("1",))


@pytest.mark.parametrize(
    ("message", "advice"),
    [
        ("The quick package is required. Install it with: pip install quick==1.4.0", ("`pip install quick==1.4.0`",)),
        ("No quick. Please install it with `pip install quick`.", ("`pip install quick`",)),
        ("Needs ray. Install with: pip install 'ray[serve]'", ("`pip install 'ray[serve]'`",)),
        ("Not enough memory. Please try to increase --mem-fraction.", ("Please try to increase `--mem-fraction`.",)),
        ("x is too large; use --chunked or lower n.", ("use `--chunked` or lower n.",)),
        (
            "Failed: {e}\nPossible solutions:\n1. set --mem to a smaller value\n2. disable graphs by --no-graph\n",
            ("set `--mem` to a smaller value", "disable graphs by `--no-graph`"),
        ),
        ("Timed out. Set BIG_TIMEOUT=600 to wait longer.", ("Set `BIG_TIMEOUT=600` to wait longer.",)),
        ("Old driver. See https://example.org/a_B-c for help.", ("See https://example.org/a_B-c for help.",)),
        ("Please set a smaller number for `--max-running`. free={n}", ("Please set a smaller number for `--max-running`.",)),
        ("Expected 3 values, got {n}", ()),
        ("Reduce-scatter input must be divisible by {n}", ()),
        ("Download failed because {reason}", ()),
        ("request window cannot exceed the server's", ()),
    ],
)
def test_remedies_are_what_the_message_advises(message: str, advice: tuple[str, ...]) -> None:
    assert remedies(message) == advice


@pytest.mark.parametrize("piece", ["pip install " * 2000, "--a" * 8000, "please " * 4000, "A_" * 9000, ". Use " * 4000, " (" * 9000])
def test_remedies_of_a_hostile_message_take_no_time(piece: str) -> None:
    started = time.process_time()
    assert len(remedies(piece)) <= 8
    assert time.process_time() - started < 1


def site(function: str, conditions: tuple[tuple[str, str], ...] = (), signature: str = "", path: str = "python/b/m.py") -> RaiseSite:
    return RaiseSite(
        path, function, (SiteLines("1", 1, 1),), conditions=tuple(Condition(*pair) for pair in conditions), signature=signature
    )


def test_guard_of_an_import_that_is_tried() -> None:
    found = guard([site("K.__init__", (("if", "fast"), ("try", "import quick"), ("except", "ModuleNotFoundError")))])
    assert found == 'from importlib.util import find_spec\n\nfind_spec("quick") is not None'
    deep = guard([site("f", (("try", "import quick.core\nnote()"), ("except", "(ImportError, AttributeError)")))])
    assert deep.endswith('find_spec("quick") is not None and find_spec("quick.core") is not None')
    for code in (found, deep):
        compile(code, "guard", "exec")


@pytest.mark.parametrize(
    ("condition", "check"),
    [
        (("if", "n % size != 0"), "n % size == 0"),
        (("if", "n is None or n < size"), "n is not None and n >= size"),
        (("if", "not isinstance(n, int)"), "isinstance(n, int)"),
        (("unless", "n in (1, 2)"), "n in (1, 2)"),
        (("assert", "len(n) == 2"), "len(n) == 2"),
        (("if", "self.n > 1"), ""),
        (("if", "n > limit"), ""),
        (("for", "n in size"), ""),
    ],
)
def test_guard_of_a_condition_on_parameters(condition: tuple[str, str], check: str) -> None:
    assert guard([site("f", (condition,), "f(n, *, size: int=3)")]) == check
    assert guard([site("_f", (condition,), "_f(n, *, size: int=3)")]) == ""


def test_guard_only_where_all_places_agree() -> None:
    one, other = (site("f", (("if", f"n > {limit}"),), "f(n)") for limit in (1, 2))
    assert guard([one, one]) == "n <= 1"
    assert guard([one, other]) == ""


def test_handler_of_a_public_function() -> None:
    found = handler("ImportError", [site("Kernel.__init__")], CONFIG)
    assert found.startswith("from b.m import Kernel\n\ntry:\n    Kernel(...)\nexcept ImportError as error:")
    compile(found, "handler", "exec")
    assert "f(...)" in handler("ValueError", [site("f", path="python/b/__init__.py")], CONFIG)


@pytest.mark.parametrize(
    ("type", "function", "path"),
    [
        ("AssertionError", "f", "python/b/m.py"),
        ("ValueError", "_f", "python/b/m.py"),
        ("ValueError", "<module>", "python/b/m.py"),
        ("ValueError", "K.run", "python/b/m.py"),
        ("ValueError", "f", "python/b/_m.py"),
        ("OwnError", "f", "python/b/m.py"),
    ],
)
def test_no_handler_where_the_code_shows_none(type: str, function: str, path: str) -> None:
    assert handler(type, [site(function, path=path)], CONFIG) == ""


def test_names_that_others_may_call() -> None:
    assert is_public("K.__init__")
    assert not is_public("K._run")
    assert not is_public("_K.run")


def test_an_import_is_no_guard_where_its_version_is_asked_for() -> None:
    caught = ("except", "ImportError")
    assert guard([site("K.run", (("try", "import quick\nif quick.__version__ < '1.2':"), caught))]) == ""
    assert 'find_spec("quick")' in guard([site("K.run", (("try", "import quick"), caught))])


def test_a_guard_for_a_function_whose_signature_was_cut_off() -> None:
    signature = "run(size: int, " + "".join(f"parameter_{number}: int=0, " for number in range(30))
    cut = signature[:397] + "..."
    assert guard([site("run", (("if", "size < 3"),), cut)]) == "size >= 3"
    assert guard([site("run", (("if", "parameter_29 < 3"),), cut)]) == ""


def test_a_module_that_is_imported_by_its_name() -> None:
    tried = (("try", "quick = importlib.import_module('quick.core')\nnote()"), ("except", "ImportError"))
    assert guard([site("f", tried)]).endswith('find_spec("quick") is not None and find_spec("quick.core") is not None')
    assert guard([site("f", (("try", "quick = import_module(name)"), ("except", "ImportError")))]) == ""


def test_a_handler_runs_what_is_a_coroutine() -> None:
    found = handler("ValueError", [site("run", signature="async run(size: int)")], CONFIG)
    assert (
        found == "import asyncio\n\nfrom b.m import run\n\ntry:\n    asyncio.run(run(...))\nexcept ValueError as error:\n    print(error)"
    )
    assert guard([site("run", (("if", "size < 3"),), "async run(size: int)")]) == "size >= 3"
    assert handler("ValueError", [replace(site("_run", signature="async _run()"), entry="run")], CONFIG) == ""
    assert handler("HTTPException", [replace(site("run"), code="raise HTTPException(400)")], CONFIG) == "", "the framework answers with it"


@pytest.mark.parametrize(
    ("condition", "other"),
    [
        ("a == b", "a != b"),
        ("not a or b > 3", "a and b <= 3"),
        ("not (a and b)", "a and b"),
        ("x in (1, 2)", "x not in (1, 2)"),
        ("0 <= a < 3", "not 0 <= a < 3"),
        ("f(a", ""),
    ],
)
def test_the_opposite_of_a_condition(condition: str, other: str) -> None:
    assert opposite(condition) == other
