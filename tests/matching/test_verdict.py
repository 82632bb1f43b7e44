"""Whole issues against the catalogue of a small project, scanned from its source: the right record, the right site, or silence."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot.catalogue.catalogue import Catalogue, build
from bot.catalogue.scan import scan, to_records
from bot.catalogue.sources import SourceConfig, SourceFile
from bot.matching import Matcher
from bot.matching.index import Index
from bot.matching.index import build as build_index
from bot.matching.template import split_words
from bot.model import Verdict
from bot.reading import read

REPOSITORY = "acme/rocket"

ENGINE = """
import logging

logger = logging.getLogger(__name__)


class IgnitionError(Exception):
    pass


def start(fuel, valves):
    if fuel < valves:
        raise ValueError(
            f"Cannot ignite with {fuel} litres of kerosene: each of the {valves} valves needs at least one litre"
        )
    assert valves % 2 == 0
    try:
        spark()
    except OSError as error:
        raise IgnitionError(f"Ignition of the main engine failed: {error}. Check the spark plugs.") from error
    logger.error("Engine shut down by the flight computer, see the telemetry above")


def warm(chamber):
    logger.warning(f"Chamber {chamber} is colder than its nominal temperature range")
    raise RuntimeError(f"Chamber {chamber} is colder than allowed by the preheating schedule")


def cool(fuel):
    assert fuel.temperature < fuel.boiling_point
    raise RuntimeError(fuel.problem)


def drain(tank):
    raise KeyError(f"Tank {tank} is not known to the propellant inventory of this stage")


def turn(valve_kind):
    raise BufferError(f"Not support valve_kind: {valve_kind}")


def weld(part):
    raise TypeError(f"{part} must be made of plain steel")
"""

BOOSTER = """
def drain(tank):
    raise KeyError(f"Tank {tank} is not known to the propellant inventory of this stage")


def attach(name):
    raise AttributeError(f"'{name}' object has no attribute '{name}'")
