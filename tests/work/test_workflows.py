from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from dbos import DBOS

from bot import store
from bot.catalogue.catalogue import Catalogue
from bot.config import Settings
from bot.demo.github import Fault, StandIn
from bot.model import Event
from bot.trackers.github import receive
from bot.trackers.github.app import connect
from bot.work import workflows
from bot.work.configuration import repository_config
from bot.work.passes import Runtime

REPOSITORY = "octo/engine"
SPROCKETS = "ValueError: The frobnicator {} needs at least 3 sprockets before it can turn"
one_database = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
FLUX = """
```
Traceback (most recent call last):
  File "/usr/lib/python3/site-packages/engine/drive.py", line 20, in start
    raise RuntimeError(f"No flux capacitor was found in slot {slot}; insert one before starting the drive")
RuntimeError: No flux capacitor was found in slot 7; insert one before starting the drive
```
"""


class Running:
    """A worker in this process, and what is delivered to it."""

    def __init__(self, hub: StandIn, settings: Settings) -> None:
        self.hub = hub
        self.settings = settings
        self.sent = 0

    def events(self) -> list[Event]:
        """The events of the deliveries since the last call."""
        new = self.hub.deliveries[self.sent :]
        self.sent += len(new)
        found = [receive.event(delivery.event, delivery.guid, delivery.payload) for delivery in new]
        return [event for event in found if event is not None]

    def deliver(self) -> list[str]:
        """Submit what happened since the last call, wait for its end, and say how each ended."""
        return [self.finish(workflows.submit(event)) for event in self.events()]

    def finish(self, id: str) -> str:
        """Wait for the end of an event's work, over all its returns to the queue."""
        result, returns = DBOS.retrieve_workflow(id).get_result(polling_interval_sec=0.02), 0
        while result == "put off":
            returns += 1
            result = DBOS.retrieve_workflow(f"{id}~{returns}").get_result(polling_interval_sec=0.02)
        return str(result)

    def texts(self, issue: int) -> list[str]:
        """What the comments of the bot say."""
        return [c.body for c in self.hub.comments(REPOSITORY, issue) if c.author.login == "helper"]


@pytest.fixture
def running(standin: StandIn, make_settings: Callable[..., Settings], database_url: str, engine_catalogue: Path) -> Iterator[Running]:
    settings = make_settings(database_url=database_url)
    catalogue = Catalogue.open(engine_catalogue)
    runtime = Runtime(
        connect=lambda repository, installation: connect(settings, repository, installation),
        catalogue=lambda repository: catalogue if repository == REPOSITORY else None,
    )
    workflows.start(settings, runtime)
    yield Running(standin, settings)
    workflows.stop(0)


def test_one_issue_delivered_three_times_and_edited_twice_has_one_comment_with_the_last_state(running: Running) -> None:
    issue = running.hub.open_issue(REPOSITORY, "It fails", SPROCKETS.format("alpha")).number
    (opened,) = running.events()
    ids = [workflows.submit(opened) for _ in range(3)]
    ids.append(workflows.submit(replace(opened, delivery="captured and sent again under another id")))
    assert len(set(ids)) == 2
    # Two that come within one millisecond may be taken in either order.
    assert sorted(running.finish(id) for id in ids[2:]) == ["posted", "unchanged"]
    running.hub.edit_issue(REPOSITORY, issue, body=SPROCKETS.format("beta"))
    running.hub.edit_issue(REPOSITORY, issue, body=FLUX)
    late, last = [event for event in running.events() if event.name == "issue.edited"]
    # The deliveries come in the wrong order, and the first one once more at the end.
    assert running.finish(workflows.submit(last)) == "edited"
    assert running.finish(workflows.submit(late)) == "unchanged"
    assert running.finish(workflows.submit(replace(opened, delivery="and again"))) == "unchanged"
    (text,) = running.texts(issue)
    assert "flux capacitor" in text
    assert "sprockets" not in text
    assert running.hub.count("create_comment") == 1


def test_a_captured_command_that_comes_again_under_another_id_changes_nothing(running: Running) -> None:
    issue = running.hub.open_issue(REPOSITORY, "It fails", SPROCKETS.format("alpha")).number
    running.deliver()
    comment = running.hub.comment(REPOSITORY, issue, "/explain off")
    (off,) = [event for event in running.events() if event.comment == comment.id]
    running.finish(workflows.submit(off))
    assert running.texts(issue) == []
    running.hub.comment(REPOSITORY, issue, "/explain on")
    running.deliver()
    (text,) = running.texts(issue)
    assert running.finish(workflows.submit(replace(off, delivery="captured"))) == "carried out before"
    assert running.texts(issue) == [text]
    # Changed, it says something new; said again, it is carried out again.
    running.hub.edit_comment(REPOSITORY, comment.id, "never mind")
    running.deliver()
    running.hub.edit_comment(REPOSITORY, comment.id, "/explain off")
    running.deliver()
    assert running.texts(issue) == []


@one_database
def test_an_edit_that_removes_the_error_withdraws_the_answer(running: Running) -> None:
    issue = running.hub.open_issue(REPOSITORY, "It fails", SPROCKETS.format("alpha")).number
    assert running.deliver() == ["posted"]
    running.hub.edit_issue(REPOSITORY, issue, body="please add a feature")
    # Our own comment, whose text names commands, is delivered too.
    assert running.deliver() == ["nothing to do", "edited"]
    (text,) = running.texts(issue)
    assert "withdrawn" in text


