"""A whole source: processes, files that are skipped, records."""

from __future__ import annotations

import multiprocessing

from bot.catalogue.scan import BATCH_BYTES, scan, to_records
from bot.catalogue.sources import SourceConfig, SourceFile
from bot.model import record_id

CONFIG = SourceConfig(repository="some/project", package="project", path_prefix={"project/": "python/project/"}, releases=("1.0",))

FILES = [
    SourceFile("python/project/a.py", b'def f(n):\n    if n < 0:\n        raise ValueError(f"bad {n}")\n'),
    SourceFile("python/project/b.py", b'def g(m):\n    raise ValueError(f"bad {m}")\n\n\nassert f\n'),
    SourceFile("python/project/broken.py", b"def (\n"),
    SourceFile("python/project/refused.py", b"", "its path leaves the source"),
    SourceFile("python/project/c.py", b'from project.d import fail_with\nfail_with("the text of c")\n'),
    SourceFile("python/project/d.py", b"def fail_with(message):\n    raise KeyError(message)\n"),
]


def test_processes_find_what_one_process_finds() -> None:
    seen: list[tuple[int, int]] = []
    alone = scan(FILES, processes=1)
    together = scan(FILES, lambda done, total: seen.append((done, total)), total=len(FILES), processes=2)
    assert together == alone
    assert seen[-1] == (len(FILES), len(FILES))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_the_death_of_processes_loses_nothing() -> None:
    padding = b"# " + b"x" * BATCH_BYTES + b"\n"
    large = [SourceFile(f"python/project/f{n:02}.py", padding + b"raise ValueError('text %d')\n" % n) for n in range(16)]
    killed: list[int | None] = []

    def kill(done: int, total: int) -> None:
        if not killed:
            for process in multiprocessing.active_children():
                killed.append(process.pid)
                process.kill()

    result = scan(large, kill, processes=2)
    assert len(killed) == 2
    assert result == scan(large, processes=1)


def test_what_was_skipped_is_named_and_the_rest_scanned() -> None:
    result = scan(FILES, processes=1)
    assert result.files == len(FILES) - 2
    assert [(one.path, one.reason.split(":")[0]) for one in result.skipped] == [
        ("python/project/broken.py", "cannot be parsed"),
        ("python/project/refused.py", "its path leaves the source"),
    ]
    assert ("KeyError", "fail_with") in {(raised.type, raised.through) for raised in result.raised}


def test_records_join_equal_texts() -> None:
    result = scan(FILES, processes=1)
    records = to_records(result, CONFIG, "1.0")
    assert len({record.id for record in records}) == len(records)
    bad = next(record for record in records if record.type == "ValueError")
    assert [(site.path, site.function, site.latest.line) for site in bad.sites] == [
        ("python/project/a.py", "f", 3),
        ("python/project/b.py", "g", 2),
    ]
    assert str(bad.template) == "bad {n}"
    assert bad.id == record_id("some/project", "ValueError", bad.template)
    asserted = next(record for record in records if record.kind == "assert")
    assert (asserted.templates, asserted.expression, asserted.sites[0].function) == ((), "f", "<module>")


def test_records_do_not_depend_on_the_order_of_files() -> None:
    assert to_records(scan(FILES[::-1], processes=1), CONFIG, "1.0") == to_records(scan(FILES, processes=1), CONFIG, "1.0")
