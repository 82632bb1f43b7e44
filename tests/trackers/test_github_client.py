"""The tracker over HTTP against the stand-in: what it reads, what it writes, and what GitHub's refusals become."""

import threading
from collections.abc import Callable, Iterator

import pytest
from pydantic import SecretStr
from werkzeug.serving import make_server

from bot.config import Settings
from bot.demo.github import Fault, StandIn
from bot.trackers import Ambiguous, Gone, Refused, TooLong, Tracker, Unavailable
from bot.trackers.github.app import connect
from bot.trackers.github.client import LARGEST_FILE, GitHubTracker

REPOSITORY = "octo-org/octo-repo"


def test_it_is_a_tracker(tracker: GitHubTracker) -> None:
    one: Tracker = tracker
    assert one.repository == REPOSITORY


# -------------------------------------------------------------------------------------------------------------- reads


def test_issue_as_it_is_now(github: StandIn, tracker: GitHubTracker) -> None:
    github.open_issue(REPOSITORY, "It breaks \ud83d\ude00 \ud800\0", None, "reporter")
    issue = tracker.issue(1)
    assert (issue.title, issue.body, issue.author, issue.open, issue.locked) == (
        "It breaks \U0001f600 ?",
        "",
        "reporter",
        True,
        False,
    )
    assert issue.repository_id == github.state.repository(REPOSITORY).id
    github.edit_issue(REPOSITORY, 1, body="Traceback")
    github.set_open(REPOSITORY, 1, False)
    github.lock_issue(REPOSITORY, 1)
    issue = tracker.issue(1)
    assert (issue.body, issue.open, issue.locked, issue.by_bot) == ("Traceback", False, True, False)


def test_open_issues_are_all_of_them_newest_first_without_pull_requests(github: StandIn, tracker: GitHubTracker) -> None:
    for number in range(1, 251):
        github.open_issue(REPOSITORY, f"issue {number}", is_pull_request=number == 7)
    github.set_open(REPOSITORY, 100, False)
    assert [issue.number for issue in tracker.open_issues()] == [n for n in range(250, 0, -1) if n not in (7, 100)]
    assert github.count("list_issues") == 3


def test_comments_are_all_of_them_oldest_first(github: StandIn, tracker: GitHubTracker) -> None:
    github.open_issue(REPOSITORY, "title")
    made = [github.comment(REPOSITORY, 1, f"comment {n}", "reporter").id for n in range(201)]
    github.open_issue(REPOSITORY, "another")
    github.comment(REPOSITORY, 2, "elsewhere")
    comments = list(tracker.comments(1))
    assert [comment.id for comment in comments] == made
    assert {(comment.issue, comment.author, comment.author_id) for comment in comments} == {
        (1, "reporter", github.state.account("reporter").id)
    }
    assert github.count("list_comments") == 3


def test_reads_cost_one_request_each(github: StandIn, tracker: GitHubTracker) -> None:
    github.add_repository("octo-org/files", files={"a": "b"})
    github.open_issue(REPOSITORY, "title")
    id = github.comment(REPOSITORY, 1, "text").id
    tracker.issue(1)  # learns the repository's id, and signs in
    before = len(github.seen)
    tracker.issue(1)
    list(tracker.comments(1))
    tracker.comment(id)
    tracker.permission("helper")
    tracker.file("a")
    assert len(github.seen) - before == 5
    known = connect(github.settings(), REPOSITORY, github.installation(REPOSITORY), repository_id=77)
    assert known.issue(1).repository_id == 77
    assert len(github.seen) - before == 6


@pytest.mark.parametrize(
    ("user", "role"),
    [("octo-org", "admin"), ("maintainer", "maintain"), ("helper", "triage"), ("reporter", "read"), ("nobody-at-all", "none")],
)
def test_permission(github: StandIn, tracker: GitHubTracker, user: str, role: str) -> None:
    github.open_issue(REPOSITORY, "title", user="reporter")
    assert tracker.permission(user) == role


