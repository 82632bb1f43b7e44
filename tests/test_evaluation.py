"""Scoring: which posts are right, and what is counted where."""

import json

import pytest

from bot.catalogue.catalogue import Catalogue
from bot.evaluation import CaseError, check_samples, evaluate, judge, read_cases, score
from bot.matching import match
from bot.model import Record, Sample, Verdict
from bot.reading import read

SPROCKETS = """Traceback (most recent call last):
  File "/opt/engine/gears.py", line 10, in turn
    raise ValueError(text)
ValueError: The frobnicator alpha needs at least 3 sprockets before it can turn
"""


@pytest.fixture(scope="module")
def catalogue(engine_catalogue):
    with Catalogue.open(engine_catalogue) as opened:
        yield opened


def case(expect=(), **more):
    return {
        "id": "engine-1",
        "repo": "octo/engine",
        "title": "It stops",
        "body": f"```\n{SPROCKETS}```",
        "kind": "traceback",
        "expect": [{"type": "ValueError", "path": "old.py", "line": 1, "version": "0.1", "latest": list(latest)} for latest in expect],
        **more,
    }


def outcome_of(catalogue, *cases):
    made = list(read_cases(json.dumps(one) for one in cases))
    return evaluate(made, lambda repository: catalogue if repository == "octo/engine" else None)


@pytest.mark.parametrize(
    ("asked", "result"),
    [
        (case([["engine/gears.py:10"]], root=0), "right"),
        (case([["engine/gears.py:11"]], root=0), "wrong"),
        (case([["engine/x.py:1"], ["engine/gears.py:10"]], root=0), "other"),
        (case([["engine/x.py:1"], ["engine/gears.py:10"]], root=1), "right"),
        (case(), "wrong"),
        (case(also_ok=["ValueError The frobnicator {name} needs at least {n} sprockets before it can turn"]), "excused"),
        (case(body="Please add colours."), "silent"),
    ],
)
def test_what_the_first_record_is_worth(catalogue, asked, result):
    (found,) = outcome_of(catalogue, asked).outcomes
    assert found.result == result


def test_recall_counts_positives_and_precision_counts_posts(catalogue):
    seen = outcome_of(
        catalogue,
        case([["engine/gears.py:10"]], root=0),
        case([["engine/gears.py:10"]], root=0, body="Nothing here."),
        case([["engine/other.py:1"]], root=0),
        case(),
        case([["engine/gears.py:10"]], root=0, optional=True, body="Nothing here."),
    )
    scores = score(seen.outcomes, "answer")
    assert (scores.positives, scores.right, scores.answered) == (3, 1, 2)
    assert (scores.posts, scores.good_posts) == (3, 1)
    assert scores.recall == pytest.approx(1 / 3)
    assert scores.coverage == pytest.approx(2 / 3)
    assert scores.precision == pytest.approx(1 / 3)


def test_gone_and_logged_errors_stay_out_of_recall(catalogue):
    gone = case([[]], root=0)
    gone["expect"][0]["gone_in"] = "0.9"
    logged = case([["engine/gears.py:10"]], root=0)
    logged["expect"][0]["type"] = "log:error"
    outcomes = outcome_of(catalogue, gone, logged).outcomes
    assert [outcome.case.group for outcome in outcomes] == ["gone", "log"]
    assert score(outcomes, "answer").positives == 0
    assert score(outcomes, "answer").recall is None


def test_cautious_counts_as_posted_only_at_its_level(catalogue):
    (asked,) = read_cases([json.dumps(case([["engine/gears.py:10"]], root=0))])
    matches = match(read(asked.title, asked.body), catalogue).matches
    outcome = judge(asked, Verdict("cautious", matches))
    assert score([outcome], "answer").right == 0
    assert score([outcome], "cautious").right == 1


def test_a_repository_without_catalogue_is_skipped(catalogue):
    seen = outcome_of(catalogue, case(repo="octo/other"))
    assert seen.outcomes == ()
    assert seen.skipped == (("engine-1", "octo/other"),)


@pytest.mark.parametrize("line", ["{", "[]", '{"id": "x"}', json.dumps(case([["a:1"]], root=7)), '{"id": 1, "expect": 5}'])
def test_a_line_that_is_no_case_is_named(line):
    with pytest.raises(CaseError, match="line 2"):
        list(read_cases(["", line]))


def test_samples_must_match_their_record_and_confusers_must_not(catalogue):
    def faults(text=None, confuser=None, captures=()):
        known = catalogue.search(type="ValueError")[0][0]
        record = Record(
            id=known.id,
            repository=known.repository,
            type=known.type,
            templates=known.templates,
            samples=(Sample(text, captures),) if text else (),
            confusers=(Sample(confuser),) if confuser else (),
            file="octo/engine/x.yaml",
        )
        return check_samples(catalogue, [record])

    assert faults(text=SPROCKETS, captures=(("n", "3"),)) == ()
    assert "gets no answer" in faults(text="all is well")[0].problem
    assert "'3'" in faults(text=SPROCKETS, captures=(("n", "4"),))[0].problem
    assert faults(confuser="ValueError: unrelated") == ()
    assert "confuser" in faults(confuser=SPROCKETS)[0].problem