@one_database
def test_what_an_issue_holds_is_remembered_without_its_text(running: Running) -> None:
    issue = running.hub.open_issue(REPOSITORY, "It fails", SPROCKETS.format("hunter2")).number
    (event,) = running.events()
    running.finish(workflows.submit(event))
    engine = store.open(running.settings.database)
    answer = store.find_answer(engine, event.repository_id, issue, "auto")
    assert answer is not None
    assert answer.state == "posted"
    assert store.issues_with(engine, event.repository_id, answer.records) == (issue,)


@one_database
@pytest.mark.parametrize("state", ["closed", "locked", "pull request", "by a bot"])
def test_some_issues_are_left_alone(running: Running, state: str) -> None:
    user = "other[bot]" if state == "by a bot" else "octocat"
    if state == "by a bot":
        running.hub.state.account(user, "Bot")
    more = {"is_pull_request": True} if state == "pull request" else {}
    issue = running.hub.open_issue(REPOSITORY, "It fails", SPROCKETS.format("alpha"), user, **more).number
    if state == "closed":
        running.hub.set_open(REPOSITORY, issue, open=False)
    if state == "locked":
        running.hub.lock_issue(REPOSITORY, issue)
    running.deliver()
    assert running.texts(issue) == []


def test_many_issues_at_once_each_get_one_comment(running: Running) -> None:
    numbers = [running.hub.open_issue(REPOSITORY, "It fails", SPROCKETS.format(n)).number for n in range(12)]
    ids = [workflows.submit(event) for event in running.events()]
    for id in ids:
        running.finish(id)
    assert [len(running.texts(number)) for number in numbers] == [1] * 12


def test_an_outage_of_the_tracker_is_waited_for_in_the_queue(running: Running) -> None:
    running.hub.plan(Fault("get_issue", "429", times=2, seconds=1))
    issue = running.hub.open_issue(REPOSITORY, "It fails", SPROCKETS.format("alpha")).number
    running.deliver()
    assert len(running.texts(issue)) == 1


@one_database
def test_an_issue_that_is_gone_ends_its_work(running: Running) -> None:
    issue = running.hub.open_issue(REPOSITORY, "It fails", SPROCKETS.format("alpha")).number
    events = running.events()
    running.hub.delete_issue(REPOSITORY, issue)
    assert [running.finish(workflows.submit(event)) for event in events] == ["gone"]


@one_database
def test_a_command_is_answered_in_a_comment_of_its_own_with_a_reaction(running: Running) -> None:
    issue = running.hub.open_issue(REPOSITORY, "It fails", SPROCKETS.format("alpha")).number
    asked = running.hub.comment(REPOSITORY, issue, f"And this?\n\n/explain\n\n{FLUX}")
    running.deliver()
    assert ["flux" in text for text in running.texts(issue)] == [False, True]
    (stored, *_) = [c for c in running.hub.comments(REPOSITORY, issue) if c.id == asked.id]
    assert [(r.author.login, r.content) for r in stored.reactions] == [("helper", "eyes"), ("helper", "+1")]


@one_database
def test_the_last_good_configuration_holds_while_a_newer_one_is_wrong(running: Running) -> None:
    files = running.hub.state.repository(REPOSITORY).files
    files[".github/explainbot.yml"] = "explain: {answers: reviewed}"
    event = Event("issue.opened", REPOSITORY, running.hub.state.repository(REPOSITORY).id, 1, "octocat")
    tracker, engine = connect(running.settings, REPOSITORY), store.open(running.settings.database)
    assert repository_config(tracker, engine, event.repository_id, {}).explain.answers == "reviewed"
    files[".github/explainbot.yml"] = "explain: {answers: everything}"
    assert repository_config(tracker, engine, event.repository_id, {}).explain.answers == "reviewed"
    assert "explain.answers" in (store.last_config(engine, event.repository_id) or ("", ""))[1]
    running.hub.plan(Fault("get_content", "502-before-write", times=9))
    assert repository_config(tracker, engine, event.repository_id, {}).explain.answers == "reviewed"
    del files[".github/explainbot.yml"]


def test_no_text_of_a_reporter_lies_in_the_tables_or_the_log(
    standin: StandIn,
    make_settings: Callable[..., Settings],
    tmp_path: Path,
    engine_catalogue: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    settings = make_settings()
    catalogue = Catalogue.open(engine_catalogue)
    workflows.start(settings, Runtime(lambda r, i: connect(settings, r, i), lambda _: catalogue))
    running = Running(standin, settings)
    try:
        issue = standin.open_issue(REPOSITORY, "canary-title", SPROCKETS.format("canary-name") + "\ncanary-body").number
        running.deliver()
        standin.comment(REPOSITORY, issue, "/explain canary-command")
        running.deliver()
    finally:
        workflows.stop(0)
    files = [file for file in tmp_path.iterdir() if "explainbot" in file.name]
    assert len(files) >= 2
    assert all(b"canary" not in file.read_bytes() for file in files)
    out, err = capfd.readouterr()
    assert "canary" not in out + err
    passes = [json.loads(line) for line in err.splitlines() if '"event": "pass"' in line]
    assert {line["repository"] for line in passes} == {REPOSITORY}
    assert "posted" in {line["what"] for line in passes}
    assert len(running.texts(issue)) == 2