def test_permission_of_a_strange_name_asks_for_that_name_alone(github: StandIn, tracker: GitHubTracker) -> None:
    assert tracker.permission("../../../user") == "none"
    assert tracker.permission(github.bot.login) == "read"


def test_permission_fails_when_github_does(github: StandIn, tracker: GitHubTracker) -> None:
    github.plan(Fault("get_permission", "502-before-write"))
    with pytest.raises(Unavailable):
        tracker.permission("maintainer")


def test_file(github: StandIn) -> None:
    files = {
        ".github/explainbot.yml": "labels: {}\n",
        "bom.yml": "\ufefflabels: {}\n",
        "large": "x" * LARGEST_FILE,
        "larger": "x" * (LARGEST_FILE + 1),
        "with space & sign#": "é",
    }
    github.add_repository("octo-org/files", files=files)
    tracker = connect(github.settings(), "octo-org/files", github.installation("octo-org/files"))
    assert tracker.file(".github/explainbot.yml") == "labels: {}\n"
    assert tracker.file("bom.yml") == "labels: {}\n"
    assert tracker.file("with space & sign#") == "é"
    assert tracker.file("large") == files["large"]
    assert tracker.file("larger") is None
    assert tracker.file("none") is None


# ------------------------------------------------------------------------------------------------------------- writes


def test_comment_is_written_edited_and_deleted(github: StandIn, tracker: GitHubTracker) -> None:
    github.open_issue(REPOSITORY, "title")
    body = 'An answer with `code`, "quotes", \U0001f600 and a\nsecond line.'
    made = tracker.create_comment(1, body)
    assert (made.body, made.issue, made.author_id, made.by_bot) == (body, 1, tracker.identity(), True)
    assert [comment.body for comment in github.comments(REPOSITORY, 1)] == [body]
    assert tracker.edit_comment(made.id, "Better").body == "Better"
    assert tracker.comment(made.id).body == "Better"
    tracker.delete_comment(made.id)
    assert github.comments(REPOSITORY, 1) == ()
    with pytest.raises(Gone):
        tracker.comment(made.id)


def test_the_same_reaction_twice_is_one(github: StandIn, tracker: GitHubTracker) -> None:
    github.open_issue(REPOSITORY, "title")
    id = github.comment(REPOSITORY, 1, "/explain").id
    tracker.react(id, "eyes")
    tracker.react(id, "eyes")
    tracker.react(id, "confused")
    assert [reaction.content for reaction in github.comments(REPOSITORY, 1)[0].reactions] == ["eyes", "confused"]


def test_labels_are_added_to_those_there(github: StandIn, tracker: GitHubTracker) -> None:
    github.open_issue(REPOSITORY, "title")
    github.add_labels(REPOSITORY, 1, ("bug",), "maintainer")
    tracker.add_labels(1, ("area: kernels", "Bug"))
    assert tracker.issue(1).labels == ("bug", "area: kernels")


Write = Callable[[GitHubTracker, int], object]

WRITES: dict[str, Write] = {
    "create_comment": lambda tracker, id: tracker.create_comment(1, "text"),
    "update_comment": lambda tracker, id: tracker.edit_comment(id, "text"),
    "delete_comment": lambda tracker, id: tracker.delete_comment(id),
    "create_reaction": lambda tracker, id: tracker.react(id, "eyes"),
    "add_labels": lambda tracker, id: tracker.add_labels(1, ("label",)),
}


@pytest.mark.parametrize("kind", ["502-after-write", "502-before-write", "reset", "reset-before-write"])
@pytest.mark.parametrize("route", WRITES)
def test_a_write_of_unknown_outcome_went_out_once(github: StandIn, tracker: GitHubTracker, route: str, kind: str) -> None:
    github.open_issue(REPOSITORY, "title")
    id = tracker.create_comment(1, "first").id
    before = github.count(route)
    github.plan(Fault(route, kind, times=5))  # type: ignore[arg-type]
    with pytest.raises(Ambiguous):
        WRITES[route](tracker, id)
    assert github.count(route) - before == 1


