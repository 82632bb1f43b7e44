"""What was scanned is kept by content, and only what differs is scanned again."""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import dataclass, fields
from pathlib import Path

import pytest

from bot.catalogue import cache as cache_module
from bot.catalogue.cache import ScanCache, digest, full, kept, packed, plain, raised_of
from bot.catalogue.scan import Listing, Memory, survey
from bot.catalogue.scanners import Raised, scan_alone
from bot.catalogue.sources import SourceFile
from bot.catalogue.workers import Workers
from bot.model import Condition, Hole, Template

CALLER = SourceFile("a.py", b"from b import fail_with\nfail_with('the text of a')\n")
HELPER = SourceFile("b.py", b"def fail_with(message):\n    raise KeyError(message)\n")
OTHER = SourceFile("c.py", b"def f(n):\n    raise ValueError(f'bad {n}')\n")
BROKEN = SourceFile("d.py", b"def (\n")


def edited(file: SourceFile, old: bytes, new: bytes) -> SourceFile:
    assert old in file.text
    return SourceFile(file.path, file.text.replace(old, new))


def fresh(cache: ScanCache, *files: SourceFile, memory: Memory | None = None) -> int:
    with Workers(1) as workers:
        return survey(files, cache, workers, memory=memory).fresh


def test_an_unchanged_source_is_not_scanned_again(tmp_path: Path) -> None:
    with ScanCache(tmp_path / "scans.sqlite") as cache, Workers(1) as workers:
        first = survey((CALLER, HELPER, OTHER, BROKEN), cache, workers)
    with ScanCache(tmp_path / "scans.sqlite") as cache, Workers(1) as workers:
        second = survey((CALLER, HELPER, OTHER, BROKEN), cache, workers)
        assert second.fresh == 0
        assert (second.sites, second.skipped, second.files) == (first.sites, first.skipped, first.files)
    assert [skipped.path for skipped in first.skipped] == ["d.py"]


def test_only_a_changed_file_is_scanned_and_those_that_it_tells_something() -> None:
    with ScanCache() as cache:
        fresh(cache, CALLER, HELPER, OTHER)
        assert fresh(cache, CALLER, HELPER, edited(OTHER, b"bad", b"very bad")) == 1
        assert fresh(cache, CALLER, edited(HELPER, b"KeyError", b"OSError"), OTHER) == 2
        assert fresh(cache, CALLER, HELPER, OTHER) == 0


OPTION = SourceFile("fields.py", b"class Fields:\n    quick_decoding: A[bool, 'Decode quickly.'] = False\n")
ASKING = SourceFile("run.py", b"def run(args):\n    if args.quick_decoding:\n        raise ValueError('no quick way')\n")
ASKING_TOO = SourceFile(
    "both.py", b"from b import fail_with\ndef run(args):\n    if args.quick_decoding:\n        fail_with('the text of both')\n"
)


def flags(listing: Listing, cache: ScanCache) -> dict[str, tuple[str, ...]]:
    """The options that lead to each place, by the type that is raised and the path."""
    return {
        f"{path} {raised.type}": raised.flags for path, key in listing.sites for raised in (raised_of(one, path) for one in cache.get(key))
    }


def test_what_other_files_tell_of_options_takes_no_second_scan() -> None:
    with ScanCache() as cache, Workers(1) as workers:
        found = survey((ASKING, OPTION), cache, workers)
        assert flags(found, cache) == {"run.py ValueError": ("--quick-decoding",)}
        assert found.fresh == 2
        both = survey((ASKING, OPTION, ASKING_TOO, HELPER), cache, workers)
        assert flags(both, cache) == {
            "run.py ValueError": ("--quick-decoding",),
            "both.py KeyError": ("--quick-decoding",),
            "b.py KeyError": (),
        }
        assert both.fresh == 3, "only the file that takes a text from another one is scanned twice"


def test_an_option_that_changes_in_another_file_changes_what_is_kept(tmp_path: Path) -> None:
    renamed = edited(OPTION, b"'Decode", b"Arg('--quick')] = False # ")
    with ScanCache(tmp_path / "scans.sqlite") as cache, Workers(1) as workers:
        survey((ASKING, OPTION), cache, workers)
    with ScanCache(tmp_path / "scans.sqlite") as cache, Workers(1) as workers:
        found = survey((ASKING, renamed), cache, workers)
        assert (flags(found, cache), found.fresh) == ({"run.py ValueError": ("--quick",)}, 1)
        without = survey((ASKING,), cache, workers)
        assert (flags(without, cache), without.fresh) == ({"run.py ValueError": ()}, 0)
        again = survey((ASKING, OPTION), cache, workers)
        assert (flags(again, cache), again.fresh) == ({"run.py ValueError": ("--quick-decoding",)}, 0)


