"""Which errors another one is raised in place of: read from what was tried and caught, and never guessed."""

import textwrap
from pathlib import Path

import pytest

from bot.catalogue.catalogue import Catalogue, build
from bot.catalogue.causes import catches, resolve
from bot.catalogue.scan import scan, to_records
from bot.catalogue.scanners import scan_file
from bot.catalogue.sources import SourceConfig, SourceFile
from bot.model import RaiseSite, Record, SiteLines

CONFIG = SourceConfig(repository="some/thing", package="thing", path_prefix={"thing/": "thing/"}, releases=("1.0",))


def catalogue_of(folder: Path, **sources: str) -> Catalogue:
    files = [SourceFile(f"thing/{name}.py", textwrap.dedent(text).encode()) for name, text in sources.items()]
    records = to_records(scan(files, processes=1), CONFIG, "1.0")
    folder.mkdir(exist_ok=True)
    path = folder / "thing.sqlite"
    build(path, CONFIG, records, ("1.0",))
    return Catalogue.open(path)


def only(catalogue: Catalogue, text: str) -> Record:
    (record,) = catalogue.search(text)[0]
    return record


LOADER = """
    def read_header(path):
        if not path:
            raise ValueError("the header has no path")
        raise KeyError("no header there")

    class Loader:
        def __init__(self, path):
            if path is None:
                raise TypeError("a loader needs a path")

        def open(self, path):
            raise OSError("cannot open this loader")

        def load(self, path):
            try:
                return read_header(path)
            except ValueError as error:
                raise RuntimeError(f"loading failed: {error}") from error

        def again(self, path):
            try:
                self.open(path)
            except Exception:
                raise RuntimeError("opening again failed")
    """


def test_an_error_names_those_of_the_functions_tried_that_were_caught(tmp_path: Path) -> None:
    with catalogue_of(tmp_path, loader=LOADER) as catalogue:
        wrapper, wrapped = only(catalogue, "loading failed"), only(catalogue, "header has no path")
        assert catalogue.wrapped(wrapper) == (wrapped,), "KeyError is not caught by except ValueError"
        assert catalogue.wrapped_by(wrapped) == (wrapper,)
        assert catalogue.related(wrapper)[0] == wrapped
        assert catalogue.wrapped(only(catalogue, "opening again")) == (only(catalogue, "cannot open"),), "a method of the same class"
        assert catalogue.wrapped(wrapped) == ()


START = """
    from thing.loader import Loader, read_header as header
    from thing import steps

    def start(path):
        try:
            Loader(path)
        except TypeError as error:
            raise SystemError("starting failed") from error

    def begin(path):
        try:
            if path:
                header(path)
        except (ValueError, KeyError):
            raise SystemError("beginning failed")

    def go(path):
        try:
            steps.take(path)
        except LookupError as error:
            raise SystemError("going failed") from error
    """

STEPS = """
    def take(path):
        return _first(path)

    def _first(path):
        return _second(path)

    def _second(path):
        raise IndexError("there is no second step")
    """

TWIN = """
    def read_header(path):
        raise ValueError("another header")
    """


def test_a_function_of_another_file_is_found_by_what_is_imported(tmp_path: Path) -> None:
    with catalogue_of(tmp_path / "one", loader=LOADER, start=START, twin=TWIN, steps=STEPS) as catalogue:
        starting, beginning, going = (only(catalogue, f"{text} failed") for text in ("starting", "beginning", "going"))
        none, no_path, no_header = (only(catalogue, text) for text in ("loader needs", "header has no path", "no header there"))
        assert catalogue.wrapped(starting) == (none,)
        assert {other.id for other in catalogue.wrapped(beginning)} == {no_path.id, no_header.id}
        assert catalogue.wrapped(going) == (only(catalogue, "second step"),), "raised by a private function that it calls"
        assert catalogue.wrapped_by(none) == (starting,)
        assert {other.id for other in catalogue.wrapped_by(no_path)} == {beginning.id, only(catalogue, "loading failed").id}
        assert catalogue.wrapped_by(only(catalogue, "second step")) == (going,)
        assert catalogue.wrapped_by(only(catalogue, "another header")) == ()