def test_a_write_that_is_not_answered_in_time_went_out_once(github: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.trackers.github.app.TIMEOUT", 1)
    tracker = connect(github.settings(), REPOSITORY, github.installation(REPOSITORY))
    github.open_issue(REPOSITORY, "title")
    github.plan(Fault("create_comment", "timeout", times=5, seconds=30))
    with pytest.raises(Ambiguous):
        tracker.create_comment(1, "text")
    assert len(github.comments(REPOSITORY, 1)) == 1
    assert github.count("create_comment") == 1


@pytest.mark.parametrize(
    ("fault", "least", "most"),
    [
        (Fault("create_comment", "429", seconds=7), 7, 7),
        (Fault("create_comment", "429", seconds=0), 60, 60),
        (Fault("create_comment", "403-secondary", seconds=120), 120, 120),
        (Fault("create_comment", "403-secondary", seconds=0), 60, 60),
        (Fault("create_comment", "403-primary", seconds=1800), 1700, 1801),
    ],
)
def test_limits_tell_how_long_to_wait_and_nothing_was_written(
    github: StandIn, tracker: GitHubTracker, fault: Fault, least: float, most: float
) -> None:
    github.open_issue(REPOSITORY, "title")
    github.plan(fault)
    with pytest.raises(Unavailable) as caught:
        tracker.create_comment(1, "text")
    assert least <= caught.value.retry_after <= most
    assert github.comments(REPOSITORY, 1) == ()
    assert tracker.create_comment(1, "text").body == "text"


@pytest.mark.parametrize("kind", ["502-before-write", "reset", "429", "403-secondary", "403-primary", "401"])
def test_a_read_that_fails_is_unavailable_for_a_while(github: StandIn, tracker: GitHubTracker, kind: str) -> None:
    github.open_issue(REPOSITORY, "title")
    github.plan(Fault("get_issue", kind))  # type: ignore[arg-type]
    with pytest.raises(Unavailable) as caught:
        tracker.issue(1)
    assert caught.value.retry_after > 0
    assert tracker.issue(1).title == "title"
    assert github.count("get_issue") == 2


def test_nobody_at_the_address_means_that_nothing_was_written(github: StandIn) -> None:
    settings = github.settings(github_url="http://127.0.0.1:9", token=SecretStr("t"))
    with pytest.raises(Unavailable):
        connect(settings, REPOSITORY).create_comment(1, "text")


# ------------------------------------------------------------------------------------------- what is gone or forbidden


def test_locked_issue_refuses_a_comment(github: StandIn, tracker: GitHubTracker) -> None:
    github.open_issue(REPOSITORY, "title")
    github.lock_issue(REPOSITORY, 1)
    with pytest.raises(Refused, match="locked"):
        tracker.create_comment(1, "text")


def test_too_long_a_comment_is_refused(github: StandIn, tracker: GitHubTracker) -> None:
    github.open_issue(REPOSITORY, "title")
    with pytest.raises(TooLong, match="422"):
        tracker.create_comment(1, "x" * 65537)
    github.plan(Fault("create_comment", "422-long"), Fault("create_comment", "422-spam"))
    with pytest.raises(TooLong):
        tracker.create_comment(1, "text")
    with pytest.raises(Refused) as caught:
        tracker.create_comment(1, "text")
    assert type(caught.value) is Refused


def test_deleted_and_unknown_issues_are_gone(github: StandIn, tracker: GitHubTracker) -> None:
    github.open_issue(REPOSITORY, "title")
    github.delete_issue(REPOSITORY, 1)
    for number in (1, 2):
        with pytest.raises(Gone):
            tracker.issue(number)
        with pytest.raises(Gone):
            tracker.create_comment(number, "text")
        with pytest.raises(Gone):
            list(tracker.comments(number))


def test_transferred_issue_is_gone_from_here(github: StandIn, tracker: GitHubTracker) -> None:
    github.add_repository("octo-org/elsewhere")
    github.open_issue(REPOSITORY, "title", "body")
    github.transfer_issue(REPOSITORY, 1, "octo-org/elsewhere")
    with pytest.raises(Gone, match="octo-org/elsewhere"):
        tracker.issue(1)
    there = connect(github.settings(), "octo-org/elsewhere", github.installation("octo-org/elsewhere"))
    assert there.issue(1).body == "body"


def test_renamed_repository_is_found_under_its_old_name(github: StandIn, tracker: GitHubTracker) -> None:
    for number in range(130):
        github.open_issue(REPOSITORY, f"title {number}")
    github.rename_repository(REPOSITORY, "octo-org/new-name")
    assert tracker.issue(1).title == "title 0"
    made = tracker.create_comment(1, "text")
    assert [comment.body for comment in github.comments("octo-org/new-name", 1)] == ["text"]
    assert [comment.id for comment in tracker.comments(1)] == [made.id]
    assert tracker.edit_comment(made.id, "new text").body == "new text"
    assert len(list(tracker.open_issues())) == 130
    tracker.delete_comment(made.id)
    assert github.comments("octo-org/new-name", 1) == ()


def test_void_token_is_replaced_for_the_next_request(github: StandIn, tracker: GitHubTracker) -> None:
    github.open_issue(REPOSITORY, "title")
    tracker.issue(1)
    github.revoke()
    with pytest.raises(Unavailable):
        tracker.create_comment(1, "text")
    assert tracker.create_comment(1, "text").body == "text"
    assert (github.count("create_access_token"), github.count("create_comment")) == (2, 2)
    assert len(github.comments(REPOSITORY, 1)) == 1


def test_suspended_installation_is_tried_again_later(github: StandIn, tracker: GitHubTracker) -> None:
    github.open_issue(REPOSITORY, "title")
    github.state.suspended.add(github.installation(REPOSITORY))
    with pytest.raises(Unavailable, match="suspended") as caught:
        tracker.create_comment(1, "text")
    assert caught.value.retry_after >= 600
    github.state.suspended.clear()
    assert tracker.create_comment(1, "text").body == "text"


def test_failure_to_get_a_token_is_not_taken_for_one_of_the_write(github: StandIn, tracker: GitHubTracker) -> None:
    github.open_issue(REPOSITORY, "title")
    for kind in ("502-after-write", "reset", "429"):
        github.plan(Fault("create_access_token", kind))  # type: ignore[arg-type]
        with pytest.raises(Unavailable):
            tracker.create_comment(1, "text")
    assert github.count("create_comment") == 0


def test_uninstalled_app_has_nothing_to_do_there(github: StandIn) -> None:
    tracker = connect(github.settings(), REPOSITORY, 987654)
    with pytest.raises(Gone):
        tracker.issue(1)


# ------------------------------------------------------------------------------------- answers that GitHub never gives


@pytest.fixture(params=[b"", b"null", b"[]", b"{}", b'{"id": "x"', b"<html>", b'{"user": 5}', b"[1]", b"[" * 100_000])
def nonsense(request: pytest.FixtureRequest) -> Iterator[GitHubTracker]:
    """A repository on a server that answers everything with 200 and these bytes."""

    def app(environ: dict[str, object], start_response: Callable[..., object]) -> list[bytes]:
        start_response("200 OK", [("Content-Type", "application/json")])
        return [request.param]

    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    settings = Settings(github_url=f"http://127.0.0.1:{server.port}", token=SecretStr("t"))
    yield connect(settings, REPOSITORY)
    server.shutdown()
    thread.join()
    server.server_close()


def test_answers_of_another_form_do_not_pass(nonsense: GitHubTracker) -> None:
    for read in (lambda: nonsense.issue(1), lambda: nonsense.comment(1), lambda: nonsense.permission("u"), nonsense.identity):
        with pytest.raises(Unavailable):
            read()
    with pytest.raises(Ambiguous):
        nonsense.create_comment(1, "text")
    with pytest.raises(Ambiguous):
        nonsense.edit_comment(1, "text")
