from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.demo.github import Fault
from bot.model import AddLabels, DropAnswer, Effect, Judge, PostAnswer, React, WithdrawAnswer
from bot.registry import COMMANDS
from bot.trackers import Unavailable

if TYPE_CHECKING:
    from conftest import Scene

WRITTEN = "ValueError: The frobnicator main needs at least 3 sprockets before it can turn"
LINE = "RuntimeError: No flux capacitor was found in slot 7; insert one before starting the drive"


def said(effects: tuple[Effect, ...]) -> tuple[str, str]:
    """The text of the comment, and the reaction."""
    texts = [effect.body for effect in effects if isinstance(effect, PostAnswer)]
    reactions = [effect.content for effect in effects if isinstance(effect, React)]
    return "".join(texts), "".join(reactions)


def test_explain_answers_for_the_issue(scene: Scene) -> None:
    number, _ = scene.open(WRITTEN)
    effects = scene.say(number, "/explain")
    comment = scene.hub.comments("octo/engine", number)[-1]
    assert [type(effect) for effect in effects] == [PostAnswer, React]
    assert isinstance(effects[0], PostAnswer)
    assert effects[0].purpose == f"command:{comment.id}"
    assert "too few sprockets" in effects[0].body
    assert effects[1] == React(number, comment.id, "+1")


@pytest.mark.parametrize("form", ["/explain\n```\n{}\n```", "/explain {}", "See:\n\n{}\n\n/explain"])
def test_explain_answers_for_the_error_in_the_comment_first(scene: Scene, form: str) -> None:
    number, _ = scene.open(WRITTEN)
    text, reaction = said(scene.say(number, form.format(LINE)))
    assert "flux capacitor" in text
    assert "sprockets" not in text
    assert reaction == "+1"


def test_explain_where_there_is_nothing(scene: Scene) -> None:
    number, _ = scene.open("Paint it green.")
    text, reaction = said(scene.say(number, "/explain"))
    assert "No error" in text
    assert reaction == "eyes"


def test_a_closed_issue_is_explained_when_asked_and_a_locked_one_is_not(scene: Scene) -> None:
    number, _ = scene.open(WRITTEN)
    scene.hub.set_open("octo/engine", number, open=False)
    assert "sprockets" in said(scene.say(number, "/explain"))[0]
    scene.hub.lock_issue("octo/engine", number)
    assert scene.say(number, "/explain") == ()


def test_a_record_is_explained_by_its_id_only_when_the_id_is_one(scene: Scene) -> None:
    assert scene.catalogue is not None
    (record,), _ = scene.catalogue.search("sprockets", "", 1, 1)
    number, _ = scene.open("Paint it green.")
    assert "too few sprockets" in said(scene.say(number, f"/explain {record.id}"))[0]
    assert "No error" in said(scene.say(number, "/explain 0123456789abcdef"))[0]
    assert "no command" in said(scene.say(number, "/explain ../../etc/passwd"))[0]


def test_help_lists_every_command_that_is_registered(scene: Scene) -> None:
    number, _ = scene.open("Paint it green.")
    text = said(scene.say(number, "/explain help"))[0].replace("\u200b", "")
    assert len(list(COMMANDS)) >= 5
    for entry in COMMANDS:
        assert entry.facts["usage"] in text
        assert entry.summary.rstrip(".") in text


def test_why_says_what_spoke_for_and_against(scene: Scene) -> None:
    number, _ = scene.open(WRITTEN)
    text, reaction = said(scene.say(number, "/explain why"))
    assert "Why this answer" in text
    assert reaction == "+1"


def test_an_unknown_word_is_answered_with_the_nearest_command(scene: Scene) -> None:
    number, _ = scene.open("Paint it green.")
    text, reaction = said(scene.say(number, "/explain halp"))
    assert "/explain help" in text.replace("\u200b", "")
    assert reaction == "confused"


@pytest.mark.parametrize(
    ("user", "allowed"),
    [("admin", True), ("maintain", True), ("write", True), ("triage", True), ("read", False), ("passer-by", False)],
)
def test_label_is_for_maintainers(scene: Scene, user: str, allowed: bool) -> None:
    number, _ = scene.open(WRITTEN)
    effects = scene.say(number, "/explain label", user)
    assert (AddLabels(number, ("gears",)) in effects) == allowed
    assert said(effects)[1] == ("+1" if allowed else "confused")


@pytest.mark.parametrize("kind", ["502-before-write", "429", "403-secondary"])
def test_a_permission_that_cannot_be_read_is_never_taken_for_granted(scene: Scene, kind: str) -> None:
    number, _ = scene.open(WRITTEN)
    scene.hub.plan(Fault("get_permission", kind, times=5))  # type: ignore[arg-type]
    with pytest.raises(Unavailable):
        scene.say(number, "/explain label", "triage")


def test_a_permission_that_was_taken_away_meanwhile_counts(scene: Scene) -> None:
    number, _ = scene.open(WRITTEN)
    scene.hub.comment("octo/engine", number, "/explain label", "triage")
    scene.hub.state.repository("octo/engine").collaborators["triage"] = "read"
    assert not any(isinstance(effect, AddLabels) for effect in scene.effects())


@pytest.mark.parametrize("body", ["> /explain", "`/explain`", "```\n/explain\n```", "<!-- /explain -->", "look at /explain"])
def test_a_command_that_is_only_shown_is_none(scene: Scene, body: str) -> None:
    number, _ = scene.open(WRITTEN)
    assert scene.say(number, body) == ()


def test_neither_bots_nor_ourselves_are_answered(scene: Scene) -> None:
    number, _ = scene.open(WRITTEN)
    scene.hub.state.account("other[bot]", "Bot")
    assert scene.say(number, "/explain", "other[bot]") == ()
    assert scene.say(number, "/explain", "helper") == ()


def test_only_the_first_command_of_a_comment_counts(scene: Scene) -> None:
    number, _ = scene.open(WRITTEN)
    effects = scene.say(number, "/explain help\n\n/explain why")
    assert [type(effect) for effect in effects] == [PostAnswer, React]
    assert not any(isinstance(effect, WithdrawAnswer) for effect in effects)


def test_that_an_answer_is_wrong_is_counted_without_a_comment(scene: Scene) -> None:
    number, _ = scene.open(WRITTEN)
    effects = scene.say(number, "/explain wrong", "passer-by")
    comment = scene.hub.comments("octo/engine", number)[-1]
    assert effects == (Judge(number, comment.id, "wrong"), React(number, comment.id, "+1"))


@pytest.mark.parametrize(("user", "allowed"), [("octocat", True), ("triage", True), ("read", False), ("passer-by", False)])
def test_silence_is_for_the_author_and_maintainers(scene: Scene, user: str, allowed: bool) -> None:
    number, _ = scene.open(WRITTEN)
    effects = scene.say(number, "/explain off", user)
    assert (DropAnswer(number, "auto") in effects) == allowed
    assert said(effects)[1] == ("+1" if allowed else "confused")


def test_every_command_that_a_comment_names_exists(scene: Scene) -> None:
    number, (_, post) = scene.open(WRITTEN)
    assert isinstance(post, PostAnswer)
    named = {words.split("`")[0].strip() for words in post.body.split("`/explain ")[1:]}
    assert named
    for word in named:
        assert "no command" not in said(scene.say(number, f"/explain {word}"))[0]
