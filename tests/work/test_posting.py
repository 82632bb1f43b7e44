from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot import store
from bot.demo.github import Fault
from bot.model import AddLabels, DropAnswer, PostAnswer, React, WithdrawAnswer
from bot.work.manners import MAX_COMMENTS_A_DAY
from bot.work.marker import job_id, mark
from bot.work.posting import MAX_ATTEMPTS, perform
from bot.work.sweeps import repair

if TYPE_CHECKING:
    from conftest import Bench

REPOSITORY = "octo/engine"
one_database = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def answer_of(bench: Bench, purpose: str = "auto") -> store.Answer:
    found = store.find_answer(bench.desk.engine, bench.desk.repository_id, bench.issue, purpose)
    assert found is not None
    return found


def test_one_answer_is_one_comment_that_follows_its_text(bench: Bench) -> None:
    assert [outcome.what for outcome in bench.post("first")] == ["posted"]
    assert [outcome.what for outcome in bench.post("first")] == ["unchanged"]
    assert [outcome.what for outcome in bench.post("second")] == ["edited"]
    assert bench.texts == ["second"]
    assert bench.hub.count("create_comment") == 1
    assert bench.hub.count("update_comment") == 1


@one_database
def test_answers_of_different_purpose_stand_side_by_side(bench: Bench) -> None:
    bench.post("auto")
    bench.post("asked", "command:7")
    assert bench.texts == ["auto", "asked"]


@one_database
@pytest.mark.parametrize("kind", ["502-after-write", "reset", "timeout"])
def test_a_write_that_arrived_without_an_answer_is_found_again(bench: Bench, kind: str) -> None:
    bench.hub.plan(Fault("create_comment", kind, seconds=0.1))
    outcomes = bench.post("text")
    assert bench.texts == ["text"]
    assert bench.hub.count("create_comment") == 1
    assert outcomes[0].state == "wait"
    assert answer_of(bench).comment_id == bench.comments[0].id


@one_database
@pytest.mark.parametrize("kind", ["502-before-write", "reset-before-write"])
def test_a_write_that_did_not_arrive_is_repeated(bench: Bench, kind: str) -> None:
    bench.hub.plan(Fault("create_comment", kind, times=2))
    bench.post("text")
    assert bench.texts == ["text"]
    assert bench.hub.count("create_comment") == 3


@one_database
def test_a_list_that_lags_less_than_the_settle_time_doubles_nothing(bench: Bench) -> None:
    bench.hub.plan(Fault("create_comment", "502-after-write"), Fault("list_comments", "list-lag", times=9, seconds=0.2))
    bench.post("text")
    assert bench.texts == ["text"]


@one_database
def test_a_list_that_lags_longer_is_why_there_is_a_settle_time(bench: Bench) -> None:
    bench.desk = replace(bench.desk, settle=0.0)
    bench.hub.plan(Fault("create_comment", "502-after-write"), Fault("list_comments", "list-lag", times=9, seconds=5.0))
    bench.post("text")
    assert bench.texts == ["text", "text"]


@one_database
def test_the_answer_is_changed_where_the_text_changed_during_the_wait(bench: Bench) -> None:
    bench.hub.plan(Fault("create_comment", "502-after-write"))
    assert perform(PostAnswer(bench.issue, "auto", "first"), bench.desk).state == "wait"
    bench.post("second")
    assert bench.texts == ["second"]
    assert bench.hub.count("create_comment") == 1


@one_database
def test_a_marker_pasted_by_another_user_is_not_believed(bench: Bench) -> None:
    job = job_id(bench.desk.repository_id, bench.issue, "auto")
    bench.hub.comment(REPOSITORY, bench.issue, mark("mine now", job, bench.desk.secrets), user="mallory")
    bench.post("ours")
    assert bench.texts == ["mine now", "ours"]
    assert answer_of(bench).comment_id == bench.comments[1].id


