"""Many releases become one catalogue: each text once, each place with its line in every release, and what became of edited texts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.catalogue import built
from bot.catalogue.cache import ScanCache
from bot.catalogue.catalogue import Catalogue
from bot.catalogue.releases import Joined, join_releases, release_order
from bot.catalogue.scan import Memory, scan, survey, to_records
from bot.catalogue.source_config import SourceConfig
from bot.catalogue.sources import SourceFile
from bot.catalogue.workers import Workers
from bot.model import RaiseSite, Record

CONFIG = SourceConfig(repository="some/project", package="project", releases="all")

Source = dict[str, str]


def join(*sources: Source, cache: ScanCache | None = None) -> Joined:
    """The releases 1.0, 1.1, … that hold these files."""
    memory = Memory()
    with cache or ScanCache() as kept, Workers(1) as workers:
        listings = []
        for at, source in enumerate(sources):
            found = [SourceFile(path, text.encode()) for path, text in source.items()]
            listings.append((f"1.{at}", survey(found, kept, workers, memory=memory)))
        return join_releases(CONFIG, listings, kept)


def texts(joined: Joined) -> dict[str, Record]:
    return {str(record.template): record for record in joined}


def lines(site: RaiseSite) -> dict[str, int]:
    return {at.release: at.line for at in site.lines}


def function(*texts: str, name: str = "f", pad: int = 0) -> str:
    body = "".join(f"    if x == {at}:\n        raise ValueError({text!r})\n" for at, text in enumerate(texts))
    return "\n" * pad + f"def {name}(x):\n" + (body or "    pass\n")


def test_one_site_stands_in_every_release_that_has_it_at_its_line_there() -> None:
    joined = join(
        {"a.py": function("no such file")},
        {"a.py": function("no such file", pad=5)},
        {"a.py": function("no such file", pad=5), "b.py": function("another text")},
        {"b.py": function("another text")},
    )
    record = texts(joined)["no such file"]
    (site,) = record.sites
    assert lines(site) == {"1.0": 3, "1.1": 8, "1.2": 8}
    assert texts(joined)["another text"].sites[0].latest.release == "1.3"
    assert joined.releases == ("1.0", "1.1", "1.2", "1.3")
    assert (len(joined), joined.places, joined.gone) == (2, 2, 1)


def test_code_and_conditions_are_those_of_the_newest_release() -> None:
    before = "def f(x):\n    if x:\n        raise ValueError('no such file')\n"
    joined = join({"a.py": before}, {"a.py": before.replace("if x:", "if not x and y:")})
    (site,) = texts(joined)["no such file"].sites
    assert [condition.text for condition in site.conditions] == ["not x and y"]
    assert len(site.lines) == 2


def test_the_same_text_twice_in_a_function_is_two_sites_told_apart_by_their_order() -> None:
    one, two = function("it is broken"), function("it is broken", "it is broken")
    joined = join({"a.py": one}, {"a.py": two}, {"a.py": one})
    first, second = sorted(texts(joined)["it is broken"].sites, key=lambda site: -len(site.lines))
    assert lines(first) == {"1.0": 3, "1.1": 3, "1.2": 3}
    assert lines(second) == {"1.1": 5}


def test_a_moved_file_is_another_site() -> None:
    joined = join({"old/a.py": function("no such file")}, {"new/a.py": function("no such file")})
    record = texts(joined)["no such file"]
    assert [(site.path, site.latest.release) for site in record.sites] == [("new/a.py", "1.1"), ("old/a.py", "1.0")]
    assert joined.gone == 0


def test_a_text_that_comes_back_has_a_gap() -> None:
    joined = join({"a.py": function("now and then")}, {"a.py": "x = 1\n"}, {"a.py": function("now and then")})
    (site,) = texts(joined)["now and then"].sites
    assert lines(site) == {"1.0": 3, "1.2": 3}
    assert texts(joined)["now and then"].successor == ""


def test_an_edited_text_is_followed_to_what_it_became() -> None:
    joined = join(
        {"a.py": function("The cache holds too few entries", "Quite another thing")},
        {"a.py": function("The cache holds too few entries for this model", "Quite another thing")},
        {"a.py": function("The cache holds far too few entries for the model", "Quite another thing")},
    )
    found = texts(joined)
    first, second, third = (
        found[f"The cache holds {text}"]
        for text in ("too few entries", "too few entries for this model", "far too few entries for the model")
    )
    assert (first.successor, second.successor, third.successor) == (second.id, third.id, "")
    assert [(step.lost, step.followed) for step in joined.steps] == [(0, 0), (1, 1), (1, 1)]
    assert (joined.gone, joined.followed) == (2, 2)


def test_equal_conditions_decide_between_texts_that_are_equally_near() -> None:
    before = "def f(x):\n    if x.wide:\n        raise ValueError('the table is too large')\n"
    after = "def f(x):\n" + "".join(
        f"    if x.{name}:\n        raise ValueError('the table is too {name}')\n" for name in ("tall", "long", "wide", "deep")
    )
    found = texts(join({"a.py": before}, {"a.py": after}))
    assert found["the table is too large"].successor == found["the table is too wide"].id


def test_a_text_without_a_successor_is_lost() -> None:
    joined = join({"a.py": function("no such file")}, {"a.py": function("Completely different: 42")})
    assert texts(joined)["no such file"].successor == ""
    assert [(step.lost, step.followed) for step in joined.steps] == [(0, 0), (1, 0)]


def test_a_text_edited_while_its_file_moved_is_followed() -> None:
    joined = join(
        {"old/a.py": function("The adapter is not supported yet", name="load")},
        {"new/a.py": function("The adapter is not supported here yet", name="load")},
    )
    found = texts(joined)
    assert found["The adapter is not supported yet"].successor == found["The adapter is not supported here yet"].id


def test_a_text_that_comes_back_edited_is_followed_over_the_gap() -> None:
    old, new = "The cache holds too few entries for it", "The cache holds too few entries for this"
    joined = join(
        {"a.py": function(old, "It stays")},
        {"a.py": function("It stays")},
        {"a.py": function("It stays")},
        {"a.py": function(new, "It stays")},
    )
    found = texts(joined)
    assert found[old].successor == found[new].id
    assert [(step.lost, step.followed, step.later) for step in joined.steps] == [(0, 0, 0), (1, 0, 0), (0, 0, 0), (0, 0, 1)]


def test_a_text_that_is_new_long_after_has_to_be_nearer_than_one_that_is_new_at_once() -> None:
    old, new = "The cache holds too few entries for it", "The table holds too many rows for this"
    at_once = texts(join({"a.py": function(old)}, {"a.py": function(new)}))
    after_a_gap = texts(join({"a.py": function(old)}, {"a.py": function()}, {"a.py": function(new)}))
    assert at_once[old].successor == at_once[new].id
    assert after_a_gap[old].successor == ""


def test_a_text_that_comes_back_as_it_was_needs_no_successor() -> None:
    old, new = "The cache holds too few entries for it", "The cache holds too few entries for this"
    joined = join({"a.py": function(old)}, {"a.py": function()}, {"a.py": function(old)}, {"a.py": function(old, new)})
    assert texts(joined)[old].successor == ""
    assert sum(step.later for step in joined.steps) == 0


def test_a_text_that_was_edited_and_moved_and_lost_for_a_while_leads_to_the_newest(tmp_path: Path) -> None:
    """Each form with the release since which it reads so."""
    forms = ("The cache holds too few entries", "The cache holds too few entries for it", "The cache holds too few entries for them")
    joined = join(
        {"old/a.py": function(forms[0], name="load")},
        {"new/a.py": function(forms[1], name="load")},
        {"new/a.py": function(name="load")},
        {"new/a.py": function(forms[2], name="load")},
    )
    path = tmp_path / "catalogue.sqlite"
    built.write(path, CONFIG, joined, joined.releases)
    with Catalogue.open(path) as catalogue:
        found = {str(record.template): record for record in catalogue.search()[0]}
        first, second, third = (found[form] for form in forms)
        assert (first.successor, second.successor, third.successor) == (second.id, third.id, "")
        assert catalogue.successor(first) == third
        assert [catalogue.first_release(record) for record in (first, second, third)] == [None, "1.1", "1.3"]
        assert [catalogue.last_release(record) for record in (first, second, third)] == ["1.0", "1.1", None]


def method(text: str, name: str, of: str = "Scheduler", type: str = "ValueError") -> str:
    return f"class {of}:\n    def {name}(self, x):\n        raise {type}({text!r})\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            {"a.py": method("The memory of the pool is too small", "check")},
            {"b.py": method("The memory pool of this is too small", "verify")},
        ),
        ({"a.py": method("The memory of the pool is too small", "check")}, {"b.py": function("The memory of a pool is too small")}),
    ],
    ids=["another method in another file, same class", "anywhere, all but the same words"],
)
def test_a_function_that_was_renamed_and_moved_is_followed(before: Source, after: Source) -> None:
    records = list(join(before, after))
    old, new = sorted(records, key=lambda record: record.sites[0].latest.release)
    assert old.successor == new.id


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("raise ValueError('The memory of the pool is too small')", "raise TypeError('The memory of a pool is too small')"),
        ("assert self.memory_pool is not None", "assert self.memory_pools is not None"),
        ("raise ValueError('no key in it')", "raise ValueError('no key in it!')"),
    ],
    ids=["another type", "an assertion", "too short"],
)
def test_elsewhere_a_text_is_only_followed_by_its_words(before: str, after: str) -> None:
    joined = join({"a.py": f"def f(self):\n    {before}\n"}, {"b.py": f"def g(self):\n    {after}\n"})
    assert [record.successor for record in joined] == ["", ""]


def test_one_release_joined_is_what_its_scan_gives() -> None:
    source = {
        "a.py": function("one", "two", "one") + "\nassert f\n",
        "b.py": "from a import g\ndef h(n):\n    raise KeyError(f'bad {n}')\n",
    }
    found = [SourceFile(path, text.encode()) for path, text in source.items()]
    alone = to_records(scan(found, processes=1), CONFIG, "1.0")
    assert {record.id: record for record in join(source)} == {record.id: record for record in alone}


def test_releases_stand_in_the_order_of_versions() -> None:
    versions = ["0.5.10", "0.5.9", "0.5.9.post1", "0.10", "deadbeef", "0.5.10rc1"]
    assert sorted(versions, key=release_order) == ["0.5.9", "0.5.9.post1", "0.5.10rc1", "0.5.10", "0.10", "deadbeef"]


SENTENCES = ("no such file", "no such folder", "it is broken", "give one")


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from("ab"), st.lists(st.sampled_from(SENTENCES), max_size=3)), max_size=2), min_size=1, max_size=5
    )
)
def test_every_release_can_be_read_back(history: list[list[tuple[str, list[str]]]]) -> None:
    """Whatever the history: what the joined records say of a release is what a scan of that release alone says."""
    sources = [{f"{name}.py": function(*said, pad=at) for name, said in release} for at, release in enumerate(history)]
    joined = list(join(*sources))
    for at, source in enumerate(sources):
        alone = to_records(scan([SourceFile(path, text.encode()) for path, text in source.items()], processes=1), CONFIG, f"1.{at}")
        expected = {(record.id, site.path, site.function, site.latest) for record in alone for site in record.sites}
        found = {
            (record.id, site.path, site.function, place)
            for record in joined
            for site in record.sites
            for place in site.lines
            if place.release == f"1.{at}"
        }
        assert found == expected


def test_the_built_catalogue_tells_first_and_last_release_and_successor(tmp_path: Path) -> None:
    joined = join(
        {"a.py": function("The cache holds too few entries", "It stays")},
        {"a.py": function("The cache holds too few entries for this model", "It stays")},
        {"a.py": function("The cache holds too few entries for this model", "It stays", "It is new")},
    )
    path = tmp_path / "catalogue.sqlite"
    built.write(path, CONFIG, joined, joined.releases)
    with Catalogue.open(path) as catalogue:
        found = {str(record.template): record for record in catalogue.search()[0]}
        assert found == texts(joined)
        old, edited = found["The cache holds too few entries"], found["The cache holds too few entries for this model"]
        assert (catalogue.first_release(old), catalogue.last_release(old)) == (None, "1.0")
        assert (catalogue.first_release(edited), catalogue.last_release(edited)) == ("1.1", None)
        assert catalogue.first_release(found["It is new"]) == "1.2"
        assert catalogue.successor(old) == edited
        assert catalogue.successor(edited) is None
        assert catalogue.standing() == {record.id for text, record in found.items() if record is not old}
        assert {str(record.template) for record, _ in catalogue.by_frame("/x/a.py", "f")} == set(found)
        assert catalogue.source_url(old.sites[0], "1.2").endswith("/blob/v1.0/a.py#L3")
