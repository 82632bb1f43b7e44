"""What was missed is found, doubles go, and the work of a dead worker is gone on with."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from dbos import DBOS

from bot import store
from bot.catalogue.catalogue import Catalogue
from bot.config import Settings
from bot.demo.github import Fault, StandIn
from bot.model import Event, PostAnswer
from bot.trackers.github import receive
from bot.trackers.github.app import connect
from bot.work import sweeps, workflows
from bot.work.configuration import repository_config
from bot.work.desk import Desk
from bot.work.passes import Runtime
from bot.work.posting import perform
from bot.work.sweeps import MISSED_SECONDS, SILENT_SECONDS, Upkeep, find_missed, keep_up

REPOSITORY = "octo/engine"
WRITTEN = "ValueError: The frobnicator {} needs at least 3 sprockets before it can turn"
one_database = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@dataclass
class Keeper:
    """The sweeps of one worker, and what they asked for."""

    hub: StandIn
    upkeep: Upkeep
    submitted: list[Event] = field(default_factory=list)
    recovered: list[str] = field(default_factory=list)

    @property
    def place(self) -> store.Repository:
        """The repository as it is remembered."""
        return store.Repository(self.hub.state.repository(REPOSITORY).id, REPOSITORY, None)


@pytest.fixture
def keeper(standin: StandIn, make_settings: Callable[..., Settings], database_url: str) -> Keeper:
    settings = make_settings(database_url=database_url)
    engine = store.open(database_url)

    def desk(place: store.Repository, tracker: object) -> Desk:
        return Desk(engine, tracker, settings.secrets, place.repository_id, "all", 0.2, 0.0)  # type: ignore[arg-type]

    submitted: list[Event] = []
    recovered: list[str] = []
    upkeep = Upkeep(engine, "me", lambda name, _: connect(settings, name), desk, submitted.append, recovered.extend)
    return Keeper(standin, upkeep, submitted, recovered)


def test_issues_and_commands_that_no_delivery_told_of_are_taken_up_once(keeper: Keeper) -> None:
    store.meet(keeper.upkeep.engine, keeper.place)
    before = keeper.hub.open_issue(REPOSITORY, "old", "text").number
    since = time.time() - 60
    issues = keeper.hub.state.repository(REPOSITORY).issues
    issues[before] = replace(issues[before], created=issues[before].created - timedelta(hours=1))
    handled = keeper.hub.open_issue(REPOSITORY, "known", "text").number
    store.note_handled(keeper.upkeep.engine, keeper.place.repository_id, "issue", handled)
    missed = keeper.hub.open_issue(REPOSITORY, "missed", "text", "anna").number
    keeper.hub.open_issue(REPOSITORY, "change", "text", is_pull_request=True)
    keeper.hub.state.account("other[bot]", "Bot")
    keeper.hub.open_issue(REPOSITORY, "of a bot", "text", "other[bot]")
    keeper.hub.comment(REPOSITORY, before, "just talk")
    keeper.hub.comment(REPOSITORY, before, "/explain", "helper")
    asked = keeper.hub.comment(REPOSITORY, before, "/explain", "anna")
    assert find_missed(keeper.upkeep, since) == 2
    repository_id = keeper.place.repository_id
    assert keeper.submitted == [
        Event("issue.opened", REPOSITORY, repository_id, missed, "anna", delivery="missed"),
        Event("comment.created", REPOSITORY, repository_id, before, "anna", comment=asked.id, delivery="missed"),
    ]
    for event in keeper.submitted:
        store.note_handled(keeper.upkeep.engine, repository_id, "comment" if event.comment else "issue", event.comment or event.issue)
    assert find_missed(keeper.upkeep, since) == 0


@one_database
def test_a_repository_that_cannot_be_read_does_not_keep_the_others_from_being_read(keeper: Keeper) -> None:
    keeper.hub.add_repository("octo/other")
    store.meet(keeper.upkeep.engine, keeper.place, now=time.time() - 10)
    store.meet(keeper.upkeep.engine, store.Repository(77, "octo/vanished", None), now=time.time() - 5)
    keeper.hub.open_issue(REPOSITORY, "missed", "text")
    keeper.hub.plan(Fault("list_issues", "502-before-write"))
    store.meet(keeper.upkeep.engine, store.Repository(keeper.hub.state.repository("octo/other").id, "octo/other", None))
    assert find_missed(keeper.upkeep, time.time() - 60) == 1


@one_database
def test_nothing_is_looked_for_at_the_first_start_and_no_further_back_than_a_day(keeper: Keeper) -> None:
    store.meet(keeper.upkeep.engine, keeper.place)
    keeper.hub.open_issue(REPOSITORY, "missed", "text")
    now = time.time()
    keep_up(keeper.upkeep, now)
    assert keeper.submitted == []
    keep_up(keeper.upkeep, now + MISSED_SECONDS - 1)
    assert keeper.submitted == []
    keep_up(keeper.upkeep, now + MISSED_SECONDS + 1)
    assert len(keeper.submitted) == 1
    # After three days of silence what is older than a day stays as it is.
    keep_up(keeper.upkeep, now + 3 * 86_400)
    assert len(keeper.submitted) == 1


@one_database
def test_the_work_of_silent_workers_is_taken_over_once(keeper: Keeper) -> None:
    now = time.time()
    store.beat(keeper.upkeep.engine, "dead", now - SILENT_SECONDS - 1)
    store.beat(keeper.upkeep.engine, "alive", now - SILENT_SECONDS + 5)
    keep_up(keeper.upkeep, now)
    keep_up(keeper.upkeep, now)
    assert keeper.recovered == ["dead"]


@one_database
def test_work_that_could_not_be_taken_over_is_tried_again(keeper: Keeper) -> None:
    def fail(_: list[str]) -> None:
        raise OSError("the database is away")

    store.beat(keeper.upkeep.engine, "dead", 5.0)
    broken = Upkeep(**{name: getattr(keeper.upkeep, name) for name in Upkeep.__slots__} | {"recover": fail})
    with pytest.raises(OSError, match="away"):
        keep_up(broken)
    keep_up(keeper.upkeep)
    assert keeper.recovered == ["dead"]


@one_database
def test_doubles_are_repaired_where_answers_changed(keeper: Keeper) -> None:
    engine, place = keeper.upkeep.engine, keeper.place
    store.meet(engine, place)
    issue = keeper.hub.open_issue(REPOSITORY, "It fails", "text").number
    desk = keeper.upkeep.desk(place, keeper.upkeep.connect(REPOSITORY, None))
    assert perform(PostAnswer(issue, "auto", "text"), desk).what == "posted"
    (first,) = keeper.hub.comments(REPOSITORY, issue)
    keeper.hub.comment(REPOSITORY, issue, first.body, "helper")
    assert sweeps.repair_all(keeper.upkeep, time.time() - 60) == 1
    assert keeper.hub.comments(REPOSITORY, issue) == (first,)
    assert sweeps.repair_all(keeper.upkeep, time.time() + 60) == 0


# ----------------------------------------------------------------------------------------------------- with a real worker


@pytest.fixture
def runtime(standin: StandIn, engine_catalogue: Path) -> Iterator[Callable[[Settings], Runtime]]:
    catalogue = Catalogue.open(engine_catalogue)
    yield lambda settings: Runtime(lambda name, installation: connect(settings, name, installation), lambda _: catalogue)
    workflows.stop(0)


def test_work_that_a_dead_worker_had_begun_is_done_by_another(
    standin: StandIn, make_settings: Callable[..., Settings], database_url: str, runtime: Callable[[Settings], Runtime]
) -> None:
    settings = make_settings(database_url=database_url)
    standin.plan(Fault("get_issue", "timeout", seconds=20.0))
    workflows.start(settings, runtime(settings), "first")
    issue = standin.open_issue(REPOSITORY, "It fails", WRITTEN.format("a")).number
    delivery = standin.deliveries[-1]
    event = receive.event(delivery.event, delivery.guid, delivery.payload)
    assert event is not None
    workflows.submit(event)
    assert standin.wait_for(lambda: standin.count("get_issue") > 0)
    workflows.stop(0)  # in the middle of it
    engine = store.open(settings.database)
    store.beat(engine, "first", time.time() - 2 * SILENT_SECONDS)
    workflows.start(settings, runtime(settings), "second")
    assert standin.wait_for(lambda: len(standin.comments(REPOSITORY, issue)) > 0, 30.0)
    assert standin.count("create_comment") == 1


@one_database
def test_in_quiet_hours_the_automatic_comment_waits_and_a_command_does_not(
    standin: StandIn, make_settings: Callable[..., Settings], database_url: str, runtime: Callable[[Settings], Runtime]
) -> None:
    settings = make_settings(database_url=database_url)
    now = datetime.now(UTC)
    quiet = f"{{from: '{now - timedelta(hours=1):%H:%M}', to: '{now + timedelta(hours=1):%H:%M}'}}"
    standin.state.repository(REPOSITORY).files[".github/explainbot.yml"] = f"quiet_hours: {quiet}"
    workflows.start(settings, runtime(settings), "first")
    issue = standin.open_issue(REPOSITORY, "It fails", WRITTEN.format("a")).number
    standin.comment(REPOSITORY, issue, "/explain")
    ids = []
    for delivery in standin.deliveries[:2]:
        event = receive.event(delivery.event, delivery.guid, delivery.payload)
        assert event is not None
        ids.append(workflows.submit(event))
    ended = [DBOS.retrieve_workflow(id).get_result(polling_interval_sec=0.02) for id in ids]
    assert ended[0] == "put off"
    assert len([c for c in standin.comments(REPOSITORY, issue) if c.author.login == "helper"]) == 1


@one_database
def test_one_persons_flood_is_not_even_read(
    standin: StandIn, make_settings: Callable[..., Settings], database_url: str, runtime: Callable[[Settings], Runtime]
) -> None:
    settings = make_settings(database_url=database_url, comments_per_person=2)
    workflows.start(settings, runtime(settings), "first")
    ids = []
    for n in range(12):
        standin.open_issue(REPOSITORY, "It fails", WRITTEN.format(n), "mallory")
    standin.open_issue(REPOSITORY, "It fails", WRITTEN.format("x"), "anna")
    for delivery in [d for d in standin.deliveries if d.event == "issues"]:
        event = receive.event(delivery.event, delivery.guid, delivery.payload)
        assert event is not None
        ids.append(workflows.submit(event))
    ended = [DBOS.retrieve_workflow(id).get_result(polling_interval_sec=0.02) for id in ids]
    assert sorted(ended) == sorted(["posted"] * 3 + ["enough for this person"] * 10)
    assert ended[-1] == "posted"
    assert standin.count("get_issue") <= 3 + 1 + 2  # each of the three, and the earlier ones that the second and third name


@one_database
def test_the_owners_configuration_holds_where_the_repository_has_none(
    standin: StandIn, make_settings: Callable[..., Settings], database_url: str
) -> None:
    settings = make_settings(database_url=database_url)
    engine, tracker = store.open(database_url), connect(settings, REPOSITORY)
    id = standin.state.repository(REPOSITORY).id

    def read() -> str:
        return repository_config(tracker, engine, id, {}, lambda: connect(settings, "octo/.github")).explain.answers

    assert read() == "proven"  # there is no such repository
    owned = standin.add_repository("octo/.github", files={"explainbot.yml": "explain: {answers: derived}"})
    assert read() == "derived"
    standin.state.repository(REPOSITORY).files[".github/explainbot.yml"] = "explain: {answers: reviewed}"
    assert read() == "reviewed"
    del standin.state.repository(REPOSITORY).files[".github/explainbot.yml"]
    owned.files["explainbot.yml"] = "explain: {answer: reviewed}"
    assert read() == "reviewed"  # the last good one
    assert "octo/.github/explainbot.yml:1" in (store.last_config(engine, id) or ("", ""))[1]