@one_database
def test_what_another_front_end_has_written_is_not_written_again(bench: Bench) -> None:
    bench.hub.state.account("github-actions[bot]", "Bot")
    job = job_id(bench.desk.repository_id, bench.issue, "auto")
    bench.hub.comment(REPOSITORY, bench.issue, mark("text", job, bench.desk.secrets), user="github-actions[bot]")
    assert [outcome.what for outcome in bench.post("text")] == ["another front end answers"]
    assert len(bench.comments) == 1
    # What it says of another answer, or under another secret, is none of ours.
    bench.post("asked", "command:7")
    bench.hub.delete_comment(REPOSITORY, bench.comments[0].id)
    bench.hub.comment(REPOSITORY, bench.issue, mark("text", job, [b"the secret of somebody else, long enough"]), user="github-actions[bot]")
    bench.post("text")
    assert bench.hub.count("create_comment") == 2


@one_database
def test_a_marker_in_our_own_comment_counts_only_with_a_right_code_at_its_end(bench: Bench) -> None:
    job = job_id(bench.desk.repository_id, bench.issue, "auto")
    forged = mark("forged", job, [b"another secret, that is not known here"])
    bench.hub.comment(REPOSITORY, bench.issue, forged, user="helper")
    bench.hub.comment(REPOSITORY, bench.issue, mark("quoted", job, bench.desk.secrets) + "\nand more", user="helper")
    bench.post("ours")
    assert len(bench.comments) == 3


@one_database
def test_a_comment_marked_with_an_older_secret_is_known_after_the_secret_changed(bench: Bench) -> None:
    old = bench.desk.secrets
    bench.hub.plan(Fault("create_comment", "502-after-write"))
    perform(PostAnswer(bench.issue, "auto", "text"), bench.desk)
    bench.desk = replace(bench.desk, secrets=(b"the new secret, also long enough to use", *old))
    assert bench.post("text")[-1].what == "unchanged"
    assert len(bench.comments) == 1


@one_database
def test_a_lost_database_doubles_nothing(bench: Bench, tmp_path: object) -> None:
    bench.post("text")
    bench.desk = replace(bench.desk, engine=store.open(f"sqlite:///{tmp_path}/another.sqlite"))
    assert bench.post("text")[-1].what == "unchanged"
    assert bench.texts == ["text"]


def test_a_comment_that_moved_with_its_issue_goes_on_at_the_new_place(bench: Bench) -> None:
    bench.post("old place")
    target = bench.hub.add_repository("octo/other")
    moved = bench.hub.transfer_issue(REPOSITORY, bench.issue, "octo/other")
    tracker = type(bench.desk.tracker)(bench.desk.tracker._access, "octo/other", bench.desk.tracker.identity)
    there = replace(bench.desk, tracker=tracker, repository_id=target.id)
    assert perform(PostAnswer(moved.number, "auto", "new place"), there).what == "edited"
    assert perform(PostAnswer(moved.number, "auto", "new place"), there).what == "unchanged"
    (comment,) = bench.hub.comments("octo/other", moved.number)
    assert comment.body.startswith("new place")


@one_database
def test_a_deleted_comment_is_not_written_again_unless_asked_for(bench: Bench) -> None:
    bench.post("text")
    bench.hub.delete_comment(REPOSITORY, bench.comments[0].id, user="octo")
    assert bench.post("text")[-1].what == "unchanged"
    assert bench.post("other")[-1].what == "left deleted"
    assert bench.post("third")[-1].what == "left deleted"
    assert bench.comments == ()
    bench.post("asked", "command:5")
    assert bench.texts == ["asked"]


def test_withdrawing_edits_the_comment_and_a_new_answer_takes_its_place(bench: Bench) -> None:
    nothing = WithdrawAnswer(bench.issue, "auto", "withdrawn")
    assert bench.run(nothing)[-1].what == "nothing to withdraw"
    assert bench.comments == ()
    bench.post("text")
    assert bench.run(nothing)[-1].what == "edited"
    assert bench.run(nothing)[-1].what == "unchanged"
    assert bench.texts == ["withdrawn"]
    bench.post("text")
    assert bench.texts == ["text"]
    assert bench.hub.count("create_comment") == 1


@one_database
def test_withdrawing_finds_a_comment_of_unknown_outcome(bench: Bench) -> None:
    bench.hub.plan(Fault("create_comment", "502-after-write"))
    perform(PostAnswer(bench.issue, "auto", "text"), bench.desk)
    bench.run(WithdrawAnswer(bench.issue, "auto", "withdrawn"))
    assert bench.texts == ["withdrawn"]


