from __future__ import annotations

from pathlib import Path

import pytest

from bot.catalogue.catalogue import Catalogue
from bot.handlers.triage import backlog, number_blind
from bot.model import Issue, Occurrence

SPROCKETS = "ValueError: The frobnicator {} needs at least 3 sprockets before it can turn"
LINE = "RuntimeError: No flux capacitor was found in slot 7; insert one before starting the drive"
FOREIGN = "ImportError: libgear.so.{}: cannot open shared object file"


def issue(number: int, body: str, **more: bool) -> Issue:
    return Issue("octo/engine", 1, number, "It fails", body, "octocat", **more)


def test_a_backlog_counts_known_errors_then_unknown_ones(engine_catalogue: Path) -> None:
    texts = {
        9: SPROCKETS.format("a"),
        2: SPROCKETS.format("b"),
        3: LINE,
        4: FOREIGN.format(1),
        5: FOREIGN.format(2),
        6: "OSError: [Errno 5] broken",
        7: "Paint it green.",
    }
    issues = [issue(number, text) for number, text in texts.items()]
    issues += [issue(20, SPROCKETS.format("c"), is_pull_request=True), issue(21, SPROCKETS.format("d"), by_bot=True)]
    found = backlog(issues, Catalogue.open(engine_catalogue))
    assert [(known.record.type, known.issues) for known in found.known] == [("ValueError", (2, 9)), ("RuntimeError", (3,))]
    assert [unknown.issues for unknown in found.unknown] == [(4, 5), (6,)]
    assert found.unknown[0].key.startswith("ImportError: libgear.so.#")
    assert (found.total, found.silent) == (7, 1)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("slot 7 is free", "slot 12 is free", True),
        ("no 'a.bin' here", "no 'b.bin' here", True),
        ("bad pointer 0x7f3a", "bad pointer 0x9", True),
        ("slot 7 is free", "slot 7 is taken", False),
    ],
)
def test_numbers_and_names_do_not_make_errors_different(one: str, other: str, alike: bool) -> None:
    keys = [number_blind(Occurrence("OSError", text, (0, 0))) for text in (one, other)]
    assert (keys[0] == keys[1]) == alike


def test_the_key_of_a_huge_message_is_short() -> None:
    assert len(number_blind(Occurrence("OSError", "'" * 1_000_000, (0, 0)))) <= 200
