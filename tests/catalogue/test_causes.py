"""Which errors another one is raised in place of: read from what was tried and caught, and never guessed."""

import textwrap
from pathlib import Path

import pytest

from bot.catalogue.catalogue import Catalogue, build
from bot.catalogue.causes import calls, catches, resolve
from bot.catalogue.scan import scan, to_records
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


def test_a_function_of_another_file_is_found_when_only_one_has_its_name(tmp_path: Path) -> None:
    start = """
        from thing.loader import Loader, read_header

        def start(path):
            try:
                Loader(path)
            except TypeError as error:
                raise SystemError("starting failed") from error

        def begin(path):
            try:
                read_header(path)
            except (ValueError, KeyError):
                raise SystemError("beginning failed")
        """
    twin = """
        def read_header(path):
            raise ValueError("another header")
        """
    with catalogue_of(tmp_path / "one", loader=LOADER, start=start) as catalogue:
        assert catalogue.wrapped(only(catalogue, "starting failed")) == (only(catalogue, "loader needs"),)
        both = {only(catalogue, "header has no path").id, only(catalogue, "no header there").id}
        assert {other.id for other in catalogue.wrapped(only(catalogue, "beginning failed"))} == both
    with catalogue_of(tmp_path / "two", loader=LOADER, start=start, twin=twin) as catalogue:
        assert catalogue.wrapped(only(catalogue, "beginning failed")) == (), "two functions have that name: no guess"


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


def test_calls_are_read_as_they_are_written() -> None:
    assert calls("x = self.load(read(a), b.c.d(1))\nimport y") == ("self.load", "read", "b.c.d")


def test_a_method_of_some_object_needs_a_name_of_its_own() -> None:
    at = RaiseSite("a.py", "f", (SiteLines("1.0", 1, 1),))
    assert resolve("thing.run", at, [("b.py", "Thing.run")]) is None
    assert resolve("thing.run_all_steps", at, [("b.py", "Thing.run_all_steps")]) == ("b.py", "Thing.run_all_steps")