def test_an_answer_that_nobody_wants_is_deleted_and_never_written_again(bench: Bench) -> None:
    bench.hub.plan(Fault("create_comment", "502-after-write"))
    perform(PostAnswer(bench.issue, "auto", "text"), bench.desk)
    assert bench.run(DropAnswer(bench.issue, "auto"))[-1].what == "not wanted"
    assert bench.comments == ()
    assert bench.post("other text")[-1].what == "left deleted"
    bench.run(WithdrawAnswer(bench.issue, "auto", "withdrawn"))
    assert bench.comments == ()


@one_database
def test_silence_can_be_asked_for_before_there_is_an_answer(bench: Bench) -> None:
    assert perform(DropAnswer(bench.issue, "auto"), bench.desk).state == "done"
    assert bench.post("text")[-1].what == "left deleted"
    assert bench.comments == ()


def test_attempts_are_bounded(bench: Bench) -> None:
    bench.desk = replace(bench.desk, settle=0.01)
    bench.hub.plan(Fault("create_comment", "502-before-write", times=100))
    bench.post("text")
    assert bench.hub.count("create_comment") == MAX_ATTEMPTS
    assert answer_of(bench).state == "dead"
    assert bench.comments == ()


@one_database
def test_edits_that_fail_are_bounded_and_tried_again_by_the_next_event(bench: Bench) -> None:
    bench.post("text")
    bench.desk = replace(bench.desk, settle=0.01)
    bench.hub.plan(Fault("update_comment", "502-before-write", times=MAX_ATTEMPTS))
    assert bench.post("other")[-1].what == "edit given up"
    assert bench.texts == ["text"]
    bench.post("other")
    assert bench.texts == ["other"]


@one_database
def test_a_locked_issue_ends_the_attempt_and_an_unlocked_one_is_tried_again(bench: Bench) -> None:
    bench.hub.state.repository(REPOSITORY).collaborators.clear()  # who may write here may also comment on a locked issue
    bench.hub.lock_issue(REPOSITORY, bench.issue)
    assert [outcome.what for outcome in bench.post("text")] == ["dead"]
    assert answer_of(bench).reason == "refused"
    bench.hub.lock_issue(REPOSITORY, bench.issue, locked=False)
    bench.post("text")
    assert bench.texts == ["text"]


@one_database
def test_a_deleted_issue_ends_the_attempt(bench: Bench) -> None:
    bench.hub.delete_issue(REPOSITORY, bench.issue)
    with pytest.raises(Exception, match=r".*") as raised:
        perform(PostAnswer(bench.issue, "auto", "text"), bench.desk)
    assert raised.type.__name__ == "Gone"


@pytest.mark.parametrize("kind", ["429", "403-secondary", "403-primary"])
def test_being_asked_to_wait_puts_all_writes_of_the_installation_off(bench: Bench, kind: str) -> None:
    bench.hub.plan(Fault("create_comment", kind, seconds=30.0))
    asked = perform(PostAnswer(bench.issue, "auto", "text"), bench.desk)
    assert asked.state == "later"
    assert 25 < asked.seconds <= 120
    other = bench.hub.open_issue(REPOSITORY, "another").number
    held = perform(PostAnswer(other, "auto", "text"), bench.desk)
    assert held.state == "wait"
    assert held.seconds > 20
    assert bench.hub.count("create_comment") == 1
    assert answer_of(bench).attempts == 0


def test_writes_keep_their_interval(bench: Bench) -> None:
    bench.desk = replace(bench.desk, interval=60.0)
    assert perform(PostAnswer(bench.issue, "auto", "text"), bench.desk).state == "done"
    paced = perform(PostAnswer(bench.issue, "command:1", "text"), bench.desk)
    assert paced.state == "wait"
    assert 50 < paced.seconds <= 60
    assert bench.texts == ["text"]


def test_comments_on_one_issue_are_bounded(bench: Bench) -> None:
    for number in range(MAX_COMMENTS_A_DAY + 3):
        bench.post(f"answer {number}", f"command:{number}")
    assert len(bench.comments) == MAX_COMMENTS_A_DAY