"""

SYMPTOM = """
type: log:error
kind: log
template: "Engine shut down by the flight computer, see the telemetry above"
symptom: true
meaning: Something else failed first.
solutions: ["Read the telemetry above this line."]
status: reviewed
examples: ["Engine shut down by the flight computer, see the telemetry above"]
"""


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalogue]:
    config = SourceConfig(repository=REPOSITORY, package="rocket", path_prefix={"rocket/": "src/rocket/"}, releases=("2.0",))
    files = [
        SourceFile("src/rocket/engine.py", ENGINE.encode()),
        SourceFile("src/rocket/booster.py", BOOSTER.encode()),
    ]
    records = to_records(scan(files), config, "2.0")
    folder = tmp_path_factory.mktemp("rocket")
    written = folder / "errors" / REPOSITORY / "engine" / "shut-down.yaml"
    written.parent.mkdir(parents=True)
    written.write_text(SYMPTOM)
    build(folder / "rocket.sqlite", config, records, ("2.0",))
    with Catalogue.open(folder / "rocket.sqlite", folder / "errors") as opened:
        assert opened.faults == ()
        yield opened


@pytest.fixture(scope="module")
def matcher(catalogue: Catalogue) -> Matcher:
    return Matcher(catalogue)


def explain(matcher: Matcher, title: str, body: str = "") -> Verdict:
    return matcher.match(read(title, body))


def traceback(message: str, *frames: tuple[str, int, str, str]) -> str:
    lines = "\n".join(f'  File "{path}", line {line}, in {name}\n    {code}' for path, line, name, code in frames)
    return f"```\nTraceback (most recent call last):\n{lines}\n{message}\n```"


SITE = "/usr/lib/python3.12/site-packages/rocket"


def test_the_message_in_a_log_line_is_its_record_with_its_values(matcher: Matcher) -> None:
    body = (
        "```\n[12:00:01 stage-1] ERROR ValueError: Cannot ignite with 3 litres of kerosene: "
        "each of the 4 valves needs at least one litre\n```"
    )
    verdict = explain(matcher, "It does not start", body)
    assert verdict.decision == "answer"
    assert verdict.matches[0].record.type == "ValueError"
    assert [(c.expression, c.value) for c in verdict.matches[0].captures] == [("fuel", "3"), ("valves", "4")]


def test_the_head_of_a_message_in_the_title_is_enough(matcher: Matcher) -> None:
    verdict = explain(matcher, "[Bug] Ignition of the main engine failed")
    assert [match.record.type for match in verdict.matches] == ["IgnitionError"]


def test_a_frame_names_the_site_where_two_raise_the_same(matcher: Matcher) -> None:
    message = "KeyError: 'Tank B is not known to the propellant inventory of this stage'"
    line = 'raise KeyError(f"Tank {tank} is not known to the propellant inventory of this stage")'
    verdict = explain(matcher, "crash", traceback(message, (f"{SITE}/booster.py", 3, "drain", line)))
    assert verdict.decision == "answer"
    assert len(verdict.matches[0].record.sites) == 2
    site = verdict.matches[0].site
    assert site is not None
    assert site.path == "src/rocket/booster.py"


def test_without_a_frame_no_site_is_picked_by_chance(matcher: Matcher) -> None:
    verdict = explain(matcher, "KeyError: 'Tank B is not known to the propellant inventory of this stage'")
    assert verdict.decision == "answer"
    assert verdict.matches[0].site is None


def test_an_assert_without_a_message_is_known_by_its_frame(matcher: Matcher) -> None:
    body = traceback("AssertionError", (f"{SITE}/engine.py", 17, "start", "assert valves % 2 == 0"))
    verdict = explain(matcher, "crash", body)
    assert verdict.decision == "answer"
    assert verdict.matches[0].record.expression == "valves % 2 == 0"


def test_a_message_that_is_all_hole_is_known_by_its_frame(matcher: Matcher) -> None:
    body = traceback("RuntimeError: it boils", (f"{SITE}/engine.py", 32, "cool", "raise RuntimeError(fuel.problem)"))
    verdict = explain(matcher, "crash", body)
    assert [str(match.template) for match in verdict.matches] == ["{fuel.problem}"]


def test_a_traceback_that_is_cut_before_its_error_is_known_by_its_last_line(matcher: Matcher) -> None:
    body = traceback("", (f"{SITE}/engine.py", 12, "start", "raise ValueError("))
    assert [match.record.type for match in explain(matcher, "crash", body).matches] == ["ValueError"]


def test_the_cause_of_a_chain_that_is_not_ours_leaves_the_error_that_wraps_it(matcher: Matcher) -> None:
    body = traceback("OSError: [Errno 5] Input/output error", ("/usr/lib/python3.12/socket.py", 1, "spark", "x()"))
    body = body.removesuffix("\n```") + "\n\nThe above exception was the direct cause of the following exception:\n\n"
    body += traceback(
        "rocket.engine.IgnitionError: Ignition of the main engine failed: [Errno 5] Input/output error. Check the spark plugs.",
        (f"{SITE}/engine.py", 21, "start", 'raise IgnitionError(f"Ignition of'),
    ).removeprefix("```\n")
    verdict = explain(matcher, "crash", body)
    assert [match.record.type for match in verdict.matches] == ["IgnitionError"]


def test_the_outer_text_was_printed_and_not_the_one_in_its_hole(matcher: Matcher) -> None:
    inner = "Cannot ignite with 3 litres of kerosene: each of the 4 valves needs at least one litre"
    body = f"```\nIgnitionError: Ignition of the main engine failed: {inner}. Check the spark plugs.\n```"
    assert [match.record.type for match in explain(matcher, "crash", body).matches] == ["IgnitionError"]


def test_a_message_in_the_hole_of_a_short_one_is_not_what_was_raised(matcher: Matcher) -> None:
    inner = "Chamber 7 is colder than allowed by the preheating schedule"
    assert explain(matcher, "crash", f"```\nRuntimeError: {inner}\n```").decision == "answer"
    assert explain(matcher, "crash", f"```\nBufferError: Not support valve_kind: {inner}\n```").decision == "silent"


def test_a_printed_text_with_another_word_is_no_answer(matcher: Matcher) -> None:
    body = "```\nValueError: Cannot ignite with 3 litres of hydrogen: each of the 4 valves needs at least one litre\n```"
    assert explain(matcher, "crash", body).decision != "answer"


@pytest.mark.parametrize(
    "changed",
    [
        "ValueError: Cannot ignite with 3 litres of hydrogen: each of the 4 valves needs at least one litre",
        "RuntimeError: Chamber 7 is colder than it is wont to be by the preheating schedule",
        "ValueError: My spoon must be made of plain steel",
    ],
)
def test_what_was_changed_inside_or_has_another_type_is_no_answer_in_a_title_either(matcher: Matcher, changed: str) -> None:
    assert explain(matcher, f"[Bug] {changed}").decision != "answer"
    assert explain(matcher, "crash", f"```\n{changed}\n```").decision != "answer"


def test_a_printed_text_that_ends_otherwise_is_no_answer(matcher: Matcher) -> None:
    known = "TypeError: My spoon must be made of plain steel"
    assert explain(matcher, "crash", f"```\n{known}\n```").decision == "answer"
    changed = "KeyError: Tank 7 is not known to the propellant inventory of another launch pad, see the list"
    assert explain(matcher, "crash", f"```\n{changed}\n```").decision != "answer"


@pytest.mark.parametrize(("rest", "reason"), [("each of the 4 val...", "cut"), ("drink it at once, said the man who...", "other end")])
def test_a_cut_title_excuses_only_what_is_missing_at_its_end(matcher: Matcher, rest: str, reason: str) -> None:
    (found,) = explain(matcher, f"[Bug] ValueError: Cannot ignite with 3 litres of kerosene: {rest}").matches
    assert {one.name for one in found.reasons} & {"cut", "other end"} == {reason}


def test_a_printed_text_in_the_midst_of_another_sentence_is_no_answer(matcher: Matcher) -> None:
    body = "```\nRuntimeError: The inner Chamber 7 is colder than allowed by the preheating schedule of the boiler\n```"
    assert explain(matcher, "crash", body).decision != "answer"


def test_a_title_that_repeats_a_traceback_of_another_project_is_no_answer(matcher: Matcher) -> None:
    message = "RuntimeError: Chamber 7 is colder than allowed by the preheating schedule"
    body = traceback(message, ("/usr/lib/python3.12/site-packages/boiler/heat.py", 9, "warm", "raise RuntimeError(text)"))
    assert explain(matcher, f"[Bug] {message}", body).decision == "silent"
    assert explain(matcher, f"[Bug] {message}").decision == "answer"


def test_a_chain_of_thousands_ends_with_its_last_error(matcher: Matcher) -> None:
    frame = (f"{SITE}/other.py", 1, "go", "raise RuntimeError(text)")
    link = (
        traceback("RuntimeError: again", frame).strip("`\n") + "\n\nDuring handling of the above exception, another exception occurred:\n\n"
    )
    line = 'raise KeyError(f"Tank {tank} is not known to the propellant inventory of this stage")'
    last = traceback("KeyError: 'Tank B is not known to the propellant inventory of this stage'", (f"{SITE}/booster.py", 3, "drain", line))
    verdict = explain(matcher, "crash", f"```\n{link * 3000}{last.strip('`')}\n```")
    assert [match.record.type for match in verdict.matches] == ["KeyError"]


def test_scores_order_what_is_too_little_to_be_answered(matcher: Matcher) -> None:
    verdict = explain(matcher, "RuntimeError: the preheating schedule")
    assert verdict.decision == "silent"
    scores = [match.score for match in verdict.matches]
    assert scores == sorted(scores, reverse=True)


def test_a_symptom_stands_behind_its_cause(matcher: Matcher) -> None:
    body = (
        "```\nValueError: Cannot ignite with 3 litres of kerosene: each of the 4 valves needs at least one litre\n"
        "[12:00:02] ERROR Engine shut down by the flight computer, see the telemetry above\n```"
    )
    assert [match.record.type for match in explain(matcher, "crash", body).matches] == ["ValueError"]


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("Please add a second stage", "It would be great to have one."),
        ("Engine shut down by the flight computer, see the telemetry above", ""),
        ("crash", "[12:00:00] WARNING Chamber 7 is colder than its nominal temperature range"),
        ("AttributeError: 'NoneType' object has no attribute 'ignite'", ""),
        ("crash", traceback("KeyError: 'tank'", (f"{SITE}/engine.py", 30, "warm", "inventory[tank]"))),
        ("crash", traceback("RuntimeError: boiled over", ("/usr/lib/python3.12/site-packages/torch/x.py", 1, "cool", "raise E"))),
        ("RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB", ""),
        ("What does the engine need at least?", "Each of the valves needs something, I think."),
        ("", ""),
    ],
)
def test_silence(matcher: Matcher, title: str, body: str) -> None:
    verdict = explain(matcher, title, body)
    assert verdict.decision == "silent", verdict.matches


def test_the_stored_index_answers_as_the_built_one(catalogue: Catalogue) -> None:
    built = build_index(catalogue.entries())
    stored = Index.from_bytes(built.to_bytes())
    assert stored is not None
    assert stored.ids == built.ids
    assert stored.patterns == built.patterns
    message = split_words("Cannot ignite with 3 litres of kerosene")
    assert stored.candidates(message) == built.candidates(message) != []
