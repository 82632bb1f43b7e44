"""Lines that a record points to, against the lines of the scan."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.catalogue.pins import check_pins
from bot.catalogue.records import parse_record
from bot.catalogue.source_config import SourceConfig
from bot.model import PinnedSource, RaiseSite, Record, SiteLines, Template

SHA = "0f" * 20
CONFIG = SourceConfig(repository="octo/engine", package="engine", releases=("all",), tag="v{version}")
SITES = [
    RaiseSite("src/core.py", "start", (SiteLines("1.0", 8, 8), SiteLines("1.1", 10, 12), SiteLines(SHA, 20, 20))),
    RaiseSite("src/late.py", "start", (SiteLines("1.1", 90, 90),)),
]
RECORD = Record(id="0" * 16, repository="octo/engine", type="ValueError", templates=(Template.parse("a text of some length"),))


def said(**changed: object) -> tuple[list[tuple[str, str]], int]:
    remarks, unknown = check_pins(replace(RECORD, **changed), SITES, CONFIG, ("1.0", "1.1", "1.2", SHA))  # type: ignore[arg-type]
    return [(remark.problem, remark.mend) for remark in remarks], unknown


@pytest.mark.parametrize(("commit", "line"), [("v1.0", 8), ("v1.1", 10), ("v1.1", 12), (SHA, 20), (SHA[:10], 20)])
def test_a_line_that_raises_the_error_is_right(commit: str, line: int) -> None:
    assert said(source=PinnedSource("src/core.py", line, commit)) == ([], 0)


@pytest.mark.parametrize(
    ("path", "line", "commit", "mend"),
    [
        ("src/core.py", 9, "v1.0", "it is raised at src/core.py:8"),
        ("src/core.py", 13, "v1.1", "it is raised at src/core.py:10"),
        ("src/old.py", 88, "v1.1", "it is raised at src/late.py:90"),
        ("src/core.py", 8, "v1.2", "it does not stand in that release: point to one that has it"),
    ],
)
def test_another_line_is_a_fault_that_names_the_right_one(path: str, line: int, commit: str, mend: str) -> None:
    ((problem, told),), unknown = said(source=PinnedSource(path, line, commit))
    assert problem.startswith(f"line {line} of {path} does not raise this error in ")
    assert (told, unknown) == (mend, 0)


def test_what_was_not_scanned_is_counted() -> None:
    assert said(source=PinnedSource("src/core.py", 1, "ab12cd3")) == ([], 1)
    assert said(meaning="See https://github.com/octo/engine/blob/v0.9/src/core.py#L4.") == ([], 1)


def test_links_in_texts_are_looked_up_too() -> None:
    link = "https://github.com/Octo/engine/blob/{}/src/core.py#L{}"
    assert said(meaning=f"See {link.format('v1.1', '9-L11')} and {link.format('v1.0', 8)}.") == ([], 0)
    assert said(solutions=(f"See {link.format('v1.1', '13-L20')}",))[0][0][1] == "it is raised at src/core.py:10"
    (fault,), _ = said(trigger=link.format("main", 8))
    assert fault == ("`main` is a branch, whose lines move", "name a commit, or the tag of a release, such as v1.2")


def test_links_to_other_repositories_and_to_whole_files_are_no_pins() -> None:
    told = "https://github.com/octo/other/blob/main/a.py#L3 and https://github.com/octo/engine/blob/main/README.md"
    assert said(meaning=told) == ([], 0)


@pytest.mark.parametrize(
    ("commit", "good"), [("v1.1", True), ("release-2.0.1", True), ("ab12cd3", True), ("main", False), ("../1.0", False)]
)
def test_a_source_is_pinned_to_a_commit_or_tag(commit: str, good: bool) -> None:
    text = (
        "type: ValueError\ntemplate: a text of some length\nmeaning: M\nsolutions: [a]\nexamples: ['ValueError: a']\n"
        f"source: {{path: src/core.py, line: 3, commit: '{commit}'}}\n"
    )
    record, faults = parse_record(text.encode(), "octo/engine/a/b.yaml", "octo/engine")
    assert (record is not None) is good
    assert [fault.line for fault in faults] == ([] if good else [6])