@one_database
def test_reactions_and_labels_are_the_same_twice(bench: Bench) -> None:
    comment = bench.hub.comment(REPOSITORY, bench.issue, "/explain")
    for _ in range(2):
        assert perform(React(bench.issue, comment.id, "+1"), bench.desk).state == "done"
        assert perform(AddLabels(bench.issue, ("area",)), bench.desk).state == "done"
    assert [reaction.content for reaction in bench.comments[0].reactions] == ["+1"]
    assert bench.hub.issue(REPOSITORY, bench.issue).labels == ("area",)


@one_database
def test_repair_deletes_the_younger_of_two_comments_with_one_marker(bench: Bench) -> None:
    bench.post("text")
    kept = bench.comments[0]
    bench.hub.comment(REPOSITORY, bench.issue, kept.body, user="helper")
    pasted = bench.hub.comment(REPOSITORY, bench.issue, kept.body, user="mallory")
    bench.post("asked", "command:3")
    (deleted,) = repair(bench.desk, bench.issue)
    assert kept.id < deleted < pasted.id
    assert [comment.id for comment in bench.comments][:2] == [kept.id, pasted.id]
    assert repair(bench.desk, bench.issue) == ()


@one_database
def test_repair_lets_the_answer_point_to_the_comment_that_stays(bench: Bench) -> None:
    bench.post("text")
    older = bench.comments[0]
    younger = bench.hub.comment(REPOSITORY, bench.issue, older.body, user="helper")
    store.note(bench.desk.engine, answer_of(bench), comment_id=younger.id)
    repair(bench.desk, bench.issue)
    bench.post("new text")
    assert bench.texts == ["new text"]
    assert bench.comments[0].id == older.id


@one_database
@pytest.mark.parametrize("kind", ["404", "410", "403-archived", "422-spam"])
def test_a_refusal_for_good_ends_the_attempt_at_once(bench: Bench, kind: str) -> None:
    bench.hub.plan(Fault("create_comment", kind))  # type: ignore[arg-type]
    assert [outcome.what for outcome in bench.post("text")] == ["dead"]
    assert bench.hub.count("create_comment") == 1
    assert bench.comments == ()


@one_database
def test_a_suspended_installation_is_waited_for(bench: Bench) -> None:
    bench.hub.plan(Fault("create_comment", "403-suspended"))
    outcome = perform(PostAnswer(bench.issue, "auto", "text"), bench.desk)
    assert (outcome.state, outcome.seconds) == ("later", 3600.0)
    assert answer_of(bench).attempts == 0


LONG = "**It fails**\n\n```text\nline\n```\n\n<sub>[page](https://bot.example/errors/1)</sub>"
SHORT = "**It fails**\n\n<sub>[page](https://bot.example/errors/1)</sub>"


@one_database
def test_a_comment_that_is_too_long_is_written_once_more_and_shorter(bench: Bench) -> None:
    bench.hub.plan(Fault("create_comment", "422-long"))
    assert [outcome.what for outcome in bench.post(LONG)] == ["too long", "posted"]
    assert bench.texts == [SHORT]
    # The next look at the same answer has nothing to write.
    assert [outcome.what for outcome in bench.post(LONG)] == ["unchanged"]


@one_database
def test_a_comment_that_is_too_long_in_its_short_form_too_is_given_up(bench: Bench) -> None:
    bench.hub.plan(Fault("create_comment", "422-long", times=5))
    assert [outcome.what for outcome in bench.post(LONG)] == ["too long", "dead"]
    assert bench.hub.count("create_comment") == 2
    assert bench.comments == ()


@one_database
def test_an_edit_that_is_too_long_is_made_shorter_once(bench: Bench) -> None:
    bench.post("text")
    bench.hub.plan(Fault("update_comment", "422-long", times=3))
    assert [outcome.what for outcome in bench.post(LONG)] == ["too long", "refused"]
    assert bench.texts == ["text"]
    # A new event tries the whole text, and then the short one.
    assert [outcome.what for outcome in bench.post(LONG)] == ["too long", "edited"]
    assert bench.texts == [SHORT]


@one_database
def test_a_short_form_whose_outcome_is_unknown_is_looked_for(bench: Bench) -> None:
    bench.hub.plan(Fault("create_comment", "422-long"), Fault("create_comment", "502-after-write"))
    assert [outcome.what for outcome in bench.post(LONG)] == ["too long", "ambiguous", "edited"]
    assert len(bench.comments) == 1
