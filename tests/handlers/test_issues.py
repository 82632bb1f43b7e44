from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.config import RepoConfig, parse_repo_config
from bot.handlers import Given
from bot.handlers.explain import explain_text, is_posted
from bot.model import AddLabels, PostAnswer, Remember, Verdict, WithdrawAnswer

if TYPE_CHECKING:
    from conftest import Scene

WRITTEN = "ValueError: The frobnicator main needs at least 3 sprockets before it can turn"
LINE = "RuntimeError: No flux capacitor was found in slot 7; insert one before starting the drive"
TRACEBACK = f"""
```
Traceback (most recent call last):
  File "/usr/lib/python3/site-packages/engine/drive.py", line 20, in start
    raise RuntimeError(f"No flux capacitor was found in slot {{slot}}; insert one before starting the drive")
{LINE}
```
"""
FEATURE = "Please add a button that paints the engine green."


def test_an_issue_with_a_known_error_is_answered_and_remembered(scene: Scene) -> None:
    number, (remember, post) = scene.open(WRITTEN)
    assert isinstance(post, PostAnswer)
    assert (post.issue, post.purpose) == (number, "auto")
    assert "too few sprockets" in post.body
    assert f"http://bot.test/errors/{post.records[0]}" in post.body
    assert remember == Remember(number, "answer", post.records)


def test_a_feature_request_takes_back_what_was_said_before(scene: Scene) -> None:
    number, (remember, withdraw) = scene.open(FEATURE)
    assert remember == Remember(number, "silent", ())
    assert isinstance(withdraw, WithdrawAnswer)


def test_the_three_newest_earlier_issues_are_named_with_how_they_ended(scene: Scene) -> None:
    numbers = [scene.open(WRITTEN, title="@octocat closes #1")[0] for _ in range(6)]
    scene.hub.set_open("octo/engine", numbers[4], open=False)
    scene.hub.delete_issue("octo/engine", numbers[3])
    scene.remember(issues=(*numbers, numbers[-1] + 1, numbers[-1] + 2))
    number, (_, post) = scene.open(WRITTEN)
    assert isinstance(post, PostAnswer)
    (line,) = [line for line in post.body.splitlines() if line.startswith("Earlier issues with this error: ")]
    assert re.findall(r"\[issue (\d+)\]\(\S+/issues/\d+\) \(([a-z ]+)\)", line) == [
        (str(numbers[5]), "still open"),
        (str(numbers[4]), "closed as completed"),
    ]
    assert "octocat" not in post.body
    assert f"issue {number}]" not in post.body
    asked = next(effect.body for effect in scene.say(number, "/explain") if isinstance(effect, PostAnswer))
    assert line in asked


def test_an_earlier_issue_that_cannot_be_read_does_not_keep_the_answer_back(scene: Scene) -> None:
    first, _ = scene.open(WRITTEN)
    number, _ = scene.open(WRITTEN)
    scene.remember(issues=(first, number))
    event = scene.event()
    scene.hub.delete_issue("octo/engine", first)
    (_, post) = scene.effects(event)
    assert isinstance(post, PostAnswer)
    assert "Earlier" not in post.body


@pytest.mark.parametrize(
    ("answers", "text", "posted"),
    [
        ("reviewed", WRITTEN, True),
        ("reviewed", TRACEBACK, False),
        ("proven", WRITTEN, True),
        ("proven", TRACEBACK, True),
        ("proven", LINE, False),
        ("derived", LINE, True),
        ("derived", FEATURE, False),
    ],
)
def test_the_repository_decides_which_answers_are_posted(scene: Scene, answers: str, text: str, posted: bool) -> None:
    scene.config = parse_repo_config(f"explain: {{answers: {answers}}}")
    _, effects = scene.open(text)
    assert any(isinstance(effect, PostAnswer) for effect in effects) == posted


def test_the_same_text_gives_the_same_answer_at_the_command_line(scene: Scene) -> None:
    assert scene.catalogue is not None
    _, (_, post) = scene.open(TRACEBACK)
    explained = explain_text("It fails", TRACEBACK, scene.catalogue, RepoConfig(), lambda id: f"http://bot.test/errors/{id}")
    assert isinstance(post, PostAnswer)
    assert (explained.comment, explained.records, explained.posted) == (post.body, post.records, True)


