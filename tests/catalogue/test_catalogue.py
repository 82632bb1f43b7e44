"""The built catalogue: what goes in comes out, people's records lie over it, and a broken file is named and never half used."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.catalogue.catalogue import Catalogue, CatalogueError, Entry, build, catalogue_path
from bot.catalogue.merge import merge
from bot.catalogue.records import dump_record, load_records
from bot.catalogue.sources import SourceConfig
from bot.model import (
    Condition,
    Example,
    Hole,
    PinnedSource,
    Provenance,
    RaiseSite,
    Record,
    Sample,
    SiteLines,
    Template,
    Translation,
    record_id,
)

REPOSITORY = "Some/Thing"
RELEASES = ("1.0", "1.1", "2.0")
CONFIG = SourceConfig(
    repository=REPOSITORY,
    package="thing",
    releases=RELEASES,
    areas={"src/cache/*": "cache", "src/*.py": "core", "src/cache/late.py": "never"},
)


def site(path: str = "src/a.py", line: int = 1, function: str = "f", end: int = 0, code: str = "") -> RaiseSite:
    return RaiseSite(path, function, (SiteLines("2.0", line, end or line),), code)


def error(text: str, *sites: RaiseSite, type: str = "ValueError") -> Record:
    template = Template.parse(text)
    return Record(record_id(REPOSITORY, type, template), REPOSITORY, type, (template,), sites or (site(),))


def bare_assert(expression: str, *sites: RaiseSite) -> Record:
    id = record_id(REPOSITORY, "AssertionError", Template(()), expression)
    return Record(id, REPOSITORY, "AssertionError", (), sites, "assert", expression)


FULL = Record(
    record_id(REPOSITORY, "RuntimeError", Template.parse("cache {x!r:>3} is {{full}} of {y}")),
    REPOSITORY,
    "RuntimeError",
    (Template.parse("cache {x!r:>3} is {{full}} of {y}"), Template.of("Error: ", Hole("{1, 2}"), " \ud800 and \0")),
    (
        RaiseSite(
            "src/cache/é.py",
            "Cache.put.<locals>.check",
            (SiteLines("1.0", 3, 4), SiteLines("1.1", 3, 4), SiteLines("2.0", 7, 9)),
            'raise RuntimeError(\nf"cache")  # \ud800',
            (Condition("if", "x > 1"), Condition("except", "OSError")),
            "def check(x: int) -> None",
            "fail",
            ("--backend fast",),
            "put",
            (("x", "The size."),),
            ("a.b:read", "self.load"),
        ),
        RaiseSite("src/b.py", "<module>", (SiteLines("1.1", 1, 1),)),
    ),
    "log",
    "",
    ("make it larger",),
    "derived",
    guard="g()",
    handler="h()",
    trigger="when x > 1",
    example=Example("a", "b"),
    related=("x",),
    symptom=True,
    source=PinnedSource("a.py", 1, "0123456"),
    provenance=Provenance("x", "0123456", "2026-01-01"),
    samples=(Sample("t", (("x", "1"),)),),
    confusers=(Sample("u"),),
    file="f.yaml",
    successor="0123456789abcdef",
    seen_in=(7, 12),
    translations=(Translation("zh", "t", "m", ("s",)),),
)

RECORDS = (
    FULL,
    error("no such file {path}", site("src/a.py", 5, "Reader.open"), site("src/cache/b.py", 8, "open", end=10)),
    error("no such file {path}", site("src/k.py", 5, "Reader.open"), type="KeyError"),
    error("100% of the_cache is used by {name}", site("src/cache/late.py", 2)),
    error("The cache holds only {size} entries, which is too few for {model}", site("src/a.py", 40, "Reader.open")),
    bare_assert("len(names) == 2", site("src/a.py", 70, "g")),
    error("{a}: {b}", site("src/a.py", 90, "h")),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = catalogue_path(tmp_path / "cache", REPOSITORY)
    build(path, CONFIG, RECORDS, RELEASES)
    return path


@pytest.fixture
def catalogue(path: Path) -> Iterator[Catalogue]:
    with Catalogue.open(path) as catalogue:
        yield catalogue


def note(*texts: str, type: str = "ValueError", id: str = "", name: str = "note", **said: object) -> Record:
    templates = tuple(map(Template.parse, texts))
    id = id or record_id(REPOSITORY, type, templates[0])
    samples = (Sample(texts[0]),)
    record = Record(id, REPOSITORY, type, templates, (), meaning="Told.", solutions=("Do it",), samples=samples, status="draft")
    return replace(record, file=f"{REPOSITORY}/area/{name}.yaml", **said)  # type: ignore[arg-type]


def write(errors_dir: Path, *notes: Record) -> Path:
    for one in notes:
        file = errors_dir / one.file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dump_record(one))
    return errors_dir


# -------------------------------------------------------------------------------------------------------- what it holds


def test_every_record_comes_out_as_it_went_in(catalogue: Catalogue) -> None:
    assert [catalogue.get(record.id) for record in RECORDS] == list(RECORDS)
    assert len(catalogue) == len(RECORDS)
    assert (catalogue.repository, catalogue.releases, catalogue.source) == (REPOSITORY, RELEASES, CONFIG)


def test_an_id_that_is_none_finds_nothing(catalogue: Catalogue) -> None:
    hostile = ["", "0" * 16, "%", "' OR 1=1 --", "../../etc/passwd", "0" * 17, "\0", "\ud800", RECORDS[0].id + "\n"]
    assert [catalogue.get(id) for id in hostile] == [None] * len(hostile)


def test_entries_are_all_texts_each_with_its_record(catalogue: Catalogue) -> None:
    expected = {
        Entry(record.id, record.type, record.kind, template, record.expression)
        for record in RECORDS
        for template in record.templates or (Template(()),)
    }
    entries = list(catalogue.entries())
    assert set(entries) == expected
    assert len(entries) == len(expected)


def test_many_records_are_streamed_whole(tmp_path: Path) -> None:
    records = [error(f"error number {n} of many") for n in range(4500)]
    build(tmp_path / "many.sqlite", CONFIG, records, RELEASES)
    with Catalogue.open(tmp_path / "many.sqlite") as catalogue:
        assert sorted(entry.id for entry in catalogue.entries()) == sorted(record.id for record in records)


@pytest.mark.parametrize(
    ("printed", "function", "expected"),
    [
        ("/usr/lib/python3.12/site-packages/src/a.py", "open", {"src/a.py"}),
        ("C:\\env\\src\\cache\\b.py", "open", {"src/cache/b.py"}),
        ("k.py", "Reader.open", {"src/k.py"}),
        ("src/cache/é.py", "check", {"src/cache/é.py"}),
        ("b.py", "<module>", {"src/b.py"}),
        ("a.py", "close", set()),
        ("%.py", "open", set()),
        ("", "", set()),
    ],
)
def test_a_frame_names_the_sites_of_its_file_and_function(catalogue: Catalogue, printed: str, function: str, expected: set[str]) -> None:
    found = catalogue.by_frame(printed, function)
    assert {site.path for _, site in found} == expected
    assert all(site in record.sites for record, site in found)


def test_a_frame_of_a_function_that_raises_twice_names_both(catalogue: Catalogue) -> None:
    found = catalogue.by_frame("a.py", "open")
    assert {(record.heading, site.latest.line) for record, site in found} == {
        ("no such file {path}", 5),
        (RECORDS[4].heading, 40),
    }


# ------------------------------------------------------------------------------------------------------------- search


def headings(found: tuple[tuple[Record, ...], int]) -> set[str]:
    records, total = found
    assert len(records) == total
    return {record.heading for record in records}


def test_a_search_wants_every_word_and_knows_no_case(catalogue: Catalogue) -> None:
    assert headings(catalogue.search("CACHE holds")) == {RECORDS[4].heading}
    assert headings(catalogue.search("few cache")) == {RECORDS[4].heading}
    assert headings(catalogue.search("few caches")) == set()
    assert headings(catalogue.search("len(names)")) == {"assert len(names) == 2"}
    assert headings(catalogue.search(FULL.id)) == {FULL.heading}
    assert headings(catalogue.search("no such file", type="keyerror")) == {"no such file {path}"}
    assert catalogue.search("no such file", type="keyerror")[0][0].type == "KeyError"
    assert catalogue.search()[1] == len(RECORDS)


@pytest.mark.parametrize("q", ["%", "100%", "0%", "the_cache", "_"])
def test_wildcards_of_sql_mean_themselves(catalogue: Catalogue, q: str) -> None:
    assert headings(catalogue.search(q)) == {"100% of the_cache is used by {name}"}


@pytest.mark.parametrize("q", ["0_%", "e_c%", "\\", "'", '" OR 1', "\ud800x", "x" * 100_000, "nowhere " + "a " * 5000, "NEAR(", ";--"])
def test_a_strange_search_finds_nothing_and_breaks_nothing(catalogue: Catalogue, q: str) -> None:
    assert catalogue.search(q, type="'") == ((), 0)
    assert catalogue.search(q)[1] < len(RECORDS)


def test_pages_show_every_record_once(catalogue: Catalogue) -> None:
    pages = [catalogue.search(page=page, per_page=3) for page in (1, 2, 3, 4)]
    assert [len(records) for records, _ in pages] == [3, 3, 1, 0]
    assert {total for _, total in pages} == {len(RECORDS)}
    assert {record.id for records, _ in pages for record in records} == {record.id for record in RECORDS}
    assert catalogue.search(page=-5, per_page=3) == pages[0]
    assert catalogue.search(page=10**30, per_page=10**30) == ((), len(RECORDS))


# ---------------------------------------------------------------------------------------------------------- addresses


def test_a_permalink_stands_in_the_release_that_is_asked_for(catalogue: Catalogue) -> None:
    here, other = FULL.sites
    start = "https://github.com/Some/Thing/blob/"
    assert catalogue.source_url(here) == f"{start}v2.0/src/cache/%C3%A9.py#L7-L9"
    assert catalogue.source_url(here, "1.1") == f"{start}v1.1/src/cache/%C3%A9.py#L3-L4"
    assert catalogue.source_url(here, "9.9") == f"{start}v2.0/src/cache/%C3%A9.py#L7-L9"
    assert catalogue.source_url(other, "2.0") == f"{start}v1.1/src/b.py#L1"
    assert catalogue.pinned_url(FULL) == f"{start}0123456/a.py#L1"
    assert catalogue.pinned_url(RECORDS[1]) == ""


def test_areas_are_those_of_the_sites(catalogue: Catalogue) -> None:
    assert catalogue.areas(RECORDS[1]) == ("cache", "core")
    assert catalogue.areas(RECORDS[3]) == ("cache",)
    assert catalogue.areas(replace(RECORDS[3], sites=(), source=PinnedSource("src/x.py", 1, "0123456"))) == ("core",)
    assert catalogue.areas(replace(RECORDS[3], sites=())) == ()


def test_related_are_the_named_then_those_that_share_the_most(catalogue: Catalogue) -> None:
    full, _, key, percent, few, bare, holes = (record.id for record in RECORDS)
    first = replace(RECORDS[1], related=(key, "100% OF the_cache IS", "cache {x!r:>3} is {full}", "no such thing anywhere"))
    assert [record.id for record in catalogue.related(first)] == [key, percent, full, few, bare]
    assert [record.id for record in catalogue.related(RECORDS[1])] == [key, few, bare, holes], "one text, function, file"
    assert catalogue.related(replace(RECORDS[3], related=("", "%"))) == catalogue.related(replace(RECORDS[3], related=("%",)))


def test_near_texts_and_shared_holes_are_related_wherever_they_stand(tmp_path: Path) -> None:
    missing = error("The quick package is required: pip install quick", site("src/quick.py", 9, "Quick.load"))
    near = error("The quick package of {where} is too old", site("src/other.py", 1, "old"))
    same_hole = error("this one has {cfg.quick_size!r} of them", site("src/far.py", 1, "far"))
    hole = error("got {cfg.quick_size!r}", site("src/quick.py", 80, "other"))
    gone = replace(near, id="0" * 16, sites=(RaiseSite("src/quick.py", "Quick.load", (SiteLines("1.0", 9, 9),)),))
    many = [error(f"some other text number {number}", site("src/many.py", number, "many")) for number in range(1, 90)]
    build(tmp_path / "c.sqlite", CONFIG, (missing, near, same_hole, hole, gone, *many), RELEASES)
    with Catalogue.open(tmp_path / "c.sqlite") as catalogue:
        assert catalogue.related(missing) == (near, hole), "of what is gone, nothing is shown"
        assert catalogue.related(hole) == (same_hole, missing), "a rare hole says more than the file"
        assert catalogue.related(replace(gone, status="obsolete"))[0] == near
        assert catalogue.related(many[4])[:2] == (many[3], many[5]), "of equal ones those that stand nearest"


# ------------------------------------------------------------------------------------------------- what people wrote


def test_a_record_that_people_wrote_lies_over_the_scanned_one(path: Path, tmp_path: Path) -> None:
    errors_dir = write(tmp_path / "errors", note("no such file {name}", id="0123456789abcdef"))
    with Catalogue.open(path, errors_dir) as catalogue:
        record = catalogue.get("0123456789abcdef")
        assert record
        assert (record.meaning, record.sites, record.templates) == ("Told.", RECORDS[1].sites, RECORDS[1].templates)
        assert catalogue.get(RECORDS[1].id) == record
        assert len(catalogue) == len(RECORDS)
        assert {found.id for found, _ in catalogue.by_frame("b.py", "open")} == {record.id}
        assert [entry.id for entry in catalogue.entries() if entry.template == record.template and entry.type == record.type] == [record.id]
        assert catalogue.search("no such file")[0][0] == record
        assert {found.id for found in catalogue.search("no such file")[0]} == {record.id, RECORDS[2].id}
        assert record in catalogue.related(RECORDS[4])


def test_edited_and_lost_texts_are_still_found(path: Path, tmp_path: Path) -> None:
    old = "The cache holds {size} entries, which is too few for {model}"
    pin = PinnedSource("src/gone.py", 4, "0123456")
    errors_dir = write(
        tmp_path / "errors",
        note(old, name="old"),
        note("nobody says this any more", name="gone", source=pin),
        note(FULL.heading, name="type"),
    )
    with Catalogue.open(path, errors_dir) as catalogue:
        changed, lost = (
            catalogue.get(record_id(REPOSITORY, "ValueError", Template.parse(old))),
            catalogue.search("nobody says")[0][0],
        )
        assert changed
        assert (changed.status, changed.sites) == ("changed", RECORDS[4].sites)
        assert changed == catalogue.get(RECORDS[4].id)
        assert (lost.status, lost.sites) == ("obsolete", ())
        assert catalogue.pinned_url(lost).endswith("/blob/0123456/src/gone.py#L4")
        assert len(catalogue) == len(RECORDS) + 1
        texts = {(entry.id, str(entry.template)) for entry in catalogue.entries()}
        assert {(changed.id, old), (changed.id, RECORDS[4].heading), (lost.id, "nobody says this any more")} <= texts
        claimed = catalogue.get(FULL.id)
        assert claimed
        assert (claimed.type, claimed.meaning, claimed.templates) == ("RuntimeError", "Told.", FULL.templates)


def test_mistakes_in_record_files_are_kept_and_stop_nothing(path: Path, tmp_path: Path) -> None:
    errors_dir = write(tmp_path / "errors", note("no such file {name}"))
    (errors_dir / REPOSITORY / "area" / "bad.yaml").write_text("type: [")
    with Catalogue.open(path, errors_dir) as catalogue:
        assert [fault.file for fault in catalogue.faults] == ["Some/Thing/area/bad.yaml"]
        assert catalogue.search("told")[1] == 0
        assert catalogue.search("no such file")[0][0].meaning == "Told."


NOTES = st.lists(
    st.sampled_from([
        note("no such file {name}", name="a"),
        note("no such file {name}", type="OSError", name="b"),
        note("The cache holds {size} entries, which is too few for {model}", name="c"),
        note("The cache holds {size} entries, which are too few for {model}", name="d"),
        note("The cache holds only {n} entries, which is too few for {m}", name="e"),
        note("nobody says this any more", name="f"),
        note("no such file {name}", "100% of the_cache is used by {x}", type="KeyError", name="g"),
    ]),
    unique_by=lambda one: one.file,
)  # fmt: skip


@given(NOTES)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_opening_joins_as_merging_everything_does(path: Path, tmp_path_factory: pytest.TempPathFactory, notes: list[Record]) -> None:
    errors_dir = write(tmp_path_factory.mktemp("errors"), *notes)
    written, _ = load_records(errors_dir, REPOSITORY)
    expected = merge(RECORDS, written)
    with Catalogue.open(path, errors_dir) as catalogue:
        assert {record.id: record for record in catalogue.search(per_page=100)[0]} == {record.id: record for record in expected}
        assert len(catalogue) == len(expected)


# ------------------------------------------------------------------------------------------------------------ the file


def test_the_same_records_give_the_same_bytes(tmp_path: Path) -> None:
    shuffled = list(RECORDS)
    random.Random(3).shuffle(shuffled)
    build(tmp_path / "one.sqlite", CONFIG, RECORDS, RELEASES)
    build(tmp_path / "two.sqlite", CONFIG, shuffled, RELEASES)
    assert (tmp_path / "one.sqlite").read_bytes() == (tmp_path / "two.sqlite").read_bytes()


def test_a_failed_build_leaves_the_old_file_and_nothing_else(path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(ValueError, match=RECORDS[1].id):
        build(path, CONFIG, [*RECORDS, RECORDS[1]], RELEASES)
    with pytest.raises(ValueError, match=r"release 2\.0"):
        build(path, CONFIG, RECORDS, ("1.0", "1.1"))
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


KILLED = """
import sys, os, signal
from pathlib import Path
from bot.catalogue.catalogue import build
from bot.catalogue.sources import SourceConfig
from bot.model import Record, Template
def records():
    for n in range(3000):
        yield Record(f"{n:016x}", "o/r", "E", (Template.parse(f"text {n}"),))
