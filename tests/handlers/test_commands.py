from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bot.answering.language import COMMANDS_IN_CHINESE
from bot.catalogue.catalogue import Catalogue, build
from bot.demo.github import Fault
from bot.handlers import Given
from bot.model import (
    AddLabels,
    AllowAnswer,
    Correct,
    DropAnswer,
    Effect,
    FoldAnswer,
    Judge,
    PostAnswer,
    React,
    UnfoldAnswer,
    WithdrawAnswer,
)
from bot.registry import COMMANDS
from bot.trackers import Unavailable

if TYPE_CHECKING:
    from conftest import Scene

WRITTEN = "ValueError: The frobnicator main needs at least 3 sprockets before it can turn"
LINE = "RuntimeError: No flux capacitor was found in slot 7; insert one before starting the drive"


def said(effects: tuple[Effect, ...]) -> tuple[str, str]:
    """The text of the comment, and the reaction."""
    texts = [effect.body for effect in effects if isinstance(effect, PostAnswer)]
    first, *reactions = [effect.content for effect in effects if isinstance(effect, React)]
    assert first == "eyes"
    return "".join(texts), "".join(reactions)


def test_explain_answers_for_the_issue(scene: Scene) -> None:
    number, _ = scene.open(WRITTEN)
    effects = scene.say(number, "/explain")
    comment = scene.hub.comments("octo/engine", number)[-1]
    seen, post, done = effects
    assert seen == React(number, comment.id, "eyes")
    assert isinstance(post, PostAnswer)
    assert post.purpose == f"command:{comment.id}"
    assert "too few sprockets" in post.body
    assert done == React(number, comment.id, "+1")


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
    assert reaction == "confused"


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
    text = said(scene.say(number, "/explain help"))[0]
    assert "\u200b" not in text  # what is shown can be copied
    assert not any(line.lstrip(" -`>").startswith("/") and not line.startswith("- `") for line in text.splitlines())
    assert len(list(COMMANDS)) >= 5
    for entry in COMMANDS:
        assert entry.facts["usage"] in text
        assert entry.summary.rstrip(".") in text


def test_why_says_what_spoke_for_and_against(scene: Scene) -> None:
    number, _ = scene.open(WRITTEN)
    text, reaction = said(scene.say(number, "/explain why"))
    assert "Why this answer" in text
    assert reaction == "+1"


HAN = re.compile("[\u4e00-\u9fff]")


def test_a_chinese_issue_is_answered_in_chinese_whatever_is_asked(scene: Scene) -> None:
    number, _ = scene.open(WRITTEN, title="启动服务时报错")
    record = scene.record("sprockets")
    scene.remember(comments=(Given("auto", (record,)),))
    for command in ("", " why", " all", " help", " halp", f" {record}", " record", " duplicate", " scan", " label", " as nothing"):
        text, _ = said(scene.say(number, f"/explain{command}", "triage"))
        assert not text or HAN.search(text), command
    folded = next(effect for effect in scene.say(number, "/explain wrong") if isinstance(effect, FoldAnswer))
    assert HAN.search(folded.body)
    assert HAN.search(said(scene.say(number, "/explain label", "octo-reader"))[0])


def test_a_chinese_comment_on_an_english_issue_is_answered_in_chinese(scene: Scene) -> None:
    number, _ = scene.open("Paint it green.")
    assert HAN.search(said(scene.say(number, "/explain\n\n启动服务时报错，请看看是什么原因"))[0])
    assert not HAN.search(said(scene.say(number, "/explain"))[0])


def test_every_command_has_its_chinese() -> None:
    assert set(COMMANDS_IN_CHINESE) == {entry.name for entry in COMMANDS}


def test_an_answer_by_id_or_by_a_maintainer_tells_since_when_there_is_the_error(scene: Scene, tmp_path: Path) -> None:
    assert scene.catalogue is not None
    known = [record for id in (scene.record("sprockets"), scene.record("flux")) if (record := scene.catalogue.get(id))]
    path = tmp_path / "engine.sqlite"
    build(path, scene.catalogue.source, known, ("0.9.0", "1.0.0"))
    scene.catalogue = Catalogue.open(path)
    number, _ = scene.open("Paint it green.")
    assert ", since v1.0.0." in said(scene.say(number, f"/explain {known[0].id}"))[0]
    assert ", since v1.0.0." in said(scene.say(number, f"/explain as {known[0].id}", "triage"))[0]


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
    assert [type(effect) for effect in effects] == [React, PostAnswer, React]
    assert not any(isinstance(effect, WithdrawAnswer) for effect in effects)


def found(effects: tuple[Effect, ...], kind: type[Effect]) -> list[Effect]:
    """The effects of one kind."""
    return [effect for effect in effects if isinstance(effect, kind)]