@pytest.mark.parametrize("about", ["pull request", "locked", "closed"])
def test_some_issues_are_left_alone(scene: Scene, about: str) -> None:
    number, _ = scene.open(WRITTEN, is_pull_request=about == "pull request")
    event = scene.event()
    if about == "locked":
        scene.hub.lock_issue("octo/engine", number)
    if about == "closed":
        scene.hub.set_open("octo/engine", number, open=False)
    assert scene.effects(event) == ()


def test_bots_are_not_answered(scene: Scene) -> None:
    scene.hub.state.account("other[bot]", "Bot")
    scene.hub.open_issue("octo/engine", "It fails", WRITTEN, user="other[bot]")
    assert scene.effects() == ()
    scene.hub.edit_issue("octo/engine", 1, body=TRACEBACK, user="octocat")
    assert scene.effects() == ()


def test_without_a_catalogue_nothing_is_said(scene: Scene) -> None:
    scene.catalogue = None
    assert scene.open(WRITTEN)[1] == ()


def test_labels_are_put_only_where_the_section_stands(scene: Scene) -> None:
    assert not any(isinstance(effect, AddLabels) for effect in scene.open(TRACEBACK)[1])
    scene.config = parse_repo_config("labels:")
    number, effects = scene.open(TRACEBACK)
    assert effects[-1] == AddLabels(number, ("drive",))
    scene.config = parse_repo_config("labels: {prefix: 'area: ', areas: {'*/drive.py': motion}}")
    number, effects = scene.open(TRACEBACK)
    assert effects[-1] == AddLabels(number, ("area: motion",))
    scene.hub.add_labels("octo/engine", number, ("area: motion",), "triage")
    scene.hub.edit_issue("octo/engine", number, body=TRACEBACK + "\n")
    assert not any(isinstance(effect, AddLabels) for effect in scene.effects())


def test_an_error_whose_sites_lie_in_several_areas_gets_no_label_without_a_frame(scene: Scene) -> None:
    scene.config = parse_repo_config("{labels: , explain: {answers: derived}}")
    assert not any(isinstance(effect, AddLabels) for effect in scene.open(LINE)[1])


def test_the_operators_least_certainty_can_only_be_raised(scene: Scene) -> None:
    assert scene.catalogue is not None
    (found,) = explain_text("It fails", WRITTEN, scene.catalogue, RepoConfig(), str).verdict.matches
    verdict = Verdict("answer", (replace(found, score=0.8),))
    for operator, repository, posted in ((0.0, 0.0, True), (0.0, 0.9, False), (0.9, 0.0, False), (0.9, 0.7, False), (0.7, 0.8, True)):
        assert is_posted(verdict, parse_repo_config(f"explain: {{minimum: {repository}}}"), operator) == posted


@pytest.mark.parametrize(
    ("text", "posted"),
    [
        ("explain: {{ignore: ['{id}']}}", False),
        ("explain: {{ignore: ['0123456789abcdef']}}", True),
        ("explain: {{only_paths: ['*/drive.py']}}", False),
        ("explain: {{only_paths: ['*/gears.py', 'x']}}", True),
        ("explain: {{languages: [rust]}}", False),
        ("explain: {{languages: [rust, python]}}", True),
        ("skip: {{authors: [OctoCat]}}", False),
        ("skip: {{title: [fail]}}", True),
        ("skip: {{title: [FAILS]}}", False),
        ("skip: {{title: ['it fails']}}", False),
        ("skip: {{labels: [quiet]}}", True),
    ],
)
def test_the_repository_leaves_out_what_it_names(scene: Scene, text: str, posted: bool) -> None:
    scene.config = parse_repo_config(text.format(id=scene.record("sprockets")))
    number, effects = scene.open(WRITTEN)
    assert any(isinstance(effect, PostAnswer) for effect in effects) == posted
    if "labels" in text:
        event = scene.event()
        scene.hub.add_labels("octo/engine", number, ("Quiet",), "triage")
        assert scene.effects(event) == ()


def test_what_is_withdrawn_is_told_in_one_line_and_folded_without_the_reporters_words(scene: Scene) -> None:
    number, _ = scene.open(WRITTEN.replace("main", "hunter2"))
    scene.remember(comments=(Given("auto", (scene.record("sprockets"),)),))
    scene.hub.edit_issue("octo/engine", number, body=FEATURE)
    _, withdraw = scene.effects()
    assert isinstance(withdraw, WithdrawAnswer)
    first, blank, opening, *_ = withdraw.body.splitlines()
    assert "no longer in the issue" in first
    assert (blank, opening) == ("", "<details>")
    assert "too few sprockets" in withdraw.body
    assert "hunter2" not in withdraw.body