real = Path.replace
Path.replace = lambda self, other: os.kill(os.getpid(), signal.SIGKILL)
build(Path(sys.argv[1]), SourceConfig(repository="o/r", package="p", releases=("1",)), records(), ("1",))
"""


def test_a_build_that_is_killed_leaves_the_old_file_in_use(path: Path) -> None:
    before = path.read_bytes()
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert path.read_bytes() == before
    with Catalogue.open(path) as catalogue:
        assert len(catalogue) == len(RECORDS)


def test_who_has_it_open_goes_on_while_it_is_replaced(path: Path) -> None:
    with Catalogue.open(path) as old:
        build(path, CONFIG, RECORDS[:1], RELEASES)
        assert {entry.id for entry in old.entries()} == {record.id for record in RECORDS}
        with Catalogue.open(path) as new:
            assert len(new) == 1
            assert new.get(RECORDS[1].id) is None


def test_a_file_that_cannot_be_used_says_what_to_run(path: Path) -> None:
    command = "explainbot scan some/thing"
    with pytest.raises(CatalogueError, match=f"{command}s"):
        Catalogue.open(path.with_name("things.sqlite"))
    good = path.read_bytes()
    for broken in (
        b"",
        b"SQLite format 3\0",
        b"no database" * 1000,
        good[:100],
        good[:4096],
        good[:100] + os.urandom(len(good) - 100),
    ):
        path.write_bytes(broken)
        with pytest.raises(CatalogueError, match=command):
            Catalogue.open(path)
    path.write_bytes(good)
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(CatalogueError, match=f"another version.*{command}"):
        Catalogue.open(path)


def test_a_file_that_breaks_later_is_named(path: Path) -> None:
    records = [error(f"error number {n} of many") for n in range(3000)]
    build(path, CONFIG, records, RELEASES)
    with Catalogue.open(path) as catalogue:
        os.truncate(path, 8192)
        with pytest.raises(CatalogueError, match="explainbot scan"):
            list(catalogue.entries())


@pytest.mark.parametrize("name", ["../x", "a/..", "a/../b", "a", "", "/etc/passwd", "a/b/c", "a/b\0", "a\\b/c", "a/.", "~/x", "a/b\n"])
def test_no_name_leads_out_of_the_cache_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="OWNER/NAME"):
        catalogue_path(tmp_path, name)


@given(st.text(st.sampled_from("aA./\\_-~\0\n%"), max_size=12))
def test_every_accepted_name_lies_two_folders_down(name: str) -> None:
    root = Path("/cache")
    try:
        path = catalogue_path(root, name)
    except ValueError:
        return
    resolved = Path(os.path.normpath(path))
    assert resolved == path
    assert resolved.parent.parent == root / "catalogues"
    assert path == catalogue_path(root, name.upper())


# -------------------------------------------------------------------------------------------------------------- blobs


def test_a_blob_is_kept_until_the_texts_change(path: Path, tmp_path: Path) -> None:
    errors_dir = write(tmp_path / "errors", note("no such file {name}"))
    with Catalogue.open(path, errors_dir) as catalogue:
        assert catalogue.blob("index") is None
        catalogue.save_blob("index", b"\0one")
        assert catalogue.blob("index") == b"\0one"
        catalogue.save_blob("index", b"two")
        assert {record.id for record in catalogue.search()[0]} == {record.id for record in RECORDS}
    write(errors_dir, note("no such file {name}", meaning="Told anew."))
    with Catalogue.open(path, errors_dir) as catalogue:
        assert catalogue.blob("index") == b"two"
        assert catalogue.search("no such file")[0][0].meaning == "Told anew."
    write(errors_dir, note("no such file {name}", "there is nothing called {name}"))
    with Catalogue.open(path, errors_dir) as catalogue:
        assert catalogue.blob("index") is None
    assert list(path.parent.iterdir()) == [path]


def test_a_blob_does_not_go_into_a_file_that_was_built_anew(path: Path) -> None:
    with Catalogue.open(path) as catalogue:
        build(path, CONFIG, RECORDS[:2], RELEASES)
        before = path.read_bytes()
        with pytest.raises(CatalogueError, match="anew"):
            catalogue.save_blob("index", b"x")
    assert path.read_bytes() == before


# ------------------------------------------------------------------------------------------------------------ threads


def test_threads_read_at_the_same_time(catalogue: Catalogue) -> None:
    start = threading.Barrier(8)

    def read(number: int) -> bool:
        start.wait(timeout=30)
        entries = iter(catalogue.entries())
        next(entries)
        for turn in range(40):
            record = RECORDS[(number + turn) % len(RECORDS)]
            assert catalogue.get(record.id) == record
            assert catalogue.search(record.id)[0] == (record,)
        return 1 + len(list(entries)) == len(list(catalogue.entries()))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(read, range(8)))
