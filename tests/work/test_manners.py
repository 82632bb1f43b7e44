"""How much the bot writes, and where it keeps quiet: handlers, store and desk together, on the stand-in."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bot import store
from bot.catalogue.catalogue import Catalogue
from bot.config import Settings
from bot.demo.github import Fault, StandIn, faults_of
from bot.demo.github.faults import WRITES
from bot.model import PostAnswer
from bot.store.tables import written
from bot.trackers.github.app import connect
from bot.work.desk import Desk
from bot.work.manners import MAX_COMMENTS_A_DAY
from bot.work.posting import perform
from tests.engine import REPOSITORY
from tests.engine import SPROCKETS as WRITTEN
from tests.work.play import Play

LINE = "RuntimeError: No flux capacitor was found in slot 7; insert one before starting the drive"
one_database = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.fixture
def play(standin: StandIn, make_settings: Callable[..., Settings], database_url: str, engine_catalogue: Path) -> Play:
    settings = make_settings(database_url=database_url)
    tracker = connect(settings, REPOSITORY)
    tracker.token = settings.token  # type: ignore[attr-defined]
    desk = Desk(store.open(database_url), tracker, settings.secrets, standin.state.repository(REPOSITORY).id, "all", 0.2, 0.0)
    return Play(standin, desk, Catalogue.open(engine_catalogue))


def test_wrong_folds_right_unfolds_and_the_tally_follows(play: Play) -> None:
    issue, record = play.open(), play.record("sprockets")
    before = play.own(issue)
    assert play.say(issue, "/explain wrong", "passer-by") == ["eyes", "+1"]
    (folded,) = play.own(issue)
    assert "reported as wrong" in folded.splitlines()[0]
    assert "<details>" in folded
    assert store.tally(play.desk.engine, record) == {"wrong": 1}
    play.hub.edit_issue(REPOSITORY, issue, body=WRITTEN.format("a") + "\n\nAny idea?")
    play.run()
    assert play.own(issue) == [folded]  # another edit does not bring it back
    assert play.say(issue, "/explain right") == ["eyes", "+1"]
    assert play.own(issue) == before
    assert store.tally(play.desk.engine, record) == {"wrong": 1, "right": 1}
    assert play.hub.count("create_comment") == 1


@one_database
def test_a_request_that_is_edited_has_its_answer_edited(play: Play) -> None:
    issue = play.open("Paint it green.")
    asked = play.hub.comment(REPOSITORY, issue, "/explain halp")
    play.run()
    assert "no command" in play.own(issue)[0]
    play.hub.edit_comment(REPOSITORY, asked.id, "/explain help")
    play.run()
    (text,) = play.own(issue)
    assert text.startswith("**What you can ask for**")
    play.hub.edit_comment(REPOSITORY, asked.id, "never mind")
    play.run()
    (text,) = play.own(issue)
    assert "request was changed" in text


@one_database
def test_off_and_on_again_leave_one_comment(play: Play) -> None:
    issue = play.open()
    assert play.say(issue, "/explain off") == ["eyes", "+1"]
    assert play.own(issue) == []
    play.hub.edit_issue(REPOSITORY, issue, body=WRITTEN.format("b"))
    play.run()
    assert play.own(issue) == []
    assert play.say(issue, "/explain on") == ["eyes", "+1"]
    assert len(play.own(issue)) == 1


@one_database
def test_off_and_on_in_turns_fills_no_mailbox(play: Play) -> None:
    issue = play.open()
    for _ in range(5):
        play.say(issue, "/explain off")
        play.say(issue, "/explain on")
    assert play.hub.count("create_comment") == MAX_COMMENTS_A_DAY


@one_database
def test_as_holds_and_a_duplicate_is_found_by_it(play: Play) -> None:
    first, issue = play.open(), play.open("RuntimeError: something else entirely")
    assert play.own(issue) == []
    assert play.say(issue, f"/explain as {play.record('sprockets')}", "maintainer") == ["eyes", "+1"]
    (text,) = play.own(issue)
    assert "too few sprockets" in text
    play.hub.edit_issue(REPOSITORY, issue, body="nothing at all")
    play.run()
    assert play.own(issue) == [text]
    play.say(issue, "/explain duplicate", "maintainer")
    assert f"issue {first}" in play.own(issue)[-1]


@one_database
def test_an_edit_that_removes_the_error_folds_the_answer_and_its_return_unfolds_it(play: Play) -> None:
    issue = play.open()
    before = play.own(issue)
    play.hub.edit_issue(REPOSITORY, issue, body="Paint it green.")
    play.run()
    (folded,) = play.own(issue)
    assert "no longer in the issue" in folded.splitlines()[0]
    assert "<details>" in folded
    play.hub.edit_issue(REPOSITORY, issue, body="Paint it red.")
    play.run()
    assert play.own(issue) == [folded]
    play.hub.edit_issue(REPOSITORY, issue, body=WRITTEN.format("a"))
    play.run()
    assert play.own(issue) == before


def test_an_issue_gets_three_comments_a_day_whatever_they_are_for(play: Play) -> None:
    issue = play.open()
    assert [play.say(issue, "/explain help", f"user-{n}")[-1] for n in range(4)] == ["+1", "+1", "confused", "confused"]
    assert len(play.own(issue)) == MAX_COMMENTS_A_DAY
    with store.write(play.desk.engine) as connection:
        connection.execute(written.update().values(at=time.time() - 24 * 3600 - 60))
    assert play.say(issue, "/explain help", "user-9")[-1] == "+1"


def test_one_persons_flood_gets_five_comments_and_nobody_else_waits(play: Play) -> None:
    play.desk = replace(play.desk, per_person=5)
    flood = [play.open(WRITTEN.format(n), "mallory") for n in range(12)]
    other = play.open(WRITTEN.format("x"), "anna")
    assert sum(len(play.own(issue)) for issue in flood) == 5
    assert len(play.own(other)) == 1


@one_database
@pytest.mark.parametrize(("role", "most"), [("triage", 8), ("read", 5)])
def test_maintainers_may_ask_more(play: Play, role: str, most: int) -> None:
    play.desk = replace(play.desk, per_person=5)
    play.hub.state.repository(REPOSITORY).collaborators["anna"] = role
    issues = [play.open(WRITTEN.format(n), "anna") for n in range(8)]
    assert sum(len(play.own(issue)) for issue in issues) == most


@one_database
def test_a_permission_that_cannot_be_read_does_not_lift_the_limit(play: Play) -> None:
    play.desk = replace(play.desk, per_person=2)
    for n in range(2):
        play.open(WRITTEN.format(n), "maintainer")
    play.hub.plan(Fault("get_permission", "502-before-write", times=9))
    assert play.own(play.open(WRITTEN.format("z"), "maintainer")) == []


def test_the_hour_of_a_repository_has_room_for_so_many(play: Play) -> None:
    play.desk = replace(play.desk, per_repository=3)
    for n in range(3):
        play.open(WRITTEN.format(n), f"user-{n}")
    number = play.hub.open_issue(REPOSITORY, "It fails", WRITTEN.format("x")).number
    outcome = perform(PostAnswer(number, "auto", "text"), play.desk)
    assert outcome.state == "wait"
    assert 3500 < outcome.seconds <= 3600
    assert play.own(number) == []


@one_database
def test_an_issue_transferred_twice_keeps_its_one_comment(play: Play) -> None:
    for name in ("octo/second", "octo/third"):
        play.hub.add_repository(name, collaborators={"helper": "write"})
    issue = play.open()
    second = play.hub.transfer_issue(REPOSITORY, issue, "octo/second").number
    play.run()
    third = play.hub.transfer_issue("octo/second", second, "octo/third").number
    play.run()
    assert len(play.own(third, "octo/third")) == 1
    assert play.hub.count("create_comment") == 1


@one_database
@pytest.mark.parametrize("how", ["locked", "deleted", "closed by a bot"])
def test_some_issues_are_never_answered(play: Play, how: str) -> None:
    play.hub.state.account("closer[bot]", "Bot")
    number = play.hub.open_issue(REPOSITORY, "It fails", WRITTEN.format("a")).number
    if how == "locked":
        play.hub.lock_issue(REPOSITORY, number)
        play.hub.comment(REPOSITORY, number, "/explain")
    if how == "closed by a bot":
        play.hub.set_open(REPOSITORY, number, open=False, user="closer[bot]")
    if how == "deleted":
        play.hub.delete_issue(REPOSITORY, number)
    play.run()
    assert play.hub.count("create_comment") == 0


@one_database
def test_two_bots_that_answer_each_other_come_to_rest(play: Play) -> None:
    """The other one passes for a person, and answers everything that happens with a command."""
    play.desk = replace(play.desk, per_person=5, commands_per_person=20)
    issue, events, most = play.open(), 0, 0
    commands = ("", " help", " wrong", " right", " halp", " why", " off", " on")
    while events < 1000:
        play.hub.comment(REPOSITORY, issue, f"/explain{commands[events % len(commands)]}", "echo")
        events += len(play.run())
        most = max(most, len(play.own(issue)))
    assert most <= MAX_COMMENTS_A_DAY
    assert play.hub.count("create_comment") <= MAX_COMMENTS_A_DAY
    assert play.hub.count("get_comment") <= 40  # what came after the twentieth command was not even read


@one_database
@pytest.mark.parametrize("seed", range(4))
def test_whatever_fails_on_the_way_each_issue_and_request_has_one_comment(play: Play, seed: int) -> None:
    kinds = ("502-before-write", "502-after-write", "reset-before-write", "reset", "timeout", "429", "403-secondary", "list-lag")
    play.hub.plan(*faults_of(seed, 25, kinds, WRITES))
    issues = [play.open(WRITTEN.format(n), f"user-{n}") for n in range(6)]
    for issue in issues:
        assert play.say(issue, f"/explain\n```\n{LINE}\n```", "anna")[-1] == "+1"
    for issue in issues:
        assert ["flux" in text for text in play.own(issue)] == [False, True]


def test_a_seed_gives_the_same_faults() -> None:
    assert faults_of(7, 50) == faults_of(7, 50)
    assert faults_of(7, 50) != faults_of(8, 50)
    assert len({fault.kind for fault in faults_of(7, 500)}) > 15