def test_what_was_left_open_and_cannot_be_read_is_found_anew(tmp_path: Path) -> None:
    path = tmp_path / "scans.sqlite"
    with ScanCache(path) as cache, Workers(1) as workers:
        survey((ASKING,), cache, workers)
    key = digest("open", digest("file", ASKING.path, hashlib.sha256(ASKING.text).digest()))
    database = sqlite3.connect(path)
    assert database.execute("UPDATE entry SET data = x'00' WHERE key = ?", (key,)).rowcount == 1
    database.commit()
    database.close()
    with ScanCache(path) as cache, Workers(1) as workers:
        found = survey((ASKING, OPTION), cache, workers)
        assert (flags(found, cache), found.passing) == ({"run.py ValueError": ("--quick-decoding",)}, False)


def test_the_same_content_under_another_path_is_another_file() -> None:
    with ScanCache() as cache:
        fresh(cache, OTHER)
        assert fresh(cache, SourceFile("elsewhere/c.py", OTHER.text)) == 1


def test_what_other_files_tell_is_found_again_without_memory_of_the_release_before() -> None:
    with ScanCache() as cache, Workers(1) as workers:
        memory = Memory()
        first = survey((CALLER, HELPER), cache, workers, memory=memory)
        assert survey((CALLER, HELPER), cache, workers, memory=memory) == survey((CALLER, HELPER), cache, workers)
        found = {raised_of(site, path).type for path, key in first.sites for site in cache.get(key)}
    assert found == {"KeyError"}


def test_results_of_other_scanners_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScanCache(tmp_path / "scans.sqlite") as cache:
        fresh(cache, OTHER)
    monkeypatch.setattr(cache_module, "scanner_version", lambda: "another")
    with ScanCache(tmp_path / "scans.sqlite") as cache:
        assert fresh(cache, OTHER) == 1


def test_a_broken_cache_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "scans.sqlite"
    path.write_bytes(b"this is no database, and long enough to be looked at as one" * 40)
    with ScanCache(path) as cache:
        assert fresh(cache, OTHER) == 1


def test_an_entry_that_cannot_be_read_is_found_anew(tmp_path: Path) -> None:
    path = tmp_path / "scans.sqlite"
    with ScanCache(path) as cache:
        fresh(cache, OTHER)
    database = sqlite3.connect(path)
    database.execute("UPDATE entry SET data = x'00' WHERE key != x''")
    database.commit()
    database.close()
    with ScanCache(path) as cache:
        assert fresh(cache, OTHER) == 1


OFFERING = b"""
LIMIT = f"at most {n!r} \\ud800"

class Bad(ValueError):
    def __init__(self, a, b="x", *, c=None):
        super().__init__(f"bad {a} and {b}")

def fail_with(message, kind="usual"):
    raise Bad(f"{kind}: {message}")

def describe(a):
    if a:
        return "one text"
    return f"another {a}"
"""


def test_values_of_scanners_come_back_equal() -> None:
    offers = [offer.value for _, offer in scan_alone(SourceFile("o.py", OFFERING)).offers]
    assert len({type(value) for value in offers}) >= 3
    left = scan_alone(ASKING).open
    assert left is not None
    assert left.wants == {"flag:quick_decoding"}
    assert [full(plain(value)) for value in (*offers, left)] == [*offers, left]
    assert full(plain(frozenset({"b", "a"}))) == frozenset({"a", "b"})
    assert packed(plain(frozenset({"b", "a"}))) == packed(plain(frozenset({"a", "b"})))


def test_a_raise_site_comes_back_equal() -> None:
    site = Raised(
        "ValueError",
        Template.of("bad ", Hole("n", "!r"), " \udc80"),
        "error",
        "",
        "a.py",
        3,
        4,
        "C.f",
        "raise ValueError(\nx)",
        (Condition("if", "x"), Condition("except", "OSError")),
        "def f(x)",
        "fail_with",
        (Template.of("also"),),
        ("--backend fast",),
        "run",
        (("x", "The size."),),
        ("a.b:read",),
    )
    defaults = {field.name for field in fields(Raised) if getattr(site, field.name) == field.default}
    assert not defaults, "set every field here: each must be kept"
    assert raised_of(kept(site), "a.py") == site
    for found in scan_alone(OTHER).raised:
        assert raised_of(kept(found), "c.py") == found


def test_only_values_of_scanners_are_kept_and_read() -> None:
    with pytest.raises(TypeError, match="frozen dataclasses"):
        plain([1])
    with pytest.raises(ValueError, match="no value of a scanner"):
        full(["subprocess:Popen", ("true",)])
    with pytest.raises(ValueError, match="no value of a scanner"):
        full(["bot.catalogue.scanners:suffixes"])


def test_digests_tell_parts_apart() -> None:
    assert digest("ab", "c") != digest("a", "bc")


@dataclass(frozen=True)
class Foreign:
    x: int


def test_a_dataclass_from_elsewhere_is_not_read() -> None:
    with pytest.raises(ValueError, match="no value of a scanner"):
        full(plain(Foreign(1)))
