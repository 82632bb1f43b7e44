"""One event worked on without a queue and a lasting database, as in a workflow run: the same comment, once, beside an App too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot.catalogue.catalogue import Catalogue
from bot.config import Settings
from bot.demo.github import StandIn
from bot.model import Event
from bot.trackers.github.app import connect
from bot.work.marker import job_id, mark
from bot.work.once import work_once
from bot.work.passes import Runtime
from tests.work.conftest import REPOSITORY

SPROCKETS = "ValueError: The frobnicator alpha needs at least 3 sprockets before it can turn"
APP = "explainbot[bot]"

Run = Callable[..., str]


@pytest.fixture
def run(standin: StandIn, make_settings: Callable[..., Settings], engine_catalogue: Path, tmp_path: Path) -> Iterator[Run]:
    """Work on an event in a run of its own: nothing is left of the run before."""
    runs = 0
    with Catalogue.open(engine_catalogue) as catalogue:

        def once(issue: int, name: str = "issue.opened", comment: int | None = None, **more: str) -> str:
            nonlocal runs
            runs += 1
            settings: Settings = make_settings(database_url=f"sqlite:///{tmp_path}/run-{runs}.sqlite")
            runtime = Runtime(lambda repository, _: connect(settings, repository, login="helper"), lambda _: catalogue)
            id = standin.state.repository(REPOSITORY).id
            return work_once(Event(name, REPOSITORY, id, issue, "octocat", comment=comment), settings, runtime, **more)

        yield once


def texts(standin: StandIn, issue: int, author: str = "helper") -> list[str]:
    return [comment.body for comment in standin.comments(REPOSITORY, issue) if comment.author.login == author]


def test_each_run_finds_the_comment_of_the_one_before(standin: StandIn, run: Run) -> None:
    issue = standin.open_issue(REPOSITORY, "It fails", SPROCKETS).number
    assert [run(issue), run(issue), run(issue, "issue.edited")] == ["posted", "unchanged", "unchanged"]
    standin.edit_issue(REPOSITORY, issue, body=SPROCKETS.replace("alpha", "beta"))
    assert run(issue, "issue.edited") == "edited"
    (text,) = texts(standin, issue)
    assert "beta" in text


def test_an_issue_without_an_error_gets_nothing(standin: StandIn, run: Run) -> None:
    issue = standin.open_issue(REPOSITORY, "Please add colours", "They would be nice.").number
    run(issue)
    assert texts(standin, issue) == []


def test_a_command_is_answered(standin: StandIn, run: Run) -> None:
    issue = standin.open_issue(REPOSITORY, "It fails", SPROCKETS).number
    comment = standin.comment(REPOSITORY, issue, "/explain").id
    run(issue, "comment.created", comment)
    run(issue, "comment.created", comment)
    (text,) = texts(standin, issue)
    assert "too few sprockets" in text


@pytest.mark.parametrize(
    ("said", "by", "answered"),
    [
        ("/explain off", "octocat", False),
        ("/explain off", "maintainer", False),
        ("/explain off", "stranger", True),
        ("/explain wrong", "stranger", False),
        ("I said\n\n    /explain off", "octocat", True),
        ("/explain off\n\n/explain on", "octocat", True),
    ],
)
def test_what_people_said_is_read_from_the_issue(standin: StandIn, run: Run, said: str, by: str, answered: bool) -> None:
    issue = standin.open_issue(REPOSITORY, "It fails", SPROCKETS, user="octocat").number
    standin.comment(REPOSITORY, issue, said, user=by)
    run(issue, "issue.edited")
    assert bool(texts(standin, issue)) is answered


def theirs(standin: StandIn, make_settings: Callable[..., Settings], issue: int) -> str:
    id = standin.state.repository(REPOSITORY).id
    return mark("The App says so.", job_id(id, issue, "auto"), make_settings().secrets)


def test_where_the_app_answers_nothing_is_written(standin: StandIn, make_settings: Callable[..., Settings], run: Run) -> None:
    issue = standin.open_issue(REPOSITORY, "It fails", SPROCKETS).number
    standin.comment(REPOSITORY, issue, theirs(standin, make_settings, issue), user=APP)
    assert run(issue, app_login=APP) == "the App answers"
    assert texts(standin, issue) == []


def test_a_marker_that_somebody_pasted_silences_nobody(standin: StandIn, make_settings: Callable[..., Settings], run: Run) -> None:
    issue = standin.open_issue(REPOSITORY, "It fails", SPROCKETS).number
    standin.comment(REPOSITORY, issue, theirs(standin, make_settings, issue), user="stranger")
    assert run(issue, app_login=APP) == "posted"
    assert len(texts(standin, issue)) == 1


def test_written_at_the_same_moment_the_apps_comment_stays(
    standin: StandIn, make_settings: Callable[..., Settings], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    issue = standin.open_issue(REPOSITORY, "It fails", SPROCKETS).number
    added = standin.state.repository(REPOSITORY)
    body = theirs(standin, make_settings, issue)
    wrote = type(standin)._store_comment

    def both(self: StandIn, repo: object, comment: object, action: str, sender: str, **more: object) -> object:
        stored = wrote(self, repo, comment, action, sender, **more)  # type: ignore[arg-type]
        if sender == "helper" and action == "created":
            self.comment(added.full_name, issue, body, user=APP)
        return stored

    monkeypatch.setattr(type(standin), "_store_comment", both)
    assert run(issue, app_login=APP) == "the App answers"
    assert texts(standin, issue) == []
    assert len(texts(standin, issue, APP)) == 1