def test_a_wrong_answer_is_folded_and_counted_without_a_comment(scene: Scene) -> None:
    number, _ = scene.open(WRITTEN)
    record = scene.record("sprockets")
    scene.remember(comments=(Given("auto", (record,)), Given("command:5", (record,))))
    seen, judged, folded, done = scene.say(number, "/explain wrong, it does not apply", "passer-by")
    comment = scene.hub.comments("octo/engine", number)[-1]
    assert judged == Judge(number, comment.id, "wrong", (record,))
    assert isinstance(folded, FoldAnswer)
    assert folded.purpose == "auto"
    first, *rest = folded.body.splitlines()
    assert "wrong" in first
    assert rest[1] == "<details>"
    assert rest[-1] == "</details>"
    assert "too few sprockets" in folded.body
    assert "main" not in folded.body  # the reporter's value
    assert (seen, done) == (React(number, comment.id, "eyes"), React(number, comment.id, "+1"))


def test_wrong_can_name_the_record(scene: Scene) -> None:
    number, _ = scene.open(WRITTEN)
    gears, drive = scene.record("sprockets"), scene.record("flux")
    scene.remember(comments=(Given("auto", (gears,)), Given("command:5", (drive, gears)), Given("command:6", (drive,))))
    effects = scene.say(number, f"/explain wrong {drive}")
    assert [fold.purpose for fold in found(effects, FoldAnswer)] == ["command:5", "command:6"]  # type: ignore[union-attr]
    assert found(effects, Judge)[0].records == (drive,)  # type: ignore[union-attr]
    effects = scene.say(number, "/explain wrong 0123456789abcdef")
    assert not found(effects, Judge)
    assert said(effects)[1] == "confused"


def test_there_must_be_an_answer_to_judge(scene: Scene) -> None:
    number, _ = scene.open("Paint it green.")
    for word in ("wrong", "right"):
        effects = scene.say(number, f"/explain {word}")
        assert not found(effects, Judge)
        assert "nothing was counted" in said(effects)[0]


def test_right_is_counted_and_brings_the_answer_back(scene: Scene) -> None:
    number, _ = scene.open(WRITTEN)
    record = scene.record("sprockets")
    scene.remember(comments=(Given("auto", (record,)),))
    effects = scene.say(number, "/explain right")
    order = [type(effect) for effect in effects]
    assert order.index(UnfoldAnswer) < order.index(PostAnswer)
    assert found(effects, Judge)[0].opinion == "right"  # type: ignore[union-attr]


def test_on_takes_silence_back(scene: Scene) -> None:
    number, _ = scene.open(WRITTEN)
    effects = scene.say(number, "/explain on")
    order = [type(effect) for effect in effects]
    assert order.index(AllowAnswer) < order.index(PostAnswer)
    assert [post.purpose for post in found(effects, PostAnswer)] == ["auto"]  # type: ignore[union-attr]


def test_as_rewrites_the_automatic_answer_and_holds_against_later_edits(scene: Scene) -> None:
    number, _ = scene.open(WRITTEN)
    drive = scene.record("flux")
    effects = scene.say(number, f"/explain as {drive.upper()}", "triage")
    comment = scene.hub.comments("octo/engine", number)[-1]
    assert Correct(number, comment.id, drive) in effects
    (post,) = found(effects, PostAnswer)
    assert isinstance(post, PostAnswer)
    assert (post.purpose, post.records) == ("auto", (drive,))
    assert "flux capacitor" in post.body
    scene.remember(record=drive)
    scene.hub.edit_issue("octo/engine", number, body=WRITTEN + "\n\nstill")
    assert found(scene.effects(), PostAnswer)[0].records == (drive,)  # type: ignore[union-attr]


@pytest.mark.parametrize("argument", ["", " 0123456789abcdef", " sprockets"])
def test_as_needs_the_id_of_a_record(scene: Scene, argument: str) -> None:
    number, _ = scene.open(WRITTEN)
    effects = scene.say(number, f"/explain as{argument}", "triage")
    assert not found(effects, Correct)
    assert said(effects)[1] == "confused"


def test_all_names_every_error(scene: Scene) -> None:
    number, _ = scene.open(f"{WRITTEN}\n\n{LINE}")
    text = said(scene.say(number, "/explain all"))[0]
    assert scene.record("flux") in text
    assert scene.record("sprockets") in text


def test_a_link_explains_a_comment_of_this_repository_only(scene: Scene) -> None:
    other, _ = scene.open("Paint it green.")
    comment = scene.hub.comment("octo/engine", other, LINE)
    number, _ = scene.open(WRITTEN)
    address = f"https://github.com/Octo/Engine/issues/{other}#issuecomment-{comment.id}"
    assert "flux capacitor" in said(scene.say(number, f"/explain {address}"))[0]
    assert "sprockets" in said(scene.say(other, f"/explain #{number}"))[0]
    for wrong in (
        address.replace("Engine", "secrets"),
        address.replace(f"/{other}#", f"/{number}#"),
        address + "9",
        f"https://github.com/octo/engine/issues/{number + 70}",
    ):
        text, reaction = said(scene.say(number, f"/explain {wrong}"))
        assert "flux" not in text
        assert reaction == "confused"