def test_a_name_that_is_not_imported_means_no_other_file(tmp_path: Path) -> None:
    start = START.replace("from thing.loader import", "from elsewhere import")
    with catalogue_of(tmp_path / "one", loader=LOADER, start=start) as catalogue:
        assert catalogue.wrapped(only(catalogue, "starting failed")) == ()
        assert catalogue.wrapped(only(catalogue, "beginning failed")) == ()


@pytest.mark.parametrize(
    ("types", "raised", "answer"),
    [
        (("ValueError",), "ValueError", True),
        (("Exception",), "OurError", True),
        (("OSError",), "FileNotFoundError", True),
        (("FileNotFoundError",), "OSError", False),
        (("OurError",), "ValueError", False),
        ((), "ValueError", False),
    ],
)
def test_what_an_except_catches(types: tuple[str, ...], raised: str, answer: bool) -> None:
    assert catches(types, raised) is answer


def test_calls_are_named_by_the_modules_that_imports_tell() -> None:
    source = """
        import a.b
        import c.d as e
        from .near import read, Loader
        from thing import far as away

        def f(self):
            try:
                x = self.load(read(a.b.g(1)), e.h())
                with away():
                    Loader.open(y)(lambda: never())
                own()
            except Exception:
                raise ValueError("this did not go well")
    """
    (raised,) = scan_file(SourceFile("top/thing/here.py", textwrap.dedent(source).encode()))
    assert set(raised.tried) == {
        "self.load", "top.thing.near:read", "a.b:g", "c.d:h", "thing:far", "top.thing.near:Loader.open", "own",
    }  # fmt: skip
    (raised,) = scan_file(SourceFile("f.py", b"def f():\n    raise ValueError('nothing was tried')\n"))
    assert raised.tried == ()


def test_a_method_of_some_object_needs_a_name_of_its_own() -> None:
    at = RaiseSite("a.py", "f", (SiteLines("1.0", 1, 1),))
    assert resolve("thing.run", at, [("b.py", "Thing.run")]) is None
    assert resolve("thing.run_all_steps", at, [("b.py", "Thing.run_all_steps")]) == ("b.py", "Thing.run_all_steps")


@pytest.mark.parametrize(
    ("called", "found", "meant"),
    [
        ("p.b:f", [("x/p/b.py", "f"), ("x/p/c.py", "f")], ("x/p/b.py", "f")),
        ("p.b:f", [("x/p/b/__init__.py", "f"), ("x/p/b/d.py", "f")], ("x/p/b/__init__.py", "f")),
        ("p.b:f", [("x/p/b/d.py", "f")], ("x/p/b/d.py", "f")),
        ("p.b:f", [("x/p/b/d.py", "f"), ("x/p/b/e.py", "f")], None),
        ("p.b:f", [("x/q/b.py", "f"), ("x/p/b.py", "K.f")], None),
        ("p.b:K", [("p/b.py", "K.__init__"), ("p/b.py", "K")], ("p/b.py", "K.__init__")),
        ("p.b:K.make", [("p/b.py", "K.make"), ("p/b.py", "make")], ("p/b.py", "K.make")),
        ("f", [("a.py", "f"), ("b.py", "f")], ("a.py", "f")),
        ("f", [("b.py", "f")], None),
        ("self.f", [("a.py", "K.f"), ("a.py", "f"), ("b.py", "K.f")], ("a.py", "K.f")),
    ],
)
def test_which_function_a_call_means(called: str, found: list[tuple[str, str]], meant: tuple[str, str] | None) -> None:
    at = RaiseSite("a.py", "K.g", (SiteLines("1.0", 1, 1),))
    assert resolve(called, at, found) == meant