def test_duplicate_lists_earlier_issues_without_a_trace_on_them(scene: Scene) -> None:
    number, _ = scene.open(WRITTEN)
    for _ in range(3):
        number, _ = scene.open(WRITTEN)
    scene.remember(issues=(1, 3, number, number + 9))
    text = said(scene.say(number, "/explain duplicate", "triage"))[0]
    assert "issue 3" in text
    assert text.index("issue 3") < text.index("issue 1")
    assert f"issue {number}" not in text
    assert "://github.com/octo/engine/issues" not in text  # the redirecting host leaves no mark there
    assert not any(line.lower().startswith("duplicate of") for line in text.splitlines())


def test_scan_counts_and_writes_one_comment(scene: Scene) -> None:
    for _ in range(3):
        scene.open(WRITTEN)
    scene.open("OSError: [Errno 5] foreign")
    number, _ = scene.open("Paint it green.")
    effects = scene.say(number, "/explain scan", "write")
    assert [type(effect) for effect in effects] == [React, PostAnswer, React]
    text = said(effects)[0]
    assert "all 5 open issues" in text
    assert "- 3 with" in text


def test_record_starts_a_file_with_what_is_known(scene: Scene) -> None:
    number, _ = scene.open(LINE)
    text = said(scene.say(number, "/explain record", "triage"))[0]
    assert "https://github.com/bot/records/new/" in text
    assert "errors/octo/engine/" in text
    assert "No flux capacitor was found in slot {slot}" in text
    number, _ = scene.open("```\nOSError: [Errno 5] the {thing} broke\n```")
    assert "the {{thing}} broke" in said(scene.say(number, "/explain record", "triage"))[0]


def test_a_pull_request_is_explained_when_asked(scene: Scene) -> None:
    number, _ = scene.open(WRITTEN, is_pull_request=True)
    assert "sprockets" in said(scene.say(number, "/explain"))[0]


def test_an_edited_request_is_answered_anew_in_the_same_place(scene: Scene) -> None:
    number, _ = scene.open(WRITTEN)
    scene.say(number, "/explain halp")
    comment = scene.hub.comments("octo/engine", number)[-1]
    scene.hub.edit_comment("octo/engine", comment.id, "/explain why")
    effects = scene.effects()
    assert "Why this answer" in said(effects)[0]
    assert found(effects, PostAnswer)[0].purpose == f"command:{comment.id}"  # type: ignore[union-attr]
    scene.hub.edit_comment("octo/engine", comment.id, "never mind")
    assert [type(effect) for effect in scene.effects()] == [WithdrawAnswer]
    scene.hub.edit_comment("octo/engine", comment.id, "never mind at all")
    assert scene.effects() == ()


def test_nobody_commands_by_editing_the_comment_of_another(scene: Scene) -> None:
    number, _ = scene.open(WRITTEN)
    comment = scene.hub.comment("octo/engine", number, "thanks", user="admin")
    scene.hub.edit_comment("octo/engine", comment.id, "/explain label", user="write")
    assert scene.effects() == ()


def test_a_deleted_request_leads_to_nothing(scene: Scene) -> None:
    number, _ = scene.open(WRITTEN)
    comment = scene.hub.comment("octo/engine", number, "/explain")
    scene.hub.delete_comment("octo/engine", comment.id)
    assert scene.effects() == ()


def test_a_mistake_in_the_configuration_is_told_with_the_help(scene: Scene) -> None:
    number, _ = scene.open("Paint it green.")
    scene.remember(mistake=".github/explainbot.yml:3: explain.answer: unknown key")
    assert "explainbot.yml:3" in said(scene.say(number, "/explain help"))[0]


ROLES = ("admin", "maintain", "write", "triage", "read", "none", "ghost")
FAULTS = ("502-before-write", "429", "403-secondary", "reset-before-write")
FOR_MAINTAINERS = ("as {id}", "duplicate", "label", "scan", "record")
FOR_ALL = ("", "help", "why", "all", "right", "wrong", "{id}", "#1")


@pytest.mark.parametrize("role", ROLES)
def test_who_may_do_what(scene: Scene, role: str) -> None:
    number, _ = scene.open(WRITTEN)
    scene.hub.state.account("none")
    scene.remember(comments=(Given("auto", (scene.record("sprockets"),)),))
    for command in FOR_MAINTAINERS + FOR_ALL:
        written = command.format(id=scene.record("sprockets"))
        effects = scene.say(number, f"/explain {written}", role)
        refused = any(isinstance(effect, PostAnswer) and "nothing was done" in effect.body for effect in effects)
        assert refused == (command in FOR_MAINTAINERS and role in ("read", "none", "ghost")), command
        if refused:
            assert not found(effects, Correct) + found(effects, AddLabels)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_permission_that_cannot_be_read_lets_nobody_through(scene: Scene, role: str, fault: str) -> None:
    number, _ = scene.open(WRITTEN)
    for command in FOR_MAINTAINERS:
        scene.hub.plan(Fault("get_permission", fault))  # type: ignore[arg-type]
        with pytest.raises(Unavailable):
            scene.say(number, f"/explain {command.format(id=scene.record('sprockets'))}", role)
    for command in FOR_ALL:
        assert scene.say(number, f"/explain {command.format(id=scene.record('sprockets'))}", role)


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
